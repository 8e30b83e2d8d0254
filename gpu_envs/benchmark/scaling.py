"""Agent-steps per second against agents per world, work and threads.

The suite of environments whose number of agents is a parameter: two sweeps of one parameter each,
in a small batch and in a large one, as tables and plots.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpu_envs import registration
from gpu_envs.benchmark import machine, subjects
from gpu_envs.benchmark.clock import Clock, Timing
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.benchmark.subjects import Choice
from gpu_envs.simulator import Simulator

AGENTS = (1, 2, 5, 8, 16, 32, 64, 100, 128, 250, 500, 1000)
WORK = (0, 4, 16, 64, 256, 1024, 4096)
QUICK_AGENTS, QUICK_WORK = (1, 8, 100), (0, 16, 64)
BATCHES = (128, 16_384)
_MOST_AGENTS = 1 << 20  # in one batch: a larger one is cut to the worlds that fit
_QUICK_MOST_AGENTS = 1 << 14
_BARS = {"Micro-v0": 1.8}  # two threads over one


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    clock: Clock
    quick: bool
    device: str
    parameters: dict[str, Any]

    @property
    def most_agents(self) -> int:
        """The largest batch, in agents."""
        return _QUICK_MOST_AGENTS if self.quick else _MOST_AGENTS


@dataclass(frozen=True, slots=True)
class Point:
    """One measured point of a sweep, at each number of threads."""

    value: int
    worlds: int
    agents: int
    timings: dict[int, Timing]

    def rate(self, threads: int) -> float:
        """Agent-steps per second."""
        return self.worlds * self.agents / self.timings[threads].median

    def as_json(self, parameter: str) -> dict[str, Any]:
        """The point, for the file."""
        units = self.worlds * self.agents
        rates = {str(t): timing.as_json(units) for t, timing in self.timings.items()}
        return {
            parameter: self.value,
            "worlds": self.worlds,
            "agents": self.agents,
            "threads": rates,
        }


def run(plan: Plan, report: Report, folder: Path) -> None:
    """Measure both sweeps, print, plot and judge."""
    description = registration.find(plan.name)
    sweeps: list[tuple[str, Sequence[int]]] = [
        (str(description["agents"]), QUICK_AGENTS if plan.quick else AGENTS)
    ]
    if any(field["name"] == "work" for field in description["parameters"]):
        sweeps.append(("work", QUICK_WORK if plan.quick else WORK))
    for parameter, values in sweeps:
        curves = {batch: _sweep(plan, parameter, values, batch) for batch in BATCHES}
        report.results[f"by_{parameter}"] = {
            str(batch): [point.as_json(parameter) for point in points]
            for batch, points in curves.items()
        }
        _show(report, parameter, curves)
        _plot(report, folder, parameter, curves)
    _judge(plan, report)


def _thread_counts(plan: Plan) -> list[int]:
    return [1] if plan.device != "cpu" else sorted({1, min(2, machine.cores()), machine.cores()})


def _sweep(plan: Plan, parameter: str, values: Sequence[int], batch: int) -> list[Point]:
    return [_point(plan, plan.parameters | {parameter: value}, value, batch) for value in values]


def _point(plan: Plan, parameters: dict[str, Any], value: int, batch: int) -> Point:
    """Measure all numbers of threads in turns: their ratio is what the reader looks at."""
    agents = _agents(plan.name, parameters)
    worlds = max(1, min(batch, plan.most_agents // agents))
    threads = _thread_counts(plan)
    arrays = "numpy" if plan.device == "cpu" else "torch"
    choice = Choice("Simulator", arrays, "reuse", parameters=parameters)
    opened = [
        subjects.open_subject(plan.name, worlds, replace(choice, threads=t), plan.device)
        for t in threads
    ]
    timings = plan.clock.race([subject.step for subject in opened])
    for subject in opened:
        subject.close()
    return Point(value, worlds, agents, dict(zip(threads, timings, strict=True)))


def _agents(name: str, parameters: dict[str, Any]) -> int:
    simulator = Simulator(name, 1, device="cpu", **parameters)
    simulator.close()
    return simulator.agents_per_world


def _show(report: Report, parameter: str, curves: dict[int, list[Point]]) -> None:
    for batch, points in curves.items():
        threads = list(points[0].timings)
        table = Table(
            f"Agent-steps per second by {parameter}, {batch:,} worlds",
            [parameter, "worlds", *(f"{t} thread(s)" for t in threads)],
        )
        if len(threads) > 1:
            table.header.append(f"{threads[-1]} over 1")
        if any(point.worlds < batch for point in points):
            table.note = "Fewer worlds where the batch would take too much memory and time."
        for point in points:
            rates = [point.rate(t) for t in threads]
            row = [f"{point.value:,}", f"{point.worlds:,}", *map(si, rates)]
            table.rows.append(row + ([f"{rates[-1] / rates[0]:.2f}"] if len(threads) > 1 else []))
        report.show(table)


def _judge(plan: Plan, report: Report) -> None:
    """Two threads over one, with the environment's default parameters and many worlds."""
    required = _BARS.get(registration.find(plan.name)["id"])
    if required is None or plan.device != "cpu":
        return
    what = "two threads over one, default parameters, many worlds"
    if machine.cores() < 2:
        report.judge(Bar(what, required, None, "x"))
        return
    point = _point(plan, plan.parameters, 0, BATCHES[-1])
    report.results["two_threads_over_one"] = point.rate(2) / point.rate(1)
    report.judge(Bar(what, required, point.rate(2) / point.rate(1), "x"))


def _plot(report: Report, folder: Path, parameter: str, curves: dict[int, list[Point]]) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        report.say("matplotlib is not installed: no plots")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for index, (batch, points) in enumerate(curves.items()):
        for threads, style in zip(points[0].timings, ("-", "--", ":"), strict=False):
            axes.plot(
                [point.value for point in points],
                [point.rate(threads) for point in points],
                style,
                marker="o",
                markersize=4,
                color=f"C{index}",
                label=f"{batch:,} worlds, {threads} thread{'s' if threads > 1 else ''}",
            )
    axes.set_xscale("symlog" if min(p.value for p in next(iter(curves.values()))) == 0 else "log")
    axes.set_yscale("log")
    axes.set_xticks([point.value for point in points], [f"{p.value}" for p in points], fontsize=8)
    axes.minorticks_off()
    # A curve that spans less than a decade may have no power of ten beside it.
    low, high = axes.get_ylim()
    round_ones = [m * 10.0**e for e in range(3, 12) for m in (1, 1.5, 2, 3, 4, 5, 7)]
    marks = [mark for mark in round_ones if low <= mark <= high]
    axes.set_yticks(marks, [f"{mark / 1e6:.3g} M" for mark in marks], fontsize=8)
    axes.set_xlabel(parameter.replace("_", " ").replace("agent count", "agents per world"))
    axes.set_ylabel("agent-steps per second")
    where = f"{report.machine['device_name']}, {report.machine['cores']} cores"
    axes.set_title(f"{report.environment} on {where}", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    name = f"{report.stem()}_{parameter}.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, dpi=120)
    pyplot.close(figure)
    report.figures.append(name)
