"""Micro against a plain float32 loop: every capacity tier, every remainder of its work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
TIERS = {1: 1, 5: 8, 8: 8, 9: 32, 100: 128, 1000: 1024}  # agents -> rows of the smallest that fits


def plain_step(words: np.ndarray, actions: np.ndarray, work: int) -> np.ndarray:
    """One step of (..., 4) words, one float32 operation after the other."""
    one = np.float32(1)
    words = words.copy()
    grown = words + np.float32(0.25)
    grown = np.where(grown >= one, grown - one, grown)
    words = np.where(actions[..., None] == np.arange(4), grown, words)
    for k in range(work):
        i = k % 4
        mixed = np.float32(3.7) * words[..., i] + np.float32(0.31) * words[..., (i + 1) % 4]
        mixed = mixed + np.float32(0.17)
        words[..., i] = mixed - np.floor(mixed)
    assert words.dtype == np.float32
    return words


def random_words(simulator: Simulator, random: np.random.Generator) -> np.ndarray:
    return random.integers(0, 4, (simulator.num_worlds, simulator.agents_per_world))


@pytest.mark.parametrize("work", [0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 1000])
@pytest.mark.parametrize("agent_count", TIERS)
def test_path_equals_a_plain_loop(make_simulator: Make, agent_count: int, work: int) -> None:
    worlds = 3 if agent_count > 50 else 19
    simulator = make_simulator("Micro-v0", worlds, agent_count=agent_count, work=work)
    random = np.random.default_rng(agent_count)
    words = simulator.reset(seed=1).obs
    assert words.shape == (worlds, agent_count, 4)
    for _ in range(5):
        actions = random_words(simulator, random)
        words = plain_step(words, actions, work)
        outputs = simulator.step(actions)
        assert (outputs.obs == words).all()
        assert (outputs.reward == words[..., 0]).all()
        assert not outputs.terminated.any() and not outputs.truncated.any()


@pytest.mark.parametrize("agent_count", TIERS)
def test_tier_is_the_smallest_that_fits_and_its_rest_stays_zero(
    make_simulator: Make, agent_count: int
) -> None:
    simulator = make_simulator("Micro-v0", 2, agent_count=agent_count, work=8)
    simulator.reset(seed=3)
    simulator.step(np.zeros((2, agent_count), np.int64))
    words = simulator.get("agents.words")
    assert words.shape == (2, TIERS[agent_count], 4)
    assert (words[:, :agent_count] != 0).any(axis=-1).all()
    assert (words[:, agent_count:] == 0).all()


@pytest.mark.parametrize("agent_count", [5, 100])
def test_permuted_actions_permute_results(make_simulator: Make, agent_count: int) -> None:
    random = np.random.default_rng(4)
    order = random.permutation(agent_count)
    results = []
    for shuffled in (False, True):
        simulator = make_simulator("Micro-v0", 2, agent_count=agent_count)
        simulator.reset(seed=4)
        capacity = simulator.get("agents.words").shape[1]
        words = np.zeros((2, capacity, 4), np.float32)
        words[:, :agent_count] = (0.1, 0.3, 0.6, 0.9)  # agents that differ by their actions alone
        simulator.set("agents.words", words)
        draws = np.random.default_rng(5)
        for _ in range(20):
            actions = random_words(simulator, draws)
            outputs = simulator.step(actions[:, order] if shuffled else actions)
        results.append(outputs)
    assert (results[1].obs == results[0].obs[:, order]).all()
    assert (results[1].reward == results[0].reward[:, order]).all()
    assert len(np.unique(results[0].obs[0], axis=0)) > 1


def test_starts_are_uniform_and_every_agent_has_its_own(make_simulator: Make) -> None:
    simulator = make_simulator("Micro-v0", 100, agent_count=1000)
    words = simulator.reset(seed=5).obs
    assert words.min() >= 0 and words.max() < 1
    assert abs(words.mean() - 0.5) < 5e-3 and abs(words.var() - 1 / 12) < 1e-3
    assert len(np.unique(words.reshape(-1, 4), axis=0)) == 100_000


def test_start_of_an_agent_does_not_depend_on_the_crowd(make_simulator: Make) -> None:
    starts = {}
    for agent_count in TIERS:
        simulator = make_simulator("Micro-v0", 2, agent_count=agent_count)
        starts[agent_count] = simulator.reset(seed=6).obs
    for agent_count, words in starts.items():
        assert (words == starts[1000][:, :agent_count]).all()
