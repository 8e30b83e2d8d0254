"""A learner: one policy with its optimiser, the rows that it plays, and its gradient steps.

The data of a gradient step and its time are chosen in `ppo`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_envs.policies.agent_kinds import Kind
from gpu_envs.policies.layered import Rows, joined
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.noise import ACTIONS, OTHERS, SHUFFLES, Noise
from gpu_envs.policies.sharing import role_of_policy
from gpu_envs.train import optimiser
from gpu_envs.train.config import Config
from gpu_envs.train.fused import Drawing, Losing, Space, follow
from gpu_envs.train.novelty import Novelty
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.rollout import Rollout
from gpu_envs.train.self_play import Past

LOSSES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac")
_SCALE_MEMORY = 0.99  # of the running scale of values, per update


@dataclass(frozen=True)
class Stage:
    """State that all learners of a kind of agents share, and their random numbers."""

    config: Config
    ranks: Ranks
    rollout: Rollout
    kind: Kind
    space: Space
    clock: Tensor  # number of the update, on the device: captured graphs read it
    first_row: int  # of this process among those of all

    def drawing(
        self, rows: Tensor | None, policy: Policy | None, *, is_own: bool = False
    ) -> Drawing:
        """Return the drawing of actions for some rows; without a policy no noise is held."""
        hold = 1 if policy is None else self.config.hold_noise
        stream = OTHERS if hold != self.config.hold_noise else ACTIONS
        noise = Noise(self.config.seed, stream, self.rollout.device)
        where = (self.clock, self.first_row)
        return Drawing(
            self.space, self.rollout, rows, policy, noise, *where, hold=hold, is_own=is_own
        )


class Learner:
    """One policy with its optimiser, and the rows that it plays and learns from.

    Args:
        name: Name of its role.
        rows: Its rows; None for all.
        past: Those of its rows that an earlier version of it plays; None for none.
        stage: The state that it shares with other learners.
    """

    def __init__(self, name: str, rows: Tensor | None, past: Past | None, stage: Stage) -> None:
        self.name, self.rows, self.past, self.rollout = name, rows, past, stage.rollout
        self.actions, self.ranks = stage.kind.actions, stage.ranks
        self.config = stage.config.of_role(role_of_policy(stage.config, name))
        rollout, config = self.rollout, self.config
        self.device = device = rollout.device

        def new() -> Policy:
            return Policy(stage.kind.shape, stage.kind.actions, config).to(device)

        self.policy = new()
        # Before any other object holds the addresses of its parameters.
        self.parameters = list(self.policy.parameters())
        self.flat = optimiser.Flat(self.parameters)
        self.optimiser = optimiser.make(config, self.flat)
        self.novelty = None
        if config.has_novelty:
            self.novelty = Novelty(stage.kind.shape, config, stage.ranks, device)
        self.draw = stage.drawing(rows, self.policy, is_own=True)
        if past is not None:
            past.policy = new().requires_grad_(False)
            at = past.positions if rows is None else rows[past.positions]
            past.draw = stage.drawing(at, past.policy)
        every = torch.arange(rollout.rows, device=device)
        self.worlds = (every if rows is None else rows) // rollout.agents
        self.advantage, self.target = rollout.array(torch.float), rollout.array(torch.float)
        self.known = rollout.array(torch.bool)  # what is learned from
        # Where few decide: their observations, step by step, and then the numbers of these samples.
        self.seen: list[Any] = []
        self.asked: list[Tensor] = []
        self.kept, self.samples = rollout.obs[:0], rollout.obs[:0]
        self.entropy_weight = torch.zeros((), device=device)
        self.losses = torch.zeros(len(LOSSES), device=device)  # sums over the update's steps
        self.gradient_steps = 0  # of the update
        self.lose = Losing(
            *(stage.space, rollout, self.policy, self.advantage, self.target, self.known),
            self.entropy_weight,
            config,
        )

    def set(self, fraction: float) -> None:
        """Set the values that change over a run, for a fraction of it."""
        first, last = self.config.entropy, self.config.entropy_end
        self.optimiser.rate.fill_(optimiser.learning_rate(self.config, fraction))
        self.entropy_weight.fill_(first if last != last else first + (last - first) * fraction)
        if self.novelty is not None:
            self.novelty.set(fraction)

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which networks are evaluated."""
        if self.config.precision == "bf16":
            return torch.autocast(self.device.type, torch.bfloat16)
        return contextlib.nullcontext()

    def act(self, t: int) -> None:
        """Decide step t."""
        rows, rollout = self.rows, self.rollout
        if rollout.keeps_few:
            self._act_few(t)
            return
        obs, memory = rollout.steps[t]
        if rows is not None:
            obs, memory = obs[rows], None if memory is None else memory[rows]
        memory = self._own(memory)
        with self.precision():
            outputs, value, after = self.policy.plain(obs, memory, rollout.states(t, self.worlds))
        self.draw(t, outputs, value)
        if self.past is not None:
            after = self.past.act(t, obs, memory, after)
        if after is None:
            return
        later = self._own(rollout.steps[t + 1][1])
        assert later is not None  # without it there is no memory
        if rows is None:
            later.copy_(after)
        else:
            later[rows] = after

    def _act_few(self, t: int) -> None:
        """Decide step t for the rows that have a choice, and keep their observations."""
        rollout = self.rollout
        if t == 0:
            self.seen.clear()
            self.asked.clear()
        rows = rollout.choosing(t, self.rows)
        if len(rows):
            obs = rollout.obs[0, rows]
            with self.precision():
                outputs, value, _ = self.policy.plain(
                    obs, None, rollout.states(t, rows // rollout.agents)
                )
            self.draw.of_some(t, rows, outputs, value)
            self.seen.append(obs)
            self.asked.append(rows + t * rollout.rows)
        if t == rollout.length - 1:
            self.kept = joined(self.seen) if self.seen else rollout.obs[0, :0]
            self.samples = torch.cat(self.asked) if self.asked else rows[:0]

    def _observed(self, index: Tensor) -> Any:
        """Return the observations of some samples."""
        r = self.rollout
        if r.keeps_few:
            return self.kept.index_select(0, torch.searchsorted(self.samples, index))
        return r.obs[: r.length].flatten(0, 1).index_select(0, index)

    def _own(self, memory: Tensor | None) -> Tensor | None:
        """Return the part of memories that the policy has: other roles may remember more."""
        size = self.policy.memory_size
        if memory is None or size == memory.shape[-1]:
            return memory
        return memory[..., :size] if size else None

    @torch.no_grad()
    def values(self, value: Tensor, reward: Tensor) -> None:
        """Compute the values after the last step, and add those of truncated episodes."""
        rollout, rows, worlds = self.rollout, self.rows, self.worlds
        if rollout.keeps_few:
            rows = rollout.choosing(-1, rows)
            worlds = rows // rollout.agents
        at = slice(None) if rows is None else rows
        obs, memory = rollout.obs[-1], rollout.memory
        memory = self._own(None if memory is None else memory[-1, at])
        with self.precision():
            state = rollout.states(-1, worlds)
            value[-1, at] = self.policy.value(obs[at], memory, state)
        if self.config.finite:
            return
        cut = rollout.truncated & ~rollout.terminated & rollout.ended
        if self.rows is not None:
            cut = cut & torch.zeros_like(cut).index_fill_(1, self.rows, True)
        step, row = cut.nonzero(as_tuple=True)
        if not len(step):
            return
        memory, state = None, rollout.last_states(step, row // rollout.agents)
        if (
            self.policy.memory_size and rollout.memory is not None
        ):  # the memory at the last observation
            before = self._own(rollout.memory[step, row])
            memory = self.policy.plain(rollout.obs[step, row], before)[2]
        with self.precision():
            last = self.policy.value(rollout.final_obs[step, row], memory, state)
        reward[step, row] += self.config.gamma * last

    def _followed(self) -> Any:
        """Return what was observed behind each step, of its own rows."""
        obs = self.rollout.obs[1:]
        return obs if self.rows is None else obs[:, self.rows]

    def reward_novelty(self, reward: Tensor) -> None:
        """Add the bonus for what was rarely seen; a step that ends an episode has none."""
        if self.novelty is None:
            return
        rollout, at = self.rollout, slice(None) if self.rows is None else self.rows
        goes_on = ~rollout.ended[:, at]
        if rollout.active is not None:
            goes_on &= rollout.active[1:, at]
        reward[:, at] += self.novelty.bonus(self._followed(), goes_on)

    def improve(self, advantage: Tensor, known: Tensor, value: Tensor, update: int) -> int:
        """Learn from the rollout; return how many samples there were, over all ranks."""
        config, target = self.config, advantage + value
        if self.rows is not None:
            known = known & torch.zeros_like(known).index_fill_(1, self.rows, True)
        if self.past is not None:
            known = known & self.past.learns
        weight = known.double()
        squares = [weight, weight * advantage, weight * advantage**2]
        squares += [weight * target, weight * target**2]
        sums = self.ranks.sum(torch.stack([part.sum() for part in squares]))
        if config.normalize_advantages:
            mean, square = sums[1:3] / sums[0].clamp(min=1)
            deviation = (square - mean.square()).clamp(min=0).sqrt()
            advantage = ((advantage - mean) / (deviation + 1e-8)).float()
        if config.normalize_values:
            self.policy.scale.update(sums[[0, 3, 4]], _SCALE_MEMORY)
        self.advantage.copy_(advantage)
        self.target.copy_((target - self.policy.scale.mean) / self.policy.scale.deviation)
        self.known.copy_(known)
        self.losses.zero_()
        self.gradient_steps = 0
        for index in self._minibatches(known, update):
            self.step(index)
            self.gradient_steps += 1
        if config.normalize_observations:  # behind the steps, which go by what the rollout saw
            state = self.rollout.state
            state = None if state is None else state[:-1].flatten(0, 1)
            seen = self._observed(known.flatten().nonzero().squeeze(-1))
            self.policy.look(seen, state, self.ranks.sum)
        if self.novelty is not None:
            self.novelty.improve(self._followed(), update)
        return int(sums[0])

    def _minibatches(self, known: Tensor, update: int) -> Any:
        """Yield the numbers of samples, or with a memory of rows, in random order each epoch."""
        config, length = self.config, self.rollout.length
        if self.policy.memory_size:
            samples = known.any(0).nonzero().squeeze(-1)
        else:
            samples = known.flatten().nonzero().squeeze(-1)
        count = self.ranks.lowest(len(samples))
        if count == 0:
            return
        size = config.minibatch // self.ranks.count
        size = max(1, size // length if self.policy.memory_size else size)
        epochs, size = (1, count) if config.is_a2c else (config.epochs, min(size, count))
        shuffles = Noise(config.seed, SHUFFLES, self.device)
        for epoch in range(epochs):
            order = shuffles.order(update * epochs + epoch, len(samples), self.ranks.rank)
            # All minibatches have one size: the last one is filled up with the first samples.
            order = torch.cat((order[:count], order[: -count % size]))
            for chosen in torch.split(order, size):
                yield samples[chosen]

    def step(self, index: Tensor) -> None:
        """Take one gradient step; captured in two parts, since ranks exchange sums between them."""
        self.gradient(index)
        if self.ranks.count > 1:
            self.ranks.sum(self.flat.gradient).div_(self.ranks.count)
        self.apply()

    def gradient(self, index: Tensor) -> None:
        """Compute the gradient of the loss on some samples, into the parameters."""
        r = self.rollout
        self.flat.gradient.zero_()
        counted, state = None, None
        with self.precision():
            memory = None if r.memory is None else self._own(r.memory[0])
            if memory is None:
                obs = self._observed(index)
                if r.state is not None:
                    state = r.state[: r.length].flatten(0, 1)[index // r.agents]
                outputs, value, back = self._traced(obs, state)
            else:
                obs, begins = r.obs[: r.length, index], r.begins[: r.length, index]
                if r.state is not None:
                    state = r.state[: r.length, index // r.agents]
                outputs, value = self.policy.sequence(obs, memory[index], begins, state)
                back = functools.partial(follow, outputs, value)
                counted = self.known[:, index].sum(dtype=torch.float)
        gradient, slope, losses = self.lose(index, outputs, value, counted)
        back(gradient, slope)
        self.losses += losses

    def _traced(
        self, obs: Rows, state: Tensor | None
    ) -> tuple[Tensor, Tensor, Callable[[Tensor, Tensor], None]]:
        if self.policy.is_traced and self.config.precision != "bf16":
            return self.policy.traced(obs, state)
        outputs, value, _ = self.policy.plain(obs, None, state)
        return outputs, value, functools.partial(follow, outputs, value)

    def apply(self) -> None:
        """Move the parameters along their gradients."""
        if self.config.max_grad_norm > 0:
            gradient = self.flat.gradient
            size = torch.linalg.vector_norm(gradient)
            gradient.mul_((self.config.max_grad_norm / (size + 1e-6)).clamp_(max=1))
        self.optimiser.step()

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        past = None if self.past is None else self.past.state()
        return {
            "name": self.name,
            "policy": self.policy.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "past": past,
            "novelty": None if self.novelty is None else self.novelty.state(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint's state."""
        self.policy.load_state_dict(state["policy"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.past is not None:
            self.past.load(state["past"])
        if self.novelty is not None and state.get("novelty") is not None:
            self.novelty.load(state["novelty"])
