"""Memory, streams, graphs and timing of one machine: torch on a GPU, NumPy on the CPU.

Nothing here needs Gymnasium: scripts/gpu/check.sh measures on machines without it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_envs.benchmark.clock import Call, run_on_host

Array = Any  # an array of NumPy or a tensor of torch
Zeros = Callable[[int], "np.ndarray[Any, Any]"]
_own: Zeros | None = None  # in place of torch


def has(package: str) -> bool:
    """Whether a Python package is installed."""
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # replaced in sys.modules
        return False


def torch() -> Any:
    """Import torch, only where it is used."""
    return importlib.import_module("torch")


def use(zeros: Zeros) -> None:
    """Take a GPU's memory from a function instead of torch, where the host can reach all of it.

    Work goes to the legacy stream; graphs and times are torch's alone.
    """
    global _own
    _own = zeros


def ordinal(on_gpu: bool) -> int:
    """Number of the GPU that is torch's current one."""
    return int(torch().cuda.current_device()) if on_gpu and _own is None else 0


def zeros(size: int, on_gpu: bool) -> Array:
    """Zeroed bytes."""
    if on_gpu and _own is not None:
        return _own(size)
    if on_gpu:
        return torch().zeros(size, dtype=torch().uint8, device="cuda")
    return np.zeros(size, np.uint8)


def on_device(array: Array) -> Array:
    """Copy an array to the GPU."""
    if _own is not None:
        made = _own(array.nbytes).view(array.dtype).reshape(array.shape)
        made[...] = array
        return made
    return torch().from_numpy(array).to("cuda")


def on_host(array: Array) -> Array:
    """Copy a tensor to the host; an array is there."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.cpu())


def address(array: Array) -> int:
    """Address of an array or a tensor."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data_ptr())


def copy_into(target: Array, source: Array) -> None:
    """Copy on the current stream."""
    if isinstance(target, np.ndarray):
        np.copyto(target, source)
    else:
        target.copy_(source)


def are_equal(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same, compared on their device."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(torch().equal(one, other))


def stream(on_gpu: bool) -> int:
    """The current stream's handle."""
    return int(torch().cuda.current_stream().cuda_stream) if on_gpu and _own is None else 0


def synchronize(on_gpu: bool) -> None:
    """Wait for the GPU."""
    if on_gpu and _own is None:
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


def _run_on_device(call: Call, count: int) -> float:
    """Seconds that the device takes between two events, once all before is done."""
    cuda = torch().cuda
    first, last = (cuda.Event(enable_timing=True) for _ in range(2))
    cuda.synchronize()
    first.record()
    for i in range(count):
        call(i)
    last.record()
    last.synchronize()
    return float(first.elapsed_time(last)) / 1e3


def timed(on_gpu: bool) -> Callable[[Call, int], float]:
    """The runner of calls for a clock of this machine."""
    return _run_on_device if on_gpu else run_on_host


def issue_rate() -> float:
    """Warp instructions per second that all schedulers of a GPU can issue, four on each processor.

    By the clock that the driver states, in kHz.
    """
    facts = torch().cuda.get_device_properties(ordinal(True))
    clock = getattr(facts, "clock_rate", 0) or torch().cuda.clock_rate() * 1000
    return float(4 * facts.multi_processor_count * clock * 1e3)


def cache_bytes(on_gpu: bool) -> int:
    """Bytes of a GPU's second-level cache; 0 on the CPU, whose records travel anyhow."""
    if not on_gpu:
        return 0
    return int(getattr(torch().cuda.get_device_properties(ordinal(True)), "L2_cache_size", 0))
