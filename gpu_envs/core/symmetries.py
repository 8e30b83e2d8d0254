"""Symmetries of a game: other names of what an agent sees and does, by which no rule goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Symmetries:
    """All ways of naming what a game has (the colours of cards); the first changes nothing.

    Under symmetry `n` an agent sees `obs[observation[n]]` in place of `obs`, and `mask[actions[n]]`
    in place of `mask`; if it chooses `action`, the game gets `actions[n][action]`.
    """

    observation: Numbers  # (symmetries, elements of an observation)
    actions: Numbers  # (symmetries, actions)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.actions)


def read(described: Sequence[tuple[list[int], list[int]]]) -> Symmetries | None:
    """Return what a header describes, None where it describes nothing; refuse no permutations."""
    if not described:
        return None
    parts = zip(*described, strict=True)
    observation, actions = (np.array(part, dtype=np.int64) for part in parts)
    for table in (observation, actions):
        plain = np.arange(table.shape[1])
        if (np.sort(table, axis=1) != plain).any() or (table[0] != plain).any():
            raise ValueError("symmetries of the header: permutations, the first of which is plain")
    return Symmetries(observation, actions)
