"""Output arrays of each library: numpy, torch, cupy and jax.

A back end allocates the arrays that one step writes and returns their addresses. Fresh torch and
cupy outputs are views of two blocks per step from the library's own allocator, one for large
outputs and one for small ones; numpy's and jax's come from the engine's pool, and return to it
with their last view. Libraries are imported when the first simulator asks for them.
"""

from __future__ import annotations

import ctypes
import operator
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core.layout import Layout, Output, size_in_words
from gpu_envs.core.libraries import require
from gpu_envs.known.outputs import OUTPUTS, Outputs

if TYPE_CHECKING:
    from gpu_envs._native import Addresses
    from gpu_envs._native import Simulator as NativeSimulator

ALIGNMENT = {"cpu": 64, "cuda": 256}  # of every output in a block
_CACHED_OUTS = 1024  # bindings of `out=` kept per simulator: a rollout's worth

_NOTHING = Outputs()
Binding = tuple["Addresses", Outputs]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form that a caller's array must have; one that is only read need not be writable."""

    label: str  # what messages call it
    types: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    is_written: bool = True
    size: str = ""  # of the batch, in words

    def mismatch(self, array_type: object, shape: object, where: str) -> str:
        """Return the message for an array of another form."""
        size = f" ({self.size})" if self.size else ""
        types, shapes = (" or ".join(map(str, known)) for known in (self.types, self.shapes))
        return (
            f"{self.label} must be a contiguous {types} array of shape {shapes}{size} on {where}, "
            f"got {array_type}" + ("" if shape is None else f" of shape {shape}")
        )


@dataclass(frozen=True, slots=True)
class _Bound:
    """Checked arrays of an `out=`; held weakly, so that no rollout is kept alive."""

    names: tuple[str, ...]
    references: list[weakref.ref[Any]]
    places: list[int]
    addresses: Addresses | None  # None where some outputs are fresh at each call
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]  # of the rest and the given


class Arrays(ABC):
    """The arrays of one simulator in one library."""

    rewritable = True  # whether out= and reuse= are offered
    pooled = False  # whether fresh arrays come from the engine
    converts = False  # whether `finish` does anything
    movable = True  # whether an array's memory can be exchanged while it is weakly referenced

    def __init__(self, native: NativeSimulator, new_addresses: Any, layout: Layout) -> None:
        self.native = native
        self.layout = layout
        self.new_addresses = new_addresses
        self._bound: dict[tuple[Any, ...], _Bound] = {}

    @abstractmethod
    def fresh(self, flat: bool) -> Binding:
        """Allocate the arrays of one call."""

    @abstractmethod
    def address(self, array: Any) -> int:
        """Return the address of an array of this library."""

    @abstractmethod
    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Return an array of type `kind` on the simulator's machine, not filled."""

    @abstractmethod
    def check(self, array: Any, wanted: Wanted) -> None:
        """Raise unless `array` has the wanted form, in this library and on this device."""

    def locate(self, array: Any, wanted: Wanted) -> tuple[int, object]:
        """Check a caller's array; return its address and the object that keeps it alive."""
        self.check(array, wanted)
        return self.address(array), array

    def own(self, flat: bool) -> Binding:
        """Allocate arrays that outlive every context they are used in (`reuse=True`)."""
        return self.fresh(flat)

    def clear(self, array: Any) -> None:
        """Fill an array of this library with zeros; None has none."""
        if array is not None:
            array[...] = 0

    def finish(self, results: Outputs) -> Outputs:
        """Turn written arrays into the caller's."""
        return results

    def stream(self) -> int:
        """Handle of the stream that the library enqueues work on; 0 on the CPU."""
        return 0

    def used_streams(self) -> Iterable[int]:
        """Return the handles of the current stream, and of the one before; none on the CPU."""
        return ()

    def keep(self, handle: int, arrays: Iterable[Any]) -> None:
        """Keep memory alive until a stream other than the current one is done with it."""
        return  # where there is one stream, or the pool sees to it

    def to_device(self, array: np.ndarray[Any, Any]) -> tuple[int, object]:
        """Return the address of a host array's data on the machine, and its owner to keep alive."""
        return address_of_numpy(array), array

    def bind(self, out: Mapping[str, Any], flat: bool, own: Binding | None) -> Binding:
        """Return addresses and arrays that write into `out`, checked when an array is first seen.

        Outputs that `out` does not name go to `own` where given, else to fresh arrays. With nothing
        fresh, a mapping seen before costs a look at each array's identity and address.
        """
        given = tuple(out.values())
        key = (id(out), flat)
        known = self._bound.get(key)
        if (
            known is None
            or known.names != tuple(out)
            or not all(map(operator.is_, [ref() for ref in known.references], given))
            or (self.movable and known.places != self.places(given))
        ):
            known = self._bind_new(out, given, flat, own)
            if len(self._bound) >= _CACHED_OUTS:
                self._bound.clear()
            self._bound[key] = known
        if known.addresses is not None:
            rest = _NOTHING if own is None else own[1]
            return known.addresses, Outputs._make(known.pick(rest + given))
        results = Outputs._make(known.pick(self.fresh(flat)[1] + given))
        return self.addresses_of(results), results

    def _bind_new(
        self, out: Mapping[str, Any], given: tuple[Any, ...], flat: bool, own: Binding | None
    ) -> _Bound:
        for name, array in out.items():
            self._check_named(name, array, flat)
        places = {name: len(OUTPUTS) + index for index, name in enumerate(out)}
        pick = operator.itemgetter(*(places.get(n, i) for i, n in enumerate(OUTPUTS)))
        written = {output.name for output in self.layout.outputs if output is not None}
        addresses = None
        if own is not None or written <= set(out):
            rest = _NOTHING if own is None else own[1]
            addresses = self.addresses_of(pick(rest + given))
        references = [weakref.ref(array) for array in given]
        return _Bound(tuple(out), references, self.places(given), addresses, pick)

    def addresses_of(self, results: Sequence[Any]) -> Addresses:
        """Return the places of arrays in the order of `Outputs`, None among them."""
        places = [0 if array is None else self.address(array) for array in results]
        addresses: Addresses = self.new_addresses(places)
        return addresses

    def places(self, given: tuple[Any, ...]) -> list[int]:
        """Return the addresses of arrays."""
        return [self.address(array) for array in given]

    def _check_named(self, name: str, array: Any, flat: bool) -> None:
        output = self.layout.output(name) if name in OUTPUTS else None
        if output is None:
            written = [o.name for o in self.layout.outputs if o is not None]
            raise ValueError(errors.unknown("output in out=", name, written))
        self.check(array, self._wanted(output, flat))

    def _wanted(self, output: Output, flat: bool) -> Wanted:
        shapes, size = (output.view(flat),), size_in_words(self.layout.worlds, self.layout.agents)
        return Wanted(f"out[{output.name!r}]", (output.type,), shapes, size=size)

    def _addresses_in_blocks(self, bases: Sequence[int]) -> Addresses:
        offsets = [0 if o is None else bases[o.block] + o.offset for o in self.layout.outputs]
        addresses: Addresses = self.new_addresses(offsets)
        return addresses


def address_of_numpy(array: np.ndarray[Any, Any]) -> int:
    """Return the address of a NumPy array; its buffer answers four times faster than the array."""
    try:
        buffer: Any = array  # NumPy's stubs do not say that arrays are buffers
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    except (TypeError, ValueError):  # read-only or empty
        address: int = array.__array_interface__["data"][0]
        return address


def check_numpy(array: Any, wanted: Wanted) -> None:
    """Accept contiguous NumPy arrays of exactly the dtype and shape; to be written, writable."""
    if not isinstance(array, np.ndarray):
        raise TypeError(wanted.mismatch(type(array).__name__, None, "cpu"))
    if array.dtype not in [np.dtype(kind) for kind in wanted.types]:
        raise TypeError(wanted.mismatch(array.dtype, array.shape, "cpu"))
    if array.shape not in wanted.shapes:
        raise ValueError(wanted.mismatch(array.dtype, array.shape, "cpu"))
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and (flags.writeable or not wanted.is_written)):
        rules = "C-contiguous, aligned and writable" if wanted.is_written else "C-contiguous"
        raise ValueError(f"{wanted.label} must be {rules}, got {flags}")


class NumpyArrays(Arrays):
    """NumPy on the CPU."""

    pooled = True
    movable = False

    def fresh(self, flat: bool) -> Binding:
        """Take a set from the engine's pool."""
        return self.native.allocate(flat)

    def address(self, array: Any) -> int:
        """Return where the array begins."""
        return address_of_numpy(array)

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Allocate."""
        return np.empty(shape, kind)

    def check(self, array: Any, wanted: Wanted) -> None:
        """Accept what `check_numpy` does."""
        check_numpy(array, wanted)


class JaxArrays(NumpyArrays):
    """JAX on the CPU: the engine's arrays, imported without a copy; immutable, so no `out=`."""

    rewritable = False
    converts = True

    def __init__(self, native: NativeSimulator, new_addresses: Any, layout: Layout) -> None:
        super().__init__(native, new_addresses, layout)
        require("jax")
        self._import = require("jax.dlpack").from_dlpack

    def address(self, array: Any) -> int:
        """Return where the array begins, of NumPy or of JAX."""
        return super().address(np.asarray(array))

    def locate(self, array: Any, wanted: Wanted) -> tuple[int, object]:
        """Accept JAX's arrays too where nothing is written."""
        if not wanted.is_written and hasattr(array, "block_until_ready"):
            array = np.asarray(array)
        return super().locate(array, wanted)

    def finish(self, results: Outputs) -> Outputs:
        """Import what was written."""
        return Outputs(*(None if array is None else self._import(array) for array in results))


class TorchArrays(Arrays):
    """PyTorch, on the CPU or a CUDA device."""

    def __init__(
        self, native: NativeSimulator, new_addresses: Any, layout: Layout, device: str
    ) -> None:
        super().__init__(native, new_addresses, layout)
        self._torch = require("torch")
        self._device = self._torch.device(device)
        if self._device.type == "cuda" and not self._torch.cuda.is_available():
            raise ValueError(f"arrays='torch' on {device!r} needs a torch build with CUDA")
        self._views = {flat: self._view_plan(flat) for flat in (False, True)}
        self._types = [
            {getattr(self._torch, o.type) for o in layout.outputs if o is not None and o.block == k}
            for k in range(len(layout.block_bytes))
        ]
        self._last: Any = None  # stream: the library keeps it alive as long as its object

    def _view_plan(self, flat: bool) -> list[Any]:
        plan: list[Any] = []
        for output in self.layout.outputs:
            if output is None:
                plan.append(None)
                continue
            kind = getattr(self._torch, output.type)
            shape = output.view(flat)
            stride = self._torch.empty(shape, device="meta").stride()
            first = output.offset // kind.itemsize
            plan.append(((output.block, kind), shape, stride, first))
        return plan

    def fresh(self, flat: bool) -> Binding:
        """Cut the blocks from torch's allocator."""
        empty, byte, device = self._torch.empty, self._torch.uint8, self._device
        blocks = [empty(size, dtype=byte, device=device) for size in self.layout.block_bytes]
        typed = {
            (k, kind): blocks[k].view(kind) for k, kinds in enumerate(self._types) for kind in kinds
        }
        results = Outputs._make(
            None if plan is None else typed[plan[0]].as_strided(plan[1], plan[2], plan[3])
            for plan in self._views[flat]
        )
        return self._addresses_in_blocks([block.data_ptr() for block in blocks]), results

    def own(self, flat: bool) -> Binding:
        """Allocate outside inference mode, whose tensors could not be updated after it."""
        with self._torch.inference_mode(False):
            return self.fresh(flat)

    def address(self, array: Any) -> int:
        """Return where the tensor begins."""
        address: int = array.data_ptr()
        return address

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Allocate."""
        return self._torch.empty(shape, dtype=getattr(self._torch, kind), device=self._device)

    def places(self, given: tuple[Any, ...]) -> list[int]:
        """Return where each tensor begins; in the loop of every step with `out=`."""
        return [array.data_ptr() for array in given]

    def check(self, array: Any, wanted: Wanted) -> None:
        """Accept contiguous tensors of exactly the dtype, shape and device."""
        where = str(self._device)
        if not isinstance(array, self._torch.Tensor):
            raise TypeError(wanted.mismatch(type(array).__name__, None, where))
        shape = tuple(array.shape)
        if array.dtype not in [getattr(self._torch, kind) for kind in wanted.types]:
            raise TypeError(wanted.mismatch(array.dtype, shape, where))
        if array.device != self._device:
            raise ValueError(wanted.mismatch(f"a tensor on {array.device}", shape, where))
        if shape not in wanted.shapes or not array.is_contiguous():
            layout = f"{array.dtype} with strides {array.stride()}"
            raise ValueError(wanted.mismatch(layout, shape, where))

    def locate(self, array: Any, wanted: Wanted) -> tuple[int, object]:
        """Accept NumPy arrays too where nothing is written and both lie on the CPU."""
        if isinstance(array, np.ndarray) and not wanted.is_written and self._device.type == "cpu":
            check_numpy(array, wanted)
            return address_of_numpy(array), array
        return super().locate(array, wanted)

    def stream(self) -> int:
        """Return torch's current stream on the simulator's device."""
        if self._device.type == "cpu":
            return 0
        self._last = self._torch.cuda.current_stream(self._device)
        handle: int = self._last.cuda_stream
        return handle

    def used_streams(self) -> Iterable[int]:
        """Yield the current stream, and the one that was current at the last call."""
        if self._device.type == "cpu":
            return
        before = self._last  # does not end before the caller is done with its handle
        now = self.stream()
        yield now
        if before is not None and before.cuda_stream != now:
            yield before.cuda_stream

    def keep(self, handle: int, arrays: Iterable[Any]) -> None:
        """Record the other stream with torch's allocator."""
        if self._device.type == "cpu":
            return
        stream = self._torch.cuda.ExternalStream(handle, self._device)
        for array in arrays:
            if isinstance(array, self._torch.Tensor):
                array.record_stream(stream)

    def to_device(self, array: np.ndarray[Any, Any]) -> tuple[int, object]:
        """Copy a host array to the device; on the CPU, use it where it is."""
        if self._device.type == "cpu":
            return super().to_device(array)
        tensor = self._torch.from_numpy(array).to(self._device)
        return tensor.data_ptr(), tensor


class CupyArrays(Arrays):
    """CuPy on a CUDA device."""

    def __init__(
        self, native: NativeSimulator, new_addresses: Any, layout: Layout, ordinal: int
    ) -> None:
        super().__init__(native, new_addresses, layout)
        self._cupy = require("cupy")
        self._ordinal = ordinal
        self._last: Any = None  # stream, kept alive

    def fresh(self, flat: bool) -> Binding:
        """Cut the blocks from CuPy's memory pool.

        The pool gives memory back to the stream that was current when it was taken, which waits for
        every call of ours (`streams.py`), so there is nothing to keep.
        """
        with self._cupy.cuda.Device(self._ordinal):
            blocks = [self._cupy.empty(size, dtype=np.uint8) for size in self.layout.block_bytes]
        results = Outputs._make(
            None
            if output is None
            else self._cupy.ndarray(
                output.view(flat),
                np.dtype(output.type),
                memptr=blocks[output.block].data + output.offset,
            )
            for output in self.layout.outputs
        )
        return self._addresses_in_blocks([block.data.ptr for block in blocks]), results

    def address(self, array: Any) -> int:
        """Return where the array begins."""
        address: int = array.data.ptr
        return address

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Allocate."""
        with self._cupy.cuda.Device(self._ordinal):
            return self._cupy.empty(shape, dtype=np.dtype(kind))

    def clear(self, array: Any) -> None:
        """Fill an array of the simulator's device with zeros."""
        with self._cupy.cuda.Device(self._ordinal):
            super().clear(array)

    def check(self, array: Any, wanted: Wanted) -> None:
        """Accept contiguous arrays of exactly the dtype, shape and device."""
        where = f"cuda:{self._ordinal}"
        if not isinstance(array, self._cupy.ndarray):
            raise TypeError(wanted.mismatch(type(array).__name__, None, where))
        if array.dtype not in [np.dtype(kind) for kind in wanted.types]:
            raise TypeError(wanted.mismatch(array.dtype, array.shape, where))
        if (
            array.shape not in wanted.shapes
            or not array.flags.c_contiguous
            or array.device.id != self._ordinal
        ):
            raise ValueError(wanted.mismatch(array.dtype, array.shape, where))

    def stream(self) -> int:
        """Return CuPy's current stream of the simulator's device: every device has its own."""
        with self._cupy.cuda.Device(self._ordinal):
            self._last = self._cupy.cuda.get_current_stream()
        handle: int = self._last.ptr
        return handle

    def used_streams(self) -> Iterable[int]:
        """Yield the current stream, and the one that was current at the last call."""
        before = self._last  # does not end before the caller is done with its handle
        now = self.stream()
        yield now
        if before is not None and before.ptr != now:
            yield before.ptr

    def to_device(self, array: np.ndarray[Any, Any]) -> tuple[int, object]:
        """Copy a host array to the device."""
        with self._cupy.cuda.Device(self._ordinal):
            copy = self._cupy.asarray(array)
        return copy.data.ptr, copy


def make(
    name: str, native: NativeSimulator, new_addresses: Any, layout: Layout, device: tuple[str, int]
) -> Arrays:
    """Make the back end `name` for a simulator on `device` (machine, ordinal)."""
    if name == "numpy":
        return NumpyArrays(native, new_addresses, layout)
    if name == "jax":
        return JaxArrays(native, new_addresses, layout)
    if name == "cupy":
        return CupyArrays(native, new_addresses, layout, device[1])
    place = "cpu" if device[0] == "cpu" else f"cuda:{device[1]}"
    return TorchArrays(native, new_addresses, layout, place)
