"""World steps per second of environments whose worlds hold rigid bodies.

Random actions, whole episodes with their resets, all observations. What is counted is steps of
whole worlds. Beside it: with one thread and all, without sleep, crowded, other rules; where the
time of a step goes; and curves over the number of agents and of objects.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_envs import native
from gpu_envs.benchmark import machine
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.simulator import Simulator

WORLDS, QUICK_WORLDS = (64, 1024, 8192), (64,)
DEVICE_WORLDS = (1024, 8192, 32_768)
_PREPARED = 61  # arrays of actions, taken in turn; prime, so that no episode repeats them in step
_SWEPT_WORLDS, _WATCHED_WORLDS = 64, 64
_MEGABYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Yard:
    """What is measured of one environment."""

    steps: int  # of a measurement: two episodes
    device_steps: int
    bars: dict[str, float]  # world steps per second and core, at the best number of worlds
    device_bars: dict[str, tuple[int, float]]  # worlds, world steps per second
    forms: dict[str, dict[str, Any]]  # parameters that make the work another
    sweeps: dict[str, dict[int, dict[str, Any]]]  # what the axis counts: parameters by value
    # Parts of a step: regular expressions for the names of stages, the first that matches counts.
    parts: dict[str, str] = field(default_factory=dict)


_PHYSICS_PARTS = {
    "broad phase": r"bound_body|find_bodies|find_statics|list_pairs|is_close",
    "narrow phase": r"::touch",
    "solve": r"warm_|solve_|bounce_|colour_|::keep",
    "integrate": r"integrate_|frame_body|limit_velocity",
    "sleep": r"::stir|::wake|count_quiet|::sleep",
}
YARDS = {
    "HideSeek-v0": Yard(
        steps=480,
        device_steps=1920,
        bars={"floor": 12e3, "goal": 16e3, "stretch": 20e3},
        device_bars={"floor": (32_768, 5e6), "goal": (32_768, 1e7)},
        forms={
            "without sleep": {"quiet_steps": 0},
            "crowd: a room of 17 m": {"arena_size": 17.0},
            "profile='openai'": {"profile": "openai"},
            "profile='port'": {"profile": "port"},
        },
        sweeps={
            "agents": {
                n: {"hider_count": (n + 1) // 2, "seeker_count": n // 2}
                for n in (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 40)
            },
            "boxes": {
                n: {"box_count_low": n, "box_count_high": n, "long_count_low": min(n, 3)}
                for n in (0, 1, 3, 6, 9, 12, 16, 24, 32, 40)
            },
        },
        parts={
            "lidar": r"cast_lidar",
            "sight": r"::see<|::spot<|spotted",
            "level": r"::generate|::lay<|build_wall|::still|::let_go|begin_agent",
            "observe": r"Observe",
            **_PHYSICS_PARTS,
            "rules": r"apply_loads|::remember|take_aim|use_hands|stop_agents|note_travel|::pay",
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    worlds: Sequence[int]
    repeats: int
    quick: bool
    device: str
    parameters: dict[str, Any]

    @property
    def yard(self) -> Yard:
        """The environment's entry."""
        return YARDS[self.name]

    @property
    def steps(self) -> int:
        """Steps of one measurement."""
        if self.quick:
            return 60
        return self.yard.steps if self.device == "cpu" else self.yard.device_steps


class Run:
    """A batch in which everybody acts at random."""

    def __init__(self, plan: Plan, worlds: int, threads: int | None, more: dict[str, Any]) -> None:
        self.simulator = Simulator(
            plan.name,
            worlds,
            device=plan.device,
            arrays="numpy" if plan.device == "cpu" else "torch",
            threads=threads,
            reuse=True,
            **{**plan.parameters, **more},
        )
        self.simulator.reset(seed=0)
        choices = self.simulator.single_action_space.nvec  # type: ignore[attr-defined]
        shape = (worlds, self.simulator.agents_per_world, len(choices))
        random = np.random.default_rng(0)
        count = max(4, min(_PREPARED, 256 * _MEGABYTES // (int(np.prod(shape)) * 4)))
        self.actions: list[Any] = [
            random.integers(0, choices, shape, dtype=np.int32) for _ in range(count)
        ]
        if plan.device != "cpu":
            torch = importlib.import_module("torch")
            self.actions = [torch.from_numpy(a).to(plan.device) for a in self.actions]

    def seconds(self, steps: int) -> float:
        """Seconds that so many steps take."""
        wait = self._wait
        wait()
        begin = time.perf_counter()
        for i in range(steps):
            self.simulator.step(self.actions[i % len(self.actions)])
        wait()
        return time.perf_counter() - begin

    def _wait(self) -> None:
        if self.simulator.device != "cpu":
            importlib.import_module("torch").cuda.synchronize(self.simulator.device)


def run(plan: Plan, report: Report, folder: Path) -> None:
    """Measure everything and fill the report."""
    _show_rates(plan, report)
    if plan.device == "cpu":
        _show_parts(plan, report)
    for axis, values in plan.yard.sweeps.items():
        _show_sweep(plan, report, folder, axis, values)


def _rate(plan: Plan, worlds: int, threads: int | None, more: dict[str, Any]) -> list[float]:
    """World steps per second of each repeat; large batches are measured once."""
    measured = Run(plan, worlds, threads, more)
    repeats = 1 if worlds * plan.steps > 2_000_000 and plan.device == "cpu" else plan.repeats
    rates = [worlds * plan.steps / measured.seconds(plan.steps) for _ in range(repeats)]
    measured.simulator.check()
    measured.simulator.close()
    return sorted(rates)


def _show_rates(plan: Plan, report: Report) -> None:
    on_cpu = plan.device == "cpu"
    title = f"World steps per second, random actions, {plan.steps} steps with resets, all outputs"
    table = Table(title, ["", *(f"N = {n:,}" for n in plan.worlds), "us per world step"])
    rows: list[tuple[str, int | None, dict[str, Any], Sequence[int]]] = [
        ("1 thread" if on_cpu else "default", 1 if on_cpu else None, {}, plan.worlds)
    ]
    if on_cpu and machine.cores() > 1:
        rows.append((f"all {machine.cores()} threads", None, {}, plan.worlds))
    middle = [plan.worlds[min(1, len(plan.worlds) - 1)]]
    rows += [(n, 1 if on_cpu else None, more, middle) for n, more in plan.yard.forms.items()]
    results: dict[str, Any] = {}
    first: dict[int, float] = {}
    for label, threads, more, counts in rows:
        cells, best = [label], 0.0
        entry = results.setdefault(label, {})
        for worlds in plan.worlds:
            if worlds not in counts:
                cells.append("")
                continue
            rates = _rate(plan, worlds, threads, more)
            median = rates[len(rates) // 2]
            entry[str(worlds)] = {"per_second": median, "all": rates}
            cells.append(si(median))
            best = max(best, median)
            if label == rows[0][0]:
                first[worlds] = median
        table.rows.append([*cells, f"{1e6 / best:.1f}"])
    report.results["world_steps_per_second"] = results
    report.show(table)
    if on_cpu:
        for name, required in plan.yard.bars.items():
            what = f"world steps/s and core at the best N ({name})"
            report.judge(Bar(what, required, max(first.values()), "/s"))
    for name, (worlds, required) in plan.yard.device_bars.items():
        what = f"world steps/s on a GPU at N = {worlds:,} ({name})"
        report.judge(Bar(what, required, None if on_cpu else first.get(worlds), "/s"))


def _show_parts(plan: Plan, report: Report) -> None:
    """Where the time of a step goes, by the clocks around the stages."""
    module = native.cpu()
    measured = Run(plan, _WATCHED_WORLDS, 1, {})
    module.watch_stages(True)
    measured.seconds(plan.steps)
    stages = module.stage_seconds()
    module.watch_stages(False)
    measured.simulator.close()
    spent = dict.fromkeys([*plan.yard.parts, "life cycle"], 0.0)
    for name, seconds in stages:
        part = next((p for p, e in plan.yard.parts.items() if re.search(e, name)), "life cycle")
        spent[part] += seconds
    steps, whole = _WATCHED_WORLDS * plan.steps, sum(spent.values())
    table = Table(
        "Parts of a step",
        ["", "us per world step", "share"],
        note=f"Clocks around the stages, N = {_WATCHED_WORLDS}, one thread; they add a little.",
    )
    for part, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        table.rows.append([part, f"{seconds / steps * 1e6:.2f}", f"{seconds / whole:.0%}"])
    report.results["parts"] = {part: seconds / steps for part, seconds in spent.items()}
    report.results["stages"] = {name: seconds / steps for name, seconds in stages}
    report.show(table)


def _show_sweep(
    plan: Plan, report: Report, folder: Path, axis: str, values: dict[int, dict[str, Any]]
) -> None:
    wanted = list(values)[:: 4 if plan.quick else 1]
    table = Table(
        f"World steps per second by {axis}, {_SWEPT_WORLDS} worlds",
        [axis, "1 thread" if plan.device == "cpu" else "steps/s", "bytes of a world"],
    )
    points = []
    for value in wanted:
        measured = Run(plan, _SWEPT_WORLDS, 1 if plan.device == "cpu" else None, values[value])
        rate = _SWEPT_WORLDS * plan.steps / measured.seconds(plan.steps)
        size = measured.simulator.memory_bytes // _SWEPT_WORLDS
        measured.simulator.close()
        points.append({axis: value, "per_second": rate, "bytes_per_world": size})
        table.rows.append([str(value), si(rate), f"{size:,}"])
    report.results[f"by_{axis}"] = points
    report.show(table)
    _plot(report, folder, axis, points)


def _plot(report: Report, folder: Path, axis: str, points: list[dict[str, Any]]) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        report.say("matplotlib is not installed: no plots")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.plot([p[axis] for p in points], [p["per_second"] for p in points], marker="o")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"{axis} in a world")
    axes.set_ylabel("world steps per second")
    where = f"{report.machine['device_name']}, one thread"
    axes.set_title(f"{report.environment} on {where}", fontsize=10)
    axes.grid(True, alpha=0.3)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{report.stem()}_{axis}.png"
    figure.savefig(folder / name, dpi=120)
    pyplot.close(figure)
    report.figures.append(name)
