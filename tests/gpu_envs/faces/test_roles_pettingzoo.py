"""PettingZoo's own tests over agents of three kinds, and what they leave out: spaces, absence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.test.state_test import state_test

import gpu_envs
from tests.strict_warnings import warnings_are_errors

pytestmark = pytest.mark.usefixtures("troupe")

ENDS_OF_WORLDS = {"ends": "world"}
every_name = pytest.mark.parametrize("name", ["Troupe-v0", "Band-v0"])
every_absence = pytest.mark.parametrize("absence", [0.0, 0.5, 1.0])

MEANT = (
    "unknown reset option",  # its tests pass {"options": 1}
    ".*infinity",
    "Observation space for each agent probably should be",  # a Dict, where there is a mask
    "Action space for each agent probably should be",  # of several categories
    "Observation is not a NumPy array",
    ".*illegal and w(as|ere) replaced",  # its parallel tests look for no mask in infos
    "Agents have different observation space sizes",  # that is what roles are
    "Observations are different shapes",
    "The class of observation spaces is different",
    "The class of action spaces is different",
    "Agents have different action space sizes",
    "Observation numpy array is all zeros",  # of a clown who has told nothing, in silence
    "No agents present but not all possible_agents are terminated",  # one was never there
)


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings_are_errors(but=MEANT):
        yield


def _legal(env: Any, infos: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
    actions = {}
    for agent in env.agents:
        mask = infos[agent].get("action_mask")
        if mask is None:
            env.action_space(agent).seed(int(random.integers(2**31)))
            actions[agent] = env.action_space(agent).sample()
        else:
            actions[agent] = int(random.choice(np.flatnonzero(mask)))
    return actions


@every_name
@every_absence
def test_parallel_api_of_pettingzoo_passes(name, absence) -> None:
    parallel_api_test(gpu_envs.parallel_env(name, absence=absence), num_cycles=300)


@every_name
@every_absence
def test_aec_api_of_pettingzoo_passes(name, absence) -> None:
    api_test(gpu_envs.aec_env(name, absence=absence), num_cycles=300)


@every_name
def test_seed_repeats_its_episode(name) -> None:
    parallel_seed_test(lambda: gpu_envs.parallel_env(name))


@every_name
def test_state_is_that_of_pettingzoo(name) -> None:
    state_test(gpu_envs.aec_env(name), gpu_envs.parallel_env(name))


def test_spaces_of_each_agent_are_exactly_its_roles() -> None:
    env = gpu_envs.parallel_env("Troupe-v0")
    lengths = {"dancer": (7, 3), "drummer": (9, 5), "clown": (2, 2)}
    for agent in env.possible_agents:
        row, choices = lengths[agent.rpartition("_")[0]]
        space = env.observation_space(agent)
        assert isinstance(space, Dict)
        assert space["observation"].shape == (row,)
        assert space["action_mask"].shape == (choices,)
        assert env.action_space(agent) == Discrete(choices)
        assert env.observation_space(agent) is space
    spaces = [env.observation_space(agent) for agent in env.possible_agents]
    assert len(set(map(id, spaces))) == 6  # each seeded by itself
    env.close()


def test_agents_without_a_mask_see_plain_arrays_beside_one_with() -> None:
    env = gpu_envs.parallel_env("Band-v0", absence=0)
    observations, infos = env.reset(seed=0)
    assert isinstance(env.observation_space("dancer_0"), Box)
    assert isinstance(env.observation_space("clown_0"), Dict)
    assert isinstance(env.action_space("dancer_0"), MultiDiscrete)
    assert isinstance(env.action_space("drummer_1"), Box)
    for agent, observation in observations.items():
        assert observation in env.observation_space(agent)
    assert "action_mask" in infos["clown_0"]
    assert "action_mask" not in infos["dancer_0"]
    env.close()


@every_name
def test_absent_agents_are_not_among_the_agents(name) -> None:
    env = gpu_envs.parallel_env(name, absence=0.5)
    random, met = np.random.default_rng(0), set()
    for episode in range(12):
        observations, infos = env.reset(seed=episode)
        is_there = "clown_0" in env.agents
        met.add(is_there)
        assert list(observations) == list(infos) == env.agents
        assert env.agents == env.possible_agents[: 6 if is_there else 5]
        assert len(env.state()) == 3 * 7 + 2 * 9 + 2
        assert env.state() in env.state_space
        while env.agents:
            before = env.agents[:]
            results = env.step(_legal(env, infos, random))
            observations, _, terminations, truncations, infos = results
            assert all(list(part) == before for part in results)
            over = {a for a in before if terminations[a] or truncations[a]}
            assert env.agents == [agent for agent in before if agent not in over]
            assert is_there or "clown_0" not in observations
            for agent in before:
                assert observations[agent] in env.observation_space(agent)
    assert met == {True, False}
    env.close()


def test_agents_end_at_different_times() -> None:
    env = gpu_envs.parallel_env("Troupe-v0", absence=0)
    _, infos = env.reset(seed=3)
    left: dict[str, int] = {}
    step = 0
    while env.agents:
        before, step = env.agents[:], step + 1
        actions = dict.fromkeys(env.agents, 0)
        if "clown_0" in actions:
            actions["clown_0"] = 1
        actions |= {agent: 4 for agent in actions if agent.startswith("drummer")}
        terminations, infos = env.step(actions)[2::2]
        for agent in set(before) - set(env.agents):
            left[agent] = step
            assert terminations[agent] == agent.startswith("dancer")
            assert infos[agent]["episode_stats"]["l"] == step
    assert 3 <= left["clown_0"] <= 8
    assert len({left[f"dancer_{k}"] for k in range(3)}) > 1
    assert left["drummer_0"] == left["drummer_1"] == 25
    assert max(left.values()) == 25
    env.close()


@every_name
@every_absence
def test_world_of_a_batch_equals_the_one_world(name, absence) -> None:
    env = gpu_envs.parallel_env(name, absence=absence)
    batch = gpu_envs.batched_parallel_env(name, 3, device="cpu", absence=absence)
    observations, infos = env.reset(seed=9)
    rows, batch_infos = batch.reset(seed=[3, 1, 9])
    random = np.random.default_rng(2)
    while env.agents:
        for agent in batch.agents:
            assert batch_infos[agent]["agent_active"][2] == (agent in env.agents)
        for agent in env.agents:
            seen = observations[agent]
            seen = seen["observation"] if isinstance(seen, dict) else seen
            assert np.array_equal(rows[agent][2], seen)
            mask = infos[agent].get("action_mask")
            assert mask is None or np.array_equal(batch_infos[agent]["action_mask"][2], mask)
        actions = _legal(env, infos, random)
        live = env.agents[:]
        observations, rewards, terminations, truncations, infos = env.step(actions)
        columns = {}
        for agent in batch.agents:
            space = batch.action_space(agent)
            idle = np.zeros(space.shape, space.dtype)
            columns[agent] = np.stack([np.asarray(actions.get(agent, idle))] * 3)
        for agent in batch.agents:  # what the other worlds may do
            mask = batch_infos[agent].get("action_mask")
            if mask is not None:
                columns[agent] = np.where(np.arange(3) == 2, columns[agent], mask.argmax(1))
        rows, batch_rewards, *flags, batch_infos = batch.step(columns)
        for agent in live:
            assert batch_rewards[agent][2] == rewards[agent]
            ended = [terminations[agent], truncations[agent]]
            assert [flag[agent][2] for flag in flags] == ended
    if name == "Troupe-v0":  # whose masks say what is legal
        batch.check()
    env.close()
    batch.close()


def test_rows_belong_to_their_agents_whoever_is_absent(monkeypatch) -> None:
    env, whole = (gpu_envs.parallel_env("Troupe-v0", absence=0) for _ in range(2))
    begin = env._begin

    def without_the_first(*arguments: Any) -> None:
        begin(*arguments)
        env.agents = env.agents[1:]

    monkeypatch.setattr(env, "_begin", without_the_first)
    (shown, infos), (wanted, wanted_infos) = env.reset(seed=3), whole.reset(seed=3)
    assert list(shown) == list(infos) == env.possible_agents[1:]
    for agent, row in shown.items():
        assert str(row) == str(wanted[agent]) and str(infos[agent]) == str(wanted_infos[agent])
    env.close()
    whole.close()


@pytest.mark.parametrize("illegal", ["replace", "terminate"])
def test_illegal_moves_are_met_role_by_role(illegal) -> None:
    env = gpu_envs.parallel_env("Troupe-v0", illegal=illegal, absence=0)
    env.reset(seed=0)
    actions = dict.fromkeys(env.agents, 0) | {"dancer_2": 2}
    env.step(actions)
    _, rewards, terminations, _, _ = env.step(actions)
    if illegal == "replace":
        assert not any(terminations.values())
        with pytest.raises(ValueError, match=r"1 action was illegal.*agent 2 in world 0"):
            env.check()
    else:
        assert all(terminations.values())
        assert {agent for agent, reward in rewards.items() if reward == -1} == {"dancer_2"}
    env.close()


def test_with_ends_of_worlds_all_stay_and_end_together() -> None:
    leaving, staying = (gpu_envs.parallel_env("Troupe-v0", **own) for own in ({}, ENDS_OF_WORLDS))
    random, early = np.random.default_rng(1), 0
    for seed in range(6):
        (_, infos), (_, kept) = leaving.reset(seed=seed), staying.reset(seed=seed)
        there, total = staying.agents[:], dict.fromkeys(staying.agents, 0.0)
        while leaving.agents:
            assert staying.agents == there
            actions, present = _legal(leaving, infos, random), leaving.agents[:]
            _, paid, *_, infos = leaving.step(actions)
            seen, rewards, terminated, truncated, kept = staying.step(actions)
            assert rewards == {agent: paid.get(agent, 0.0) for agent in there}
            assert not any(seen[a]["observation"].any() for a in set(there) - set(present))
            total = {agent: total[agent] + rewards[agent] for agent in there}
            early += len(there) - len(present)
        assert not staying.agents
        assert all(terminated[a] or truncated[a] for a in there)
        assert all(terminated[a] and not truncated[a] for a in set(there) - set(present))
        assert {a: kept[a]["episode_stats"]["r"] for a in there} == pytest.approx(total, abs=1e-5)
    assert early > 0
