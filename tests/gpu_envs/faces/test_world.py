"""What the two PettingZoo forms share: arguments, spaces, resets, text, copies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium import spaces

import gpu_envs

MICRO = {"agent_count": 3, "work": 1}


def test_metadata_and_names_are_pettingzoos() -> None:
    env = gpu_envs.parallel_env("gpu_envs/Micro-v0", **MICRO)
    assert env.metadata["name"] == str(env) == "micro_v0"
    assert env.metadata["is_parallelizable"] is True
    assert env.metadata["render_modes"] == ["ansi", "human", "rgb_array"]
    assert env.render_mode is None
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert (env.max_num_agents, env.num_agents) == (3, 0)
    assert env.unwrapped is env
    assert repr(env) == "<ParallelEnv Micro-v0: 3 agents>"


def test_spaces_are_the_same_objects_and_each_agents_own() -> None:
    env = gpu_envs.parallel_env("Micro-v0", **MICRO)
    for space_of in (env.observation_space, env.action_space):
        assert space_of("player_1") is space_of("player_1")
        assert space_of("player_1") == space_of("player_0")
        assert space_of("player_1") is not space_of("player_0")


@pytest.mark.parametrize(
    "name", ["arrays", "autoreset_mode", "outputs", "reuse", "threads", "final_rows"]
)
def test_options_of_batches_are_refused(name) -> None:
    with pytest.raises(TypeError, match=f"{name} cannot be chosen for one world"):
        gpu_envs.parallel_env("CartPole-v0", **{name: None})


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"speed": 3}, TypeError, "unexpected keyword argument"),
        (
            {"illegal": "ignore"},
            ValueError,
            "illegal must be 'replace', 'terminate' or 'raise', got 'ignore'",
        ),
        ({"illegal": "raise"}, ValueError, "has no action mask"),
        ({"render_mode": "svg"}, ValueError, "render_mode.*None"),
        ({"max_cycles": 5, "max_episode_steps": 6}, TypeError, "pass one of them"),
        ({"max_cycles": -1}, ValueError, "max_cycles must be between 0 and"),
        ({"max_cycles": 2**70}, ValueError, "max_cycles must be between 0 and"),
        ({"max_cycles": np.array([5])}, TypeError, "max_cycles must be an int, got array"),
        ({"max_cycles": np.array([5, 6])}, TypeError, "max_cycles must be an int, got array"),
        (
            {"max_cycles": 5, "max_episode_steps": np.array([5, 6])},
            TypeError,
            "max_episode_steps must be an int, got array",
        ),
        ({"illegal": np.array([5, 6])}, ValueError, "illegal must be .* got array"),
        ({"render_mode": np.array([5, 6])}, ValueError, "render_mode of .* got array"),
    ],
)
def test_bad_arguments_are_refused(keywords, error, message) -> None:
    with pytest.raises(error, match=message):
        gpu_envs.parallel_env("CartPole-v0", **keywords)


def test_unknown_reset_options_warn_and_known_ones_work() -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    with pytest.warns(UserWarning, match=r"'hight'; did you mean 'high'\?.*ignored") as caught:
        observations, _ = env.reset(seed=0, options={"low": 0.01, "high": 0.02, "hight": 1})
    assert caught[0].filename == __file__
    assert ((observations["player_0"] >= 0.01) & (observations["player_0"] < 0.02)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(options={})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seed": [1]}, TypeError),
        ({"seed": np.int64(1)}, TypeError),
        ({"seed": -1}, ValueError),
        ({"options": [1]}, TypeError),
        ({"options": {"low": "x"}}, TypeError),
    ],
)
def test_bad_reset_arguments_are_refused(arguments, error) -> None:
    with pytest.raises((error, ValueError)):
        gpu_envs.parallel_env("CartPole-v0").reset(**arguments)


def test_both_names_of_the_limit_may_be_given_where_one_says_nothing() -> None:
    for name in ("max_cycles", "max_episode_steps"):
        other = {"max_cycles": None, "max_episode_steps": None, name: 5}
        assert gpu_envs.parallel_env("CartPole-v0", **other).max_cycles == 5


@pytest.mark.parametrize("make", [gpu_envs.parallel_env, gpu_envs.aec_env])
def test_what_the_caller_writes_into_masks_makes_nothing_legal(make) -> None:
    env = make("Hanabi-v0", illegal="raise")
    env.reset(seed=0)
    if make is gpu_envs.aec_env:
        observation, *_, info = env.last()
    else:
        observations, infos = env.reset(seed=0)
        observation, info = observations["player_0"], infos["player_0"]
    for mask in (observation["action_mask"], info["action_mask"], env._rows["action_mask"]):
        mask[...] = 1
    with pytest.raises(ValueError, match="action 0 of player_0 is illegal"):
        env.step(0 if make is gpu_envs.aec_env else {"player_0": 0})


def test_what_the_caller_writes_into_observations_leaves_the_state_alone() -> None:
    env = gpu_envs.parallel_env("Micro-v0", **MICRO)
    observations, _ = env.reset(seed=0)
    before = env.state()
    observations["player_1"][:] = -7
    env.state()[:] = -8
    assert np.array_equal(env.state(), before)


def test_state_without_a_state_is_all_observations() -> None:
    env = gpu_envs.parallel_env("Micro-v0", **MICRO)
    with pytest.raises(gpu_envs.ResetNeeded, match="state"):
        env.state()
    observations, _ = env.reset(seed=0)
    assert np.array_equal(env.state(), np.concatenate(list(observations.values())))
    assert isinstance(env.state_space, spaces.Box)
    assert env.state_space is env.state_space
    assert env.state() in env.state_space


def test_dictionary_observations_have_the_state_of_flat_ones() -> None:
    flat, split = (
        gpu_envs.parallel_env("CartPole-v0", observation=kind) for kind in ("flat", "dict")
    )
    rows, _ = flat.reset(seed=3)
    fields, _ = split.reset(seed=3)
    assert fields["player_0"] in split.observation_space("player_0")
    assert [value.item() for value in fields["player_0"].values()] == rows["player_0"].tolist()
    assert np.array_equal(split.state(), flat.state())


def test_returned_arrays_are_never_written_again() -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    first, _ = env.reset(seed=0)
    state = env.state()
    kept = first["player_0"].copy()
    env.step({"player_0": 1})
    assert np.array_equal(first["player_0"], kept)
    assert np.array_equal(state, kept)


def test_render_without_a_mode_warns() -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="needs render_mode"):
        assert env.render() is None


def test_render_modes_are_the_worlds_text(capsys) -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", render_mode="ansi")
    with pytest.raises(gpu_envs.ResetNeeded, match="render"):
        env.render()
    env.reset(seed=0)
    assert env.metadata["render_modes"] == ["ansi", "human", "rgb_array"]
    assert env.render() == env.simulator.text() != ""
    assert capsys.readouterr().out == ""
    human = gpu_envs.parallel_env("Hanabi-v0", render_mode="human")
    _, infos = human.reset(seed=0)
    human.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})
    printed = capsys.readouterr().out
    assert printed.count("fireworks") == 2
    assert "\x1b" not in printed  # not a terminal


def test_masks_stand_in_observations_and_infos() -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", player_count=3)
    observations, infos = env.reset(seed=0)
    for agent in env.agents:
        assert observations[agent] in env.observation_space(agent)
        mask = observations[agent]["action_mask"]
        assert mask.dtype == np.int8
        assert np.array_equal(infos[agent]["action_mask"], mask)
    assert [infos[agent]["agent_active"] for agent in env.agents] == [True, False, False]
