"""A plain C loop over worlds, compiled here: the fastest code without a framework."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from gpu_envs.benchmark.points import Subject
from gpu_envs.benchmark.worlds import PREPARED

ROOT = Path(__file__).parents[2]


def compile_loop(source: str, folder: Path, flags: str = "") -> ctypes.CDLL:
    """Compile a source of this tree with `cc -O3` and load it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise FileNotFoundError("there is no C compiler")
    path = ROOT / source
    if not path.exists():
        raise FileNotFoundError(f"its source {path.name} comes with the source tree only")
    # A name per set of flags: ctypes gives the same library again for the same path.
    library = folder / f"loop{flags.replace('=', '-')}.so"
    command = [compiler, "-O3", *flags.split(), "-shared", "-fPIC", "-o", str(library), str(path)]
    done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"its compilation failed: {(done.stderr.splitlines() or ['?'])[0]}")
    loop = ctypes.CDLL(str(library))
    # ctypes takes C integers for 32 bits by default.
    loop.world_bytes.restype = ctypes.c_int64
    return loop


def open_loop(worlds: int, *, source: str, flags: str) -> Subject:
    """Step `worlds` worlds of four observed numbers and two actions."""
    # The file may go once it is loaded: the process holds its pages.
    with tempfile.TemporaryDirectory() as folder:
        loop = compile_loop(source, Path(folder), flags)
    memory = np.zeros(worlds * loop.world_bytes(), np.uint8)
    outputs = (
        np.empty((worlds, 4), np.float32),
        np.empty(worlds, np.float32),
        np.empty(worlds, np.uint8),
        np.empty(worlds, np.uint8),
    )
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in outputs]
    state, count = ctypes.c_void_p(memory.ctypes.data), ctypes.c_int64(worlds)
    loop.reset_all(state, count, ctypes.c_uint32(0), pointers[0])
    dice = np.random.default_rng(0)
    actions = [dice.integers(0, 2, worlds) for _ in range(PREPARED)]
    places = [ctypes.c_void_p(array.ctypes.data) for array in actions]

    # `kept` holds the arrays, which the pointers do not keep alive.
    def step(i: int, kept: object = (memory, outputs, actions)) -> None:
        loop.step_all(state, count, places[i % PREPARED], *pointers)

    return Subject(step, worlds, lambda: None)
