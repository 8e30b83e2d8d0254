"""One thing that is measured, and what was found: every table, bar and plot is a view of these."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gpu_envs import native
from gpu_envs.benchmark import memory
from gpu_envs.benchmark.clock import Call, Clock, Timing
from gpu_envs.benchmark.worlds import PREPARED, Run

LANES = (1, 8, 32)  # per world
GRAPHS = (1, 32)  # steps in a CUDA graph
_WARM_STEPS, _WARM_SECONDS = 64, 0.2  # until worlds no longer end their episodes together
_WHOLE_PREPARED = 61  # where episodes are measured: prime, so that none repeats another's actions
_PREPARED_BYTES, _ACTION_BYTES = 1 << 28, 256  # of all arrays; of a world, about
_MEASURED_ONCE = 2_000_000  # world steps of a repeat


@dataclass(frozen=True, slots=True)
class Case:
    """How which worlds are stepped. What a bar does not name is as it is here by default."""

    name: str
    target: str  # "cpu_v4", "cuda"
    worlds: int
    parameters: dict[str, Any] = field(default_factory=dict)
    form: str = ""
    sweep: str = ""
    value: int | None = None  # of the sweep
    batch: int = 0  # worlds that a sweep asks for; fewer may fit
    entry: str = "native"  # "Simulator", "make_vec": through the package
    arrays: str = ""  # the package's: "numpy", "torch"
    memory: str = "reuse"  # "fresh", "out"
    outputs: str = "default"  # "lean", or the name of one more
    threads: int | None = None  # None: a GPU's
    dtype: str = ""
    lanes: int = 0
    graph: int = 0

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU."""
        return self.target == "cuda"

    @property
    def way(self) -> str:
        """How it is stepped, in words for a table."""
        said = [] if self.entry == "native" else [f"{self.entry}.step"]
        if self.threads:
            said.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        said += [] if self.outputs == "default" else [self.outputs]
        said += [self.dtype] if self.dtype else []
        if self.entry != "native":
            said.append(f"{self.arrays} {self.memory}")
        said += [f"{self.lanes} lanes"] if self.lanes else []
        said += [f"{self.graph} steps in a graph"] if self.graph else []
        return ", ".join(said) or "default"

    def labels(self) -> dict[str, Any]:
        """What tells it from others, for a file."""
        held = {k: v for k, v in asdict(self).items() if k != "name" and v is not None}
        return {k: v for k, v in held.items() if k == "value" or v not in ("", 0)}


@dataclass(slots=True)
class Point:
    """What one case came to. Sizes are bytes of one world."""

    case: Case
    timing: Timing  # of a step of all worlds
    agents: int
    handed: int  # written for the caller in a step
    record: int
    size: int  # of all memory
    drawing: float = 0.0  # share of the time
    found: dict[str, float] = field(default_factory=dict)  # limits, shares

    def get(self, of: str) -> float | None:
        """A measure by its name in a bar."""
        rate = self.case.worlds / self.timing.median
        calls = 1 / self.timing.median
        rates = {"world_steps": rate, "agent_steps": rate * self.agents, "calls": calls}
        return rates.get(of, self.found.get(of))

    def as_json(self) -> dict[str, Any]:
        """The point, for the file."""
        return {
            **self.case.labels(),
            "agents": self.agents,
            "world_steps": self.timing.as_json(self.case.worlds),
            "agent_steps_per_second": self.get("agent_steps"),
            "bytes_handed_out": self.handed,
            "bytes_of_record": self.record,
            "bytes_of_world": self.size,
            **({"share_of_drawing": self.drawing} if self.drawing else {}),
            **self.found,
        }


@dataclass(slots=True)
class Subject:
    """Something that steps `units` worlds per call."""

    step: Call
    units: int
    close: Callable[[], object]
    run: Run | None = None


def bindings(case: Case) -> Any:
    """The engine of a case with its environment loaded."""
    return native.at(case.target, case.name)


def open_case(case: Case, drawn: bool = False, whole: bool = False) -> Subject:
    """Make the worlds of a case, and step them until they have spread out.

    Args:
        case: What is stepped.
        drawn: Actions are drawn at every step.
        whole: Whole episodes will be measured: more arrays of actions.
    """
    if case.entry != "native":
        from gpu_envs.benchmark import entries  # which needs Gymnasium

        return warmed(entries.open_entry(case, drawn))
    options: dict[str, Any] = {"parameters": case.parameters, "threads": case.threads or 0}
    if case.dtype:
        options["dtype"] = case.dtype
    if case.lanes:
        options["lanes"] = case.lanes
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
    options: dict[str, Any] = {"dtype": case.dtype} if case.dtype else {}
    return Run(module, case.name, 1, parameters=case.parameters, outputs=case.outputs, **options)


def find(points: list[Point], **labels: Any) -> Iterator[Point]:
    """Points with these labels, everything else as it is by default."""
    usual = {"value": None, "threads": None, "lanes": 0, "graph": 0, "memory": "reuse"}
    usual |= dict.fromkeys(("form", "sweep", "arrays", "dtype"), "")
    usual |= {"entry": "native", "outputs": "default"}
    wanted = usual | labels
    for point in points:
        if all(getattr(point.case, key) == value for key, value in wanted.items()):
            yield point
