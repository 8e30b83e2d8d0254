"""Chooses and loads the compiled modules; the only place that imports them.

The CPU module exists once per instruction set, and importing one that the processor cannot run
would crash, so the choice is made from the processor's flags before anything is loaded.
`GPU_ENVS_CPU=v2|v3|v4|generic` forces one.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_envs._native import Simulator as NativeSimulator

# What each level needs beyond the one before, as /proc/cpuinfo spells it.
_NEEDED = {
    "v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_LEVELS = ("v4", "v3", "v2", "generic")  # best first
_UNBUILT = (
    "gpu_envs has no compiled module for this machine: install the package with `pip install .` "
    "(a source tree is built in place by `pip install -e .`)"
)


def _exists(name: str) -> bool:
    return importlib.util.find_spec(f"gpu_envs.{name}") is not None


def _processor_flags() -> set[str]:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


def runnable_levels() -> tuple[str, ...]:
    """Instruction sets this processor can run, best first."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ("generic",)
    flags = _processor_flags()
    if not flags:  # no /proc: v2 is what every 64-bit x86 processor since 2009 has
        return ("v2", "generic")
    levels = ["generic"]
    for level in ("v2", "v3", "v4"):
        if not _NEEDED[level] <= flags:
            break
        levels.insert(0, level)
    return tuple(levels)


def _chosen_level() -> str:
    built = [level for level in _LEVELS if _exists(f"_cpu_{level}")]
    if not built:
        raise ImportError(_UNBUILT)
    runnable = runnable_levels()
    forced = os.environ.get("GPU_ENVS_CPU")
    if forced:
        if forced not in _LEVELS:
            raise ImportError(f"GPU_ENVS_CPU must be one of {', '.join(_LEVELS)}, got {forced!r}")
        if forced not in built:
            raise ImportError(f"GPU_ENVS_CPU={forced} is not built (built: {', '.join(built)})")
        if forced not in runnable:
            raise ImportError(
                f"GPU_ENVS_CPU={forced} cannot run here (runnable: {', '.join(runnable)})"
            )
        return forced
    for level in built:
        if level in runnable:
            return level
    raise ImportError(f"this processor runs {', '.join(runnable)}; built: {', '.join(built)}")


@functools.cache
def cpu() -> Any:
    """The CPU module of the best instruction set."""
    return importlib.import_module(f"gpu_envs._cpu_{_chosen_level()}")


@functools.cache
def cuda() -> Any:
    """The CUDA module; `ValueError` with one line of reason where no device can be used."""
    if not _exists("_cuda"):
        raise ValueError("device 'cuda' is not available: this build has no CUDA module")
    try:
        module = importlib.import_module("gpu_envs._cuda")
    except ImportError as problem:
        raise ValueError(f"device 'cuda' is not available: {problem}") from problem
    reason = module.device_problem()
    if reason:
        raise ValueError(f"device 'cuda' is not available: {reason}")
    return module


def cuda_is_available() -> bool:
    """Whether a CUDA device can be used."""
    if not _exists("_cuda"):
        return False
    try:
        return int(cuda().device_count()) > 0
    except ValueError:
        return False


def parse_device(device: str) -> tuple[str, int]:
    """Return machine and ordinal: "auto", "cpu", "cuda" or "cuda:1"."""
    name = str(device)
    if name == "auto":
        return ("cuda", 0) if cuda_is_available() else ("cpu", 0)
    machine, colon, ordinal = name.partition(":")
    if machine == "cpu" and not colon:
        return "cpu", 0
    if machine != "cuda" or (colon and not ordinal.isdecimal()):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:<n>', got {device!r}")
    index = int(ordinal or 0)
    count = int(cuda().device_count())
    if index >= count:
        raise ValueError(f"device {device!r} does not exist: {count} CUDA device(s) found")
    return "cuda", index


def module(machine: str) -> Any:
    """The module of a machine, "cpu" or "cuda"."""
    return cpu() if machine == "cpu" else cuda()


def make(machine: str, name: str, num_worlds: int, **options: Any) -> NativeSimulator:
    """Make a native simulator."""
    simulator: NativeSimulator = module(machine).Simulator(name, num_worlds, **options)
    return simulator
