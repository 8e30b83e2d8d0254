#!/usr/bin/env python3
"""Prints what `scripts/train` can do, before anything is installed or built.

    scripts/train --help
    scripts/train CartPole-v0 --help       # with the defaults and parameters of an environment

It needs the standard library alone.
"""

from __future__ import annotations

import sys

import gpu_package  # noqa: F401  # finds the package where Gymnasium is missing

from gpu_envs.terminal import broken_pipes
from gpu_envs.train import command

if __name__ == "__main__":
    broken_pipes.end_quietly()
    command.parse([*sys.argv[1:], "--help"], "scripts/train")
