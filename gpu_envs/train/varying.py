"""Parameters that differ by world or change during a training run, as they are typed.

    0.5..2       a range: each episode of each world draws a value
    1..3@0.5     a schedule: from 1 to 3 over half of the run, for all worlds alike, then 3

Evaluations play at one value, the parameter's own or that of `--evaluate-with`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_envs.core import ranges
from gpu_envs.known.fields import Field
from gpu_envs.policies.options import flag_of

if TYPE_CHECKING:
    from gpu_envs.core.simulator import Simulator

FORM = "LOW..HIGH or FROM..TO@SHARE"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_TEXT = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:@({_NUMBER}))?")


@dataclass(frozen=True)
class Schedule:
    """A value that moves from `first` to `last` over a share of the run, then stays."""

    first: float
    last: float
    share: float

    def at(self, fraction: float) -> float:
        """Return the value after a fraction of the run."""
        done = fraction / self.share
        return self.last if done >= 1 else self.first + (self.last - self.first) * done


def is_text(text: object) -> bool:
    """Whether a typed value is meant as a range or a schedule."""
    return isinstance(text, str) and ".." in text


def read(name: str, text: str) -> ranges.Range | Schedule:
    """Read a range or a schedule.

    Args:
        name: Of the parameter, for messages.
        text: What was typed.
    """
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"parameter {name!r} must be a number, or {FORM}, got {text!r}")
    first, last = float(found[1]), float(found[2])
    if found[3] is None:
        if first > last:
            raise ValueError(f"parameter {name!r}: {text}: the lowest value comes first")
        return ranges.uniform(first, last)
    share = float(found[3])
    if not 0 < share <= 1:
        raise ValueError(f"parameter {name!r}: {text}: the share of the run is above 0, at most 1")
    return Schedule(first, last, share)


def is_same(name: str, one: object, other: object) -> bool:
    """Whether two values of a parameter are the same, however a range is typed."""
    if isinstance(one, str) and isinstance(other, str) and is_text(one) and is_text(other):
        return read(name, one) == read(name, other)
    return one == other


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Split typed parameters into numbers, and texts of ranges and schedules."""
    texts = {name: value for name, value in given.items() if is_text(value)}
    return {name: v for name, v in given.items() if name not in texts}, texts


def check(texts: Mapping[str, str], described: Sequence[Field]) -> None:
    """Refuse ranges of parameters that cannot differ by world, and texts that make no sense."""
    can = ranges.may_vary(described)
    for name, text in texts.items():
        read(name, text)
        if name not in can:
            known = f"these can: {', '.join(can)}" if can else "none of this environment can"
            raise ValueError(f"parameter {name!r} cannot have {text}: it is one value; {known}")


def keywords(texts: Mapping[str, str], described: Sequence[Field]) -> dict[str, Any]:
    """Return the arguments of a simulator in which these parameters vary."""
    found = {name: read(name, text) for name, text in texts.items()}
    by_name = {field.name: field for field in described}
    return {
        **{
            name: _own(by_name[name], one.first) if isinstance(one, Schedule) else one
            for name, one in found.items()
        },
        "varies": tuple(found),
    }


def _own(field: Field, value: float) -> float | int:
    return value if field.type.startswith("float") else round(value)


class Schedules:
    """The schedules of a run, set in its worlds as it goes on."""

    def __init__(self, texts: Mapping[str, str], described: Sequence[Field]) -> None:
        found = {name: read(name, text) for name, text in texts.items()}
        self._all = {name: one for name, one in found.items() if isinstance(one, Schedule)}
        self._texts = texts
        self._fields = {field.name: field for field in described}
        self._last: dict[str, float | int] = {}

    def set(self, simulator: Simulator, fraction: float) -> None:
        """Set the values after a fraction of the run, where they have changed."""
        now = self._values(fraction)
        changed: dict[str, Any] = {
            name: value for name, value in now.items() if self._last.get(name) != value
        }
        if changed:
            simulator.set_parameters(worlds=None, **changed)
        self._last = now

    def under_way(self, fraction: float) -> list[str]:
        """Return the schedules that have not arrived after a fraction of the run, in words."""
        now = self._values(fraction)
        return [
            f"{flag_of(name)} {self._texts[name]} has come to {now[name]:g}"
            for name, one in self._all.items()
            if fraction < one.share
        ]

    def check(self, simulator: Simulator) -> None:
        """Raise if the worlds refuse the values of some moment of the run.

        Between two ends of schedules all values move in straight lines, so their values at the ends
        decide. The worlds are left with those of the last end.
        """
        for share in sorted({one.share for one in self._all.values()}):
            try:
                self.set(simulator, share)
            except ValueError as problem:
                line = str(problem).replace(" (world 0)", "")
                raise ValueError(f"{line}; {self._told(line, share)}") from None

    def _values(self, fraction: float) -> dict[str, float | int]:
        return {name: _own(self._fields[name], one.at(fraction)) for name, one in self._all.items()}

    def _told(self, line: str, share: float) -> str:
        """Return in words what the schedules that an error names, else all, come to."""
        values = self._values(share)
        named = [n for n in values if re.search(rf"\b{re.escape(n)}\b", line)] or list(values)
        parts = [f"{flag_of(n)} {self._texts[n]} comes to {values[n]:g}" for n in named]
        return f"{' and '.join(parts)} after {share:g} of the run"
