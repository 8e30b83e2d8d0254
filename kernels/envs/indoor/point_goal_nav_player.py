"""Scripted player of PointGoalNav: follows the shortest walk, and stops where it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu_envs.kernels.envs.indoor import walks

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


class Player:
    """Walks to the next corner of the state, until the goal is near."""

    def __init__(self, game: Game) -> None:
        self._near = float(game.parameters["success_distance"])

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return an action for each world."""
        there = seen.state["left"] < self._near
        return np.where(there.ravel(), walks.STOP, walks.towards(seen.state))[:, np.newaxis]
