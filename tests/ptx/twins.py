"""The same environment on the CPU and on interpreted kernels, with equal outputs to the byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gpu_envs

# Ids with few options and little work: one agent, several, neighbours on a grid, roles with masks.
MICRO = ("Micro-v0", {"agent_count": 3, "work": 1})
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "CartPole": ("CartPole-v0", {}),
    "Micro": MICRO,
    "TagGrid": ("TagGrid-v0", {"num_taggers": 3}),
    "CovidEconomy": ("CovidEconomy-v0", {}),
}


def on_host(found: Any) -> Any:
    """Return results with arrays of NumPy."""
    if isinstance(found, Mapping):
        return {key: on_host(value) for key, value in found.items()}
    if isinstance(found, tuple | list):
        return [on_host(value) for value in found]
    return found.get() if hasattr(found, "__cuda_array_interface__") else found


def _differ(here: Any, there: Any, path: str) -> list[str]:
    if isinstance(here, dict):
        if not isinstance(there, dict) or list(here) != list(there):
            return [f"{path}: {list(here)}, {list(there)}"]
        return [text for key in here for text in _differ(here[key], there[key], f"{path}.{key}")]
    if isinstance(here, list):
        if not isinstance(there, list) or len(here) != len(there):
            return [f"{path}: not as many"]
        pairs = enumerate(zip(here, there, strict=True))
        return [text for k, (a, b) in pairs for text in _differ(a, b, f"{path}[{k}]")]
    if not isinstance(here, np.ndarray):
        return [] if here == there else [f"{path}: {here!r}, {there!r}"]
    if not isinstance(there, np.ndarray) or (here.dtype, here.shape) != (there.dtype, there.shape):
        return [f"{path}: not of the same form"]
    return [] if here.tobytes() == there.tobytes() else [f"{path}: {here!r}, {there!r}"]


class Twins:
    """An environment on each machine; a call goes to both, and what they return is compared.

    Args:
        device: The array library of device "cuda".
        make: Takes `device` and `arrays`.
    """

    def __init__(self, device: Any, make: Callable[..., Any]) -> None:
        self._library = device
        self.cpu = make(device="cpu", arrays="numpy")
        self.gpu = make(device="cuda", arrays=device.name)

    def moved(self, given: Any) -> Any:
        """Return arguments of the CPU with arrays on the device."""
        if isinstance(given, dict):
            return {key: self.moved(value) for key, value in given.items()}
        return self._library.to_gpu(given) if isinstance(given, np.ndarray) else given

    def call(self, name: str, *given: Any, **more: Any) -> Any:
        """Call a method of both; return what the CPU's does."""
        there = getattr(self.gpu, name)(*map(self.moved, given), **self.moved(more))
        here = getattr(self.cpu, name)(*given, **more)
        return self.compare(here, there, name)

    def compare(self, here: Any, there: Any, what: str) -> Any:
        """Compare results; return the CPU's."""
        found = _differ(on_host(here), on_host(there), what)
        assert not found, found[0]
        return here

    def compare_worlds(self) -> None:
        """Compare all that the worlds have."""
        sides = [getattr(side, "simulator", side) for side in (self.cpu, self.gpu)]
        assert sides[0].save() == sides[1].save()

    def close(self) -> None:
        self.cpu.close()
        self.gpu.close()


def simulators(device: Any, name: str, worlds: int, **options: Any) -> Twins:
    """Return a simulator on each machine."""
    return Twins(device, lambda **where: gpu_envs.Simulator(name, worlds, **options, **where))
