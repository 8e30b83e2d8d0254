"""Opens and measures cases: their worlds are made, spread out, and timed in turns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.clock import Call, Clock
from gpu_envs.benchmark.points import Case, Point, Subject
from gpu_envs.benchmark.worlds import PREPARED, Run
from gpu_envs.known import native

LANES = (1, 8, 32)  # per world
GRAPHS = (1, 32)  # steps in a CUDA graph
_WARM_STEPS, _WARM_SECONDS = 64, 0.2  # until worlds no longer end their episodes together
_WHOLE_PREPARED = 61  # where episodes are measured: prime, so that none repeats another's actions
_PREPARED_BYTES, _ACTION_BYTES = 1 << 28, 256  # bytes of all arrays; of a world, about
_MEASURED_ONCE = 2_000_000  # world steps of a repeat


def _files(case: Case) -> native.DataFiles:
    return native.data_files(case.target, case.name)


def bindings(case: Case) -> Any:
    """The engine of a case with its environment loaded."""
    return native.at(case.target, case.name)


def open_case(case: Case, drawn: bool = False, whole: bool = False) -> Subject:
    """Make the worlds of a case, and step them until they have spread out.

    Args:
        case: The case to step.
        drawn: Actions are drawn at every step.
        whole: Whole episodes will be measured: more arrays of actions.
    """
    if case.entry != "native":
        from gpu_envs.benchmark import entries  # which needs Gymnasium

        return warmed(entries.open_entry(case, drawn))
    options: dict[str, Any] = {"parameters": case.parameters, "threads": case.threads or 0}
    options["data_files"] = _files(case)
    if case.dtype:
        options["dtype"] = case.dtype
    if case.roles:
        options["roles"] = case.roles
    if case.lanes:
        options["lanes"] = case.lanes
    if case.block:
        options["block"] = case.block
    if case.on_gpu:
        options["device"] = memory.ordinal(True)
    prepared = PREPARED
    if whole:
        prepared = max(4, min(_WHOLE_PREPARED, _PREPARED_BYTES // (case.worlds * _ACTION_BYTES)))
    run = Run(
        bindings(case),
        case.name,
        case.worlds,
        outputs=case.outputs,
        drawn=drawn,
        prepared=prepared,
        **options,
    )
    run.reset(0)
    step = run.stepper()
    subject = warmed(Subject(step, case.worlds, run.close, run))
    if case.graph:
        subject.step = _captured(run, case.graph)
    return subject


def warmed(subject: Subject) -> Subject:
    """Step until worlds have spread out; a large batch not for long."""
    begin = time.perf_counter()
    for i in range(_WARM_STEPS):
        subject.step(i)
        if i >= 3 and time.perf_counter() - begin > _WARM_SECONDS:
            break
    return subject


def _captured(run: Run, steps: int) -> Call:
    def roll() -> None:
        for i in range(steps):
            run.step(run.actions[i % len(run.actions)])

    replay = memory.capture(roll, run.on_gpu)
    return lambda _: replay()


def measure(cases: Sequence[Case], clock: Clock, drawn: bool = False) -> list[Point]:
    """Time cases in turns, so that a disturbance of the machine meets all of them."""
    largest = max(case.worlds for case in cases)
    if clock.steps and largest * clock.steps > _MEASURED_ONCE and not cases[0].on_gpu:
        clock = replace(clock, repeats=1)
    subjects = [open_case(case, drawn, whole=bool(clock.steps)) for case in cases]
    runs = [subject.run for subject in subjects]
    draws = [run.drawer() for run in runs if drawn and run is not None]
    timings = clock.race([*(subject.step for subject in subjects), *draws])
    points = []
    for case, run, timing in zip(cases, runs, timings, strict=False):
        points.append(Point(case, timing.over(case.graph or 1), *_sizes(run, case)))
    for point, draw in zip(points, timings[len(points) :], strict=False):
        point.drawing = draw.median / point.timing.median
    for subject in subjects:
        subject.close()
    return points


def _sizes(run: Run | None, case: Case) -> tuple[int, int, int, int]:
    """Agents of a world; bytes handed out, of the record and of all memory of a world."""
    if run is None:
        run = probe(case)
        found = _sizes(run, replace(case, worlds=1))
        run.close()
        return found
    handed = sum(run.outputs.values()) // case.worlds
    simulator = run.simulator
    size = simulator.memory_bytes // case.worlds
    return run.facts["agents_per_world"], handed, simulator.record_bytes, size


def probe(case: Case) -> Run:
    """One world of a case on the CPU, to look at."""
    module = native.at(native.cpu_target(), case.name)
    given = {"dtype": case.dtype, "roles": case.roles}
    options: dict[str, Any] = {name: value for name, value in given.items() if value}
    options["data_files"] = native.data_files(native.cpu_target(), case.name)
    return Run(module, case.name, 1, parameters=case.parameters, outputs=case.outputs, **options)
