"""The example of a curriculum: levels rise, and what is learned holds where the usual does not."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("curriculum", ROOT / "examples/curriculum.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_levels_rise_one_by_one_and_never_fall(example: ModuleType) -> None:
    _, levels = example.learn(20, seed=1)
    steps = [after - before for before, after in pairwise(levels)]
    assert levels[0] == 0
    assert set(steps) == {0, 1}
    assert example.learn(20, seed=1)[1] == levels


def test_the_curriculum_holds_more_lengths_than_the_usual_one_alone(example: ModuleType) -> None:
    rounds = 30
    weights, levels = example.learn(rounds, seed=1)
    plain, usual = example.learn(rounds, seed=1, top=0)
    assert max(levels) >= 3
    assert set(usual) == {0}
    assert example.measure(weights) > 1.1 * example.measure(plain)
