"""The storage of a rollout: the outputs of the simulator and of the policies, step by step."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs.known.outputs import FINAL_LAYERS, LAYERS, Outputs
from gpu_envs.policies import agent_map
from gpu_envs.policies.agent_kinds import Kind
from gpu_envs.policies.distributions import Categorical, Distribution
from gpu_envs.policies.layered import Layered, Rows
from gpu_envs.train.config import Config


def keeps_few(config: Config, kind: Kind, device: torch.device) -> bool:
    """Whether policies see, and the rollout keeps, only rows with a choice.

    Their number differs from step to step, which a captured graph cannot have, and a memory needs
    every step: in these cases policies see all rows, and the learned samples are the same.
    """
    has_memory = _memory_of(config, kind) > 0
    is_plain = device.type == "cpu" and not has_memory and not config.past_worlds
    is_choice = config.decisions == "choice" and kind.choices is not None
    return is_choice and is_plain and isinstance(kind.actions, Categorical)


def _memory_of(config: Config, kind: Kind) -> int:
    """Return the size of a kind's memory: the largest of the policies that may play in it."""
    if kind.name and not agent_map.is_map(config.policies):
        return config.of_role(kind.name).memory
    largest: int = max([config.memory, *(c.get("memory", 0) for c in config.roles.values())])
    return largest


def _sums(actions: Distribution) -> Tensor:
    """Return the factors of a mask: they count legal actions, and sum their numbers by head."""
    assert isinstance(actions, Categorical)  # roles with a mask have categories
    sums = torch.zeros(actions.outputs, 1 + len(actions.counts))
    sums[:, 0], begin = 1, 0
    for head, count in enumerate(actions.counts):
        sums[begin : begin + count, 1 + head] = torch.arange(count).float()
        begin += count
    return sums


class Rollout:
    """Storage for the steps of all rows of a kind; `slots[t]` says where step t is written.

    What decisions see (`obs`, `mask`, `active`, `memory`) has one step more than what follows from
    them: index t is what decision t saw, and the last one is where the next rollout begins. Where
    few decide, `obs` holds the present step alone, and learners keep what those saw that decided.
    """

    def __init__(self, env: Any, kind: Kind, config: Config) -> None:
        self.length, self.agents, self.kind = config.rollout, kind.count, kind
        self.rows = env.num_worlds * kind.count
        self.device = torch.device(env.device)
        self.layout = env.simulator.layout
        actions = kind.actions
        flags = [self.array(torch.bool) for _ in range(3)]
        self.terminated, self.truncated, self.ended = flags
        self.reward, self.returns = self.array(torch.float), self.array(torch.float)
        self.lengths = self.array(torch.int32)
        self.views = env.simulator.views  # of several layers: each field in its array
        self.layers: dict[str, Tensor] = {}  # by output, where there are several
        self.final_obs = self._observed(FINAL_LAYERS)
        has_parts = config.reward_weights and self.layout.output("reward_parts") is not None
        self.parts = self.array(torch.float, (len(kind.parts),)) if has_parts else None
        self.keeps_few = keeps_few(config, kind, self.device)
        self.obs: Any = self._observed(LAYERS, 1 - self.length if self.keeps_few else 1)
        self.mask = None if kind.choices is None else self.array(torch.int8, (kind.choices,), 1)
        self.active = (
            None if self.layout.output("agent_active") is None else self.array(torch.bool, (), 1)
        )
        self.state = self._states("state", 1) if config.critic_state else None
        self.final_state = self._states("final_state", 0) if config.critic_state else None
        later = {"action_mask": self.mask, "agent_active": self.active, "state": self.state}
        later |= {n: a for n, a in self.layers.items() if n in LAYERS}
        now = {"reward": self.reward, "reward_parts": self.parts}
        now |= {n: a for n, a in self.layers.items() if n in FINAL_LAYERS}
        now |= {"terminated": self.terminated, "truncated": self.truncated, "ended": self.ended}
        now |= {"episode_return": self.returns, "episode_length": self.lengths}
        now["final_state"] = self.final_state
        self.slots = [
            {n: a[min(t + 1, len(a) - 1)] for n, a in later.items() if a is not None}
            | {n: a[t] for n, a in now.items() if a is not None}
            for t in range(self.length)
        ]
        # The outputs of policies.
        self.action = self.array(actions.type, actions.shape)
        # The environment's form of actions, where it differs from the drawn one.
        self.bounded = self.array(torch.float, actions.shape) if actions.is_bounded_later else None
        self.taken = (self.action if self.bounded is None else self.bounded).unbind()
        self.log_prob, self.value = self.array(torch.float), self.array(torch.float)
        size = _memory_of(config, kind)
        self.memory = self.array(torch.float, (size,), 1) if size else None
        self.begins = self.array(torch.bool, (), 1)  # an episode's first step: nothing to remember
        if self.keeps_few:
            self.decides = self.array(torch.bool, (), 1)  # rows that have a choice
            self.sums = _sums(actions).to(self.device)
        self.steps: list[tuple[Any, ...]] = [
            tuple(None if a is None else a[min(t, len(a) - 1)] for a in (self.obs, self.memory))
            for t in range(self.length + 1)
        ]

    def array(self, kind: torch.dtype, more: tuple[int, ...] = (), extra: int = 0) -> Tensor:
        """Return zeros for every row at every step."""
        shape = (self.length + extra, self.rows, *more)
        return torch.zeros(shape, dtype=kind, device=self.device)

    def _observed(self, names: Sequence[str], extra: int = 0) -> Any:
        """Return what is observed, or was last; None where that is not written."""
        if self.layout.output(names[0]) is None:
            return None
        self.layers[names[0]] = first = self.array(self.kind.type, self.kind.row, extra)
        if self.views is None:
            return first
        for name in names[1:]:
            output = self.layout.output(name)
            if output is not None:
                kind = getattr(torch, output.type)
                self.layers[name] = self.array(kind, output.shape[2:], extra)
        results = Outputs(**self.layers)
        found = self.views.observed(results) if names is LAYERS else self.views.last(results)
        return Layered(found)

    def _states(self, name: str, extra: int) -> Tensor | None:
        output = self.layout.output(name)
        if output is None and self.layout.output("state") is not None:
            raise ValueError(f"--critic-state needs {name} among outputs=")
        if output is None:
            return None  # the policy raises
        shape = (self.length + extra, *output.shape[:1], math.prod(output.shape[1:]))
        return torch.zeros(shape, dtype=getattr(torch, output.type), device=self.device)

    def states(self, t: int, worlds: Tensor) -> Tensor | None:
        """Return the states of these worlds for critics at step t."""
        return None if self.state is None else self.state[t, worlds]

    def last_states(self, step: Tensor, worlds: Tensor) -> Tensor | None:
        """Return the states in which episodes of these worlds ended, at these steps."""
        return None if self.final_state is None else self.final_state[step, worlds]

    def start(self, obs: Rows, infos: Mapping[str, Any]) -> None:
        """Store the observations at the start of the first rollout."""
        self.obs[-1] = obs
        for name, array in (("action_mask", self.mask), ("agent_active", self.active)):
            if array is not None:
                array[-1] = infos[name]
        if self.state is not None:
            self.state[-1] = infos["state"].flatten(1)

    def turn(self, but: Collection[int] = ()) -> None:
        """Begin where the last rollout ended.

        Args:
            but: Identities of arrays that have been moved already.
        """
        for array in (self.obs, self.mask, self.active, self.state, self.memory, self.begins):
            if array is not None and id(array) not in but:
                array[0] = array[-1]

    def forget(self, t: int, over: Tensor) -> None:
        """Store which rows begin an episode with step t."""
        assert self.memory is not None  # only memories need it
        self.begins[t] = over
        self.memory[t].masked_fill_(over.unsqueeze(-1), 0)

    def look(self, t: int) -> None:
        """Find the rows that have a choice in step t; the others get their only action."""
        assert self.mask is not None and isinstance(self.kind.actions, Categorical)  # it keeps few
        heads = len(self.kind.actions.counts)
        legal = self.mask[t].float() @ self.sums
        is_free = legal[:, 0] > heads
        if t < self.length:
            forced = legal[:, 1:].masked_fill_((legal[:, :1] != heads), 0)
            self.action[t].copy_(forced.view(self.action[t].shape))
        self.decides[t] = is_free if self.active is None else is_free & self.active[t]

    def choosing(self, t: int, among: Tensor | None) -> Tensor:
        """Return the rows that have a choice in step t, among some or (None) all."""
        if among is None:
            return self.decides[t].nonzero().squeeze(-1)
        return among[self.decides[t, among]]

    def decisions(self, is_choice: bool) -> Tensor:
        """Return which rows decide in each step, and in the one after the last."""
        if self.keeps_few:
            return self.decides
        decides = self.active
        if decides is None:
            decides = self.array(torch.bool, (), 1).fill_(True)
        if not is_choice or self.mask is None or not isinstance(self.kind.actions, Categorical):
            return decides
        heads = len(self.kind.actions.counts)
        return decides & (self.mask.sum(-1) > heads)
