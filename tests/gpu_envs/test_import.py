"""Importing is cheap: no array library, no native code, no time."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_import_loads_no_array_library_and_no_native_code(run_python: Run) -> None:
    program = (
        "import sys, gpu_envs\n"
        "loaded = [m for m in sys.modules if m.split('.')[0] in ('torch', 'jax', 'cupy')\n"
        "          or m in ('gpu_envs.native', 'gpu_envs.simulator', 'gpu_envs.vector')]\n"
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


def test_import_loads_of_the_builder_only_where_things_are(run_python: Run, tmp_path: Path) -> None:
    program = (
        "import sys, gymnasium, gymnasium.vector\n"
        "before = set(sys.modules)\n"
        "import gpu_envs\n"
        "added = set(sys.modules) - before\n"
        "print(*sorted(m for m in added if m.startswith('gpu_envs.building.')))\n"
        "print(sorted(added & {'subprocess', 'tempfile', 'concurrent.futures', 'gpu_envs.native'}))"
    )
    result = run_python(program, GPU_ENVS_CACHE=str(tmp_path))
    assert result.stdout.split("\n")[:2] == ["gpu_envs.building.places", "[]"], result.stderr
