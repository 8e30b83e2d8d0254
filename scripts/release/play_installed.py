"""Plays with the installed package; scripts/release/check_wheel runs it outside the working copy.

Usage: scripts/release/play_installed.py [ID ...]

Without ids, every environment is played for some short episodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gpu_envs

where = Path(gpu_envs.__file__).resolve()
if not where.is_relative_to(Path(sys.prefix).resolve()):
    sys.exit(f"gpu_envs was imported from {where}, not from the environment {sys.prefix}")

import gymnasium  # noqa: E402 - after the check, so that a wrong import is what gets reported

from gpu_envs.known import measures, registration  # noqa: E402

_WORLDS, _STEPS, _LIMIT = 4, 30, 12


def play(name: str) -> int:
    """Play legal actions at random and return how many episodes ended."""
    sizes = measures.sizes(name, "few")
    envs = gymnasium.make_vec(
        f"gpu_envs/{name}", num_envs=_WORLDS, max_episode_steps=_LIMIT, **sizes
    )
    infos = envs.reset(seed=0)[1]
    ended = 0
    for _ in range(_STEPS):
        actions = envs.simulator.sample_actions(infos.get("action_mask"))
        _, _, terminated, truncated, infos = envs.step(actions)
        ended += int((terminated | truncated).sum())
    envs.close()
    return ended


def main() -> None:
    """Play, and say what became of it."""
    print(f"{where.parent.name} {gpu_envs.__version__} in {sys.prefix}")
    for name in sys.argv[1:] or registration.shipped():
        ended = play(name)
        if ended < _WORLDS * (_STEPS // _LIMIT):
            sys.exit(f"{name}: {_STEPS} steps of {_WORLDS} worlds ended {ended} episodes")
        if not measures.file_of(name).exists():
            sys.exit(f"{name}: {measures.file_of(name)} is missing")
        print(f"{name}: {ended} episodes ended")
    loaded = {"torch", "jax", "cupy"} & set(sys.modules)
    if loaded:
        sys.exit(f"playing with NumPy loaded {loaded}")


main()
