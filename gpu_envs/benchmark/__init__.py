"""Measures environments: steps per second, bytes per step, overhead, scaling, peers.

`scripts/benchmark.py` and `python -m gpu_envs bench` both call `main`. What is measured is in the
suites (`throughput`, `scaling`, `cuda`); `clock` times, `machine` describes the computer, `traffic`
counts bytes from the description, `report` prints and writes.
"""

from gpu_envs.benchmark.command import main

__all__ = ["main"]
