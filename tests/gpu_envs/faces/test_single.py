"""The single environment: Gymnasium's own checks, scalars, life cycle."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_envs


def test_returns_python_scalars_and_own_arrays() -> None:
    env = gpu_envs.Env("CartPole-v0")
    first, info = env.reset(seed=0)
    assert info == {}
    obs, reward, terminated, truncated, info = env.step(1)
    assert type(reward) is float
    assert type(terminated) is bool
    assert type(truncated) is bool
    assert info == {}
    assert obs.flags.owndata
    assert not np.shares_memory(first, obs)
    assert obs in env.observation_space


def test_infos_hold_state_and_parts_of_the_reward() -> None:
    env = gpu_envs.Env("Overcooked-v0", player_count=1, shaping_factor=0.5)
    batch = gpu_envs.VectorEnv("Overcooked-v0", device="cpu", player_count=1, shaping_factor=0.5)
    _, info = env.reset(seed=7)
    _, infos = batch.reset(seed=[7])
    assert "reward_parts" not in info
    for action in (0, 3, 5, 2, 0, 5):  # an onion, from the left of the kitchen into the pot
        assert (info["state"] == infos["state"][0]).all()
        assert info["agent_active"].tolist() is True
        _, reward, *_, info = env.step(action)
        infos = batch.step([action])[4]
        parts = info["reward_parts"]
        assert parts == {key: part[0] for key, part in infos["reward_parts"].items()}
        assert all(type(part) is float for part in parts.values())
    assert parts == {"sparse": 0.0, "shaped": 3.0}
    assert reward == 1.5


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), np.int32(1), np.array([1])])
def test_accepts_actions_of_every_form(action) -> None:
    env = gpu_envs.Env("CartPole-v0")
    env.reset(seed=0)
    assert env.step(action)[1] == 1.0


@pytest.mark.parametrize("action", [2, -1, 0.5, None, "1", [0, 1]])
def test_bad_actions_are_refused(action) -> None:
    env = gpu_envs.Env("CartPole-v0")
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError), match=r"actions? must (be|have)|actions: "):
        env.step(action)


def test_truncates_at_the_limit_and_reports_the_episode() -> None:
    env = gpu_envs.Env("Micro-v0", agent_count=1, work=0, max_episode_steps=7)
    env.reset(seed=0)
    steps = [env.step(0) for _ in range(7)]
    assert [step[3] for step in steps] == [False] * 6 + [True]
    stats = steps[-1][4]["episode_stats"]
    assert stats["l"] == 7
    assert stats["r"] == pytest.approx(sum(step[1] for step in steps), rel=1e-5)


def test_many_agents_are_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"agent_count is 5.*make_vec .*, or pass agent_count=1"):
        gpu_envs.Env("Micro-v0", agent_count=5)


COUNTED = [
    (
        "Overcooked-v0",
        {},
        "has player_count agents per world, .*make_vec .*, or pass player_count=1",
    ),
    ("Overcooked-v0", {"player_count": 0}, "player_count is 0, .*, or pass player_count=1"),
    ("Micro-v0", {"work": 1}, "has agent_count agents per world, .*, or pass agent_count=1"),
    ("Flocking-v0", {}, "has agent_count agents per world"),
    ("Hanabi-v0", {}, "has player_count agents per world, .* gpu_envs.parallel_env$"),
    ("SwarmTag-v0", {}, "or pass chaser_count=0 and runner_count=1"),
    ("SwarmTag-v0", {"chaser_count": 0}, "or pass chaser_count=0 and runner_count=1"),
    ("HideSeek-v0", {}, "has hider_count . seeker_count agents .* gpu_envs.parallel_env$"),
    ("TagGrid-v0", {"num_taggers": 1}, "has num_taggers . 1 agents .* gpu_envs.parallel_env$"),
]


@pytest.mark.parametrize(("name", "options", "message"), COUNTED)
def test_parameters_that_count_agents_are_not_changed_in_silence(name, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        gpu_envs.Env(name, **options)


def test_construction_makes_no_simulator() -> None:
    env = gpu_envs.Env("CartPole-v0")
    assert env._made is None
    assert env.observation_space is env.observation_space
    assert env._made is not None


@pytest.mark.parametrize(
    "name", ["autoreset_mode", "arrays", "reuse", "outputs", "threads", "final_rows"]
)
def test_options_of_batches_are_refused(name) -> None:
    with pytest.raises(TypeError, match=f"{name} cannot be chosen"):
        gpu_envs.Env("CartPole-v0", **{name: None})


def test_unseeded_reset_takes_a_readable_seed_and_goes_on() -> None:
    env, twin = gpu_envs.Env("CartPole-v0"), gpu_envs.Env("CartPole-v0")
    first, _ = env.reset()
    second, _ = env.reset()
    assert (twin.reset(seed=env.np_random_seed)[0] == first).all()
    assert (twin.reset()[0] == second).all()


def test_render_without_a_mode_warns() -> None:
    env = gpu_envs.Env("Flocking-v0", agent_count=1)
    how = r'gymnasium.make\("gpu_envs/Flocking-v0", render_mode="rgb_array"\)'
    with pytest.warns(UserWarning, match=f"of Flocking-v0 needs a render mode: {how}"):
        assert env.render() is None
