"""Observations of several arrays: layers of pictures, and numbers beside them, by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


class Layered:
    """Tensors with the same first axes, which are indexed together.

    A rollout keeps them over (steps, rows), and a policy takes rows of them as it takes a tensor.
    """

    def __init__(self, parts: Mapping[str, Tensor]) -> None:
        self.parts = dict(parts)

    def __getitem__(self, at: Any) -> Layered:
        return Layered({name: part[at] for name, part in self.parts.items()})

    def __setitem__(self, at: Any, value: Layered) -> None:
        for name, part in self.parts.items():
            part[at] = value.parts[name]

    def __len__(self) -> int:
        return len(self._first)

    def __iter__(self) -> Iterator[Layered]:
        return (self[k] for k in range(len(self)))

    @property
    def _first(self) -> Tensor:
        return next(iter(self.parts.values()))

    @property
    def shape(self) -> torch.Size:
        """Shape of the first part; only the first axes are those of all."""
        return self._first.shape

    def flatten(self, first: int, last: int) -> Layered:
        """Join axes that all parts share."""
        return Layered({name: part.flatten(first, last) for name, part in self.parts.items()})

    def index_select(self, axis: int, index: Tensor) -> Layered:
        """Return some places along an axis that all parts share."""
        return Layered({n: part.index_select(axis, index) for n, part in self.parts.items()})

    def unsqueeze(self, axis: int) -> Layered:
        """Return all parts with a further axis."""
        return Layered({name: part.unsqueeze(axis) for name, part in self.parts.items()})


Rows = Tensor | Layered


def joined(rows: Sequence[Any]) -> Any:
    """Return several batches of rows as one."""
    if isinstance(rows[0], Layered):
        names = rows[0].parts
        return Layered({name: torch.cat([part.parts[name] for part in rows]) for name in names})
    return torch.cat(list(rows))


def of_arrays(observations: Any) -> Rows:
    """Return observations of any library, an array or a dictionary of arrays, as tensors."""
    if isinstance(observations, Mapping):
        return Layered({name: torch.as_tensor(part) for name, part in observations.items()})
    return torch.as_tensor(observations)


def as_batch(observation: Any) -> Any:
    """Return one agent's observation as a batch of one."""
    if isinstance(observation, Mapping):
        return {name: np.asarray(part)[None] for name, part in observation.items()}
    return np.asarray(observation)[None]
