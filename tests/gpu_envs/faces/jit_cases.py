"""What tests of `VectorEnv.xla` share: environments that have been reset, actions, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pytest

import gpu_envs

NAME = "CartPole-v0"
Make = Callable[..., Any]


@contextmanager
def environments() -> Iterator[Make]:
    """Yield a function that makes environments on the CPU, reset, which are closed at the end."""
    made = []

    def make(num_envs: int = 4, name: str = NAME, **options: Any) -> Any:
        env = gpu_envs.make_vec(name, num_envs, device="cpu", **options)
        made.append(env)
        env.reset(seed=5)
        return env

    yield make
    for env in made:
        env.close()


def actions_of(steps: int, worlds: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (steps, worlds)).astype(np.int32)


def wait(handle: Any) -> np.ndarray:
    return np.asarray(handle)


def refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:  # of JAX
        jax.block_until_ready(call())
    assert "\n" not in str(caught.value)
