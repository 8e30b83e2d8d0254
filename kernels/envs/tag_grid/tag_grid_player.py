"""Scripted player of TagGrid: taggers step towards the runner, a runner stands still.

It needs observations that show everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]

STAY, RIGHT, LEFT, UP, DOWN = range(5)


def towards(gap: Array) -> Array:
    """Return the step along the axis on which something is farther; `gap` has x and y last."""
    along_x = np.abs(gap[..., 0]) >= np.abs(gap[..., 1])
    sideways = np.where(gap[..., 0] > 0, RIGHT, LEFT)
    way = np.where(along_x, sideways, np.where(gap[..., 1] > 0, UP, DOWN))
    return np.where((gap == 0).all(axis=-1), STAY, way)


class Player:
    """Chases the runner, the last agent; a runner's way to itself is to stay."""

    def __init__(self, game: Game) -> None:
        if not game.parameters["use_full_observation"]:
            raise ValueError("the scripted player of TagGrid-v0 needs use_full_observation=True")

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return a step for each agent."""
        rows = seen.obs[..., :-1].reshape(*seen.obs.shape[:2], 4, -1)
        x, y, _, own = np.moveaxis(rows, 2, 0)
        at = np.stack([(own * x).sum(-1), (own * y).sum(-1)], -1)
        return towards(np.stack([x[..., -1], y[..., -1]], -1) - at)
