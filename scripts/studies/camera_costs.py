#!/usr/bin/env python3
"""Measures what a picture that an agent sees costs, and why.

Usage: scripts/studies/camera_costs.py [--out DIR]

One thread, 64 worlds, random actions. Clocks around the stages tell pictures from simulation;
within a picture

    shading  is what colours take longer than depths, which need no light,
    casting  grows with pixels: a picture of 65 x 113 has as many tiles as one of 72 x 128, but
             fewer packs of pixels; what they take less tells what all of them take,
    culling  is the rest of depths: which solids there are, and which of them each tile may show.

The first is sure to some percent of the whole, what parts the others to 15.

The solids are those of obstacle courses and of the tests' gallery, whose floor is a field of
columns: 130 boxes, of which a core has to draw 3,000 pictures a second with AVX-512, half as many
with AVX2, and 10 to 2,000 of all shapes, drawn as a curve too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

from gpu_envs import VectorEnv  # noqa: E402
from gpu_envs.benchmark import machine, memory  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table, si  # noqa: E402
from gpu_envs.commands.build import build_header  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

GALLERY = ROOT / "tests" / "kernels" / "envs" / "gallery.hpp"
WORLDS, PIXELS = 64, 72 * 128
COUNTS = (10, 30, 100, 300, 1000, 2000)
FEWER = (65, 113)  # rows and columns, of as many tiles
FORMS: tuple[dict[str, Any], ...] = (
    {"observation": "rgb"},
    {"observation": "depth"},
    {"observation": "depth", "resolution": FEWER},
)
WIDTHS = {"v4": 16, "v3": 8}  # pixels of a pack
FLOORS = {"v4": 3000.0, "v3": 1500.0}  # pictures of 130 boxes, per second of a core


@dataclass(frozen=True)
class Scene:
    """Something to look at."""

    label: str
    id: str
    parameters: dict[str, Any]
    boxes: bool = False  # and no other shapes, none of them turned


@dataclass
class Cost:
    """Microseconds per observation, of one thread, and what they make in a second."""

    simulation: float
    culling: float
    casting: float
    shading: float
    rate: float  # observations per second of the whole step, without clocks

    def shares(self) -> list[str]:
        """Return each part's share."""
        parts = (self.simulation, self.culling, self.casting, self.shading)
        return [f"{part / sum(parts):.0%}" for part in parts]


@contextlib.contextmanager
def built(header: Path, *more: str) -> Iterator[None]:
    """Build a header of the tests in a cache of its own, for this processor and more targets."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GPU_ENVS_CACHE"] = cache
        build_header(header, [native.cpu_target(), *more])
        registration.refresh()
        yield


def spend(call: Callable[[int], object], seconds: float) -> float:
    """Call for a while with 0, 1, ...; return the processor seconds of a call."""
    # Processor time, since the machine may be shared.
    calls, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < seconds or calls == 0:
        call(calls)
        calls += 1
    return spent / calls


def opened(scene: Scene, form: dict[str, Any]) -> VectorEnv:
    """Return its worlds, begun."""
    env = VectorEnv(scene.id, WORLDS, device="cpu", threads=1, **(scene.parameters | form))
    env.reset(seed=1)
    env.action_space.seed(1)
    if scene.boxes:
        for column in ("things.shape", "things.turn"):  # the gallery's first thing is a box
            values = env.simulator.get(column)
            values[:] = values[:, :1]
            env.simulator.set(column, values)
    return env


def drawn_actions(env: VectorEnv) -> list[np.ndarray[Any, Any]]:
    """Return some steps of them."""
    actions = [np.asarray(env.action_space.sample()) for _ in range(20)]
    # In the gallery they turn on the spot: 4 ends episodes, who walks sees other things later on.
    return [a % 3 for a in actions] if actions[0].ndim == 1 else actions


def measure(scene: Scene, seconds: float, repeats: int) -> Cost:
    """Return the cost of its pictures, medians over repeats, in which the forms take turns."""
    envs = [opened(scene, form) for form in FORMS]
    rows = envs[0].num_envs
    actions = [drawn_actions(env) for env in envs]
    module = native.at(native.cpu_target(), scene.id)

    def observation(k: int) -> float:
        """Return the seconds of an observation."""
        return spend(lambda i: envs[k].step(actions[k][i % 20]), seconds) / rows

    whole, other, drawn = [], [], [[] for _ in FORMS]
    for _ in range(repeats):
        whole.append(observation(0))
        for k, found in enumerate(drawn):
            module.watch_stages(True)
            each = observation(k)
            stages = dict(module.stage_seconds())
            module.watch_stages(False)
            pictures = sum(s for name, s in stages.items() if "cameras::draw" in name)
            found.append(each * pictures / sum(stages.values()))
            if k == 0:
                other.append(each - found[-1])
    for env in envs:
        env.close()
    colours, depth, fewer = (statistics.median(found) * 1e6 for found in drawn)
    share = packs(*FEWER) / packs(72, 128)
    casting = min(max((depth - fewer) / (1 - share), 0.0), depth)
    culling, shading = depth - casting, max(colours - depth, 0.0)
    simulation = statistics.median(other) * 1e6
    return Cost(simulation, culling, casting, shading, 1 / statistics.median(whole))


def packs(rows: int, columns: int) -> int:
    """Return the packs of pixels that a picture is met by."""
    width = WIDTHS.get(native.cpu_target().removeprefix("cpu_"), 4)
    return rows * -(-columns // width)


def scenes() -> list[Scene]:
    """Return what is looked at."""
    found = [
        Scene(f"{id}, {agents} agent{'s' if agents > 1 else ''}", id, {"agent_count": agents})
        for id in ("ObstaclesEasy-v0", "ObstaclesHard-v0")
        for agents in (1, 2)
    ]
    found.append(gallery("130 boxes", 130, boxes=True))
    return found + [gallery(f"gallery of {count:,}", count) for count in COUNTS]


def gallery(label: str, count: int, *, boxes: bool = False) -> Scene:
    """Return a room of the tests' gallery that stays as it is."""
    parameters = {"visitors": 1, "thing_count": count, "max_episode_steps": 0}
    return Scene(label, "Gallery-v0", parameters, boxes)


def judged(rate: float, target: str) -> Bar:
    """Return what a core that is built for a target has to draw, and draws."""
    level = target.removeprefix("cpu_")
    return Bar(f"pictures of 130 boxes, {level}", FLOORS.get(level, 1000.0), rate, "/s")


def draw_curve(report: Report, folder: Path, costs: list[Cost]) -> None:
    """Draw the cost over the number of solids."""
    if not memory.has("matplotlib"):
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    bottom = np.zeros(len(COUNTS))
    for part in ("simulation", "culling", "casting", "shading"):
        values = np.array([getattr(cost, part) for cost in costs])
        # Nothing was found of a part where there is no point.
        shown = np.where(values > 0, values, np.nan)
        axes.plot(COUNTS, shown, marker="o", markersize=4, label=part)
        bottom += values
    axes.plot(COUNTS, bottom, marker="o", markersize=4, color="black", label="all")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.minorticks_off()
    axes.set_xlabel("solids of a world, of all shapes")
    axes.set_ylabel("microseconds of a core per picture of 128 x 72")
    axes.set_title(f"Gallery-v0 on {report.machine['device_name']}, one thread", fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{report.stem()}_solids.png"
    figure.savefig(folder / name, dpi=100)
    pyplot.close(figure)
    report.figures.append(name)


def main() -> int:
    """Measure, show and write; 1 where 130 boxes are too slow."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.3, help="of a repeat (default 0.3)")
    parser.add_argument("--repeats", type=int, default=9, help="the median counts (default 9)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    command = " ".join(["scripts/studies/camera_costs.py", *sys.argv[1:]])
    report = Report("Cameras", machine.describe("cpu"), command)
    table = Table(
        "Pictures of 128 x 72, one thread",
        ["", "observations/s", "M rays/s", "us", "simulation", "culling", "casting", "shading"],
        note=f"N = {WORLDS}; how the parts are told from one another is said in the script.",
    )
    found: dict[str, Cost] = {}
    with built(GALLERY):
        for scene in scenes():
            cost = measure(scene, given.seconds, given.repeats)
            found[scene.label] = cost
            row = [scene.label, si(cost.rate), f"{cost.rate * PIXELS / 1e6:.0f}"]
            table.rows.append([*row, f"{1e6 / cost.rate:.0f}", *cost.shares()])
            print("  ".join(table.rows[-1]), flush=True)
    report.show(table)
    report.results["microseconds"] = {label: vars(cost) for label, cost in found.items()}
    bar = judged(found["130 boxes"].rate, native.cpu_target())
    report.judge(bar)
    if given.out:
        draw_curve(report, given.out, [c for name, c in found.items() if "gallery" in name])
        for path in report.write(given.out):
            print(path)
    return 0 if bar.verdict == "ok" else 1


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
