"""The turn-by-turn interface over one world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pettingzoo
import pytest

import gpu_envs


def _game(**options: Any) -> gpu_envs.TurnEnv:
    env = gpu_envs.aec_env("Hanabi-v0", **options)
    assert isinstance(env, gpu_envs.TurnEnv)
    return env


def _lowest(env: Any) -> int:
    return int(env.last()[0]["action_mask"].argmax())


def test_environments_without_turns_are_converted_or_refused() -> None:
    env = gpu_envs.aec_env("CartPole-v0")
    assert isinstance(env, pettingzoo.AECEnv)
    assert isinstance(env.unwrapped, gpu_envs.ParallelEnv)
    with pytest.raises(ValueError, match=r"act at once: use gpu_envs\.parallel_env"):
        gpu_envs.TurnEnv("CartPole-v0")


@pytest.mark.parametrize("noop", [True, False])
def test_agents_take_turns(noop) -> None:
    env = _game(player_count=3, noop=noop, max_life_tokens=20)
    env.reset(seed=0)
    order = []
    for _ in range(7):
        order.append(env.agent_selection)
        env.step(_lowest(env))
    assert order == [f"player_{turn % 3}" for turn in range(7)]
    env.check()


def test_equals_the_parallel_form() -> None:
    options = {"player_count": 3, "max_life_tokens": 20}
    env, parallel = _game(**options), gpu_envs.parallel_env("Hanabi-v0", **options)
    env.reset(seed=6)
    observations, _ = parallel.reset(seed=6)
    has_paid = False
    while parallel.agents:
        for agent in env.agents:
            seen = env.observe(agent)
            assert np.array_equal(seen["observation"], observations[agent]["observation"])
            assert np.array_equal(seen["action_mask"], observations[agent]["action_mask"])
        action = _lowest(env)
        observations, rewards, terminations, truncations, _ = parallel.step(
            {env.agent_selection: action}
        )
        env.step(action)
        assert (env.rewards, env.terminations) == (rewards, terminations)
        assert env.truncations == truncations
        has_paid |= any(rewards.values())
    assert has_paid


def test_rewards_accumulate_until_the_agents_own_move() -> None:
    env = _game(player_count=3)
    env.reset(seed=1)
    pending = dict.fromkeys(env.possible_agents, 0.0)
    random = np.random.default_rng(0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        assert reward == pending.pop(agent)
        if terminated or truncated:
            env.step(None)
            continue
        pending[agent] = 0.0
        env.step(int(random.choice(np.flatnonzero(observation["action_mask"]))))
        pending = {a: total + env.rewards[a] for a, total in pending.items()}
    assert pending == {}
    assert env.agents == []


def test_max_cycles_counts_moves() -> None:
    env = _game(max_cycles=5)
    env.reset(seed=0)
    moves = 0
    for _ in env.agent_iter():
        *_, terminated, truncated, info = env.last()
        if truncated:
            assert info["episode_stats"]["l"] == 5
        moves += not (terminated or truncated)
        env.step(None if terminated or truncated else _lowest(env))
    assert moves == 5


def test_reset_in_the_middle_of_an_end_begins_anew() -> None:
    env = _game(max_cycles=1, player_count=3)
    for _ in range(2):
        env.reset(seed=0)
        assert env.agents == env.possible_agents
        assert env.agent_selection == "player_0"
        env.step(_lowest(env))
        assert env.terminations.keys() == set(env.agents)
        env.step(None)
        assert env.agents == ["player_1", "player_2"]


def test_moves_out_of_order_are_refused() -> None:
    env = _game(max_cycles=1)
    with pytest.raises(gpu_envs.ResetNeeded):
        env.step(0)
    with pytest.raises(gpu_envs.ResetNeeded):
        env.observe("player_0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="it is the turn of player_0: None is only for"):
        env.step(None)
    env.step(_lowest(env))
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    env.step(None)
    env.step(None)
    with pytest.raises(gpu_envs.ResetNeeded, match=r"no agent is left: call reset\(\)"):
        env.step(0)


def test_illegal_move_is_replaced_unless_told_otherwise() -> None:
    env = _game()
    env.reset(seed=0)
    env.step(0)  # nothing to discard for while all tokens are there
    with pytest.raises(ValueError, match="1 action was illegal"):
        env.check()


def test_illegal_move_that_ends_the_game_pays_no_negative_zero() -> None:
    env = _game(illegal="terminate", player_count=3)
    env.reset(seed=0)
    env.step(0)
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0, "player_2": 0.0}
    assert [str(reward) for reward in env.rewards.values()] == ["-1.0", "0.0", "0.0"]


def test_turns_cannot_be_made_parallel_by_conversion() -> None:
    assert _game().metadata["is_parallelizable"] is False
    assert gpu_envs.parallel_env("Hanabi-v0").metadata["is_parallelizable"] is True


def test_strict_raises_after_the_move_and_the_game_goes_on_with_its_world() -> None:
    env, twin = _game(strict=True), _game()
    for game in (env, twin):
        game.reset(seed=0)
    with pytest.raises(ValueError, match="1 action was illegal"):
        env.step(0)
    twin.step(0)
    assert env.agent_selection == twin.agent_selection == "player_1"
    assert np.array_equal(env.state(), twin.state())
    assert np.array_equal(env.last()[0]["observation"], twin.last()[0]["observation"])
    env.step(_lowest(env))


def test_human_render_mode_prints_every_move(capsys) -> None:
    env = _game(render_mode="human")
    env.reset(seed=0)
    env.step(_lowest(env))
    assert capsys.readouterr().out.count("fireworks") == 2
