"""Counts, times: how what a person sees is written."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rich", reason="needs rich")

from gpu_envs.train import progress


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (999, "999"), (999.6, "1k"), (61_300_000, "61.3M"), (999_499, "999k"),
        (999_999, "1M"), (2e9, "2G"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_counts_are_short(number: float, text: str) -> None:
    assert progress.short(number) == text


def test_times_are_clocks() -> None:
    assert [progress.clock(s) for s in (0, 59.9, 60, 3661, math.nan, math.inf)] == [
        "0:00", "0:59", "1:00", "1:01:01", "-:--", "-:--",
    ]  # fmt: skip
