"""Plays with the installed package; scripts/check_wheel runs it outside the working copy."""

import sys
from pathlib import Path

import gpu_envs

where = Path(gpu_envs.__file__).resolve()
if not where.is_relative_to(Path(sys.prefix).resolve()):
    sys.exit(f"gpu_envs was imported from {where}, not from the environment {sys.prefix}")

import gymnasium  # noqa: E402 - after the check, so that a wrong import is what gets reported

envs = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=64)
envs.reset(seed=0)
ended = 0
for _ in range(200):
    _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
    ended += int((terminated | truncated).sum())
envs.close()
loaded = {"torch", "jax", "cupy"} & set(sys.modules)
if loaded:
    sys.exit(f"playing with NumPy loaded {loaded}")
if not ended:
    sys.exit("200 random steps of 64 worlds ended no episode")
print(f"{where.parent.name} {gpu_envs.__version__} plays: {ended} episodes ended")
