"""Importing is cheap: no array library, no native code, no time."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_envs.building import outside
from gpu_envs.known import registration

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_import_loads_no_array_library_and_no_native_code(run_python: Run) -> None:
    program = (
        "import sys, gpu_envs\n"
        "loaded = [m for m in sys.modules if m.split('.')[0] in ('torch', 'jax', 'cupy')\n"
        "          or m in ('gpu_envs.known.native', 'gpu_envs.core.simulator',"
        " 'gpu_envs.faces.vector')]\n"
        "mapped = [line for line in open('/proc/self/maps') if 'gpu_envs/modules' in line]\n"
        "print(loaded + mapped)"
    )
    result = run_python(program)
    assert result.stdout.strip() == "[]", result.stderr


def test_import_adds_nothing_outside_the_standard_library(run_python: Run) -> None:
    program = (
        "import sys, gymnasium, gymnasium.vector\n"
        "before = set(sys.modules)\n"
        "import gpu_envs\n"
        "added = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "print(*sorted(added - sys.stdlib_module_names))"
    )
    assert run_python(program).stdout.split() == ["gpu_envs"]


LOADED_OF_THE_BUILDER = (
    "import sys, gymnasium, gymnasium.vector\n"
    "before = set(sys.modules)\n"
    "import gpu_envs\n"
    "added = set(sys.modules) - before\n"
    "print(*sorted(m for m in added if m.startswith('gpu_envs.building.')))\n"
    "watched = {'subprocess', 'tempfile', 'concurrent.futures', 'gpu_envs.known.native'}\n"
    "print(sorted(added & watched))\n"
    "print('gpu_envs/Kept-v0' in gymnasium.registry)"
)


def test_import_loads_of_the_builder_only_where_things_are(run_python: Run, tmp_path: Path) -> None:
    result = run_python(LOADED_OF_THE_BUILDER, GPU_ENVS_CACHE=str(tmp_path))
    assert result.stdout.split("\n")[:3] == ["gpu_envs.building.places", "[]", "False"]


def test_import_reads_kept_headers_without_the_builder(
    run_python: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path))
    outside.keep(tmp_path / "kept.hpp", [{**registration.find("CartPole-v0"), "id": "Kept-v0"}])
    result = run_python(LOADED_OF_THE_BUILDER)
    loaded = "gpu_envs.building.kept gpu_envs.building.places"
    assert result.stdout.split("\n")[:3] == [loaded, "[]", "True"], result.stderr
