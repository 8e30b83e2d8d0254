"""Scripted player of HexMemory: takes the nearest thing that matches, around those that do not.

It plans on a lattice of points that a body can stand on. Where others lie so that no way leads
around them, it jumps over: in the air nothing is taken.
"""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from gpu_envs.kernels.envs.hex import maze_player as maze
from gpu_envs.kernels.envs.hex.maze_player import Point, Runner
from gpu_envs.kernels.voxel import motion
from gpu_envs.kernels.voxel.minds import Level, LevelPlayer, Mind, Rows
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.walker import Action, Leg

from gpu_envs.players.scripted import Game

Array = np.ndarray[Any, Any]

_GAP = 0.4  # between points of the lattice [m]
_CLEAR = 0.15 + 0.33 + 0.05  # of a body's middle from the middle of a wall [m]
_PLACE = 0.905  # height of who stands, as rules have it [m]
_MARGIN, _SAFE = 0.12, 0.4  # of the distance at which a thing is taken; where one walks freely [m]
_WARY = 3.0  # times the cost of a way that is closer
_LEAP = motion.PUSH * motion.STEP * 13  # of a jump from rest [m]
_LEAP_COST = 9.0  # as a way [m]
_AHEAD = 8  # points of a route that may be skipped


class Step(NamedTuple):
    """A point of a route, and whether one jumps there."""

    point: int
    is_leap: bool


class Chart:
    """The lattice: where a body can stand, and what it takes there.

    Args:
        walls: The table of the state.
    """

    def __init__(self, walls: Array) -> None:
        ends = walls[walls[:, 0] > 0, 1:5].reshape(-1, 2, 2).astype(float)
        self._low = ends.reshape(-1, 2).min(axis=0) - 1
        size = np.ceil((ends.reshape(-1, 2).max(axis=0) + 1 - self._low) / _GAP).astype(int) + 1
        self._size = size
        x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij")
        self.points = self._low + _GAP * np.stack([x, y], axis=-1).reshape(-1, 2)
        self.clear = np.ones(len(self.points), bool)
        for first, last in ends:
            near = self.near((first + last) / 2, maze.SIDE / 2 + 1)
            self.clear[near[_to_segment(self.points[near], first, last) < _CLEAR]] = False
        rim = (x == 0) | (y == 0) | (x == size[0] - 1) | (y == size[1] - 1)
        self.clear[rim.ravel()] = False  # neighbours of other points are in the lattice
        self.bad: Array = np.zeros((0, 3))  # x, y, and how near one takes it
        self.free = self.clear.copy()
        self._wary = np.zeros_like(self.free)
        self._leaps = np.zeros_like(self.free)
        rows = size[1]
        self._steps = [
            (dx * rows + dy, _GAP * math.hypot(dx, dy))
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if dx or dy
        ]
        far = range(-8, 9)
        self._jumps = [
            (dx, dy) for dx in far for dy in far if abs(_GAP * math.hypot(dx, dy) - _LEAP) < 0.12
        ]

    def near(self, at: Array, reach: float) -> Array:
        """Return the points in a square around a place."""
        low = np.maximum(np.floor((at - reach - self._low) / _GAP).astype(int), 0)
        high = np.minimum(np.ceil((at + reach - self._low) / _GAP).astype(int) + 1, self._size)
        x, y = np.meshgrid(*(np.arange(low[k], high[k]) for k in (0, 1)), indexing="ij")
        return np.asarray((x * self._size[1] + y).ravel())

    def avoid(self, bad: Array) -> None:
        """Keep away from things: rows of x, y and the distance at which one takes it."""
        self.bad = bad
        self.free = self.clear.copy()
        self._wary[:] = self._leaps[:] = False
        for x, y, reach in bad:
            near = self.near(np.array([x, y]), reach + 1.5)
            away = np.hypot(*(self.points[near] - (x, y)).T)
            self.free[near[away < reach + _MARGIN]] = False
            self._wary[near[away < reach + _SAFE]] = True
            self._leaps[near[away < reach + 0.8]] = True

    def is_straight(self, start: Point, end: Array) -> bool:
        """Whether one may walk between two points in a line."""
        first = np.array(start)
        count = int(np.hypot(*(end - first)) / 0.15) + 2
        line = first + np.linspace(0, 1, count)[:, np.newaxis] * (end - first)
        cell = np.rint((line - self._low) / _GAP).astype(int)
        if not self.clear[cell[:, 0] * self._size[1] + cell[:, 1]].all():
            return False
        if len(self.bad) == 0:
            return True
        away = np.hypot(*(line[:, np.newaxis] - self.bad[:, :2]).transpose(2, 0, 1))
        return bool((away > self.bad[:, 2] + 0.2).all())

    def start(self, body: Body) -> int | None:
        """Return the free point nearest to a body."""
        at = np.array([body.x, body.y])
        near = self.near(at, 1.2)
        near = near[self.free[near]]
        if len(near) == 0:
            return None
        return int(near[np.argmin(np.hypot(*(self.points[near] - at).T))])

    def route(self, start: int, goals: set[int]) -> list[Step] | None:
        """Return the way to the nearest of some points; None: there is none."""
        cost, origin = {start: 0.0}, {start: Step(start, False)}
        waiting, done = [(0.0, start)], set()
        while waiting:
            now, at = heapq.heappop(waiting)
            if at in done:
                continue
            done.add(at)
            if at in goals:
                return self._back(origin, at)
            for to, length, is_leap in self._next(at):
                total = now + length
                if total < cost.get(to, math.inf):
                    cost[to], origin[to] = total, Step(at, is_leap)
                    heapq.heappush(waiting, (total, to))
        return None

    def _next(self, at: int) -> list[tuple[int, float, bool]]:
        found = []
        for step, length in self._steps:
            to = at + step
            if self.free[to]:
                found.append((to, length * _WARY if self._wary[to] else length, False))
        if self._leaps[at]:
            x, y = divmod(at, int(self._size[1]))
            for dx, dy in self._jumps:
                if 0 <= x + dx < self._size[0] and 0 <= y + dy < self._size[1]:
                    to = (x + dx) * int(self._size[1]) + y + dy
                    if self.free[to] and self._is_open(x, y, dx, dy):
                        found.append((to, _LEAP_COST, True))
        return found

    def _is_open(self, x: int, y: int, dx: int, dy: int) -> bool:
        """Whether no wall is in the way of a jump."""
        share = np.arange(1, 12) / 12
        cells = np.rint(x + share * dx) * self._size[1] + np.rint(y + share * dy)
        return bool(self.clear[cells.astype(int)].all())

    @staticmethod
    def _back(origin: dict[int, Step], at: int) -> list[Step]:
        route = []
        while True:
            before, is_leap = origin[at]
            route.append(Step(at, is_leap))
            if before == at:
                return route[::-1]
            at = before


def _to_segment(points: Array, first: Array, last: Array) -> Array:
    along = last - first
    share = np.clip((points - first) @ along / (along @ along), 0, 1)
    return np.asarray(np.hypot(*(points - first - share[:, np.newaxis] * along).T))


class Follow(Leg):
    """Along points of the lattice, to the last of them."""

    def __init__(self, chart: Chart, points: list[int], runner: Runner, stops: bool) -> None:
        super().__init__()
        self._chart, self._points, self._runner, self._stops = chart, points, runner, stops
        self.limit = 40 + 8 * len(points)

    def choose(self, body: Body) -> Action | None:
        """Run at the farthest point to which the way is straight."""
        points, chart = self._points, self._chart
        at = (body.x, body.y)
        best = 0
        for k in range(1, min(len(points), _AHEAD)):
            if chart.is_straight(at, chart.points[points[k]]):
                best = k
        if best == 0 and len(points) > 1:
            away = np.hypot(*(chart.points[points[0]] - at))
            best = int(away < 0.25)
        del points[:best]
        x, y = chart.points[points[0]].tolist()
        away = math.hypot(x - at[0], y - at[1])
        if len(points) == 1:
            if away < (0.15 if self._stops else 0.3) and (not self._stops or body.speed < 0.4):
                return None
            if self._stops and away < 1.2:
                turn, yaw = motion.turn_to(body, body.yaw)
                return self.rest_at(body, turn, yaw, (x, y))
        return self._runner.run(body, (x, y))


class Leap(Leg):
    """A jump from rest to a point that is as far as such a jump is long."""

    limit = 60

    def __init__(self, point: Point) -> None:
        super().__init__()
        self._to = point
        self._yaw: float | None = None
        self._way = (1, 0)
        self._has_left = False

    def choose(self, body: Body) -> Action | None:
        """Turn, jump ahead, and steer in the air."""
        if not body.is_standing:
            move, strafe = motion.to_land(body, body.yaw, self._to, body.feet)
            return move, strafe, 0, 0, 0, 0
        if self._has_left:
            return None
        if self._yaw is None:
            wanted = motion.heading_to(body, self._to)
            self._yaw, self._way = motion.aligned(body.yaw, wanted, most=8)
        turn, _ = motion.turn_to(body, self._yaw)
        if turn or body.speed > 0.05:
            return 0, 0, turn, 0, 0, 0
        self._has_left = True
        return *self._way, 0, 0, 1, 0


class Collector(Mind):
    """One agent."""

    patience = 10

    def __init__(self, level: Maze, number: int) -> None:
        super().__init__()
        self._level, self._runner = level, Runner(number)
        self.goal = -1  # row of the thing that it goes for
        self.place = 0

    def act(self, body: Body) -> Action:
        """Choose again where somebody has taken what it goes for."""
        if self.legs and self.goal not in self._level.wanted and body.is_standing:
            self.legs.clear()
        return super().act(body)

    def think(self, body: Body) -> None:
        """Go to the nearest thing."""
        level, chart = self._level, self._level.chart
        self.goal = -1
        claimed = {mind.goal for mind in level.collectors}
        goals: dict[int, int] = {}
        for row in (level.wanted.keys() - claimed) or level.wanted.keys():
            goals |= dict.fromkeys(level.places(row), row)
        start = chart.start(body)
        route = chart.route(start, set(goals)) if start is not None and goals else None
        if route is None:
            return
        self.goal = goals[route[-1].point]
        walked: list[int] = []
        for step in route:
            if step.is_leap:
                if walked:
                    self.legs.append(Follow(chart, walked, self._runner, stops=True))
                walked = []
                x, y = chart.points[step.point].tolist()
                self.legs.append(Leap((x, y)))
            else:
                walked.append(step.point)
        if walked:
            self.legs.append(Follow(chart, walked, self._runner, stops=False))

    def fail(self) -> None:
        """Look again at once."""
        self.goal = -1


class Maze(Level):
    """One world: its lattice, and which things are left."""

    takes_all = False

    def __init__(self, rows: Rows, agents: int) -> None:
        self.chart = Chart(rows["walls"])
        self.collectors = [Collector(self, k) for k in range(agents)]
        self.wanted: dict[int, Array] = {}
        self._places: dict[int, list[int]] = {}
        self._left: Array | None = None

    def see(self, rows: Rows) -> None:
        """Note which things are left."""
        things = rows["things"]
        left = things[:, 0]
        if self._left is not None and np.array_equal(left, self._left):
            return
        is_new = self._left is None or not np.array_equal(left < 0, self._left < 0)
        self._left = left.copy()
        is_wanted = left != 0 if self.takes_all else left > 0
        self.wanted = {int(row): things[row, 1:] for row in np.flatnonzero(is_wanted)}
        if is_new and not self.takes_all:
            bad = things[left < 0, 1:]
            reach = np.sqrt(1 - (bad[:, 2] - _PLACE) ** 2)
            self.chart.avoid(np.stack([bad[:, 0], bad[:, 1], reach], axis=1).astype(float))
            self._places.clear()

    def places(self, row: int) -> list[int]:
        """Return the points from which a thing is taken."""
        if row not in self._places:
            chart, at = self.chart, self.wanted[row][:2].astype(float)
            near = chart.near(at, 0.6)
            near = near[chart.free[near]]
            away = np.abs(chart.points[near] - at)
            self._places[row] = near[(np.hypot(*away.T) < 0.7) & (away.max(axis=1) < 0.6)].tolist()
        return self._places[row]

    def act(self, rows: Rows) -> list[Action]:
        """Return the action of each agent."""
        self.see(rows)
        bodies = [maze.body_of(row) for row in rows["agents"].tolist()]
        return [mind.act(body) for mind, body in zip(self.collectors, bodies, strict=True)]


class Greedy(Maze):
    """Takes all things, whatever they look like."""

    takes_all = True


class Player(LevelPlayer):
    """Plays all agents of all worlds.

    Args:
        game: What it is made for.
        takes_all: Whether it takes things that do not match, too.
    """

    level = Maze

    def __init__(self, game: Game, takes_all: bool = False) -> None:
        super().__init__(game)
        if takes_all:
            self.level = Greedy  # type: ignore[misc]  # of this player alone
