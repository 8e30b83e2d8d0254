"""The steps of scripts/gpu/check.py that measure: the package's loop on native modules alone.

What is measured and promised is the environments' own data (docs/measures.md). In a dry run a CPU
module stands in for CUDA, sizes shrink, and nothing is judged.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gpu_envs.benchmark import bars as promises
from gpu_envs.benchmark import cases, memory
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.loop import Bench
from gpu_envs.benchmark.plan import Form, Plan
from gpu_envs.benchmark.points import Case, Point
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.known import measures, registration
from scripts.gpu import native, steps
from scripts.gpu.evidence import Evidence

BLOCKS = (128, 32, 64, 256)  # threads
SHAPES = (  # lanes and threads of a block, by what they are likely to tell; 0: the engine's choice
    *((0, block) for block in (0, *BLOCKS)),
    *((lanes, block) for block in (0, *BLOCKS) for lanes in (8, 1, 32)),
)
FEWER = (2_048, 16_384)  # worlds, beside those of a bar
_GRAPH = 32  # steps in a graph, where a launch may take longer than a step
_SHORT = 4_096  # worlds: with fewer a step may be shorter than its launch


def device_bars(name: str) -> list[dict[str, Any]]:
    """Promises of an environment on a GPU."""
    found = measures.measures_of(name)["benchmark"].get("bars", ())
    return [bar for bar in found if bar.get("on") == "device"]


def promising(dry_run: bool) -> list[str]:
    """Environments with promises on a GPU, of those that are built; the first bar first."""
    return [name for name in native.names(dry_run) if device_bars(name)]


def unmeasured() -> list[str]:
    """All bars, where there is nothing to measure them on."""
    known = {name: measures.measures_of(name)["benchmark"] for name in registration.shipped()}
    found = [b for name, data in known.items() for b in promises.unmeasured(name, data, "device")]
    return [bar.line() for bar in found]


class Rows(Report):
    """A report whose points become rows as they are found; tables are made of those."""

    def __init__(self, found: Evidence, name: str) -> None:
        super().__init__(name, {}, "scripts/gpu/check.sh")
        self.found = found

    def follow(self, point: Point) -> None:
        """Add a point."""
        case = point.case
        label = f"{case.sweep} {case.value:,}" if case.sweep else case.form
        cells = {"form": label, "way": case.way, "worlds": f"{case.worlds:,}"}
        cells["us a step"] = f"{point.timing.median * 1e6:.4g}"
        cells["world steps/s"] = si(point.get("world_steps") or 0.0)
        cells["agent-steps/s"] = si(point.get("agent_steps") or 0.0)
        self.found.row(cells, data=point.as_json())

    def show(self, table: Table) -> None:
        """Leave it: its points are rows."""

    def say(self, note: str) -> None:
        """Add a remark."""
        self.found.row(status="skip", detail=note)

    def judge(self, bar: Bar) -> None:
        """Add a bar; one that is missed is not an error, and its line has the verdict."""
        told = {"line": bar.line(), "least": bar.required, "measured": bar.measured}
        self.found.row(bar={**told, "verdict": bar.verdict, "what": bar.what})


def _bench(found: Evidence, name: str, dry_run: bool, **how: Any) -> Bench:
    data = measures.measures_of(name)["benchmark"]
    whole = (20 if dry_run else data["device_steps"]) if "device_steps" in data else 0
    seconds, run = 0.002 if dry_run else 0.05, memory.timed(not dry_run)
    clock = Clock(seconds, 1 if whole else 3, run, whole)
    plan = Plan(name, native.target(dry_run), clock, quick=dry_run, **how)
    bench = Bench(plan, Rows(found, name))
    bench.limits.instructions = instructions
    return bench


def instructions(case: Case) -> float | None:
    """Warp instructions of a step of one world, where a module `occupancy` here estimates them."""
    try:
        estimates = importlib.import_module("occupancy")
    except ImportError:
        return None
    found: float | None = estimates.instructions(case)
    return found


# ---- the bars


def bars(found: Evidence, name: str, dry_run: bool) -> None:
    """What is promised on a GPU, each bar judged as soon as it is measured, against the limits."""
    bench = _bench(found, name, dry_run, through_package=False)
    for bar in device_bars(name):
        for case in promises.cases(bench.plan, bar):
            if case not in [point.case for point in bench.points]:
                _judge(bench, bench.measure([case]))
        bench.report.judge(promises.judged(bench.plan, bar, bench.points))


def _judge(bench: Bench, points: list[Point]) -> None:
    forms = {form.label: form for form in bench.plan.forms()}
    for point in points:
        bench.limits.judge(point, forms[point.case.form])


def largest(name: str, dry_run: bool) -> Case:
    """The case of an environment's first bar on a GPU, with most worlds."""
    clock = Clock(0.0, 1, steps=20 if dry_run else 0)
    plan = Plan(name, native.target(dry_run), clock, quick=dry_run, through_package=False)
    return max(promises.cases(plan, device_bars(name)[0]), key=lambda case: case.worlds)


# ---- what runs in a step


def launches(found: Evidence, name: str, dry_run: bool) -> None:
    """What each launch of a step looks like, for each size that is measured here."""
    plan = Plan(name, native.target(dry_run), Clock(0.0, 1), quick=dry_run, through_package=False)
    for form in plan.forms():
        worlds = max(form.worlds)
        options: dict[str, Any] = {"parameters": form.parameters}
        simulator = native.tested(dry_run, name).Simulator(name, worlds, **options)
        facts = native.facts(simulator)
        size = {"form": form.label, "worlds": f"{worlds:,}"}
        size |= {"MB": f"{simulator.memory_bytes / 1e6:,.1f}"}
        simulator.close()
        for launch in facts.get("launches", [{}]):
            shown = {k.replace("_", " "): v for k, v in launch.items()}
            found.row({**size, "schedule": facts.get("schedule", "CPU"), **shown})


# ---- choices of a launch, one against the other


def choices(found: Evidence, name: str, dry_run: bool) -> None:
    """Steps by lanes, threads of a block and number of worlds, against the engine's own choice."""
    base = largest(name, dry_run)
    counts = [base.worlds, *(n for n in FEWER if n < base.worlds and not dry_run)]
    clock = Clock(0.002 if dry_run else 0.02, 1 if dry_run else 3, memory.timed(not dry_run))
    drawn = bool(measures.measures_of(name)["benchmark"].get("drawn"))
    for worlds in counts:
        own: float | None = None
        for lanes, block in SHAPES[: 4 if dry_run else None]:
            how = {"worlds": worlds, "lanes": lanes, "block": block}
            how["graph"] = _GRAPH if worlds < _SHORT and not drawn else 0
            taken = _timed(base, how, clock, drawn)
            own = own or taken
            if taken is None or own is None:
                continue
            cells = {"worlds": f"{worlds:,}", "lanes": lanes or "own", "threads": block or "own"}
            found.row({**cells, "us a step": f"{taken * 1e6:.4g}", "speed": f"{own / taken:.3f}"})


def _timed(base: Case, how: dict[str, Any], clock: Clock, drawn: bool) -> float | None:
    """Seconds of a step; None where it is not compiled or does not fit."""
    try:
        return cases.measure([replace(base, **how)], clock, drawn)[0].timing.median
    except (ValueError, RuntimeError) as problem:
        if not re.search("lanes must be|fits on this GPU|shared memory", str(problem)):
            raise
        return None


# ---- the rest


def rates(found: Evidence, name: str, dry_run: bool) -> None:
    """Steps per second of every size, by outputs, lanes and graphs; and of crowds."""
    bench = _bench(found, name, dry_run, through_package=False)
    whole = bool(bench.plan.clock.steps)  # takes long: the first form alone
    for form in bench.plan.forms()[: 1 if whole or dry_run else None]:
        _measure(bench, form)
    bench.measure(_crowds(name, dry_run))


def _measure(bench: Bench, form: Form) -> None:
    plan = bench.plan
    found = [*plan.plain(form), *plan.graphs(form)]
    found += plan.detailed(form) if form == plan.forms()[0] else []
    bench.measure(case for case in found if not bench.plan.clock.steps or not case.lanes)


def _crowds(name: str, dry_run: bool) -> Iterator[Case]:
    """Powers of ten agents in a world, with every number of lanes, as far as there can be."""
    description, module = registration.find(name), native.tested(dry_run, name)
    total = 200 if dry_run else 200_000
    if (
        description["agents"].isdecimal()
        or "device_steps" in measures.measures_of(name)["benchmark"]
    ):
        return
    most = 1 if dry_run else None
    for agents, lanes in itertools.product((10, 100, 1000)[:most], steps.LANES[:most]):
        parameters = native.crowd(description, agents)
        try:
            module.Simulator(name, 1, parameters=parameters, lanes=lanes).close()
        except ValueError:
            continue  # more or fewer agents than it can have, or lanes that are not compiled
        worlds, label = max(1, total // agents), f"{agents:,} agents in a world"
        yield Case(name, native.target(dry_run), worlds, parameters, label, lanes=lanes)


def package(found: Evidence, name: str, dry_run: bool) -> None:
    """Steps per second through the package: Simulator, make_vec, and every way of its arrays."""
    missing = [p for p in ("gymnasium", "pettingzoo") if not native.has(p)]
    if missing:
        found.row(status="skip", detail=f"not installed: {', '.join(missing)}")
        return
    bench = _bench(found, name, dry_run)
    form = bench.plan.forms()[0]
    bench.measure(case for case in bench.plan.detailed(form) if case.entry != "native")
