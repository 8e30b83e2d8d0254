"""Fixtures of the builder's tests: a tree and an installed package of their own, in a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpu_envs.building import manifest, places, shipping
from gpu_envs.known import native

IDS = {"cartpole": "CartPole-v0", "covid_economy": "CovidEconomy-v0"}
COUNTER = Path(__file__).parent / "building" / "counter.hpp"


@dataclass
class Copy:
    """A package that a test may change, and processes that import it."""

    root: Path  # what holds gpu_envs/
    cache: Path
    environment: dict[str, str] = field(default_factory=dict)
    before: Callable[[], object] | None = None  # called in each process before it begins

    @property
    def modules(self) -> Path:
        return self.root / "gpu_envs" / "modules"

    def module(self, stem: str) -> Path:
        return places.module_file(stem, native.cpu_target(), self.modules)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.root.parent,  # where there is no other gpu_envs
            env=os.environ | self.environment | environment,
            start_new_session=True,
            preexec_fn=self.before,
        )

    def run(self, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self._finished(["-c", program], environment)

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self._finished(["-m", "gpu_envs", *arguments], environment)

    def _finished(
        self, arguments: list[str], environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, **environment) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _copy(tmp_path: Path, name: str, stems: tuple[str, ...]) -> Copy:
    """Copy the package with the engine, its bindings and some modules, all up to date."""
    target = native.cpu_target()
    for stem in stems:
        native.at(target, IDS[stem])
    root = tmp_path / name
    ignored = shutil.ignore_patterns("modules", "catalogue", "train", "benchmark", "integrations")
    shutil.copytree(places.PACKAGE, root / "gpu_envs", ignore=ignored)
    for folder in ("modules", "catalogue"):
        (root / "gpu_envs" / folder).mkdir()
    built = [places.engine_file(target), places.bindings_file(target)]
    for path in built + [places.module_file(stem, target) for stem in stems]:
        shutil.copy2(path, root / "gpu_envs" / "modules")
    for stem in stems:
        shutil.copy2(places.CATALOGUE / f"{stem}.json", root / "gpu_envs" / "catalogue")
    build = tmp_path / f"{name}-build"
    build.mkdir()
    environment = {
        "PYTHONPATH": str(root),
        "GPU_ENVS_BUILD_DIR": str(build),
        "GPU_ENVS_CACHE": str(tmp_path / "cache"),
        "GPU_ENVS_CUDA": "0",
    }
    return Copy(root, tmp_path / "cache", environment)


def _package(tmp_path: Path, *stems: str) -> Copy:
    made = _copy(tmp_path, "site", stems)
    for stem in stems:
        shipping.keep_data(places.environments()[stem], made.module(stem))
    shipping.add_headers(made.root / "gpu_envs")
    manifest.write(made.root / "gpu_envs")
    return made


@pytest.fixture
def package(tmp_path: Path) -> Copy:
    """An installed package with CartPole alone, complete as a wheel is."""
    return _package(tmp_path, "cartpole")


@pytest.fixture(scope="module")
def package_with_data(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """One with CovidEconomy too, whose module reads a data file; whoever damages it, mends it."""
    return _package(tmp_path_factory.mktemp("package"), "cartpole", "covid_economy")


def _tree(tmp_path: Path, *stems: str) -> Copy:
    made = _copy(tmp_path, "tree", stems)
    kernels = made.root / "kernels"
    shutil.copytree(places.kernels(), kernels, ignore=shutil.ignore_patterns("envs"))
    (kernels / "envs").mkdir()
    for stem in stems:
        shutil.copytree(places.environments()[stem].parent, kernels / "envs" / stem)
    return made


@pytest.fixture
def tree_with_data(tmp_path: Path) -> Copy:
    """A source tree with CovidEconomy, which is built."""
    return _tree(tmp_path, "covid_economy")


@pytest.fixture
def tree(tmp_path: Path) -> Copy:
    """A source tree with CartPole, which is built, and Counter, which is not."""
    made = _tree(tmp_path, "cartpole")
    kernels = made.root / "kernels"
    shutil.copy2(COUNTER, kernels / "envs")
    shutil.copy2(COUNTER.with_suffix(".json"), made.root / "gpu_envs" / "catalogue")
    return made


@pytest.fixture
def counted(tree: Copy) -> Copy:
    """The same tree with Counter built."""
    done = tree.command("build", "counter")
    assert done.returncode == 0, done.stderr
    return tree
