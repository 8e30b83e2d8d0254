#!/usr/bin/env python3
"""Measures how many actions a second the trainer draws, beside `torch.multinomial`.

Usage: scripts/studies/draw_speed.py [--out DIR]

Both begin with what a network says, a row of numbers for each agent, and end with an action in
memory. The trainer's draw gives its log-probability too; torch's is measured without one and with
one (softmax, multinomial; log_softmax, multinomial, gather). The ways take turns, on one thread.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table, si  # noqa: E402
from gpu_envs.policies.distributions import Categorical  # noqa: E402
from gpu_envs.policies.noise import ACTIONS, Noise  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train.fused import Drawing, Space  # noqa: E402

CPU = torch.device("cpu")
ROWS, CHOICES = 16_384, (2, 6, 21)
SECONDS = 0.3  # of a turn
BAR = 3.6  # of WarpDrive's draws beside PyTorch's, on a GPU (Lan et al. 2022)
Call = Callable[[], object]


def calls(choices: int) -> dict[str, Call]:
    """Return what draws an action for each row, by name."""
    torch.manual_seed(1)
    outputs = torch.randn(ROWS, choices)
    value = torch.zeros(ROWS)
    shape = (1, ROWS)
    rollout: Any = SimpleNamespace(
        rows=ROWS,
        length=1,
        mask=None,
        bounded=None,
        action=torch.zeros(shape, dtype=torch.int64),
        log_prob=torch.zeros(shape),
        value=torch.zeros(shape),
    )
    policy: Any = SimpleNamespace(
        log_std=None, scale=SimpleNamespace(mean=torch.zeros(()), deviation=torch.ones(()))
    )
    space = Space(Categorical((choices,), is_single=True), CPU)
    clock = torch.zeros((), dtype=torch.int64)
    noise = Noise(1, ACTIONS, CPU)
    draw = Drawing(space, rollout, None, policy, noise, clock, 0, hold=1, is_own=True)

    def ours() -> None:
        clock.add_(1)
        draw(0, outputs, value)

    def alone() -> object:
        return torch.multinomial(outputs.softmax(-1), 1)

    def whole() -> object:
        known = outputs.log_softmax(-1)
        action = torch.multinomial(known.exp(), 1)
        return action, known.gather(-1, action)

    ours()
    check(outputs, rollout)
    return {"trainer": ours, "torch.multinomial": alone, "with log-probability": whole}


def check(outputs: torch.Tensor, rollout: Any) -> None:
    """Refuse draws whose log-probabilities are not those of their actions."""
    known = outputs.log_softmax(-1).gather(-1, rollout.action[0].unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(rollout.log_prob[0], known, atol=1e-5)


def rate(call: Call) -> float:
    """Return how many actions a second a way draws."""
    begin, count = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < SECONDS:
        call()
        count += 1
    return count * ROWS / spent


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7, help="turns (default 7)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    torch.set_num_threads(1)
    command = " ".join(["scripts/studies/draw_speed.py", *sys.argv[1:]])
    report = Report("Draws", machine.describe("cpu"), command)
    table = Table(
        f"Actions drawn per second for {ROWS:,} rows, one thread",
        ["choices", "trainer", "torch.multinomial", "with log-probability"],
        note=f"Medians of {given.repeats} turns. The trainer's draws have log-probabilities.",
    )
    ratios = []
    with torch.no_grad():
        for choices in CHOICES:
            ways = calls(choices)
            found: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(given.repeats):
                for name, call in ways.items():
                    found[name].append(rate(call))
            own = {name: statistics.median(rates) for name, rates in found.items()}
            table.rows.append([str(choices), *map(si, own.values())])
            report.results[str(choices)] = own
            ratios.append(own["trainer"] / own["torch.multinomial"])
    report.show(table)
    report.judge(Bar("draws, over torch.multinomial, the least", BAR, min(ratios), ""))
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
