"""The steps of scripts/gpu_check.py that work on native modules: correctness.

Each takes `dry_run`: then a CPU module stands in for CUDA and sizes shrink, so that the steps
themselves can be tested without a GPU.
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import golden_cases
import gpu_native as native
import numpy as np

from gpu_envs.benchmark import cases, memory
from gpu_envs.benchmark.report import Report
from gpu_envs.benchmark.worlds import Run

LANES = (0, *cases.LANES)  # per world; 0 is the tuned choice
WAYS = (*(("group", lanes) for lanes in LANES), ("flat", 0))  # schedules and their lanes
CAPTURED = ((1, "SameStep"), (1, "Disabled"), (32, "NextStep"), (32, "SameStep"))


@dataclass
class Result:
    """What a step found. Every table has a title, a header and rows of strings."""

    status: str  # "pass", "fail" or "skip"
    detail: str
    tables: list[dict[str, Any]] = field(default_factory=list)
    bars: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def table(self, title: str, header: list[str], rows: list[list[str]], note: str = "") -> None:
        """Add a table for the Markdown file."""
        self.tables.append({"title": title, "header": header, "rows": rows, "note": note})

    def take(self, report: Report) -> None:
        """Add what a benchmark's report says."""
        self.tables += [asdict(table) for table in report.tables]
        self.bars += [
            {**asdict(bar), "verdict": bar.verdict, "line": bar.line()} for bar in report.bars
        ]
        self.data[report.environment] = {"notes": report.notes, **report.results}


# Of many problems the first is told; all are in the JSON.
def verdict(problems: list[str], good: str) -> Result:
    """Pass if there are no problems; else name the first."""
    if problems:
        return Result(
            "fail", f"{len(problems)} wrong, first: {problems[0]}", data={"all": problems}
        )
    return Result("pass", good)


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


# ---- recorded hashes


def golden(dry_run: bool) -> Result:
    """Recorded hashes of records and outputs, for compiled lanes, kinds of launch and schedules."""
    module, problems, rows = native.tested(dry_run), [], []
    known = {description["id"] for description in native.environments(module, tests=True)}
    cases = list(golden_cases.read(known))
    for schedule, lanes in WAYS:
        for dependent in (True, False):
            equal = ran = 0
            for case in cases:
                tuning: dict[str, Any] = {"lanes": lanes, "dependent_launch": dependent}
                tuning["schedule"] = schedule
                simulator = with_lanes(module, case.id, case.worlds, **(case.options | tuning))
                if simulator is None:
                    continue
                ran += 1
                found = tuple(simulator.golden(case.steps, case.seed))
                simulator.close()
                equal += found == case.hashes
                if found != case.hashes:
                    problems.append(f"{case} {tuning}: {found}")
            launch = "dependent" if dependent else "plain"
            shown = "flat" if schedule == "flat" else str(lanes or "tuned")
            rows.append([shown, launch, str(ran), str(equal)])
    result = verdict(
        problems, f"{len(cases)} recorded runs, {len(rows)} kinds of launch, all equal"
    )
    if not cases:
        result = Result("fail", "no recorded run belongs to an environment of this build")
    result.table("Recorded hashes", ["lanes", "launch", "runs", "equal"], rows)
    return result


# ---- against the CPU


def large(dry_run: bool) -> Result:
    """Many worlds: records and hashes of outputs equal those of the CPU, byte by byte."""
    # Worlds, agents, megabytes of outputs: a thread hashes some 500 of those in a second.
    most = (5_000, 20_000, 50) if dry_run else (100_000, 1_000_000, 100)
    module, other = native.tested(dry_run), native.reference()
    problems, names = [], []
    for description in native.environments(module):
        name, found = description["id"], []
        worlds = native.worlds_of(module, name, *most)
        for each in (other, module):
            # One after the other: records of two would not fit into small GPUs.
            simulator = each.Simulator(name, worlds)
            hashes = tuple(simulator.golden(20, 11))
            found.append((hashes, simulator.read_records(0, worlds)))
            simulator.close()
        names.append(f"{worlds:,} of {name}")
        if found[0][0] != found[1][0]:
            problems.append(f"{name}: hashes {found[1][0]}, on the CPU {found[0][0]}")
        if found[0][1] != found[1][1]:
            problems.append(f"{name}: {_first_difference(found[0][1], found[1][1], worlds)}")
    return verdict(problems, f"worlds after 20 steps: {', '.join(names)}: all equal")


def _first_difference(expected: bytes, found: bytes, worlds: int) -> str:
    if len(expected) != len(found):
        return f"{len(found)} bytes of records, on the CPU {len(expected)}"
    first, second = (np.frombuffer(b, np.uint8).reshape(worlds, -1) for b in (expected, found))
    wrong = np.flatnonzero((first != second).any(axis=1))
    # Of the first world alone: the byte's place in a record names its column.
    byte = int(np.flatnonzero(first[wrong[0]] != second[wrong[0]])[0])
    return f"{wrong.size} records differ, first world {wrong[0]} at byte {byte}"


def save(dry_run: bool) -> Result:
    """A save made on one machine loads on the other, which goes on as the first does."""
    module, other, problems, count = native.tested(dry_run), native.reference(), [], 0
    for description in native.environments(module):
        worlds = native.worlds_of(module, description["id"], 777, 5_000 if dry_run else 100_000)
        for source, target, way in ((other, module, "from CPU"), (module, other, "to CPU")):
            # Short episodes, so that the 25 steps cross several resets.
            options: dict[str, Any] = {"max_episode_steps": 9}
            first = Run(source, description["id"], worlds, **options)
            second = Run(target, description["id"], worlds, **options)
            first.reset(5)
            for i in range(25):
                first.step(first.actions[i % 8])
            second.simulator.load(first.simulator.save())
            problems += [f"{description['id']} {way}: {p}" for p in _go_on(first, second, 25)]
            count += 1
            first.close()
            second.close()
    return verdict(problems, f"{count} saves carried over, 25 more steps each: all equal")


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


def capture(dry_run: bool) -> Result:
    """Captured steps replay bit for bit what eager ones do; a step never waits for the device."""
    module, problems = native.tested(dry_run), []
    most: tuple[int, ...]
    most, replays = ((20, 200), 5) if dry_run else ((3_000, 50_000, 20), 100)
    for description in native.environments(module):
        worlds = native.worlds_of(module, description["id"], *most)
        for (steps, mode), schedule in itertools.product(CAPTURED, ("group", "flat")):
            options = {"max_episode_steps": 50, "autoreset_mode": mode, "schedule": schedule}
            if with_lanes(module, description["id"], 1, **options) is None:
                continue
            name = f"{description['id']}, {mode}, {schedule}, {steps} in the graph"
            eager, captured = (Run(module, description["id"], worlds, **options) for _ in range(2))
            problems += [f"{name}: {p}" for p in _replay(eager, captured, steps, replays)]
    detail = f"1 and 32 steps captured, replayed {replays} times with new actions: equal to eager"
    result = verdict(problems, detail)
    if not dry_run and result.status == "pass":
        waited = _waits(module)
        if waited:
            return Result("fail", waited)
        result.detail += "; steps are enqueued while the device is busy"
    return result


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


def _waits(module: Any) -> str:
    """Empty if steps return while earlier work keeps the stream busy, else what was seen."""
    cuda = memory.torch().cuda
    name = next(d["id"] for d in native.environments(module) if d["agents"] == "1")
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
    worlds = max(4, native.worlds_of(module, name, 70, 1_000))
    for mode in ("SameStep", "NextStep", "Disabled"):
        for schedule, lanes in WAYS[1:]:
            options: dict[str, Any] = {"max_episode_steps": 5, "schedule": schedule}
            options |= {"autoreset_mode": mode, "lanes": lanes}
            simulator = with_lanes(module, name, worlds, **options)
            if simulator is None:
                continue
            simulator.golden(8, 1)
            copy = simulator.save()
            simulator.copy_worlds([0, 1], [2, 3], True)
            simulator.load(copy)
            simulator.faults()
            simulator.close()
