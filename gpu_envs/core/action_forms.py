"""The shape and type of arrays of actions, from the described fields of an action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu_envs.known.fields import Field


def row_shape(fields: Sequence[Field]) -> tuple[int, ...]:
    """Return the shape of one agent's action: () for a single choice, else (k,).

    A single float is (1,), as in Gymnasium's own environments: learners take a Box for a vector.
    """
    size = sum(field.size for field in fields)
    return () if size == 1 and not is_float(fields) else (size,)


def is_float(fields: Sequence[Field]) -> bool:
    """Whether an action consists of floats, not of categories."""
    return fields[0].type.startswith("float")


def takes_bools(fields: Sequence[Field]) -> bool:
    """Whether every number of an action is 0 or 1, so that booleans are accepted too."""
    return all(field.choices == 2 for field in fields)


@dataclass(frozen=True)
class ActionForm:
    """An array of actions in the form that a caller may pass."""

    shapes: tuple[tuple[int, ...], ...]
    dtype: np.dtype[np.generic]  # what other types become
    takes_bools: bool
    drawn_shape: tuple[int, ...]  # of actions that the engine draws
    rows: str  # size of the batch in words

    @property
    def is_float(self) -> bool:
        """Whether the actions are floats."""
        return self.dtype.kind == "f"


def form_of_rows(fields: Sequence[Field], worlds: int, agents: int, rows: str) -> ActionForm:
    """Return the form of actions with a row for each agent."""
    row = row_shape(fields)
    shapes = [(worlds * agents, *row), (worlds, agents, *row)]
    if agents == 1:
        shapes.insert(0, (worlds, *row))
    dtype = np.dtype("float32" if is_float(fields) else "int64")
    return ActionForm(tuple(shapes), dtype, takes_bools(fields), (worlds, agents, *row), rows)
