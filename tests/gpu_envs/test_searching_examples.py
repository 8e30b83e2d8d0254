"""The examples that search with saved worlds find more than random actions do."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def _example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, 2])
def test_a_tree_search_balances_the_pole(seed: int) -> None:
    example = _example("tree_search")
    assert example.play(120, seed, searches=False) < 80
    assert example.play(120, seed) == 120  # at random 22 steps


@pytest.mark.parametrize("seed", [1, 3])
def test_go_explore_comes_farther_than_random_steps(seed: int) -> None:
    example = _example("go_explore")
    chance, found = (example.explore(60, seed, returns) for returns in (False, True))
    assert len(found) > 1.5 * len(chance)
    assert example.farthest(found) >= 1.2 * example.farthest(chance)


def test_an_archive_brings_a_world_back() -> None:
    example = _example("go_explore")
    env, rng = example.course(3), example.np.random.default_rng(0)
    archive = example.Archive(env)
    for _ in range(6):
        archive.add(env, example.wander(env, rng))
    assert len(archive.saves) > 3
    for cell, save in archive.saves.items():
        env.load(save, worlds=[5])
        assert example.cells(env)[5] == cell
    env.close()
