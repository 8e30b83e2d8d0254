"""The parallel interface over one world: steps, agents that leave, illegal actions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.fields import Field


def _micro(**options: Any) -> gpu_envs.ParallelEnv:
    return gpu_envs.parallel_env("Micro-v0", agent_count=3, work=1, **options)


def _illegal(mask: np.ndarray) -> int:
    return int(np.flatnonzero(mask == 0)[0])


def _add_reward_parts(
    monkeypatch: pytest.MonkeyPatch, env: gpu_envs.ParallelEnv, **values: float
) -> None:
    """Let every step show these parts of the reward, the same for each agent."""
    native = env.simulator.step_arrays
    shown = np.tile(np.array(list(values.values()), np.float32), (1, len(env.possible_agents), 1))
    monkeypatch.setattr(
        env.simulator, "step_arrays", lambda *given: native(*given)._replace(reward_parts=shown)
    )
    layout = env.simulator.layout
    like_reward = dataclasses.replace(layout.output("reward"), name="reward_parts")
    outputs = layout.outputs._replace(reward_parts=like_reward)
    monkeypatch.setattr(env.simulator, "layout", dataclasses.replace(layout, outputs=outputs))
    parts = tuple(Field(name, "float32") for name in values)
    roles = [dataclasses.replace(role, reward_fields=parts) for role in env._role_of]
    monkeypatch.setattr(env, "_role_of", roles)


def test_results_are_python_scalars_by_agent() -> None:
    env = _micro()
    env.reset(seed=0)
    observations, rewards, terminations, truncations, infos = env.step(dict.fromkeys(env.agents, 1))
    assert list(observations) == list(infos) == env.agents
    assert {type(reward) for reward in rewards.values()} == {float}
    assert {type(f) for flags in (terminations, truncations) for f in flags.values()} == {bool}
    assert all(type(row) is np.ndarray for row in observations.values())


def test_equals_the_simulator() -> None:
    env = _micro()
    simulator = gpu_envs.Simulator("Micro-v0", 1, device="cpu", agent_count=3, work=1)
    observations, _ = env.reset(seed=4)
    outputs = simulator.reset(seed=4)
    for actions in np.random.default_rng(0).integers(0, 4, (50, 3)):
        assert np.array_equal(np.stack(list(observations.values())), outputs.obs[0])
        outputs = simulator.step(actions[None])
        observations, rewards, *_ = env.step(dict(zip(env.agents, actions, strict=True)))
        assert list(rewards.values()) == outputs.reward[0].tolist()


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), np.int32(1), np.array([1]), True])
def test_accepts_actions_of_every_form(action) -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    env.reset(seed=0)
    assert env.step({"player_0": action})[1] == {"player_0": 1.0}


def test_booleans_for_more_than_two_choices_are_refused() -> None:
    env = _micro()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action of player_0 must be one of Discrete"):
        env.step(dict.fromkeys(env.agents, True))


def test_integers_of_different_kinds_go_together() -> None:
    env, twin = _micro(), _micro()
    for game in (env, twin):
        game.reset(seed=0)
    kinds = {"player_0": np.uint64(1), "player_1": np.int64(2), "player_2": np.uint8(3)}
    assert env.step(kinds)[1] == twin.step(dict(zip(twin.agents, (1, 2, 3), strict=True)))[1]
    with pytest.raises(TypeError, match=r"action of player_1 must be an integer, got 0.5"):
        env.step({"player_0": 1, "player_1": 0.5, "player_2": 1})


@pytest.mark.parametrize("action", [2, -1, 0.5, "1", [0, 1], None])
def test_bad_actions_are_refused(action) -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError), match="action"):
        env.step({"player_0": action})


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"player_0": 0, "player_2": 0}, "agent 'player_1' is missing"),
        ({"player_0": 0, "player_1": 0, "player_2": 0, "player_3": 0}, "no agent 'player_3'"),
        ([0, 0, 0], "dict by agent"),
    ],
)
def test_actions_name_the_live_agents(actions, message) -> None:
    env = _micro()
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError), match=message):
        env.step(actions)


def test_step_needs_a_reset_before_the_first_and_after_the_last() -> None:
    env = _micro(max_cycles=2)
    with pytest.raises(gpu_envs.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.step({})
    env.reset(seed=0)
    actions = dict.fromkeys(env.agents, 0)
    env.step(actions)
    *_, truncations, infos = env.step(actions)
    assert truncations == dict.fromkeys(env.possible_agents, True)
    assert infos["player_1"]["episode_stats"]["l"] == 2
    assert env.agents == []
    with pytest.raises(gpu_envs.ResetNeeded, match="no agent is left"):
        env.step(actions)
    assert env.step({}) == ({}, {}, {}, {}, {})
    env.reset()
    assert env.agents == env.possible_agents


def test_agents_that_end_leave_one_by_one(monkeypatch) -> None:
    env = _micro()
    native = env.simulator.step_arrays
    ended = [False, False, False]

    def step_arrays(actions: Any, *rest: Any) -> Any:
        return native(actions, *rest)._replace(terminated=np.array([ended]))

    monkeypatch.setattr(env.simulator, "step_arrays", step_arrays)
    env.reset(seed=0)
    ended[1] = True
    _, _, terminations, _, _ = env.step(dict.fromkeys(env.agents, 0))
    assert terminations == {"player_0": False, "player_1": True, "player_2": False}
    assert env.agents == ["player_0", "player_2"]
    ended[:] = [True, False, False]
    results = env.step({"player_0": 0, "player_1": 3, "player_2": 0})  # the second is gone
    assert all(list(part) == ["player_0", "player_2"] for part in results)
    assert env.agents == ["player_2"]


def test_reward_parts_come_by_name(monkeypatch) -> None:
    env = gpu_envs.parallel_env("CartPole-v0")
    _add_reward_parts(monkeypatch, env, sparse=0.5, shaped=2.0)
    env.reset(seed=0)
    infos = env.step({"player_0": 0})[4]
    assert infos["player_0"]["reward_parts"] == {"sparse": 0.5, "shaped": 2.0}


def test_reward_parts_are_there_where_the_environment_has_them() -> None:
    env = gpu_envs.parallel_env("Overcooked-v0")
    _, infos = env.reset(seed=0)
    assert infos == {"player_0": {}, "player_1": {}}
    infos = env.step({"player_0": 4, "player_1": 4})[4]
    assert infos["player_1"]["reward_parts"] == {"sparse": 0.0, "shaped": 0.0}


# Illegal actions


def test_illegal_action_is_replaced_by_the_lowest_legal_one_and_counted() -> None:
    left, right = (gpu_envs.parallel_env("Hanabi-v0") for _ in range(2))
    _, infos = left.reset(seed=0)
    right.reset(seed=0)
    mask = infos["player_0"]["action_mask"]
    waiting = int(infos["player_1"]["action_mask"].argmax())
    results = [
        env.step({"player_0": action, "player_1": waiting})
        for env, action in ((left, _illegal(mask)), (right, int(mask.argmax())))
    ]
    for agent in left.agents:
        assert np.array_equal(*(result[0][agent]["observation"] for result in results))
    right.check()
    with pytest.raises(ValueError, match="1 action was illegal"):
        left.check()


def test_illegal_action_raises_before_anything_moves() -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", illegal="raise")
    _, infos = env.reset(seed=0)
    before = env.state()
    bad = _illegal(infos["player_0"]["action_mask"])
    with pytest.raises(ValueError, match=rf"action {bad} of player_0 is illegal.*allows \["):
        env.step({"player_0": bad})
    assert np.array_equal(env.state(), before)
    env.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})
    assert not np.array_equal(env.state(), before)
    env.check()


@pytest.mark.parametrize("noop", [True, False])
def test_illegal_action_terminates_all_agents(noop) -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", illegal="terminate", player_count=3, noop=noop)
    _, infos = env.reset(seed=0)
    actions = {agent: int(infos[agent]["action_mask"].argmax()) for agent in env.agents}
    actions["player_0"] = _illegal(infos["player_0"]["action_mask"])
    observations, rewards, terminations, truncations, _ = env.step(actions)
    assert rewards == {"player_0": -1.0, "player_1": 0.0, "player_2": 0.0}
    assert terminations == truncations == dict.fromkeys(env.possible_agents, True)
    assert observations["player_2"] in env.observation_space("player_2")
    assert env.agents == []
    env.reset(seed=0)
    env.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})
    assert env.agents == env.possible_agents


def test_agents_that_wait_may_be_left_out() -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", player_count=3, noop=False)
    _, infos = env.reset(seed=0)
    env.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})
    with pytest.raises(ValueError, match="agent 'player_1' is missing"):
        env.step({"player_0": 0})
    env.check()


def test_strict_raises_after_the_step_and_the_env_goes_on_with_its_world() -> None:
    env, twin = gpu_envs.parallel_env("Hanabi-v0", strict=True), gpu_envs.parallel_env("Hanabi-v0")
    for game in (env, twin):
        game.reset(seed=0)
    with pytest.raises(ValueError, match="1 action was illegal"):
        env.step({"player_0": 0})
    twin.step({"player_0": 0})
    assert np.array_equal(env.state(), twin.state())
    move = {"player_1": int(twin._rows["action_mask"][1].argmax())}
    results = env.step(move)
    assert np.array_equal(
        results[0]["player_0"]["observation"], twin.step(move)[0]["player_0"]["observation"]
    )


def test_illegal_end_repeats_no_reward_parts_of_the_step_before(monkeypatch) -> None:
    env = gpu_envs.parallel_env("Hanabi-v0", illegal="terminate")
    _add_reward_parts(monkeypatch, env, points=1.0)
    _, infos = env.reset(seed=0)
    infos = env.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})[4]
    assert infos["player_1"]["reward_parts"] == {"points": 1.0}
    infos = env.step({"player_1": _illegal(infos["player_1"]["action_mask"])})[4]
    assert "reward_parts" not in infos["player_1"]
