"""`actions="flat"`: one number for all categories of an action, in every interface."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import gpu_envs

ID = "TagContinuous-v0"


def counts_of(make_vec) -> tuple[int, ...]:
    space = make_vec(ID, 1).single_action_space
    assert isinstance(space, spaces.MultiDiscrete)
    return tuple(map(int, space.nvec))


def test_every_number_is_one_combination_with_the_first_field_the_slowest(make_vec) -> None:
    counts = counts_of(make_vec)
    size = int(np.prod(counts))
    flat, own = (make_vec(ID, size, actions=form) for form in ("flat", None))
    assert flat.single_action_space == spaces.Discrete(size)
    assert flat.action_space.shape == (flat.num_envs,)
    flat.reset(seed=1)
    own.reset(seed=1)
    numbers = np.repeat(np.arange(size), flat.agents_per_world)
    numbers = (numbers + np.tile(np.arange(flat.agents_per_world), size)) % size
    words = np.stack(np.unravel_index(numbers, counts), 1)
    for kind in (np.int64, np.int32):
        for _ in range(3):
            one, two = flat.step(numbers.astype(kind)), own.step(words.astype(kind))
            for k in range(4):
                assert np.array_equal(one[k], two[k])
    assert flat.simulator.get("world.step").tolist() == own.simulator.get("world.step").tolist()


def test_a_number_that_is_none_names_its_agent(make_vec) -> None:
    env = make_vec(ID, 2, actions="flat")
    env.reset(seed=1)
    size = int(env.single_action_space.n)
    actions = np.zeros(env.num_envs, int)
    actions[env.agents_per_world + 1] = size
    with pytest.raises(ValueError, match=f"world 1, agent 1: {size} is not one of 0 to {size - 1}"):
        env.step(actions)
    with pytest.raises(ValueError, match="actions must have shape"):
        env.step(np.zeros((env.num_envs, 2), int))
    env.step(actions - actions)


def test_numbers_can_be_drawn_and_are_described(make_simulator) -> None:
    simulator = make_simulator(ID, 50, actions="flat")
    simulator.reset(seed=1)
    size = int(simulator.single_action_space.n)
    drawn = np.concatenate([simulator.sample_actions(seed=s).ravel() for s in range(20)])
    assert drawn.min() == 0
    assert drawn.max() == size - 1
    (field,) = simulator.instance["action"]
    assert field["choices"] == size
    own = gpu_envs.Simulator(ID, 1, device="cpu")
    names = [word["name"] for word in own.instance["action"]]
    assert field["doc"].startswith(", ".join(names))
    assert simulator.action_names() == []
    assert own.action_names()[0] == "no acceleration"
    own.close()


def test_pettingzoo_and_the_single_environment_take_numbers(make_vec) -> None:
    size = int(np.prod(counts_of(make_vec)))
    env = gpu_envs.parallel_env(ID, actions="flat")
    env.reset(seed=1)
    assert all(env.action_space(agent) == spaces.Discrete(size) for agent in env.agents)
    env.step(dict.fromkeys(env.agents, size - 1))
    with pytest.raises(ValueError, match="must be one of Discrete"):
        env.step({agent: [1, 2] for agent in env.agents})
    env.close()
    batched = gpu_envs.batched_parallel_env(ID, 3, device="cpu", actions="flat")
    batched.reset(seed=1)
    batched.step({agent: np.full(3, size - 1) for agent in batched.agents})
    batched.close()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("CartPole-v0", "an action of CartPole-v0 is one already"),
        ("CartPoleContinuous-v0", "an action of CartPoleContinuous-v0 is of numbers"),
    ],
)
def test_what_is_not_several_categories_is_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"actions='flat' makes one category of several: {why}"):
        gymnasium.make_vec(f"gpu_envs/{name}", num_envs=2, device="cpu", actions="flat")


@pytest.mark.parametrize("actions", ["own", "dict", 3, ["flat"], True])
def test_other_forms_are_refused(make_vec, actions: Any) -> None:
    with pytest.raises(ValueError, match="actions must be None or 'flat', got"):
        make_vec(ID, actions=actions)
