"""Evaluation: which episodes count, and how the actions in them are chosen."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from gymnasium import spaces

from gpu_envs import VectorEnv
from gpu_envs.policies import teams
from gpu_envs.policies.distributions import Categorical, of_space
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy
from gpu_envs.train import evaluate, worlds
from gpu_envs.train.config import Config, make
from tests.gpu_envs.train.fresh import played

CPU = torch.device("cpu")


class Scripted:
    """A policy that a function is: (observations, memory) -> chance of the last action."""

    def __init__(self, chance: Any, count: int = 2, memory_size: int = 0) -> None:
        self.chance, self.memory_size = chance, memory_size
        self.actions = Categorical((count,), is_single=True)
        self.rows: list[int] = []
        self.masks: list[Any] = []

    def __call__(self, obs: Any, mask: Any, memory: Any) -> tuple[Any, None, Any]:
        self.rows.append(len(obs))
        self.masks.append(mask)
        last = self.chance(obs, memory).float().clamp(1e-6, 1 - 1e-6).unsqueeze(-1)
        logits = torch.cat(((1 - last).log(), *([last.log()] * (self.actions.counts[0] - 1))), -1)
        outputs = self.actions.normalised(logits, mask)
        return outputs, None, None if memory is None else memory + 1


def towards(obs: Any, memory: Any) -> Any:
    """Push where the pole leans: it stands for a while, in each world for another."""
    return obs[:, 2] > 0


@pytest.fixture
def cartpole() -> Any:
    env = worlds.for_evaluation(make("CartPole-v0"), "cpu", 32)
    yield env
    env.close()


# ---- which episodes count


def first_episodes(env: VectorEnv, chance: Any, seed: int) -> tuple[list[float], list[int]]:
    """Add up rewards until each world ends for the first time."""
    obs, _ = env.reset(seed=seed)
    returns, lengths = [0.0] * env.num_envs, [0] * env.num_envs
    over = [False] * env.num_envs
    ends = 0
    while not all(over):
        obs, reward, terminated, truncated, _ = env.step(chance(obs, None).long())
        for row, end in enumerate((terminated | truncated).tolist()):
            ends += end
            if not over[row]:
                returns[row] += float(reward[row])
                lengths[row] += 1
                over[row] = end
    assert ends > env.num_envs  # worlds went on, and ended again
    return returns, lengths


def test_only_the_first_episode_of_each_world_counts(cartpole: VectorEnv) -> None:
    returns, lengths = played(cartpole, [Scripted(towards)], seed=3)
    expected = first_episodes(cartpole, towards, 3)
    assert (returns.flatten().tolist(), lengths.flatten().tolist()) == expected
    assert len(set(expected[1])) > 3 and returns.shape == (32, 1)


def test_an_episode_cut_short_counts_in_full() -> None:
    config = Config(env="Micro-v0")
    env = worlds.for_evaluation(config, "cpu", 3)
    returns, lengths = played(env, [Scripted(lambda obs, memory: obs[:, 0] > 2, 4)])
    assert (lengths == 200).all() and returns.shape == (3, env.agents_per_world)
    env.close()


def test_environments_without_a_limit_get_one_and_masks_are_given() -> None:
    config = make("Hanabi-v0", parameters={"preset": "very_small"})
    env = worlds.for_evaluation(config, "cpu", 8)
    assert env.simulator.max_episode_steps == 100_000
    policy = Scripted(lambda obs, memory: torch.full((len(obs),), 0.5), 11)
    returns, lengths = played(env, [policy], is_sampled=True)
    env.check()  # no action was illegal
    assert all(mask.shape == (16, 11) for mask in policy.masks)
    assert (lengths > 0).all() and (returns >= 0).all()
    env.close()


@pytest.mark.parametrize("name", ["ObstaclesEasy-v0", "ObstaclesHard-v0"])
def test_episodes_with_a_clock_of_their_own_are_played_to_their_end(name: str) -> None:
    env = worlds.for_evaluation(make(name, parameters={"resolution": "1x1"}), "cpu", 64)
    env.reset(seed=1)
    longest = env.simulator.get("course.length").max()
    assert env.simulator.max_episode_steps > longest > 900
    env.close()


def test_worlds_of_evaluations_are_not_those_of_training() -> None:
    tested = worlds.for_evaluation(make("CartPole-v0"), "cpu", 4)
    trained = VectorEnv("CartPole-v0", 4, device="cpu", arrays="torch")
    assert not torch.equal(tested.reset(seed=1)[0], trained.reset(seed=1)[0])
    for env in (tested, trained):
        env.close()


def test_chance_plays_where_what_is_seen_is_more_than_a_policy_takes() -> None:
    config = make("ObstaclesEasy-v0", parameters={"observation": "rgb+depth"})
    env = worlds.for_evaluation(config, "cpu", 1)
    team = teams.Team.at_random(env.simulator)
    assert team.policies == [] and team.of_agent == [-1] * env.agents_per_world
    env.close()


class Without:
    """Worlds whose first agent is not there."""

    def __init__(self, env: Any) -> None:
        self.env, self.steps = env, 0
        self.there = torch.arange(env.num_envs) % env.agents_per_world > 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def reset(self, **choices: Any) -> Any:
        obs, infos = self.env.reset(**choices)
        return obs, infos | {"agent_active": self.there}

    def step(self, actions: Any) -> Any:
        self.steps += 1
        assert self.steps < 100, "an evaluation waits for who is not there"
        *results, infos = self.env.step(actions)
        return *results, infos | {"_episode_stats": infos["_episode_stats"] & self.there}


def test_an_evaluation_does_not_wait_for_agents_that_are_never_there() -> None:
    config = make("TagContinuous-v0", parameters={"max_episode_steps": 20})
    env = Without(worlds.for_evaluation(config, "cpu", 2))
    rows = evaluate.rows_of([-1] * env.agents_per_world, 2, "cpu")
    _, lengths = evaluate.play(env, [], rows, seed=1)  # type: ignore[arg-type]
    assert not lengths[:, 0].any() and lengths[:, 1:].all()
    env.close()


def test_an_episode_without_a_limit_has_one_in_evaluations() -> None:
    config = make("CartPole-v0", parameters={"max_episode_steps": 0})
    env = worlds.for_evaluation(config, "cpu", 1)
    assert env.simulator.max_episode_steps == worlds._LIMIT
    env.close()


def test_the_same_seed_plays_the_same_and_another_does_not(cartpole: VectorEnv) -> None:
    for is_sampled in (False, True):
        policy = Scripted(lambda obs, memory: torch.sigmoid(5 * obs[:, 2]))
        found = [
            played(cartpole, [policy], seed, is_sampled=is_sampled)[0].tolist()
            for seed in (1, 1, 2)
        ]
        assert found[0] == found[1] != found[2]


# ---- how actions are chosen


def test_the_likeliest_action_is_taken_unless_actions_are_drawn(cartpole: VectorEnv) -> None:
    taken: list[torch.Tensor] = []
    policy = Scripted(lambda obs, memory: torch.full((len(obs),), 0.3))
    policy.actions.for_env = lambda action: taken.append(action.clone()) or action  # type: ignore
    played(cartpole, [policy])
    assert (torch.stack(taken) == 0).all()
    taken.clear()
    played(cartpole, [policy], is_sampled=True)
    drawn = torch.stack(taken).double()
    assert abs(float(drawn.mean()) - 0.3) < 5 * (0.21 / drawn.numel()) ** 0.5
    assert not torch.equal(drawn[0], drawn[1])


@pytest.mark.parametrize("is_sampled", [False, True])
def test_worlds_may_be_spread_over_processes(is_sampled: bool) -> None:
    def chance(obs: Any, memory: Any) -> Any:
        return torch.sigmoid(3 * obs[:, 2])

    def returns(first: int, count: int) -> Any:
        env = worlds.for_evaluation(make("CartPole-v0"), "cpu", count, first)
        found = played(env, [Scripted(chance)], is_sampled=is_sampled, first=first)[0]
        env.close()
        return found

    assert torch.equal(torch.cat((returns(0, 5), returns(5, 7))), returns(0, 12))


def test_each_policy_remembers_for_its_own_rows() -> None:
    config, seen = Config(env="Micro-v0"), []
    env = worlds.for_evaluation(config, "cpu", 2)

    def remember(obs: Any, memory: Any) -> Any:
        seen.append(memory.clone())
        return torch.zeros(len(obs))

    forgetful = Scripted(lambda obs, memory: torch.zeros(len(obs)), 4)
    mindful = Scripted(remember, 4, memory_size=3)
    played(env, [forgetful, mindful], seats=[0, 1, 1, 0, 1])
    assert set(forgetful.rows) == {4} and set(mindful.rows) == {6}
    assert all(memory.shape == (6, 3) for memory in seen)
    assert [int(memory[0, 0]) for memory in seen[:50]] == list(range(50))
    env.close()


def test_draws_belong_to_rows_whoever_plays_them() -> None:
    env, taken = worlds.for_evaluation(Config(env="Micro-v0"), "cpu", 2), []
    policy = Scripted(lambda obs, memory: torch.full((len(obs),), 0.5), 4)
    policy.actions.for_env = lambda action: taken.append(action.clone()) or action  # type: ignore
    played(env, [policy], is_sampled=True)
    alone, taken[:] = torch.stack(taken), []
    played(env, [policy, policy], seats=[0, 1, 1, 0, 1], is_sampled=True)
    assert torch.equal(torch.stack(taken), alone)
    env.close()


def test_policies_without_a_seat_are_not_asked(cartpole: VectorEnv) -> None:
    idle, active = Scripted(towards), Scripted(towards)
    played(cartpole, [idle, active], seats=[1])
    assert idle.rows == [] and active.rows


def test_continuous_actions_are_played() -> None:
    config = make("CartPoleContinuous-v0", hidden="4")
    env = worlds.for_evaluation(config, "cpu", 6)
    assert isinstance(env.single_action_space, spaces.Box)
    policy = Policy(RowShape.of(env.simulator), of_space(env.single_action_space, CPU), config)
    for is_sampled in (False, True):
        returns, lengths = played(env, [policy], is_sampled=is_sampled)
        assert torch.equal(returns.int(), lengths) and (lengths > 0).all()
    env.check()
    env.close()
