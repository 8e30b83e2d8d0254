"""One environment on the CPU's engine and on interpreted kernels: every call is made on both.

A `Pair` has two native simulators with memory of their own. Each call is compared: the bytes of all
outputs, the worlds' records, what was drawn, counted and saved, and the text of a refusal. Before a
call both machines' outputs are filled with the same bytes, so that what a call leaves alone is
compared too. Only the bits of a NaN may differ: a processor and a GPU make different ones, and only
states that were set by hand lead to any.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs.benchmark.worlds import draw_valid, output_bytes
from gpu_envs.building import places
from gpu_envs.known import native
from gpu_envs.known.outputs import OUTPUTS
from scripts.ptx import interpreter

GUARD = 64  # bytes before and behind an output, which no call may change
FILL = 0x5A
OF_A_GPU = ("lanes", "schedule", "block", "dependent_launch")  # options without a meaning on a CPU
NOT_BUILT = ("lanes must be", "not built for the flat schedule", "lanes are for the group")
_TO_DEVICE, _TO_HOST = 1, 2  # of cudaMemcpyKind

Array = np.ndarray[Any, Any]


class Differs(AssertionError):
    """The machines came to different results."""


class Refused(Exception):
    """Both machines refuse, with the same text."""


class Memory:
    """Bytes of one machine, with guards around them.

    Args:
        size: How many.
        on_device: Whether they are the interpreter's.
        shift: How many bytes the memory begins behind a multiple of 64.
    """

    def __init__(self, size: int, on_device: bool, shift: int = 0) -> None:
        self.size, self.on_device, self.shift = size, on_device, shift
        whole = size + 2 * GUARD + shift
        if on_device:
            self._held = ctypes.c_void_p()
            _check("cudaMalloc", ctypes.byref(self._held), ctypes.c_size_t(whole))
            base = int(self._held.value or 0)
        else:
            self._array = np.empty(whole + 64, np.uint8)
            base = -(-int(self._array.ctypes.data) // 64) * 64
        self._base, self._whole = base, whole
        self.address = base + GUARD + shift
        self.fill(FILL)

    def fill(self, value: int) -> None:
        """Set all bytes and the guards."""
        self._put(np.full(self._whole, value, np.uint8), self._base)

    def write(self, data: Array) -> None:
        """Copy an array to the beginning."""
        self._put(np.ascontiguousarray(data).view(np.uint8).ravel(), self.address)

    def read(self) -> bytes:
        """Return the bytes; Differs where a guard has changed."""
        whole = np.empty(self._whole, np.uint8)
        _move(whole.ctypes.data, self._base, self._whole, _TO_HOST, self.on_device)
        begin = GUARD + self.shift
        guards = np.concatenate((whole[:begin], whole[begin + self.size :]))
        if (guards != guards[0]).any():
            raise Differs("bytes beside an output were written")
        return whole[begin : begin + self.size].tobytes()

    def _put(self, data: Array, to: int) -> None:
        _move(to, data.ctypes.data, data.nbytes, _TO_DEVICE, self.on_device)

    def free(self) -> None:
        """Give it back."""
        if self.on_device and self._held:
            _check("cudaFree", self._held)
            self._held = ctypes.c_void_p()


def _check(call: str, *arguments: Any) -> None:
    code = getattr(interpreter.library(), call)(*arguments)
    if code != 0:
        raise RuntimeError(f"{call} returned {code}: {interpreter.fault()}")


def _move(to: int, source: int, size: int, kind: int, on_device: bool) -> None:
    if not on_device:
        ctypes.memmove(to, source, size)
        return
    pointers = ctypes.c_void_p(to), ctypes.c_void_p(source)
    _check("cudaMemcpy", *pointers, ctypes.c_size_t(size), ctypes.c_int(kind))


class Side:
    """A native simulator of one machine with memory for its outputs."""

    def __init__(
        self, target: str, name: str, worlds: int, outputs: Sequence[str] | None, shift: int,
        options: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.module = native.at(target, name)
        self.on_device = self.module.MACHINE == "cuda"
        files = native.data_files(target, name)
        own = {key: options[key] for key in options if self.on_device or key not in OF_A_GPU}
        self.simulator = self.module.Simulator(name, worlds, data_files=files, **own)
        self.facts: dict[str, Any] = json.loads(self.simulator.instance)
        sizes = output_bytes(self.facts)
        self.memory: dict[str, Memory] = {}
        for output, size in sizes.items():
            if outputs is None or output in outputs:
                unit = np.dtype(self.facts["outputs"][output]["type"]).itemsize
                at = shift // unit * unit  # an element needs its own alignment
                self.memory[output] = Memory(size, self.on_device, at)
        self.addresses = self.module.Addresses(
            [self.memory[output].address if output in self.memory else 0 for output in OUTPUTS]
        )
        self._kept: dict[str, Memory] = {}

    def place(self, key: str, data: Array) -> int:
        """Copy an argument of a call into this machine's memory and return its address."""
        held = self._kept.get(key)
        if held is None or held.size != data.nbytes:
            if held is not None:
                held.free()
            held = self._kept[key] = Memory(data.nbytes, self.on_device)
        held.write(data)
        return held.address

    def kept(self, key: str) -> bytes:
        """Return what lies in an argument's memory now."""
        return self._kept[key].read()

    def close(self) -> None:
        """Free everything."""
        self.simulator.close()
        for memory in (*self.memory.values(), *self._kept.values()):
            memory.free()


def equal_but_nan(a: Array, b: Array) -> bool:
    """Whether floats are equal to the bit, apart from the bits of NaN."""
    bits = np.dtype(f"u{a.dtype.itemsize}")
    return bool(((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))).all())


class Pair:
    """The same worlds on both machines.

    Args:
        name: Id of the environment.
        worlds: How many.
        outputs: Names of those that are written; None: all that exist.
        shift: How many bytes each output begins behind a multiple of 64, as far as the alignment
            of its elements allows.
        is_kept: Whether outputs keep what they had instead of being filled before each call.
        options: Of the native simulator.
    """

    def __init__(
        self,
        name: str,
        worlds: int,
        *,
        outputs: Sequence[str] | None = None,
        shift: int = 0,
        is_kept: bool = False,
        **options: Any,
    ) -> None:
        self.name, self.worlds, self.is_kept = name, worlds, is_kept
        self.sides: list[Side] = []
        self._both(
            lambda target: self.sides.append(Side(target, name, worlds, outputs, shift, options)),
            (native.cpu_target(), places.PTX),
        )
        self.facts = self.sides[0].facts
        if is_kept:
            for side in self.sides:
                side.addresses.clear_ended = True
                for memory in side.memory.values():
                    memory.fill(0)

    def _both(self, call: Any, given: Iterable[Any] | None = None) -> list[Any]:
        """Call a function for each machine; Refused where both refuse alike."""
        found: list[Any] = []
        refusals: list[str] = []
        for one in self.sides if given is None else given:
            try:
                found.append(call(one))
            except (ValueError, TypeError) as problem:
                refusals.append(str(problem))
        if len(refusals) == 1 and any(text in refusals[0] for text in NOT_BUILT):
            raise Refused(refusals[0])
        if len(refusals) == 1:
            raise Differs(f"only one machine refuses: {refusals[0]}")
        if refusals and refusals[0] != refusals[1]:
            raise Differs(f"refused with different texts: {refusals[0]} / {refusals[1]}")
        if refusals:
            raise Refused(refusals[0])
        return found

    def _same(self, what: str, call: Any) -> Any:
        """Call a function for each machine and compare the results."""
        cpu, ptx = self._both(call)
        equal = np.array_equal(cpu, ptx) if isinstance(cpu, np.ndarray) else cpu == ptx
        if not equal:
            raise Differs(f"{what}: {str(ptx)[:200]}, the CPU: {str(cpu)[:200]}")
        return cpu

    # ---- calls

    def reset(
        self,
        seeds: int | Sequence[int] | None = 1,
        mask: Array | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Reset worlds, those of a mask or all."""

        def call(side: Side) -> None:
            at = 0 if mask is None else side.place("mask", mask.astype(np.uint8))
            side.simulator.reset(seeds, at, dict(options or {}), side.addresses, 0)

        self._filled(call, "reset")

    def step(self, actions: Array) -> None:
        """Run one step."""

        def call(side: Side) -> None:
            at = side.place("actions", actions)
            side.simulator.step(at, str(actions.dtype), side.addresses, 0)

        self._filled(call, "step")

    def step_badly(self, bad: Array, safe: Array) -> None:
        """Run one step with actions that the CPU refuses; there it gets safe ones instead."""

        def call(side: Side) -> None:
            kind = str(bad.dtype)
            if side.on_device:
                side.simulator.step(side.place("actions", bad), kind, side.addresses, 0)
                return
            try:
                side.simulator.step(side.place("actions", bad), kind, side.addresses, 0)
            except ValueError as problem:
                if not str(problem).startswith("actions: world "):
                    raise
                side.simulator.step(side.place("actions", safe), kind, side.addresses, 0)

        self._filled(call, "step with bad actions")

    def observe(self) -> None:
        """Write observations."""
        self._filled(lambda side: side.simulator.observe(side.addresses, 0), "observe")

    def sample(self, seed: int, is_legal: bool = True, mask: Array | None = None) -> Array:
        """Draw actions.

        Args:
            seed: Of the draw.
            is_legal: Whether the mask counts that the last call has written, if there is one.
            mask: A mask instead, one byte per category of each row.
        """
        form = draw_valid(self.facts, 1)[0]
        kind = np.dtype(np.float32 if form.dtype.kind == "f" else np.int32)
        empty = np.zeros(form.shape, kind)

        def call(side: Side) -> bytes:
            held = side.memory.get("action_mask") if is_legal else None
            legal = 0 if held is None else held.address
            legal = legal if mask is None else side.place("legal", mask)
            side.simulator.sample_actions(legal, seed, side.place("drawn", empty), 0)
            return side.kept("drawn")

        drawn = self._same("sample_actions", call)
        return np.frombuffer(drawn, kind).reshape(form.shape).copy()

    def copy(self, source: Sequence[int], to: Sequence[int], reseed: bool) -> None:
        """Copy worlds onto others."""
        self._both(lambda side: side.simulator.copy_worlds(source, to, reseed))
        self.check_records("copy_worlds")

    def save(self) -> bytes:
        """Return the save, which is the same on both."""
        found: bytes = self._same("save", lambda side: side.simulator.save())
        return found

    def load(self, data: bytes) -> None:
        """Load a save."""
        self._both(lambda side: side.simulator.load(data))
        self.check_records("load")

    def records(self, first: int, count: int) -> bytes:
        """Return some worlds' records."""
        found: bytes = self._same(
            "read_records", lambda side: side.simulator.read_records(first, count)
        )
        return found

    def write_records(self, first: int, data: bytes) -> None:
        """Replace some worlds' records."""
        self._both(lambda side: side.simulator.write_records(first, data))
        self.check_records("write_records")

    def column(self, name: str) -> Array:
        """Return a column of all worlds."""
        found: Array = self._same(f"column {name}", lambda side: side.simulator.get_column(name))
        return found

    def set_column(self, name: str, values: Array, worlds: Sequence[int] | None) -> None:
        """Set a column of some worlds, or of all."""
        self._both(lambda side: side.simulator.set_column(name, values, worlds))
        self.check_records(f"set_column {name}")

    def faults(self, of_bad_actions: bool = True) -> dict[str, Any]:
        """Return and clear what went wrong; bad actions are counted where they are not refused."""

        def call(side: Side) -> dict[str, Any]:
            counted: dict[str, Any] = side.simulator.faults()
            bad = ("bad_actions", "first_bad_world", "first_bad_agent")
            return {k: v for k, v in counted.items() if of_bad_actions or k not in bad}

        found: dict[str, Any] = self._same("faults", call)
        return found

    # ---- comparing

    def _filled(self, call: Any, what: str) -> None:
        for side in self.sides if not self.is_kept else ():
            for memory in side.memory.values():
                memory.fill(FILL)
        self._both(call)
        self.check_outputs(what)
        self.check_records(what)

    def check_outputs(self, what: str) -> None:
        """Compare all outputs."""
        for output in self.sides[0].memory:
            cpu, ptx = (side.memory[output].read() for side in self.sides)
            if cpu != ptx and not self._equal_but_nan(output, cpu, ptx):
                raise Differs(f"{what}: {output} {self._where(output, cpu, ptx)}")

    def _equal_but_nan(self, output: str, cpu: bytes, ptx: bytes) -> bool:
        """Whether only the bits of NaN differ, which each machine makes in its own way."""
        kind = np.dtype(self.facts["outputs"][output]["type"])
        if kind.kind != "f":
            return False
        return equal_but_nan(*(np.frombuffer(data, kind) for data in (cpu, ptx)))

    def _where(self, output: str, cpu: bytes, ptx: bytes) -> str:
        fact = self.facts["outputs"][output]
        kind, shape = np.dtype(fact["type"]), tuple(fact["shape"])
        a, b = (np.frombuffer(data, kind) for data in (cpu, ptx))
        bits = np.dtype(f"u{kind.itemsize}")
        differ = a.view(bits) != b.view(bits)
        if kind.kind == "f":
            differ &= ~(np.isnan(a) & np.isnan(b))
        places_of = np.flatnonzero(differ)
        first = places_of[0]
        at = tuple(int(i) for i in np.unravel_index(first, shape))
        return (
            f"differs at {places_of.size} of {a.size}, first at {at}: {b[first]!r} "
            f"({b.view(bits)[first]:#x}), the CPU has {a[first]!r} ({a.view(bits)[first]:#x})"
        )

    def check_records(self, what: str) -> None:
        """Compare the records of all worlds."""
        cpu, ptx = (side.simulator.read_records(0, self.worlds) for side in self.sides)
        if cpu == ptx:
            return
        for name in (column["name"] for column in self.facts["columns"]):
            a, b = (side.simulator.get_column(name) for side in self.sides)
            if a.tobytes() != b.tobytes() and not (a.dtype.kind == "f" and equal_but_nan(a, b)):
                at = tuple(int(i) for i in np.argwhere(a != b)[0])
                raise Differs(f"{what}: column {name} differs at {at}: {b[at]}, the CPU: {a[at]}")

    def close(self) -> None:
        """Free both."""
        for side in self.sides:
            side.close()

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
