"""Policies that act together: one for each agent of a world, or random actions without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpu_envs.core.kind_layout import KindLayout
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs
from gpu_envs.policies import agent_kinds, saved
from gpu_envs.policies.agent_kinds import KINDS_APART, Kind
from gpu_envs.policies.distributions import Distribution, of_space
from gpu_envs.policies.layered import Rows, as_batch, of_arrays
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.noise import OPPONENTS, Noise
from gpu_envs.policies.options import PolicyOptions
from gpu_envs.policies.sharing import groups, role_of_policy

NOBODY = -1  # in place of a policy's number: this agent acts uniformly at random


class Ruled:
    """Stands among policies for a player who chooses the actions of all its agents together.

    Args:
        see: Returns the actions of a role's agents, (worlds, n[, k]), for the outputs of a call.
        role: The role.
        kind: The kind that its agents are of.
        worlds: How many worlds it plays.
        device: Where the actions are wanted.
    """

    memory_size = 0

    def __init__(
        self,
        see: Callable[[Outputs], Any],
        role: Role,
        kind: Kind,
        worlds: int,
        device: torch.device,
    ) -> None:
        self._see, self._at, self.actions = see, role.within, kind.actions
        shape = (worlds, kind.count, *kind.actions.shape)
        self._chosen = torch.zeros(shape, dtype=kind.actions.type, device=device)

    def look(self, outputs: Outputs) -> None:
        """Choose actions; comes before each step of the worlds."""
        chosen = torch.as_tensor(self._see(outputs), device=self._chosen.device)
        self._chosen[:, self._at] = self.actions.stored(chosen)

    @property
    def rows(self) -> Tensor:
        """Stored actions of all rows of the kind."""
        return self._chosen.flatten(0, 1)


@dataclass
class Team:
    """Policies for all agents of a world."""

    policies: list[Policy | Ruled]
    of_agent: list[int]  # the number of each agent's policy; NOBODY: acts at random
    facts: dict[str, Any]
    kinds: Sequence[Kind] = ()  # of agents; empty where they are all one
    layout: KindLayout | None = None  # of observations; None for a single kind
    actions: Distribution | None = None  # actions of all agents, without kinds and policies

    @classmethod
    def load(cls, path: Path, simulator: Simulator) -> Team:
        """Read a policy file, or a run's checkpoint, for an environment like its own."""
        tree = saved.read(path)
        saved.require_alike(path, tree, simulator)
        options, device = PolicyOptions.read(tree["config"]), torch.device(simulator.device)
        numbers = agents_of(options, simulator.agent_names)
        found = agent_kinds.kinds_of(simulator, device)
        kind_of = agent_kinds.kind_of_each_agent(found)
        team = cls([], numbers, tree, found, simulator.kinds)
        for number, (name, state) in enumerate(saved.policies_of(tree).items()):
            kind = found[kind_of[numbers.index(number)]]
            own = options.of_role(role_of_policy(options, name))
            policy = Policy(kind.shape, kind.actions, own).to(device)
            policy.load_state_dict(state)
            team.policies.append(policy.requires_grad_(False))
        return team

    @classmethod
    def at_random(cls, simulator: Simulator) -> Team:
        """Return the team without policies."""
        device, nobody = torch.device(simulator.device), [NOBODY] * simulator.agents_per_world
        if not simulator.kinds.is_one:
            return cls([], nobody, {}, agent_kinds.kinds_of(simulator, device), simulator.kinds)
        # Random actions need no observations, which may be more than a policy takes.
        return cls([], nobody, {}, actions=of_space(simulator.single_action_space, device))

    def together(self) -> Callable[[Any, Any], Any]:
        """Return a function from the observations of all agents of one world to their actions."""
        return self._answering(slice(None))

    def players(self) -> list[Callable[[Any, Any], Any]]:
        """Return a function for each agent, from its observations one by one to its actions."""
        return [self._alone(agent) for agent in range(len(self.of_agent))]

    def _alone(self, agent: int) -> Callable[[Any, Any], Any]:
        answer = self._answering(slice(agent, agent + 1))

        def choose(observation: Any, mask: Any) -> Any:
            rows = as_batch(observation)
            chosen = answer(rows, None if mask is None else mask[None])[0]
            return chosen if chosen.shape else int(chosen)

        return choose

    def _answering(self, agents: slice) -> Callable[[Any, Any], Any]:
        """Return a function from observations of some agents of one world to their actions."""
        chosen = range(len(self.of_agent))[agents]
        of_row, noise = torch.tensor(self.of_agent), Noise(0, OPPONENTS, torch.device("cpu"))
        first = agents.start or 0
        crowd: Callable[[Any, Any], Any]
        own = [kind for kind in self.kinds if first in range(kind.first, kind.first + kind.count)]
        if len(self.kinds) > 1 and len(chosen) > 1:
            assert self.layout is not None  # of several kinds
            crowd = Crowds(self.kinds, self.policies, of_row, noise, 0, self.layout)
        else:
            actions = own[0].actions if own else self.actions or self.policies[0].actions
            crowd = Crowd(self.policies, of_row[agents], actions, noise, first)

        def answer(observations: Any, masks: Any) -> Any:
            legal = None if masks is None else torch.as_tensor(masks)
            return crowd(of_arrays(observations), legal).numpy().copy()

        return answer


class Crowd:
    """Acts for all rows at once: some policies with their memories, and random actions.

    Args:
        policies: Who plays.
        of_row: The number of each row's policy; NOBODY acts at random.
        actions: The distribution of actions.
        noise: Where draws come from.
        first_row: Number of the first row among those that draw.
        is_sampled: Draw all actions, instead of taking the likeliest.
    """

    def __init__(
        self,
        policies: Sequence[Policy | Ruled],
        of_row: Tensor,
        actions: Distribution,
        noise: Noise,
        first_row: int = 0,
        is_sampled: bool = False,
    ) -> None:
        parts = [(policy, (of_row == k).nonzero().squeeze(-1)) for k, policy in enumerate(policies)]
        self.parts = [(policy, at) for policy, at in parts if len(at)]
        self.others = (of_row == NOBODY).nonzero().squeeze(-1)
        self.actions, self.noise, self.first_row = actions, noise, first_row
        self.is_sampled, self.is_drawn = is_sampled, is_sampled or len(self.others) > 0
        self.memories = [
            torch.zeros((len(at), p.memory_size), device=of_row.device) if p.memory_size else None
            for p, at in self.parts
        ]
        shape = (len(of_row), *actions.shape)
        self.action = torch.zeros(shape, dtype=actions.type, device=of_row.device)
        self.step = 0

    @torch.no_grad()
    def __call__(self, obs: Rows, mask: Tensor | None) -> Tensor:
        """Return the actions of all rows, in the environment's form, valid until the next call."""
        rows, actions = len(self.action), self.actions
        if self.is_drawn:
            number = torch.tensor(self.step, device=self.action.device)
            drawn = self.noise.uniform(number, 1, self.first_row, rows, actions.draws)[0]
        if len(self.others):
            legal = None if mask is None else mask[self.others]
            self.action[self.others] = actions.uniform(drawn[self.others], legal)
        for k, (policy, at) in enumerate(self.parts):
            if isinstance(policy, Ruled):
                self.action[at] = policy.rows[at]
                continue
            legal = None if mask is None else mask[at]
            outputs, _, self.memories[k] = policy(obs[at], legal, self.memories[k])
            if self.is_sampled:
                self.action[at] = actions.sample(outputs, drawn[at])
            else:
                self.action[at] = actions.likeliest(outputs)
        self.step += 1
        return actions.for_env(self.action)


class Crowds:
    """Acts for the rows of several kinds of agents, each a crowd of its own.

    Args:
        found: The kinds.
        policies: Who plays.
        of_row: The number of the policy of each row of all kinds, agents of a world side by side.
        noise: Where draws come from.
        first_world: Number of the first world among those that draw.
        layout: Where the kinds' rows lie in what is observed.
        is_sampled: Draw all actions, instead of taking the likeliest.
    """

    def __init__(
        self,
        found: Sequence[Kind],
        policies: Sequence[Policy | Ruled],
        of_row: Tensor,
        noise: Noise,
        first_world: int,
        layout: KindLayout,
        is_sampled: bool = False,
    ) -> None:
        agents = sum(kind.count for kind in found)
        self.kinds, self.layout = found, layout
        self.worlds = worlds = len(of_row) // agents
        by_agent = of_row.view(worlds, agents)
        self.crowds = [
            Crowd(
                *(policies, kind.rows(by_agent), kind.actions, noise),
                first_row=first_world * kind.count + kind.number * KINDS_APART,
                is_sampled=is_sampled,
            )
            for kind in found
        ]

    def __call__(self, obs: Rows, mask: Tensor | None) -> Any:
        """Return the actions of all kinds: by role, or of all rows where these are padded."""
        rows = self.layout.observations.own_rows(obs, [kind.row[0] for kind in self.kinds])
        masks = self._own_masks(mask)
        taken = [
            crowd(own, None if kind.choices is None else legal)
            for kind, crowd, own, legal in zip(self.kinds, self.crowds, rows, masks, strict=True)
        ]
        of_worlds = [
            actions.view(self.worlds, kind.count, *actions.shape[1:])
            for kind, actions in zip(self.kinds, taken, strict=True)
        ]
        if self.layout.is_split:
            return {kind.name: part for kind, part in zip(self.kinds, of_worlds, strict=True)}
        return torch.cat(of_worlds, 1).flatten(0, 1)

    def _own_masks(self, mask: Tensor | None) -> Sequence[Any]:
        if mask is None or self.layout.masks is None:
            return [None for _ in self.kinds]
        return self.layout.masks.own_rows(mask, [kind.choices or 0 for kind in self.kinds])


def agents_of(options: PolicyOptions, names: Sequence[str]) -> list[int]:
    """Return the number of each agent's policy, NOBODY where it has none."""
    numbers = [NOBODY] * len(names)
    for k, members in enumerate(groups(options.policies, names, options.learn).values()):
        for agent in members:
            numbers[agent] = k
    return numbers
