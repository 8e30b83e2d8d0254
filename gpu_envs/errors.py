"""The package's own exception, those that commands expect, and the wording of messages."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable

# What a command ends with a line for; anything else is for a developer.
TROUBLE = (ValueError, TypeError, RuntimeError, ImportError, MemoryError, OSError)


class ResetNeeded(RuntimeError):
    """A world was stepped that waits for a reset: call `reset`, or use another autoreset."""


def suggestion(name: object, candidates: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the closest candidate, or nothing."""
    close = difflib.get_close_matches(str(name), list(candidates), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown(what: str, name: object, candidates: Iterable[str]) -> str:
    """Return the message for a name that is not among `candidates`: suggestion, then all."""
    names = list(candidates)
    listed = ", ".join(names) if names else "none"
    return f"unknown {what} {name!r}{suggestion(name, names)} (valid: {listed})"


def refuse(fixed: Iterable[str], keywords: Container[str], why: str) -> None:
    """Refuse keywords that a form of the environment has settled."""
    for name in fixed:
        if name in keywords:
            raise TypeError(f"{name} cannot be chosen for {why}")


def whole(value: object, argument: str, low: int, high: int) -> int:
    """Return `value` as an int in [low, high]; any other raises an error with the name."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be an int, got {value!r} of type {type(value).__name__}")
    number = int(value.__index__())
    if not low <= number <= high:
        raise ValueError(f"{argument} must be between {low} and {high}, got {number}")
    return number
