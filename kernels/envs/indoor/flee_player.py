"""Scripted player of Flee: walks to the end of the floor that is farthest from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu_envs.kernels.envs.indoor import walks

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


class Player:
    """Walks to the next corner of the state, until the end is as near as it gets."""

    def __init__(self, game: Game) -> None:
        pass

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return an action for each world."""
        left = np.hypot(*(seen.state["farthest"] - seen.state["place"]).T)
        there = left < walks.STEP / 2
        return np.where(there, walks.STOP, walks.towards(seen.state))[:, np.newaxis]
