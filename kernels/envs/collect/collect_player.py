"""Scripted player of Collect: walks to the nearest green diamond, and never leaves the land.

Red diamonds are avoided as lava is. A diamond from which the others cannot be reached any more is
left for the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu_envs.kernels.voxel import routes
from gpu_envs.kernels.voxel.ground import NOWHERE, Ground
from gpu_envs.kernels.voxel.minds import Level, LevelPlayer, Mind, Rows, cells_of, others
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.routes import Search
from gpu_envs.kernels.voxel.walker import legs_of

Array = np.ndarray[Any, Any]

LOOKED_AT = 6  # nearest diamonds of which one is chosen


class Land(Level):
    """One world: hills, boxes, and which diamonds are left."""

    def __init__(self, rows: Rows, agents: int) -> None:
        self.ground = Ground(hills(rows["statics"], rows["columns"]), np.zeros((0, 8)))
        self.minds: list[Mind] = [Gatherer(self) for _ in range(agents)]
        self.green: set[int] = set()
        self._red: set[int] = set()
        self._boxes: Array | None = None

    def see(self, rows: Rows) -> None:
        """Note boxes and diamonds."""
        ground, boxes = self.ground, rows["boxes"]
        if self._boxes is None or not np.array_equal(boxes[:, 4], self._boxes[:, 4]):
            self._boxes = boxes.copy()
            ground.set_boxes(cells_of(boxes))
        left: dict[int, set[int]] = {1: set(), -1: set()}
        for kind, *cell in rows["diamonds"].tolist():
            if kind:
                left[round(kind)].add(ground.number(cell))
        self.green = left[1] - {NOWHERE}
        if left[-1] != self._red:
            self._red = left[-1]
            ground.lava.clear()
            ground.lava.update(self._red)
            ground.known.clear()

    def claimed(self, but: Mind) -> set[int]:
        """Return the diamonds that other agents go for."""
        return {m.goal for m in self.minds if m is not but and isinstance(m, Gatherer)}


class Gatherer(Mind):
    """One agent."""

    def __init__(self, land: Land) -> None:
        super().__init__()
        self._land = land
        self.goal = NOWHERE

    def think(self, body: Body) -> None:
        """Go to a green diamond."""
        land, ground = self._land, self._land.ground
        self.goal = NOWHERE
        search = Search(ground, self.place, blocked=others(land.minds, self))
        wanted = land.green - land.claimed(self) or land.green
        near = sorted((search.cost[goal], goal) for goal in wanted if goal in search.cost)
        if not near:
            return
        self.goal = self._choose([goal for _, goal in near])
        route = search.route(self.goal)
        assert route is not None  # it was reached
        self.legs = legs_of(ground, route, False, None, hops=True)

    def _choose(self, near: list[int]) -> int:
        """Return the first diamond from which all others can be reached, else most of them."""
        best = (-1, NOWHERE)
        for goal in near[:LOOKED_AT]:
            reached = routes.reached(self._land.ground, goal)
            found = sum(other in reached for other in near)
            if found > best[0]:
                best = found, goal
            if found == len(near):
                break
        return best[1]


class Player(LevelPlayer):
    """Plays all agents of all worlds."""

    level = Land


def hills(statics: Array, columns: Array) -> Array:
    """Return the statics with a box for each column above the floor."""
    x, y = np.nonzero(columns)
    top = 1 + columns[x, y]
    one = np.ones_like(top)
    return np.concatenate([statics, np.stack([x, y, one, x + 1, y + 1, top, one], axis=1)])
