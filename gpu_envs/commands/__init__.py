"""The commands of `python -m gpu_envs`, but for training and benchmarks."""
