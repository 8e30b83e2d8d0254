"""Converts values to the type of a column of the state, and checks numbers of worlds.

The engine refuses values beyond a column's described bounds, in `set_column`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def values_for(
    column: str, values: object, current: Array, worlds: Sequence[int] | None
) -> np.ndarray[Any, Any]:
    """Return `values` in the type of a column and in the shape of what is written.

    Args:
        column: Its name, for messages.
        values: What the caller gave; broadcasts to (worlds, rows, ...).
        current: The column of all worlds.
        worlds: Numbers of those that are written; None for all.
    """
    shape = current.shape if worlds is None else (len(worlds), *current.shape[1:])
    try:
        given = np.asarray(values)
        full = np.broadcast_to(given, shape)
    except (ValueError, TypeError) as problem:
        raise ValueError(
            f"values of column {column!r} must fit {shape} (rows after the last agent are "
            f"unused): {problem}"
        ) from problem
    kind = current.dtype
    if given.dtype.kind not in "biuf" and not _are_numbers(given):
        raise ValueError(
            f"values of column {column!r} must be numbers ({kind}), got {given.dtype} {values!r}"
        )
    refused = np.broadcast_to(_refused(given, kind), shape)
    if refused.any():
        place = np.unravel_index(int(refused.argmax()), shape)
        world = int(place[0]) if worlds is None else worlds[int(place[0])]
        element = "".join(f", element {int(k)}" for k in place[2:])
        raise ValueError(
            f"values of column {column!r} must be {_wanted(kind)}, got {full[place]} for world "
            f"{world}, row {int(place[1])}{element}"
        )
    return full.astype(kind, order="C")


def _are_numbers(given: Array) -> bool:
    """Whether the objects of an array, such as whole numbers beyond 64 bits, are numbers."""
    return given.dtype.kind == "O" and all(
        isinstance(value, bool | int | float | np.number | np.bool_) for value in given.flat
    )


def _refused(given: Array, kind: np.dtype[Any]) -> Array:
    """Return which of some numbers a column of this type cannot hold."""
    if kind.kind == "f":
        try:
            with np.errstate(over="ignore"):
                return np.array(~np.isfinite(given.astype(kind)), bool)
        except OverflowError:  # a whole number beyond every float
            most = int(np.finfo(kind).max)
            return _each(given, lambda value: not -most <= value <= most)
    low, high = _limits(kind)
    if given.dtype.kind == "O":
        return _each(given, lambda value: not (low <= value <= high and value == int(value)))
    if given.dtype.kind == "f":  # both limits are exact: a power of two, or less one
        inside = (given >= float(low)) & (given < float(high + 1))
        return np.array(~(inside & (np.floor(given) == given)), bool)
    return np.array((given < low) | (given > high), bool)


def _each(given: Array, test: Any) -> Array:
    found: Array = np.array([bool(test(value)) for value in given.flat], bool)
    found.shape = given.shape
    return found


def _limits(kind: np.dtype[Any]) -> tuple[int, int]:
    if kind.kind == "b":
        return 0, 1
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


def _wanted(kind: np.dtype[Any]) -> str:
    if kind.kind == "f":
        return f"finite ({kind})"
    low, high = _limits(kind)
    return "true or false" if kind.kind == "b" else f"whole, {low} to {high} ({kind})"


def world_numbers(worlds: object, argument: str, count: int) -> list[int]:
    """Return numbers of worlds below `count` as a list; `argument` names them in messages."""
    try:
        numbers = np.atleast_1d(np.asarray(worlds))
    except ValueError as problem:
        raise TypeError(f"{argument} must be world numbers, got {worlds!r}") from problem
    if numbers.size == 0:
        return []
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise TypeError(f"{argument} must be a list of world numbers, got {worlds!r}")
    if numbers.min() < 0 or numbers.max() >= count:
        raise ValueError(f"{argument} must be in [0, {count}), got {worlds!r}")
    listed: list[int] = numbers.tolist()
    return listed
