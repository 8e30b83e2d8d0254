"""Reads GPU arrays of libraries that only give their address: `__cuda_array_interface__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpu_envs.core.streams import handle_of_maker


class Seen(NamedTuple):
    """A contiguous array on the simulator's device."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    maker: int | None  # stream on which it is written


def has(array: object) -> bool:
    """Whether an array has the interface."""
    return getattr(array, "__cuda_array_interface__", None) is not None


def shape_of(array: Any) -> tuple[int, ...]:
    """Return its shape."""
    return tuple(array.__cuda_array_interface__["shape"])


def dtype_of(array: Any) -> np.dtype[Any]:
    """Return its type, as NumPy calls it."""
    typestr: str = array.__cuda_array_interface__["typestr"]
    return np.dtype(typestr)


def see(array: Any, label: str, ordinal: int, device_of: Callable[[int], int]) -> Seen:
    """Locate an array; refuse one that is not contiguous, or on another device.

    Args:
        array: An array of any library.
        label: Its name in messages.
        ordinal: Ordinal of the simulator's device.
        device_of: Returns the device of an address, -1 for none.
    """
    found = array.__cuda_array_interface__
    dtype, shape = dtype_of(array), shape_of(array)
    strides = found.get("strides")
    if strides is not None and tuple(strides) != _contiguous(shape, dtype.itemsize):
        raise ValueError(f"{label} must be contiguous, got strides {tuple(strides)}")
    address = int(found["data"][0])
    device = device_of(address)
    if device != ordinal:
        place = f"cuda:{device}" if device >= 0 else "the host"
        raise ValueError(f"{label} must be on cuda:{ordinal}, got an array on {place}")
    return Seen(address, dtype, shape, handle_of_maker(found.get("stream")))


def on_host(array: Any) -> np.ndarray[Any, Any] | None:
    """Copy an array to the host by its own means, CuPy's or Numba's; None if it has none."""
    for name in ("get", "copy_to_host"):
        if hasattr(array, name):
            return np.asarray(getattr(array, name)())
    return None


def _contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    steps = [itemsize]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps[: len(shape)]))
