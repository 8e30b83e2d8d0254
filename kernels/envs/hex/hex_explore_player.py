"""Scripted player of HexExplore: runs to the diamond by the shortest way through the cells."""

from __future__ import annotations

import math
from collections import deque

from gpu_envs.kernels.envs.hex import maze_player as maze
from gpu_envs.kernels.envs.hex.maze_player import Cell, Point, Runner
from gpu_envs.kernels.voxel.minds import Level, LevelPlayer, Rows
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.walker import Action

_REACH = 1.1  # of an opening from its middle that one runs through [m]
_NEAR = 0.4  # of an opening, where one runs at the next [m]


class Maze(Level):
    """One world: the way from each cell towards the diamond."""

    def __init__(self, rows: Rows, agents: int) -> None:
        walls = maze.walled_edges(rows["walls"])
        x, y = rows["game"][2:4].tolist()
        self._diamond: Point = (x, y)
        self._way: dict[Cell, int] = {maze.cell_at(x, y): -1}
        self._runners = [Runner(k) for k in range(agents)]
        waiting = deque(self._way)
        while waiting:
            cell = waiting.popleft()
            for way, (u, v) in enumerate(maze.WAYS):
                other = cell[0] + u, cell[1] + v
                if other not in self._way and (cell, way) not in walls:
                    self._way[other] = (way + 3) % 6
                    waiting.append(other)
            if len(self._way) > len(rows["walls"]) * 2:
                break  # a maze with a gap in its rim

    def act(self, rows: Rows) -> list[Action]:
        """Return the action of each agent."""
        bodies = [maze.body_of(row) for row in rows["agents"].tolist()]
        return [
            runner.run(body, self._aim(body))
            for runner, body in zip(self._runners, bodies, strict=True)
        ]

    def _aim(self, body: Body) -> Point:
        """Return the point to run at: of the next opening, where the way after it is short."""
        at = (body.x, body.y)
        cell = maze.cell_at(*at)
        way = self._way.get(cell, -1)
        if way < 0:
            return self._diamond
        opening = maze.edge_of(cell, way)
        beyond = cell[0] + maze.WAYS[way][0], cell[1] + maze.WAYS[way][1]
        after = self._way.get(beyond, -1)
        then = self._diamond if after < 0 else maze.edge_of(beyond, after)
        angle = way * math.pi / 3
        out, along = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
        ahead = (opening[0] - at[0]) * out[0] + (opening[1] - at[1]) * out[1]
        whole = (then[0] - at[0]) * out[0] + (then[1] - at[1]) * out[1]
        share = min(max(ahead / max(whole, 1e-6), 0.0), 1.0)
        aside = (at[0] + share * (then[0] - at[0]) - opening[0]) * along[0]
        aside += (at[1] + share * (then[1] - at[1]) - opening[1]) * along[1]
        aside = min(max(aside, -_REACH), _REACH)
        point = opening[0] + aside * along[0], opening[1] + aside * along[1]
        is_through = math.hypot(point[0] - at[0], point[1] - at[1]) < _NEAR
        return then if is_through else point


class Player(LevelPlayer):
    """Plays all agents of all worlds."""

    level = Maze
