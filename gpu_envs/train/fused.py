"""The learner's native calls, each in place of dozens of small operations of torch.

`Drawing` draws the actions of a rollout's step and stores them, with their probabilities and the
values; `Losing` gives the gradient of PPO's loss by what a policy's network gave. Both do for each
row what `distributions` does, in an order of their own that is the same on a CPU and a GPU, so a
draw has the same bits on both. Neither allocates or waits, so both can be captured.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gpu_envs.known import native
from gpu_envs.policies.distributions import Categorical, Distribution, Gaussian
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.noise import Noise
from gpu_envs.train.config import Config
from gpu_envs.train.rollout import Rollout

STATS = 5  # parts of a loss that are reported: learning.hpp has their order


def _at(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


class Space:
    """A space of actions as native code has it, with the tensors that it points to."""

    def __init__(self, actions: Distribution, device: torch.device) -> None:
        self.bindings = native.module("cuda" if device.type == "cuda" else "cpu")
        self.device = device
        self.is_cuda = device.type == "cuda"
        self.facts: dict[str, Any] = dict.fromkeys(("counts", "low", "high", "centre", "reach"), 0)
        self.facts["device"] = device.index or 0
        self._kept: list[Tensor] = []
        if isinstance(actions, Gaussian):
            bounds = {name: getattr(actions, name) for name in ("low", "high", "centre", "reach")}
            self.facts |= {name: self._held(bound.float()) for name, bound in bounds.items()}
            size = len(actions.low)
            self.facts |= {"numbers": True, "parts": size, "outputs": size}
        else:
            assert isinstance(actions, Categorical)  # of_space makes no others
            counts = torch.tensor(actions.counts, dtype=torch.int32, device=device)
            self.facts |= {"numbers": False, "parts": len(actions.counts)}
            self.facts |= {"outputs": actions.outputs, "counts": self._held(counts)}

    def _held(self, tensor: Tensor) -> int:
        self._kept.append(tensor.contiguous())
        return self._kept[-1].data_ptr()

    def stream(self) -> int:
        """Return the handle of torch's current stream."""
        return torch.cuda.current_stream(self.device).cuda_stream if self.is_cuda else 0


class Drawing:
    """Draws actions of some rows in every step of a rollout, and stores them.

    Args:
        space: Of the actions.
        rollout: The storage of the actions.
        rows: Which rows are drawn for, in the order of the outputs; None for all.
        policy: Whose outputs they will be; None draws uniformly at random.
        noise: The source of random numbers.
        clock: The number of the update, on the device.
        first_row: Number of the first row of the rollout among those of all ranks.
        hold: Steps in a row that are drawn by the same numbers.
        is_own: Store probabilities and values too, which are learned from.
    """

    def __init__(
        self,
        space: Space,
        rollout: Rollout,
        rows: Tensor | None,
        policy: Policy | None,
        noise: Noise,
        clock: Tensor,
        first_row: int,
        *,
        hold: int,
        is_own: bool,
    ) -> None:
        log_std = None if policy is None else policy.log_std
        scale = None if policy is None else policy.scale
        # Native code has only the addresses.
        self._kept = (space, rollout, rows, log_std, clock, scale)
        self._stream, self._is_cuda = space.stream, space.is_cuda
        self._make = functools.partial(
            space.bindings.Drawing,
            **space.facts,
            all=rollout.rows,
            hold=hold,
            key=noise.key & (2**64 - 1),
            clock=clock.data_ptr(),
            factor=-(-rollout.length // hold),
            first_row=first_row,
            log_std=_at(log_std),
            mean=0 if scale is None else scale.mean.data_ptr(),
            deviation=0 if scale is None else scale.deviation.data_ptr(),
            mask=_at(rollout.mask),
            action=rollout.action.data_ptr(),
            bounded_action=_at(rollout.bounded),
            log_prob=_at(rollout.log_prob) if is_own else 0,
            real_value=_at(rollout.value) if is_own else 0,
            entropy=0,
        )
        count = rollout.rows if rows is None else len(rows)
        self._call = self._make(rows=_at(rows), count=count)

    def __call__(self, t: int, outputs: Tensor | None = None, value: Tensor | None = None) -> None:
        """Draw step t from a network's plain outputs, float32 and one after the other."""
        self._call(t, _at(outputs), _at(value), self._stream() if self._is_cuda else 0)

    def of_some(self, t: int, rows: Tensor, outputs: Tensor, value: Tensor) -> None:
        """Draw step t for these rows only, with the numbers that they have among all rows."""
        call = self._make(rows=_at(rows), count=len(rows))
        call(t, _at(outputs), _at(value), self._stream() if self._is_cuda else 0)


class _Known(torch.autograd.Function):
    """A loss with a known gradient and no value."""

    @staticmethod
    def forward(ctx: Any, outputs: Tensor, value: Tensor, *slopes: Tensor) -> Tensor:
        """Return zero; `slopes` are those of the loss by outputs and value."""
        ctx.save_for_backward(*slopes)
        return outputs.new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> Any:
        """Return the slopes."""
        return *ctx.saved_tensors, None, None


def follow(outputs: Tensor, value: Tensor, gradient: Tensor, slope: Tensor) -> None:
    """Let autograd add to all gradients by the slopes of outputs and value.

    Where it is handed slopes, torch loads a library of symbols first, for half a second.
    """
    known: Callable[..., Tensor] = _Known.apply
    known(outputs, value, gradient, slope).backward()  # type: ignore[no-untyped-call]


class Losing:
    """The gradient of PPO's loss of some samples of a rollout.

    Args:
        space: Of the actions.
        rollout: Where the samples are.
        policy: Whose loss it is.
        advantage: Of all samples, as is `target`, the critic's in its own units.
        target: The values that the critic should have predicted.
        known: Which samples are learned from.
        entropy_weight: A number on the device.
        config: The run.
    """

    def __init__(
        self,
        space: Space,
        rollout: Rollout,
        policy: Policy,
        advantage: Tensor,
        target: Tensor,
        known: Tensor,
        entropy_weight: Tensor,
        config: Config,
    ) -> None:
        self._kept = (space, rollout, policy.log_std, advantage, target, known, entropy_weight)
        self._log_std, self._known = policy.log_std, known
        self._stream, self._is_cuda = space.stream, space.is_cuda
        self._call = space.bindings.Losing(
            **space.facts,
            stride=rollout.rows,
            log_std=_at(policy.log_std),
            action=rollout.action.data_ptr(),
            old=rollout.log_prob.data_ptr(),
            advantage=advantage.data_ptr(),
            target=target.data_ptr(),
            mask=_at(rollout.mask),
            entropy_weight=entropy_weight.data_ptr() if config.has_entropy else 0,
            clip=-1.0 if config.is_a2c else config.clip,
            far=config.clip,
            value_weight=config.value_weight,
        )

    def __call__(
        self, index: Tensor, outputs: Tensor, value: Tensor, counted: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the slopes by outputs and value, and the sums to report.

        The gradient of the deviations, which have no outputs, is added to theirs directly.

        Args:
            index: Numbers of samples; where outputs are (time, rows, ..), of rows.
            outputs: The network's plain ones, of each sample.
            value: In the critic's units.
            counted: How many samples count, where not all of them do.
        """
        steps, plain = (value.shape[0] if value.dim() > 1 else 1), outputs.detach()
        gradient, slope = torch.empty_like(plain), torch.empty_like(value)
        spread = torch.empty_like(plain) if self._log_std is not None else None
        stats = value.new_empty((value.numel(), STATS))
        self._call(
            index.data_ptr(),
            len(index),
            steps,
            plain.data_ptr(),
            value.data_ptr(),
            0 if counted is None else self._known.data_ptr(),
            _at(counted),
            gradient.data_ptr(),
            _at(spread),
            slope.data_ptr(),
            stats.data_ptr(),
            self._stream() if self._is_cuda else 0,
        )
        if spread is not None and self._log_std is not None:
            assert self._log_std.grad is not None  # the learner's own, at a fixed address
            self._log_std.grad += spread.flatten(0, -2).sum(0)
        return gradient, slope, stats.sum(0)
