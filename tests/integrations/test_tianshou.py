"""Tianshou over gpu_envs: what its collectors store, the rows they leave out, and real training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("tianshou", reason="needs tianshou: scripts/integration tianshou")

from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy  # noqa: E402
from tianshou.data import Collector, VectorReplayBuffer  # noqa: E402
from tianshou.utils.net.common import Net  # noqa: E402

from gpu_envs.integrations.tianshou import TianshouVectorEnv  # noqa: E402
from tests.contract.rows import EARLY, Chance, Episodes  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "tianshou_ppo.py"


@pytest.fixture
def make():
    made = []

    def make_rows(name: str = "CartPole-v0", num_envs: int = 5, **options: Any):
        made.append(TianshouVectorEnv(name, num_envs, device="cpu", **options))
        return made[-1]

    yield make_rows
    for env in made:
        env.close()


def greedy(env: TianshouVectorEnv, size: int) -> DiscreteQLearningPolicy:
    torch.manual_seed(0)
    actions = env.action_space[0]
    net = Net(state_shape=(size,), action_shape=int(actions.n), hidden_sizes=[8])
    return DiscreteQLearningPolicy(model=net, action_space=actions)


def test_stored_transitions_are_those_of_the_plain_environment(make) -> None:
    env, rows, steps = make(), 5, 200
    collector = Collector(greedy(env, 4), env, VectorReplayBuffer(rows * steps, rows))
    env.seed(7)
    collector.reset()
    collector.collect(n_step=rows * steps)
    plain = gpu_envs.VectorEnv("CartPole-v0", rows, device="cpu", autoreset_mode="SameStep")
    obs, _ = plain.reset(seed=7)
    for step in range(steps):
        stored = collector.buffer[np.arange(rows) * steps + step]
        assert np.array_equal(stored.obs, obs)
        following, reward, terminated, truncated, infos = plain.step(stored.act)
        last = np.where(infos["_final_obs"][:, None], infos["final_obs"], following)
        assert np.array_equal(stored.obs_next, last)
        assert np.array_equal(stored.rew, reward)
        assert np.array_equal(stored.terminated, terminated)
        assert np.array_equal(stored.truncated, truncated)
        obs = following
    assert collector.buffer.terminated.sum() > 20
    plain.close()


def test_episodes_cut_by_the_time_limit_are_truncated_after_exactly_that_many_steps(make) -> None:
    env = make(max_episode_steps=7)
    collector = Collector(greedy(env, 4), env, VectorReplayBuffer(1000, 5))
    env.seed(1)
    collector.reset()
    stats = collector.collect(n_episode=12)
    assert stats.n_collected_episodes >= 12
    assert set(stats.lens) == {7}
    assert collector.buffer.truncated.sum() == stats.n_collected_episodes
    assert not collector.buffer.terminated.any()


def test_rows_left_out_have_to_be_reset_before_they_are_stepped_again(make) -> None:
    env = make()
    env.reset(seed=1)
    obs, *_, infos = env.step(np.array([1, 0]), id=np.array([3, 1]))
    assert obs.shape == (2, 4)
    assert [info["env_id"] for info in infos] == [3, 1]
    with pytest.raises(RuntimeError, match=r"reset rows \[0, 2, 4\]"):
        env.step(np.zeros(5, np.int64))
    env.reset([0, 2, 4])
    assert env.step(np.zeros(5, np.int64))[1].tolist() == [1] * 5


def test_rows_left_out_for_a_whole_episode_do_no_harm(make) -> None:
    env = make(max_episode_steps=4)
    env.reset(seed=1)
    for step in range(4):
        *_, truncated, _ = env.step(np.zeros(1, np.int64), id=[2])
        assert truncated.tolist() == [step == 3]
    env.reset([2])
    env.step(np.zeros(1, np.int64), id=[2])
    env.reset([0, 1, 3, 4])
    for _ in range(3):
        *_, truncated, _ = env.step(np.zeros(5, np.int64))
    assert truncated.tolist() == [False, False, True, False, False]


def test_stepping_an_ended_row_is_an_error(make) -> None:
    env = make(max_episode_steps=1)
    env.reset(seed=1)
    env.step(np.zeros(5, np.int64))
    with pytest.raises(gpu_envs.ResetNeeded):
        env.step(np.zeros(5, np.int64))


def test_a_reset_of_some_rows_leaves_the_others_alone(make) -> None:
    env, twin = make(), make()
    for each in (env, twin):
        each.reset(seed=4)
        each.step(np.zeros(5, np.int64))
    assert env.reset([1, 3])[0].shape == (2, 4)
    moved, untouched = env.step(np.ones(5, np.int64))[0], twin.step(np.ones(5, np.int64))[0]
    same = (moved == untouched).all(1)
    assert same.tolist() == [True, False, True, False, True]


def test_a_seed_is_for_the_next_reset_only(make) -> None:
    env = make()
    env.seed(11)
    first, second = env.reset()[0], env.reset()[0]
    assert np.array_equal(first, env.reset(seed=11)[0])
    assert not np.array_equal(first, second)


def test_agents_of_a_world_are_rows_that_stay_together(make) -> None:
    env = make("Overcooked-v0", 3, layout="cramped_room")
    assert len(env) == 6
    env.reset(seed=1)
    with pytest.raises(ValueError, match="whole worlds of 2 agents"):
        env.step(np.zeros(1, np.int64), id=[2])
    assert env.step(np.zeros(2, np.int64), id=[2, 3])[0].shape[0] == 2


def test_a_policy_that_knows_masks_plays_only_legal_cards(make) -> None:
    env = make("Hanabi-v0", 4, preset="very_small")
    size = env.observation_space[0]["obs"].shape[0]
    policy = greedy(env, size)
    policy.set_eps_training(1.0)
    collector = Collector(policy, env, VectorReplayBuffer(4000, len(env)), exploration_noise=True)
    env.seed(3)
    collector.reset()
    collector.collect(n_step=1600)  # an illegal action would raise in check()
    stored = collector.buffer[np.arange(200)]
    assert stored.obs.mask[np.arange(200), stored.act].all()
    assert collector.buffer.done.sum() > 10


@pytest.mark.parametrize("keyword", ["autoreset_mode", "final_rows", "outputs", "reuse"])
def test_what_collectors_decide_cannot_be_chosen(make, keyword: str) -> None:
    with pytest.raises(TypeError, match=keyword):
        make(**{keyword: None})


@pytest.mark.slow
@pytest.mark.parametrize(("target", "budget", "seed"), [(195, 100_000, 1), (475, 500_000, 2)])
def test_ppo_reaches_its_target_within_its_samples(example, target, budget, seed) -> None:
    mean, samples = example.train(
        "CartPole-v0", budget, seed=seed, target=target, device="cpu", threads=1
    )
    assert samples <= budget
    assert mean >= target


# Agents that end before their world


def test_parameters_of_each_world_are_attributes(make) -> None:
    env = make(num_envs=3, varies=("mass",))
    env.reset()
    env.set_env_attr("mass", [1.0, 2.0, 3.0])
    assert env.get_env_attr("mass") == [1, 2, 3] and env.get_env_attr("mass", [2, 0]) == [3, 1]
    env.set_env_attr("force", 5)
    assert env.get_env_attr("force", 1) == [5]
    assert env.get_env_attr("num_worlds") == [3] * 3


@pytest.mark.usefixtures("troupe")
@pytest.mark.parametrize("name", EARLY)
def test_rows_are_done_with_their_world_and_reset_together(make, name) -> None:
    env = make(name, 5, **EARLY[name])
    chance = Chance(env.env.single_action_space)
    seen, _ = env.reset(seed=3)
    episodes, ends = Episodes(env.env), 0
    for _ in range(60):
        mask = getattr(seen, "mask", None)
        seen, _, terminated, truncated, _ = env.step(chance(len(env), mask))
        done = terminated | truncated
        over = env.env.simulator.get("world.over").ravel().repeat(env.env.agents_per_world)
        assert np.array_equal(done, over != 0)
        if done.any():
            env.reset(np.flatnonzero(done))
            ends += 1
        assert np.array_equal(episodes.changed(), done)
    assert ends >= 3


@pytest.mark.usefixtures("troupe")
def test_a_collector_follows_agents_that_leave(make) -> None:
    env = make("Troupe-v0", 5, max_episode_steps=20)
    size = env.observation_space[0]["obs"].shape[0]
    rows = len(env)
    collector = Collector(greedy(env, size), env, VectorReplayBuffer(rows * 90, rows))
    env.seed(1)
    collector.reset()
    collector.collect(n_step=rows * 90)
    done = collector.buffer.done[: rows * 90].reshape(5, -1, 90)
    assert done.any() and (done == done[:, :1]).all()


# Roles


def test_rows_of_one_role_are_collected_while_others_play(make, troupe) -> None:
    env = make(troupe, 3, role="drummer")
    assert (env.env_num, int(env.action_space[0].n)) == (6, 5)
    collector = Collector(greedy(env, 9), env, VectorReplayBuffer(6 * 60, 6))
    env.seed(1)
    collector.reset()
    result = collector.collect(n_step=6 * 60)
    assert result.n_collected_episodes == 12  # two episodes of each row
    assert {int(length) for length in result.lens} == {25}
    assert collector.buffer.truncated.sum() == 12
    env.env.check()


def test_agents_that_leave_early_are_refused_in_words(make, troupe) -> None:
    env = make(troupe, 2)
    collector = Collector(greedy(env, 9), env, VectorReplayBuffer(12 * 60, 12))
    env.seed(1)
    collector.reset()
    with pytest.raises(ValueError, match="leave before their world ends"):
        collector.collect(n_step=12 * 30)
    seen = env.reset()[0]
    assert seen.mask.shape == (12, 5)
    assert seen.mask.any(-1).all() and not seen.mask[2::6, 3:].any()
