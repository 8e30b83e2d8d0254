"""Parameters as callers give them: a number for all worlds, an array by world, or a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import device_arrays
from gpu_envs.core.ranges import Range, may_vary
from gpu_envs.known.fields import Field

Law = tuple[str, list[float]]  # as the native code takes it: a name, and its numbers


def varies(value: object) -> bool:
    """Whether a value differs by world: a range, or an array with an axis."""
    if isinstance(value, Range | list | tuple):
        return True
    return not isinstance(value, str | bytes) and len(getattr(value, "shape", ())) > 0


def law_of(name: str, value: object, worlds: int) -> Law:
    """Return what the native code is told about a parameter.

    Args:
        name: Of the parameter, for messages.
        value: A number, an array with one per world, or a range.
        worlds: How many numbers an array has to have.
    """
    if isinstance(value, Range):
        return value.law, list(value.numbers)
    numbers = _numbers(name, value)
    if numbers.ndim > 0 and numbers.shape != (worlds,):
        raise ValueError(
            f"parameter {name!r} must be a number, a range, or an array of shape ({worlds},), one "
            f"for each of {worlds} worlds, got shape {numbers.shape}"
        )
    return "given", numbers.astype(np.float64).reshape(-1).tolist()


def _numbers(name: str, value: object) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach"):  # torch, on whichever device
        value = value.detach().cpu()
    elif device_arrays.has(value):
        value = device_arrays.on_host(value)
    try:
        numbers = np.asarray(value)
    except ValueError:  # rows of different lengths
        numbers = np.asarray(None)
    if numbers.dtype.kind not in "biuf":
        what = errors.shown(value)
        raise TypeError(f"parameter {name!r} must be a number, an array or a range, got {what}")
    return numbers


def greatest_of(field: Field, value: object) -> float:
    """Return the greatest value that a parameter can have, within its own range."""
    if isinstance(value, Range):
        numbers = np.array(value.numbers if value.law == "choice" else value.numbers[:2])
    else:
        numbers = _numbers(field.name, value).reshape(-1)
    if len(numbers) == 0:
        raise ValueError(f"parameter {field.name!r} needs one number for each world, got none")
    # What is out of range is refused with the number of its world, once there are worlds.
    assert field.low is not None and field.high is not None
    greatest = float(np.nan_to_num(numbers.astype(np.float64), nan=field.low).max())
    return min(max(greatest, field.low), field.high)


def split(
    described: Sequence[Field], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split parameters into those of all worlds, and those that differ by world.

    The first have the greatest value of each of the second too: relations between parameters that
    hold in every world hold for these, and worlds have room for them.
    """
    own = {name: value for name, value in given.items() if varies(value)}
    known = {field.name: field for field in described}
    for name in list(own):
        if name in known and known[name].type == "string" and not isinstance(own[name], Range):
            del own[name]  # a pair of numbers is a text to such a parameter
        elif name in known and not known[name].by_world and not isinstance(own[name], Range):
            del own[name]  # refused as one value, like a text
        elif name in known and not known[name].by_world:
            can = may_vary(described)
            raise ValueError(
                f"parameter {name!r} cannot differ by world, got {errors.shown(own[name])}; "
                + (f"these can: {', '.join(can)}" if can else "none of this environment can")
            )
    common = {
        name: greatest_of(known[name], own[name]) if name in own and name in known else value
        for name, value in given.items()
    }
    return common, own
