"""Defaults per environment: what differs from the defaults of `config.Config`, in one table."""

from __future__ import annotations

from typing import Any

_CARTPOLE = {
    "num_envs": 32,
    "rollout": 32,
    "minibatch": 256,
    "learning_rate": 2e-3,
    "total_steps": 500_000,
    "evaluation_every": 4,
}

_SWARM = {
    "num_envs": 1,
    "rollout": 50,
    "hold_noise": 5,
    "minibatch": 3200,
    "epochs": 2,
    "share": True,
    "activation": "relu",
    "normalize_observations": True,
    "learning_rate": 1.5e-3,
    "gamma": 0.98,
    "gae_lambda": 0.9,
    "entropy": 0.02,
    "total_steps": 3_072_000,
    "evaluation_episodes": 1,
    "sampled_evaluation": True,
}
_TAG = {
    "policies": "role",
    "num_envs": 256,
    "rollout": 32,
    "minibatch": 2048,
    "epochs": 4,
    "learning_rate": 2e-3,
    "gamma": 0.95,
    "gae_lambda": 0.9,
    "entropy": 0.01,
    "entropy_end": 0.001,
    "total_steps": 6_000_000,
    "evaluation_every": 20,
}

PRESETS: dict[str, dict[str, Any]] = {
    "CartPole-v0": _CARTPOLE,
    "CartPole64-v0": _CARTPOLE,
    "CartPoleContinuous-v0": _CARTPOLE,
    # Shaping leads to the first soups and is gone when the rest is learned.
    "Overcooked-v0": {
        "num_envs": 128,
        "minibatch": 2048,
        "epochs": 3,
        "hidden": "128,128",
        "activation": "relu",
        "share": True,
        "entropy": 0.02,
        "entropy_end": 0.002,
        "reward_weights": "shaped=1..0@0.6",
        "total_steps": 4_000_000,
        "evaluation_every": 10,
    },
    "Hanabi-v0": {
        "num_envs": 256,
        "minibatch": 2048,
        "epochs": 4,
        "hidden": "256,256",
        "activation": "relu",
        "share": True,
        "entropy": 0.03,
        "entropy_end": 0.003,
        "gamma": 0.999,
        "total_steps": 20_000_000,
        "evaluation_every": 20,
        "evaluation_episodes": 1000,
    },
    # Metres beside flags: unscaled, the far things would drown the near ones.
    "HideSeek-v0": {
        "policies": "role",
        "num_envs": 128,
        "rollout": 80,
        "minibatch": 2560,
        "epochs": 3,
        "learning_rate": 7e-4,
        "gamma": 0.98,
        "hidden": "128,128",
        "activation": "relu",
        "share": True,
        "normalize_observations": True,
        "entropy": 0.01,
        "entropy_end": 0.002,
        "total_steps": 20_000_000,
        "evaluation_every": 20,
    },
    # A world is a batch by itself. What is tried must last, since a step is short beside the way to
    # the others.
    "Flocking-v0": _SWARM | {"evaluation_every": 5},
    "SwarmTag-v0": _SWARM | {"policies": "role"},
    "TagContinuous-v0": _TAG,
    "TagGrid-v0": _TAG,
    # Nothing to learn: a run shows that it runs.
    "Micro-v0": {"total_steps": 100_000},
}

# Parameters of the evaluation's worlds where they differ from those of training.
EVALUATION: dict[str, dict[str, Any]] = {
    "Overcooked-v0": {"shaping_factor": 0.0},
}
