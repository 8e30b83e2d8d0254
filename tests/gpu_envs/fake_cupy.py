"""What stand-ins for CuPy have in common: arrays of a GPU whose memory the host can look into."""

from __future__ import annotations

from typing import Any

import numpy as np


class DeviceArray:
    """An array on a GPU; NumPy refuses it, as it refuses CuPy's.

    Args:
        values: Its memory, as the host sees it.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def _of(self, values: np.ndarray[Any, Any]) -> Any:
        """Return another array of the same kind."""
        raise NotImplementedError

    def _maker(self) -> int | None:
        """Return the stream that writes it, as its interface names streams."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3."""
        values = self.values
        return {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (values.ctypes.data, False),
            "strides": None if values.flags.c_contiguous else values.strides,
            "stream": self._maker(),
            "version": 3,
        }

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    @property
    def data(self) -> Pointer:
        return Pointer(self.values)

    def reshape(self, *shape: Any) -> Any:
        return self._of(self.values.reshape(*shape))

    def __getitem__(self, key: Any) -> Any:
        return self._of(self.values[key])


class Pointer:
    """What CuPy calls a pointer: memory, and a place in it."""

    def __init__(self, values: np.ndarray[Any, Any], offset: int = 0) -> None:
        self.values, self.offset = values, offset
        self.ptr = values.ctypes.data + offset

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.values, self.offset + offset)

    def view(self, shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """Return the memory from here on as an array."""
        flat = self.values.view(np.uint8)[self.offset :]
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return flat[:size].view(dtype).reshape(shape)
