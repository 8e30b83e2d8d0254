#!/usr/bin/env python3
"""Trains with Stable-Baselines3's PPO, or MaskablePPO where the environment has an action mask.

    python examples/stable_baselines3_ppo.py --env CartPole-v0 --seed 1

Needs `pip install stable-baselines3 sb3-contrib`. The settings are those of RL Baselines3 Zoo for
PPO on CartPole-v1 (its hyperparams/ppo.yml).
"""

from __future__ import annotations

import argparse
from typing import Any

import torch

from gpu_envs.integrations.stable_baselines3 import SB3VecEnv

WORLDS, EVALUATION_WORLDS, EPISODES = 8, 20, 100


def settings(seed: int) -> dict[str, Any]:
    """Return the arguments of PPO; both schedules fall linearly to zero."""
    return {
        "n_steps": 32,
        "batch_size": 256,
        "n_epochs": 20,
        "gamma": 0.98,
        "gae_lambda": 0.8,
        "ent_coef": 0.0,
        "learning_rate": lambda remaining: 1e-3 * remaining,
        "clip_range": lambda remaining: 0.2 * remaining,
        "seed": seed,
        "device": "cpu",
    }


def train(env: str, steps: int, seed: int, **parameters: Any) -> tuple[Any, float]:
    """Train on `steps` samples and return the model and its mean return over 100 episodes."""
    torch.set_num_threads(1)  # networks this small only wait for the other threads
    rows = SB3VecEnv(env, WORLDS, **parameters)
    if rows.has_attr("action_masks"):
        from sb3_contrib import MaskablePPO as Algorithm
        from sb3_contrib.common.maskable.evaluation import evaluate_policy
    else:
        from stable_baselines3 import PPO as Algorithm
        from stable_baselines3.common.evaluation import evaluate_policy
    kind = "MultiInputPolicy" if hasattr(rows.observation_space, "spaces") else "MlpPolicy"
    model = Algorithm(kind, rows, **settings(seed)).learn(steps)
    fresh = SB3VecEnv(env, EVALUATION_WORLDS, **parameters)
    fresh.seed(seed + 1)
    mean, _ = evaluate_policy(model, fresh, EPISODES)
    rows.close()
    fresh.close()
    return model, float(mean)


def main() -> None:
    """Train by the command line and save the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="id of the environment")
    parser.add_argument("--steps", type=int, default=100_000, help="samples, over all rows")
    parser.add_argument("--seed", type=int, default=1, help="of worlds, weights and samples")
    parser.add_argument("--out", help="file for the model; default: it is not kept")
    options = parser.parse_args()
    model, mean = train(options.env, options.steps, options.seed)
    if options.out:
        model.save(options.out)
    print(f"mean return over {EPISODES} episodes after {options.steps} samples: {mean:.1f}")


if __name__ == "__main__":
    main()
