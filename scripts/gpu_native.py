"""What the scripts for a GPU machine share: native modules without the Python package.

A bare GPU machine may lack Gymnasium, which the package imports, so modules are loaded by path.
NumPy is needed; memory on the GPU, CUDA graphs and events come from torch.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BUILD, TEST_BUILD = ROOT / "build" / "gpu", ROOT / "build" / "gpu_test"
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


def load(name: str, folder: Path = ROOT / "gpu_envs") -> Any:
    """Load a compiled module by its path, such as `_cuda`, for this interpreter.

    Where the package has it already, that one: a module cannot be loaded twice.
    """
    if folder == ROOT / "gpu_envs" and f"gpu_envs.{name}" in sys.modules:
        return sys.modules[f"gpu_envs.{name}"]
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.exists():
            loader = importlib.machinery.ExtensionFileLoader(name, str(path))
            spec = importlib.util.spec_from_file_location(name, path, loader=loader)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            return module
    raise FileNotFoundError(f"{folder.name} has no compiled module {name} for this interpreter")


def cpu_levels() -> list[str]:
    """Instruction sets that are built and that this processor runs, best first."""
    path = ROOT / "gpu_envs" / "native.py"
    spec = importlib.util.spec_from_file_location("gpu_envs_native", path)
    assert spec is not None and spec.loader is not None
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    folder = ROOT / "gpu_envs"
    return [
        level
        for level in native.runnable_levels()
        if any((folder / f"_cpu_{level}{suffix}").exists() for suffix in suffixes)
    ]


def tested(dry_run: bool) -> Any:
    """The module under test: CUDA, or the plainest CPU module as its stand-in."""
    return load(f"_cpu_{cpu_levels()[-1]}" if dry_run else "_cuda")


def all_tested(dry_run: bool) -> list[Any]:
    """The module under test, and the one with the tests' own environment where it is built."""
    modules = [tested(dry_run)]
    if not dry_run and any(TEST_BUILD.glob("_cuda*.so")):
        modules.append(load("_cuda", TEST_BUILD))
    return modules


def reference() -> Any:
    """The best CPU module, which everything is compared with."""
    return load(f"_cpu_{cpu_levels()[0]}")


def environments(module: Any) -> list[dict[str, Any]]:
    """Descriptions of the environments that a module holds."""
    found: list[dict[str, Any]] = json.loads(module.environments())
    return found


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
