"""What scripted players in mazes of hexagonal cells share: cells, ways between them, and running.

Not a player of its own: hex_explore_player.py and hex_memory_player.py are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gpu_envs.kernels.voxel import motion
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.walker import Action

Array = np.ndarray[Any, Any]
Point = tuple[float, float]
Cell = tuple[int, int]

SIDE = 3.5  # length of an edge [m]
INNER = SIDE * math.sqrt(3) / 2  # from a cell's middle to an edge [m]
WAYS: tuple[Cell, ...] = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))  # u and v
_SLOW, _HELD, _ASIDE = 0.6, 5, 7  # [m/s]; steps until one steps aside, and of that


def body_of(row: list[float]) -> Body:
    """Read an agent's row; nobody carries anything here."""
    return Body.of([*row, 0.0, -1.0])


def middle_of(cell: Cell) -> Point:
    """Return the middle of a cell."""
    u, v = cell
    return SIDE * math.sqrt(3) * (u / 2 + v), SIDE * 1.5 * u


def cell_at(x: float, y: float) -> Cell:
    """Return the cell in which a point lies."""
    u = y / (1.5 * SIDE)
    v = x / (math.sqrt(3) * SIDE) - u / 2
    exact = (u, v, -u - v)
    nearest = [round(k) for k in exact]
    worst = max(range(3), key=lambda k: abs(nearest[k] - exact[k]))
    nearest[worst] -= sum(nearest)
    return nearest[0], nearest[1]


def edge_of(cell: Cell, way: int) -> Point:
    """Return the middle of an edge of a cell."""
    x, y = middle_of(cell)
    angle = way * math.pi / 3
    return x + INNER * math.cos(angle), y + INNER * math.sin(angle)


def walled_edges(walls: Array) -> set[tuple[Cell, int]]:
    """Return the edges with walls, by both of their cells, from the state's table."""
    found = set()
    for _, x, y, to_x, to_y, _ in walls[walls[:, 0] > 0].tolist():
        middle = (x + to_x) / 2, (y + to_y) / 2
        # Across the wall lie its two cells.
        across = (to_y - y) / 2, (x - to_x) / 2
        for sign in (1, -1):
            cell = cell_at(middle[0] + sign * across[0], middle[1] + sign * across[1])
            at = middle_of(cell)
            angle = math.atan2(middle[1] - at[1], middle[0] - at[0])
            found.add((cell, round(angle / (math.pi / 3)) % 6))
    return found


class Runner:
    """Runs at points, one after the other; steps aside where something holds it."""

    def __init__(self, side: int) -> None:
        self._held = self._aside = 0
        self._side = 1 + side % 2  # the first one to the left

    def run(self, body: Body, point: Point) -> Action:
        """Return the action of a step towards a point, which it looks at."""
        turn, yaw = motion.turn_to(body, motion.heading_to(body, point))
        self._held = self._held + 1 if body.is_standing and body.speed < _SLOW else 0
        if self._held > _HELD:
            self._held, self._aside = 0, _ASIDE
            self._side = 3 - self._side
        if self._aside > 0:
            self._aside -= 1
            return (1 if self._aside < 2 else 0), self._side, turn, 0, 0, 0
        move, strafe = motion.to_run(body, yaw, point)
        return move, strafe, turn, 0, 0, 0
