"""Roles: the kinds of agents of a world, and each kind's part of what a simulator writes.

An environment may give its roles tables of their own, with spaces of their own; where all agents
share one table, an agent's name says its role: `hider_0` is a hider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Space, spaces

from gpu_envs import errors
from gpu_envs.fields import Field
from gpu_envs.layout import told

if TYPE_CHECKING:
    from gpu_envs.simulator import Simulator

Index = slice | np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Role:
    """One role: who has it, what they see and what they can do."""

    name: str
    first: int  # number of its first agent in a world
    count: int
    agents: tuple[str, ...]  # empty where a world has more agents than names
    observation_space: Space[Any]
    action_space: Space[Any]
    has_mask: bool
    fields: tuple[Field, ...]
    action_fields: tuple[Field, ...]
    numbers: Sequence[int] = ()  # of all its agents in a world
    row: tuple[int, ...] = ()  # shape of one observation
    at: Index = field(default_factory=lambda: slice(0), compare=False)  # along the agents' axis

    @property
    def choices(self) -> int:
        """How many numbers an action mask of this role has."""
        return int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else 0

    @property
    def is_run(self) -> bool:
        """Whether its agents stand beside each other, so that its part of an array is a view."""
        return isinstance(self.at, slice)


def role_of(agent: str) -> str:
    """Return the part of an agent's name before its number."""
    return agent.rpartition("_")[0] or agent


def of(simulator: Simulator) -> tuple[Role, ...]:
    """Return the roles of a simulator whose agents share their spaces, by first agents."""
    names = simulator.agent_names
    groups: dict[str, list[int]] = {}
    if len(names) == simulator.agents_per_world:
        for number, name in enumerate(names):
            groups.setdefault(role_of(name), []).append(number)
    observation = simulator.layout.of("obs")
    assert observation is not None  # of the required outputs
    shared: dict[str, Any] = {
        "observation_space": simulator.single_observation_space,
        "action_space": simulator.single_action_space,
        "has_mask": "action_mask" in simulator.instance["outputs"],
        "fields": tuple(simulator.observation_fields),
        "action_fields": tuple(simulator.action_fields),
        "row": observation.shape[2:],
    }
    if len(groups) < 2:  # or nobody has a name
        count = simulator.agents_per_world
        name = next(iter(groups), "player")
        shared |= {"numbers": range(count), "at": slice(0, count)}
        return (Role(name, 0, count, tuple(names), **shared),)
    return tuple(
        Role(
            name,
            numbers[0],
            len(numbers),
            tuple(names[number] for number in numbers),
            **shared,
            numbers=numbers,
            at=_index(numbers),
        )
        for name, numbers in groups.items()
    )


def _index(numbers: Sequence[int]) -> Index:
    """Return a slice for agents beside each other, which makes views; else their numbers."""
    first, count = numbers[0], len(numbers)
    if list(numbers) == list(range(first, first + count)):
        return slice(first, first + count)
    return np.array(numbers)


def find(roles: Sequence[Role], name: object, who: str) -> Role:
    """Return the role of a name; `who` has these roles."""
    for role in roles:
        if role.name == name:
            return role
    raise ValueError(errors.unknown(f"role of {who}", name, [role.name for role in roles]))


def by_role(simulator: Simulator, array: Any) -> dict[str, Any]:
    """Return each role's part, (worlds, agents of the role, ...), of an output with agents.

    Args:
        simulator: Who wrote it.
        array: (worlds, agents, ...), the same by row, or a dict of them by field.
    """
    roles = simulator.roles
    if isinstance(array, Mapping):
        parts = {key: by_role(simulator, part) for key, part in array.items()}
        return {role.name: {key: part[role.name] for key, part in parts.items()} for role in roles}
    worlds, agents = simulator.num_worlds, simulator.agents_per_world
    shape = tuple(array.shape)
    if shape[:2] != (worlds, agents):
        if shape[:1] != (worlds * agents,):
            raise ValueError(
                f"by_role takes arrays of shape ({worlds}, {agents}, ...), "
                f"{told(worlds, agents)}, got {shape}"
            )
        array = array.reshape(worlds, agents, *shape[1:])
    return {role.name: array[:, role.at] for role in roles}
