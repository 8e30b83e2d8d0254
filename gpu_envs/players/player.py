"""What a player of others is: asked for actions, and kept with the worlds.

All that a player keeps between steps has a row for each world: `rows` and `put` read and write
those of some worlds, for saves, copies and worlds that sit out a step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpu_envs.core.role_actions import to_library
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs

# Odd constants of the splitmix64 generator (Steele, Lea, Flood 2014) and of Weyl sequences.
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
STEP, AGENT, COLUMN = 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7
BITS = 23  # of a draw: with a half added still exact in float32


class Seen(NamedTuple):
    """Observations of the agents of one role, as arrays of (worlds, n, ...)."""

    outputs: Outputs  # theirs, of the last call
    shown: Any  # observations as the environment presents them: by field, where that was asked for
    mask: Any  # None where every action is legal
    stepped: Any = None  # which worlds step, a bool each in the players' library; None: all


class Keeper:
    """Keeps something of each world between steps.

    `kept` holds its arrays with a row for each world, and `who` says whose they are; one that keeps
    nothing has neither.
    """

    who = ""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.kept: dict[str, Any] = {}

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Note a reset; one without memory does nothing.

        Args:
            seed: The seed of `reset`; None continues.
            worlds: Bool per world, in host memory; None for all.
        """
        return

    def note(self, outputs: Outputs) -> None:
        """Note the outputs of a step that is not followed by a call of this player."""
        return

    def rows(self, worlds: list[int]) -> dict[str, Any]:
        """Return a copy of what it keeps of some worlds, a row each."""
        return {name: array[worlds] for name, array in self.kept.items()}

    def put(self, worlds: list[int], rows: Mapping[str, Any]) -> None:
        """Write what `rows` returned, here or elsewhere; a single row into each of the worlds."""
        mine, theirs = _forms(self.kept), _forms(rows)
        if theirs != mine:
            raise ValueError(f"load: the save differs in what others keep: {theirs}, not {mine}")
        for name, array in self.kept.items():
            given = rows[name]
            if isinstance(given, np.ndarray) and not isinstance(array, np.ndarray):
                is_tensor = hasattr(array, "new_tensor")
                given = array.new_tensor(given) if is_tensor else to_library(given, self._simulator)
            array[worlds] = given

    def copy(self, sources: list[int], destinations: list[int]) -> None:
        """Let worlds that became copies have what it keeps of their sources."""
        self.put(destinations, self.rows(sources))

    def reseed(self, worlds: list[int]) -> None:
        """Give worlds that became copies draws of their own."""
        return


class Player(Keeper, ABC):
    """Plays one role in all worlds."""

    @abstractmethod
    def __call__(self, seen: Seen) -> Any:
        """Return the actions of the role's agents, (worlds, n[, k])."""


def _forms(rows: Mapping[str, Any]) -> list[str]:
    """Return name, type and shape of the rows of arrays, whichever library they are of."""
    return [
        f"{name} {str(array.dtype).removeprefix('torch.')} {tuple(array.shape[1:])}"
        for name, array in rows.items()
    ]


# ---- draws


def signed(value: int) -> int:
    """Return the int64 with the lowest 64 bits of a whole number."""
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def mixed(bits: Any) -> Any:
    """Return int64 that are spread over all numbers, different ones for different bits."""
    # Shifts of int64 keep the sign, so what they bring in is masked away.
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * signed(FIRST)
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * signed(SECOND)
    return bits ^ ((bits >> 31) & (2**33 - 1))


def even(bits: Any, count: Any) -> Any:
    """Return a whole number below `count` of the bits of a draw."""
    return (bits >> 40 & (2**BITS - 1)) * count >> BITS
