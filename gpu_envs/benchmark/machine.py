"""Describes this computer."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from gpu_envs.known import native

_PACKAGES = ("gpu_envs", "numpy", "gymnasium", "torch", "envpool", "gymnax", "jax")
# Cores of one machine may differ; the first one's caches stand for all.
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def version(package: str) -> str | None:
    """Return the version of an installed package, None where it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        # Those that a container or `taskset` allows, as in the engine (simulator/pool.hpp).
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float:
    """Processes that ran or waited in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _caches() -> dict[str, str]:
    """Sizes of the first core's caches, by level."""
    found: dict[str, str] = {}
    for folder in sorted(_CACHES.glob("index*")):
        try:
            level, kind, size = (
                (folder / name).read_text(encoding="ascii").strip()
                for name in ("level", "type", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


def describe(device: str) -> dict[str, Any]:
    """Describe the machine as it is at the start of a run."""
    machine, ordinal = native.parse_device(device)
    module = native.module(machine)
    return {
        "processor": _processor(),
        "cores": cores(),
        "caches": _caches(),
        "load_at_start": round(load(), 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: v for name in _PACKAGES if (v := version(name)) is not None},
        "device": f"cuda:{ordinal}" if machine == "cuda" else "cpu",
        "device_name": str(module.device_name(ordinal)) if machine == "cuda" else _processor(),
        "instruction_set": str(module.INSTRUCTION_SET),
    }
