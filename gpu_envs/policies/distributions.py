"""Distributions of actions: a policy's outputs as samples and probabilities.

A `Categorical` serves Discrete and MultiDiscrete spaces (independent heads beside each other, and a
mask whose zeros have no probability); a `Gaussian` serves Box spaces. Both draw by given uniform
noise: the same noise gives the same actions on every machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

ILLEGAL = -1e9  # logit of an action that the mask forbids: its probability is zero in float32


class Distribution(ABC):
    """A distribution over one space; `outputs` counts the numbers of a row of the network."""

    outputs: int  # numbers from the network
    draws: int  # uniform numbers that a sample needs
    type: torch.dtype  # of a stored action
    shape: tuple[int, ...]  # of a stored action
    is_bounded_later = False  # whether the environment takes another form of it

    @abstractmethod
    def normalised(self, outputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return the outputs in the form that the other methods take."""

    @abstractmethod
    def sample(self, outputs: Tensor, noise: Tensor) -> Tensor:
        """Draw an action for each row."""

    @abstractmethod
    def likeliest(self, outputs: Tensor) -> Tensor:
        """Return the most probable action of each row."""

    @abstractmethod
    def uniform(self, noise: Tensor, mask: Tensor | None) -> Tensor:
        """Draw an action for each row, uniformly among those that the mask allows."""

    @abstractmethod
    def log_prob(self, outputs: Tensor, action: Tensor) -> Tensor:
        """Return the logarithm of the probability (density) of an action for each row."""

    @abstractmethod
    def entropy(self, outputs: Tensor) -> Tensor:
        """Return the entropy of each row."""

    def for_env(self, action: Tensor) -> Tensor:
        """Return a stored action as the environment takes it."""
        return action

    def stored(self, action: Tensor) -> Tensor:
        """Return an action of the environment as it is stored."""
        return action.to(self.type)


class Categorical(Distribution):
    """One choice, or several independent ones."""

    type = torch.int64

    def __init__(self, counts: tuple[int, ...], *, is_single: bool) -> None:
        self.counts, self.is_single = counts, is_single
        self.outputs, self.draws = sum(counts), len(counts)
        self.shape = () if is_single else (len(counts),)

    def normalised(self, outputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return log-probabilities, head by head."""
        if mask is not None:
            outputs = outputs.masked_fill(mask == 0, ILLEGAL)
        if self.is_single:
            return outputs.log_softmax(-1)
        return torch.cat(
            [head.log_softmax(-1) for head in torch.split(outputs, list(self.counts), -1)], -1
        )

    def sample(self, outputs: Tensor, noise: Tensor) -> Tensor:
        """Draw by inverting the cumulative probabilities."""
        if self.is_single:
            return _inverse(outputs, noise)
        heads = torch.split(outputs, list(self.counts), -1)
        drawn = [_inverse(head, noise[..., k : k + 1]) for k, head in enumerate(heads)]
        return torch.stack(drawn, -1)

    def likeliest(self, outputs: Tensor) -> Tensor:
        """Return the most probable choice of each head."""
        heads = [head.argmax(-1) for head in torch.split(outputs, list(self.counts), -1)]
        return heads[0] if self.is_single else torch.stack(heads, -1)

    def uniform(self, noise: Tensor, mask: Tensor | None) -> Tensor:
        """Draw from equal outputs."""
        same = noise.new_zeros((*noise.shape[:-1], self.outputs))
        return self.sample(self.normalised(same, mask), noise)

    def log_prob(self, outputs: Tensor, action: Tensor) -> Tensor:
        """Return the sum over the heads."""
        if self.is_single:
            return outputs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
        heads = torch.split(outputs, list(self.counts), -1)
        parts = [head.gather(-1, action[..., k : k + 1]) for k, head in enumerate(heads)]
        return torch.cat(parts, -1).sum(-1)

    def entropy(self, outputs: Tensor) -> Tensor:
        """Return the sum over the heads."""
        return -(outputs.exp() * outputs).sum(-1)


def _inverse(log_probs: Tensor, noise: Tensor) -> Tensor:
    # In double precision: a GPU adds in an order of its own, and where sums of single precision
    # differ by rounding alone, an action between them would be drawn though it is forbidden.
    sums = log_probs.exp().cumsum(-1, dtype=torch.float64)
    return (sums < noise * sums[..., -1:]).sum(-1)


class Gaussian(Distribution):
    """Independent normal distributions; finite bounds of the space are mapped to [-1, 1]."""

    type = torch.float32
    is_bounded_later = True

    def __init__(self, space: spaces.Box, device: torch.device) -> None:
        self.shape, size = space.shape, int(np.prod(space.shape))
        self.outputs, self.draws = 2 * size, 2 * size
        low, high = (torch.as_tensor(b.ravel(), device=device) for b in (space.low, space.high))
        self.is_bounded = low.isfinite() & high.isfinite()
        one = torch.ones_like(low)
        self.centre = torch.where(self.is_bounded, low / 2 + high / 2, 0 * one)
        self.reach = torch.where(self.is_bounded, high / 2 - low / 2, one)
        self.low, self.high = low, high

    def normalised(self, outputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return means, then logarithms of deviations within sane limits."""
        mean, log_std = outputs.chunk(2, -1)
        return torch.cat((mean, log_std.clamp(-10, 2)), -1)

    def sample(self, outputs: Tensor, noise: Tensor) -> Tensor:
        """Draw by the method of Box and Muller."""
        mean, log_std = outputs.chunk(2, -1)
        radius, turn = noise.chunk(2, -1)
        normal = (-2 * radius.log()).sqrt() * (2 * math.pi * turn).cos()
        return self._shaped(mean + log_std.exp() * normal)

    def likeliest(self, outputs: Tensor) -> Tensor:
        """Return the means."""
        return self._shaped(outputs.chunk(2, -1)[0])

    def uniform(self, noise: Tensor, mask: Tensor | None) -> Tensor:
        """Draw evenly from within the bounds; where there are none, a standard normal number."""
        plain = self.sample(torch.zeros_like(noise), noise).view(*noise.shape[:-1], -1)
        even = 2 * noise.chunk(2, -1)[0] - 1
        return self._shaped(torch.where(self.is_bounded, even, plain))

    def log_prob(self, outputs: Tensor, action: Tensor) -> Tensor:
        """Return the logarithm of the density of the action before it was bounded."""
        mean, log_std = outputs.chunk(2, -1)
        away = (action.reshape(mean.shape) - mean) * (-log_std).exp()
        return (-0.5 * away.square() - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self, outputs: Tensor) -> Tensor:
        """Return the differential entropy."""
        return (outputs.chunk(2, -1)[1] + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)

    def for_env(self, action: Tensor) -> Tensor:
        """Return the action within the bounds of the space."""
        rows = self.centre + self.reach * action.reshape(-1, len(self.low))
        return torch.minimum(torch.maximum(rows, self.low), self.high).view(action.shape)

    def stored(self, action: Tensor) -> Tensor:
        """Return an action of the environment as it is stored: bounds become -1 and 1."""
        rows = action.to(self.type).reshape(-1, len(self.low))
        return ((rows - self.centre) / self.reach).view(action.shape)

    def in_units(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations in the units of the space, before actions are bounded."""
        mean, log_std = outputs.chunk(2, -1)
        means = self._shaped(self.centre + self.reach * mean)
        return means, self._shaped(self.reach * log_std.exp())

    def _shaped(self, rows: Tensor) -> Tensor:
        return rows.view(*rows.shape[:-1], *self.shape)


def of_space(space: Any, device: torch.device) -> Distribution:
    """Return the distribution over a space of actions."""
    if isinstance(space, spaces.Discrete):
        return Categorical((int(space.n),), is_single=True)
    if isinstance(space, spaces.MultiDiscrete):
        return Categorical(tuple(int(n) for n in space.nvec.ravel()), is_single=False)
    if isinstance(space, spaces.Box) and space.dtype == np.float32:
        return Gaussian(space, device)
    raise ValueError(
        f"the trainer knows Discrete, MultiDiscrete and float32 Box actions, not {space}"
    )
