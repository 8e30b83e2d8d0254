"""The networks of an agent: encoders, memory, and the policy with its two heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from gpu_envs.policies.distributions import Distribution
from gpu_envs.policies.encoders import Attention, encoder
from gpu_envs.policies.layered import Rows
from gpu_envs.policies.layers import Mlp, RowShape, linear
from gpu_envs.policies.options import PolicyOptions

_FAR = 10.0  # limit of normalised observations [deviations]
_LEAST = 1e-4  # variance of a number that hardly ever changes


class Scale(nn.Module):
    """Running mean and deviation of the critic's targets; it learns in units of these."""

    moments: Tensor
    mean: Tensor
    deviation: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("moments", torch.zeros(3, dtype=torch.float64))  # weight, x, x^2
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("deviation", torch.ones(()))

    def update(self, sums: Tensor, memory: float) -> None:
        """Add (count, sum, sum of squares) of new targets to the statistics."""
        share = sums / sums[0].clamp(min=1)
        mixed = memory * self.moments + (1 - memory) * share
        self.moments.copy_(torch.where(sums[0] > 0, mixed, self.moments))
        mean, square = self.moments[1:] / self.moments[0].clamp(min=1e-12)
        deviation = (square - mean.square()).clamp(min=1e-4).sqrt()
        is_known = self.moments[0] > 0
        self.mean.copy_(torch.where(is_known, mean, 0.0))
        self.deviation.copy_(torch.where(is_known, deviation, 1.0))


class Inputs(nn.Module):
    """Normalises each number of an observation to mean 0 and deviation 1 over all seen so far.

    Numbers of entities are divided by their root mean square over the present entities of their
    set, so that absent entities, whose numbers are zero, stay zero.

    Args:
        size: Numbers in a row.
        sets: First number, entities and numbers of each, for the fields that are sets.
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
        """Add new rows to the statistics; `join` sums over all ranks."""
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
        """Return normalised rows."""
        return ((rows - self.mean) * self.factor).clamp(-_FAR, _FAR)


class Policy(nn.Module):
    """Actor and critic of one kind of agent.

    Without memory both have an encoder of their own unless they share it; with memory (a GRU) they
    share encoder and memory. A critic that sees the state is always separate, and needs no memory.
    """

    def __init__(self, shape: RowShape, actions: Distribution, options: PolicyOptions) -> None:
        super().__init__()
        self.shape, self.actions, self.memory_size = shape, actions, options.memory
        self.is_blind = options.blind
        self.encoder = encoder(shape, options)
        self.inputs: Inputs | None = None
        if options.normalize_observations:
            sets = self.encoder.sets_in_row() if isinstance(self.encoder, Attention) else ()
            self.inputs = Inputs(sum(shape.sizes), sets)
        width: int = self.encoder.outputs  # type: ignore[assignment]  # all encoders have it
        self.sees_state = options.critic_state
        self.is_shared = options.share or (options.memory > 0 and not self.sees_state)
        self.state_inputs: Inputs | None = None
        self.critic_encoder: nn.Module | None = None
        critic_width = options.memory if options.memory and self.is_shared else width
        if self.sees_state:
            self.critic_encoder = made = self._state_encoder(options)
            critic_width = made.outputs
        elif not self.is_shared:
            self.critic_encoder = encoder(shape, options)
        if options.memory_norm and not options.memory:
            raise ValueError("--memory-norm needs --memory")
        if options.memory:
            norm = nn.LayerNorm if options.memory_norm else nn.Identity
            self.norm_in, self.norm_out = norm(width), norm(options.memory)
            self.cell = nn.GRUCell(width, options.memory)
            for name, weight in self.cell.named_parameters():
                nn.init.orthogonal_(weight) if "weight" in name else nn.init.zeros_(weight)
            width = options.memory
        # Small last weights: the first policy is nearly uniform, the first values nearly zero.
        is_gaussian = actions.type == torch.float32
        self.actor = linear(width, actions.outputs // (2 if is_gaussian else 1), 0.01)
        self.log_std = nn.Parameter(torch.zeros(actions.outputs // 2)) if is_gaussian else None
        self.critic = linear(critic_width, 1, 0.1)
        self.scale = Scale()

    def forward(
        self,
        obs: Rows | Mapping[str, Tensor],
        mask: Tensor | None = None,
        memory: Tensor | None = None,
        state: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the action's distribution, the value in the critic's units, and the new memory.

        A critic that sees the state returns zero where none is given.
        """
        outputs, value, memory = self.plain(obs, memory, state)
        return self._normalised(outputs, mask), value, memory

    def plain(
        self,
        obs: Rows | Mapping[str, Tensor],
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
        """Whether the policy consists only of layers, whose gradients `traced` can compute."""
        parts = (self.encoder, self.critic_encoder)
        return not self.memory_size and all(isinstance(part, Mlp) for part in parts)

    @torch.no_grad()
    def traced(
        self, obs: Rows, state: Tensor | None
    ) -> tuple[Tensor, Tensor, Callable[[Tensor, Tensor], None]]:
        """Return plain outputs, value, and a function that adds to all gradients by both slopes."""
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
        self, obs: Rows, memory: Tensor, begins: Tensor, state: Tensor | None = None
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

    def value(self, obs: Rows, memory: Tensor | None = None, state: Tensor | None = None) -> Tensor:
        """Return the value in the units of rewards."""
        return self.real(self.plain(obs, memory, state)[1])

    def real(self, value: Tensor) -> Tensor:
        """Return a value in the critic's units in those of rewards."""
        return value * self.scale.deviation + self.scale.mean

    @torch.no_grad()
    def look(self, obs: Rows, state: Tensor | None, join: Callable[[Tensor], Tensor]) -> None:
        """Update the statistics of observations; the policy's outputs change a little with them."""
        if self.inputs is not None:
            self.inputs.look(self.shape.flat(obs, 1), join)
        if self.state_inputs is not None and state is not None:
            self.state_inputs.look(state.float(), join)

    def _state_encoder(self, options: PolicyOptions) -> Mlp:
        if self.is_shared:
            raise ValueError("--critic-state needs a separate critic: leave out --share")
        if self.shape.state == 0:
            raise ValueError("--critic-state needs an environment that has a state")
        if options.normalize_observations:
            self.state_inputs = Inputs(self.shape.state)
        return Mlp(sum(self.shape.sizes) + self.shape.state, options.widths, options.activation)

    def _value_of(self, rows: Tensor, state: Tensor | None) -> Tensor:
        assert self.critic_encoder is not None  # a copy, or actor and critic would share one
        if self.sees_state and state is None:
            return rows.new_zeros((len(rows), 1))
        value: Tensor = self.critic_encoder(self._critic_rows(rows, state), self.critic)
        return value

    def _critic_rows(self, rows: Tensor, state: Tensor | None) -> Tensor:
        if not self.sees_state or state is None:
            return rows
        state = state.float() if self.state_inputs is None else self.state_inputs(state.float())
        return torch.cat((rows, state), -1)

    def _rows(self, obs: Rows | Mapping[str, Tensor], axes: int) -> Tensor:
        rows = self.shape.flat(obs, axes)
        if self.is_blind:
            rows = nn.functional.pad(rows[..., self.shape.seen :], (self.shape.seen, 0))
        return rows if self.inputs is None else self.inputs(rows)

    def _normalised(self, outputs: Tensor, mask: Tensor | None) -> Tensor:
        if self.log_std is not None:
            outputs = torch.cat((outputs, self.log_std.expand_as(outputs)), -1)
        return self.actions.normalised(outputs, mask)
