#!/usr/bin/env python3
"""Measures an environment's speed: scripts/benchmark.py CartPole; --help lists the options."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tree this script belongs to

from gpu_envs.benchmark import main
from gpu_envs.terminal import broken_pipes

if __name__ == "__main__":
    broken_pipes.end_quietly()
    main(program="scripts/benchmark.py")
