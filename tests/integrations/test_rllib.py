"""RLlib over gpu_envs: true episodes, worlds of each runner, refusals, and real training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs

pytest.importorskip("ray.rllib", reason="needs RLlib: scripts/integration rllib")
pytestmark = pytest.mark.slow

import ray  # noqa: E402  # after the check that it is there
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig  # noqa: E402

from gpu_envs.integrations import rllib  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
ROWS, SEED = 4, 5


@pytest.fixture
def example(example: Any) -> Any:
    yield example
    ray.shutdown()


def configured(name: str = "CartPole-v0", rows: int = ROWS, seed: int = SEED, **keywords: Any):
    config = rllib.configure(PPOConfig(), name, **keywords)
    return config.env_runners(num_envs_per_env_runner=rows).debugging(seed=seed)


def first_observations(runner: Any) -> np.ndarray:
    """What a fresh runner's rows saw first: the start of one chunk for each row, in their order."""
    rows = runner.config.num_envs_per_env_runner
    chunks = runner.sample(num_timesteps=rows, random_actions=True)
    assert len(chunks) == rows
    return np.stack([chunk.get_observations(0) for chunk in chunks])


def test_every_stored_episode_is_the_true_one() -> None:
    ended: list[tuple[int, Any]] = []
    config = configured().callbacks(
        on_episode_end=lambda *, episode, env_index, **_: ended.append((env_index, episode))
    )
    runner = rllib.EnvRunner(config=config)
    runner.sample(num_timesteps=1500, random_actions=True)
    runner.stop()
    assert len(ended) > 40
    for row in range(ROWS):
        plain = gpu_envs.VectorEnv("CartPole-v0", first_world=row, device="cpu")
        obs, _ = plain.reset(seed=SEED)
        for episode in (each for index, each in ended if index == row):
            seen = episode.get_observations()
            assert len(seen) == len(episode) + 1
            for step, action in enumerate(episode.get_actions()):
                assert np.array_equal(seen[step], obs[0])
                obs, reward, terminated, truncated, infos = plain.step(np.array([action]))
                assert episode.get_rewards(step) == reward[0]
                # It ends where the true one ends, and not before.
                assert (terminated | truncated)[0] == (step == len(episode) - 1)
            assert np.array_equal(seen[-1], infos["final_obs"][0])
            assert infos["episode_stats"]["l"][0] == len(episode)
            assert (episode.is_terminated, episode.is_truncated) == (terminated[0], truncated[0])
        plain.close()


def test_episodes_cut_by_the_time_limit_have_exactly_that_many_steps() -> None:
    runner = rllib.EnvRunner(config=configured(max_episode_steps=7))
    episodes = runner.sample(num_episodes=40, random_actions=True)
    runner.stop()
    done = [episode for episode in episodes if episode.is_done]
    assert len(done) == 40
    assert {len(episode) for episode in done} == {7}
    assert all(episode.is_truncated and not episode.is_terminated for episode in done)


def test_rows_are_worlds_times_agents() -> None:
    config = configured("Overcooked-v0", 6, layout="cramped_room", dtype="float32")
    # RLlib casts no observations, and has no convolutions of its own for planes of this size.
    config.rl_module(model_config=DefaultModelConfig(conv_filters=[[16, [3, 3], 1]]))
    runner = rllib.EnvRunner(config=config)
    runner.sample(num_timesteps=60)  # with actions of the network
    assert runner.env.unwrapped.num_worlds == 3
    runner.make_env()
    assert first_observations(runner).shape == (6, 5, 4, 26)
    runner.stop()


def test_a_remainder_of_rows_is_refused() -> None:
    config = configured("Overcooked-v0", 5, layout="cramped_room")
    with pytest.raises(ValueError, match="multiple of 2, the agents in a world of Overcooked-v0"):
        rllib.EnvRunner(config=config)


def test_runners_of_neighbouring_seeds_have_different_worlds() -> None:
    second = rllib.EnvRunner(config=configured(seed=1), worker_index=2, num_workers=2)
    first = rllib.EnvRunner(config=configured(seed=2), worker_index=1, num_workers=2)
    assert second._seed == first._seed  # what RLlib alone would tell them apart by
    assert not (first_observations(second) == first_observations(first)).all(1).any()
    first.stop()
    second.stop()


def test_a_runner_that_makes_its_environment_again_keeps_its_worlds() -> None:
    runner = rllib.EnvRunner(config=configured(), worker_index=2, num_workers=2)
    before = first_observations(runner)
    runner.make_env()
    assert np.array_equal(first_observations(runner), before)
    runner.stop()


def test_two_processes_sample_the_worlds_that_are_theirs(example) -> None:
    algorithm = example.make_ppo("CartPole-v0", env_runners=2, seed=SEED, device="cpu")
    seen = algorithm.env_runner_group.foreach_env_runner(first_observations, local_env_runner=False)
    assert len(seen) == 2
    for number, observations in enumerate(seen, start=1):
        plain = gpu_envs.VectorEnv(
            "CartPole-v0", example.ROWS, first_world=number * example.ROWS, device="cpu"
        )
        assert np.array_equal(observations, plain.reset(seed=SEED + number)[0])
        plain.close()
    assert not (seen[0] == seen[1]).all(1).any()
    before = example.train(algorithm, 1)
    assert example.train(algorithm, 1) >= before + 4000
    algorithm.stop()


@pytest.mark.parametrize("keyword", ["arrays", "autoreset_mode", "num_envs", "reuse"])
def test_what_rllib_decides_cannot_be_chosen(keyword: str) -> None:
    with pytest.raises(TypeError, match=keyword):
        rllib.configure(PPOConfig(), "CartPole-v0", **{keyword: None})


def test_another_way_to_make_the_environment_is_refused() -> None:
    config = configured().env_runners(gym_env_vectorize_mode="sync")
    with pytest.raises(ValueError, match=r"use configure\(\)"):
        rllib.EnvRunner(config=config)


# RLlib asks 450 within 300,000 samples of its own CartPole with these settings.
@pytest.mark.parametrize(("target", "iterations"), [(195, 50), (475, 150)])
def test_ppo_trains(example, target: int, iterations: int) -> None:
    algorithm = example.make_ppo("CartPole-v0", seed=1, device="cpu")
    samples = example.train(algorithm, iterations, target)
    mean = example.evaluate(algorithm)
    algorithm.stop()
    assert samples <= iterations * 4200  # a batch ends with whole steps of all rows
    assert mean >= target
