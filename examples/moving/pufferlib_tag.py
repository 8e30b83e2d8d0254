"""Taggers learn to chase, every agent a row: a script for PufferLib, moved to gpu_envs.

    python examples/moving/pufferlib_tag.py
    python examples/moving/pufferlib_tag.py --seed 2 --steps 100000

All agents of all environments share one policy, which learns by advantage actor-critic. It needs
PyTorch. docs/moving.md shows the lines that changed.
"""

from __future__ import annotations

import argparse
import math

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

import gpu_envs  # noqa: F401  registers the environments

NUM_ENVS, ROLLOUT, GAMMA, ENTROPY = 64, 16, 0.97, 0.01


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Return two hidden layers and one of outputs."""
    return nn.Sequential(
        *(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    )


def main(arguments: list[str] | None = None) -> float:
    """Train, and return the mean reward of a step in the last tenth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1_500_000, help="of all agents together")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    envs = gymnasium.make_vec(
        "gpu_envs/TagGrid-v0",
        num_envs=NUM_ENVS,
        device="cpu",
        arrays="torch",
        role="tagger",
        others="random",
        num_taggers=4,
        grid_length=20,
        use_full_observation=False,
    )
    rows, actions = envs.num_envs, int(envs.single_action_space.n)
    inputs = math.prod(envs.single_observation_space.shape)
    policy, critic = network(inputs, actions), network(inputs, 1)
    adam = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=2e-3)

    means: list[float] = []
    seen, _ = envs.reset(seed=options.seed)
    for update in range(options.steps // (ROLLOUT * rows)):
        logs, values, spreads, rewards, ends = [], [], [], [], []
        for _ in range(ROLLOUT):
            choice = Categorical(logits=policy(seen))
            drawn = choice.sample()
            logs.append(choice.log_prob(drawn))
            spreads.append(choice.entropy())
            values.append(critic(seen).squeeze(1))
            seen, reward, terminal, truncated, _ = envs.step(drawn.int())
            rewards.append(reward)
            ends.append(terminal | truncated)

        target, targets = critic(seen).squeeze(1).detach(), []
        for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
            target = reward + GAMMA * ~end * target
            targets.insert(0, target)
        gain = torch.stack(targets) - torch.stack(values)
        better = torch.stack(logs) * gain.detach() + ENTROPY * torch.stack(spreads)
        loss = (0.5 * gain**2 - better).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

        means.append(float(torch.stack(rewards).mean()))
        if update % 100 == 99:
            mean = sum(means[-100:]) / 100
            print(f"{(update + 1) * ROLLOUT * rows:>9,} steps  mean reward of a step {mean:.3f}")
    envs.close()
    tail = means[-math.ceil(len(means) / 10) :]
    return sum(tail) / max(len(tail), 1)


if __name__ == "__main__":
    main()
