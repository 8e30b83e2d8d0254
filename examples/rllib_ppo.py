#!/usr/bin/env python3
"""Trains with RLlib's PPO (new API stack), on this machine or on a Ray cluster.

    python examples/rllib_ppo.py --env CartPole-v0 --iterations 75 --env-runners 2 --seed 1

Needs `pip install "ray[rllib]"`. The settings are those of RLlib's tuned PPO for CartPole
(rllib/examples/algorithms/ppo/cartpole_ppo.py, which asks for 450 within 300,000 samples) with
more worlds. An iteration is 4,000 samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from gpu_envs.integrations import rllib

ROWS, EPISODES = 20, 100  # rows of each runner; evaluation episodes
SAMPLED = "num_env_steps_sampled_lifetime"


def make_ppo(env: str, env_runners: int = 0, seed: int = 1, **parameters: Any) -> PPO:
    """Return PPO whose samples come from this process, or from `env_runners` others."""
    torch.set_num_threads(1)  # networks this small only wait for the other threads
    config = rllib.configure(PPOConfig(), env, threads=1, **parameters)
    config.env_runners(num_env_runners=env_runners, num_envs_per_env_runner=ROWS)
    config.training(lr=0.0003, num_epochs=6, vf_loss_coeff=0.01, train_batch_size_per_learner=4000)
    config.rl_module(
        model_config=DefaultModelConfig(
            fcnet_hiddens=[32], fcnet_activation="linear", vf_share_layers=True
        )
    )
    config.evaluation(  # in this process, when asked for; RLlib seeds it apart from training
        evaluation_interval=10**9,
        evaluation_num_env_runners=0,
        evaluation_duration=EPISODES,
        evaluation_config={"explore": False},
    )
    return config.debugging(seed=seed).build_algo()


def train(
    algorithm: PPO,
    iterations: int,
    target: float = float("inf"),
    report: Callable[[str], None] = lambda line: None,
) -> int:
    """Train until the mean return of training episodes is `target`; the samples it took."""
    result: dict[str, Any] = {}
    for _ in range(iterations):
        result = algorithm.train()["env_runners"]
        mean = result.get("episode_return_mean", float("nan"))
        report(f"{int(result[SAMPLED])} samples: mean return {mean:.1f}")
        if mean >= target:
            break
    return int(result[SAMPLED])


def evaluate(algorithm: PPO) -> float:
    """Return the mean return of 100 fresh episodes, without exploration."""
    return float(algorithm.evaluate()["env_runners"]["episode_return_mean"])


def main() -> None:
    """Train by the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="id of the environment")
    parser.add_argument("--iterations", type=int, default=100, help="at most; 4,000 samples each")
    parser.add_argument("--target", type=float, default=475, help="mean return at which to stop")
    parser.add_argument("--env-runners", type=int, default=0, help="processes that sample; 0: this")
    parser.add_argument("--seed", type=int, default=1, help="of worlds, weights and samples")
    options = parser.parse_args()
    algorithm = make_ppo(options.env, options.env_runners, options.seed)
    samples = train(algorithm, options.iterations, options.target, print)
    mean = evaluate(algorithm)
    algorithm.stop()
    print(f"mean return over {EPISODES} episodes after {samples} samples: {mean:.1f}")


if __name__ == "__main__":
    main()
