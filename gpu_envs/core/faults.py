"""Errors of a simulator that cannot step: faults in its worlds, no reset yet, or closed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, NoReturn

from gpu_envs.errors import ResetNeeded

# Packages between a caller's code and a step, which a warning does not point at.
_BETWEEN = ("gpu_envs", "gymnasium", "pettingzoo")


def raise_faults(faults: Mapping[str, Any], environment: str) -> None:
    """Raise the faults that a simulator reports, most basic first; the message has all."""
    problems: list[tuple[type[Exception], str]] = []
    if faults["bad_actions"]:
        problems.append((ValueError, _bad_actions(faults)))
    if faults.get("illegal_actions"):
        problems.append((ValueError, _illegal_actions(faults)))
    problems.extend((RuntimeError, _full_table(table)) for table in faults["tables"])
    if faults.get("lost_views"):
        problems.append((RuntimeError, _lost_views(faults)))
    if faults["frozen_steps"]:
        problems.append((ResetNeeded, _frozen(int(faults["frozen_steps"]))))
    if problems:
        text = "; ".join(message for _, message in problems)
        raise problems[0][0](f"{environment}: {text}")


def warn_illegal(environment: str, has_mask: bool, count: int) -> None:
    """Warn of the first illegal actions of a simulator, at the line that called into packages."""
    allowed = "infos['action_mask']" if has_mask else "its rules"
    is_one = count == 1
    warnings.warn(
        f"{environment}: {_actions_were(count)} illegal and {'was' if is_one else 'were'} replaced "
        f"by the lowest legal one. Choose actions that {allowed} "
        f"{'allows' if has_mask else 'allow'}; strict=True raises an error instead. Later illegal "
        "actions of this simulator are counted for check() without a warning",
        stacklevel=_level_outside(),
    )


def _level_outside() -> int:
    """Return the `stacklevel` at which the function that calls this one points at a caller."""
    homes = [os.path.dirname(sys.modules[n].__file__ or "") for n in _BETWEEN if n in sys.modules]
    inside = tuple(home + os.sep for home in homes if home)
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    return level


def _bad_actions(faults: Mapping[str, Any]) -> str:
    return (
        f"{_actions_were(faults['bad_actions'])} out of range and replaced, "
        f"first of agent {faults['first_bad_agent']} in world {faults['first_bad_world']}"
    )


def _illegal_actions(faults: Mapping[str, Any]) -> str:
    return (
        f"{_actions_were(faults['illegal_actions'])} illegal and replaced by the lowest legal one, "
        f"first of agent {faults['first_illegal_agent']} in world {faults['first_illegal_world']}: "
        "choose among those that the action mask allows"
    )


def _actions_were(count: int) -> str:
    return "1 action was" if count == 1 else f"{count} actions were"


def _full_table(table: Mapping[str, Any]) -> str:
    return (
        f"table {table['name']!r} dropped {table['dropped']} rows: its capacity is "
        f"{table['capacity']} and {table['needed']} would suffice"
    )


def _lost_views(faults: Mapping[str, Any]) -> str:
    count = faults["lost_views"]
    return (
        f"{'1 picture is' if count == 1 else f'{count} pictures are'} black: the position or "
        f"direction of the eye is NaN or infinite, first for agent {faults['first_lost_agent']} "
        f"in world {faults['first_lost_world']}"
    )


def _frozen(count: int) -> str:
    return (
        f"{count} steps of worlds whose episode had ended were ignored: reset them with "
        "reset(options={'reset_mask': terminated | truncated}), or use another autoreset_mode"
    )


def refuse_unready(*_: object) -> NoReturn:
    """Stands in for the native step until the first reset."""
    raise ResetNeeded("call reset() before step()")


class Closed:
    """Stands in for a native simulator that was closed: every use of it is an error."""

    def __init__(self, environment: str) -> None:
        self._environment = environment

    def refuse(self, *_: object) -> NoReturn:
        """Raise."""
        raise RuntimeError(f"{self._environment} is closed: make a new one")

    def __getattr__(self, name: str) -> NoReturn:
        """Raise, whatever is asked for."""
        self.refuse()
