"""CuPy on interpreted kernels: memory, streams and graphs of the interpreter's CUDA runtime.

It has as much of CuPy as the package and its tests use. What an array does to itself is enqueued on
the current stream where it is a fill with zeros or a copy of contiguous memory; everything else is
worked out by the host, which waits for the stream, and so is refused in a capture.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cupy import DeviceArray, Pointer

from scripts.ptx import interpreter

_TO_DEVICE, _ON_DEVICE = 1, 3  # of cudaMemcpyKind
_BLOCKING, _NON_BLOCKING = 0, 1  # flags of a stream
_RELAXED = 2  # mode of a capture


def _call(name: str, *arguments: Any) -> None:
    code = getattr(interpreter.library(), name)(*arguments)
    if code != 0:
        said = interpreter.library().cudaGetErrorString
        said.restype = ctypes.c_char_p
        interpreter.library().cudaGetLastError()
        raise RuntimeError(f"{name}: {said(code).decode()}")


# ---- streams and graphs


class Stream:
    """A stream, which can be made current; null: the legacy stream."""

    null: Stream
    _current = threading.local()  # `stack`: those made current by this thread

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self._handle = ctypes.c_void_p()
        if not null:
            flags = _NON_BLOCKING if non_blocking else _BLOCKING
            _call("cudaStreamCreateWithFlags", ctypes.byref(self._handle), ctypes.c_uint(flags))

    @property
    def ptr(self) -> int:
        return self._handle.value or 0

    @classmethod
    def current(cls) -> Stream:
        stack = cls._stack()
        return stack[-1] if stack else cls.null

    @classmethod
    def _stack(cls) -> list[Stream]:
        return cls._current.__dict__.setdefault("stack", [])

    def __enter__(self) -> Stream:
        self._stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack().pop()

    def synchronize(self) -> None:
        _call("cudaStreamSynchronize", self._handle)

    def is_capturing(self) -> bool:
        status = ctypes.c_int()
        _call("cudaStreamIsCapturing", self._handle, ctypes.byref(status))
        return status.value == 1

    def begin_capture(self) -> None:
        _call("cudaStreamBeginCapture", self._handle, ctypes.c_int(_RELAXED))

    def end_capture(self) -> Graph:
        graph = ctypes.c_void_p()
        _call("cudaStreamEndCapture", self._handle, ctypes.byref(graph))
        return Graph(graph)

    def __del__(self) -> None:
        if self._handle:
            interpreter.library().cudaStreamDestroy(self._handle)


class Graph:
    """What a capture has recorded."""

    def __init__(self, graph: ctypes.c_void_p) -> None:
        self._made = ctypes.c_void_p()
        _call("cudaGraphInstantiate", ctypes.byref(self._made), graph, ctypes.c_ulonglong(0))
        _call("cudaGraphDestroy", graph)

    def launch(self, stream: Stream | None = None) -> None:
        """Enqueue all of it on a stream, by default the current one."""
        on = Stream.current() if stream is None else stream
        _call("cudaGraphLaunch", self._made, ctypes.c_void_p(on.ptr))

    def __del__(self) -> None:
        if self._made:
            interpreter.library().cudaGraphExecDestroy(self._made)


class Device:
    """The only device; a context in which it is the current one."""

    def __init__(self, ordinal: int = 0) -> None:
        if ordinal != 0:
            raise ValueError(f"the interpreter has one device, not number {ordinal}")
        self.id = ordinal

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _on_current_stream(call: str, *arguments: Any) -> None:
    _call(call, *arguments, ctypes.c_void_p(Stream.current().ptr))


def _copy(to: np.ndarray[Any, Any], values: np.ndarray[Any, Any], kind: int) -> None:
    """Copy contiguous memory."""
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (to, values)]
    size = ctypes.c_size_t(values.nbytes)
    _on_current_stream("cudaMemcpyAsync", *pointers, size, ctypes.c_int(kind))


# ---- arrays


def _places(key: Any) -> Any:
    """Return an index with its arrays in host memory."""
    if isinstance(key, tuple):
        return tuple(_places(one) for one in key)
    return key.get() if isinstance(key, ndarray) else key


class ndarray(DeviceArray, np.lib.mixins.NDArrayOperatorsMixin):
    """An array in the interpreter's memory; operators refuse arrays of the host, as CuPy's do.

    Args:
        shape: Its shape.
        dtype: Type of its elements.
        memptr: Where it begins; None: in memory of its own, with what was left there.
    """

    def __init__(self, shape: Any, dtype: Any = float, memptr: Pointer | None = None) -> None:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        super().__init__((memptr or Pointer(interpreter.empty(size))).view(shape, dtype))

    @classmethod
    def _of(cls, values: np.ndarray[Any, Any]) -> ndarray:
        """Return a view of memory that another array has."""
        made = cls.__new__(cls)
        made.values = np.asarray(values)
        return made

    @classmethod
    def worked_out(cls, values: Any) -> ndarray:
        """Return what the host has made of arrays, which it must not in a capture."""
        Stream.current().synchronize()
        return asarray(values)

    def _maker(self) -> int:
        return Stream.current().ptr or 1

    @property
    def device(self) -> Device:
        return Device(0)

    @property
    def flags(self) -> Any:
        return self.values.flags

    @property
    def ndim(self) -> int:
        return self.values.ndim

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **more: Any) -> Any:
        if method != "__call__" or more or any(isinstance(one, np.ndarray) for one in given):
            return NotImplemented
        values = [one.values if isinstance(one, ndarray) else one for one in given]
        return self.worked_out(ufunc(*values))

    def view(self, dtype: Any) -> ndarray:
        return self._of(self.values.view(dtype))

    def __getitem__(self, key: Any) -> ndarray:
        found = self.values[_places(key)]
        if np.may_share_memory(found, self.values):
            return self._of(found)
        return self.worked_out(np.asarray(found))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        key = _places(key)
        to = self.values[key]
        is_piece = np.may_share_memory(to, self.values) and to.flags.c_contiguous
        if isinstance(value, ndarray):
            of = value.values
            if is_piece and of.flags.c_contiguous and (of.dtype, of.shape) == (to.dtype, to.shape):
                return _copy(to, of, _ON_DEVICE)
            value = of
        elif is_piece and isinstance(value, int | float) and value == 0:
            at, size = ctypes.c_void_p(to.ctypes.data), ctypes.c_size_t(to.nbytes)
            return _on_current_stream("cudaMemsetAsync", at, ctypes.c_int(0), size)
        Stream.current().synchronize()
        self.values[key] = value
        return None

    def get(self) -> np.ndarray[Any, Any]:
        """Copy to the host."""
        Stream.current().synchronize()
        return self.values.copy()

    def copy(self) -> ndarray:
        if not self.values.flags.c_contiguous:
            return self.worked_out(self.values.copy())
        made = ndarray(self.shape, self.dtype)
        made[...] = self
        return made

    def astype(self, dtype: Any) -> ndarray:
        return self.worked_out(self.values.astype(dtype))

    def any(self) -> ndarray:
        return self.worked_out(self.values.any())

    def argmax(self, axis: int) -> ndarray:
        return self.worked_out(self.values.argmax(axis))

    def cumsum(self, axis: int) -> ndarray:
        return self.worked_out(self.values.cumsum(axis))

    def sum(self, axis: int) -> ndarray:
        return self.worked_out(self.values.sum(axis))


def empty(shape: Any, dtype: Any = float) -> ndarray:
    """Return an array with what was left in its memory."""
    return ndarray(shape, dtype)


def asarray(given: Any) -> ndarray:
    """Return an array of the device; one of the host is copied."""
    if isinstance(given, ndarray):
        return given
    values = np.ascontiguousarray(given).reshape(np.shape(given))
    made = ndarray(values.shape, values.dtype)
    _copy(made.values, values, _TO_DEVICE)
    return made


def concatenate(arrays: Sequence[ndarray], axis: int = 0) -> ndarray:
    """Join arrays along an axis."""
    return ndarray.worked_out(np.concatenate([array.values for array in arrays], axis))


def stack(arrays: Sequence[ndarray], axis: int = 0) -> ndarray:
    """Join arrays along a new axis."""
    return ndarray.worked_out(np.stack([array.values for array in arrays], axis))


def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let `import cupy` find it; return the module."""
    Stream.null = Stream(null=True)
    cuda = SimpleNamespace(Device=Device, Stream=Stream, get_current_stream=Stream.current)
    functions = (ndarray, empty, asarray, concatenate, stack)
    made = SimpleNamespace(cuda=cuda, **{each.__name__: each for each in functions})
    monkeypatch.setitem(sys.modules, "cupy", made)  # type: ignore[arg-type]
    return made
