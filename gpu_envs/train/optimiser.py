"""The optimiser: Adam or Lamb, and the learning rate over a run.

Lamb and the scaling of the rate by the batch are the large-batch recipe of Shacklett et al. 2021
(Large Batch Simulation for Deep Reinforcement Learning).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from gpu_envs.train.config import Config

_BASE_BATCH = 256  # samples of a gradient step for which the learning rate is meant


def learning_rate(config: Config, fraction: float) -> float:
    """Return the rate after a fraction of the run."""
    scale = max(1.0, math.sqrt(config.minibatch / _BASE_BATCH)) if config.scale_by_batch else 1.0
    base, high = config.learning_rate, config.learning_rate * scale
    fraction = min(fraction, 1.0)
    if config.schedule == "constant":
        return high
    if config.schedule == "linear":
        return high * (1 - fraction)
    # By cosine from the scaled rate down to the plain one (without a scale: to zero), in half the
    # run where there is a scale.
    low, part = (base, min(2 * fraction, 1.0)) if scale > 1 else (0.0, fraction)
    return low + (high - low) * 0.5 * (1 + math.cos(math.pi * part))


def make(
    config: Config, parameters: Iterable[Tensor], device: torch.device
) -> torch.optim.Optimizer:
    """Return the optimiser; its rate is a tensor, so that a captured step reads the present one."""
    rate = torch.tensor(config.learning_rate, device=device)
    is_cuda = device.type == "cuda"
    if config.optimizer == "lamb":
        return Lamb(parameters, rate, weight_decay=config.weight_decay)
    common: dict[str, Any] = {"lr": rate, "eps": 1e-5, "fused": True, "capturable": is_cuda}
    if config.weight_decay:
        return torch.optim.AdamW(parameters, weight_decay=config.weight_decay, **common)
    return torch.optim.Adam(parameters, **common)


def load(optimiser: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Continue from a saved state, with the tensor of the rate and the flags of this machine."""
    own = [
        {name: group[name] for name in ("lr", "fused", "capturable") if name in group}
        for group in optimiser.param_groups
    ]
    kept = zip(state["param_groups"], own, strict=True)
    optimiser.load_state_dict({**state, "param_groups": [{**k, **mine} for k, mine in kept]})
    for group, mine in zip(optimiser.param_groups, own, strict=True):
        group["lr"] = mine["lr"]  # which captured graphs read, not a copy


class Lamb(torch.optim.Optimizer):
    """Adam's step, scaled for each tensor by its own size (You et al. 2020).

    The ratio of sizes is clipped to [rho, 1 / rho], and vectors (biases, norms) have none.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: Tensor,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-5,
        weight_decay: float = 0.01,
        rho: float = 0.01,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "rho": rho}
        defaults["capturable"] = lr.is_cuda  # the count of steps is kept beside the parameters
        super().__init__(parameters, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        for group in self.param_groups:
            chosen = [p for p in group["params"] if p.grad is not None]
            if not chosen:
                continue
            for p in chosen:
                if not self.state[p]:
                    zeros = {"exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
                    self.state[p] = {"step": torch.zeros((), device=p.device), **zeros}
            first, second, count = (
                [self.state[p][name] for p in chosen] for name in ("exp_avg", "exp_avg_sq", "step")
            )
            self._move(group, chosen, first, second, count)

    def _move(
        self,
        group: dict[str, Any],
        chosen: list[Tensor],
        first: list[Tensor],
        second: list[Tensor],
        count: list[Tensor],
    ) -> None:
        low, high = group["betas"]
        gradients = [p.grad for p in chosen if p.grad is not None]
        torch._foreach_add_(count, 1)
        torch._foreach_lerp_(first, gradients, 1 - low)
        torch._foreach_mul_(second, high)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - high)
        done = count[0]
        size = torch._foreach_div(second, 1 - high**done)
        torch._foreach_sqrt_(size)
        torch._foreach_add_(size, group["eps"])
        moves = torch._foreach_div(first, 1 - low**done)
        torch._foreach_div_(moves, size)
        torch._foreach_add_(moves, chosen, alpha=group["weight_decay"])
        for p, move in zip(chosen, moves, strict=True):
            ratio = torch.ones_like(group["lr"])
            if p.dim() > 1:
                weight, length = p.norm(), move.norm()
                ratio = (weight.clamp(max=10) / length).clamp(group["rho"], 1 / group["rho"])
                ratio = torch.where((weight > 0) & (length > 0), ratio, torch.ones_like(ratio))
            p.sub_(move * (group["lr"] * ratio))
