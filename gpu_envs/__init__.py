"""Reinforcement-learning environments that run thousands of worlds at once, on a GPU or the CPU.

Importing the package registers its environments with Gymnasium and loads no native code and no
array library:

    import gymnasium, gpu_envs
    env = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=4096)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gpu_envs.registration import register_all

if TYPE_CHECKING:
    from gpu_envs.errors import ResetNeeded
    from gpu_envs.registration import environments, make, make_vec
    from gpu_envs.simulator import Outputs, Simulator
    from gpu_envs.single import Env
    from gpu_envs.vector import VectorEnv

_HOMES = {
    "Env": "single",
    "Outputs": "simulator",
    "ResetNeeded": "errors",
    "Simulator": "simulator",
    "VectorEnv": "vector",
    "environments": "registration",
    "make": "registration",
    "make_vec": "registration",
}

__all__ = [
    "Env",
    "Outputs",
    "ResetNeeded",
    "Simulator",
    "VectorEnv",
    "environments",
    "make",
    "make_vec",
]

register_all()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("gpu_envs")
    if name not in _HOMES:
        raise AttributeError(f"module 'gpu_envs' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gpu_envs.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what is loaded and what can be."""
    return sorted({*globals(), *_HOMES})
