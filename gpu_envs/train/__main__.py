"""The command line: `python -m gpu_envs.train CartPole-v0`."""

from __future__ import annotations

import sys

from gpu_envs import extras

try:
    from gpu_envs.train.run import main
except ModuleNotFoundError as problem:
    missing = str(problem.name).partition(".")[0]
    if missing not in ("torch", "matplotlib", "rich"):
        raise
    sys.exit(f"error: {extras.needs('training', missing, 'train')}")

if __name__ == "__main__":
    sys.exit(main())
