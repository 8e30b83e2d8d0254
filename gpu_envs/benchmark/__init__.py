"""Measures environments: steps per second, bytes per step, overhead, curves, peers.

`scripts/benchmark.py` and `python -m gpu_envs bench` both call `main`; scripts/gpu/check.sh takes
parts. What is measured is data beside each header (docs/measures.md). `plan` makes cases of it,
`cases` steps one, `loop` goes through them, `limits` says what the machine allows, `bars` judges,
`report` prints and writes. Only `entries`, `overhead` and `peers` need Gymnasium.
"""

from gpu_envs.benchmark.command import main

__all__ = ["main"]
