"""Draws the curves of a sweep: steps of worlds and of agents, and what is handed out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_envs.benchmark.memory import has
from gpu_envs.benchmark.points import Point
from gpu_envs.benchmark.report import Report
from gpu_envs.known import extras

_MARKS = [m * 10.0**e for e in range(-3, 13) for m in (1, 1.5, 2, 3, 4, 5, 7)]


def draw(report: Report, folder: Path, name: str, points: list[Point]) -> None:
    """Write one picture with three panels over the values of a sweep."""
    if not has("matplotlib"):
        report.say(extras.needs("a plot", "matplotlib", "train"))
        return
    import matplotlib

    # Before pyplot: on a machine without a screen any other would fail.
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(3, figsize=(7, 9), layout="constrained", sharex=True)
    panels[0].set_ylabel("thousand world steps per second")
    panels[1].set_ylabel("million agent-steps per second")
    panels[2].set_ylabel("gigabytes handed out per second")
    for label, curve in _curves(points).items():
        values = [point.case.value for point in curve]
        rates = [point.get("world_steps") or 0.0 for point in curve]
        both = list(zip(rates, curve, strict=True))
        lists = [[rate / 1e3 for rate in rates], [rate * p.agents / 1e6 for rate, p in both]]
        lists.append([rate * p.handed / 1e9 for rate, p in both])
        for panel, heights in zip(panels, lists, strict=True):
            panel.plot(values, heights, marker="o", markersize=4, label=label)
    _lay_out(panels, sorted({point.case.value or 0 for point in points}))
    panels[-1].set_xlabel(name.replace("_", " ").replace("agent count", "agents per world"))
    where = f"{report.machine['device_name']}, {report.machine['cores']} cores"
    panels[0].set_title(f"{report.environment} on {where}", fontsize=10)
    panels[0].legend(fontsize=8)
    file = f"{report.stem()}_{name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / file, dpi=100)
    pyplot.close(figure)
    report.figures.append(file)


def _curves(points: list[Point]) -> dict[str, list[Point]]:
    """Points by number of worlds, as it was asked for, and of threads."""
    curves: dict[str, list[Point]] = {}
    for point in points:
        case = point.case
        few = "up to " if any(p.case.worlds < p.case.batch == case.batch for p in points) else ""
        worlds = f"{few}{case.batch:,} world{'s' if case.batch > 1 else ''}"
        threads = f"{case.threads} thread(s)" if case.threads else "GPU"
        curves.setdefault(f"{worlds}, {threads}", []).append(point)
    return curves


def _lay_out(panels: Any, values: list[int]) -> None:
    """Logarithmic axes with the values marked; heights that a decade may not separate, too."""
    for panel in panels:
        # A sweep may begin at 0, of which there is no logarithm.
        panel.set_xscale("symlog" if values[0] == 0 else "log")
        panel.set_xticks(values, [f"{value:,}" for value in values], fontsize=7)
        panel.set_yscale("log")
        panel.minorticks_off()
        low, high = panel.get_ylim()
        marks = [mark for mark in _MARKS if low <= mark <= high]
        marks = marks[:: max(1, len(marks) // 8)]
        panel.set_yticks(marks, [f"{mark:,g}" for mark in marks], fontsize=8)
        panel.grid(True, which="major", alpha=0.3)
