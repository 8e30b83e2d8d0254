#!/usr/bin/env python3
"""Draws 30 worlds as agents see them and from outside.

Usage: scripts/studies/contact_sheet.py ID --out FOLDER [--resolution 72x128] [--size 90x160]

For an environment whose observations are pictures. Writes ID-eyes.png and, where it describes a
scene, ID-outside.png: what to look at for holes, wrong colours, agents in walls.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402

from gpu_envs import Simulator, errors  # noqa: E402
from gpu_envs.commands import videos  # noqa: E402
from gpu_envs.known import registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

ACROSS, DOWN = 6, 5
SIZE = (90, 160)  # of a view from outside
SETTLES = 15  # steps until everything has fallen that falls


def sheet(shown: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return pictures side by side, in rows."""
    rows = [np.concatenate(shown[k * ACROSS : (k + 1) * ACROSS], 1) for k in range(DOWN)]
    return np.concatenate(rows)


def sheets(
    name: str, seed: int, size: tuple[int, ...] = SIZE, **parameters: Any
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the sheets of an environment by what they show."""
    if not registration.find(name).get("pictures"):
        raise SystemExit(f"error: observations of {name} are no pictures")
    worlds = ACROSS * DOWN
    colours = {"observation": "rgb", "channels": "last"}
    simulator = Simulator(name, worlds, device="cpu", **colours, **parameters)
    simulator.reset(seed=seed)
    heads = simulator.single_action_space.shape
    rest = np.zeros((worlds, simulator.agents_per_world, *heads), np.int32)
    for _ in range(SETTLES):
        seen = simulator.step(rest).obs
    found = {"eyes": sheet([np.asarray(seen)[world, 0] for world in range(worlds)])}
    if simulator.instance["scene"]:
        found["outside"] = sheet([simulator.render(world, size=size) for world in range(worlds)])
    simulator.close()
    return found


def main() -> int:
    """Write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("id", metavar="ID", help="such as ObstaclesEasy-v0")
    parser.add_argument("--out", type=Path, default=Path(), help="folder to write to")
    parser.add_argument("--seed", type=int, default=7, help="of the worlds")
    add = parser.add_argument
    add("--resolution", metavar="RxC", help="of what agents see (default: the environment's)")
    usual = "x".join(map(str, SIZE))
    add("--size", default=usual, metavar="RxC", help=f"of a view from outside (default {usual})")
    given = parser.parse_args()
    try:
        name = registration.find(given.id)["id"]
        given.out.mkdir(parents=True, exist_ok=True)
        own = {"resolution": given.resolution} if given.resolution else {}
        found = sheets(name, given.seed, tuple(map(int, given.size.split("x"))), **own)
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    for what, drawn in found.items():
        path = given.out / f"{name}-{what}.png"
        path.write_bytes(videos.png(drawn))
        print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
