"""How a step of the worlds reaches the rollouts.

Where there is one kind of agents the simulator writes straight into its rollout. Where there are
several it writes arrays of all of them, and each rollout takes its part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs.core.split import Split
from gpu_envs.train.rollout import Rollout

# What is kept of all agents side by side, and taken apart once a rollout is over.
_SMALL = ("reward", "terminated", "truncated", "ended", "returns", "lengths")
_NAMES = {"returns": "episode_return", "lengths": "episode_length"}  # of the simulator's outputs


class Straight:
    """Steps of worlds with one kind of agents.

    Args:
        env: The worlds.
        rollout: Where they write.
    """

    def __init__(self, env: Any, rollout: Rollout) -> None:
        self.env, self.rollout, self.gone = env, rollout, rollout.gone

    def turn(self) -> None:
        """Begin where the last rollout ended."""
        self.rollout.turn()

    def step(self, t: int) -> None:
        """Take the actions of step t."""
        self.env.simulator.step_arrays(self.rollout.taken[t], True, self.rollout.slots[t])

    def end(self, t: int) -> None:
        """Note which episodes ended with step t."""
        if self.rollout.memory is not None:
            self.rollout.remember(t)

    def finish(self) -> None:
        """Let the rollout have all that was written."""

    def start(self, obs: Tensor, infos: Mapping[str, Any]) -> None:
        """Say where the next rollout begins."""
        self.rollout.start(obs, infos)

    def begin(self) -> None:
        """Note who is there in the episodes that have just begun."""
        self.rollout.gone.copy_(self.rollout.absent(-1))

    def forget(self, worlds: Tensor) -> None:
        """Let some worlds begin anew."""
        r = self.rollout
        if r.memory is not None:
            rows = worlds.repeat_interleave(r.agents)
            r.gone.copy_(torch.where(rows, r.absent(-1), r.gone))
            r.begins[-1] |= rows
            r.memory[-1].masked_fill_(rows.unsqueeze(-1), 0)

    def resume(self) -> None:
        """Begin the next rollout where the worlds are."""
        seen = self.env.simulator.observe()
        infos = {"action_mask": seen.action_mask, "agent_active": seen.agent_active}
        flat = {n: None if a is None else a.flatten(0, 1) for n, a in infos.items()}
        flat["state"] = seen.state
        self.start(seen.obs.flatten(0, 1), flat)


class Parted:
    """Steps of worlds with several kinds of agents, whose rows have lengths of their own.

    Args:
        env: The worlds, split by roles.
        rollouts: Of the kinds, in their order.
    """

    def __init__(self, env: Any, rollouts: Sequence[Rollout]) -> None:
        self.env, self.rollouts = env, rollouts
        self.simulator = simulator = env.simulator
        self.split: Split = simulator.split
        self.device, self.length = rollouts[0].device, rollouts[0].length
        self.worlds, self.agents = env.num_worlds, env.agents_per_world
        self.is_turns = bool(simulator.instance["turns"])
        self.obs, self.final_obs, self.mask = (
            self._array(name) for name in ("obs", "final_obs", "action_mask")
        )
        shape = (self.length, self.worlds * self.agents)
        self.small = {
            name: torch.zeros(shape, dtype=getattr(rollouts[0], name).dtype, device=self.device)
            for name in _SMALL
        }
        self.active = torch.zeros((self.length + 1, shape[1]), dtype=torch.bool, device=self.device)
        self.gone = torch.zeros(shape[1], dtype=torch.bool, device=self.device)
        first = rollouts[0]
        self.slots = []
        for t in range(self.length):
            slot = {"obs": self.obs, "final_obs": self.final_obs, "action_mask": self.mask}
            slot |= {_NAMES.get(name, name): array[t] for name, array in self.small.items()}
            slot["agent_active"] = self.active[t + 1] if first.active is not None else None
            slot["state"] = None if first.state is None else first.state[t + 1]
            slot["final_state"] = None if first.final_state is None else first.final_state[t]
            self.slots.append({name: a for name, a in slot.items() if a is not None})
        for other in rollouts[1:]:  # a state is the world's: all see the same
            other.state, other.final_state = first.state, first.final_state
        self.seen = self._parts(self.obs, self.split.observations)
        self.last = self._parts(self.final_obs, self.split.observations)
        self.legal = self._parts(self.mask, self.split.masks)
        for r, seen in zip(rollouts, self.seen, strict=True):
            if r.keeps_few:  # it keeps the present step alone, which is here
                r.obs = seen.unsqueeze(0)

    def _array(self, name: str) -> Any:
        output = self.simulator.layout.output(name)
        kind = output and getattr(torch, output.type)
        return output and torch.zeros(output.shape, dtype=kind, device=self.device)

    def _parts(self, array: Tensor | None, parts: Any) -> list[Any]:
        if array is None:
            return [None for _ in parts]
        return [view.flatten(0, 1) for view in self.split.views(array, parts).values()]

    def turn(self) -> None:
        """Begin where the last rollout ended."""
        self.active[0] = self.active[-1]
        for k, rollout in enumerate(self.rollouts):
            state = rollout.state
            rollout.state = state if k == 0 else None  # which they share
            rollout.turn()
            rollout.state = state

    def step(self, t: int) -> None:
        """Take the actions of step t, and give each rollout its part of what was observed."""
        actions = {
            r.kind.name: r.taken[t].view(self.worlds, r.agents, *r.taken[t].shape[1:])
            for r in self.rollouts
        }
        self.simulator.step_arrays(self.split.joined(actions), True, self.slots[t])
        self._observed(t + 1)
        for r, last in zip(self.rollouts, self.last, strict=True):
            if last is not None:
                r.final_obs[t] = last

    def _observed(self, t: int) -> None:
        active = self.active[t].view(self.worlds, self.agents)
        for r, seen, legal in zip(self.rollouts, self.seen, self.legal, strict=True):
            if not r.keeps_few:
                r.obs[t] = seen
            if r.mask is not None:
                r.mask[t] = legal
            if r.active is not None:
                r.active[t] = r.kind.rows(active)

    def end(self, t: int) -> None:
        """Note which episodes ended with step t: a world begins anew when all agents have ended."""
        if all(r.memory is None for r in self.rollouts):
            return
        gone = (self.gone | self.small["ended"][t]).view(self.worlds, self.agents)
        over = gone.all(1, keepdim=True)
        self.gone.copy_(torch.where(over, self._absent(t + 1), gone).flatten())
        for r in self.rollouts:
            if r.memory is not None:
                r.forget(t + 1, over.expand(-1, r.agents).flatten())

    def _absent(self, t: int) -> Tensor:
        """Return who is not there at all in episodes that begin with step t."""
        is_known = not self.is_turns and self.rollouts[0].active is not None
        absent = ~self.active[t] if is_known else torch.zeros_like(self.active[t])
        return absent.view(self.worlds, self.agents)

    def finish(self) -> None:
        """Let the rollouts have all that was written."""
        for name, array in self.small.items():
            of_all = array.view(self.length, self.worlds, self.agents)
            for r in self.rollouts:
                own = of_all[:, :, r.kind.first : r.kind.first + r.agents]
                getattr(r, name).view(self.length, self.worlds, r.agents).copy_(own)

    def start(self, obs: Tensor, infos: Mapping[str, Any]) -> None:
        """Say where the next rollout begins."""
        self.obs.copy_(obs)
        if self.mask is not None:
            self.mask.copy_(infos["action_mask"])
        if infos.get("agent_active") is not None:
            self.active[-1] = infos["agent_active"].flatten()
        if self.rollouts[0].state is not None:
            self.rollouts[0].state[-1] = infos["state"].flatten(1)
        self._observed(self.length)

    def begin(self) -> None:
        """Note who is there in the episodes that have just begun."""
        self.gone.copy_(self._absent(self.length).flatten())

    def forget(self, worlds: Tensor) -> None:
        """Let some worlds begin anew."""
        gone = self.gone.view(self.worlds, self.agents)
        self.gone.copy_(torch.where(worlds[:, None], self._absent(self.length), gone).flatten())
        for r in self.rollouts:
            if r.memory is not None:
                rows = worlds.repeat_interleave(r.agents)
                r.begins[-1] |= rows
                r.memory[-1].masked_fill_(rows.unsqueeze(-1), 0)

    def resume(self) -> None:
        """Begin the next rollout where the worlds are."""
        seen = self.simulator.observe()
        infos = {"action_mask": seen.action_mask, "agent_active": seen.agent_active}
        self.start(seen.obs, infos | {"state": seen.state})


Playing = Straight | Parted


def of(env: Any, rollouts: Sequence[Rollout]) -> Straight | Parted:
    """Return what plays the steps of these rollouts."""
    if getattr(env.simulator, "split", None) is not None:
        return Parted(env, rollouts)
    return Straight(env, rollouts[0])
