"""PPO on a batch of CartPoles: a script for Gymnasium's vector environments, moved to gpu_envs.

    python examples/moving/gymnasium_ppo.py
    python examples/moving/gymnasium_ppo.py --seed 2 --steps 50000

It needs PyTorch. docs/moving.md shows the lines that changed.
"""

from __future__ import annotations

import argparse
from collections import deque

import gymnasium
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import gpu_envs  # noqa: F401  registers the environments

NUM_ENVS, ROLLOUT, EPOCHS, MINIBATCH = 64, 32, 8, 256
GAMMA, TRACE, CLIP, GOAL = 0.99, 0.95, 0.2, 475.0


def network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    """Return two hidden layers and one of outputs."""
    layers = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


def advantages(rewards: Tensor, values: Tensor, ended: Tensor, after: Tensor) -> Tensor:
    """Return generalised advantages, a line per step; `after` is the value behind the last one."""
    found, later = torch.zeros_like(rewards), torch.zeros_like(after)
    for t in reversed(range(len(rewards))):
        surprise = rewards[t] + GAMMA * ~ended[t] * after - values[t]
        later = surprise + GAMMA * TRACE * ~ended[t] * later
        found[t], after = later, values[t]
    return found


def main(arguments: list[str] | None = None) -> float:
    """Train, and return the mean return of the last 100 episodes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400_000, help="of all environments together")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    envs = gymnasium.make_vec(
        "gpu_envs/CartPole-v0", num_envs=NUM_ENVS, device="cpu", arrays="torch"
    )
    inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    policy, critic = network(inputs, actions, 0.01), network(inputs, 1, 1.0)
    adam = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=2e-3)
    seen = torch.zeros(ROLLOUT, NUM_ENVS, inputs)
    drawn, logs, values, rewards = torch.zeros(4, ROLLOUT, NUM_ENVS)
    ended = torch.zeros(ROLLOUT, NUM_ENVS, dtype=torch.bool)

    last: deque[float] = deque(maxlen=100)
    obs, infos = envs.reset(seed=options.seed)
    for update in range(options.steps // (ROLLOUT * NUM_ENVS)):
        for t in range(ROLLOUT):
            seen[t] = obs
            with torch.no_grad():
                choice = Categorical(logits=policy(seen[t]))
                drawn[t] = choice.sample()
                logs[t], values[t] = choice.log_prob(drawn[t]), critic(seen[t]).squeeze(1)
            obs, reward, terminated, truncated, infos = envs.step(drawn[t].int())
            rewards[t], ended[t] = reward, terminated | truncated
            with torch.no_grad():  # what was still to come where the time limit cut an episode
                beyond = critic(infos["final_obs"]).squeeze(1)
            rewards[t] += GAMMA * beyond * (truncated & ~terminated)
            last.extend(infos["episode_stats"]["r"][infos["_episode_stats"]].tolist())

        with torch.no_grad():
            after = critic(obs).squeeze(1)
        gains = advantages(rewards, values, ended, after)
        rows = [a.flatten(0, 1) for a in (seen, drawn, logs, gains, gains + values)]
        for _ in range(EPOCHS):
            for part in torch.randperm(len(rows[0])).split(MINIBATCH):
                saw, did, log, gain, target = (a[part] for a in rows)
                ratio = (Categorical(logits=policy(saw)).log_prob(did) - log).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                better = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
                loss = 0.5 * (critic(saw).squeeze(1) - target) ** 2 - better
                adam.zero_grad()
                loss.mean().backward()
                adam.step()

        mean = sum(last) / max(len(last), 1)
        if update % 10 == 9 or mean >= GOAL:
            print(f"{(update + 1) * ROLLOUT * NUM_ENVS:>8,} steps  mean return {mean:.1f}")
        if mean >= GOAL:
            break
    envs.close()
    return sum(last) / max(len(last), 1)


if __name__ == "__main__":
    main()
