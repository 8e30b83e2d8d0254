"""PPO with TorchRL's collector, GAE and clipped loss, on any environment of one agent per world.

    python examples/torchrl_ppo.py --env CartPole-v0 --steps 100000 --seed 0

Nothing here knows gpu_envs but the line that makes the environment. The settings are those of
CleanRL's `ppo.py` for CartPole (its network too) with more worlds, shorter rollouts, more epochs
and a larger learning rate.
"""

from __future__ import annotations

import argparse
import time

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Categorical as CategoricalSpec
from torchrl.envs import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from gpu_envs.integrations.torchrl import TorchRLEnv

WORLDS = 32
ROLLOUT = 64  # steps of every world per update
EPOCHS = 8
MINIBATCH = 256
LEARNING_RATE = 1e-3
DISCOUNT = 0.99
GAE_LAMBDA = 0.95


class Flat(nn.Module):
    """Two hidden layers over an observation of any shape and element type."""

    def __init__(self, shape: torch.Size, outputs: int, last_gain: float) -> None:
        super().__init__()
        self.axes = len(shape)
        layers = [nn.Linear(shape.numel(), 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
        for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
        first, second, last = layers
        self.layers = nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), last)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch of observations."""
        return self.layers(observation.flatten(-self.axes).float())


def networks(env: TorchRLEnv) -> tuple[ProbabilisticActor, ValueOperator]:
    """Make a policy, masked where the environment has a mask, and a value function."""
    if not isinstance(env.action_spec, CategoricalSpec) or env.batch_size != env.action_spec.shape:
        raise SystemExit("this example is for discrete actions and one agent per world")
    shape = env.observation_spec["observation"].shape[1:]
    masked = "action_mask" in env.observation_spec.keys()
    actor = ProbabilisticActor(
        TensorDictModule(
            Flat(shape, env.action_spec.n, 0.01), in_keys=["observation"], out_keys=["logits"]
        ),
        in_keys={"logits": "logits", "mask": "action_mask"} if masked else ["logits"],
        distribution_class=MaskedCategorical if masked else torch.distributions.Categorical,
        return_log_prob=True,
    )
    return actor.to(env.device), ValueOperator(Flat(shape, 1, 1.0)).to(env.device)


def evaluate(name: str, actor: ProbabilisticActor, episodes: int, seed: int) -> float:
    """Return the mean return of as many whole episodes, the likeliest action taken always."""
    env = TorchRLEnv(name, episodes)
    env.set_seed(seed)
    limit = env.simulator.max_episode_steps or 1000
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        played = env.rollout(limit, actor, break_when_any_done=False)["next"]
    env.close()
    ended = played["done"].cumsum(1) - played["done"].int()  # how many episodes ended before
    return float((played["reward"] * (ended == 0)).sum(1).mean())


def train(name: str, steps: int, seed: int, stop_at: float = float("inf")) -> tuple[float, int]:
    """Train for as many steps, or until 100 evaluation episodes reach `stop_at`.

    Returns:
        The mean return of 100 evaluation episodes, and the steps it took.
    """
    torch.manual_seed(seed)
    env = TorchRLEnv(name, WORLDS)
    env.set_seed(seed)
    actor, critic = networks(env)
    advantage = GAE(gamma=DISCOUNT, lmbda=GAE_LAMBDA, value_network=critic, average_gae=False)
    loss = ClipPPOLoss(
        actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=0.5,
        normalize_advantage=True, loss_critic_type="l2",
    )  # fmt: skip
    optimiser = torch.optim.Adam(loss.parameters(), LEARNING_RATE, eps=1e-5)
    batch = WORLDS * ROLLOUT
    steps = -(-steps // batch) * batch
    collector = Collector(
        env, actor, frames_per_batch=batch, total_frames=steps,
        auto_register_policy_transforms=False,
    )  # fmt: skip
    taken, since = 0, time.monotonic()
    mean = 0.0
    for data in collector:
        for group in optimiser.param_groups:
            group["lr"] = LEARNING_RATE * (1 - taken / steps)
        taken += batch
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(data)
            rows = data.reshape(-1)
            for picked in torch.randperm(batch, device=env.device).split(MINIBATCH):
                losses = loss(rows[picked])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimiser.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimiser.step()
        if taken // batch % 5 == 0 or taken >= steps:
            mean = evaluate(name, actor, 100, seed + 1)
            print(f"{taken:>8} steps  {time.monotonic() - since:5.1f} s  mean return {mean:.1f}")
            if mean >= stop_at:
                break
    collector.shutdown()
    return mean, taken


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v0", help="environment of one agent per world")
    parser.add_argument("--steps", type=int, default=100_000, help="steps over all worlds")
    parser.add_argument("--seed", type=int, default=0, help="of networks and worlds")
    options = parser.parse_args()
    mean, taken = train(options.env, options.steps, options.seed)
    print(f"{options.env}: mean return {mean:.1f} over 100 episodes after {taken} steps")


if __name__ == "__main__":
    main()
