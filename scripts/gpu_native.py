"""What the scripts for a GPU machine share: engines and modules without the Python package.

A bare GPU machine may lack Gymnasium, which the package imports, so the package's builder is
imported by itself, and what it builds is loaded by path. NumPy is needed; memory on the GPU, CUDA
graphs and events come from torch.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.machinery
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "gpu_envs"))
from building import labels, places, processor, recipes, upkeep  # noqa: E402

sys.path.remove(str(ROOT / "gpu_envs"))  # whose other files have names that others have too

TEST_ENVIRONMENT = "arena"  # of the native tests: it uses every stage of the engine
TEST_BUILD = ROOT / "build" / "gpu"
LEAN = ("obs", "reward", "terminated", "truncated")
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
    """Whether a Python package is installed."""
    return importlib.util.find_spec(package) is not None


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


def cpu_levels() -> list[str]:
    """Instruction sets that are built and that this processor runs, best first."""
    return [level for level in processor.runnable_levels() if _is_built(f"cpu_{level}")]


def _is_built(target: str) -> bool:
    files = (places.engine_file(target), places.bindings_file(target))
    return all(map(_is_of_this_engine, files))


@functools.cache
def engine(target: str) -> Any:
    """Load an engine's bindings by path, such as those of "cuda", for this interpreter.

    Where the package has them already, those: they cannot be loaded twice.
    """
    name = f"gpu_envs.modules._{target}"
    if name not in sys.modules:
        for file in (places.engine_file(target), places.bindings_file(target)):
            labels.verify(file)
        path = str(places.bindings_file(target))
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


def load(target: str, only: str = "") -> Any:
    """An engine's bindings with all modules that are built for it, or with the one of an id."""
    module = engine(target)
    for file in _built(target):
        catalogue = places.CATALOGUE / f"{file.name.split('.')[0]}.json"
        ids = _described(catalogue.read_text(encoding="utf-8")) if catalogue.exists() else [only]
        if not only or only in ids:
            labels.verify(file)
            module.load(str(file))
    return module


def _described(text: str) -> list[str]:
    return [description["id"] for description in json.loads(text)]


def _built(target: str, *, tests: bool = True) -> list[Path]:
    """Modules that are built for a target, of the tests' own environment the last."""
    files = [places.module_file(stem, target) for stem in places.environments()]
    files += [places.module_file(TEST_ENVIRONMENT, target, TEST_BUILD)] if tests else []
    return [file for file in files if _is_of_this_engine(file)]


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


def tested(dry_run: bool, only: str = "") -> Any:
    """What is under test: CUDA, or the plainest CPU engine as its stand-in."""
    return load(_cpu(-1) if dry_run else "cuda", only)


def reference() -> Any:
    """The best CPU engine, which everything is compared with."""
    return load(_cpu(0))


def environments(module: Any, *, tests: bool = False) -> list[dict[str, Any]]:
    """Descriptions of what an engine can make, the tests' own environment too if asked for."""
    files = _built(module.__name__.rpartition("._")[2], tests=tests)
    return [description for file in files for description in json.loads(module.describe(str(file)))]


class Slot:
    """Memory for one step's outputs: raw bytes, zero at first."""

    def __init__(self, module: Any, outputs: dict[str, int], on_gpu: bool) -> None:
        self.on_gpu = on_gpu
        self.buffers = {name: zeros(size, on_gpu) for name, size in outputs.items()}
        places = [
            address(self.buffers[name]) if name in self.buffers else 0 for name in module.OUTPUTS
        ]
        self.addresses = module.Addresses(places)

    def differing(self, other: Slot) -> list[str]:
        """The names of outputs that are not the same, compared where they are."""
        same = torch().equal if self.on_gpu else np.array_equal
        return [name for name in self.buffers if not same(self.buffers[name], other.buffers[name])]

    def read(self) -> dict[str, bytes]:
        """Copy every output to the host."""
        return {name: on_host(buffer).tobytes() for name, buffer in self.buffers.items()}


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
    return facts["agents_per_world"], sum(_output_bytes(facts).values())


def _output_bytes(facts: dict[str, Any]) -> dict[str, int]:
    return {
        name: int(np.prod(field["shape"])) * np.dtype(field["type"]).itemsize
        for name, field in facts["outputs"].items()
    }


class Run:
    """A native simulator with outputs and random actions in memory of its own."""

    def __init__(
        self, module: Any, name: str, worlds: int, *, lean: bool = False, **options: Any
    ) -> None:
        self.module, self.worlds = module, worlds
        self.on_gpu: bool = module.MACHINE == "cuda"
        self.simulator = module.Simulator(name, worlds, **options)
        self.facts: dict[str, Any] = json.loads(self.simulator.instance)
        self.units: int = worlds * self.facts["agents_per_world"]
        sizes = _output_bytes(self.facts)
        self.outputs = {o: size for o, size in sizes.items() if not lean or o in LEAN}
        self.slot = self.new_slot()
        self.action_type, self.actions = self._prepare(8)

    def new_slot(self) -> Slot:
        """Make memory for one more step's outputs."""
        return Slot(self.module, self.outputs, self.on_gpu)

    def _prepare(self, count: int) -> tuple[str, list[Any]]:
        """Draw `count` valid arrays of actions, the same ones on every machine."""
        random, fields = np.random.default_rng(0), self.facts["action"]
        words = sum(int(np.prod(field["shape"], dtype=int)) for field in fields)
        if fields[0]["choices"]:
            sizes = [int(np.prod(field["shape"], dtype=int)) for field in fields]
            most = np.repeat([field["choices"] for field in fields], sizes)
            arrays = [random.integers(0, most, (self.units, words)) for _ in range(count)]
        else:
            low, high = (np.clip(fields[0][end] or 0.0, -1, 1) for end in ("low", "high"))
            drawn = (random.uniform(low, high, (self.units, words)) for _ in range(count))
            arrays = [array.astype(np.float32) for array in drawn]
        kind = str(arrays[0].dtype)
        return kind, [on_device(array) if self.on_gpu else array for array in arrays]

    def reset(self, seed: int) -> None:
        """Begin all worlds anew."""
        self.simulator.reset(seed, 0, {}, self.slot.addresses, stream(self.on_gpu))

    def step(self, actions: Any, slot: Slot | None = None) -> None:
        """Enqueue one step on the current stream."""
        self.simulator.step(
            address(actions), self.action_type, (slot or self.slot).addresses, stream(self.on_gpu)
        )

    def stepper(self) -> Callable[[int], None]:
        """A step with as little Python around it as can be, on the stream that is current now."""
        places, last = [address(a) for a in self.actions], len(self.actions) - 1
        step, kind, to, on = (
            self.simulator.step,
            self.action_type,
            self.slot.addresses,
            stream(self.on_gpu),
        )
        return lambda i: step(places[i & last], kind, to, on)

    def records(self) -> bytes:
        """All records, in canonical order."""
        found: bytes = self.simulator.read_records(0, self.worlds)
        return found

    def close(self) -> None:
        """Free the simulator; the outputs go with this object."""
        self.simulator.close()


# ---- memory, streams and graphs: torch on a GPU, NumPy on the CPU


def torch() -> Any:
    """Import torch, only where it is used."""
    return importlib.import_module("torch")


def zeros(size: int, on_gpu: bool) -> Any:
    """Zeroed bytes."""
    if on_gpu:
        return torch().zeros(size, dtype=torch().uint8, device="cuda")
    return np.zeros(size, np.uint8)


def on_device(array: np.ndarray) -> Any:
    """Copy an array to the GPU."""
    return torch().from_numpy(array).to("cuda")


def on_host(array: Any) -> np.ndarray:
    """Copy a tensor to the host; an array is there."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.cpu())


def address(array: Any) -> int:
    """Where an array or a tensor begins."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data_ptr())


def copy_into(target: Any, source: Any) -> None:
    """Copy on the current stream."""
    if isinstance(target, np.ndarray):
        np.copyto(target, source)
    else:
        target.copy_(source)


def stream(on_gpu: bool) -> int:
    """The current stream's handle."""
    return int(torch().cuda.current_stream().cuda_stream) if on_gpu else 0


def synchronize(on_gpu: bool) -> None:
    """Wait for the GPU."""
    if on_gpu:
        torch().cuda.synchronize()


def capture(work: Callable[[], None], on_gpu: bool) -> Callable[[], None]:
    """Capture work in a CUDA graph and return its replay; on the CPU the work itself."""
    if not on_gpu:
        return work
    synchronize(on_gpu)
    graph = torch().cuda.CUDAGraph()
    with torch().cuda.graph(graph):
        work()
    replay: Callable[[], None] = graph.replay
    return replay


def time_call(call: Callable[[int], object], on_gpu: bool, seconds: float = 0.05) -> float:
    """Seconds per call: the median of three runs, after a warm-up that finds their length."""
    count = 1
    while (elapsed := _time_many(call, count, on_gpu)) < seconds / 4 and count < 1 << 20:
        count *= 2
    count = max(1, round(count * seconds / max(elapsed, 1e-9)))
    return statistics.median(_time_many(call, count, on_gpu) / count for _ in range(3))


def _time_many(call: Callable[[int], object], count: int, on_gpu: bool) -> float:
    if not on_gpu:
        begin = time.perf_counter()
        for i in range(count):
            call(i)
        return time.perf_counter() - begin
    cuda = torch().cuda
    first, last = (cuda.Event(enable_timing=True) for _ in range(2))
    cuda.synchronize()
    first.record()
    for i in range(count):
        call(i)
    last.record()
    last.synchronize()
    return float(first.elapsed_time(last)) / 1e3
