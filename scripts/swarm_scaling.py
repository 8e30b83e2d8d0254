"""Cost of an agent as flocks grow at constant density: a plot, and its figures as JSON.

Every length shrinks with the square root of the number of agents, so an agent always has as many
neighbours; a search that looks near an agent alone then costs as much per agent in any flock.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpu_envs.benchmark import machine, subjects
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.report import Bar, Report, Table

ROOT = Path(__file__).resolve().parents[1]
NAME = "Flocking-v0"
COUNTS = tuple(1024 << k for k in range(7))
# Of 1,024 agents; each shrinks with the distance between agents.
LENGTHS = {
    "vision_range": 0.1,
    "agent_radius": 0.0025,
    "max_speed": 0.025,
    "max_accelerate": 0.001,
}
FLAT = 1.5  # the most that an agent of the largest flock may cost, over one of the smallest


def parameters(agents: int) -> dict[str, Any]:
    """Return a flock of so many agents, as dense as any other."""
    scale = math.sqrt(COUNTS[0] / agents)
    return {"agent_count": agents, **{name: size * scale for name, size in LENGTHS.items()}}


def seconds_per_agent(agents: int, threads: int | None, clock: Clock) -> float:
    """Return the seconds of a step for each agent of a single world: the fastest of the repeats."""
    choice = subjects.Choice(memory="reuse", threads=threads, parameters=parameters(agents))
    subject = subjects.open_subject(NAME, 1, choice)
    seconds = clock.time(subject.step).fastest
    subject.close()
    return seconds / agents


def plot(points: dict[str, list[float]], counts: list[int], where: str, file: Path) -> None:
    """Draw nanoseconds per agent over the number of agents."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for label, seconds in points.items():
        axes.plot(counts, [1e9 * s for s in seconds], marker="o", label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [f"{n:,}" for n in counts], fontsize=8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("agents in the world, at constant density (32 neighbours in range)")
    axes.set_ylabel("nanoseconds per agent and step")
    axes.set_title(f"{NAME}, one world, on {where}", fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=9)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    pyplot.close(figure)


def measure(report: Report, counts: list[int], clock: Clock) -> dict[str, list[float]]:
    """Fill the report; return the seconds of an agent's step by number of threads."""
    points = {
        label: [seconds_per_agent(n, threads, clock) for n in counts]
        for label, threads in {"1 thread": 1, f"{machine.cores()} threads": None}.items()
    }
    title = f"{NAME}: nanoseconds per agent and step, one world at constant density"
    table = Table(title, ["", *(f"{n:,}" for n in counts)])
    for label, seconds in points.items():
        table.rows.append([label, *(f"{1e9 * s:.0f}" for s in seconds)])
    report.show(table)
    growth = points["1 thread"][-1] / points["1 thread"][0]
    what = f"cost of an agent among {counts[-1]:,} over one among {counts[0]:,}"
    report.judge(Bar(what, FLAT, growth, "", at_least=False))
    report.results["agents"] = counts
    report.results["seconds_per_agent_step"] = points
    report.results["lengths_of_1024_agents"] = LENGTHS
    return points


def main() -> None:
    """Measure, print, and write the plot and the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    add = options.add_argument
    add("--out", type=Path, default=ROOT / "benchmarks" / "results", metavar="DIR")
    add("--image", type=Path, default=ROOT / "docs/images/swarm_scaling.png", metavar="FILE")
    add("--most", type=int, default=COUNTS[-1], help="the largest flock (default: %(default)s)")
    add("--seconds", type=float, default=0.5, help="of a repeat (default: %(default)s)")
    chosen = options.parse_args()
    command = " ".join(["scripts/swarm_scaling.py", *sys.argv[1:]])
    report = Report("Swarm-scaling", machine.describe("cpu"), command)
    counts = [n for n in COUNTS if n <= chosen.most]
    points = measure(report, counts, Clock(chosen.seconds, 5))
    plot(points, counts, str(report.machine["device_name"]), chosen.image)
    for path in [*report.write(chosen.out), chosen.image]:
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
