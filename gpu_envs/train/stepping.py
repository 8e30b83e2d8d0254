"""Steps worlds, and passes their outputs to the rollouts.

Where all agents are of one kind its rollout is where the simulator writes: nothing is copied. Where
there are several kinds the simulator writes arrays of all agents, and each rollout takes its part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs.core.simulator import Simulator
from gpu_envs.policies.layered import Layered
from gpu_envs.train.other_play import Names
from gpu_envs.train.rollout import Rollout

# Arrays of all agents side by side, which are dealt out once a rollout is over.
_SMALL = ("reward", "terminated", "truncated", "ended", "returns", "lengths")
_NAMES = {"returns": "episode_return", "lengths": "episode_length"}  # of the simulator's outputs


class AllAgents:
    """Arrays that a simulator writes for agents of several kinds, and each kind's part of them.

    Args:
        simulator: The worlds, split by kinds.
        rollouts: Of the kinds, in their order.
    """

    def __init__(self, simulator: Simulator, rollouts: Sequence[Rollout]) -> None:
        first, self.rollouts, self.kinds = rollouts[0], rollouts, simulator.kinds
        self.device, self.length = first.device, first.length
        self.worlds, self.agents = simulator.num_worlds, simulator.agents_per_world
        self.obs, self.final_obs, self.mask = (
            self._array(simulator, name) for name in ("obs", "final_obs", "action_mask")
        )
        rows = self.worlds * self.agents
        self.small = {name: self._zeros(getattr(first, name).dtype, rows) for name in _SMALL}
        self.active = self._zeros(torch.bool, rows, self.length + 1)
        self.parts = self._reward_parts(simulator)
        for other in rollouts[1:]:  # a state is the world's: all see the same
            other.state, other.final_state = first.state, first.final_state
        self.seen = self._rows(self.obs, self.kinds.observations)
        self.last = self._rows(self.final_obs, self.kinds.observations)
        self.legal = self._rows(self.mask, self.kinds.masks)
        for rollout, seen in zip(rollouts, self.seen, strict=True):
            if rollout.keeps_few:  # it keeps the present step alone, which is here
                rollout.obs = seen.unsqueeze(0)
        self.slots = [self._slot(t) for t in range(self.length)]

    def _array(self, simulator: Simulator, name: str) -> Any:
        output = simulator.layout.output(name)
        if output is None:
            return None
        kind = getattr(torch, output.type)
        return torch.zeros(output.shape, dtype=kind, device=self.device)

    def _zeros(self, kind: torch.dtype, rows: int, steps: int = 0) -> Tensor:
        return torch.zeros((steps or self.length, rows), dtype=kind, device=self.device)

    def _reward_parts(self, simulator: Simulator) -> Any:
        output = simulator.layout.output("reward_parts")
        if output is None or all(rollout.parts is None for rollout in self.rollouts):
            return None
        return torch.zeros((self.length, *output.shape), device=self.device)

    def _rows(self, array: Tensor | None, parts: Any) -> list[Any]:
        if array is None:
            return [None for _ in self.rollouts]
        return [part.flatten(0, 1) for part in parts.all_parts(array)]

    def _slot(self, t: int) -> dict[str, Tensor]:
        first = self.rollouts[0]
        slot = {"obs": self.obs, "final_obs": self.final_obs, "action_mask": self.mask}
        slot |= {_NAMES.get(name, name): array[t] for name, array in self.small.items()}
        slot["agent_active"] = None if first.active is None else self.active[t + 1]
        slot["reward_parts"] = None if self.parts is None else self.parts[t]
        slot["state"] = None if first.state is None else first.state[t + 1]
        slot["final_state"] = None if first.final_state is None else first.final_state[t]
        return {name: array for name, array in slot.items() if array is not None}

    def start(self, obs: Tensor, infos: Mapping[str, Any]) -> None:
        """Take in where the next rollout begins."""
        self.obs.copy_(obs)
        if self.mask is not None:
            self.mask.copy_(infos["action_mask"])
        if infos.get("agent_active") is not None:
            self.active[-1] = infos["agent_active"].flatten()
        if self.rollouts[0].state is not None:
            self.rollouts[0].state[-1] = infos["state"].flatten(1)
        self.deal_observed(self.length)

    def deal_observed(self, t: int) -> None:
        """Give each rollout what its agents observe before step t."""
        active = self.active[t].view(self.worlds, self.agents)
        for r, seen, legal in zip(self.rollouts, self.seen, self.legal, strict=True):
            if not r.keeps_few:
                r.obs[t] = seen
            if r.mask is not None:
                r.mask[t] = legal
            if r.active is not None:
                r.active[t] = r.kind.rows(active)

    def deal_last(self, t: int) -> None:
        """Give each rollout the last observations of episodes that ended with step t."""
        for r, last in zip(self.rollouts, self.last, strict=True):
            if last is not None:
                r.final_obs[t] = last

    def deal_small(self) -> None:
        """Give each rollout the rewards, flags and statistics of all steps."""
        for name, array in self.small.items():
            of_all = array.view(self.length, self.worlds, self.agents)
            for r in self.rollouts:
                own = of_all[:, :, r.kind.first : r.kind.first + r.agents]
                getattr(r, name).view(self.length, self.worlds, r.agents).copy_(own)
        if self.parts is not None:
            own_parts = self.kinds.arrays["reward_parts"].all_parts(self.parts)
            for r, own in zip(self.rollouts, own_parts, strict=True):
                assert r.parts is not None  # as of all kinds
                r.parts.copy_(own.flatten(1, 2))


class Stepper:
    """Steps the worlds of a trainer.

    Args:
        env: The worlds.
        rollouts: Of the kinds of agents, in their order.
        names: Under which agents of one kind see and act, where they are not the true ones.
    """

    def __init__(self, env: Any, rollouts: Sequence[Rollout], names: Names | None = None) -> None:
        self.simulator, self.rollouts, self.names = env.simulator, rollouts, names
        self.worlds, self.agents = env.num_worlds, env.agents_per_world
        self.is_turns = bool(env.simulator.instance["turns"])
        self.whole = AllAgents(env.simulator, rollouts) if len(rollouts) > 1 else None
        first = rollouts[0]
        self.slots = first.slots if self.whole is None else self.whole.slots
        self.gone = torch.zeros(env.num_envs, dtype=torch.bool, device=first.device)
        self.remembers = any(rollout.memory is not None for rollout in rollouts)

    def turn(self) -> None:
        """Begin where the last rollout ended."""
        if self.whole is not None:
            self.whole.active[0] = self.whole.active[-1]
        states: set[int] = set()
        for rollout in self.rollouts:  # kinds may share one array of states
            rollout.turn(but=states)
            states.add(id(rollout.state))

    def step(self, t: int) -> None:
        """Take the actions of step t, and give each rollout what follows."""
        if self.whole is None:
            taken = self.rollouts[0].taken[t]
            taken = taken if self.names is None else self.names.true(taken)
            self.simulator.step_arrays(taken, True, self.slots[t])
            return
        actions = {
            r.kind.name: r.taken[t].view(self.worlds, r.agents, *r.taken[t].shape[1:])
            for r in self.rollouts
        }
        self.simulator.step_arrays(actions, True, self.slots[t])
        self.whole.deal_observed(t + 1)
        self.whole.deal_last(t)

    def end(self, t: int) -> None:
        """Note which episodes ended with step t: a world resets when all its agents have ended.

        Agents may end one after the other.
        """
        if not self.remembers and self.names is None:
            return
        source = self.rollouts[0].ended if self.whole is None else self.whole.small["ended"]
        gone = (self.gone | source[t]).view(self.worlds, self.agents)
        over = gone.all(1, keepdim=True)
        self.gone.copy_(torch.where(over, self._absent(t + 1), gone).flatten())
        if self.names is not None:
            slot = self.slots[t]
            self.names.show(slot.get("final_obs"))
            self.names.begin(over.squeeze(1))
            self.names.show(slot["obs"], slot.get("action_mask"))
        for r in self.rollouts:
            if r.memory is not None:
                r.forget(t + 1, over.expand(-1, r.agents).flatten())

    def _absent(self, t: int) -> Tensor:
        """Return which agents are absent in episodes that begin with step t."""
        active = self.rollouts[0].active
        if active is None or self.is_turns:  # in games of turns all agents take part
            return torch.zeros_like(self.gone).view(self.worlds, self.agents)
        active = active if self.whole is None else self.whole.active
        return ~active[t].view(self.worlds, self.agents)

    def finish(self) -> None:
        """Pass all outputs to the rollouts."""
        if self.whole is not None:
            self.whole.deal_small()

    def start(self, obs: Any, infos: Mapping[str, Any], begun: Tensor | None = None) -> None:
        """Take in where the next rollout begins; `begun` flags worlds with new episodes."""
        if self.whole is not None:
            self.whole.start(obs, infos)
            return
        first = self.rollouts[0]
        first.start(obs, infos)
        if self.names is not None:
            if begun is not None:
                self.names.begin(begun)
            self.names.show(first.obs[-1], None if first.mask is None else first.mask[-1])

    def begin(self) -> None:
        """Note which agents take part in the episodes that have just begun."""
        self.gone.copy_(self._absent(-1).flatten())

    def forget(self, worlds: Tensor) -> None:
        """Let some worlds begin new episodes."""
        gone = self.gone.view(self.worlds, self.agents)
        self.gone.copy_(torch.where(worlds[:, None], self._absent(-1), gone).flatten())
        for r in self.rollouts:
            if r.memory is not None:
                rows = worlds.repeat_interleave(r.agents)
                r.begins[-1] |= rows
                r.memory[-1].masked_fill_(rows.unsqueeze(-1), 0)

    def resume(self) -> None:
        """Begin the next rollout where the worlds are."""
        if self.names is not None:
            self.names.draw()
        seen = self.simulator.observe()
        infos = {"action_mask": seen.action_mask, "agent_active": seen.agent_active}
        obs = Layered(seen.obs) if isinstance(seen.obs, Mapping) else seen.obs
        if self.whole is None:
            infos = {n: None if a is None else a.flatten(0, 1) for n, a in infos.items()}
            obs = obs.flatten(0, 1)
        self.start(obs, infos | {"state": seen.state})
