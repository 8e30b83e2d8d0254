#!/usr/bin/env python3
"""Measures what a step of some worlds costs, in steps of all worlds.

Usage: scripts/studies/masked_steps.py [--mode SameStep] [--seconds 4] [CASE ...]

A CASE is an environment and its number of worlds, `CartPole-v0:4096`. Steps of all worlds and steps
with each mask take turns, in short slices on one thread, whose processor's time is read; the answer
is the median of the slices' ratios to a slice of whole steps just before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402

import gpu_envs  # noqa: E402

CASES = ("CartPole-v0:4096", "Flocking-v0:16", "TagContinuous-v0:256", "HideSeek-v0:64")
BATCHES = 8  # of actions, drawn before the clock runs
SLICE = 0.02  # [s]

Mask = np.ndarray[Any, Any]


def masks(worlds: int) -> dict[str, Mask]:
    """Return the masks that are compared, by name."""
    random = np.random.default_rng(1)
    return {
        "half, random": random.random(worlds) < 0.5,
        "half, contiguous": np.arange(worlds) < worlds // 2,
        "tenth, random": random.random(worlds) < 0.1,
        "all": np.ones(worlds, bool),
        "none": np.zeros(worlds, bool),
    }


def measure(name: str, worlds: int, mode: str, seconds: float) -> dict[str, float]:
    """Return the time of a whole step [us], and of steps with each mask in whole steps."""
    simulator = gpu_envs.Simulator(name, worlds, device="cpu", threads=1, autoreset_mode=mode)
    simulator.reset(seed=1)
    simulator.report_illegal(None)
    actions = [np.array(simulator.sample_actions(seed=k)) for k in range(BATCHES)]

    def took(mask: Mask | None, steps: int) -> float:
        begun = time.process_time()
        for k in range(steps):
            simulator.step(actions[k % BATCHES], worlds=mask)
        return (time.process_time() - begun) / steps

    ways = masks(worlds)
    steps = max(1, round(SLICE / took(None, 3)))
    whole: list[float] = []
    ratios: dict[str, list[float]] = {way: [] for way in ways}
    end = time.monotonic() + seconds * len(ways)
    while time.monotonic() < end or not whole:
        for way, mask in ways.items():
            whole.append(took(None, steps))
            ratios[way].append(took(mask, steps) / whole[-1])
    simulator.close()
    return {"whole step [us]": statistics.median(whole) * 1e6} | {
        way: statistics.median(found) for way, found in ratios.items()
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print a line per case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--mode", default="SameStep", help="autoreset mode (default SameStep)")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each mask (default 4)")
    given = parser.parse_args(argv)
    for case in given.cases:
        name, _, worlds = case.partition(":")
        found = measure(name, int(worlds or 1024), given.mode, given.seconds)
        numbers = ", ".join(f"{way} {number:.2f}" for way, number in found.items())
        print(f"{case}, {given.mode}: {numbers}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
