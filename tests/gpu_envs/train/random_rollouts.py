"""Rollouts of random numbers, for tests that hold advantages against a plain form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch as t


def in_many_sizes(test: Callable[..., Any]) -> Callable[..., Any]:
    """Run a test with rollouts of many lengths, shares of rows that decide, and discounts."""
    for name, values in (
        ("steps", [1, 2, 3, 16, 37]),
        ("share", [1.0, 0.5, 0.1]),
        ("gamma", [1.0, 0.9]),
    ):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def random_rollout(steps: int, share: float) -> tuple[t.Tensor, t.Tensor, t.Tensor, t.Tensor]:
    """Return rewards, values, whether rows decide, and whether episodes end, of 50 rows."""
    t.manual_seed(steps)
    reward, value = t.randn(steps, 50), t.randn(steps + 1, 50)
    decides, ended = t.rand(steps + 1, 50) < share, t.rand(steps, 50) < 0.2
    return reward, value, decides, ended
