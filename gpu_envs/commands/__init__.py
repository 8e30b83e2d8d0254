"""The commands of `python -m gpu_envs`, except training and benchmarks."""
