"""The command line: `python -m gpu_envs train CartPole-v0`, or `python -m gpu_envs.train`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gpu_envs.known import extras
from gpu_envs.terminal import broken_pipes
from gpu_envs.train import command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; help needs no library of the trainer."""
    given = list(sys.argv[1:] if argv is None else argv)
    if {"-h", "--help"} & set(given):
        command.parse(given)
    try:
        from gpu_envs.train import run
    except ModuleNotFoundError as problem:
        missing = str(problem.name).partition(".")[0]
        if missing not in ("torch", "matplotlib", "rich"):
            raise
        print(f"error: {extras.needs('training', missing, 'train')}", file=sys.stderr)
        return 1
    return run.main(given)


if __name__ == "__main__":
    broken_pipes.go_on_quietly()
    sys.exit(main())
