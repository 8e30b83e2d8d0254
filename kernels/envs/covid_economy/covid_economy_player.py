"""Scripted player of CovidEconomy: all states close to the same level; the planner pays nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


class Player:
    """Closes to one level, and to another after a day.

    A state that has its level already waits, so that it may change when the day comes.

    Args:
        game: What is played.
        first: The level from the start; by default the constant one whose total is the best.
        then: The level after `day`.
        day: When the level changes; 0: never.
        days: Of an episode.
    """

    def __init__(
        self, game: Game, first: int = 7, then: int = 0, day: int = 0, days: int = 405
    ) -> None:
        self._is_planner = game.role == "planner"
        self._levels, self._day, self._days = (first, then), day, days

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return a level for each state."""
        rows = seen.obs
        if self._is_planner:
            return np.zeros(rows.shape[:2], np.int64)
        present, step = np.rint(10 * rows[..., 0]), np.rint(self._days * rows[..., 4]) + 1
        first, then = self._levels
        wanted = np.where((step > self._day) & (self._day > 0), then, first)
        level = np.where(present == wanted, 0, wanted).astype(np.int64)
        if seen.mask is None:
            return level
        is_legal = np.take_along_axis(seen.mask, level[..., np.newaxis], -1)[..., 0] != 0
        return np.where(is_legal, level, seen.mask.argmax(-1))
