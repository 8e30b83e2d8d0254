"""What tests of `VectorEnv.compiled` share: environments that have been reset, actions, errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import torch
import torch._functorch.config
import torch._inductor.config

import gpu_envs

NAME = "CartPole-v0"
Make = Callable[..., Any]
EAGER = {
    "fullgraph": True,
    "backend": "aot_eager",
}  # has no compiler behind it, which takes seconds


@contextmanager
def environments() -> Iterator[Make]:
    """Yield a function that makes environments on the CPU, reset, which are closed at the end."""
    made = []

    def make(num_envs: int = 4, name: str = NAME, **options: Any) -> Any:
        options = {"arrays": "torch", "device": "cpu"} | options
        env = gpu_envs.make_vec(name, num_envs, **options)
        made.append(env)
        env.reset(seed=5)
        return env

    torch.compiler.reset()
    logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)
    yield make
    for env in made:
        env.close()


def by_inductor(function: Any) -> Any:
    """Compile for real; graphs on disk would not ask what the operators are now."""
    program = torch.compile(function, fullgraph=True)

    def run(*given: Any) -> Any:
        with ExitStack() as off:
            off.enter_context(torch._inductor.config.patch(fx_graph_cache=False))
            if hasattr(torch._functorch.config, "enable_autograd_cache"):  # not in torch 2.4
                off.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
            return program(*given)

    return run


def actions_of(steps: int, worlds: int = 4, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 2, (steps, worlds), generator=generator)


def refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(Exception, match=message):  # of torch's kinds, where a program is traced
        call()
