"""`final_state`: the states in which episodes ended, for a critic; who does not ask has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gpu_envs import Simulator, VectorEnv, batched_parallel_env

WORLDS, STEPS, LIMIT = 4, 14, 5
NAMES = ("state", "final_state", "final_obs")
with_state = pytest.mark.parametrize("name", ["Overcooked-v0", "Hanabi-v0", "HideSeek-v0"])


def made(name: str, **keywords: Any) -> Simulator:
    simulator = Simulator(name, WORLDS, device="cpu", max_episode_steps=LIMIT, **keywords)
    simulator.reset(seed=3)
    return simulator


def drawn(simulator: Simulator, results: Any, step: int) -> Any:
    if results.action_mask is not None:
        return simulator.sample_actions(results.action_mask, seed=step).copy()
    space = simulator.single_action_space
    high = space.nvec if isinstance(space, spaces.MultiDiscrete) else space.n
    size = (WORLDS, simulator.agents_per_world, *space.shape)
    return np.random.default_rng(step).integers(0, high, size)


def restart(simulator: Simulator, step: int, over: Any) -> Any:
    """Reset where all have ended, and odd worlds at the third step, so that ends differ."""
    mask = over | ((np.arange(WORLDS) % 2 == 1) & (step == 2))
    return simulator.reset(mask=mask) if mask.any() else simulator.observe()


@with_state
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@pytest.mark.parametrize("how", ["fresh", "reuse", "keep", "alone"])
def test_it_is_the_state_of_worlds_that_stay_as_they_ended(name, arrays, how) -> None:
    pytest.importorskip(arrays)
    ways: dict[str, Any] = {"fresh": {}, "reuse": {"reuse": True}, "keep": {"final_rows": "keep"}}
    names = ("state", "final_state") if how == "alone" else NAMES
    simulator = made(name, arrays=arrays, outputs=names, **ways.get(how, {}))
    stays, over, seen = made(name, autoreset_mode="Disabled"), np.zeros(WORLDS, bool), 0
    gone = np.zeros((WORLDS, stays.agents_per_world), bool)
    for step in range(STEPS):
        before = restart(stays, step, over)
        gone &= ~(over | ((np.arange(WORLDS) % 2 == 1) & (step == 2)))[:, None]
        if step == 2:
            simulator.reset(mask=np.arange(WORLDS) % 2 == 1)
        actions = drawn(stays, before, step)
        found, wanted = simulator.step(actions), stays.step(actions)
        ends = wanted.ended.any(1)
        gone |= wanted.ended
        over = gone.all(1)
        last = np.asarray(found.final_state)
        assert last.shape == np.asarray(found.state).shape
        assert np.array_equal(last[ends], wanted.state[ends])
        if how != "keep":
            assert not last[~ends].any()
        # What goes on is another episode, or the same.
        assert np.array_equal(np.asarray(found.state)[~over], wanted.state[~over])
        seen += int((ends & ~ends.all()).sum())
    assert seen > 0
    for one in (simulator, stays):
        one.close()


@with_state
def test_only_who_names_it_has_it(name) -> None:
    for keywords in ({}, {"outputs": ("state", "final_obs")}):
        simulator = made(name, **keywords)
        results = simulator.step(drawn(simulator, simulator.observe(), 0))
        assert results.final_state is None and simulator.layout.output("final_state") is None
        simulator.close()
    simulator = made(name, outputs=("final_state",))
    assert simulator.observe().final_state is None  # nothing has ended
    assert simulator.layout.output("ended") is not None  # which says where it means something
    simulator.close()


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_where_worlds_stay_as_they_ended_there_is_none(mode) -> None:
    with pytest.raises(ValueError, match="final_state"):
        made("Overcooked-v0", autoreset_mode=mode, outputs=("final_state",))


def test_environments_without_a_state_have_none() -> None:
    with pytest.raises(ValueError, match="final_state"):
        made("CartPole-v0", outputs=("final_state",))


@pytest.mark.parametrize("infos", ["nested", "rows"])
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_vector_environments_tell_it_in_infos(infos, arrays) -> None:
    pytest.importorskip(arrays)
    keywords: dict[str, Any] = {"max_episode_steps": 3, "arrays": arrays, "infos": infos}
    env = VectorEnv("Overcooked-v0", 2, device="cpu", outputs=NAMES, **keywords)
    _, first = env.reset(seed=1)
    assert "final_state" not in first
    told = [env.step(np.full(env.num_envs, 4))[4] for _ in range(3)]
    rows = env.num_envs if infos == "rows" else env.num_worlds
    for info in told:
        assert info["final_state"].shape == info["state"].shape == (rows, *info["state"].shape[1:])
    assert not np.asarray(told[0]["final_state"]).any()
    assert np.asarray(told[2]["final_state"]).any()
    env.close()


def test_batches_of_named_agents_have_the_same_for_all() -> None:
    env = batched_parallel_env("Overcooked-v0", 2, max_episode_steps=1, outputs=NAMES)
    env.reset(seed=1)
    infos = env.step({agent: np.full(2, 4) for agent in env.agents})[4]
    states = [infos[agent]["final_state"] for agent in env.agents]
    assert states[0].shape == env.state().shape
    assert states[0].any()
    assert all(state is states[0] for state in states)
    env.close()
