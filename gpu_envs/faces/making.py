"""`gpu_envs.make` and `gpu_envs.make_vec`: Gymnasium's, with this package's environments first."""

from __future__ import annotations

from typing import Any

import gymnasium

from gpu_envs.faces.vector import VectorEnv
from gpu_envs.known.registration import NAMESPACE, find


def make(name: str, **options: Any) -> gymnasium.Env[Any, Any]:
    """Make one environment: `gymnasium.make`, looking among this package's environments first."""
    return gymnasium.make(f"{NAMESPACE}/{find(name)['id']}", **options)


def make_vec(
    name: str, num_envs: int = 1, **options: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Make a batch: `gymnasium.make_vec`, looking among this package's environments first."""
    if gymnasium.__version__.startswith("0."):  # whose make_vec passes no keywords on
        return VectorEnv(name, num_envs, **options)
    return gymnasium.make_vec(f"{NAMESPACE}/{find(name)['id']}", num_envs=num_envs, **options)
