"""Mazes of HexExplore and HexMemory: cells, walls, what they join; one world that is set by hand.

Cell (u, v) has the number 13 (u + 6) + v + 6; ways 0 to 5 lead out of it, counter-clockwise from
+x. Arrays are (worlds, 169 cells[, 6 ways]), whatever the side of a maze.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from voxel_worlds import Array, Make, Playground

from gpu_envs import Simulator

EXPLORE, MEMORY = "HexExplore-v0", "HexMemory-v0"
BOTH = (EXPLORE, MEMORY)
ACROSS, NUMBERS, WAYS = 13, 169, 6
SIDE = 3.5  # length of an edge [m]
INNER = SIDE * math.sqrt(3) / 2  # from a cell's middle to an edge [m]
THICK = 0.15  # half of a wall's thickness [m]
REST = 0.855  # height of a body's middle on the floor [m]
NONE = -1
PILLAR, DIAMOND, BALL = range(3)
MIDDLE_OF_FORM = (0.53, 0.86, 0.56)  # heights of things [m]
SHIFT = 0.3  # of a thing's middle from where it was put, along x and y [m]
OUTSIDE = 0  # a cell of no maze
FAR = (30.0, 0.0)

U, V = np.divmod(np.arange(NUMBERS), ACROSS) - np.array(6)
MIDDLES = SIDE * np.stack([math.sqrt(3) * (U / 2 + V), 1.5 * U], axis=-1)
_ANGLES = np.arange(WAYS) * math.pi / 3
OUTWARD = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
_STEP_U, _STEP_V = (0, 1, 1, 0, -1, -1), (1, 0, -1, -1, 0, 1)


def number_of(u: int, v: int) -> int:
    return ACROSS * (u + 6) + v + 6


def _neighbours() -> Array:
    beside = np.full((NUMBERS, WAYS), NONE)
    for cell in range(NUMBERS):
        for way in range(WAYS):
            u, v = U[cell] + _STEP_U[way], V[cell] + _STEP_V[way]
            if abs(u) <= 6 and abs(v) <= 6:
                beside[cell, way] = number_of(u, v)
    return beside


BESIDE = _neighbours()


def cell_count(side: Any) -> Any:
    return 3 * side * (side - 1) + 1


def cells_at(at: Array) -> Array:
    """The cells in which points (..., xy) lie; OUTSIDE where they have no number."""
    u = at[..., 1] / (1.5 * SIDE)
    v = at[..., 0] / (math.sqrt(3) * SIDE) - u / 2
    exact = np.stack([u, v, -u - v])
    nearest = np.rint(exact)
    worst = np.abs(nearest - exact).argmax(axis=0)
    u = np.where(worst == 0, -nearest[1] - nearest[2], nearest[0])
    v = np.where(worst == 1, -nearest[0] - nearest[2], nearest[1])
    is_known = (np.abs(u) <= 6) & (np.abs(v) <= 6)
    return np.where(is_known, ACROSS * (u + 6) + v + 6, OUTSIDE).astype(int)


def cells_within(side: Any) -> Array:
    """Whether each cell is one of a maze, (worlds, cells)."""
    size = np.maximum(np.maximum(np.abs(U), np.abs(V)), np.abs(U + V))
    return np.asarray(size < np.asarray(side).reshape(-1, 1))


class Mazes:
    """The mazes of a batch: which cells there are, and on which of their edges a wall stands."""

    def __init__(self, simulator: Simulator) -> None:
        get = simulator.get
        self.side = get("task.side")[:, 0].astype(int)
        self.height = get("task.wall_height")[:, 0]
        self.wall_count = get("walls.count")[:, 0].astype(int)
        self.there = np.arange(get("walls.cell").shape[1]) < self.wall_count[:, np.newaxis]
        self.cell, self.way = get("walls.cell").astype(int), get("walls.way").astype(int)
        self.within = cells_within(self.side)
        self.walls = np.zeros((len(self.side), NUMBERS, WAYS), int)  # how many on an edge
        worlds, rows = np.nonzero(self.there)
        cells, ways = self.cell[worlds, rows], self.way[worlds, rows]
        np.add.at(self.walls, (worlds, cells, ways), 1)
        beyond = BESIDE[cells, ways]
        inner = beyond != NONE
        opposite = (ways[inner] + 3) % WAYS
        np.add.at(self.walls, (worlds[inner], beyond[inner], opposite), 1)

    @property
    def is_inner(self) -> Array:
        """Whether an edge lies between two cells of the maze."""
        beyond = np.where(BESIDE == NONE, False, self.within[:, BESIDE])
        return np.asarray(self.within[:, :, np.newaxis] & beyond)

    def reached(self, start: Array) -> Array:
        """The cells to which a way leads from cells, (worlds, cells)."""
        is_open = self.is_inner & (self.walls == 0)
        found = np.zeros_like(self.within)
        found[np.arange(len(found)), start] = True
        while True:
            near = (found[:, BESIDE] & is_open).any(axis=2) | found
            if (near == found).all():
                return found
            found = near


class Maze(Playground):
    """One world, drawn; walls, bodies and things may be set by hand."""

    def __init__(self, make: Make, game: str, **options: Any) -> None:
        options.setdefault("agent_count", 1)
        super().__init__(make, game, **options)

    def set_rows(self, table: str, count: int, **columns: Any) -> None:
        """Have these rows of a table, and no others."""
        for column, values in columns.items():
            rows = self.simulator.get(f"{table}.{column}")
            if count:
                rows[0, :count] = values
            self.simulator.set(f"{table}.{column}", rows)
        self.simulator.set(f"{table}.count", count)

    def set_walls(self, walls: Iterable[tuple[int, int]], height: float = 2.0) -> None:
        """Have these walls: a cell and a way for each."""
        rows = np.array(list(walls), int).reshape(-1, 2)
        columns = {"cell": rows[:, 0], "way": rows[:, 1], "patch_colours": 0}
        self.set_rows("walls", len(rows), **columns)
        self.simulator.set("task.wall_height", height)

    def set_things(self, *things: tuple[float, float, bool], form: int = BALL) -> None:
        """Have these things: x and y of their middle, and whether they match; all of one form."""
        rows = np.array(things, float).reshape(-1, 3)
        put = rows[:, :2] - SHIFT
        self.set_rows("things", len(rows), at=put, good=rows[:, 2].astype(int), left=1)
        for column, value in (
            ("good_form", form), ("bad_form", form), ("good_colour", 0), ("bad_colour", 3),
            ("good_left", int(rows[:, 2].sum())), ("thing_count", len(rows)),
        ):  # fmt: skip
            self.simulator.set(f"task.{column}", value)

    def set_bare(self) -> None:
        """No wall, nothing to find: a floor."""
        self.set_walls([])
        if self.simulator.name == EXPLORE:
            self.simulator.set("task.target", OUTSIDE)
        else:
            self.set_things((*FAR, True))

    def place(self, agent: int, x: float, y: float, yaw: float = 0.0, feet: float = 0.0) -> None:
        """Put an agent somewhere, at rest."""
        self.put("agents.position", agent, (x, y, feet + REST))
        self.put("agents.velocity", agent, (0, 0))
        self.put("agents.climb", agent, 0)
        self.put("agents.yaw", agent, yaw)
        self.put("agents.pitch", agent, 0)
        self.put("agents.grounded", agent, int(feet == 0))

    @property
    def steps_left(self) -> int:
        return int(self.get("task.length") - self.get("task.passed"))


def heading(direction: Array) -> float:
    """The yaw of who looks in a direction."""
    return math.atan2(-direction[0], direction[1])


def wall_ends(mazes: Mazes, world: int) -> Array:
    """Both ends of each wall of a world, (walls, 2, xy)."""
    rows = mazes.there[world]
    middle = MIDDLES[mazes.cell[world, rows]] + INNER * OUTWARD[mazes.way[world, rows]]
    out = OUTWARD[mazes.way[world, rows]]
    along = np.stack([-out[:, 1], out[:, 0]], axis=-1) * SIDE / 2
    return np.stack([middle - along, middle + along], axis=1)


def distance_to_walls(mazes: Mazes, world: int, at: Array) -> Array:
    """Distance from points (n, xy) to each wall's rectangle, (n, walls); 0 inside."""
    rows = mazes.there[world]
    out = OUTWARD[mazes.way[world, rows]]
    middle = MIDDLES[mazes.cell[world, rows]] + INNER * out
    away = at[:, np.newaxis] - middle
    across = np.abs((away * out).sum(axis=-1)) - THICK
    along = np.abs(away[..., 1] * out[:, 0] - away[..., 0] * out[:, 1]) - SIDE / 2
    return np.asarray(np.hypot(np.maximum(across, 0), np.maximum(along, 0)))
