"""Scripted player of SwarmTag: chasers run at the nearest runner in view; runners wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


def hunt(rows: Array, sectors: int) -> Array:
    """Return turn and drive of chasers for their rows of two channels of sectors."""
    other_kind = rows[..., sectors:]
    seen = np.where(other_kind < 0, 2.0, other_kind)
    nearest, distance = seen.argmin(-1), seen.min(-1)  # high sectors are at the right
    aside = (sectors - 1) / 2 - nearest
    turn = np.where(distance < 2, np.clip(aside / 3, -1, 1), 0)
    # No faster than what is left, and slowly while it is at the side.
    drive = np.minimum(distance * 4, 1) * np.clip(1.2 - np.abs(aside) / 40, 0, 1)
    return np.stack([turn, drive], -1).astype(np.float32)


class Player:
    """Plays one of the two roles."""

    def __init__(self, game: Game) -> None:
        self._hunts = game.role == "chaser"
        self._sectors = int(game.parameters["sector_count"])

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return turn and drive of each agent."""
        if self._hunts:
            return hunt(seen.obs, self._sectors)
        return np.zeros((*seen.obs.shape[:2], 2), np.float32)
