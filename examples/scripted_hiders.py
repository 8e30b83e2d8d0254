"""Hiders without a network: they look about, remember the seekers, and keep walls between them.

    python examples/scripted_hiders.py --worlds 1000

prints in which share of the steps that are paid a hider was seen by seekers that act at random,
and in which share hiders were outside the arena. Hiders that act at random too are seen in about
half of the steps; how near a policy comes to this script says what it has learned. With --still
they do not look about, which costs most of what hiding is worth.

The script lies beside the header of HideSeek; `--policy scripted` plays it too.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np

import gpu_envs  # noqa: F401 - registers the environments
from gpu_envs.players import scripted

HIDERS, SEEKERS = 3, 2
PLAYER = scripted.beside("HideSeek-v0")  # the script: hide_seek_player.py beside the header
TURN, REST = PLAYER.TURN, PLAYER.REST


def measure(worlds: int, seed: int, turn: int = TURN) -> tuple[float, float]:
    """Play one episode in every world; return the shares of steps seen and of steps outside."""
    env = gym.make_vec("gpu_envs/HideSeek-v0", num_envs=worlds, observation="dict")
    is_hider = np.tile(np.arange(HIDERS + SEEKERS) < HIDERS, worlds)
    script, rng = PLAYER.Hiders(worlds, HIDERS, SEEKERS, turn), np.random.default_rng(seed)
    obs, _ = env.reset(seed=seed)
    seen, outside, paid, ended = 0, 0, 0, np.zeros(len(is_hider), bool)
    highs = env.single_action_space.nvec
    while not ended.any():  # all episodes end together
        action = rng.integers(0, highs, (len(is_hider), len(highs)), dtype=np.int32)
        action[is_hider] = script({name: array[is_hider] for name, array in obs.items()})
        obs, reward, terminated, truncated, _ = env.step(action)
        ended = terminated | truncated
        own = reward[is_hider]
        penalised = own < -5
        own = np.where(penalised, own + 10, own)  # the penalty is added to what is paid
        paid, seen = paid + (own != 0).sum(), seen + (own < 0).sum()
        outside += penalised.sum()
    env.close()
    return seen / paid, outside / paid


def main() -> None:
    """Print how well the script hides."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1000, help="episodes (default 1000)")
    parser.add_argument("--seed", type=int, default=99, help="of worlds and seekers (default 99)")
    parser.add_argument("--still", action="store_true", help="let hiders face one way")
    given = parser.parse_args()
    seen, outside = measure(given.worlds, given.seed, REST if given.still else TURN)
    print(f"hiders seen in {seen:.1%} of the paid steps, outside in {outside:.2%}")


if __name__ == "__main__":
    main()
