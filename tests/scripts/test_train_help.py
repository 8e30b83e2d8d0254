"""`scripts/train --help` needs an interpreter and no more: no libraries, no .venv, no build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_envs import environments
from gpu_envs.building import outside
from gpu_envs.known import fields, measures, native, registration
from gpu_envs.train import command

ROOT = Path(__file__).resolve().parents[2]
# -S leaves out what is installed; -I what the surroundings of this test say.
BARE = [sys.executable, "-I", "-S"]
REFUSING = f"""
import runpy, sys
STANDARD = sys.stdlib_module_names | {{"gpu_envs", "scripts"}}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in STANDARD:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
runpy.run_path({str(ROOT / "scripts" / "train_help.py")!r}, run_name="__main__")
"""


def shown(*words: str) -> str:
    done = subprocess.run([*BARE, "-c", REFUSING, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("name", environments())
def test_an_interpreter_alone_shows_defaults_and_parameters(name: str) -> None:
    text = shown(name)
    defaults = measures.measures_of(name)["training"]["defaults"]
    assert f"worlds that run at once, over all ranks (default {defaults.get('num_envs', 64)})" in (
        text
    )
    for field in fields.read(registration.find(name)["parameters"]):
        assert f"-{field.name.replace('_', '-')} " in text


def test_headers_of_the_users_own_are_read_without_gymnasium(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path))
    outside.keep(tmp_path / "kept.hpp", [{**registration.find("CartPole-v0"), "id": "Kept-v0"}])
    assert "--evaluation-share X" in shown("Kept-v0")


def test_without_an_environment_the_options_are_shown() -> None:
    assert "--evaluation-share X" in shown()


def test_an_unknown_environment_is_one_line() -> None:
    done = subprocess.run([*BARE, "-c", REFUSING, "Cart"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: unknown environment 'Cart'")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["CartPole-v0", "--help"], ["-h"], []])
def test_the_script_neither_installs_nor_builds(words: list[str]) -> None:
    before = os.path.exists(ROOT / ".venv")
    surroundings = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "CXX": "none"}
    surroundings["GPU_ENVS_CACHE"] = os.environ["GPU_ENVS_CACHE"]
    done = subprocess.run(
        [ROOT / "scripts" / "train", *words],
        capture_output=True,
        text=True,
        env=surroundings,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: scripts/train ENV [options]")
    assert os.path.exists(ROOT / ".venv") is before


def test_help_does_not_look_whether_what_is_built_is_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "described", lambda name: pytest.fail(f"looked at {name}"))
    with pytest.raises(SystemExit) as leaving:
        command.parse(["CartPole-v0", "--help"])
    assert leaving.value.code == 0 and "--sutton-barto-reward" in capsys.readouterr().out
