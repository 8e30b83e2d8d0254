"""The kinds of agents of one simulator, and where the rows of each lie in its arrays.

Agents of one kind have rows of one shape and type. Most environments have one kind; where roles
have spaces of their own, each of them is a kind. An array that has the rows of all agents has one
of two forms:

    rows    (worlds, agents, ...)   agent beside agent; where kinds differ in the length of a row,
                                    all rows are padded to the longest (roles="padded")
    split   (elements,)             kind after kind, each with rows of its own type and length
                                    (roles="split"), which are views of their own shape

Rows that cannot be padded, such as pictures beside plain rows, are always split; where kinds differ
in type the whole array is of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs.core.action_forms import ActionForm, form_of_rows, row_shape
from gpu_envs.core.layout import size_in_words
from gpu_envs.core.libraries import require
from gpu_envs.known.fields import Field
from gpu_envs.known.fields import read as read_fields


@dataclass(frozen=True)
class Kind:
    """Agents `first` to `first + count - 1` of each world; their rows have one shape and type."""

    name: str
    first: int
    count: int
    fields: tuple[Field, ...]  # of an observation
    action_fields: tuple[Field, ...]
    row: tuple[int, ...]  # shape of an observation
    type: str  # of an observation's elements
    mask_elements: int  # numbers in an action mask, 0 where there is none
    has_mask: bool
    has_pictures: bool
    numbers: int  # fields beside a picture
    reward_fields: tuple[Field, ...]  # parts of the reward
    measure_fields: tuple[Field, ...]  # what an episode has come to

    @property
    def agents(self) -> slice:
        """Its agents, along the agents' axis of an array."""
        return slice(self.first, self.first + self.count)


def kinds_in(instance: Mapping[str, Any]) -> tuple[Kind, ...]:
    """Return the kinds of agents that a native simulator describes."""
    roles = instance.get("roles") or [{}]
    return tuple(
        _described(instance, role, part)
        for role, part in zip(roles, instance["parts"], strict=True)
    )


def _described(
    instance: Mapping[str, Any], role: Mapping[str, Any], part: Mapping[str, Any]
) -> Kind:
    """Read a kind from its description, which is empty for the only kind."""
    observation, mask = part["outputs"]["obs"], part["outputs"].get("action_mask")
    parts = instance["reward_parts"]
    if role:
        parts = role.get("reward_parts", [{"name": "reward", "type": "float32"}] if parts else [])
    return Kind(
        name=part["role"],
        first=part["first"],
        count=part["count"],
        fields=tuple(read_fields(role.get("observation", instance["observation"]))),
        action_fields=tuple(read_fields(role.get("action", instance["action"]))),
        row=tuple(observation["shape"]),
        type=observation["type"],
        mask_elements=mask["shape"][-1] if mask else 0,
        has_mask=role.get("masked", mask is not None),
        has_pictures=bool(role.get("pictures", instance.get("pictures"))),
        numbers=int(role.get("numbers", instance.get("numbers", 0))),
        reward_fields=tuple(read_fields(parts)),
        measure_fields=tuple(read_fields((role or instance).get("measures", []))),
    )


class KindArray:
    """An array that has a row for each agent, and the parts of the kinds in it.

    Args:
        shape: Of the whole array.
        parts: Shape of each kind's part, (worlds, agents of the kind, ...); None where a kind has
            no rows in this array.
        kinds: Whose parts they are.
        begins: Where each part begins, in elements of the whole array; None where agents lie side
            by side.
        types: Element type of each part, and of the whole array.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        parts: Sequence[tuple[int, ...] | None],
        kinds: Sequence[Kind],
        begins: Sequence[int] | None = None,
        types: tuple[Sequence[str], str] = ((), ""),
    ) -> None:
        self.shape, self.parts, self.is_split = shape, tuple(parts), begins is not None
        self.type = types[1]
        self._counts = [kind.count for kind in kinds]
        self._types = [kind if kind != types[1] else "" for kind in types[0] or [""] * len(parts)]
        self.places: list[Any] = []
        for k, part in enumerate(parts):
            if part is None:
                self.places.append(None)
            elif begins is None:
                self.places.append((slice(None), kinds[k].agents))
            else:
                size = int(np.prod(part, dtype=np.int64))
                if self._types[k]:
                    size = size * np.dtype(types[0][k]).itemsize // np.dtype(types[1]).itemsize
                self.places.append(slice(begins[k], begins[k] + size))

    def part(self, array: Any, kind: int) -> Any:
        """Return the part of a kind, (worlds, agents of the kind, ...): a view, with jax a copy.

        Arrays of kinds that are split may have other axes in front, such as steps.
        """
        place, shape = self.places[kind], self.parts[kind]
        if shape is None:
            return None
        if not self.is_split:
            return array[place]
        found = array[..., place]
        if self._types[kind]:
            found = found.view(type_of(found, self._types[kind]))
        return found.reshape(*array.shape[:-1], *shape)

    def all_parts(self, array: Any) -> list[Any]:
        """Return the parts of all kinds, in their order."""
        return [self.part(array, kind) for kind in range(len(self.parts))]

    def rows_by_world(self, array: Any) -> list[Any]:
        """Return the parts of all kinds, each as (worlds, elements)."""
        return [part.reshape(part.shape[0], -1) for part in self.all_parts(array)]

    def own_rows(self, array: Any, lengths: Sequence[int]) -> list[Any]:
        """Return the rows of each kind, (worlds * agents, ...), cut to these lengths."""
        if self.is_split:
            return [part.reshape(-1, *part.shape[2:]) for part in self.all_parts(array)]
        if array.ndim == 2:  # rows of all worlds
            worlds = next(part[0] for part in self.parts if part is not None)
            array = array.reshape(worlds, -1, array.shape[-1])
        pairs = zip(self.all_parts(array), lengths, strict=True)
        return [part.reshape(-1, part.shape[-1])[:, :length] for part, length in pairs]

    def rows_of_world(self, array: Any) -> Sequence[Any]:
        """Return the rows of the only world by the number of an agent; None where it has none."""
        if not self.is_split:
            rows: Sequence[Any] = array[0]
            return rows
        pairs = zip(self.all_parts(array), self._counts, strict=True)
        return [row for part, n in pairs for row in ([None] * n if part is None else part[0])]


def type_of(array: Any, name: str) -> Any:
    """Return an element type by its name in the library of an array."""
    return getattr(require("torch"), name) if hasattr(array, "is_cuda") else np.dtype(name)


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
        # By the name of an output that has rows of the kinds' own.
        self.arrays = {name: self._array(instance, name) for name in self._named(instance)}
        self.observations, self.masks = self.arrays["obs"], self.arrays.get("action_mask")
        self.actions = self._actions(instance)
        floats = [part["is_float"] for part in instance["parts"]]
        # Where some act in floats and some in categories, floats travel by their bits.
        self.is_mixed = self.is_split and any(floats) and not all(floats)
        self.action_form = self._action_form(all(floats))

    @property
    def is_one(self) -> bool:
        """Whether all agents are of one kind, whose rows lie side by side."""
        return len(self.kinds) == 1 and not self.is_split

    @staticmethod
    def _named(instance: Mapping[str, Any]) -> set[str]:
        return {name for part in instance["parts"] for name in part["outputs"]}

    def _array(self, instance: Mapping[str, Any], name: str) -> KindArray:
        output = instance["outputs"][name]
        shape, whole = tuple(output["shape"]), output["type"]
        if not self.is_split:
            parts = [(self.worlds, kind.count, *shape[2:]) for kind in self.kinds]
            return KindArray(shape, parts, self.kinds)
        own = [part["outputs"].get(name) for part in instance["parts"]]
        size = np.dtype(whole).itemsize
        return KindArray(
            shape,
            [
                None if of is None else (self.worlds, kind.count, *of["shape"])
                for kind, of in zip(self.kinds, own, strict=True)
            ],
            self.kinds,
            [0 if of is None else of["begin"] // size for of in own],
            ([whole if of is None else of["type"] for of in own], whole),
        )

    def _actions(self, instance: Mapping[str, Any]) -> KindArray:
        if not self.is_split:
            row = row_shape(self._fields)
            parts = [(self.worlds, kind.count, *row) for kind in self.kinds]
            return KindArray((self.worlds, self.agents, *row), parts, self.kinds)
        parts = [(self.worlds, k.count, *row_shape(k.action_fields)) for k in self.kinds]
        begins = [part["begin"] for part in instance["parts"]]
        size = begins[-1] + int(np.prod(parts[-1], dtype=np.int64))
        return KindArray((size,), parts, self.kinds, begins)

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

    def find(self, array: Any, name: str | None = None) -> KindArray | None:
        """Find which of the arrays of all kinds this one is, by its shape and type.

        Args:
            array: The array.
            name: Of the output; None where that is not known.

        Raises:
            ValueError: Without a name, two arrays of that form lay out their kinds differently.
        """
        if not self.is_split or len(array.shape) != 1:
            return None
        if name in self.arrays:
            return self.arrays[name]
        kind, shape = str(array.dtype).rpartition(".")[2], tuple(array.shape)
        if kind in ("int8", "bool"):
            return self.masks if self.masks is not None and shape == self.masks.shape else None
        alike = {
            name: known
            for name, known in sorted(self.arrays.items())
            if name != "action_mask" and (kind, shape) == (known.type, known.shape)
        }
        if len({(one.parts, str(one.places)) for one in alike.values()}) > 1:
            raise ValueError(
                f"outputs {' and '.join(alike)} of {self.name} have the same form and other parts: "
                f"say which this is: by_role(array, name={next(iter(alike))!r})"
            )
        if alike:
            return next(iter(alike.values()))
        own = ("float32",) if self.action_form.is_float else ("int32", "int64")
        is_action = kind in own and not self.is_mixed
        return self.actions if is_action and shape == self.actions.shape else None

    def __iter__(self) -> Iterator[Kind]:
        """Return the kinds, in the order of their agents."""
        return iter(self.kinds)
