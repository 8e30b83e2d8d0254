"""Search for a linear policy of CartPole with NumPy: a script for EnvPool, moved to gpu_envs.

    python examples/moving/envpool_search.py
    python examples/moving/envpool_search.py --seed 2 --steps 50000

Each environment plays an episode with a candidate of its own, then takes another one. The best
candidates of a generation say from where the next are drawn (the cross-entropy method).
docs/moving.md shows the lines that changed.
"""

from __future__ import annotations

import argparse

import gymnasium
import numpy as np

import gpu_envs  # noqa: F401  registers the environments

NUM_ENVS, GENERATION, ELITE, GOAL = 64, 128, 16, 475.0


def main(arguments: list[str] | None = None) -> float:
    """Search, and return the mean return of the last generation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1_000_000, help="of all environments together")
    options = parser.parse_args(arguments)
    random = np.random.default_rng(options.seed)

    envs = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=NUM_ENVS, device="cpu")
    mean, spread = np.zeros(4), np.ones(4)
    candidates = random.normal(mean, spread, (NUM_ENVS, 4))
    tried, returns = np.zeros((0, 4)), np.zeros(0)
    played, score = 0, 0.0
    obs, infos = envs.reset(seed=options.seed)
    while played < options.steps and score < GOAL:
        pushes = (obs * candidates).sum(1) > 0
        obs, _, terminated, truncated, infos = envs.step(pushes.astype(np.int32))
        over = terminated | truncated
        returns = np.append(returns, infos["episode_stats"]["r"][over])
        tried = np.append(tried, candidates[over], axis=0)
        candidates[over] = random.normal(mean, spread, candidates[over].shape)
        played += len(obs)
        if len(returns) >= GENERATION:
            best = tried[np.argsort(returns)[-ELITE:]]
            mean, spread, score = best.mean(0), best.std(0) + 0.01, float(returns.mean())
            tried, returns = np.zeros((0, 4)), np.zeros(0)
            print(f"{played:>9,} steps  mean return {score:.1f}")
    envs.close()
    return score


if __name__ == "__main__":
    main()
