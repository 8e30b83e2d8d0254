#!/usr/bin/env python3
"""Trains with Tianshou's PPO.

    python examples/tianshou_ppo.py --env CartPole-v0 --seed 1

Needs `pip install tianshou`. The settings are those of Tianshou's own test of PPO on CartPole
(test/discrete/test_ppo_discrete.py). For environments with discrete actions and without a mask.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from gpu_envs.integrations.tianshou import TianshouVectorEnv

WORLDS, EVALUATION_WORLDS, EPISODES = 20, 20, 100
SAMPLES_PER_UPDATE = 2000
SETTINGS = {
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "eps_clip": 0.2,
    "vf_coef": 0.5,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "advantage_normalization": False,
}


def make_ppo(env: TianshouVectorEnv) -> PPO:
    """Return PPO whose actor and critic share two layers of 64 units, initialised orthogonally."""
    observations, actions = env.observation_space[0], env.action_space[0]
    net = Net(state_shape=observations.shape, hidden_sizes=[64, 64])
    actor = DiscreteActor(preprocess_net=net, action_shape=int(actions.n))
    critic = DiscreteCritic(preprocess_net=net)
    for module in (*actor.modules(), *critic.modules()):
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.orthogonal_(module.weight)
            torch.nn.init.zeros_(module.bias)
    policy = DiscreteActorPolicy(actor=actor, action_space=actions, deterministic_eval=True)
    return PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4), **SETTINGS)


def train(env: str, steps: int, seed: int, target: float, **parameters: Any) -> tuple[float, int]:
    """Train until evaluations reach `target`, on `steps` samples at most.

    Returns:
        The mean return of 100 fresh episodes, and the samples that were used.
    """
    torch.set_num_threads(1)  # networks this small only wait for the other threads
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - Tianshou shuffles with it
    rows = TianshouVectorEnv(env, WORLDS, **parameters)
    fresh = TianshouVectorEnv(env, EVALUATION_WORLDS, **parameters)
    rows.seed(seed)
    fresh.seed(seed + 1)
    algorithm = make_ppo(rows)
    updates = steps // SAMPLES_PER_UPDATE
    episodes = -(-EPISODES // len(fresh)) * len(fresh)
    evaluation = Collector[CollectStats](algorithm, fresh)
    buffer = VectorReplayBuffer(SAMPLES_PER_UPDATE, len(rows))
    training = Collector[CollectStats](algorithm, rows, buffer)
    result = algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=training,
            test_collector=evaluation,
            test_step_num_episodes=episodes,
            max_epochs=-(-updates // 5),
            epoch_num_steps=5 * SAMPLES_PER_UPDATE,  # an evaluation after every fifth update
            collection_step_num_env_steps=SAMPLES_PER_UPDATE,
            update_step_num_repetitions=10,
            batch_size=64,
            stop_fn=lambda mean: mean >= target,
            show_progress=False,
        )
    )
    fresh.seed(seed + 2)
    evaluation.reset()
    with torch.no_grad():
        final = evaluation.collect(n_episode=episodes)
    rows.close()
    fresh.close()
    return float(final.returns.mean()), result.train_step


def main() -> None:
    """Train by the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="id of the environment")
    parser.add_argument("--steps", type=int, default=500_000, help="samples at most, over all rows")
    parser.add_argument("--target", type=float, default=475, help="mean return at which to stop")
    parser.add_argument("--seed", type=int, default=1, help="of worlds, weights and samples")
    options = parser.parse_args()
    mean, samples = train(options.env, options.steps, options.seed, options.target)
    print(f"mean return over {EPISODES} episodes after {samples} samples: {mean:.1f}")


if __name__ == "__main__":
    main()
