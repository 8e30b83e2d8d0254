"""A GPU that is not there: simulators that say they are on one, and libraries with arrays on it.

Worlds and arrays lie in host memory, so what is stepped and reset is right; streams are numbers,
and everything that is said to them is written down in `Gpu.said`:

    ("follow", stream, other)   stream waits for what other has so far
    ("step" or other, stream)   a call of the simulator, enqueued there
    ("wait", stream)            the host waits
    ("record", stream)          torch keeps memory until stream has come by
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cupy import DeviceArray, Pointer

from gpu_envs.core import arrays
from gpu_envs.known import native

DEFAULT = 0  # the stream that is current at first


class Stream:
    """A stream, as torch and CuPy have it."""

    def __init__(self, handle: int) -> None:
        self.cuda_stream = self.ptr = handle


class Gpu:
    """The machine, and what was said to its streams."""

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self.said: list[tuple[Any, ...]] = []
        self.captured: set[int] = set()  # streams
        self.elsewhere: dict[int, int] = {}  # devices of addresses that are not on this one
        self.current = {number: Stream(DEFAULT) for number in range(3)}  # by device
        self.current_device = 0
        self.bindings = SimpleNamespace(
            MACHINE="cuda",
            Addresses=native.cpu().Addresses,
            device_of=lambda address: self.elsewhere.get(address, self.device),
            is_capturing=lambda stream: stream in self.captured,
            follow=self._follow,
            wait_for=self._wait_for,
        )

    def _follow(self, device: int, stream: int, other: int) -> None:
        assert device == self.device
        if stream != other:
            self.said.append(("follow", stream, other))

    def _wait_for(self, device: int, stream: int, call: str) -> None:
        assert device == self.device
        if stream in self.captured:
            raise RuntimeError(f"{call} waits")
        self.said.append(("wait", stream))

    @contextmanager
    def on(self, handle: int) -> Iterator[None]:
        """Make a stream of the simulator's device current."""
        before = self.current[self.device]
        self.current[self.device] = Stream(handle)
        yield
        self.current[self.device] = before

    def heard(self) -> list[tuple[Any, ...]]:
        """Return what was said since the last time."""
        said, self.said = self.said, []
        return said


class NativeSimulator:
    """A simulator in host memory that takes streams."""

    def __init__(self, inner: Any, gpu: Gpu) -> None:
        self._inner, self._gpu = inner, gpu

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in ("step", "step_some", "reset", "observe", "sample_actions"):
            return found

        def call(*arguments: Any) -> Any:
            stream = arguments[3 if name == "step_some" else -1]
            self._gpu.said.append((name, stream))
            return found(*arguments)

        return call


def install(monkeypatch: pytest.MonkeyPatch, gpu: Gpu) -> None:
    """Let the next simulators be on a GPU."""

    def make_there(_: str, name: str, worlds: int, device: int, **given: Any) -> Any:
        assert device == gpu.device
        engine = native.at(native.cpu_target(), name)
        files = native.data_files(native.cpu_target(), name)
        return NativeSimulator(engine.Simulator(name, worlds, data_files=files, **given), gpu)

    monkeypatch.setattr(native, "prepare", lambda device, name: ("cuda", gpu.device))
    monkeypatch.setattr(native, "make", make_there)
    monkeypatch.setattr(native, "module", lambda machine: gpu.bindings)


# ---- torch, whose tensors stay on the CPU


class Device(SimpleNamespace):
    """What torch.device("cuda:0") returns."""

    type = "cuda"


class Torch:
    """The module, with a GPU."""

    def __init__(self, real: Any, gpu: Gpu) -> None:
        self._real = real
        self.cuda = SimpleNamespace(
            is_available=lambda: True,
            current_stream=lambda device: gpu.current[gpu.device],
            ExternalStream=lambda handle, device: Stream(handle),
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def device(self, name: str) -> Device:
        return Device(name=name)

    def empty(self, *shape: Any, device: Any = None, **given: Any) -> Any:
        where = device if isinstance(device, str) else "cpu"
        return self._real.empty(*shape, device=where, **given)


def install_torch(monkeypatch: pytest.MonkeyPatch, gpu: Gpu) -> Any:
    """Let simulators have torch's arrays."""
    real = pytest.importorskip("torch", reason="needs torch")
    fake = Torch(real, gpu)
    monkeypatch.setattr(arrays, "require", lambda name: fake)

    def record(tensor: Any, stream: Stream) -> None:
        gpu.said.append(("record", stream.cuda_stream))

    move = real.Tensor.to

    def to(tensor: Any, where: Any, *rest: Any, **given: Any) -> Any:
        if isinstance(where, Device):
            return tensor.clone()
        return move(tensor, where, *rest, **given)

    monkeypatch.setattr(real.Tensor, "record_stream", record)
    monkeypatch.setattr(real.Tensor, "to", to)
    return fake


# ---- CuPy, whose arrays are NumPy's


class Array(DeviceArray):
    """An array that says which stream writes it."""

    gpu: Gpu | None = None  # where it has to be current to be written by its library

    def __init__(self, values: np.ndarray[Any, Any], stream: int | None = 1) -> None:
        super().__init__(values)
        self._stream = stream

    def _of(self, values: np.ndarray[Any, Any]) -> Array:
        return Array(values, self._stream)

    def _maker(self) -> int | None:
        return self._stream

    def get(self) -> np.ndarray[Any, Any]:
        """Copy to the host."""
        return self.values.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        assert self.gpu is None or self.gpu.current_device == self.gpu.device
        self.values[key] = value

    def copy(self) -> Array:
        return self._of(self.values.copy())


def install_cupy(monkeypatch: pytest.MonkeyPatch, gpu: Gpu) -> list[tuple[int, int]]:
    """Let simulators have CuPy's arrays; returns device and size of each block that is taken."""
    taken: list[tuple[int, int]] = []

    @contextmanager
    def device(number: int) -> Iterator[None]:
        before, gpu.current_device = gpu.current_device, number
        yield
        gpu.current_device = before

    def empty(shape: Any, dtype: Any) -> Array:
        values = np.full(shape, 0xC5, dtype)  # as others left it
        taken.append((gpu.current_device, values.nbytes))
        return Array(values)

    def view(shape: Any, dtype: Any, memptr: Pointer) -> Array:
        array = Array(memptr.view(shape, dtype))
        array.gpu = gpu
        return array

    def asarray(array: np.ndarray[Any, Any]) -> Array:
        taken.append((gpu.current_device, array.nbytes))
        return Array(array.copy())

    def current() -> Stream:
        return gpu.current[gpu.current_device]

    cuda = SimpleNamespace(Device=device, get_current_stream=current)
    fake = SimpleNamespace(cuda=cuda, empty=empty, asarray=asarray, ndarray=view)
    monkeypatch.setitem(sys.modules, "cupy", fake)  # type: ignore[arg-type]
    return taken
