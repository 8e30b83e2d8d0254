"""What the scripts for a GPU machine share: engines, modules and the sizes of small batches.

A bare GPU machine may lack Gymnasium, which the package imports when it registers environments.
Then an empty module stands in for the package itself, whose files are found as ever: what is
imported of it here does without. NumPy is needed; memory on the GPU, graphs and events are torch's.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
try:
    import gpu_envs
except ImportError:
    gpu_envs = types.ModuleType("gpu_envs")
    gpu_envs.__path__ = [str(ROOT / "gpu_envs")]
    sys.modules["gpu_envs"] = gpu_envs
from gpu_envs import native, registration  # noqa: E402
from gpu_envs.benchmark.worlds import output_bytes  # noqa: E402
from gpu_envs.building import labels, places, processor, recipes, upkeep  # noqa: E402

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


def tested(dry_run: bool, only: str = "") -> Any:
    """The bindings of what is under test, with all modules that are built, or that of one id."""
    return _load(target(dry_run), only)


def reference() -> Any:
    """The best CPU engine, which everything is compared with."""
    return _load(_cpu(0))


def _load(of: str, only: str = "") -> Any:
    module = native.at(of)
    for description in environments(module):
        if only in ("", description["id"]):
            native.at(of, description["id"])
    if _test_module(of) is not None:
        native.describe(of, _test_module(of))
    return module


def _test_module(of: str) -> Path | None:
    """The module of the tests' own environment where it is built."""
    file = places.module_file(TEST_ENVIRONMENT, of, TEST_BUILD)
    return file if _is_of_this_engine(file) else None


def environments(module: Any, *, tests: bool = False) -> list[dict[str, Any]]:
    """Descriptions of what an engine can make, the tests' own environment too if asked for."""
    of = module.__name__.rpartition("._")[2]
    stems = {
        stem for stem in places.environments() if _is_of_this_engine(places.module_file(stem, of))
    }
    known = registration.environments().items()
    found = [entry for name, entry in known if registration.home(name).stem in stems]
    own = _test_module(of) if tests else None
    return found + ([] if own is None else native.describe(of, own))


# ---- sizes


def crowd(description: dict[str, Any], agents: int) -> dict[str, int]:
    """Return the parameters that make so many agents; where they are a sum, shared evenly."""
    terms = str(description["agents"]).split(" + ")
    names = [term for term in terms if not term.isdecimal()]
    if not names:
        return {}
    agents -= sum(int(term) for term in terms if term.isdecimal())
    shares = [(agents + k) // len(names) for k in range(len(names))]
    return dict(zip(names, reversed(shares), strict=True))


def own_agents(module: Any, name: str) -> int:
    """How many agents a world has when nobody asks for another number."""
    return _own(module, name)[0]


def worlds_of(module: Any, name: str, worlds: int, agents: int, megabytes: float = 1e6) -> int:
    """So many worlds, or fewer where they would hold more agents than that, or show more."""
    own, outputs = _own(module, name)
    return max(1, min(worlds, agents // own, int(megabytes * 1e6 / outputs)))


def _own(module: Any, name: str) -> tuple[int, int]:
    """Agents of a world by default, and the bytes of its outputs; found without torch."""
    simulator = module.Simulator(name, 1)
    facts = json.loads(simulator.instance)
    simulator.close()
    return facts["agents_per_world"], sum(output_bytes(facts).values())
