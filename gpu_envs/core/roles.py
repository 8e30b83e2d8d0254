"""Roles: the agents that share a name, and each role's part of a simulator's outputs.

An environment may give its roles tables of their own, with spaces of their own: each is then a kind
of agents (`kind_layout`). Where all agents are of one kind, an agent's name says its role:
`hider_0` is a hider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import Space, spaces

from gpu_envs import errors
from gpu_envs.core import spaces as boxes
from gpu_envs.core.kind_layout import KindArray, KindLayout
from gpu_envs.core.layout import Layout, size_in_words
from gpu_envs.known.fields import Field
from gpu_envs.known.outputs import OUTPUTS, Outputs

Index = slice | np.ndarray[Any, Any]


class Populated(Protocol):
    """A simulator, as far as roles are read from it."""

    name: str
    observation: str
    instance: dict[str, Any]
    layout: Layout
    kinds: KindLayout
    num_worlds: int
    agents_per_world: int
    agent_names: list[str]
    observation_fields: tuple[Field, ...]
    action_fields: tuple[Field, ...]
    single_observation_space: Any
    single_action_space: Any
    views: boxes.FieldViews | boxes.LayerViews | None

    @property
    def roles(self) -> tuple[Role, ...]:
        """Roles of the agents."""


@dataclass(frozen=True, slots=True)
class Role:
    """One role: its agents, and their spaces."""

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
    kind: int = 0  # number of the kind that its agents are of
    within: Index = field(default_factory=lambda: slice(0), compare=False)  # the kind's agents
    reward_fields: tuple[Field, ...] = ()  # parts of the reward
    measure_fields: tuple[Field, ...] = ()  # what an episode has come to
    # Views of an observation that is a dictionary, by field or by layer of a picture.
    views: boxes.FieldViews | boxes.LayerViews | None = field(default=None, compare=False)

    @property
    def choices(self) -> int:
        """Number of elements in an action mask of this role."""
        return int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else 0


def role_of(agent: str) -> str:
    """Return the part of an agent's name before its number."""
    return agent.rpartition("_")[0] or agent


def roles_of(simulator: Populated) -> tuple[Role, ...]:
    """Return the roles of a simulator, by their first agents."""
    kinds = simulator.kinds
    if kinds.is_one:
        return tuple(_role(simulator, 0, *named) for named in _names_of(simulator).items())
    return tuple(
        _role(simulator, k, kind.name, range(kind.first, kind.first + kind.count))
        for k, kind in enumerate(kinds)
    )


def _names_of(simulator: Populated) -> dict[str, Sequence[int]]:
    """Return the numbers of the agents of each role, as the agents' names say them."""
    names, count = simulator.agent_names, simulator.agents_per_world
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        groups.setdefault(role_of(name), []).append(number)
    if len(names) == count and len(groups) > 1:
        return dict(groups)
    return {next(iter(groups), "player"): range(count)}


def _role(simulator: Populated, number: int, name: str, numbers: Sequence[int]) -> Role:
    kinds = simulator.kinds
    kind = kinds.kinds[number]
    names = simulator.agent_names
    seen, acted = simulator.single_observation_space, simulator.single_action_space
    fields, action_fields, views = kind.fields, kind.action_fields, simulator.views
    if kinds.is_one:  # its fields may be packed
        fields, action_fields = simulator.observation_fields, simulator.action_fields
    else:
        acted = boxes.action_space(action_fields)
        if kind.has_pictures:
            seen, views = boxes.of_pictures(fields, simulator.observation, kind.numbers)
        else:
            seen = boxes.box(fields, kind.row, kind.type)
    return Role(
        name,
        numbers[0] if numbers else kind.first,
        len(numbers),
        tuple(names[number] for number in numbers if number < len(names)),
        seen,
        acted,
        kind.has_mask,
        tuple(fields),
        tuple(action_fields),
        numbers=numbers,
        row=kind.row,
        mask_elements=kind.mask_elements,
        at=_index(numbers, 0, kind.first),
        kind=number,
        within=_index(numbers, kind.first, 0),
        reward_fields=kind.reward_fields,
        measure_fields=kind.measure_fields,
        views=views,
    )


def _index(numbers: Sequence[int], origin: int, default: int) -> Index:
    """Return a slice for adjacent agents, which makes views; else their numbers.

    Args:
        numbers: Of the agents.
        origin: Number of the agent that the axis begins with.
        default: Where the slice begins if there are no agents.
    """
    first, count = (numbers[0] - origin if numbers else default), len(numbers)
    if list(numbers) == list(range(first + origin, first + origin + count)):
        return slice(first, first + count)
    return np.array(numbers) - origin


def some_of(simulator: Populated, role: Role, numbers: Sequence[int], name: str) -> Role:
    """Return a role of some agents of another one.

    Args:
        simulator: Whose role it is.
        role: The role.
        numbers: Of these agents in a world.
        name: Of the new role.
    """
    names = simulator.agent_names
    return replace(
        role,
        name=name,
        first=numbers[0],
        count=len(numbers),
        agents=tuple(names[number] for number in numbers if number < len(names)),
        numbers=numbers,
        at=_index(numbers, 0, 0),
        within=_index(numbers, simulator.kinds.kinds[role.kind].first, 0),
    )


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


def by_role(simulator: Populated, array: Any, name: str | None = None) -> dict[str, Any]:
    """Split an output by role: each part is (worlds, agents of the role, ...).

    Args:
        simulator: The simulator that wrote it.
        array: (worlds, agents, ...), the same by row, or a dict of them by field; observations,
            masks and actions of roles="split", one array of all roles.
        name: Of the output, as of roles="split" two may have the same form.
    """
    roles, kinds = simulator.roles, simulator.kinds
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
    if (found := kinds.find(array, name)) is not None:
        return dict(zip([role.name for role in roles], found.all_parts(array), strict=True))
    if shape[:2] != (worlds, agents):
        if shape[:1] != (worlds * agents,):
            raise ValueError(
                f"by_role takes arrays of shape ({worlds}, {agents}, ...), "
                f"{size_in_words(worlds, agents)}, got {shape}"
            )
        array = array.reshape(worlds, agents, *shape[1:])
    return {role.name: array[:, role.at] for role in roles}


class _OfKind(NamedTuple):
    """A place in an array whose kinds lie one after the other."""

    whole: KindArray
    kind: int
    within: Index | int


_NOTHING = object()  # in the place of a mask that a role does not have


class Parts:
    """Takes parts of the outputs of a call: views, where the library has them.

    Args:
        simulator: The simulator that writes the outputs.
        by: "role", for parts of (worlds, n, ...), or "agent", for parts of (worlds, ...).
        given: The roles; None for those of the simulator.
    """

    def __init__(
        self, simulator: Populated, by: str = "role", given: Sequence[Role] | None = None
    ) -> None:
        self._plans = {
            key: [self._place(simulator, name, role, at, within) for name in OUTPUTS]
            for role in (simulator.roles if given is None else given)
            for key, at, within in _keys(simulator, role, by)
        }

    @staticmethod
    def _place(
        simulator: Populated, name: str, role: Role, at: Index | int, within: Index | int
    ) -> Any:
        if simulator.kinds.is_split and name in simulator.kinds.arrays:
            whole = simulator.kinds.arrays[name]
            if whole.parts[role.kind] is None or (name == "action_mask" and not role.has_mask):
                return _NOTHING
            return _OfKind(whole, role.kind, within)
        is_there = simulator.instance["outputs"].get(name, {}).get("per_agent")
        return (slice(None), at) if is_there else None

    def part(self, key: str, outputs: Outputs) -> Outputs:
        """Return the part of a role or an agent; outputs of worlds are returned whole."""
        pairs = zip(outputs, self._plans[key], strict=True)
        return Outputs._make(None if array is None else _cut(array, at) for array, at in pairs)


def _keys(simulator: Populated, role: Role, by: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield keys, and their place among all agents and among those of the kind."""
    if by == "role":
        yield role.name, role.at, role.within
        return
    first = simulator.kinds.kinds[role.kind].first
    for agent, number in zip(role.agents, role.numbers, strict=False):
        yield agent, number, number - first


def _cut(array: Any, place: Any) -> Any:
    if place is None:
        return array
    if isinstance(array, Mapping):
        return {key: part[place] for key, part in array.items()}
    if isinstance(place, _OfKind):
        return place.whole.part(array, place.kind)[:, place.within]
    return None if place is _NOTHING else array[place]


def as_seen(simulator: Populated, role: Role, part: Outputs) -> Outputs:
    """Return a role's part of outputs with observations as its space has them.

    Where rows of roles are split, a simulator writes layers of pictures into outputs of their own.
    """
    if simulator.views is not None or role.views is None:
        return part
    return part._replace(obs=role.views.observed(part), final_obs=role.views.last(part))
