"""Every public face refuses what it cannot do, in words, and stays what it was (hostile.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gpu_envs

PROGRAM = Path(__file__).with_name("hostile.py")
NAMES = sorted(gpu_envs.environments())


def play(count: int, names: list[str], seconds: float) -> None:
    """Play in a process of its own, so that a crash or a hang is seen; name what was found."""
    command = [sys.executable, "-X", "faulthandler", str(PROGRAM), str(count), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.stdout.endswith("\n0 faults\n")


def test_sixty_hostile_calls_an_environment_are_served_or_refused() -> None:
    play(60, NAMES, 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_two_thousand_hostile_calls_are_served_or_refused(name) -> None:
    play(2000, [name], 600)
