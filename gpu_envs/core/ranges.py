"""Ranges that resets draw a parameter of each world from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpu_envs import errors
from gpu_envs.known.fields import Field

MOST_CHOICES = 8


@dataclass(frozen=True)
class Range:
    """What each reset draws a parameter from, for each world that begins an episode."""

    law: str
    numbers: tuple[float, ...]

    def __repr__(self) -> str:
        """Return the call that makes it."""
        shown = [repr(int(x) if x == int(x) else x) for x in self.numbers]
        if self.law == "choice":
            return f"choice([{', '.join(shown)}])"
        if self.law == "normal":
            low, high, mean, deviation = shown
            return f"normal({mean}, {deviation}, {low}, {high})"
        return f"{self.law}({', '.join(shown)})"


def uniform(low: float, high: float) -> Range:
    """Draw evenly between `low` and `high`; whole numbers with equal chances, both included."""
    return Range("uniform", _bounds("uniform", low, high))


def log_uniform(low: float, high: float) -> Range:
    """Draw between `low` and `high`, above 0, so that the logarithm is uniform."""
    bounds = _bounds("log_uniform", low, high)
    if bounds[0] <= 0:
        raise ValueError(f"log_uniform: low must be above 0, got {low!r}")
    return Range("log_uniform", bounds)


def choice(values: Iterable[float]) -> Range:
    """Draw one of a few values, at most eight, with equal chances."""
    try:
        listed = None if isinstance(values, str | bytes) else list(values)
    except TypeError:  # a number, or an array without an axis
        listed = None
    if listed is None:
        what = f"1 to {MOST_CHOICES} numbers, such as [1, 2.5]"
        raise TypeError(f"choice: values must be a list of {what}, got {errors.shown(values)}")
    numbers = tuple(_number("choice", "values", value) for value in listed)
    if not 1 <= len(numbers) <= MOST_CHOICES:
        raise ValueError(f"choice: values must be 1 to {MOST_CHOICES} numbers, got {len(numbers)}")
    return Range("choice", numbers)


def normal(mean: float, deviation: float, low: float, high: float) -> Range:
    """Draw from a normal distribution, again where a draw is not from `low` to `high`."""
    bounds = _bounds("normal", low, high)
    spread = _number("normal", "deviation", deviation)
    if spread < 0:
        raise ValueError(f"normal: deviation must be at least 0, got {deviation!r}")
    return Range("normal", (*bounds, _number("normal", "mean", mean), spread))


def _bounds(law: str, low: object, high: object) -> tuple[float, float]:
    bounds = _number(law, "low", low), _number(law, "high", high)
    if bounds[0] > bounds[1]:
        raise ValueError(f"{law}: low must not be above high, got {low!r} and {high!r}")
    return bounds


def _number(law: str, name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        what = errors.shown(value)
        raise TypeError(f"{law}: {name} must be a number, got {what}") from None
    if not math.isfinite(number):
        raise ValueError(f"{law}: {name} must be finite, got {value!r}")
    return number


def may_vary(described: Sequence[Field]) -> list[str]:
    """Return the names of the parameters that may differ by world."""
    return [field.name for field in described if field.by_world]
