"""Scripted player of CartPole in all its forms: push the cart under the pole."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


def lean(x: Array, velocity: Array, angle: Array, spin: Array) -> Array:
    """Return how far the pole is about to lean from where it should: a push that way mends it."""
    return angle + 0.3 * spin + 0.02 * x + 0.05 * velocity


def stabilise(rows: Array) -> Array:
    """Return pushes to the side to which the pole leans."""
    return (lean(*np.moveaxis(np.asarray(rows, np.float64), -1, 0)) > 0).astype(np.int64)


def stabilise_gently(rows: Array) -> Array:
    """Return forces, (..., 1), only as hard as the pole leans."""
    force = np.clip(3 * lean(*np.moveaxis(rows, -1, 0)), -1, 1)
    return force[..., np.newaxis].astype(np.float32)


class Player:
    """Pushes to the side to which the pole leans; with forces, only as hard as it leans."""

    def __init__(self, game: Game) -> None:
        self._has_forces = bool(game.action_space.shape)

    def begin(self, worlds: list[int]) -> None:
        """Keep no memory of an episode."""

    def __call__(self, seen: Seen) -> Array:
        """Return a push for each cart."""
        rows = seen.obs
        if isinstance(rows, dict):
            rows = np.concatenate([rows[n] for n in ("x", "velocity", "angle", "spin")], -1)
        return stabilise_gently(rows) if self._has_forces else stabilise(rows)
