#!/usr/bin/env python3
"""Prints what `scripts/train` can do, before anything is installed or built.

    scripts/train --help
    scripts/train CartPole-v0 --help       # with the defaults and parameters of an environment

It needs the standard library alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tree this script belongs to

import scripts.gpu  # noqa: F401 - before the package: finds it where Gymnasium is missing
from gpu_envs.terminal import broken_pipes
from gpu_envs.train import command

if __name__ == "__main__":
    broken_pipes.end_quietly()
    command.parse([*sys.argv[1:], "--help"], "scripts/train")
