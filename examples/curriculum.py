"""A curriculum that sets its own level: poles from very short to very long on CartPole.

    python examples/curriculum.py --rounds 60

Each world draws the length of its pole from the range of the present level, at each of its resets.
When policies hold most of their poles, the level rises and the range grows. The learner is the
cross-entropy method (Rubinstein, 1999) on a linear policy: each round tries a population, a few
worlds each, and moves to the best of it. At the end the policy is tried on lengths of all levels,
beside one that was trained as long on the usual length alone.
"""

from __future__ import annotations

import argparse

import numpy as np

import gpu_envs

ENV = "CartPole-v0"
POPULATION, ELITE, WORLDS = 64, 8, 8  # policies, those that are kept, worlds of each
STEPS = 300  # of an episode
TOP = 6  # the last level
PASSED = 0.9  # share of the highest return at which the level rises


def range_of(level: int) -> gpu_envs.core.ranges.Range:
    """Return the range of half lengths [m] of a level; level 0 is the usual length."""
    factor = 1.6**level
    return gpu_envs.log_uniform(0.5 / factor, 0.5 * factor)


def make(worlds: int) -> gpu_envs.VectorEnv:
    """Return worlds whose lengths differ; a world that is over rests until the next round."""
    return gpu_envs.make_vec(
        ENV,
        worlds,
        device="cpu",
        autoreset_mode="Disabled",
        max_episode_steps=STEPS,
        varies=("length",),
    )


def play(env: gpu_envs.VectorEnv, weights: np.ndarray, seed: int) -> np.ndarray:
    """Return how long each world lasts; `weights` has a row for each."""
    obs, _ = env.reset(seed=seed)
    lasted = np.zeros(len(weights))
    over = np.zeros(len(weights), bool)
    for _ in range(STEPS):
        actions = (np.einsum("wk,wk->w", obs, weights) > 0).astype(int)
        obs, reward, terminated, truncated, _ = env.step(actions)
        lasted += np.where(over, 0, reward)
        over |= terminated | truncated
        if over.all():
            break
    return lasted


def learn(rounds: int, seed: int, top: int = TOP) -> tuple[np.ndarray, list[int]]:
    """Return the weights of a policy, and the level of each round."""
    rng = np.random.default_rng(seed)
    env = make(POPULATION * WORLDS)
    mean, spread = np.zeros(4), np.ones(4)
    level, levels = 0, []
    for round_ in range(rounds):
        env.set_parameters(length=range_of(level))
        tried = mean + spread * rng.normal(size=(POPULATION, 4))
        lasted = play(env, np.repeat(tried, WORLDS, axis=0), seed=1000 * seed + round_)
        returns = lasted.reshape(POPULATION, WORLDS).mean(axis=1)
        best = np.argsort(returns)[-ELITE:]
        mean = tried[best].mean(axis=0)
        spread = tried[best].std(axis=0) + 0.1
        levels.append(level)
        if returns[best].mean() >= PASSED * STEPS:
            level = min(level + 1, top)
    env.close()
    return mean, levels


def measure(weights: np.ndarray, worlds: int = 512) -> float:
    """Return the mean number of steps on lengths of the last level."""
    env = make(worlds)
    env.set_parameters(length=range_of(TOP))
    lasted = play(env, np.tile(weights, (worlds, 1)), seed=99)
    env.close()
    return float(lasted.mean())


def main() -> None:
    """Train both ways and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60, help="rounds of learning, default 60")
    parser.add_argument("--seed", type=int, default=1, help="seed of the run, default 1")
    given = parser.parse_args()
    weights, levels = learn(given.rounds, given.seed)
    plain, _ = learn(given.rounds, given.seed, top=0)
    print("levels by round:", " ".join(map(str, levels)))
    print(
        f"steps on all lengths, of {STEPS}: {measure(weights):.0f} with the curriculum, "
        f"{measure(plain):.0f} without"
    )


if __name__ == "__main__":
    main()
