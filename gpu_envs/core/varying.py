"""The part of `Simulator` that changes parameters, for all worlds or for each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import columns, layout, own_values, ranges
from gpu_envs.core.streams import Streams
from gpu_envs.known import fields
from gpu_envs.known.fields import Field, Value
from gpu_envs.known.fields import read as read_fields

Changes = dict[str, own_values.Law]


class VaryingParameters:
    """Parameters that may differ by world."""

    name: str
    num_worlds: int
    instance: dict[str, Any]
    changes: int  # of the worlds, but for steps
    _native: Any
    _streams: Streams
    _parameter_fields: tuple[Field, ...]
    _parameters: dict[str, Value]
    _read_at = 0  # `changes` when they were read

    @property
    def varies(self) -> tuple[str, ...]:
        """Names of the parameters of which each world has a value of its own."""
        return tuple(self.instance.get("varying", ()))

    @property
    def parameters(self) -> dict[str, Value]:
        """The environment's parameters by name, as they are now.

        Of one that differs by world, the greatest value that the simulator was made with; `get`
        has those of each world. Where some differ, the others are read from world 0 after a change
        of the worlds, which waits for a GPU.
        """
        if self.varies and self._read_at != self.changes:
            self._read_own()
        return self._parameters

    def set_parameters(self, *, worlds: Sequence[int] | None = None, **values: Any) -> None:
        """Change parameters, between two steps; `info` says when a change acts.

        A parameter that differs by world takes an array with a value per world, or a range that
        every reset draws from (`gpu_envs.uniform` and others); a number stays until it is changed
        again. One that does not, because neither an array, nor a range, nor `varies=` named it
        where the simulator was made, takes a number, for all worlds.

        Args:
            worlds: Numbers of the worlds that are changed; None for all.
            **values: The parameters by name.
        """
        chosen = (
            None if worlds is None else columns.world_numbers(worlds, "worlds", self.num_worlds)
        )
        count = self.num_worlds if chosen is None else len(chosen)
        laws = self._laws(values, count)
        self._streams.settle("set_parameters()")
        self._native.set_parameters(laws, chosen)
        if not self.varies:
            self._read_parameters()
        self.changes += 1

    def require_changeable(self, names: Iterable[str]) -> None:
        """Refuse names that are not those of parameters that can change."""
        known = ranges.may_vary(self._parameter_fields)
        for name in names:
            if name not in known:
                raise TypeError(self._no_change(name, known))

    def may_take(self, values: Mapping[str, Any]) -> bool:
        """Whether numbers lie within the bounds of their parameters."""
        by_name = {field.name: field for field in self._parameter_fields}
        for name, value in values.items():
            if isinstance(value, ranges.Range):
                continue
            try:
                numbers = np.asarray(value, np.float64)
            except (TypeError, ValueError):
                return False
            field = by_name[name]
            if field.low is None or field.high is None:
                continue
            if not ((numbers >= field.low) & (numbers <= field.high)).all():
                return False
        return True

    def _laws(self, values: Mapping[str, Any], count: int) -> Changes:
        self.require_changeable(values)
        return {name: own_values.law_of(name, value, count) for name, value in values.items()}

    def _no_change(self, name: str, known: Sequence[str]) -> str:
        if name in self._parameters:
            listed = f"these can: {', '.join(known)}" if known else "none can"
            return f"parameter {name!r} of {self.name} cannot change in a simulator; {listed}"
        return errors.unknown(f"parameter of {self.name}", name, [*known])

    def _read_parameters(self) -> None:
        self.instance["values"] = layout.instance(self._native)["values"]
        self._parameters = fields.shortened(self._parameter_fields, self.instance["values"])

    def _read_own(self) -> None:
        """Read what does not differ by world where every world has a row of its own."""
        self._streams.settle("parameters")
        now: dict[str, Any] = {}
        for field in self._parameter_fields:
            if field.by_world and field.name not in self.varies:
                value = self._native.get_column(f"world.{field.name}")[0, 0].item()
                # A whole number as the native description spells it: 5, not 5.0.
                now[field.name] = json.loads(format(value, ".17g"))
        shown = fields.shortened(self._parameter_fields, now)
        self._parameters, self._read_at = self._parameters | shown, self.changes

    def _common_column(self, column: str) -> np.ndarray[Any, Any] | None:
        """Return a parameter of all worlds as the column that it would be where it differs."""
        name = column.removeprefix("world.") if isinstance(column, str) else ""
        found = [f for f in self._parameter_fields if f.name == name and f.by_world]
        if self.varies or not found or name == column:
            return None
        value = self.instance["values"][name]
        return np.full((self.num_worlds, 1), value, np.dtype(found[0].type))

    def _reset_laws(self, options: dict[str, Any]) -> dict[str, Any]:
        """Remove parameters from the options of a reset, and return them."""
        taken = {field.name for field in read_fields(self.instance["reset_options"])}
        known = [name for name in ranges.may_vary(self._parameter_fields) if name not in taken]
        return {name: options.pop(name) for name in known if name in options}
