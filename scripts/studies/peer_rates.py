#!/usr/bin/env python3
"""Measures the README's rates: four environments beside programs of others for the same game.

Usage: scripts/studies/peer_rates.py [--out DIR]

Each peer steps as many worlds as ours does, whole steps with resets of what has ended, and takes
turns with it; one thread against one, all against all. Install the peers by `pip install -e
".[bench]"`; the program of WarpDrive is rl-warp-drive.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.cases import open_case  # noqa: E402
from gpu_envs.benchmark.clock import Clock  # noqa: E402
from gpu_envs.benchmark.machine import cores  # noqa: E402
from gpu_envs.benchmark.peers import open_quietly  # noqa: E402
from gpu_envs.benchmark.points import Case  # noqa: E402
from gpu_envs.benchmark.programs import MissingError  # noqa: E402
from gpu_envs.benchmark.report import Report, Table, si  # noqa: E402
from gpu_envs.known import native  # noqa: E402
from gpu_envs.known.measures import measures_of  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402


class Row(NamedTuple):
    """An environment, the label of its peer in the environment's measures, and the batch."""

    name: str
    peer: str
    worlds: int


ROWS = (
    Row("CartPole-v0", "EnvPool, 1 thread", 4096),
    Row("Overcooked-v0", "JaxMARL (jax CPU), compiled", 1024),
    Row("Hanabi-v0", "JaxMARL (jax CPU), compiled", 1024),
    Row("TagContinuous-v0", "WarpDrive, NumPy: 5 agents", 1),
)


def beside(row: Row, clock: Clock) -> tuple[float, float, int]:
    """Return the peer's world steps per second, ours, and how many threads each has."""
    data = measures_of(row.name)["benchmark"]
    peer = next(one for one in data["peers"] if one["label"] == row.peer)
    forms = data.get("forms", [{}])
    form = next((one for one in forms if one.get("label") == peer.get("form")), forms[0])
    threads = cores() if peer.get("threads") == "all" else 1
    case = Case(
        row.name,
        native.cpu_target(),
        row.worlds,
        parameters=form.get("parameters", {}),
        entry="Simulator",
        arrays="numpy",
        memory="fresh",
        threads=threads,
    )
    theirs = open_quietly(peer, row.worlds)
    ours = open_case(case, bool(data.get("drawn")))
    timings = clock.race([theirs.step, ours.step])
    theirs.close()
    ours.close()
    return theirs.units / timings[0].median, row.worlds / timings[1].median, threads


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="of a repeat (default 0.5)")
    parser.add_argument("--repeats", type=int, default=7, help="repeats (default 7)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    command = " ".join(["scripts/studies/peer_rates.py", *sys.argv[1:]])
    report = Report("Peers", machine.describe("cpu"), command)
    table = Table(
        "World steps per second, of as many worlds",
        ["environment", "worlds", "threads", "ours", "peer", "its rate", "ours over it"],
        note="Ours: Simulator.step with all outputs in fresh arrays. Resets are included.",
    )
    clock = Clock(seconds=given.seconds, repeats=given.repeats)
    for row in ROWS:
        try:
            theirs, ours, threads = beside(row, clock)
        except MissingError as reason:
            report.say(f"{row.peer} of {row.name} is missing: {reason}")
            continue
        facts: list[Any] = [row.name, f"{row.worlds:,}", threads, si(ours), row.peer, si(theirs)]
        table.rows.append([*map(str, facts), f"{ours / theirs:.3g}"])
        report.results[row.name] = {"ours": ours, "theirs": theirs, "peer": row.peer}
    report.show(table)
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
