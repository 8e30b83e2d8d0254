"""examples/ppo_in_one_jit.py: short, and solves CartPole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="needs jax")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ppo_in_one_jit.py"


def run(*options: str) -> str:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_file_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 250


@pytest.mark.parametrize("seed", [1, 2])
def test_cartpole_is_solved(seed: int) -> None:
    found = re.search(r"mean return (\d+) after ([\d,]+) steps", run("--seed", str(seed)))
    assert found is not None
    assert int(found[1]) >= 475 and int(found[2].replace(",", "")) < 1_500_000


def test_other_environments_are_trained_too() -> None:
    printed = run("--env", "TagGrid-v0", "--goal", "inf", "--steps", "20000", "--worlds", "16")
    assert re.search(r"mean return -?\d+ after [\d,]+ steps", printed)
