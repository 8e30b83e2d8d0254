"""What the scripts for a GPU machine share: engines, modules and the sizes of small batches.

NumPy is needed; memory on the GPU, graphs and events are torch's.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_envs.benchmark.worlds import output_bytes
from gpu_envs.building import labels, places, processor, recipes, upkeep
from gpu_envs.known import native, registration
from scripts.gpu import ROOT

TEST_ENVIRONMENT = "arena"  # of the native tests: it uses every stage of the engine
TEST_BUILD = ROOT / "build" / "gpu"
NO_GPU = "no NVIDIA GPU with a working driver was found on this machine"
_CAPABILITY = (75, 76)  # the driver's numbers of two attributes: major, minor


def find_gpu() -> dict[str, Any] | None:
    """Name, architecture (90 for 9.0) and CUDA version of the first GPU; None where there is none.

    The driver is asked directly: neither torch nor a compiled module is needed.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, device, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    name, parts = ctypes.create_string_buffer(128), []
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDeviceGetName(name, len(name), device)
    driver.cuDriverGetVersion(ctypes.byref(version))
    for attribute in _CAPABILITY:
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        parts.append(value.value)
    cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return {"name": name.value.decode(), "architecture": parts[0] * 10 + parts[1], "cuda": cuda}


def has(package: str) -> bool:
    """Whether a Python package can be imported; the package itself is more than its stand-in."""
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


# ---- building and loading


def build_all() -> None:
    """Build what this machine runs, for CPU and CUDA; raises where something cannot be built.

    What ships has the lanes that GPU_ENVS_CUDA_LANES asks for; the tests' own environment has all.
    """
    for target in (f"cpu_{processor.runnable_levels()[0]}", "cuda"):
        upkeep.ensure(target, list(places.environments()), exact=True)
    with _settings(GPU_ENVS_CUDA_LANES="all", GPU_ENVS_BUILD_DIR=str(TEST_BUILD)):
        header = places.environments(ROOT / "tests" / "kernels" / "envs")[TEST_ENVIRONMENT]
        upkeep.ensure_one(recipes.module(TEST_ENVIRONMENT, header, "cuda", TEST_BUILD))


@contextlib.contextmanager
def _settings(**wanted: str) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def take_as_built() -> None:
    """Compile nothing from now on: not under a clock, nor under a tool that watches."""
    native._up_to_date = lambda *_: []


def cpu_levels() -> list[str]:
    """Instruction sets that are built and that this processor runs, best first."""
    files = {level: places.engine_file(f"cpu_{level}") for level in processor.runnable_levels()}
    return [level for level, file in files.items() if _is_of_this_engine(file)]


def _is_of_this_engine(file: Path) -> bool:
    try:
        return labels.read(file).engine == places.engine_hash()
    except (OSError, labels.Damaged):
        return False


def _cpu(which: int) -> str:
    levels = cpu_levels()
    if not levels:
        raise FileNotFoundError("nothing is built for this processor: python -m gpu_envs build")
    return f"cpu_{levels[which]}"


def target(dry_run: bool) -> str:
    """What is under test: CUDA, or the plainest CPU engine as its stand-in."""
    return _cpu(-1) if dry_run else "cuda"


def names(dry_run: bool, *, tests: bool = False) -> list[str]:
    """Ids whose modules are built, and the tests' own environment if asked for; loads nothing."""
    of = target(dry_run)
    return _ids_of(of) + [TEST_ENVIRONMENT] * (tests and _test_module(of) is not None)


def one_of_each_kind(names: list[str]) -> list[str]:
    """Return the first environment of each kind: by its agents, roles, pictures, masks, actions.

    A name may have words before it; one that is not an id is a kind of its own.
    """
    found: dict[Any, str] = {}
    for name in names:
        described = registration.environments().get(name.split()[-1] if name else "")
        found.setdefault(name if described is None else _kind(described), name)
    return list(found.values())


def _kind(described: dict[str, Any]) -> tuple[Any, ...]:
    has = (bool(described.get(key)) for key in ("roles", "pictures", "action_mask"))
    return (described["agents"] == "1", *has, described["action"][0]["type"])


def built() -> list[str]:
    """Ids whose modules are built for this processor."""
    return _ids_of(_cpu(0)) if cpu_levels() else []


def _ids_of(target: str) -> list[str]:
    stems = {
        stem
        for stem in places.environments()
        if _is_of_this_engine(places.module_file(stem, target))
    }
    return [name for name in registration.environments() if registration.home(name).stem in stems]


def tested(dry_run: bool, name: str) -> Any:
    """The bindings of what is under test, with the module of an id, or the tests' own."""
    return _load(target(dry_run), name)


def reference(name: str) -> Any:
    """The best CPU engine, which everything is compared with."""
    return _load(_cpu(0), name)


class _WithData:
    """Bindings whose simulators find the data files of one environment."""

    def __init__(self, bindings: Any, files: native.DataFiles) -> None:
        self._bindings, self._files = bindings, files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bindings, name)

    def Simulator(self, *arguments: Any, **options: Any) -> Any:
        """Make one; called as the bindings' own is."""
        return self._bindings.Simulator(*arguments, data_files=self._files, **options)


def _load(of: str, name: str) -> Any:
    if name == TEST_ENVIRONMENT:
        file = _test_module(of)
        assert file is not None
        native.describe(of, file)
        return native.at(of)
    return _WithData(native.at(of, name), native.data_files(of, name))


def ids(dry_run: bool, name: str) -> list[str]:
    """Ids of an environment: one, but for the tests' own."""
    file = _test_module(target(dry_run))
    if name != TEST_ENVIRONMENT or file is None:
        return [name]
    return [found["id"] for found in native.describe(target(dry_run), file)]


def _test_module(of: str) -> Path | None:
    """The module of the tests' own environment where it is built."""
    file = places.module_file(TEST_ENVIRONMENT, of, TEST_BUILD)
    return file if _is_of_this_engine(file) else None


# ---- sizes


def crowd(description: dict[str, Any], agents: int) -> dict[str, int]:
    """Return parameters for a number of agents, split evenly where agents are a sum."""
    terms = str(description["agents"]).split(" + ")
    names = [term for term in terms if not term.isdecimal()]
    if not names:
        return {}
    agents -= sum(int(term) for term in terms if term.isdecimal())
    shares = [(agents + k) // len(names) for k in range(len(names))]
    return dict(zip(names, reversed(shares), strict=True))


def worlds_of(module: Any, name: str, worlds: int, agents: int, megabytes: float = 1e6) -> int:
    """Return `worlds`, or fewer so that agents and megabytes of outputs stay within limits."""
    own, outputs = _own(module, name)
    return max(1, min(worlds, agents // own, int(megabytes * 1e6 / outputs)))


def facts(simulator: Any) -> dict[str, Any]:
    """What a simulator says of itself."""
    found: dict[str, Any] = json.loads(simulator.instance)
    return found


def _own(module: Any, name: str) -> tuple[int, int]:
    """Agents of a world by default, and the bytes of its outputs; found without torch."""
    simulator = module.Simulator(name, 1)
    own = facts(simulator)
    simulator.close()
    return own["agents_per_world"], sum(output_bytes(own).values())
