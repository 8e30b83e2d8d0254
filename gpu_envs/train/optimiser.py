"""The optimiser: Adam or Lamb, and the learning rate over a run.

Lamb and the scaling of the rate by the batch are the large-batch recipe of Shacklett et al. 2021
(Large Batch Simulation for Deep Reinforcement Learning).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from gpu_envs.train.config import Config

_EPSILON = 1e-5  # beside the root of a gradient's mean square
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
    # By cosine from the scaled rate down to the plain one within half of the run; without a scale,
    # down to zero over the whole run.
    low, part = (base, min(2 * fraction, 1.0)) if scale > 1 else (0.0, fraction)
    return low + (high - low) * 0.5 * (1 + math.cos(math.pi * part))


class Flat:
    """Parameters side by side in one tensor, and their gradients in another.

    One operation then clears, adds up or moves all of them; their addresses, which graphs and
    native code hold, never change.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.values = torch.cat([parameter.detach().flatten() for parameter in parameters])
        self.gradient = torch.zeros_like(self.values)
        sizes = [parameter.numel() for parameter in parameters]
        parts = zip(torch.split(self.values, sizes), torch.split(self.gradient, sizes), strict=True)
        for parameter, (value, gradient) in zip(parameters, parts, strict=True):
            parameter.data = value.view_as(parameter)
            parameter.grad = gradient.view_as(parameter)


class Optimiser(Protocol):
    """Moves parameters along their gradients, at a rate that is a tensor.

    A captured step reads the present rate.
    """

    rate: Tensor

    def step(self) -> None:
        """Move all parameters."""

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state."""


def make(config: Config, flat: Flat) -> Optimiser:
    """Return the optimiser."""
    rate = torch.tensor(config.learning_rate, device=flat.values.device)
    kind = Lamb if config.optimizer == "lamb" else Adam
    return kind(flat, rate, weight_decay=config.weight_decay)


class _Moments:
    """State of an optimiser: running means of gradients and of their squares, and how many."""

    def __init__(self, flat: Flat, rate: Tensor) -> None:
        self.flat, self.rate = flat, rate
        self.first, self.second = torch.zeros_like(flat.values), torch.zeros_like(flat.values)
        self.count = torch.zeros((), device=flat.values.device)

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {"first": self.first, "second": self.second, "count": self.count}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state in place: captured graphs hold the addresses."""
        for name, own in self.state_dict().items():
            own.copy_(state[name])


class Adam(_Moments):
    """Adam (Kingma and Ba 2015), with decoupled weight decay (Loshchilov and Hutter 2019).

    Torch's own fused step on one tensor, without what its class does around it in Python.
    """

    def __init__(self, flat: Flat, rate: Tensor, *, weight_decay: float = 0.0) -> None:
        super().__init__(flat, rate)
        self.weight_decay = weight_decay

    @torch.no_grad()
    def step(self) -> None:
        """Move all parameters."""
        self.count += 1
        torch._fused_adamw_(
            *([self.flat.values], [self.flat.gradient], [self.first], [self.second], []),
            [self.count],
            lr=self.rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.weight_decay,
            eps=_EPSILON,
            amsgrad=False,
            maximize=False,
        )


class Lamb(_Moments):
    """Adam's step, scaled for each tensor by its own size (You et al. 2020).

    The ratio of sizes is clipped to [rho, 1 / rho], and vectors (biases, norms) have none.
    """

    def __init__(
        self,
        flat: Flat,
        rate: Tensor,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float = 0.01,
        rho: float = 0.01,
    ) -> None:
        super().__init__(flat, rate)
        self.betas, self.weight_decay, self.rho = betas, weight_decay, rho
        self.sizes = [parameter.numel() for parameter in flat.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Move all parameters."""
        low, high = self.betas
        gradient = self.flat.gradient
        self.count += 1
        self.first.lerp_(gradient, 1 - low)
        self.second.mul_(high).addcmul_(gradient, gradient, value=1 - high)
        move = (self.second / (1 - high**self.count)).sqrt_().add_(_EPSILON)
        move = (self.first / (1 - low**self.count)).div_(move)
        move.add_(self.flat.values, alpha=self.weight_decay)
        for p, part in zip(self.flat.parameters, torch.split(move, self.sizes), strict=True):
            ratio = torch.ones_like(self.rate)
            if p.dim() > 1:
                weight, length = p.norm(), part.norm()
                ratio = (weight.clamp(max=10) / length).clamp(self.rho, 1 / self.rho)
                ratio = torch.where((weight > 0) & (length > 0), ratio, torch.ones_like(ratio))
            p.sub_(part.view_as(p) * (self.rate * ratio))
