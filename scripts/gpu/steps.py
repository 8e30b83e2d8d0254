"""The steps of scripts/gpu/check.py that work on native modules: correctness.

Each checks one environment in a process of its own, and adds rows as it finds them. In a dry run a
CPU module stands in for CUDA and sizes shrink, so that steps can be tested without a GPU.
"""

from __future__ import annotations

import itertools
import re
import time
from typing import Any

import numpy as np

from gpu_envs.benchmark import cases, memory
from gpu_envs.benchmark.worlds import Run
from gpu_envs.known import registration
from scripts.checks import golden_cases
from scripts.gpu import native
from scripts.gpu.evidence import Evidence

LANES = (0, *cases.LANES)  # per world; 0 is the tuned choice
WAYS = (*(("group", lanes) for lanes in LANES), ("flat", 0))  # schedules and their lanes
MODES = ("SameStep", "NextStep", "Disabled")
_TRIED = 2  # recorded runs of a dry run: tests have them all
CAPTURED = ((1, "SameStep"), (1, "Disabled"), (32, "NextStep"), (32, "SameStep"))


def with_lanes(module: Any, name: str, worlds: int, **options: Any) -> Any:
    """Make a native simulator; None where its environment is not compiled for such launches.

    A build with GPU_ENVS_CUDA_LANES=all has every number of lanes that a phase lists.
    """
    try:
        return module.Simulator(name, worlds, **options)
    except ValueError as problem:
        # Any other refusal is a fault of this script or of the build, and is not passed over.
        if re.search("lanes must be one of|not built for the flat schedule", str(problem)):
            return None
        raise


def status_of(problems: list[str]) -> dict[str, str]:
    """Return the status of a row: passed, or failed with the first problem."""
    if not problems:
        return {"status": "pass"}
    return {"status": "fail", "detail": f"{len(problems)} wrong, first: {problems[0]}"}


# ---- recorded hashes


def golden(found: Evidence, name: str, dry_run: bool) -> None:
    """Recorded hashes of records and outputs, for compiled lanes, kinds of launch and schedules."""
    module = native.tested(dry_run, name)
    recorded = list(golden_cases.read(native.ids(dry_run, name)))
    if dry_run:
        recorded = sorted(recorded, key=lambda case: case.worlds * case.steps)[:_TRIED]
    if not recorded:
        found.row(status="fail", detail="it has no recorded run")
    for (schedule, lanes), dependent in itertools.product(WAYS, (True, False)):
        tuning = {"lanes": lanes, "dependent_launch": dependent, "schedule": schedule}
        ran, problems = 0, []
        for case in recorded:
            simulator = with_lanes(module, case.id, case.worlds, **(case.options | tuning))
            if simulator is None:
                continue
            ran += 1
            # Each kind of launch with one of the two ways to clear final observations. A launch
            # depends on another only where no copy lies between them.
            in_a_row = golden_cases.IN_A_ROW if dependent else 1
            hashes = tuple(simulator.golden(case.steps, case.seed, dependent, in_a_row))
            simulator.close()
            if hashes != case.hashes:
                problems.append(f"{case} {tuning}: {hashes}")
        shown = "flat" if schedule == "flat" else str(lanes or "tuned")
        cells = {"lanes": shown, "launch": "dependent" if dependent else "plain", "runs": ran}
        if ran:
            found.row({**cells, "equal": ran - len(problems)}, **status_of(problems))


# ---- against the CPU


def large(found: Evidence, name: str, dry_run: bool) -> None:
    """Many worlds: records and hashes of outputs equal those of the CPU, byte by byte."""
    # Worlds, agents, megabytes of outputs: a thread hashes some 500 of those in a second.
    most = (200, 1_000, 2) if dry_run else (100_000, 1_000_000, 100)
    module, other, both = native.tested(dry_run, name), native.reference(name), []
    worlds = native.worlds_of(module, name, *most)
    for each in (other, module):
        # One after the other: records of two would not fit into small GPUs.
        simulator = each.Simulator(name, worlds)
        hashes = tuple(simulator.golden(20, 11))
        both.append((hashes, simulator.read_records(0, worlds)))
        simulator.close()
    problems = []
    if both[0][0] != both[1][0]:
        problems.append(f"hashes {both[1][0]}, on the CPU {both[0][0]}")
    if both[0][1] != both[1][1]:
        problems.append(_first_difference(both[0][1], both[1][1], worlds))
    found.row({"worlds": f"{worlds:,}", "steps": 20}, **status_of(problems))


def _first_difference(expected: bytes, found: bytes, worlds: int) -> str:
    if len(expected) != len(found):
        return f"{len(found)} bytes of records, on the CPU {len(expected)}"
    first, second = (np.frombuffer(b, np.uint8).reshape(worlds, -1) for b in (expected, found))
    wrong = np.flatnonzero((first != second).any(axis=1))
    # The first wrong byte of the first wrong world names its column.
    byte = int(np.flatnonzero(first[wrong[0]] != second[wrong[0]])[0])
    return f"{wrong.size} records differ, first world {wrong[0]} at byte {byte}"


def save(found: Evidence, name: str, dry_run: bool) -> None:
    """A save made on one machine loads on the other, which goes on as the first does."""
    module, other = native.tested(dry_run, name), native.reference(name)
    worlds = native.worlds_of(module, name, *((77, 200, 1) if dry_run else (777, 100_000)))
    for source, target, way in ((other, module, "from the CPU"), (module, other, "to the CPU")):
        # Short episodes, so that the 25 steps cross several resets.
        options: dict[str, Any] = {"max_episode_steps": 9}
        first, second = (Run(machine, name, worlds, **options) for machine in (source, target))
        first.reset(5)
        for i in range(25):
            first.step(first.actions[i % 8])
        second.simulator.load(first.simulator.save())
        problems = _go_on(first, second, 25)
        first.close()
        second.close()
        found.row({"worlds": worlds, "carried": way, "more steps": 25}, **status_of(problems))


def _go_on(first: Run, second: Run, steps: int) -> list[str]:
    """Step both with the same actions; what differs, in words."""
    for i in range(steps):
        for run in (first, second):
            run.step(run.actions[i % 8])
        if differing := _differing(first, second):
            return [f"step {i + 1}: {differing}"]
    return []


def _differing(first: Run, second: Run) -> str:
    expected, found = first.slot.read(), second.slot.read()
    names = [name for name in expected if expected[name] != found[name]]
    if first.records() != second.records():
        names.append("records")
    return ", ".join(names)


# ---- capture, and that a step waits for nothing


def capture(found: Evidence, name: str, dry_run: bool) -> None:
    """Captured steps replay bit for bit what eager ones do; a step never waits for the device."""
    module, most = native.tested(dry_run, name), (20, 200, 1e6) if dry_run else (3_000, 50_000, 20)
    worlds = native.worlds_of(module, name, *most)
    for (steps, mode), schedule in itertools.product(CAPTURED, ("group", "flat")):
        options = {"max_episode_steps": 50, "autoreset_mode": mode, "schedule": schedule}
        if with_lanes(module, name, 1, **options) is None:
            continue
        # Worlds of many agents take milliseconds a step.
        replays = 5 if dry_run else 100 if steps == 1 else 20
        eager, captured = (Run(module, name, worlds, **options) for _ in range(2))
        problems = _replay(eager, captured, steps, replays)
        cells = {"worlds": f"{worlds:,}", "mode": mode, "schedule": schedule}
        found.row({**cells, "steps in it": steps, "replays": replays}, **status_of(problems))
    if not dry_run and registration.find(name)["agents"] == "1":
        waited = _waits(module, name)
        found.row({"waits": "yes" if waited else "never"}, **status_of([waited] if waited else []))


def _replay(eager: Run, captured: Run, steps: int, replays: int) -> list[str]:
    """Step one eagerly and the other in a graph, with actions that change; what differs."""
    runs = []
    for run in (eager, captured):
        # A graph replays addresses: actions are copied into buffers that it was captured with.
        given = [_like(run.actions[0]) for _ in range(steps)]
        slots = [run.new_slot() for _ in range(steps)]
        run.reset(3)
        for i in range(3):
            run.step(run.actions[i], slots[0])

        def roll(run: Run = run, given: Any = given, slots: Any = slots) -> None:
            for actions, slot in zip(given, slots, strict=True):
                run.step(actions, slot)

        runs.append((run, given, slots, roll))
    replay = memory.capture(runs[1][3], captured.on_gpu)
    found = []
    for i in range(replays):
        for (run, given, _, _), go in zip(runs, (runs[0][3], replay), strict=True):
            for k, place in enumerate(given):
                memory.copy_into(place, run.actions[(i + 3 * k) % 8])
            go()
        # Reading back takes longer than the replay; a difference stays once it is there.
        if i % 33 == 0 or i + 1 == replays:
            pairs = zip(runs[0][2], runs[1][2], strict=True)
            wrong = [k for k, (a, b) in enumerate(pairs) if a.differing(b)]
            if wrong or eager.records() != captured.records():
                found.append(f"replay {i + 1}: outputs of steps {wrong[:3]} or records differ")
                break
    memory.synchronize(eager.on_gpu)
    eager.close()
    captured.close()
    return found


def _like(actions: Any) -> Any:
    """A buffer of the same kind, filled with valid actions."""
    return actions.copy() if isinstance(actions, np.ndarray) else actions.clone()


def _waits(module: Any, name: str) -> str:
    """Empty if steps return while earlier work keeps the stream busy, else what was seen."""
    cuda = memory.torch().cuda
    run = Run(module, name, 4096)
    run.reset(0)
    for i in range(16):
        run.step(run.actions[i % 8])
    cuda.synchronize()
    # torch raises where it would wait; that the engine does not is seen by the time.
    cuda.set_sync_debug_mode("error")
    try:
        cuda._sleep(1_000_000_000)  # cycles: about half a second
        begin = time.perf_counter()
        for i in range(16):
            run.step(run.actions[i % 8])
        took, done = time.perf_counter() - begin, cuda.Event()
        done.record()
        finished = done.query()
    finally:
        cuda.set_sync_debug_mode("default")
    cuda.synchronize()
    run.close()
    return f"16 steps waited for the device ({took:.3f} s)" if finished or took > 0.2 else ""


def small(name: str, dry_run: bool) -> None:
    """A short run of one environment without torch, for compute-sanitizer to watch."""
    module = native.tested(dry_run, name)
    for one in native.ids(dry_run, name):
        worlds = max(4, native.worlds_of(module, one, *((4, 20) if dry_run else (70, 1_000))))
        for mode, (schedule, lanes) in itertools.product(MODES, WAYS[1 : 2 if dry_run else None]):
            options: dict[str, Any] = {"max_episode_steps": 5, "schedule": schedule}
            options |= {"autoreset_mode": mode, "lanes": lanes}
            simulator = with_lanes(module, one, worlds, **options)
            if simulator is None:
                continue
            simulator.golden(8, 1)
            simulator.golden(6, 2, clear_ended=True)
            copy = simulator.save()
            simulator.copy_worlds([0, 1], [2, 3], True)
            simulator.load(copy)
            simulator.faults()
            simulator.close()
