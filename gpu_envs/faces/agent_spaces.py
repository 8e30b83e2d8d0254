"""Spaces of agents by their names, and of the state that they share."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import Space, spaces

from gpu_envs import errors
from gpu_envs.core.kind_layout import Kind
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.core.spaces import box
from gpu_envs.known import fields


def state_space(simulator: Simulator) -> spaces.Box:
    """Return the space of a world's state; without a state, that of all agents' observations.

    Pictures with several layers count by their first layer.
    """
    output = simulator.layout.output("state")
    if output is not None:
        described = fields.read(simulator.instance["state"])
        return box(described, output.shape[1:], output.type)
    output = simulator.layout.output("obs")
    assert output is not None  # of the required outputs
    if simulator.kinds.is_split:
        rows = [(_first_layer(kind), kind.count) for kind in simulator.kinds]
    else:
        shown = simulator.observation_fields[: 1 if simulator.instance.get("pictures") else None]
        rows = [(box(shown, output.shape[2:], output.type), simulator.agents_per_world)]
    low = np.concatenate([np.tile(row.low.ravel(), count) for row, count in rows])
    high = np.concatenate([np.tile(row.high.ravel(), count) for row, count in rows])
    zero = np.zeros(1, low.dtype)  # the observation of an agent that has ended
    return spaces.Box(np.minimum(low, zero), np.maximum(high, zero), dtype=low.dtype.type)


def _first_layer(kind: Kind) -> spaces.Box:
    """Return the space of one row, of its first layer where it is a picture."""
    return box(kind.fields[: 1 if kind.has_pictures else None], kind.row, kind.type)


def role_of_each_agent(simulator: Simulator) -> list[Role]:
    """Return the role of each agent of a world."""
    found = {number: role for role in simulator.roles for number in role.numbers}
    return [found[number] for number in range(simulator.agents_per_world)]


def observed(role: Role) -> Space[Any]:
    """Return the space of an agent's observations in one world: with its mask, if it has one."""
    space = deepcopy(role.observation_space)
    if not role.has_mask:
        return space
    mask = spaces.Box(0, 1, (role.mask_elements,), np.int8)
    return spaces.Dict({"observation": space, "action_mask": mask})


class AgentSpaces:
    """Spaces by the names of agents."""

    simulator: Simulator
    observation_spaces: dict[str, Space[Any]]  # each of one world
    action_spaces: dict[str, Space[Any]]

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations; the same object at each call."""
        return self._space_of(agent, self.observation_spaces)

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's actions; the same object at each call."""
        return self._space_of(agent, self.action_spaces)

    def _space_of(self, agent: object, known: Mapping[str, Space[Any]]) -> Space[Any]:
        if not isinstance(agent, str) or agent not in known:
            raise ValueError(errors.unknown(f"agent of {self.simulator.name}", agent, known))
        return known[agent]

    @cached_property
    def state_space(self) -> spaces.Box:
        """Space of one world's state."""
        return state_space(self.simulator)
