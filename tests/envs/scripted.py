"""Players that follow a rule of their author's: what learned ones are held beside.

Each takes observations, a flat float row per agent, and returns an action per row. The data beside
a header names the one that plays it: `"scripted": "tests/envs/scripted.py:stabilise"`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

STAY, RIGHT, LEFT, UP, DOWN = range(5)  # of TagGrid
SECTORS = 128  # of a swarm's field of view


def lean(x: Array, velocity: Array, angle: Array, spin: Array) -> Array:
    """Where the pole is about to be, as of where it should: a push that way brings it back."""
    return angle + 0.3 * spin + 0.02 * x + 0.05 * velocity


def stabilise(rows: Array) -> Array:
    """CartPole: push the cart under the pole."""
    return (lean(*rows.T.astype(np.float64)) > 0).astype(np.int64)


def stabilise_gently(rows: Array) -> Array:
    """CartPole with forces: push only as hard as it leans."""
    return np.clip(3 * lean(*rows.T), -1, 1)[:, np.newaxis].astype(np.float32)


def stand(rows: Array) -> Array:
    """Obstacle courses: stand still, whatever is seen."""
    return np.zeros((len(rows), 6), np.int64)


def towards(gap: Array) -> Array:
    """TagGrid: the step along the axis on which something is farther; `gap` has x and y last."""
    along_x = np.abs(gap[..., 0]) >= np.abs(gap[..., 1])
    sideways = np.where(gap[..., 0] > 0, RIGHT, LEFT)
    way = np.where(along_x, sideways, np.where(gap[..., 1] > 0, UP, DOWN))
    return np.where((gap == 0).all(axis=-1), STAY, way)


def chase(rows: Array) -> Array:
    """TagGrid, everybody seen: step towards the runner, who is the last agent."""
    x, y, _, own = rows[:, :-1].reshape(len(rows), 4, -1).transpose(1, 0, 2)
    at = np.stack([(own * x).sum(-1), (own * y).sum(-1)], -1)
    return towards(np.stack([x[:, -1], y[:, -1]], -1) - at)


def hunt(rows: Array) -> Array:
    """SwarmTag, a chaser: turn to the nearest runner in view, and run."""
    other_kind = rows[:, SECTORS:]
    seen = np.where(other_kind < 0, 2.0, other_kind)
    nearest, distance = seen.argmin(-1), seen.min(-1)  # high sectors are at the right
    aside = (SECTORS - 1) / 2 - nearest
    turn = np.where(distance < 2, np.clip(aside / 3, -1, 1), 0)
    # No faster than what is left, and slowly while it is at the side.
    drive = np.minimum(distance * 4, 1) * np.clip(1.2 - np.abs(aside) / 40, 0, 1)
    return np.stack([turn, drive], -1).astype(np.float32)


def close_states(
    rows: Array, *, role: str, first: int, then: int = 0, day: int = 0, days: int = 405
) -> Array:
    """CovidEconomy, from one level to another after a day (0: never); nobody pays.

    A state that has its level already waits, so that it may change when the day comes.
    """
    if role == "planner":
        return np.zeros(len(rows), np.int64)
    present, step = np.rint(10 * rows[:, 0]), np.rint(days * rows[:, 4]) + 1
    wanted = np.where((step > day) & (day > 0), then, first)
    return np.where(present == wanted, 0, wanted).astype(np.int64)
