"""The kinds of agents of one simulator, and where the rows of each lie in its arrays.

Agents of one kind have rows alike. Most environments have one kind; where roles have spaces of
their own, each of them is a kind. An array that has the rows of all agents has one of two forms:

    rows    (worlds, agents, ...)   agent beside agent; where kinds differ in the length of a row,
                                    all rows are padded to the longest (roles="padded")
    split   (elements,)             kind after kind, each with rows of its own length
                                    (roles="split"), which are views of their own shape
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core.action_forms import ActionForm, form_of_rows, is_float, row_shape
from gpu_envs.core.layout import size_in_words
from gpu_envs.known.fields import Field
from gpu_envs.known.fields import read as read_fields

FORMS = ("padded", "split")
ALL = "agents"  # name of the only kind of an environment


@dataclass(frozen=True)
class Kind:
    """Agents `first` to `first + count - 1` of each world, whose rows are alike."""

    name: str
    first: int
    count: int
    fields: tuple[Field, ...]  # of an observation
    action_fields: tuple[Field, ...]
    row: tuple[int, ...]  # shape of an observation
    mask_elements: int  # numbers in an action mask, 0 where there is none
    has_mask: bool

    @property
    def agents(self) -> slice:
        """Its agents, along the agents' axis of an array."""
        return slice(self.first, self.first + self.count)


def kinds_in(instance: Mapping[str, Any]) -> tuple[Kind, ...]:
    """Return the kinds of agents that a native simulator describes."""
    return tuple(_described(instance, role) for role in instance.get("roles") or [{}])


def _described(instance: Mapping[str, Any], role: Mapping[str, Any]) -> Kind:
    """Return a kind; an empty description is that of the only one."""
    outputs = instance["outputs"]
    mask = outputs.get("action_mask")
    return Kind(
        name=role.get("name", ALL),
        first=role.get("first", 0),
        count=role.get("count", instance["agents_per_world"]),
        fields=tuple(read_fields(role.get("observation", instance["observation"]))),
        action_fields=tuple(read_fields(role.get("action", instance["action"]))),
        row=(role["elements"],) if role else tuple(outputs["obs"]["shape"][2:]),
        mask_elements=role.get("mask_elements", mask["shape"][-1] if mask else 0),
        has_mask=role.get("masked", mask is not None),
    )


class KindArray:
    """An array that has a row for each agent, and the parts of the kinds in it.

    Args:
        shape: Of the whole array.
        parts: Shape of each kind's part, (worlds, agents of the kind, ...).
        firsts: Number of the first agent of each kind.
        is_split: Whether the parts lie one after the other.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        parts: Sequence[tuple[int, ...]],
        firsts: Sequence[int],
        is_split: bool,
    ) -> None:
        self.shape, self.parts, self.is_split = shape, tuple(parts), is_split
        ends = np.cumsum([int(np.prod(part, dtype=np.int64)) for part in parts]).tolist()
        self._places: list[Any] = [
            slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)
        ]
        if not is_split:
            self._places = [
                (slice(None), slice(first, first + part[1]))
                for first, part in zip(firsts, parts, strict=True)
            ]

    def part(self, array: Any, kind: int) -> Any:
        """Return the part of a kind, (worlds, agents of the kind, ...): a view, with jax a copy."""
        found = array[self._places[kind]]
        return found.reshape(self.parts[kind]) if self.is_split else found

    def all_parts(self, array: Any) -> list[Any]:
        """Return the parts of all kinds, in their order."""
        return [self.part(array, kind) for kind in range(len(self.parts))]

    def own_rows(self, array: Any, lengths: Sequence[int]) -> list[Any]:
        """Return the rows of each kind, (worlds * agents, length), cut to these lengths."""
        if not self.is_split and array.ndim == 2:  # rows of all worlds
            array = array.reshape(self.parts[0][0], -1, array.shape[-1])
        pairs = zip(self.all_parts(array), lengths, strict=True)
        return [part.reshape(-1, part.shape[-1])[:, :length] for part, length in pairs]

    def rows_of_world(self, array: Any) -> Sequence[Any]:
        """Return the rows of the only world, by the number of an agent."""
        if not self.is_split:
            rows: Sequence[Any] = array[0]
            return rows
        return [row for part in self.all_parts(array) for row in part[0]]


class KindLayout:
    """Where the rows of each kind lie in what a simulator reads and writes.

    Args:
        instance: What a native simulator says of itself.
    """

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.name: str = instance["id"]
        self.worlds: int = instance["num_worlds"]
        self.agents: int = instance["agents_per_world"]
        self.kinds = kinds_in(instance)
        self.is_split = instance.get("role_form") == "split"
        self._fields = tuple(read_fields(instance["action"]))
        self._rows = size_in_words(self.worlds, self.agents)
        outputs = instance["outputs"]
        self.observations = self._array(outputs["obs"], [kind.row for kind in self.kinds])
        lengths = [(kind.mask_elements,) for kind in self.kinds]
        mask = outputs.get("action_mask")
        self.masks = None if mask is None else self._array(mask, lengths)
        self.actions = self._actions()
        floats = [is_float(kind.action_fields) for kind in self.kinds]
        # Where some act in floats and some in categories, floats travel by their bits.
        self.is_mixed = self.is_split and any(floats) and not all(floats)
        self.action_form = self._action_form(all(floats))

    @property
    def is_one(self) -> bool:
        """Whether all agents are of one kind."""
        return len(self.kinds) == 1

    def _array(self, output: Mapping[str, Any], rows: Sequence[tuple[int, ...]]) -> KindArray:
        shape = tuple(output["shape"])
        if not self.is_split:
            rows = [shape[2:] for _ in rows]
        return self._parted(shape, rows)

    def _parted(self, shape: tuple[int, ...], rows: Sequence[tuple[int, ...]]) -> KindArray:
        pairs = zip(self.kinds, rows, strict=True)
        parts = [(self.worlds, kind.count, *row) for kind, row in pairs]
        return KindArray(shape, parts, [kind.first for kind in self.kinds], self.is_split)

    def _actions(self) -> KindArray:
        if not self.is_split:
            row = row_shape(self._fields)
            return self._parted((self.worlds, self.agents, *row), [row for _ in self.kinds])
        rows = [row_shape(kind.action_fields) for kind in self.kinds]
        pairs = zip(self.kinds, rows, strict=True)
        sizes = [self.worlds * kind.count * (row or (1,))[0] for kind, row in pairs]
        return self._parted((sum(sizes),), rows)

    def _action_form(self, all_float: bool) -> ActionForm:
        if not self.is_split:
            return form_of_rows(self._fields, self.worlds, self.agents, self._rows)
        kind = "float32" if all_float else "int32" if self.is_mixed else "int64"
        shape = self.actions.shape
        return ActionForm((shape,), np.dtype(kind), False, shape, self._rows)

    def mask_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes that an action mask may have; ValueError where there is no choice."""
        if self.is_split:
            return (() if self.masks is None else self.masks.shape,)
        counts = [field.choices for field in self._fields for _ in range(field.size)]
        if None in counts:
            what = f"those of {self.name} are not"
            raise ValueError(f"mask= is for actions that are categories: {what}")
        total = sum(count for count in counts if count is not None)
        return ((self.worlds, self.agents, total), (self.worlds * self.agents, total))

    def find(self, array: Any) -> KindArray | None:
        """Return which of the arrays of all kinds this one is, by its shape and type."""
        if not self.is_split or len(array.shape) != 1:
            return None
        kind, shape = str(array.dtype).rpartition(".")[2], tuple(array.shape)
        if kind in ("int8", "bool"):
            return self.masks if self.masks is not None and shape == self.masks.shape else None
        if shape == self.observations.shape:
            return self.observations
        is_action = kind in ("int32", "int64") and not self.is_mixed
        return self.actions if is_action and shape == self.actions.shape else None

    def __iter__(self) -> Iterator[Kind]:
        """Return the kinds, in the order of their agents."""
        return iter(self.kinds)


def checked_form(roles: object, description: Mapping[str, Any]) -> str:
    """Check `roles`, the form in which rows of kinds that differ are written.

    Where all agents are of one kind both forms are the same.
    """
    if not isinstance(roles, str) or roles not in FORMS:
        meant = errors.suggestion(roles, FORMS)
        raise ValueError(f"roles must be 'padded' or 'split', got {roles!r}{meant}")
    own = description.get("roles")
    if not own:
        return "padded"
    if roles == "padded":
        lacking = [role["name"] for role in own if role["choices"] is None]
        if lacking:
            raise ValueError(
                f"rows of {description['id']} cannot be padded, since an action of "
                f"{' or '.join(lacking)} is not one category: use roles='split', role=, or "
                "gpu_envs.parallel_env"
            )
    return roles
