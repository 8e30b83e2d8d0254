"""Roles: which there are, and that every form of them has the same numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

import gpu_envs

WORLDS = 5
ROLES = ("dancer", "drummer", "clown")
LIBRARIES = ("numpy", "torch", "jax")

with_troupe = pytest.mark.usefixtures("troupe")


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def _legal(masks: dict[str, Any], step: int) -> dict[str, np.ndarray]:
    """A legal action for every agent, by role; 0 where there is none."""
    random, chosen = np.random.default_rng(step), {}
    for name, mask in masks.items():
        chances = np.asarray(mask) * random.uniform(0.1, 1, mask.shape)
        chosen[name] = chances.argmax(-1)
    return chosen


# Which roles there are


@pytest.mark.parametrize(
    ("name", "options", "roles"),
    [
        ("HideSeek-v0", {"hider_count": 3, "seeker_count": 1}, {"hider": 3, "seeker": 1}),
        ("TagGrid-v0", {"num_taggers": 4}, {"tagger": 4, "runner": 1}),
        ("TagContinuous-v0", {"num_taggers": 2, "num_runners": 3}, {"runner": 3, "tagger": 2}),
        ("SwarmTag-v0", {"chaser_count": 2, "runner_count": 6}, {"chaser": 2, "runner": 6}),
        ("Overcooked-v0", {}, {"player": 2}),
        ("CartPole-v0", {}, {"player": 1}),
    ],
)
def test_names_of_agents_say_their_roles(make_simulator, name, options, roles) -> None:
    simulator = make_simulator(name, 2, **options)
    assert {role.name: role.count for role in simulator.roles} == roles
    assert simulator.roles is simulator.roles
    for role in simulator.roles:
        assert role.agents == tuple(simulator.agent_names[number] for number in role.numbers)
        assert role.first == role.numbers[0]
        assert role.observation_space is simulator.single_observation_space
        assert role.action_space is simulator.single_action_space
    numbers = [number for role in simulator.roles for number in role.numbers]
    assert sorted(numbers) == list(range(simulator.agents_per_world))


@with_troupe
@pytest.mark.parametrize("form", ["padded", "split"])
def test_roles_with_tables_have_spaces_of_their_own(make_simulator, form) -> None:
    roles = make_simulator("Troupe-v0", 2, roles=form).roles
    assert tuple(role.name for role in roles) == ROLES
    assert [(role.first, role.count) for role in roles] == [(0, 3), (3, 2), (5, 1)]
    assert [role.observation_space.shape for role in roles] == [(7,), (9,), (2,)]
    assert [role.action_space for role in roles] == [Discrete(3), Discrete(5), Discrete(2)]
    assert roles[1].agents == ("drummer_0", "drummer_1")
    assert [field.name for field in roles[0].fields] == ["x", "strength", "tempo", "others"]


@with_troupe
def test_actions_of_roles_may_be_of_different_kinds(make_simulator) -> None:
    spaces = [role.action_space for role in make_simulator("Band-v0", 2, roles="split").roles]
    assert spaces[0] == MultiDiscrete([3, 4])
    assert spaces[1] == Box(np.array([0, -1], "f4"), np.array([1, 1], "f4"))
    assert spaces[2] == Discrete(2)


def test_agents_of_one_role_apart_are_found_too(make_simulator) -> None:
    simulator = make_simulator("TagGrid-v0", 2, num_taggers=4)
    simulator.agent_names = ["fox_0", "hen_0", "fox_1", "fox_2", "hen_1"]
    roles = simulator.roles
    assert [(role.name, role.first, role.count) for role in roles] == [("fox", 0, 3), ("hen", 1, 2)]
    assert [list(role.numbers) for role in roles] == [[0, 2, 3], [1, 4]]
    parts = simulator.by_role(np.arange(10).reshape(2, 5))
    assert parts["fox"].tolist() == [[0, 2, 3], [5, 7, 8]]
    assert parts["hen"].tolist() == [[1, 4], [6, 9]]


# Parts of arrays


@with_troupe
@pytest.mark.parametrize(
    ("name", "options"), [("Troupe-v0", {"roles": "split"}), ("TagGrid-v0", {})]
)
@pytest.mark.parametrize("arrays", LIBRARIES)
def test_parts_of_outputs_are_views(make_simulator, name, options, arrays) -> None:
    pytest.importorskip(arrays)
    simulator = make_simulator(name, WORLDS, arrays=arrays, **options)
    outputs = simulator.reset(seed=0)
    for array in (outputs.obs, outputs.action_mask, outputs.agent_active, outputs.reward):
        if array is None:
            continue
        parts = simulator.by_role(array)
        assert list(parts) == [role.name for role in simulator.roles]
        for role in simulator.roles:
            part = parts[role.name]
            assert tuple(part.shape[:2]) == (WORLDS, role.count)
            if arrays == "numpy":
                assert np.shares_memory(part, array)
            elif arrays == "torch":
                assert part.untyped_storage().data_ptr() == array.untyped_storage().data_ptr()


@with_troupe
def test_rows_and_dicts_have_parts_too(make_simulator) -> None:
    simulator = make_simulator("TagGrid-v0", WORLDS, num_taggers=2)
    obs = simulator.reset(seed=0).obs
    by_row = simulator.by_role(obs.reshape(-1, *obs.shape[2:]))
    assert np.array_equal(by_row["runner"], obs[:, 2:])
    by_field = simulator.by_role({"one": obs, "other": obs[..., :2]})
    assert {k: v.shape[-1] for k, v in by_field["tagger"].items()} == {
        "one": obs.shape[-1],
        "other": 2,
    }
    with pytest.raises(ValueError, match=r"by_role takes arrays of shape \(5, 3, \.\.\.\)"):
        simulator.by_role(np.zeros((4, 3)))


# All forms have the same numbers


def _same(left: Any, right: Any) -> bool:
    return np.array_equal(np.asarray(left), np.asarray(right))


@with_troupe
@pytest.mark.parametrize("arrays", LIBRARIES)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_padded_split_by_role_and_by_agent_are_equal(make_simulator, mode, arrays) -> None:
    pytest.importorskip(arrays)
    options: dict[str, Any] = {"autoreset_mode": mode, "arrays": arrays, "max_episode_steps": 12}
    padded = make_simulator("Troupe-v0", WORLDS, **options)
    split = make_simulator("Troupe-v0", WORLDS, roles="split", **options)
    batches = {
        group: gpu_envs.batched_parallel_env(
            "Troupe-v0", WORLDS, group=group, device="cpu", **options
        )
        for group in ("role", "agent")
    }
    long, flat = padded.reset(seed=4), split.reset(seed=4)
    results: dict[str, Any] = {group: env.reset(seed=4) for group, env in batches.items()}
    for step in range(30):
        masks = split.by_role(flat.action_mask)
        _assert_rows_equal(padded, long, split, flat, results)
        actions = _legal(masks, step)
        long = padded.step(np.concatenate(list(actions.values()), 1))
        flat = split.step(actions)
        results["role"] = batches["role"].step(actions)
        columns = [actions[role.name][:, k] for role in split.roles for k in range(role.count)]
        by_agent = dict(zip(split.agent_names, columns, strict=True))
        results["agent"] = batches["agent"].step(by_agent)
        _assert_steps_equal(long, flat, results, split)
        if mode == "Disabled" and np.asarray(~np.asarray(flat.agent_active).any(1)).all():
            break
    assert step > 9
    for env in batches.values():
        env.close()


def test_sampled_actions_of_split_roles_are_cut_by_role(make_simulator) -> None:
    simulator = make_simulator("CovidEconomy-v0", 3, roles="split")
    simulator.reset(seed=1)
    actions = simulator.sample_actions(seed=4)
    parts = simulator.by_role(actions)
    assert {name: part.shape for name, part in parts.items()} == {
        "governor": (3, 51),
        "planner": (3, 1),
    }
    assert (np.concatenate([part.ravel() for part in parts.values()]) == actions).all()
    assert parts["governor"].max() == 10


def _assert_rows_equal(padded, long, split, flat, results) -> None:
    by_role, masks = split.by_role(flat.obs), split.by_role(flat.action_mask)
    for role in split.roles:
        for name, parts in (("obs", by_role), ("action_mask", masks)):
            part = np.asarray(parts[role.name])
            whole = np.asarray(padded.by_role(getattr(long, name))[role.name])
            assert _same(whole[..., : part.shape[-1]], part)
            assert not whole[..., part.shape[-1] :].any()
        assert _same(results["role"][0][role.name], by_role[role.name])
        infos = results["role"][-1][role.name]
        assert _same(infos["action_mask"], masks[role.name])
        for k, agent in enumerate(role.agents):
            assert _same(results["agent"][0][agent], by_role[role.name][:, k])
            mask = results["agent"][-1][agent]["action_mask"]
            assert _same(mask, masks[role.name][:, k])


def _assert_steps_equal(long, flat, results, split) -> None:
    for name in ("reward", "terminated", "truncated", "ended", "episode_return", "agent_active"):
        assert _same(getattr(long, name), getattr(flat, name)), name
    for place, name in enumerate(("reward", "terminated", "truncated"), 1):
        parts = split.by_role(getattr(flat, name))
        for role, part in parts.items():
            assert _same(results["role"][place][role], part)
        columns = [results["agent"][place][agent] for agent in split.agent_names]
        assert _same(np.stack([np.asarray(c) for c in columns], 1), getattr(flat, name))
    infos = results["role"][-1]
    assert ("final_obs" in infos["clown"]) == (flat.final_obs is not None)
    if flat.final_obs is not None:
        last = split.by_role(flat.final_obs)
        for role in split.roles:
            assert _same(infos[role.name]["final_obs"], last[role.name])
            for k, agent in enumerate(role.agents):
                assert _same(results["agent"][-1][agent]["final_obs"], last[role.name][:, k])


@pytest.mark.parametrize("name", ["TagGrid-v0", "TagContinuous-v0", "SwarmTag-v0", "HideSeek-v0"])
def test_groups_of_shared_spaces_are_those_of_agents(name) -> None:
    small = {"SwarmTag-v0": {"chaser_count": 2, "runner_count": 5}}.get(name, {})
    env = gpu_envs.batched_parallel_env(name, 3, group="role", device="cpu", **small)
    twin = gpu_envs.batched_parallel_env(name, 3, device="cpu", **small)
    results, others = env.reset(seed=1), twin.reset(seed=1)
    space = twin.simulator.single_action_space
    for step in range(15):
        for role, agents in env.groups.items():
            stacked = np.stack([others[0][agent] for agent in agents], 1)
            assert np.array_equal(results[0][role], stacked)
            if step:
                rewards = np.stack([others[1][agent] for agent in agents], 1)
                assert np.array_equal(results[1][role], rewards)
            active = np.stack([others[-1][a]["agent_active"] for a in agents], 1)
            assert np.array_equal(results[-1][role]["agent_active"], active)
        space.seed(step)
        columns = {a: np.stack([space.sample() for _ in range(3)]) for a in twin.agents}
        others = twin.step(columns)
        actions = {r: np.stack([columns[a] for a in g], 1) for r, g in env.groups.items()}
        results = env.step(actions)
    env.close()
    twin.close()


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@with_troupe
def test_values_by_role_are_views_of_one_output(arrays) -> None:
    pytest.importorskip(arrays)
    for name in ("Troupe-v0", "TagGrid-v0"):
        env = gpu_envs.batched_parallel_env(
            name, WORLDS, group="role", device="cpu", arrays=arrays, reuse=True
        )
        env.reset(seed=0)
        own = env.simulator.observe()
        actions = {role.name: np.zeros((WORLDS, role.count), int) for role in env.roles}
        observations, rewards, *_, infos = env.step(actions)
        parts = env.simulator.by_role(own.obs)
        for role in env.roles:
            assert _address(observations[role.name]) == _address(parts[role.name])
        steps = [_address(a) - _address(b) for b, a in itertools.pairwise(rewards.values())]
        assert steps == [4 * role.count for role in env.roles[:-1]]
        assert infos[env.roles[0].name]["episode_stats"]["r"].shape == (WORLDS, env.roles[0].count)
        env.close()


@with_troupe
@pytest.mark.parametrize("group", ["agent", "role"])
def test_groups_have_spaces_names_and_states(group) -> None:
    env = gpu_envs.batched_parallel_env("Troupe-v0", WORLDS, group=group, device="cpu")
    assert list(env.groups) == (list(ROLES) if group == "role" else env.possible_agents)
    observations, _ = env.reset(seed=0)
    for key in env.groups:
        row = observations[key][0, 0] if group == "role" else observations[key][0]
        assert row in env.observation_space(key)
        assert env.observation_space(key) is env.observation_spaces[key]
        assert env.action_space(key) == env.action_spaces[key]
    parts = [np.asarray(part).reshape(WORLDS, -1) for part in observations.values()]
    assert np.array_equal(env.state(), np.concatenate(parts, 1))
    assert env.state()[0] in env.state_space
    env.close()


@with_troupe
def test_one_array_of_all_roles_is_a_step_too() -> None:
    envs = [
        gpu_envs.batched_parallel_env("Band-v0", WORLDS, group="role", device="cpu")
        for _ in range(2)
    ]
    for env in envs:
        env.reset(seed=2)
        for role in env.roles:
            role.action_space.seed(3)
    env, twin = envs
    for _ in range(40):
        actions = {
            role.name: np.array(
                [[role.action_space.sample() for _ in range(role.count)] for _ in range(WORLDS)]
            )
            for role in env.roles
        }
        ours = env.step(actions)
        theirs = twin.step(twin.simulator.role_actions.read(actions))
        for mine, yours in zip(ours[:4], theirs[:4], strict=True):
            assert all(np.array_equal(mine[role], yours[role]) for role in ROLES)
    for env in envs:
        env.close()


@with_troupe
def test_same_seed_is_the_same_play_by_role() -> None:
    seen = []
    for threads in (1, 2):
        env = gpu_envs.batched_parallel_env(
            "Troupe-v0", 64, group="role", device="cpu", threads=threads
        )
        _, infos = env.reset(seed=9)
        for step in range(60):
            actions = _legal({role: infos[role]["action_mask"] for role in ROLES}, step)
            observations, rewards, *_, infos = env.step(actions)
        seen.append((observations, rewards))
        env.close()
    for one, other in zip(*seen, strict=True):
        assert all(np.array_equal(one[role], other[role]) for role in ROLES)
