#!/usr/bin/env python3
"""Measures what Collect's hills cost a camera, drawn in three ways.

Usage: scripts/studies/hill_costs.py [--levels N] [--ptx] [--out DIR]

The hills of Collect-v0 as merged boxes, as a field of columns, and as a box per voxel, of which
each has the same depths; in calls of one world each, and of 64 worlds. Megaverse's paper (table 2)
has the same ablation on Collect with a rasteriser: voxels unmerged and merged, drawn picture by
picture and in a batch.

Levels, their floors and the places and gazes of agents are those of Collect-v0 after some steps of
random play, copied column by column into HillViews-v0, an environment of the tests whose agents are
eyes that turn in place. Nothing but floor and hills is drawn: no diamonds, boxes or agents. One
thread; seconds are the processor's; 128 x 72 pixels in colour.

`--ptx` also counts lane instructions of a ray on a GPU, in 32 of the levels, with the kernels'
PTX on its interpreter; it needs nvcc and no GPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

from gpu_envs import VectorEnv  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table, si  # noqa: E402
from gpu_envs.benchmark.worlds import Run  # noqa: E402
from gpu_envs.building import places  # noqa: E402
from gpu_envs.known import native  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.studies.camera_costs import PIXELS, WORLDS, built, spend  # noqa: E402

VIEWS = ROOT / "tests" / "kernels" / "envs" / "hill_views.hpp"
GAME, VIEWER = "Collect-v0", "HillViews-v0"
COLUMNS = (
    *("columns.height", "land.side_x", "land.side_y"),
    *("agents.position", "agents.yaw", "agents.pitch"),
)
COUNTED = {"boxes": "merged boxes", "columns": "columns with hills", "voxels": "voxels"}
# Observations per second in the paper's table: ten cores and a GTX 1080 Ti.
PAPER = {"voxels": (20.7e3, 45.7e3), "boxes": (29.6e3, 210e3)}
_PLAYED = 60  # steps of random play, in which agents spread out
_COUNTED = 32  # levels of which instructions are counted

Values = dict[str, np.ndarray[Any, Any]]


@dataclass
class Rates:
    """Microseconds of a picture in calls of one world and of a batch, a batch of levels each."""

    single: list[float] = field(default_factory=list)
    batched: list[float] = field(default_factory=list)

    def per_second(self) -> tuple[float, float]:
        """Return pictures per second over all levels."""
        return 1e6 / statistics.mean(self.single), 1e6 / statistics.mean(self.batched)


def levels(seed: int, worlds: int) -> tuple[Values, dict[str, float]]:
    """Return columns of played levels, and the mean numbers of what they may be drawn as."""
    env = VectorEnv(GAME, worlds, device="cpu", threads=1, resolution=(1, 1))
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(_PLAYED):
        env.step(env.action_space.sample())
    values = {name: env.simulator.get(name) for name in COLUMNS}
    heights = values["columns.height"]
    counts = {
        "boxes": float(env.simulator.get("land.hill_count").mean()),
        "columns": float((heights > 0).sum() / worlds),
        "voxels": float(heights.sum() / worlds),
    }
    env.close()
    return values, counts


class Views:
    """Some of the worlds, drawn in one way."""

    def __init__(self, way: str, values: Values, worlds: slice, target: str = "") -> None:
        count = worlds.stop - worlds.start
        module = native.at(target or native.cpu_target(), VIEWER)
        self.run = Run(module, VIEWER, count, parameters={"way": way}, threads=0 if target else 1)
        self.run.reset(1)
        for name, column in values.items():
            own = self.run.simulator.get_column(name)
            own[:, : column.shape[1]] = column[worlds]
            self.run.simulator.set_column(name, own, None)
        stale = self.run.simulator.get_column("land.stale")
        self.run.simulator.set_column("land.stale", np.ones_like(stale), None)
        self.step = self.run.stepper()
        self.step(0)  # makes boxes and voxels


def measure(values: Values, seconds: float, repeats: int) -> dict[str, tuple[float, float]]:
    """Return microseconds of a picture by way: in calls of one world, and in one call of all.

    Medians over repeats, in which the ways take turns.
    """
    worlds = len(values["land.side_x"])
    found: dict[tuple[str, bool], list[float]] = {}
    rounds: dict[tuple[str, bool], Callable[[int], object]] = {}
    for way in COUNTED:
        each = [Views(way, values, slice(k, k + 1)) for k in range(worlds)]
        batch = [Views(way, values, slice(0, worlds))]
        for key, views in (((way, False), each), ((way, True), batch)):
            rounds[key] = lambda i, views=views: [one.step(i) for one in views]
    for _ in range(repeats):
        for key, call in rounds.items():
            found.setdefault(key, []).append(spend(call, seconds) / worlds * 1e6)
    medians = {key: statistics.median(times) for key, times in found.items()}
    return {way: (medians[way, False], medians[way, True]) for way in COUNTED}


def instructions(values: Values) -> dict[str, float]:
    """Return lane instructions of a ray on a GPU by way, 32 for each that a warp executes."""
    from scripts.ptx import interpreter

    interpreter.use_for_worlds()
    found = {}
    for way in COUNTED:
        # The games' own lanes: no others are compiled.
        views = Views(way, values, slice(0, _COUNTED), places.PTX)
        interpreter.clear_counts()
        with interpreter.settings(counts=1):
            views.step(1)
        warps = sum(row.warps for kernel in interpreter.report() for row in kernel.rows())
        found[way] = 32 * warps / (_COUNTED * PIXELS)
        views.run.close()
    return found


def table_of(rates: dict[str, Rates], counts: dict[str, float], seen: int) -> Table:
    """Return pictures per second by way, beside the paper's."""
    made = Table(
        "Pictures of Collect's hills, 128 x 72, per second of one core",
        [
            *("drawn as", "in the mean", "1 world a call", f"{WORLDS} worlds a call"),
            *("paper: one at a time", "paper: in a batch"),
        ],
        note=f"{seen} levels of {GAME}. The paper's figures are observations with simulation, of "
        "ten cores and a GTX 1080 Ti.",
    )
    for way, what in COUNTED.items():
        paper = [si(rate) for rate in PAPER[way]] if way in PAPER else ["", ""]
        own = [si(rate) for rate in rates[way].per_second()]
        made.rows.append([what, f"{counts[way]:.0f}", *own, *paper])
    return made


def table_of_ptx(issued: dict[str, float]) -> Table:
    """Return a GPU's instructions by way."""
    made = Table(
        "Lane instructions of a ray on a GPU, of PTX",
        ["drawn as", "instructions"],
        note=f"{_COUNTED} levels, with simulation; 32 for each instruction of a warp.",
    )
    made.rows = [[COUNTED[way], f"{number:,.0f}"] for way, number in issued.items()]
    return made


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", type=int, default=512, help="multiple of 64 (default 512)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a repeat (default 0.1)")
    parser.add_argument("--repeats", type=int, default=5, help="the median counts (default 5)")
    parser.add_argument("--ptx", action="store_true", help="count a GPU's instructions too")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    batches, targets = max(1, given.levels // WORLDS), [places.PTX] * given.ptx
    command = " ".join(["scripts/studies/hill_costs.py", *sys.argv[1:]])
    report = Report("Hills", machine.describe("cpu"), command)
    rates = {way: Rates() for way in COUNTED}
    counts = dict.fromkeys(COUNTED, 0.0)
    issued: dict[str, float] = {}
    with built(VIEWS, *targets):
        for seed in range(1, batches + 1):
            values, counted = levels(seed, WORLDS)
            for way, (single, batched) in measure(values, given.seconds, given.repeats).items():
                rates[way].single.append(single)
                rates[way].batched.append(batched)
                counts[way] += counted[way] / batches
            print(f"{seed * WORLDS} of {batches * WORLDS} levels", flush=True)
        if given.ptx:
            issued = instructions(values)
    report.show(table_of(rates, counts, batches * WORLDS))
    if given.ptx:
        report.show(table_of_ptx(issued))
        report.results["instructions_of_a_ray"] = issued
    report.results["microseconds"] = {way: vars(found) for way, found in rates.items()}
    report.results["counts"] = counts
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
