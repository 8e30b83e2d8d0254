"""Files of policies that nobody has trained, and episodes that policies play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from gpu_envs import VectorEnv
from gpu_envs.policies import saved
from gpu_envs.policies.distributions import of_space
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.sharing import groups
from gpu_envs.train import evaluate, worlds
from gpu_envs.train.config import make


def write(path: Path, env: str, parameters: dict[str, Any] | None = None, **choices: Any) -> Path:
    """Write a file with fresh policies of those agents that learn."""
    choices = {"hidden": "4", **choices, "parameters": parameters or {}}
    config = make(env, **choices)
    alone = worlds.for_evaluation(config, "cpu", 1)
    shape = RowShape.of(alone.simulator)
    actions = of_space(alone.single_action_space, torch.device("cpu"))
    names = groups(config.policies, alone.agent_names, config.learn)
    policies = {name: Policy(shape, actions, config) for name in names}
    saved.save(path, config, alone.simulator, policies, {"score": 1.0, "steps": 2})
    alone.close()
    return path


def played(env: VectorEnv, policies: list[Any], seed: int = 1, **choices: Any) -> Any:
    """Play an episode in every world, by the first policy unless `seats` says who plays whom."""
    agents = env.agents_per_world
    of_row = evaluate.rows_of(choices.pop("seats", [0] * agents), env.num_worlds, "cpu")
    return evaluate.play(env, policies, of_row, seed=seed, **choices)
