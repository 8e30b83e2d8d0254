"""Faults planted into real device code are found by the interpreter of PTX; see plants.py."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gpu_envs.building import places, toolchain
from gpu_envs.core.layout import OUTPUTS
from gpu_envs.known import native
from scripts.checks import golden_cases
from scripts.ptx import interpreter
from tests.ptx.plants import (
    BLOCKS,
    BUFFER_BYTES,
    CAPTURED_MALLOC,
    CARTPOLE,
    DIFFER,
    FLOCKING,
    HOST_PLANTS,
    KINDS,
    LATER_CALL,
    LEGACY_LAUNCH,
    NOTHING,
    ORDERS,
    PLANTS,
    POISONS,
    RACES,
    STRONG,
    TAG_GRID,
    WARPS,
    HostPlant,
    Plant,
    Run,
    added,
)

pytestmark = [pytest.mark.usefixtures("interpreted"), pytest.mark.xdist_group("interpreted")]

POISONED = ({"shuffle": 5, "poison": 0}, {"shuffle": 5, "poison": 0x7FC00001})
Hashes = tuple[str, str]


def _device_memory(size: int) -> int:
    at = ctypes.c_void_p()
    assert interpreter.library().cudaMalloc(ctypes.byref(at), ctypes.c_size_t(size)) == 0
    interpreter.library().cudaMemset(at, 0, ctypes.c_size_t(size))
    return at.value or 0


def _free(at: int) -> None:
    interpreter.library().cudaFree(ctypes.c_void_p(at))


def _simulator(target: str, run: Run) -> Any:
    tuning = run.tuning if target == places.PTX else {}
    return native.at(target, run.name).Simulator(
        run.name,
        run.worlds,
        data_files=native.data_files(target, run.name),
        autoreset_mode="SameStep",
        parameters=dict(run.parameters),
        **tuning,
    )


def _nowhere() -> Any:
    """Return the addresses of a step whose outputs nobody wants."""
    return native.at(places.PTX).Addresses([0] * len(OUTPUTS))


def _play(target: str, run: Run, frees: int = 0) -> Hashes:
    """Step worlds by drawn actions.

    Args:
        target: Of modules.
        run: The worlds.
        frees: Address of device memory that is freed, whereupon worlds are stepped again.
    """
    simulator = _simulator(target, run)
    records, outputs = simulator.golden(run.steps, 1, in_a_row=golden_cases.IN_A_ROW)
    if frees:
        _free(frees)
        simulator.golden(1, 1)
    simulator.close()
    return records, outputs


@functools.cache
def _expected(
    name: str, worlds: int, steps: int, parameters: tuple[tuple[str, object], ...]
) -> Hashes:
    return _play(native.cpu_target(), Run(name, worlds, steps, dict(parameters)))


def _right(run: Run) -> Hashes:
    """Return the hashes of the CPU."""
    return _expected(run.name, run.worlds, run.steps, tuple(run.parameters.items()))


@contextmanager
def _planted(plant: Plant) -> Iterator[int]:
    """Plant a fault for a while, and yield the address of BUFFER."""
    buffer, host = _device_memory(BUFFER_BYTES), ctypes.create_string_buffer(8)
    names = {"BUFFER": str(buffer), "HOST": str(ctypes.addressof(host))}
    with ExitStack() as stack:
        for pattern, text in plant.edits:
            for name, address in names.items():
                text = text.replace(name, address)
            stack.enter_context(interpreter.planted(pattern, text))
        yield buffer
    if not plant.frees:
        _free(buffer)


def _found(plant: Plant) -> str:
    """Plant a fault and return by what it is found: a message, or one of KINDS."""
    ways = {POISONS: POISONED, ORDERS: ({}, {"shuffle": 3})}.get(plant.found, (plant.settings,))
    made = []
    with _planted(plant) as buffer:
        for way in ways:
            try:
                with interpreter.settings(**way):
                    made.append(_play(places.PTX, plant.run, buffer if plant.frees else 0))
            except (RuntimeError, ValueError) as problem:
                assert interpreter.edited() > 0
                return str(problem)
        assert interpreter.edited() > 0, "nothing was changed"
    if len(ways) == 1:
        return NOTHING if made[0] == _right(plant.run) else DIFFER
    if plant.found == ORDERS:
        assert made[0] == _right(plant.run), "found without another order"
    return plant.found if made[0] != made[1] else NOTHING


@pytest.mark.parametrize("run", [CARTPOLE, TAG_GRID, FLOCKING], ids=lambda run: run.name)
def test_without_a_fault_hashes_are_those_of_the_cpu(run: Run) -> None:
    for way in ({}, {"races": 1}, *POISONED):
        with interpreter.settings(**way):
            assert _play(places.PTX, run) == _right(run)


def test_strong_accesses_do_not_race() -> None:
    assert _found(Plant("strong", NOTHING, added(STRONG), WARPS, RACES)) == NOTHING


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.title)
def test_a_fault_is_found(plant: Plant) -> None:
    found = _found(plant)
    assert found == plant.found if plant.found in KINDS else plant.found in found, found
    # What was lost is there again.
    assert interpreter.fault() == ""
    assert interpreter.edited() == 0


def test_recorded_runs_find_a_launch_that_does_not_wait() -> None:
    from scripts.ptx import golden  # which sets the variable that this test needs

    plant = next(plant for plant in PLANTS if plant.title == "no `griddepcontrol.wait`")
    with _planted(plant), pytest.raises(RuntimeError, match=plant.found):
        golden.run("cartpole", golden.OWN, golden_cases.FOLDER)


# ---- processes of their own

PROGRAM = """
import ast, ctypes, os, sys
from contextlib import ExitStack
os.environ.pop("LD_PRELOAD", None)
from gpu_envs.building import places
from gpu_envs.known import native
from scripts.checks import golden_cases
from scripts.ptx import interpreter
name, worlds, steps, parameters, tuning, edits = ast.literal_eval(sys.stdin.read())
buffer = ctypes.c_void_p()
interpreter.library().cudaMalloc(ctypes.byref(buffer), ctypes.c_size_t(1024))
with ExitStack() as stack:
    for pattern, text in edits:
        text = text.replace("BUFFER", str(buffer.value))
        stack.enter_context(interpreter.planted(pattern, text))
    simulator = native.at(places.PTX, name).Simulator(
        name, worlds, data_files=native.data_files(places.PTX, name), autoreset_mode="SameStep",
        parameters=parameters, **tuning)
    print("hashes", *simulator.golden(steps, 1))
"""


def _play_apart(
    run: Run, edits: tuple[tuple[str, str], ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Step worlds in a process of their own, which nothing has run in before."""
    options = (dict(run.parameters), dict(run.tuning), edits)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=repr((run.name, run.worlds, run.steps, *options)),
        capture_output=True,
        text=True,
        cwd=places.kernels().parent,
        env=os.environ | environment,
        check=False,
    )


def test_races_are_found_where_no_kernel_before_had_shared_memory() -> None:
    plant = next(plant for plant in PLANTS if plant.title == "blocks that write one word")
    done = _play_apart(plant.run, plant.edits, GPU_ENVS_PTX_RACES="1")
    assert plant.found in done.stderr, done.stdout + done.stderr


# ---- mistakes of the host


@pytest.fixture(scope="module")
def host_faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stands in front of the runtime."""
    file = tmp_path_factory.mktemp("host_faults") / "host_faults.so"
    source = Path(__file__).with_name("host_faults.cpp")
    include = f"-I{toolchain.nvcc().include}"
    command = [toolchain.cxx(), "-shared", "-fPIC", include, str(source), "-o", str(file), "-ldl"]
    subprocess.run(command, check=True)
    return file


def _play_behind(library: Path, fault: str, run: Run) -> subprocess.CompletedProcess[str]:
    runtime = str(places.runtime_file(places.PTX))
    return _play_apart(run, LD_PRELOAD=str(library), FAULT=fault, RUNTIME=runtime)


def test_the_library_in_front_of_the_runtime_changes_nothing_by_itself(host_faults: Path) -> None:
    done = _play_behind(host_faults, "", BLOCKS)
    assert done.stdout.split() == ["hashes", *_right(BLOCKS)], done.stderr


@pytest.mark.parametrize("plant", HOST_PLANTS, ids=lambda plant: plant.title)
def test_a_mistake_of_the_host_is_found(plant: HostPlant, host_faults: Path) -> None:
    done = _play_behind(host_faults, plant.fault, plant.run)
    if plant.found == DIFFER:
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() != ["hashes", *_right(plant.run)]
    else:
        assert done.returncode != 0
        assert plant.found in done.stderr, done.stderr


@contextmanager
def _capture() -> Iterator[None]:
    """Capture a blocking stream, on which nothing happens."""
    runtime, stream, graph = interpreter.library(), ctypes.c_void_p(), ctypes.c_void_p()
    assert runtime.cudaStreamCreate(ctypes.byref(stream)) == 0
    assert runtime.cudaStreamBeginCapture(stream, 0) == 0
    try:
        yield
    finally:
        code = runtime.cudaStreamEndCapture(stream, ctypes.byref(graph))
        runtime.cudaStreamDestroy(stream)
        runtime.cudaGetLastError()
    assert code != 0  # invalidated


def test_a_launch_on_the_legacy_stream_is_forbidden_during_a_capture() -> None:
    simulator = _simulator(places.PTX, CARTPOLE)
    simulator.golden(1, 1)
    actions = _device_memory(8 * CARTPOLE.worlds)
    with _capture(), pytest.raises(RuntimeError, match=LEGACY_LAUNCH.found):
        simulator.step(actions, "int64", _nowhere(), 0)
    _free(actions)
    simulator.close()


def test_memory_is_not_allocated_during_a_capture() -> None:
    runtime, at = interpreter.library(), ctypes.c_void_p()
    runtime.cudaGetErrorString.restype = ctypes.c_char_p
    with _capture():
        code = runtime.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(8))
        assert CAPTURED_MALLOC.found in runtime.cudaGetErrorString(code).decode()


def test_every_call_fails_after_a_fault() -> None:
    plant = next(plant for plant in PLANTS if plant.found == LATER_CALL.found)
    with _planted(plant):
        with pytest.raises(RuntimeError, match=LATER_CALL.found):
            _play(places.PTX, CARTPOLE)
        with pytest.raises(RuntimeError, match=LATER_CALL.found):
            _simulator(places.PTX, CARTPOLE)
        assert interpreter.library().cudaDeviceSynchronize() != 0
    assert interpreter.library().cudaDeviceSynchronize() == 0
