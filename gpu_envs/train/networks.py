"""The networks: encoders of an observation, memory, and the policy with its two heads.

An observation is one row of named fields. `mlp` takes the row as it is; `cnn` runs over fields of
three axes (height, width, channels), `attention` over fields of two (entities, numbers), and both
take what remains as numbers. A row may also come as a dict of its fields.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from gpu_envs import native
from gpu_envs.simulator import Simulator
from gpu_envs.train.config import Config
from gpu_envs.train.distributions import Distribution


def _tanh(x: Tensor) -> Tensor:
    # On a CPU torch's sigmoid takes a seventh of the time of its tanh.
    return torch.sigmoid(x + x).mul(2).sub(1) if x.device.type == "cpu" else torch.tanh(x)


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


_ACTIVATIONS = {"tanh": _tanh, "relu": torch.relu}
_IN_PLACE = {"tanh": _tanh_in_place, "relu": torch.relu_}
_BEHIND = {"tanh": _behind_tanh, "relu": _behind_relu}  # from the slope and what came out
_NARROW = 16  # columns, up to which a layer's gradient comes out faster turned
_GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2)}
_CHANNELS = 32  # of convolutions
_HEADS = 4  # of attention
_IMAGE = 36  # from this side on, convolutions have strides
_FAR = 10.0  # where normalised observations end [deviations]
_LEAST = 1e-4  # variance of a number that hardly ever changes


@dataclass(frozen=True)
class RowShape:
    """What a row of observations holds: names and shapes of fields, in order."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    divisor: float  # of raw bytes that are pixels
    state: int = 0  # numbers in the state of a world

    @classmethod
    def of(cls, simulator: Simulator) -> RowShape:
        """Read it from a simulator."""
        fields = simulator.observation_fields
        is_pixels = all(f.type == "uint8" and f.high == 255 for f in fields)
        names, shapes = tuple(f.name for f in fields), tuple(f.shape for f in fields)
        output = simulator.layout.of("obs")
        assert output is not None  # of the required outputs
        if len(fields) == 1:  # whose shape the parameters may have decided
            shapes = (output.shape[2:],)
        state = simulator.layout.of("state")
        size = 0 if state is None else math.prod(state.shape[1:])
        return cls(names, shapes, 255.0 if is_pixels else 1.0, size)

    @property
    def sizes(self) -> list[int]:
        """Numbers in each field."""
        return [math.prod(shape) for shape in self.shapes]

    def flat(self, obs: Tensor | Mapping[str, Tensor], axes: int) -> Tensor:
        """Return float rows; the first `axes` axes are kept."""
        if isinstance(obs, Mapping):
            parts = [
                obs[name].flatten(axes) if obs[name].dim() > axes else obs[name].unsqueeze(-1)
                for name in self.names
            ]
            obs = torch.cat([part.float() for part in parts], -1)
        else:
            obs = (obs.flatten(axes) if obs.dim() > axes + 1 else obs).float()
        return obs if self.divisor == 1.0 else obs / self.divisor


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class _Chain(torch.autograd.Function):
    """Layers one after the other as one operation: small ones are cheaper than what joins them."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, activation: str, active: int, *weights: Tensor) -> Tensor:
        """Return what comes out; `weights` are in pairs, `active` layers have an activation."""
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
    """Return the rows and what each layer makes of them."""
    kept, act = [rows], _IN_PLACE[activation]
    for k in range(len(weights) // 2):
        rows = torch.addmm(weights[2 * k + 1], rows, weights[2 * k].t())
        kept.append(act(rows) if k < active else rows)
        rows = kept[-1]
    return kept


def _back(
    slope: Tensor, kept: Sequence[Tensor], activation: str, active: int, weights: Sequence[Tensor]
) -> Iterator[tuple[int, Tensor]]:
    """Yield each layer's number and the slope of what it adds up, from the last to the first."""
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
        layers = [_linear(i, o, math.sqrt(2)) for i, o in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        self.activation, self.outputs = activation, sizes[-1]
        # A module's call and its look-up of parameters cost more than the products of small rows.
        self.weights = [w for layer in layers for w in (layer.weight, layer.bias)]

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or what a linear head makes of them."""
        active = len(self.layers)
        weights = self.weights if head is None else [*self.weights, head.weight, head.bias]
        if torch.is_autocast_enabled(rows.device.type):
            for k in range(len(weights) // 2):
                rows = nn.functional.linear(rows, *weights[2 * k : 2 * k + 2])
                rows = _ACTIVATIONS[self.activation](rows) if k < active else rows
            return rows
        if torch.is_grad_enabled():
            chain: Callable[..., Tensor] = _Chain.apply
            return chain(rows, self.activation, active, *weights)
        return _through(rows, self.activation, active, weights)[-1]

    def traced(self, rows: Tensor, head: nn.Linear) -> tuple[Tensor, Callable[[Tensor], None]]:
        """Return what a linear head makes of rows, and what adds to gradients by its slope.

        That is what autograd would do, without what it costs to be told.
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


class Cnn(nn.Module):
    """Convolutions over each field of three axes, then layers over all there is."""

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.shape, self.activation = shape, _ACTIVATIONS[activation]
        self.images = [k for k, s in enumerate(shape.shapes) if len(s) == 3]
        if not self.images:
            raise ValueError(
                "--encoder cnn needs a field of three axes (height, width, channels); this "
                f"observation has {_listed(shape)}"
            )
        gain, stacks = _GAINS[activation], []
        size = sum(n for k, n in enumerate(shape.sizes) if k not in self.images)
        for k in self.images:
            height, width, depth = shape.shapes[k]
            is_large = min(height, width) >= _IMAGE
            plan = ((8, 4, 0), (4, 2, 0), (3, 1, 0)) if is_large else ((3, 1, 1), (3, 1, 1))
            stack = nn.ModuleList()
            for kernel, stride, margin in plan:
                conv = nn.Conv2d(depth, _CHANNELS, kernel, stride, margin)
                nn.init.orthogonal_(conv.weight, gain)
                nn.init.zeros_(conv.bias)  # type: ignore[arg-type]  # it has one
                stack.append(conv)
                height, width = ((n + 2 * margin - kernel) // stride + 1 for n in (height, width))
                depth = _CHANNELS
            stacks.append(stack)
            size += height * width * depth
        self.stacks = nn.ModuleList(stacks)
        self.last = Mlp(size, widths, activation)
        self.outputs = self.last.outputs

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or what a linear head makes of them."""
        parts = list(torch.split(rows, self.shape.sizes, -1))
        for k, stack in zip(self.images, self.stacks, strict=True):
            image = parts[k].view(-1, *self.shape.shapes[k]).movedim(-1, -3)
            for conv in stack:  # type: ignore[attr-defined]  # a list of modules
                image = self.activation(conv(image))
            parts[k] = image.flatten(-3)
        return self.last(torch.cat(parts, -1), head)  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Entities look at each other once; their mean joins the other numbers.

    An entity whose numbers are all zero is not there: nobody looks at it.
    """

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.shape, self.activation = shape, _ACTIVATIONS[activation]
        self.sets = [k for k, s in enumerate(shape.shapes) if len(s) == 2]
        if not self.sets:
            raise ValueError(
                "--encoder attention needs a field of two axes (entities, numbers); this "
                f"observation has {_listed(shape)}"
            )
        width = -(-widths[0] // _HEADS) * _HEADS
        own = sum(n for k, n in enumerate(shape.sizes) if k not in self.sets)
        gain = math.sqrt(2)
        self.own = _linear(max(own, 1), width, gain)
        self.embeddings = nn.ModuleList(_linear(shape.shapes[k][1], width, gain) for k in self.sets)
        self.norm_in, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = _linear(width, 3 * width, 1.0), _linear(width, width, 1.0)
        self.last = Mlp(2 * width, widths, activation)
        self.outputs = self.last.outputs

    def sets_in_row(self) -> list[tuple[int, int, int]]:
        """Return where each set begins in a row, its entities and the numbers of each."""
        begins = [0, *accumulate(self.shape.sizes)]
        return [(begins[k], *self.shape.shapes[k]) for k in self.sets]  # type: ignore[misc]

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or what a linear head makes of them."""
        parts = torch.split(rows, self.shape.sizes, -1)
        rest = [part for k, part in enumerate(parts) if k not in self.sets]
        own = torch.cat(rest, -1) if rest else torch.ones_like(rows[:, :1])
        own = self.activation(self.own(own))
        tokens, present = [own.unsqueeze(1)], [own.new_ones(len(own), 1, dtype=torch.bool)]
        for k, embed in zip(self.sets, self.embeddings, strict=True):
            entities = parts[k].view(-1, *self.shape.shapes[k])
            tokens.append(self.activation(embed(entities)) + own.unsqueeze(1))
            present.append((entities != 0).any(-1))
        there, x = torch.cat(present, 1), torch.cat(tokens, 1)
        q, k_, v = (
            part.unflatten(-1, (_HEADS, -1)).transpose(1, 2)
            for part in self.mix(self.norm_in(x)).chunk(3, -1)
        )
        seen = nn.functional.scaled_dot_product_attention(q, k_, v, attn_mask=there[:, None, None])
        x = self.norm_out(x + self.out(seen.transpose(1, 2).flatten(2)))
        weight = there[:, 1:, None].float()
        mean = (x[:, 1:] * weight).sum(1) / weight.sum(1).clamp(min=1)
        return self.last(torch.cat((x[:, 0], mean), -1), head)  # type: ignore[no-any-return]


def _listed(shape: RowShape) -> str:
    return ", ".join(f"{n} {s or 'scalar'}" for n, s in zip(shape.names, shape.shapes, strict=True))


def encoder(shape: RowShape, config: Config) -> nn.Module:
    """Return the encoder that the configuration names."""
    if config.encoder == "mlp":
        return Mlp(sum(shape.sizes), config.widths, config.activation)
    kind = Cnn if config.encoder == "cnn" else Attention
    return kind(shape, config.widths, config.activation)


class Scale(nn.Module):
    """Running mean and deviation of what the critic predicts; it learns in units of these."""

    moments: Tensor
    mean: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("moments", torch.zeros(3, dtype=torch.float64))  # weight, x, x^2
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("deviation", torch.ones(()))

    def update(self, sums: Tensor, memory: float) -> None:
        """Take in (count, sum, sum of squares) of new targets."""
        share = sums / sums[0].clamp(min=1)
        mixed = memory * self.moments + (1 - memory) * share
        self.moments.copy_(torch.where(sums[0] > 0, mixed, self.moments))
        mean, square = self.moments[1:] / self.moments[0].clamp(min=1e-12)
        deviation = (square - mean.square()).clamp(min=1e-4).sqrt()
        is_known = self.moments[0] > 0
        self.mean.copy_(torch.where(is_known, mean, 0.0))
        self.deviation.copy_(torch.where(is_known, deviation, 1.0))


class Inputs(nn.Module):
    """Brings each number of an observation to mean 0 and deviation 1 of all that were seen.

    Those of entities are divided by their root mean square over all entities of their set that are
    there: what is zero, and so not there, stays zero.

    Args:
        size: Of a row.
        sets: First number, entities and numbers of each, of the fields that are sets.
    """

    moments: Tensor
    mean: Tensor
    factor: Tensor

    def __init__(self, size: int, sets: Sequence[tuple[int, int, int]] = ()) -> None:
        super().__init__()
        self.sets = sets
        self.register_buffer("moments", torch.zeros(3, size, dtype=torch.float64))  # 1, x, x^2
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("factor", torch.ones(size))

    def look(self, rows: Tensor, join: Callable[[Tensor], Tensor]) -> None:
        """Take in new rows; `join` adds up what all ranks have seen."""
        x = rows.double()
        counted = torch.ones_like(x)
        for first, entities, numbers in self.sets:
            part = slice(first, first + entities * numbers)
            there = (x[:, part].reshape(-1, entities, numbers) != 0).any(2, keepdim=True)
            counted[:, part] = there.expand(-1, -1, numbers).flatten(1).double()
        self.moments += join(torch.stack((counted.sum(0), x.sum(0), x.square().sum(0))))
        sums = self.moments.clone()
        for first, entities, numbers in self.sets:
            own = sums[:, first : first + entities * numbers].view(3, entities, numbers)
            own.copy_(own.sum(1, keepdim=True))
            own[1].zero_()
        count = sums[0].clamp(min=1)
        mean, square = sums[1] / count, sums[2] / count
        self.mean.copy_(mean)
        self.factor.copy_((square - mean.square()).clamp(min=_LEAST).rsqrt())

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows that a network learns well from."""
        return ((rows - self.mean) * self.factor).clamp(-_FAR, _FAR)


class Policy(nn.Module):
    """Actor and critic of one kind of agent.

    Without memory both have an encoder of their own unless they share it; with memory (a GRU) they
    share encoder and memory. A critic that sees the state is always apart, and needs no memory.
    """

    def __init__(self, shape: RowShape, actions: Distribution, config: Config) -> None:
        super().__init__()
        self.shape, self.actions, self.memory_size = shape, actions, config.memory
        self.encoder = encoder(shape, config)
        self.inputs: Inputs | None = None
        if config.normalize_observations:
            sets = self.encoder.sets_in_row() if isinstance(self.encoder, Attention) else ()
            self.inputs = Inputs(sum(shape.sizes), sets)
        width: int = self.encoder.outputs  # type: ignore[assignment]  # all encoders have it
        self.sees_state = config.critic_state
        self.is_shared = config.share or (config.memory > 0 and not self.sees_state)
        self.state_inputs: Inputs | None = None
        self.critic_encoder: nn.Module | None = None
        critic_width = config.memory if config.memory and self.is_shared else width
        if self.sees_state:
            self.critic_encoder = made = self._state_encoder(config)
            critic_width = made.outputs
        elif not self.is_shared:
            self.critic_encoder = encoder(shape, config)
        if config.memory_norm and not config.memory:
            raise ValueError("--memory-norm needs --memory")
        if config.memory:
            norm = nn.LayerNorm if config.memory_norm else nn.Identity
            self.norm_in, self.norm_out = norm(width), norm(config.memory)
            self.cell = nn.GRUCell(width, config.memory)
            for name, weight in self.cell.named_parameters():
                nn.init.orthogonal_(weight) if "weight" in name else nn.init.zeros_(weight)
            width = config.memory
        # Small last weights: the first policy is nearly uniform, the first values nearly zero.
        is_gaussian = actions.type == torch.float32
        self.actor = _linear(width, actions.outputs // (2 if is_gaussian else 1), 0.01)
        self.log_std = nn.Parameter(torch.zeros(actions.outputs // 2)) if is_gaussian else None
        self.critic = _linear(critic_width, 1, 0.1)
        self.scale = Scale()

    def forward(
        self,
        obs: Tensor | Mapping[str, Tensor],
        mask: Tensor | None = None,
        memory: Tensor | None = None,
        state: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the action's distribution, the value in the critic's units, and the new memory.

        A critic that sees the state says zero where none is given.
        """
        outputs, value, memory = self.plain(obs, memory, state)
        return self._normalised(outputs, mask), value, memory

    def plain(
        self,
        obs: Tensor | Mapping[str, Tensor],
        memory: Tensor | None = None,
        state: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the network's own outputs (a normal distribution's means), value and memory."""
        rows = self._rows(obs, 1)
        if self.is_shared or self.memory_size:
            x = self.encoder(rows)
            if self.memory_size:
                memory = self.cell(self.norm_in(x), memory)
                x = self.norm_out(memory)
            outputs = self.actor(x)
            value = self.critic(x) if self.is_shared else self._value_of(rows, state)
        else:
            outputs = self.encoder(rows, self.actor)
            value = self._value_of(rows, state)
        memory = None if memory is None else memory.float()
        return outputs.float(), value.float().squeeze(-1), memory

    @property
    def is_traced(self) -> bool:
        """Whether the policy is made of layers alone, whose gradients `traced` can find."""
        parts = (self.encoder, self.critic_encoder)
        return not self.memory_size and all(isinstance(part, Mlp) for part in parts)

    @torch.no_grad()
    def traced(
        self, obs: Tensor, state: Tensor | None
    ) -> tuple[Tensor, Tensor, Callable[[Tensor, Tensor], None]]:
        """Return plain outputs, value, and what adds to all gradients by the slopes of both."""
        assert isinstance(self.encoder, Mlp) and isinstance(self.critic_encoder, Mlp)
        rows = self._rows(obs, 1)
        outputs, actor = self.encoder.traced(rows, self.actor)
        value, critic = self.critic_encoder.traced(self._critic_rows(rows, state), self.critic)

        @torch.no_grad()
        def back(gradient: Tensor, slope: Tensor) -> None:
            actor(gradient)
            critic(slope.unsqueeze(-1))

        return outputs, value.squeeze(-1), back

    def sequence(
        self, obs: Tensor, memory: Tensor, begins: Tensor, state: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return plain outputs and values over (time, rows); `begins` is 1 where memory is lost."""
        rows = self._rows(obs, 2).flatten(0, 1)
        x = self.norm_in(self.encoder(rows)).unflatten(0, begins.shape)
        keep, states = (~begins).to(x.dtype).unsqueeze(-1), []
        for step, kept in zip(x, keep, strict=True):
            memory = self.cell(step, memory * kept)
            states.append(memory)
        x = self.norm_out(torch.stack(states))
        if self.is_shared:
            value = self.critic(x)
        else:
            state = None if state is None else state.flatten(0, 1)
            value = self._value_of(rows, state).view(*begins.shape, 1)
        return self.actor(x).float(), value.float().squeeze(-1)

    def value(
        self, obs: Tensor, memory: Tensor | None = None, state: Tensor | None = None
    ) -> Tensor:
        """Return the value in the units of rewards."""
        return self.real(self.plain(obs, memory, state)[1])

    def real(self, value: Tensor) -> Tensor:
        """Return a value in the critic's units in those of rewards."""
        return value * self.scale.deviation + self.scale.mean

    @torch.no_grad()
    def look(self, obs: Tensor, state: Tensor | None, join: Callable[[Tensor], Tensor]) -> None:
        """Learn what observations are like; what the policy does changes with that a little."""
        if self.inputs is not None:
            self.inputs.look(self.shape.flat(obs, 1), join)
        if self.state_inputs is not None and state is not None:
            self.state_inputs.look(state.float(), join)

    def _state_encoder(self, config: Config) -> Mlp:
        if self.is_shared:
            raise ValueError("--critic-state needs a critic apart: not --share")
        if self.shape.state == 0:
            raise ValueError("--critic-state needs an environment that has a state")
        if config.normalize_observations:
            self.state_inputs = Inputs(self.shape.state)
        return Mlp(sum(self.shape.sizes) + self.shape.state, config.widths, config.activation)

    def _value_of(self, rows: Tensor, state: Tensor | None) -> Tensor:
        assert self.critic_encoder is not None  # or actor and critic would share one
        if self.sees_state and state is None:
            return rows.new_zeros((len(rows), 1))
        value: Tensor = self.critic_encoder(self._critic_rows(rows, state), self.critic)
        return value

    def _critic_rows(self, rows: Tensor, state: Tensor | None) -> Tensor:
        if not self.sees_state or state is None:
            return rows
        state = state.float() if self.state_inputs is None else self.state_inputs(state.float())
        return torch.cat((rows, state), -1)

    def _rows(self, obs: Tensor | Mapping[str, Tensor], axes: int) -> Tensor:
        rows = self.shape.flat(obs, axes)
        return rows if self.inputs is None else self.inputs(rows)

    def _normalised(self, outputs: Tensor, mask: Tensor | None) -> Tensor:
        if self.log_std is not None:
            outputs = torch.cat((outputs, self.log_std.expand_as(outputs)), -1)
        return self.actions.normalised(outputs, mask)
