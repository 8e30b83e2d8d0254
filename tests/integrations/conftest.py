"""Other releases of packages than the installed ones, put in front of a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Installs a release such as "gymnasium==1.1.1" into a folder of its own, once a session."""
    folders: dict[str, Path] = {}

    def install(wanted: str) -> Path:
        if wanted not in folders:
            folder = tmp_path_factory.mktemp(wanted.replace("==", "_"))
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
            subprocess.run([*pip, "--no-deps", "--target", folder, wanted], check=True)
            folders[wanted] = folder
        return folders[wanted]

    return install


@pytest.fixture
def run_with(release: Callable[[str], Path]) -> Callable[..., str]:
    """Runs a program with those releases, and this tree, and returns what it printed."""

    def run(program: str, *wanted: str) -> str:
        folders = [str(release(name)) for name in wanted]
        path = os.pathsep.join([*folders, str(ROOT)])
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run
