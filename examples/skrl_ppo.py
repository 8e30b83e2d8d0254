"""PPO with skrl, over its own wrapper for Gymnasium: no adapter of ours.

    python examples/skrl_ppo.py --env CartPole-v0 --steps 100000 --seed 0

Every agent of an environment is a row of the batch. The settings are those of CleanRL's `ppo.py`
for CartPole (its network too) with more worlds, shorter rollouts, more epochs and a larger learning
rate; only how the time limit is treated is skrl's own.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from skrl.agents.torch.ppo import PPO
from skrl.envs.wrappers.torch import Wrapper, wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn
from torch.optim.lr_scheduler import LinearLR

import gpu_envs

WORLDS = 32
ROLLOUT = 64  # steps of every world per update
SETTINGS = {
    "rollouts": ROLLOUT,
    "learning_epochs": 8,
    "mini_batches": 8,
    "discount_factor": 0.99,
    "gae_lambda": 0.95,
    "learning_rate": 1e-3,
    "learning_rate_scheduler": LinearLR,  # its length is set below
    "grad_norm_clip": 0.5,
    "entropy_loss_scale": 0.01,
    "value_loss_scale": 0.5,
    "value_clip": 0.0,  # the values of CartPole are far from 1, which is what skrl's 0.2 is for
    "time_limit_bootstrap": True,  # else advantages run over the time limit into the next episode
    "experiment": {"write_interval": 0, "checkpoint_interval": 0},  # leave these out to get files
}


def layers(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Return two hidden layers of 64 units and one of outputs."""
    parts = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, gain in zip(parts, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(parts[0], nn.Tanh(), parts[1], nn.Tanh(), parts[2])


class Policy(CategoricalMixin, Model):
    """Logits of the actions; skrl 2.1 has no masks."""

    def __init__(self, env: Wrapper) -> None:
        Model.__init__(
            self, observation_space=env.observation_space, action_space=env.action_space,
            device=env.device,
        )  # fmt: skip
        CategoricalMixin.__init__(self)
        self.layers = layers(self.num_observations, self.num_actions, 0.01)

    def compute(
        self, inputs: dict[str, Any], role: str = ""
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits."""
        return self.layers(inputs["observations"].float()), {}


class Value(DeterministicMixin, Model):
    """The value of an observation."""

    def __init__(self, env: Wrapper) -> None:
        Model.__init__(
            self, observation_space=env.observation_space, action_space=env.action_space,
            device=env.device,
        )  # fmt: skip
        DeterministicMixin.__init__(self)
        self.layers = layers(self.num_observations, 1, 1.0)

    def compute(
        self, inputs: dict[str, Any], role: str = ""
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the value."""
        return self.layers(inputs["observations"].float()), {}


def evaluate(name: str, policy: Policy, episodes: int, seed: int) -> float:
    """Return the mean return of an episode of each world, the likeliest action taken always."""
    env = gpu_envs.VectorEnv(
        name, episodes, device="cpu", arrays="torch", autoreset_mode="Disabled"
    )
    obs, _ = env.reset(seed=seed)
    returns = torch.full((env.num_envs,), torch.nan)
    while returns.isnan().any():
        with torch.no_grad():
            logits, _ = policy.compute({"observations": obs.flatten(1).to(policy.device)})
        obs, _, _, _, infos = env.step(logits.argmax(-1).cpu())
        ended = infos["_episode_stats"]
        returns[ended] = infos["episode_stats"]["r"][ended]
    env.close()
    return float(returns.mean())


def train(name: str, steps: int, seed: int) -> float:
    """Train for as many steps of a row, and return the mean return of 100 evaluation episodes."""
    set_seed(seed)
    env = wrap_env(gpu_envs.VectorEnv(name, WORLDS))
    updates = max(1, steps // (env.num_envs * ROLLOUT))
    fall = {
        "start_factor": 1.0,
        "end_factor": 0.0,
        "total_iters": updates * SETTINGS["learning_epochs"],
    }
    models = {"policy": Policy(env), "value": Value(env)}
    agent = PPO(
        models=models,
        memory=RandomMemory(memory_size=ROLLOUT, num_envs=env.num_envs, device=env.device),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device=env.device,
        cfg=SETTINGS | {"learning_rate_scheduler_kwargs": fall},
    )
    plan = {"timesteps": updates * ROLLOUT, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=plan).train()
    env.close()
    return evaluate(name, models["policy"], 100, seed + 1)


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="environment with discrete actions")
    parser.add_argument("--steps", type=int, default=100_000, help="steps over all rows")
    parser.add_argument("--seed", type=int, default=0, help="of networks and worlds")
    options = parser.parse_args()
    mean = train(options.env, options.steps, options.seed)
    print(f"{options.env}: mean return {mean:.1f} over 100 episodes after {options.steps} steps")


if __name__ == "__main__":
    main()
