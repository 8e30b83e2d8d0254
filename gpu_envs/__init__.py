"""Reinforcement-learning environments that run thousands of worlds at once, on a GPU or the CPU.

Importing the package registers its environments with Gymnasium and PettingZoo and loads no native
code and no array library:

    import gymnasium, gpu_envs
    env = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=4096)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gpu_envs.faces import zoo_registry
from gpu_envs.known import extras, registration

if TYPE_CHECKING:
    from gpu_envs.core.mixed import MixedSimulator
    from gpu_envs.core.ranges import choice, log_uniform, normal, uniform
    from gpu_envs.core.simulator import Simulator
    from gpu_envs.errors import ResetNeeded
    from gpu_envs.faces.batched_parallel import BatchedParallelEnv, batched_parallel_env
    from gpu_envs.faces.making import make, make_vec
    from gpu_envs.faces.mixed import MixedVectorEnv
    from gpu_envs.faces.parallel import ParallelEnv, parallel_env
    from gpu_envs.faces.single import Env
    from gpu_envs.faces.turns import TurnEnv, aec_env
    from gpu_envs.faces.vector import VectorEnv
    from gpu_envs.known.outputs import Outputs
    from gpu_envs.known.registration import environments

_HOMES = {
    "BatchedParallelEnv": "faces.batched_parallel",
    "Env": "faces.single",
    "MixedSimulator": "core.mixed",
    "MixedVectorEnv": "faces.mixed",
    "Outputs": "known.outputs",
    "ParallelEnv": "faces.parallel",
    "ResetNeeded": "errors",
    "Simulator": "core.simulator",
    "TurnEnv": "faces.turns",
    "VectorEnv": "faces.vector",
    "aec_env": "faces.turns",
    "batched_parallel_env": "faces.batched_parallel",
    "choice": "core.ranges",
    "environments": "known.registration",
    "log_uniform": "core.ranges",
    "make": "faces.making",
    "make_vec": "faces.making",
    "normal": "core.ranges",
    "parallel_env": "faces.parallel",
    "uniform": "core.ranges",
}

__all__ = [
    "BatchedParallelEnv",
    "Env",
    "MixedSimulator",
    "MixedVectorEnv",
    "Outputs",
    "ParallelEnv",
    "ResetNeeded",
    "Simulator",
    "TurnEnv",
    "VectorEnv",
    "aec_env",
    "batched_parallel_env",
    "choice",
    "environments",
    "log_uniform",
    "make",
    "make_vec",
    "normal",
    "parallel_env",
    "uniform",
]

try:
    registration.register_all()
except ModuleNotFoundError as _problem:
    raise extras.wrong_interpreter(_problem) from None
zoo_registry.register_all()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("gpu_envs")
    if name == "suites":
        return importlib.import_module("gpu_envs.suites")
    if name not in _HOMES:
        raise AttributeError(f"module 'gpu_envs' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gpu_envs.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what is loaded and what can be."""
    return sorted({*globals(), *_HOMES, "suites"})
