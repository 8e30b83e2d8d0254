"""Small cases on interpreted kernels, in processes of their own: a fault ends all calls of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("interpreted")
ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "scripts" / "ptx" / "small_cases.py"


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *words]
    return subprocess.run(command, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("name", ["CartPole-v0", "Micro-v0", "learner"])
def test_small_cases_are_equal_to_the_cpu(name: str) -> None:
    done = _run("--quick", name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout


def test_positions_beyond_the_square_are_seen_alike() -> None:
    # On lanes a look is cut to half a circle, by geometry that holds within the square alone.
    done = _run("--only", "variant agent_count=200 ", "Flocking-v0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 cases" in done.stdout and " 0 wrong" in done.stdout


def test_a_planted_fault_is_found() -> None:
    done = _run("--quick", "--planted", r"add\.rn\.f32", "sub.rn.f32", "CartPole-v0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "differs at" in done.stdout
