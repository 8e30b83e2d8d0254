#!/usr/bin/env python3
"""Measures pictures of houses and of larger meshes, beside Embree and Warp on the same rays.

Usage: scripts/studies/mesh_speed.py [--out DIR]

One thread, 64 worlds, agents that walk and turn at random and do not stop; with GPU_ENVS_CPU=v3 by
AVX2. Steps of PointGoalNav with depths of 64 x 64 pixels, with simulation and resets, in houses of
three sizes; without pictures; depths alone against triangles, up to two million, and against
pixels, drawn as curves.

What a picture takes is the time of a step with depths, less that of a step without. Embree (through
embreex) and Warp (`mesh_query_ray` on a CPU) cast the rays of the same pictures in the same meshes;
where they are not installed, their rows are missing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

from gpu_envs import Simulator  # noqa: E402
from gpu_envs.benchmark import machine, memory  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table, si  # noqa: E402
from gpu_envs.core import meshes  # noqa: E402
from gpu_envs.known import native  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.studies.camera_costs import built, spend  # noqa: E402

Array = np.ndarray[Any, Any]
Cast = Callable[[Array, Array], object]  # origins and directions, (rays, 3)

STATUE = ROOT / "tests" / "kernels" / "envs" / "statue.hpp"
TASK, STONE, WORLDS, SIDE, EYE = "PointGoalNav-v0", "Statue-v0", 64, 64, 1.25
SIZES: dict[str, dict[str, Any]] = {
    "1 and 2 rooms": {"rooms_low": 1, "rooms_high": 2},
    "usual houses": {},
    "12 rooms, full": {"rooms_low": 12, "rooms_high": 12, "clutter_low": 0.4, "clutter_high": 0.5},
}
HOUSES, WORLDS_BLIND = 16, 1024
DETAILS = (3, 4, 5, 6, 7, 8, 9)  # a stone of 8 * 4^detail triangles
SIDES = (16, 32, 64, 128, 256)
FLOOR, GOAL, BLIND = 3000.0, 5000.0, 2e6  # steps per second
OVER_WARP, OVER_EMBREE = 3.0, 1.0
AVX2 = 0.4  # of what is asked of AVX-512


class Steps:
    """Worlds that are stepped on with random moves.

    Args:
        name: The environment.
        worlds: How many.
        forms: Outputs that are left out, beside parameters.
    """

    def __init__(self, name: str, worlds: int, moves: int, **parameters: Any) -> None:
        lean = ("reward", "terminated", "truncated")
        self.simulator = Simulator(
            name, worlds, device="cpu", threads=1, outputs=lean, **parameters
        )
        self.simulator.reset(seed=1)
        random = np.random.default_rng(1)
        shape = (64, worlds, self.simulator.agents_per_world)
        # Forward as often as a turn to a side; nobody stops.
        self._moves = random.integers(1, moves, shape) if moves else np.zeros(shape, int)

    def __call__(self, k: int) -> object:
        """Step all worlds."""
        return self.simulator.step(self._moves[k % len(self._moves)])


def seconds_of(step: Callable[[int], object], seconds: float, repeats: int) -> float:
    """Return the median seconds of a call."""
    step(0)
    return statistics.median(spend(step, seconds) for _ in range(repeats))


# ---- peers


def embree() -> Callable[[Array], Cast] | None:
    """Return what makes a caster of a mesh with Embree."""
    if importlib.util.find_spec("embreex") is None:
        return None
    scenes = importlib.import_module("embreex.rtcore_scene")
    construction = importlib.import_module("embreex.mesh_construction")

    def made(corners: Array) -> Cast:
        scene = scenes.EmbreeScene(robust=True)
        construction.TriangleMesh(scene, np.ascontiguousarray(corners, np.float32))
        return lambda origins, ways: scene.run(origins, ways, query="DISTANCE")

    return made


def warp() -> Callable[[Array], Cast] | None:
    """Return what makes a caster of a mesh with Warp on a CPU."""
    if importlib.util.find_spec("warp") is None:
        return None
    from scripts.studies import mesh_speed_warp

    return mesh_speed_warp.made


def rays(simulator: Simulator) -> dict[int, tuple[Array, Array]]:
    """Return the rays of all pictures by house: origins and directions."""
    get = simulator.get
    slopes = (2 * np.arange(SIDE) + 1 - SIDE) / SIDE  # 90 degrees
    across, down = np.meshgrid(slopes, slopes)
    found: dict[int, tuple[list[Array], list[Array]]] = {}
    rows = (get(name).ravel() for name in ("task.house", "walker.x", "walker.y", "walker.yaw"))
    for house, x, y, yaw in zip(*rows, strict=True):
        ahead = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        right = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        ways = ahead + across[..., np.newaxis] * right - down[..., np.newaxis] * [0.0, 0.0, 1.0]
        origins, directions = found.setdefault(int(house), ([], []))
        origins.append(np.tile(np.array([x, y, EYE], np.float32), (SIDE * SIDE, 1)))
        directions.append(ways.reshape(-1, 3).astype(np.float32))
    return {house: (np.concatenate(a), np.concatenate(b)) for house, (a, b) in found.items()}


def of_peer(make: Callable[[Array], Cast], steps: Steps, seconds: float, repeats: int) -> float:
    """Return the seconds of all pictures of the worlds as they stand."""
    wanted = rays(steps.simulator)
    casters = {house: make(meshes.of(steps.simulator, house).corners) for house in wanted}

    def cast(_: int) -> None:
        for house, (origins, ways) in wanted.items():
            casters[house](origins, ways)

    return seconds_of(cast, seconds, repeats)


# ---- tables


def triangles_of(simulator: Simulator) -> float:
    """Return the mean number of triangles of a house."""
    return float(simulator.assets()["houses"]["triangle_count"].mean())


def houses(report: Report, seconds: float, repeats: int) -> None:
    """Steps in houses of three sizes, and the same rays by peers."""
    table = Table(
        "Steps with depths of 64 x 64, one thread",
        ["houses", "triangles", "steps/s", "without pictures", "rays/s", "Embree", "Warp"],
        note=f"{HOUSES} houses each, {WORLDS} worlds; without pictures {WORLDS_BLIND:,}. Rays per "
        "second of pictures alone; Embree and Warp cast the same ones, with one thread.",
    )
    wide = native.cpu_target().endswith("v4")
    share = 1.0 if wide else AVX2
    peers = {"Embree": embree(), "Warp": warp()}
    bars: list[Bar] = []
    for what, parameters in SIZES.items():
        form = {"house_count": HOUSES, **parameters}
        size = f"{SIDE}x{SIDE}"
        seen = Steps(TASK, WORLDS, 4, observation="depth+numbers", resolution=size, **form)
        few = Steps(TASK, WORLDS, 4, observation="numbers", **form)
        blind = Steps(TASK, WORLDS_BLIND, 4, observation="numbers", **form)
        step, rest = (seconds_of(one, seconds, repeats) for one in (seen, few))
        own = WORLDS * SIDE * SIDE / (step - rest)
        per_second = WORLDS / step
        without = WORLDS_BLIND / seconds_of(blind, seconds, repeats)
        theirs = {
            name: WORLDS * SIDE * SIDE / of_peer(make, seen, seconds, repeats)
            for name, make in peers.items()
            if make is not None
        }
        triangles = triangles_of(seen.simulator)
        cells = [si(theirs[name]) if name in theirs else "" for name in peers]
        table.rows.append([what, f"{triangles:,.0f}", si(per_second), si(without), si(own), *cells])
        report.results[what] = {
            "triangles": triangles,
            "steps_per_second": per_second,
            "blind_steps_per_second": without,
            "rays_per_second": own,
            "peers": theirs,
        }
        if what == "usual houses":
            bars = [
                Bar("steps with depths", FLOOR * share, per_second, "/s"),
                Bar("steps with depths, goal", GOAL * share, per_second, "/s"),
                Bar("steps without pictures", BLIND, without, "/s"),
            ]
            for name, least in (("Warp", OVER_WARP), ("Embree", OVER_EMBREE)):
                ratio = own / theirs[name] if name in theirs else None
                bars.append(Bar(f"rays, over {name}'s", least, ratio, ""))
    report.show(table)
    for bar in bars:
        report.judge(bar)


def curves(report: Report, seconds: float, repeats: int, folder: Path | None) -> None:
    """Pictures of one mesh against its triangles, and against pixels; plots go into a folder."""
    sizes: dict[int, float] = {}
    with built(STATUE):
        for detail in DETAILS:
            size = f"{SIDE}x{SIDE}"
            form = {"observation": "depth", "resolution": size, "boxes": 0, "detail": detail}
            steps = Steps(STONE, WORLDS, 0, **form)
            sizes[24 + 8 * 4**detail] = WORLDS / seconds_of(steps, seconds, repeats)
    table = Table("Depths of 64 x 64 of a stone in a room, against triangles", ["triangles", "/s"])
    table.rows = [[f"{count:,}", si(rate)] for count, rate in sizes.items()]
    report.show(table)
    pixels = {
        side: WORLDS
        / seconds_of(
            Steps(
                TASK,
                WORLDS,
                4,
                observation="depth+numbers",
                resolution=f"{side}x{side}",
                house_count=HOUSES,
            ),
            seconds,
            repeats,
        )
        for side in SIDES
    }
    table = Table("Steps in usual houses, against pixels", ["pixels", "steps/s", "rays/s"])
    table.rows = [
        [f"{side} x {side}", si(rate), si(rate * side * side)] for side, rate in pixels.items()
    ]
    report.show(table)
    if folder is not None:
        draw_curves(report, folder, sizes, pixels)
    report.results["triangles"] = {str(count): rate for count, rate in sizes.items()}
    report.results["pixels"] = {str(side): rate for side, rate in pixels.items()}


def draw_curves(
    report: Report, folder: Path, sizes: dict[int, float], pixels: dict[int, float]
) -> None:
    """Draw the cost of a picture against triangles and against pixels."""
    if not memory.has("matplotlib"):
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, costs, what, title in (
        (left, sizes, "triangles of the mesh", f"a stone in a room, {SIDE} x {SIDE}"),
        (right, {k * k: v for k, v in pixels.items()}, "pixels of a picture", "usual houses"),
    ):
        axes.plot(list(costs), [1e6 / rate for rate in costs.values()], marker="o", markersize=4)
        axes.set_xscale("log")
        if costs is sizes:
            axes.set_ylim(0)
        else:
            axes.set_yscale("log")
        axes.set_xlabel(what)
        axes.set_ylabel("microseconds of a core per step with depths")
        axes.set_title(title, fontsize=10)
        axes.grid(True, which="both", alpha=0.3)
    figure.suptitle(f"{report.machine['device_name']}, one thread", fontsize=10)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{report.stem()}_curves.png"
    figure.savefig(folder / name, dpi=100)
    pyplot.close(figure)
    report.figures.append(name)


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="of a repeat (default 1)")
    parser.add_argument("--repeats", type=int, default=5, help="the median counts (default 5)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    command = " ".join(["scripts/studies/mesh_speed.py", *sys.argv[1:]])
    wide = native.cpu_target().endswith("v4")
    report = Report("Meshes" if wide else "Meshes-avx2", machine.describe("cpu"), command)
    houses(report, given.seconds, given.repeats)
    curves(report, given.seconds, given.repeats, given.out)
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
