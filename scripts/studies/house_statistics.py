#!/usr/bin/env python3
"""Prints what the houses of indoor navigation are like, split by split.

Usage: scripts/studies/house_statistics.py [--houses 256] [--episodes 4096]

Of each split: medians, and 5 to 95 of 100, of walkable floor, triangles, corners that walks bend
at, lengths of episodes' shortest walks, and how much longer these are than a crow's flight.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402

from gpu_envs import Simulator  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

Array = np.ndarray[Any, Any]
SPLITS = ("train", "validation", "test")


def span(values: Array) -> str:
    """Return the median, and 5 to 95 of 100."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    digits = 0 if middle >= 20 else 2
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def measured(split: str, houses: int, episodes: int) -> dict[str, str]:
    """Return the rows of a split."""
    begun = time.perf_counter()
    options = {"observation": "numbers", "house_count": houses, "split": split}
    simulator = Simulator("PointGoalNav-v0", episodes, device="cpu", **options)
    taken = time.perf_counter() - begun
    simulator.reset(seed=1)
    assets, get = simulator.assets(), simulator.get
    rows = assets["houses"]
    floor = assets["spots"]["area"][rows["spots"] + rows["spot_count"] - 1]
    walks = get("task.walk").ravel()
    flight = np.hypot(get("task.x") - get("walker.x"), get("task.y") - get("walker.y")).ravel()
    simulator.close()
    return {
        "walkable floor [m2]": span(floor),
        "triangles": span(rows["triangle_count"]),
        "corners of walks": span(rows["corner_count"]),
        "shortest walks of episodes [m]": span(walks),
        "times a crow's flight": span(walks / flight),
        "megabytes of a house": f"{sum(a.nbytes for a in assets.values()) / houses / 1e6:.2f}",
        "seconds of all": f"{taken:.1f}",
    }


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--houses", type=int, default=256, help="of each split (default 256)")
    parser.add_argument("--episodes", type=int, default=4096, help="of each split (default 4096)")
    given = parser.parse_args()
    found = {split: measured(split, given.houses, given.episodes) for split in SPLITS}
    print("| |", " | ".join(SPLITS), "|")
    print("|---|" + "---|" * len(SPLITS))
    for name in found[SPLITS[0]]:
        print(f"| {name} |", " | ".join(found[split][name] for split in SPLITS), "|")
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
