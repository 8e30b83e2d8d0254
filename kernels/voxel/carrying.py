"""Agents of scripted players that carry boxes to columns: how they take and put them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from gpu_envs.kernels.voxel.ground import NOWHERE, Ground
from gpu_envs.kernels.voxel.minds import Level, Mind, heading, others
from gpu_envs.kernels.voxel.routes import Search
from gpu_envs.kernels.voxel.walker import Hands, PutHigher, legs_of

HIGHEST = 14  # cells above a column's foot where one can stand
_JUMP = 14  # cost of a jump on the spot
_FAILED = 60  # cost of a place where something has failed, or that somebody takes


class Put(NamedTuple):
    """A way to put a box on a column."""

    place: int  # where one stands
    column: int
    jumps: bool


def height(ground: Ground, column: int) -> int:
    """Return how many boxes stand on the lowest cell of a column."""
    cells, at = ground.cells, column
    while cells[at]:
        at += 1
    return at - column


def puts(ground: Ground, column: int, reached: Collection[int]) -> Iterator[Put]:
    """Yield the ways to put a box on a column, from the places that are reached."""
    cells, boxes = ground.cells, height(ground, column)
    for side in ground.sides:
        for level in range(max(boxes - 1, 0), HIGHEST):
            place = column + side + level
            if place in reached and not (level < boxes and cells[place + 2]):
                yield Put(place, column, level < boxes)


def yard(ground: Ground, cells: Iterable[int]) -> set[int]:
    """Return the columns where agents are in the way of others: of cells, and those beside."""
    return {ground.column(cell + side) for cell in cells for side in (0, *ground.sides)}


class Carrier(Mind):
    """One agent."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self.level = level
        self.box = NOWHERE  # that it fetches
        self.failures: dict[int, int] = {}  # by place where a leg failed
        self.tries: dict[int, int] = {}  # by box that was to be fetched

    def search(self) -> Search:
        """Return the ways from where it stands; places of others cost more."""
        blocked = others(self.level.minds, self)
        return Search(self.level.ground, self.place, blocked=blocked)

    def ways_to_put(self, search: Search, column: int) -> Iterator[tuple[float, Put]]:
        """Yield the ways to put a box on a column, and their costs."""
        taken = others(self.level.minds, self)
        for put in puts(self.level.ground, column, search.cost):
            wasted = self.failures.get(put.place, 0) + (put.place in taken)
            yield search.cost[put.place] + _JUMP * put.jumps + _FAILED * wasted, put

    def put(self, put: Put, search: Search) -> None:
        """Choose the legs to where a box is put, or put it."""
        ground = self.level.ground
        if put.place == self.place:
            leg = PutHigher if put.jumps else Hands
            self.legs = [leg(ground, put.place, put.column)]
            return
        self._go(search, put.place, put.column)

    def take(self, box: int, place: int, search: Search) -> None:
        """Choose the legs that take a box from a place."""
        self.box = box
        self.tries[box] = self.tries.get(box, 0) + 1
        self._go(search, place, box)
        self.legs.append(Hands(self.level.ground, place, box, box))

    def leave(self, columns: Collection[int], search: Search) -> None:
        """Go out of columns where others work, to a place that nobody has."""
        ground = self.level.ground
        if ground.column(self.place) not in columns:
            return
        taken = others(self.level.minds, self)
        free = [
            (cost, place)
            for place, cost in search.cost.items()
            if ground.column(place) not in columns and place not in taken
        ]
        if free:
            route = search.route(min(free)[1])
            assert route is not None  # it was reached
            self.legs = legs_of(ground, route, False, None)

    def _go(self, search: Search, place: int, target: int) -> None:
        route = search.route(place)
        assert route is not None  # it was reached
        ground = self.level.ground
        self.legs = legs_of(ground, route, True, heading(ground, place, target))

    def fail(self) -> None:
        """Note that a leg could not be done: here something is in the way."""
        self.failures[self.place] = self.failures.get(self.place, 0) + 1
