"""Plays with the installed package; scripts/check_wheel runs it outside the working copy.

Usage: scripts/play_installed.py [ID ...]; without ids, some are played and every one is loaded.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gpu_envs

where = Path(gpu_envs.__file__).resolve()
if not where.is_relative_to(Path(sys.prefix).resolve()):
    sys.exit(f"gpu_envs was imported from {where}, not from the environment {sys.prefix}")

import gymnasium  # noqa: E402 - after the check, so that a wrong import is what gets reported

PLAYED = {  # worlds and steps in which random play ends some episode
    "CartPole-v0": (64, 200),
    "Hanabi-v0": (64, 200),
    "HideSeek-v0": (4, 260),
    "Flocking-v0": (1, 400),
}


def play(name: str, worlds: int, steps: int) -> int:
    """Play at random and return how many episodes ended."""
    envs = gymnasium.make_vec(f"gpu_envs/{name}", num_envs=worlds)
    envs.reset(seed=0)
    ended = 0
    for _ in range(steps):
        _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
        ended += int((terminated | truncated).sum())
    envs.close()
    return ended


def main() -> None:
    """Play, and say what became of it."""
    print(f"{where.parent.name} {gpu_envs.__version__} in {sys.prefix}")
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            print(f"{name}: {play(name, 2, 20)} episodes ended")
        return
    for name, (worlds, steps) in PLAYED.items():
        ended = play(name, worlds, steps)
        if not ended:
            sys.exit(f"{name}: {steps} random steps of {worlds} worlds ended no episode")
        print(f"{name}: {ended} episodes ended")
    known = list(gpu_envs.environments())
    for name in known:
        play(name, 2, 1)
    print(f"{len(known)} ids can be made")
    loaded = {"torch", "jax", "cupy"} & set(sys.modules)
    if loaded:
        sys.exit(f"playing with NumPy loaded {loaded}")


main()
