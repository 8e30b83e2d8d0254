"""The interpreter of PTX from Python: its settings, counters, and faults planted into kernels.

The library is CUDA's runtime for modules of the target `cuda_ptx`; what is set here holds for the
whole process. See kernels/ptx/runtime/tools.hpp.
"""

from __future__ import annotations

import ctypes
import functools
import json
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs.benchmark import memory
from gpu_envs.building import places
from gpu_envs.known import native


@functools.cache
def library() -> ctypes.CDLL:
    """Return the library, built and loaded."""
    native.at(places.PTX)
    found = ctypes.CDLL(str(places.runtime_file(places.PTX)))
    found.ge_ptx_get.restype = ctypes.c_uint64
    found.ge_ptx_edited.restype = ctypes.c_uint64
    found.ge_ptx_executed.restype = ctypes.c_uint64
    found.ge_ptx_report.restype = ctypes.c_size_t
    found.ge_ptx_called.restype = ctypes.c_size_t
    found.ge_ptx_calls.restype = ctypes.c_uint64
    found.ge_ptx_fault.restype = ctypes.c_char_p
    return found


def set_to(**settings: int) -> None:
    """Change settings, such as shuffle, poison or counts; all are in tools.hpp."""
    for name, value in settings.items():
        if library().ge_ptx_set(name.encode(), ctypes.c_uint64(value)) != 0:
            raise ValueError(f"the interpreter has no setting {name!r}")


@contextmanager
def settings(**wanted: int) -> Iterator[None]:
    """Change settings for a while."""
    before = {name: int(library().ge_ptx_get(name.encode())) for name in wanted}
    set_to(**wanted)
    try:
        yield
    finally:
        set_to(**before)


@contextmanager
def planted(pattern: str, replacement: str, nth: int = -1) -> Iterator[None]:
    """Change the PTX of all kernels for a while; simulators have to be made inside.

    Args:
        pattern: Regular expression of ECMAScript; ^ and $ are the ends of lines.
        replacement: Text instead of a match; $1 is its first group.
        nth: Which match, from 0; -1: all.
    """
    texts = pattern.encode(), replacement.encode()
    library().ge_ptx_reload()
    if library().ge_ptx_edit(*texts, ctypes.c_int64(nth)) != 0:
        raise ValueError(f"not a regular expression: {pattern!r}")
    try:
        yield
    finally:
        library().ge_ptx_clear_edits()
        library().ge_ptx_reload()
        library().ge_ptx_forget_fault()


def edited() -> int:
    """Return how many places have been changed by what is planted."""
    return int(library().ge_ptx_edited())


def fault() -> str:
    """Return the fault of a kernel with which all calls fail; "" where there was none."""
    return (library().ge_ptx_fault() or b"").decode()


def clear_counts() -> None:
    """Begin to count from zero."""
    library().ge_ptx_clear_counts()


# ---- memory


def empty(size: int, offset: int = 0) -> np.ndarray[Any, Any]:
    """Return bytes of the device, which are the host's too; freed with the array.

    Args:
        size: In bytes.
        offset: Where they begin in an allocation, whose own address is a multiple of 256.
    """
    at = ctypes.c_void_p()
    whole = max(1, size + offset)
    if library().cudaMalloc(ctypes.byref(at), ctypes.c_size_t(whole)) != 0:
        raise MemoryError(f"the interpreter has no {whole:,} bytes: {fault()}")
    held = (ctypes.c_uint8 * whole).from_address(at.value or 0)
    weakref.finalize(held, library().cudaFree, at)
    return np.frombuffer(held, np.uint8)[offset : offset + size]


def zeros(size: int, offset: int = 0) -> np.ndarray[Any, Any]:
    """Return the same, zeroed."""
    made = empty(size, offset)
    made[...] = 0
    return made


def use_for_worlds() -> None:
    """Let gpu_envs.benchmark.worlds.Run have its outputs and actions there."""
    memory.use(zeros)


# ---- what was counted


@dataclass(frozen=True)
class Row:
    """One instruction of a function, and what it has done."""

    line: int  # of the PTX
    source: str  # file and line; "" without line information
    opcode: str
    kind: str  # such as "integer" or "load_global"
    warps: int  # times that a warp executed it
    lanes: int  # the same for lanes
    sectors: int  # of 32 bytes in global and local memory
    waves: int  # passes through the banks of shared memory
    splits: int  # of a branch: times that lanes went different ways
    target: int  # of a branch: the place of the instruction that it leads to, from 1 on; 0: none
    goes_on: int  # whether the instruction behind it can be the next


@dataclass(frozen=True)
class Kernel:
    """An entry of a module."""

    name: str
    object: str  # file name of the module
    registers: int
    shared_bytes: int
    local_bytes: int
    launches: int
    blocks: int
    threads: int
    functions: dict[str, list[Row]]

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all functions."""
        for rows in self.functions.values():
            yield from rows


def executed() -> int:
    """Return how many instructions some lane has executed since counting began."""
    return int(library().ge_ptx_executed())


def calls() -> dict[str, int]:
    """Return how often each function of CUDA's runtime was called since counting began."""
    names = _text(library().ge_ptx_called).decode().split()
    return {name: int(library().ge_ptx_calls(name.encode())) for name in names}


def _text(function: Any) -> bytes:
    """Return what a function copies, which returns the bytes that it needs."""
    size = int(function(None, ctypes.c_size_t(0)))
    text = ctypes.create_string_buffer(size)
    function(text, ctypes.c_size_t(size))
    return text.value


def report() -> list[Kernel]:
    """Return the counters of all kernels that were asked for."""
    return read_report(json.loads(_text(library().ge_ptx_report)))


def read_report(found: dict[str, Any]) -> list[Kernel]:
    """Return the kernels of a report, such as GPU_ENVS_PTX_REPORT writes it."""

    def row(values: list[int]) -> Row:
        line, file, source_line, opcode, kind, *rest = values
        source = f"{found['files'][file]}:{source_line}" if file else ""
        return Row(line, source, found["opcodes"][opcode], found["classes"][kind], *rest)

    kernels = []
    for each in found["kernels"]:
        functions = {
            function["name"]: [row(values) for values in function["rows"]]
            for function in each["functions"]
        }
        kernels.append(Kernel(**{**each, "functions": functions}))
    return kernels
