"""The trainer: `python -m gpu_envs train CartPole-v0`; it needs the extra `gpu_envs[train]`."""
