"""What is said of the steps of a command that are left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "checks" / "minutes.py"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def said(*words: object) -> str:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.strip().removeprefix("gpu_envs: ")


def test_steps_left_have_the_minutes_of_last_time(store: Path) -> None:
    assert said("a", 1, 2, "lint") == "[0:00] 1 of 2: lint; left: 2 steps"
    said("a", 2, 2, "tests", "--before", 60)
    assert said("a", 1, 2, "lint") == (
        "[0:00] 1 of 2: lint; left: 2 steps, more than 1.0 minutes last time"
    )
    assert said("a", 3, 2, "done", "--elapsed", 125, "--before", 30) == "[2:05] done"
    assert said("a", 1, 2, "lint").endswith("left: 2 steps, 1.5 minutes last time")
    assert said("a", 2, 2, "tests").endswith("left: 1 step, 0.5 minutes last time")
    assert said("b", 1, 2, "lint").endswith("left: 2 steps"), "of another command nothing is known"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 3}', '{"a": {"1 of 2": "soon"}}'])
def test_a_file_that_cannot_be_read_is_done_without(store: Path, text: str) -> None:
    store.mkdir()
    (store / "minutes.json").write_text(text)
    assert said("a", 1, 2, "lint").endswith("left: 2 steps")
    said("a", 2, 2, "tests", "--before", 60)
    assert json.loads((store / "minutes.json").read_text())["a"]["1 of 2"] == 60


def test_a_folder_that_cannot_be_written_is_done_without(store: Path) -> None:
    store.write_text("a file")
    assert said("a", 2, 2, "tests", "--before", 60).endswith("left: 1 step")


def test_commands_of_long_ago_are_forgotten(store: Path) -> None:
    for k in range(45):
        said(f"command {k}", 2, 2, "tests", "--before", 60)
    kept = json.loads((store / "minutes.json").read_text())
    assert list(kept) == [f"command {k}" for k in range(5, 45)]


# ---- scripts/setup, whose one set-up serves lint and tests

PIP = """#!/usr/bin/env bash
if [[ $1 == -m && $2 == pip ]]; then echo "$*" >>installed; exit; fi
exec {python} "$@"
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with an environment whose pip only writes down what it is asked for."""
    for name in ("pyproject.toml", "constraints.txt", "setup.py", "scripts/setup"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "scripts/setup").chmod(0o755)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP.format(python=sys.executable))
    python.chmod(0o755)
    return tmp_path


def installs(clone: Path, extra: str) -> bool:
    (clone / "installed").unlink(missing_ok=True)
    subprocess.run(["scripts/setup", extra], cwd=clone, check=True, capture_output=True)
    return (clone / "installed").exists()


def test_an_environment_for_development_serves_tests_and_training(clone: Path) -> None:
    assert installs(clone, "dev")
    assert not any(installs(clone, extra) for extra in ("dev", "test", "train"))
    (clone / "constraints.txt").write_text("numpy==2.0.0\n")
    assert installs(clone, "test")
    assert not installs(clone, "train")
    assert installs(clone, "dev")
