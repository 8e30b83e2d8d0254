"""Roles: the kinds of agents of a world, and each kind's part of what a simulator writes.

An environment may give its roles tables of their own, with spaces of their own; where all agents
share one table, an agent's name says its role: `hider_0` is a hider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from gymnasium import Space, spaces

from gpu_envs import errors
from gpu_envs.core import spaces as boxes
from gpu_envs.core.layout import Layout, size_in_words
from gpu_envs.core.split import Part, Split
from gpu_envs.known.fields import Field
from gpu_envs.known.fields import read as read_fields
from gpu_envs.known.outputs import OUTPUTS, Outputs

Index = slice | np.ndarray[Any, Any]
CUT = ("obs", "final_obs", "action_mask")  # what roles="split" writes role after role
_NOTHING = object()  # in the place of a mask that a role does not have


class Populated(Protocol):
    """A simulator, as far as roles are read from it."""

    name: str
    instance: dict[str, Any]
    layout: Layout
    num_worlds: int
    agents_per_world: int
    agent_names: list[str]
    observation_fields: tuple[Field, ...]
    action_fields: tuple[Field, ...]
    single_observation_space: Any
    single_action_space: Any
    split: Split | None

    @property
    def roles(self) -> tuple[Role, ...]:
        """Roles of the agents."""


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
    mask_elements: int = 0  # of one action mask
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


def roles_of(simulator: Populated) -> tuple[Role, ...]:
    """Return the roles of a simulator, by their first agents."""
    if simulator.instance.get("roles"):
        return tuple(_own(simulator, described) for described in simulator.instance["roles"])
    return _shared(simulator)


def _own(simulator: Populated, described: Mapping[str, Any]) -> Role:
    """Return a role that has a table, and so spaces, of its own."""
    first, count = described["first"], described["count"]
    seen, acted = read_fields(described["observation"]), read_fields(described["action"])
    row = (described["elements"],)
    observation = simulator.layout.output("obs")
    assert observation is not None  # of the required outputs
    return Role(
        described["name"],
        first,
        count,
        tuple(simulator.agent_names[first : first + count]),
        boxes.box(seen, row, observation.type),
        boxes.action_space(acted),
        described["masked"],
        tuple(seen),
        tuple(acted),
        numbers=range(first, first + count),
        row=row,
        mask_elements=described["mask_elements"],
        at=slice(first, first + count),
    )


def _shared(simulator: Populated) -> tuple[Role, ...]:
    """Return roles that share their spaces, as the agents' names say them."""
    names = simulator.agent_names
    groups: dict[str, list[int]] = {}
    if len(names) == simulator.agents_per_world:
        for number, name in enumerate(names):
            groups.setdefault(role_of(name), []).append(number)
    observation = simulator.layout.output("obs")
    assert observation is not None  # of the required outputs
    described = simulator.instance["outputs"].get("action_mask")
    shared: dict[str, Any] = {
        "observation_space": simulator.single_observation_space,
        "action_space": simulator.single_action_space,
        "has_mask": described is not None,
        "fields": tuple(simulator.observation_fields),
        "action_fields": tuple(simulator.action_fields),
        "row": observation.shape[2:],
        "mask_elements": described["shape"][-1] if described else 0,
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


def find_role(roles: Sequence[Role], name: object, who: str) -> Role:
    """Return the role of a name; `who` has these roles."""
    if not isinstance(name, str):
        names = [role.name for role in roles]
        raise TypeError(
            f"role must be the name of one role of {who} ({errors.listed(names)}), got {name!r} "
            f"of type {type(name).__name__}"
        )
    for role in roles:
        if role.name == name:
            return role
    raise ValueError(errors.unknown(f"role of {who}", name, [role.name for role in roles]))


def by_role(simulator: Populated, array: Any) -> dict[str, Any]:
    """Return each role's part, (worlds, agents of the role, ...), of an output with agents.

    Args:
        simulator: Who wrote it.
        array: (worlds, agents, ...), the same by row, or a dict of them by field; observations,
            masks and actions of roles="split", one array of all roles.
    """
    roles, split = simulator.roles, simulator.split
    if isinstance(array, Mapping):
        parts = {key: by_role(simulator, part) for key, part in array.items()}
        return {role.name: {key: part[role.name] for key, part in parts.items()} for role in roles}
    worlds, agents = simulator.num_worlds, simulator.agents_per_world
    if not isinstance(getattr(array, "shape", None), tuple):
        raise TypeError(
            f"by_role takes an output of {simulator.name}, an array or a dict of arrays by field, "
            f"got {array!r} of type {type(array).__name__}"
        )
    shape = tuple(array.shape)
    if split is not None and len(shape) == 1:
        kind = str(array.dtype).rpartition(".")[2]
        flat = split.masks if kind in ("int8", "bool") else split.observations
        if shape == (flat[-1].end,):
            return split.views(array, flat)
        if shape == (split.action_count,) and kind in ("int32", "int64") and not split.is_mixed:
            return split.views(array, split.actions)
    if shape[:2] != (worlds, agents):
        if shape[:1] != (worlds * agents,):
            raise ValueError(
                f"by_role takes arrays of shape ({worlds}, {agents}, ...), "
                f"{size_in_words(worlds, agents)}, got {shape}"
            )
        array = array.reshape(worlds, agents, *shape[1:])
    return {role.name: array[:, role.at] for role in roles}


class Parts:
    """Takes each role's part of the outputs of a call: views, where the library has them."""

    def __init__(self, simulator: Populated) -> None:
        described, split = simulator.instance["outputs"], simulator.split
        self._plans: dict[str, list[Any]] = {}
        for number, role in enumerate(simulator.roles):
            plan: list[Any] = []
            for name in OUTPUTS:
                place: Any = role.at if described.get(name, {}).get("per_agent") else None
                if split is not None and name in CUT:
                    place = (split.masks if name == "action_mask" else split.observations)[number]
                    if name == "action_mask" and not role.has_mask:
                        place = _NOTHING
                plan.append(place)
            self._plans[role.name] = plan

    def part(self, role: str, outputs: Outputs) -> Outputs:
        """Return a role's part, shaped (worlds, n, ...); what worlds have is whole."""
        pairs = zip(outputs, self._plans[role], strict=True)
        return Outputs._make(None if array is None else _cut(array, at) for array, at in pairs)


def _cut(array: Any, place: Any) -> Any:
    if place is None:
        return array
    if isinstance(array, Mapping):
        return {key: part[:, place] for key, part in array.items()}
    if isinstance(place, Part):
        return array[place.begin : place.end].reshape(place.shape)
    return None if place is _NOTHING else array[:, place]
