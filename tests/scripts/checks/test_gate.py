"""The order of `.ci/run`: cheap failures first, and nothing after the first of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def make(*words: str) -> str:
    """Return what make prints, as it does where no other make has called it."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", *words], cwd=ROOT, env=outside, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_gate_begins_with_lint_and_lint_with_layout() -> None:
    parts = make("--silent", "gate").split()
    assert parts[0] == "lint"
    assert set(parts) == {"lint", "test", "asan", "tsan", "cuda", "wheel", "dry-run", "web"}
    lint, layout = make("-n", "lint"), make("-n", "layout")
    assert lint.startswith(layout)
    assert re.search(r"clang-format --dry-run.*ruff check.*ruff format --check", layout, re.DOTALL)
    assert "mypy" in lint.removeprefix(layout)


def test_the_hook_of_git_calls_the_layout_that_lint_calls() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.*)", text) == ["make --silent layout"]
    found = re.search(r"files: (.*)", text)
    assert found is not None
    for name in ("kernels/engine/a.hpp", "tests/kernels/b.cpp", "kernels/c.cu", "gpu_envs/d.py"):
        assert re.search(found[1], name)
    assert not re.search(found[1], "docs/checks.md")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose gate has three parts, of which the second fails where there is a file `bad`."""
    (tmp_path / "gpu_envs").mkdir()
    shutil.copytree(ROOT / "gpu_envs" / "building", tmp_path / "gpu_envs" / "building")
    for name in (".ci/run", "scripts/setup", "scripts/checks/minutes.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    rules = ["gate:\n\t@echo one two three", "one three:\n\t@echo ran $@"]
    rules.append("two:\n\t@echo ran $@; test ! -e bad")
    (tmp_path / "Makefile").write_text("\n".join(rules) + "\n")
    return tmp_path


def run(tree: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GPU_ENVS_STORE": str(tree / "store"), **more}
    return subprocess.run(
        [".ci/run"], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )


def test_every_part_says_what_is_left_and_all_have_their_minutes(tree: Path) -> None:
    for known in ("", r", \d\.\d minutes last time"):
        done = run(tree)
        assert done.returncode == 0
        assert re.findall(r"ran (\w+)", done.stdout) == ["one", "two", "three"]
        said = re.findall(r"gpu_envs: \[\d:\d\d\] (.*)", done.stderr)
        assert len(said) == 4
        for k, line in enumerate(said[:3]):
            steps = "1 step" if k == 2 else f"{3 - k} steps"
            name = ("one", "two", "three")[k]
            assert re.fullmatch(rf"{k + 1} of 3: {name}; left: {steps}{known}", line), line
        rows = [line.split() for line in done.stdout.splitlines()[-5:]]
        assert [row[0] for row in rows] == ["part", "one", "two", "three", "all"]
        assert [row[-1] for row in rows[1:4]] == ["passed"] * 3


def test_nothing_runs_after_the_first_part_that_fails(tree: Path) -> None:
    (tree / "bad").touch()
    done = run(tree, MAKEFLAGS="w")  # make says then where it is
    assert done.returncode != 0
    assert re.findall(r"ran (\w+)", done.stdout) == ["one", "two"]
    rows = [line.split() for line in done.stdout.splitlines()[-3:]]
    assert [(row[0], row[-1]) for row in rows[:2]] == [("one", "passed"), ("two", "failed")]


def test_tests_have_the_trees_own_store_where_the_users_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "file")}
    variables["GPU_ENVS_BUILD_DIR"] = str(tmp_path / "build")
    for name in ("GPU_ENVS_STORE", "GPU_ENVS_CACHE"):
        variables.pop(name, None)
    program = f"import os, runpy; runpy.run_path({str(ROOT / 'tests' / 'conftest.py')!r})\n"
    program += "print(os.environ['GPU_ENVS_STORE'])"
    wheel = re.search(
        r"(?m)^GPU_ENVS_STORE=.* -c '(.*)'", (ROOT / "scripts/release/check_wheel").read_text()
    )
    assert wheel is not None
    for text in (program, wheel[1]):
        command = [sys.executable, "-c", text]
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
        )
        assert done.stdout.strip() == str(tmp_path / "build" / "store"), done.stderr
