"""Hanabi's symmetries: a game under other names of its colours is the same game."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
ID, WORLDS = "Hanabi-v0", 64
VARIANTS = (
    {"player_count": 2, "color_count": 2},
    {"player_count": 2, "color_count": 5, "belief": "v0"},
    {"player_count": 3, "color_count": 4, "observation_type": "seer", "noop": False},
    {"player_count": 4, "color_count": 3, "rank_count": 4, "observation_type": "minimal"},
    {"player_count": 5, "color_count": 5, "random_start_player": True, "keep_score": True},
)


def renamed(cards: np.ndarray, actions: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    """Cards of worlds (worlds, n) by the names of each world's symmetry (worlds, actions)."""
    colors, ranks = p["color_count"], p["rank_count"]
    first = 2 * p["hand_size"]
    true = actions[:, first : first + colors] - first  # the true colour behind each name
    name = np.argsort(true, axis=1)
    own = np.take_along_axis(name, (cards // ranks).astype(np.int64), axis=1)
    return (own * ranks + cards % ranks).astype(cards.dtype)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_renamed_deal_played_by_renamed_moves_is_the_same_game(
    make_simulator: Make, options: dict[str, Any]
) -> None:
    plain, other = (make_simulator(ID, WORLDS, **options) for _ in range(2))
    p, found = plain.parameters, plain.symmetries()
    assert found is not None and len(found) == math.factorial(p["color_count"])
    random = np.random.default_rng(1)
    which = random.integers(0, len(found), WORLDS)
    places, actions = found.observation[which], found.actions[which]
    true, seen = (x.reset(seed=5) for x in (plain, other))
    for column in ("deck.card", "hands.card"):
        other.set(column, renamed(plain.get(column), actions, p))
    seen = other.observe()
    plays = np.ones(WORLDS, bool)
    for _ in range(100):
        for name, table in (("obs", places), ("action_mask", actions)):
            whole, own = getattr(true, name), getattr(seen, name)
            there = np.take_along_axis(whole, np.repeat(table[:, None], whole.shape[1], 1), 2)
            assert np.array_equal(there[plays], own[plays]), name
        chosen = (seen.action_mask * (random.random(seen.action_mask.shape) + 0.1)).argmax(2)
        # Behind its end a world has other decks here and there, and goes on by itself.
        known = np.take_along_axis(actions, chosen, 1)
        true = plain.step(np.where(plays[:, None], known, true.action_mask.argmax(2)))
        seen = other.step(chosen)
        assert np.array_equal(true.reward[plays], seen.reward[plays])
        assert np.array_equal(true.terminated[plays], seen.terminated[plays])
        plays &= ~true.terminated[:, 0].astype(bool)
        if not plays.any():
            break
    assert not plays.any()


def test_symmetries_are_all_orders_of_the_colours_from_the_true_one_on(
    make_simulator: Make,
) -> None:
    simulator = make_simulator(ID, 1, player_count=3, color_count=3)
    found = simulator.symmetries()
    assert (
        found is not None and found.observation.shape[1] == simulator.layout.output("obs").shape[2]
    )  # type: ignore[union-attr]
    assert len({tuple(row) for row in found.actions}) == len({tuple(r) for r in found.observation})
    assert found.actions[0].tolist() == list(range(found.actions.shape[1]))
    names = simulator.action_names()
    moved = [[names[k] for k in row] for row in found.actions]
    assert moved[-1][10:16] == [f"tell player +{k} colour {c}" for k in (1, 2) for c in "GYR"]
    assert all(row[16:] == names[16:] and row[:10] == names[:10] for row in moved)


def test_an_environment_without_symmetries_has_none(make_simulator: Make) -> None:
    assert make_simulator("CartPole-v0", 1).symmetries() is None
