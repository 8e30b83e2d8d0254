"""Fixtures of all Python tests: environments that are closed afterwards, and optional libraries."""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before the package is imported, and for all processes that tests start: what a user has built
# must not become part of the tests. Objects stay in the user's store.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu_envs"))
if "GPU_ENVS_STORE" not in os.environ:
    os.environ["GPU_ENVS_STORE"] = str(importlib.import_module("building.store").folders()[-1])
del sys.path[0]
os.environ["GPU_ENVS_CACHE"] = tempfile.mkdtemp(prefix="gpu_envs-tests-")
atexit.register(shutil.rmtree, os.environ["GPU_ENVS_CACHE"], ignore_errors=True)

import gymnasium  # noqa: E402
import pytest  # noqa: E402

import gpu_envs  # noqa: E402
from gpu_envs.building import places, upkeep  # noqa: E402
from gpu_envs.commands.build import build_header  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402

if "PYTEST_XDIST_WORKER" in os.environ:
    # A process per core: torch, which reads this when it is imported, would have as many threads in
    # each, and they would keep the cores busy with waiting for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

GALLERY = Path(__file__).parent / "kernels" / "envs" / "gallery.hpp"
FAIR = Path(__file__).parent / "kernels" / "envs" / "fair.hpp"
TROUPE = Path(__file__).parent / "kernels" / "envs" / "troupe.hpp"
ANGLE = "cart.angle"  # beyond 0.21 rad the episode ends at the next step


_look = native._up_to_date
_seen: set[tuple[object, ...]] = set()


def _look_once(target: str, stems: tuple[str, ...] = ()) -> list[Path]:
    """Look once whether a module of this tree is older than its sources, not for each simulator.

    It takes 4 ms, and tests make thousands; sources of this tree do not change while they run.
    """
    asked = (upkeep.ensure, places.is_source_tree, places.PACKAGE, target, stems)
    if asked in _seen:
        return []
    built = _look(target, stems)
    _seen.add(asked)
    return built


native._up_to_date = _look_once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def make_vec() -> Iterator[Callable[..., gpu_envs.VectorEnv]]:
    """Makes vector environments on the CPU by `gymnasium.make_vec`, and closes them."""
    made = []

    def make(name: str = "CartPole-v0", num_envs: int = 4, **options: Any) -> gpu_envs.VectorEnv:
        options.setdefault("device", "cpu")
        env = gymnasium.make_vec(f"gpu_envs/{name}", num_envs=num_envs, **options)
        made.append(env)
        assert isinstance(env, gpu_envs.VectorEnv)
        return env

    yield make
    for env in made:
        env.close()


@pytest.fixture(scope="session")
def gallery_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the module of Gallery-v0, an environment of pictures that only tests have."""
    return _cache_of(GALLERY, tmp_path_factory)


def _cache_of(header: Path, folders: pytest.TempPathFactory) -> Path:
    """Build a header in a cache of this process, by objects that one process compiles for all."""
    cache = folders.mktemp(header.stem)
    common = folders.getbasetemp().parent  # with pytest-xdist, of all its processes
    with pytest.MonkeyPatch.context() as patch, upkeep.lock(common, header.stem):
        patch.setenv("GPU_ENVS_CACHE", str(cache))
        registration.refresh()
        build_header(header, [native.cpu_target()])
    _forget("Gallery-v0", "Troupe-v0", "Band-v0", "Fair-v0", "Hall-v0")
    return cache


@pytest.fixture(scope="module")
def gallery(gallery_cache: Path) -> Iterator[str]:
    """The id of Gallery-v0, which exists for the tests of one module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ENVS_CACHE", str(gallery_cache))
        registration.refresh()
        yield "Gallery-v0"
    _forget("Gallery-v0")


@pytest.fixture(scope="session")
def troupe_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with Troupe-v0 and Band-v0: agents of three kinds, which only tests have."""
    return _cache_of(TROUPE, tmp_path_factory)


@pytest.fixture(scope="session")
def fair_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with Fair-v0, Hall-v0 and Court-v0: roles whose rows differ in kind."""
    return _cache_of(FAIR, tmp_path_factory)


@pytest.fixture(scope="module")
def fair(fair_cache: Path) -> Iterator[str]:
    """The id of Fair-v0, which exists with Hall-v0 and Court-v0 for the tests of one module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ENVS_CACHE", str(fair_cache))
        registration.refresh()
        yield "Fair-v0"
    _forget("Fair-v0", "Hall-v0", "Court-v0")


@pytest.fixture(scope="module")
def troupe(troupe_cache: Path) -> Iterator[str]:
    """The id of Troupe-v0, which exists with Band-v0 for the tests of one module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ENVS_CACHE", str(troupe_cache))
        registration.refresh()
        yield "Troupe-v0"
    _forget("Troupe-v0", "Band-v0")


def _forget(*names: str) -> None:
    registration.refresh()
    for name in names:
        for full in (f"gpu_envs/{name}", name):
            gymnasium.registry.pop(full, None)


@pytest.fixture
def make_simulator() -> Iterator[Callable[..., gpu_envs.Simulator]]:
    """Makes simulators on the CPU, and closes them."""
    made = []

    def make(name: str = "CartPole-v0", num_worlds: int = 4, **options: Any) -> gpu_envs.Simulator:
        options.setdefault("device", "cpu")
        simulator = gpu_envs.Simulator(name, num_worlds, **options)
        made.append(simulator)
        return simulator

    yield make
    for simulator in made:
        simulator.close()


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch")


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax", reason="needs jax")


@pytest.fixture
def tip_over() -> Callable[..., None]:
    """Lays the pole of some CartPole worlds down, so that the next step ends their episodes."""

    def tip(env: Any, *worlds: int) -> None:
        getattr(env, "simulator", env).set(ANGLE, 1.0, worlds=list(worlds))

    return tip


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a fresh interpreter and returns what it printed."""

    def run(program: str, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *flags, "-c", program],
            capture_output=True,
            text=True,
            env=os.environ | environment,
            check=False,
        )

    return run


@pytest.fixture
def cuda(request: pytest.FixtureRequest) -> None:
    """Device "cuda" is there; scripts/gpu/check.sh runs the tests that are marked `gpu`."""
    marked = request.node.get_closest_marker("gpu") is not None
    assert marked or "interpreted" in request.fixturenames, "mark this test gpu"
    if not native.cuda_is_available():
        pytest.skip("needs an NVIDIA GPU and the CUDA module")


@pytest.fixture
def on_gpu(cuda: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The array library of device "cuda", see gpu_library.py."""
    return importlib.import_module("gpu_library").make(monkeypatch)
