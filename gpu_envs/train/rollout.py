"""The storage of a rollout: what the simulator writes and what the policies add, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gpu_envs import VectorEnv
from gpu_envs.train.config import Config
from gpu_envs.train.distributions import Distribution


class Rollout:
    """Storage for the steps of all rows; `slots[t]` says where the simulator writes step t.

    What decisions see (`obs`, `mask`, `active`, `memory`) has one step more than what follows from
    them: index t is what decision t saw, and the last one is where the next rollout begins.
    """

    def __init__(self, env: VectorEnv, actions: Distribution, config: Config) -> None:
        self.length, self.rows, self.agents = config.rollout, env.num_envs, env.agents_per_world
        self.device = torch.device(env.device)
        self.layout = env.simulator.layout
        flags = [self.array(torch.bool) for _ in range(3)]
        self.terminated, self.truncated, self.ended = flags
        self.reward, self.returns = self.array(torch.float), self.array(torch.float)
        self.lengths, self.final_obs = self.array(torch.int32), self._output("final_obs")
        self.parts = self._output("reward_parts") if config.reward_weights else None
        self.obs, self.mask = self._output("obs", 1), self._output("action_mask", 1)
        self.active = self._output("agent_active", 1)
        self.state = self._states("state", 1) if config.critic_state else None
        self.final_state = self._states("final_state", 0) if config.critic_state else None
        later = {"obs": self.obs, "action_mask": self.mask, "agent_active": self.active}
        later["state"] = self.state
        now = {"reward": self.reward, "reward_parts": self.parts, "final_obs": self.final_obs}
        now |= {"terminated": self.terminated, "truncated": self.truncated, "ended": self.ended}
        now |= {"episode_return": self.returns, "episode_length": self.lengths}
        now["final_state"] = self.final_state
        self.slots = [
            {n: a[t + 1] for n, a in later.items() if a is not None}
            | {n: a[t] for n, a in now.items() if a is not None}
            for t in range(self.length)
        ]
        # What the policies add.
        self.action = self.array(actions.type, actions.shape)
        # What the environment takes, where that is not what was drawn.
        self.bounded = self.array(torch.float, actions.shape) if actions.is_bounded_later else None
        self.taken = (self.action if self.bounded is None else self.bounded).unbind()
        self.log_prob, self.value = self.array(torch.float), self.array(torch.float)
        size = max([config.memory, *(c.get("memory", 0) for c in config.roles.values())])
        self.memory = self.array(torch.float, (size,), 1) if size else None  # the largest has room
        self.begins = self.array(torch.bool, (), 1)  # an episode's first step: nothing to remember
        self.gone = self.array(torch.bool)[0]  # agents whose episode is over and the world's not
        self.steps: list[tuple[Any, ...]] = [
            tuple(None if a is None else a[t] for a in (self.obs, self.memory))
            for t in range(self.length + 1)
        ]

    def array(self, kind: torch.dtype, more: tuple[int, ...] = (), extra: int = 0) -> Tensor:
        """Return zeros for every row at every step."""
        shape = (self.length + extra, self.rows, *more)
        return torch.zeros(shape, dtype=kind, device=self.device)

    def _output(self, name: str, extra: int = 0) -> Any:
        output = self.layout.of(name)
        return output and self.array(getattr(torch, output.type), output.shape[2:], extra)

    def _states(self, name: str, extra: int) -> Tensor | None:
        output = self.layout.of(name)
        if output is None and self.layout.of("state") is not None:
            raise ValueError(f"--critic-state needs worlds that write {name} (outputs=)")
        if output is None:
            return None  # the policy says so
        shape = (self.length + extra, *output.shape[:1], math.prod(output.shape[1:]))
        return torch.zeros(shape, dtype=getattr(torch, output.type), device=self.device)

    def states(self, t: int, worlds: Tensor) -> Tensor | None:
        """Return the states of these worlds that critics see at step t."""
        return None if self.state is None else self.state[t, worlds]

    def last_states(self, step: Tensor, worlds: Tensor) -> Tensor | None:
        """Return the states in which episodes of these worlds ended, at these steps."""
        return None if self.final_state is None else self.final_state[step, worlds]

    def start(self, obs: Tensor, infos: Mapping[str, Any]) -> None:
        """Say where the first rollout begins."""
        self.obs[-1] = obs
        for name, array in (("action_mask", self.mask), ("agent_active", self.active)):
            if array is not None:
                array[-1] = infos[name]
        if self.state is not None:
            self.state[-1] = infos["state"].flatten(1)

    def turn(self) -> None:
        """Begin where the last rollout ended."""
        for array in (self.obs, self.mask, self.active, self.state, self.memory, self.begins):
            if array is not None:
                array[0] = array[-1]

    def remember(self, t: int) -> None:
        """Forget what belongs to episodes that ended with step t.

        A world begins anew when all its agents have ended, which they may do one after the other.
        """
        assert self.memory is not None  # or nobody asks
        gone = self.gone | self.ended[t]
        over = gone.view(-1, self.agents).all(1, keepdim=True).expand(-1, self.agents).flatten()
        self.gone.copy_(gone & ~over)
        self.begins[t + 1] = over
        self.memory[t + 1].masked_fill_(over.unsqueeze(-1), 0)
