"""What is told to whoever lacks a library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_envs.building import places
from gpu_envs.core import libraries
from gpu_envs.known import extras

ROOT = places.PACKAGE.parent


@pytest.fixture
def in_clone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A clone whose own environment runs, not activated; we stand in it."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "CMakeLists.txt").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "pip").touch(mode=0o755)
    monkeypatch.setattr(places, "PACKAGE", tmp_path / "gpu_envs")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_clone_installs_itself_in_place(in_clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.command("render") == '.venv/bin/pip install -e ".[render]"'
    assert extras.library_command("skrl") == ".venv/bin/pip install skrl"
    monkeypatch.chdir(in_clone.parent)
    folder = in_clone.name
    assert extras.command("train") == f'{folder}/.venv/bin/pip install -e "{in_clone}[train]"'


def test_an_active_environment_has_its_pip_on_the_path(
    in_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(in_clone / ".venv" / "bin"))
    assert extras.command("train") == 'pip install -e ".[train]"'


def test_a_wheel_is_installed_by_its_name(in_clone: Path) -> None:
    (in_clone / "kernels" / "CMakeLists.txt").unlink()
    assert extras.command("train") == '.venv/bin/pip install "gpu_envs[train]"'


def test_where_there_is_no_pip_the_interpreter_is_named(
    in_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (in_clone / ".venv" / "bin" / "pip").unlink()
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert extras.library_command("jax") == "/usr/bin/python3 -m pip install jax"


@pytest.mark.parametrize(("name", "extra"), [("torch", "train"), ("cupy", "")])
def test_arrays_name_what_is_missing(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as caught:
        libraries.require(name)
    assert extras.needs(f"arrays='{name}'", name, extra) in str(caught.value)


@pytest.mark.parametrize(
    ("adapter", "module", "library"),
    [
        ("stable_baselines3", "stable_baselines3", "stable-baselines3"),
        ("torchrl", "tensordict", "torchrl"),
        ("rllib", "ray", "'ray[rllib]'"),
        ("skrl", "skrl", "skrl"),
        ("tianshou", "tianshou", "tianshou"),
    ],
)
def test_adapters_name_their_library(adapter: str, module: str, library: str) -> None:
    program = (
        f"import sys\nsys.modules[{module!r}] = None\nimport gpu_envs.integrations.{adapter}\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"this adapter needs {library}: " in run.stderr.splitlines()[-1]
    assert f"install {library}" in run.stderr.splitlines()[-1]


def test_an_interpreter_without_gymnasium_is_told_which_has_it(tmp_path: Path) -> None:
    program = "import sys\nsys.modules['gymnasium'] = None\nimport gpu_envs\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    last = run.stderr.splitlines()[-1]
    has = (ROOT / ".venv").exists()
    assert f"gpu_envs needs gymnasium, which {sys.executable} does not have" in last
    assert last.endswith("call .venv/bin/python" if has else "run scripts/setup first")
