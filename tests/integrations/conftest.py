"""Examples as modules; other releases of packages, put in front of a fresh interpreter."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
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


@pytest.fixture
def example(request: pytest.FixtureRequest) -> Any:
    """The module of the example that a test's module calls EXAMPLE."""
    path = request.module.EXAMPLE
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For small networks, which several threads would only slow down."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
