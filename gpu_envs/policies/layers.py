"""Observations as rows of named fields, and plain layers, whose gradients need no autograd."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from gpu_envs.core.simulator import Simulator
from gpu_envs.known import native
from gpu_envs.policies.layered import Layered


def _tanh(x: Tensor) -> Tensor:
    # On a CPU torch's sigmoid takes a seventh of the time of its tanh.
    if x.device.type == "cpu" and not torch.compiler.is_compiling():
        return torch.sigmoid(x + x).mul(2).sub(1)
    return torch.tanh(x)


@functools.cache
def _native_tanh() -> Callable[[int, int], None]:
    found: Callable[[int, int], None] = native.module("cpu").tanh
    return found


def _tanh_in_place(x: Tensor) -> Tensor:
    if x.is_cuda:
        return x.tanh_()
    _native_tanh()(x.data_ptr(), x.numel())
    return x


def _behind_tanh(slope: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten.tanh_backward(slope, y)  # type: ignore[no-any-return]


def _behind_relu(slope: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten.threshold_backward(slope, y, 0)  # type: ignore[no-any-return]


ACTIVATIONS = {"tanh": _tanh, "relu": torch.relu}
_IN_PLACE = {"tanh": _tanh_in_place, "relu": torch.relu_}
_BEHIND = {"tanh": _behind_tanh, "relu": _behind_relu}  # derivative from the slope and the output
_NARROW = 16  # up to this many columns a layer's gradient is faster transposed
GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2)}


@dataclass(frozen=True)
class RowShape:
    """The contents of a row of observations: names and shapes of fields, in order."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    divisor: float  # of raw bytes that are pixels
    state: int = 0  # numbers in the state of a world
    channels_first: bool = False  # of pictures
    pictures: int = 0  # fields that are layers of a picture: the first ones
    scales: tuple[float, ...] = ()  # divisors by field, where observations are several arrays

    @classmethod
    def of(cls, simulator: Simulator, number: int = 0) -> RowShape:
        """Read it from a simulator, for agents of the kind of this number."""
        kind = simulator.kinds.kinds[number]
        fields = simulator.observation_fields if simulator.kinds.is_one else kind.fields
        is_picture = kind.has_pictures
        are_bytes = [f.type == "uint8" and f.high == 255 for f in fields]
        is_pixels, scales = all(are_bytes), tuple[float, ...]()
        if is_picture and (len(fields) > 1 or simulator.observation == "dict"):
            if not simulator.kinds.is_one:
                layers = " and ".join(field.name for field in fields)
                raise ValueError(
                    f"{kind.name} of {simulator.name} sees {layers}, and with named roles the "
                    f"trainer takes one layer: observation={fields[0].name!r}"
                )
            is_pixels, scales = False, tuple(255.0 if own else 1.0 for own in are_bytes)
        names, shapes = tuple(f.name for f in fields), tuple(f.shape for f in fields)
        if len(fields) == 1:  # whose shape may depend on the parameters
            shapes = (kind.row,)
        state = simulator.layout.output("state")
        size = 0 if state is None else math.prod(state.shape[1:])
        is_first = is_picture and simulator.parameters.get("channels") == "first"
        pictures = len(fields) - kind.numbers if is_picture else 0
        divisor = 255.0 if is_pixels else 1.0
        return cls(names, shapes, divisor, size, is_first, pictures, scales)

    @property
    def sizes(self) -> list[int]:
        """Numbers in each field."""
        return [math.prod(shape) for shape in self.shapes]

    @property
    def seen(self) -> int:
        """Numbers of a row that are pixels; all, where nothing is a picture."""
        return sum(self.sizes[: self.pictures or None])

    def flat(self, obs: Tensor | Layered | Mapping[str, Tensor], axes: int) -> Tensor:
        """Return float rows; the first `axes` axes are kept."""
        obs = obs.parts if isinstance(obs, Layered) else obs
        if isinstance(obs, Mapping):
            parts = [
                obs[name].flatten(axes) if obs[name].dim() > axes else obs[name].unsqueeze(-1)
                for name in self.names
            ]
            scales = self.scales or (1.0,) * len(parts)
            floats = zip(parts, scales, strict=True)
            obs = torch.cat([p.float() if s == 1.0 else p.float() / s for p, s in floats], -1)
        else:
            obs = (obs.flatten(axes) if obs.dim() > axes + 1 else obs).float()
        return obs if self.divisor == 1.0 else obs / self.divisor


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """Return a layer with orthogonal weights."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class _Chain(torch.autograd.Function):
    """Several layers as one operation, since small layers cost less than the calls between them."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, activation: str, active: int, *weights: Tensor) -> Tensor:
        """Return the outputs; `weights` are in pairs, `active` layers have an activation."""
        kept = _through(rows, activation, active, weights)
        ctx.save_for_backward(*kept, *weights)
        ctx.activation, ctx.active = activation, active
        return kept[-1]

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Any:
        """Return the slopes of rows and weights."""
        count = (len(ctx.saved_tensors) - 1) // 3
        kept, weights = ctx.saved_tensors[: count + 1], ctx.saved_tensors[count + 1 :]
        found: list[Tensor] = []
        for k, after in _back(slope, kept, ctx.activation, ctx.active, weights):
            found[:0] = (after.t().mm(kept[k]), after.sum(0))
            slope = after
        return (slope.mm(weights[0]) if ctx.needs_input_grad[0] else None, None, None, *found)


def _through(rows: Tensor, activation: str, active: int, weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the rows and the outputs of each layer."""
    kept, act = [rows], _IN_PLACE[activation]
    for k in range(len(weights) // 2):
        rows = torch.addmm(weights[2 * k + 1], rows, weights[2 * k].t())
        kept.append(act(rows) if k < active else rows)
        rows = kept[-1]
    return kept


def _back(
    slope: Tensor, kept: Sequence[Tensor], activation: str, active: int, weights: Sequence[Tensor]
) -> Iterator[tuple[int, Tensor]]:
    """Yield each layer's number and the slope of its sums, from the last to the first."""
    for k in reversed(range(len(weights) // 2)):
        if k < active:
            slope = _BEHIND[activation](slope, kept[k + 1])
        yield k, slope
        if k > 0:
            slope = slope.mm(weights[2 * k])


class Mlp(nn.Module):
    """Layers one after the other."""

    def __init__(self, inputs: int, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        sizes = (inputs, *widths)
        # tanh layers want the gain of their slope at zero; sqrt(2) is what PPO is tuned with.
        layers = [linear(i, o, math.sqrt(2)) for i, o in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        self.activation, self.outputs = activation, sizes[-1]
        # A module's call and its look-up of parameters cost more than the products of small rows.
        self.weights = [w for layer in layers for w in (layer.weight, layer.bias)]

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or the outputs of a linear head over them."""
        active = len(self.layers)
        weights = self.weights if head is None else [*self.weights, head.weight, head.bias]
        if torch.compiler.is_compiling() or torch.is_autocast_enabled(rows.device.type):
            for k in range(len(weights) // 2):
                rows = nn.functional.linear(rows, *weights[2 * k : 2 * k + 2])
                rows = ACTIVATIONS[self.activation](rows) if k < active else rows
            return rows
        if torch.is_grad_enabled():
            chain: Callable[..., Tensor] = _Chain.apply
            return chain(rows, self.activation, active, *weights)
        return _through(rows, self.activation, active, weights)[-1]

    def traced(self, rows: Tensor, head: nn.Linear) -> tuple[Tensor, Callable[[Tensor], None]]:
        """Return a linear head's outputs, and a function that adds to gradients by their slope.

        It does the work of autograd, without the cost of its graph.
        """
        weights, active = [*self.weights, head.weight, head.bias], len(self.layers)
        kept = _through(rows, self.activation, active, weights)
        ones = rows.new_ones(len(rows))

        def back(slope: Tensor) -> None:
            for k, after in _back(slope, kept, self.activation, active, weights):
                weight, bias = weights[2 * k].grad, weights[2 * k + 1].grad
                assert weight is not None and bias is not None  # the learner's own, which stay
                turned = after.t()
                if weight.shape[1] <= _NARROW:
                    weight.add_(kept[k].t().mm(after).t())
                else:
                    weight.addmm_(turned, kept[k])
                bias.addmv_(turned, ones)

        return kept[-1], back
