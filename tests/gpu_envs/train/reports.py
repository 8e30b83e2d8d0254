"""A report of a run that never was, for tests of what it writes and of what it shows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from gpu_envs.train.report import Report

RETURN, EVALUATION, LOSS = "charts/episodic_return", "evaluation/return", "losses/value_loss"
NAN = math.nan


def make(folder: Path, **given: Any) -> Report:
    options = {"total_steps": 1000, "threshold": 475.0, "tensorboard": False} | given
    return Report(folder, "CartPole-v0 [seed 1]", {"hidden": 64, "gamma": 0.99}, **options)


def fill(report: Report, count: int, first: int = 1) -> None:
    for k in range(first, first + count):
        values = {RETURN: 10.0 * k, LOSS: 1 / k, EVALUATION: 20.0 * k if k % 2 == 0 else NAN}
        report.row(100 * k, 0.5 * k, values)


def lines(folder: Path) -> list[str]:
    return (folder / "curve.csv").read_text().splitlines()
