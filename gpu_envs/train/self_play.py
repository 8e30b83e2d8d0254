"""The rows of each policy, and those that an earlier version of it plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gpu_envs.policies.layered import Rows
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.noise import OPPONENTS, Noise
from gpu_envs.policies.sharing import groups
from gpu_envs.train.config import Config
from gpu_envs.train.fused import Drawing


class Past:
    """Earlier versions of a policy; one of them plays some of its rows.

    Args:
        config: The run.
        number: Number of the learner.
        positions: Which of the learner's rows it plays.
        learns: Whether each row of the rollout is learned from.
        device: Where they are.
    """

    policy: Policy  # set by the learner, which makes it
    draw: Drawing  # its actions; set by the learner too

    def __init__(
        self, config: Config, number: int, positions: Tensor, learns: Tensor, device: torch.device
    ) -> None:
        self.config, self.positions, self.learns = config, positions, learns
        self.kept: list[dict[str, Tensor]] = []
        self.noise, self.number = Noise(config.seed, OPPONENTS, device), number

    def choose(self, present: Policy, update: int) -> None:
        """Keep the present policy if it is time, and choose the version for the next rollout."""
        if update % self.config.past_every == 0:
            self.kept.append({n: t.clone() for n, t in present.state_dict().items()})
            # The oldest stays: a policy that forgot how to beat it would not notice otherwise.
            if len(self.kept) > self.config.past_kept:
                del self.kept[min(1, len(self.kept) - 1)]
        step = torch.tensor(update, device=self.noise.device)
        draw = self.noise.uniform(step, 1, self.number, 1, 1)
        chosen = min(int(float(draw) * len(self.kept)), len(self.kept) - 1)
        own = self.policy.state_dict()
        for name, tensor in self.kept[chosen].items():
            own[name].copy_(tensor)

    def act(self, t: int, obs: Rows, memory: Tensor | None, after: Tensor | None) -> Tensor | None:
        """Replace the actions of the rows that the earlier policy plays; return new memories."""
        at = self.positions
        memory = memory if self.policy.memory_size else None
        outputs, _, own = self.policy.plain(obs[at], None if memory is None else memory[at])
        self.draw(t, outputs)
        if after is None or own is None:
            return after
        return after.index_copy(0, at, own.to(after.dtype))

    def state(self) -> list[dict[str, Tensor]]:
        """Return what a checkpoint keeps."""
        return list(self.kept)

    def load(self, state: list[Mapping[str, Tensor]]) -> None:
        """Continue from what a checkpoint kept."""
        device = self.noise.device
        self.kept = [{n: t.to(device) for n, t in kept.items()} for kept in state]


class Seats:
    """The rows of a batch by policy.

    In a part of the worlds, `past_worlds`, one policy (or, where one plays all agents, one agent)
    in turn is learned from, and earlier versions play the others.

    Args:
        config: The run.
        env: The worlds.
        device: Where rows are numbered.
        first_world: Number of the first of these worlds among those of all ranks.
        counts: Agents of each kind, in order; empty where there is one kind.
    """

    def __init__(
        self,
        config: Config,
        env: Any,
        device: torch.device,
        first_world: int,
        counts: Sequence[int] = (),
    ) -> None:
        self.config, self.device, self.first_world = config, device, first_world
        self.agents, self.worlds = env.agents_per_world, env.num_worlds
        self.counts = counts or (self.agents,)
        self.kind_of = [k for k, count in enumerate(self.counts) for _ in range(count)]
        self.groups = groups(config.policies, env.agent_names, config.learn)
        self.members = {agent for group in self.groups.values() for agent in group}
        if config.past_worlds and config.learn:
            raise ValueError("--past-worlds and --learn exclude each other: both choose opponents")
        if config.past_worlds and self.agents < 2:
            raise ValueError("--past-worlds needs an environment with several agents")

    def learners(self) -> Iterator[tuple[str, int, Tensor | None, Past | None]]:
        """Return name, kind, rows of it (None: all) and the past of each policy."""
        world = torch.arange(self.first_world, self.first_world + self.worlds)
        agent = torch.arange(self.agents)
        # Spread evenly, so that all ranks have their share of them.
        whole = round(self.config.past_worlds * self.config.num_envs)
        number = world * whole // self.config.num_envs
        in_past = ((world + 1) * whole // self.config.num_envs > number).unsqueeze(1)
        owner = torch.empty(self.agents, dtype=torch.int64)
        for k, members in enumerate(self.groups.values()):
            owner[members] = k
        # The side to learn from in this world: an agent, or a policy where there are several.
        side, sides = (owner, len(self.groups)) if len(self.groups) > 1 else (agent, self.agents)
        all_learn = ~in_past | (side == (number % sides).unsqueeze(1))
        for index, (name, members) in enumerate(self.groups.items()):
            kind = self._kind(name, members)
            first, count = sum(self.counts[:kind]), self.counts[kind]
            learns = all_learn[:, first : first + count].flatten()
            rows = None if len(members) == count else self._rows(members)
            past = None
            if self.config.past_worlds:
                own = learns if rows is None else learns[rows.cpu()]
                positions = (~own).nonzero().squeeze(-1).to(self.device)
                past = Past(self.config, index, positions, learns.to(self.device), self.device)
            yield name, kind, rows, past

    def without_policy(self, kind: int = 0) -> Tensor | None:
        """Return the rows of a kind whose agents act at random, None where there are none."""
        own = [agent for agent in range(self.agents) if self.kind_of[agent] == kind]
        others = [agent for agent in own if agent not in self.members]
        return self._rows(others) if others else None

    def _kind(self, name: str, members: Sequence[int]) -> int:
        kinds = {self.kind_of[agent] for agent in members}
        if len(kinds) > 1:
            raise ValueError(
                "--policies must be role or agent where roles have spaces of their own, got "
                f"{self.config.policies}: one policy ({name}) cannot serve different spaces"
            )
        return kinds.pop()

    def _rows(self, members: Sequence[int]) -> Tensor:
        kind = self.kind_of[members[0]]
        first = sum(self.counts[:kind])
        start = torch.arange(self.worlds).unsqueeze(1) * self.counts[kind] - first
        return (start + torch.tensor(members)).flatten().to(self.device)
