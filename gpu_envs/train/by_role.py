"""Options with a value for each role: `--entropy 0.01,planner=0.5`.

A value without a role is for all roles, and one after `role=` overrides it for that role. In a
tree this is a dict by role, with "" for all of them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpu_envs import errors

ALL = ""
Values = dict[str, Any]  # by role; ALL for those that are not named
_ROLE = re.compile(r"(?:^|[,\s]+)([A-Za-z]\w*)=")


def number(kind: type) -> Callable[[str], Any]:
    """Return the reader of an int or a float on a command line."""

    def read_number(text: str) -> Any:
        plain = text.replace("_", "").lower()
        try:
            # 1e6 is an int too, below 2^53: above, a float may not hold the number exactly.
            if kind is int and "e" in plain and float(plain) % 1 == 0 and abs(float(plain)) < 2**53:
                return int(float(plain))
            return kind(plain)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}") from None

    return read_number


def names_roles(value: object) -> bool:
    """Whether a value is one by role, as a dict or as it is typed."""
    return isinstance(value, Mapping) or (isinstance(value, str) and "=" in value)


def read(text: str, kind: Callable[[str], Any]) -> Any:
    """Return a plain value, or a dict by role where the text names roles.

    Args:
        text: The value as typed.
        kind: Reads a single value; raises argparse's error for a bad one.
    """
    if not names_roles(text):
        return kind(text)
    found, values = list(_ROLE.finditer(text)), Values()
    ends = [match.start() for match in found] + [len(text)]
    if first := text[: ends[0]].strip(", "):
        values[ALL] = kind(first)
    for match, end in zip(found, ends[1:], strict=True):
        role = match[1]
        if role in values:
            raise argparse.ArgumentTypeError(f"names {role!r} more than once: {text!r}")
        values[role] = kind(text[match.end() : end].strip(", "))
    return values


class Merged(argparse.Action):
    """Takes an option that may be repeated, for other roles."""

    def __call__(
        self, parser: object, namespace: object, values: Any, option_string: object = None
    ) -> None:
        """Take a value."""
        before = getattr(namespace, self.dest, None)
        if before is not None and (names_roles(before) or names_roles(values)):
            values = _by_role(before) | _by_role(values)
        setattr(namespace, self.dest, values)


def _by_role(value: Any) -> Values:
    return dict(value) if isinstance(value, Mapping) else {ALL: value}


def values_by_role(value: Any, kind: Callable[[str], Any]) -> Values:
    """Return a value as a dict by role, whatever form it came in."""
    if isinstance(value, Mapping):
        return dict(value)
    if names_roles(value):
        found: Values = read(value, kind)
        return found
    return {ALL: value}


def joined(plain: Values, roles: Mapping[str, Values], names: Iterable[str]) -> Values:
    """Return options by name: as typed where roles have values of their own.

    Args:
        plain: What holds for all roles, by option.
        roles: What holds for a role alone, by role and option.
        names: The options.
    """
    shown = Values()
    for name in names:
        own = [f"{role}={choices[name]}" for role, choices in roles.items() if name in choices]
        shown[name] = ",".join([str(plain[name]), *own]) if own else plain[name]
    return shown


def check_roles(
    roles: Mapping[str, Values], known: Iterable[str], flag: Callable[[str], str]
) -> None:
    """Refuse values for roles that do not exist; the message names the option."""
    possible = list(known)
    for role, choices in roles.items():
        if role not in possible and choices:
            what = f"role ({flag(next(iter(choices)))} {role}=...)"
            raise ValueError(errors.unknown(what, role, possible))
