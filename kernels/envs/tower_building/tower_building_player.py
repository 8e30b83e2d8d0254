"""Scripted player of TowerBuilding: builds a stair of 1, 2, 3 and so on boxes, and tops it.

The stair winds through the zone. Its next column is begun while time and boxes are left to finish
it and to put one more on top. Then boxes go where they come to stand highest: on the last column
from the one before it, in a jump, and so on down the stair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from gpu_envs.kernels.voxel.ground import NOWHERE, ZONE, Ground
from gpu_envs.kernels.voxel.minds import (
    Level,
    LevelPlayer,
    Mind,
    Rows,
    cells_of,
    heading,
    others,
    stands_for,
)
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.routes import Search
from gpu_envs.kernels.voxel.walker import Hands, PutHigher, legs_of

Array = np.ndarray[Any, Any]

FIRST_TRIP, SLOWER = 110.0, 1.15  # steps until a box stands; later ones take longer
HIGHEST = 14  # no stair of 96 boxes is higher


class Put(NamedTuple):
    """A way to put a box on a column."""

    place: int  # where one stands
    column: int
    jumps: bool


class Site(Level):
    """One world: the zone, its stair, and how much time is left."""

    def __init__(self, rows: Rows, agents: int) -> None:
        self.ground = Ground(rows["statics"], rows["marks"])
        self.minds: list[Mind] = [Builder(self) for _ in range(agents)]
        self.columns = self.ground.marks[ZONE]
        self.zone = sorted(self.columns)
        self.stair: list[int] = []
        self.begun = 1  # columns of the stair
        self.is_closing = False
        self._boxes: Array | None = None
        self._steps, self._left = 0, 1e9
        self._trips: list[int] = []

    def see(self, rows: Rows) -> None:
        """Note boxes and time."""
        boxes, share = rows["boxes"], float(rows["time"][0])
        if self._boxes is None or not np.array_equal(boxes[:, 4], self._boxes[:, 4]):
            self._boxes = boxes.copy()
            self.ground.set_boxes(cells_of(boxes))
        self._steps += 1
        if share < 1:
            self._left = share * (self._steps - 1) / (1 - share)
        if not self.stair and self.zone:
            self.stair = min(stairs(self.ground, self.zone), key=self._length)

    def _length(self, stair: list[int]) -> float:
        """Return how far boxes are from a stair, and how much stands in its way."""
        ground = self.ground
        middles = np.array([ground.middle(box) for box in ground.boxes()] or [(0.0, 0.0)])
        first = np.array([ground.middle(column) for column in stair[:5]])
        away = np.abs(middles[:, np.newaxis] - first).sum(axis=2).mean()
        in_way = sum(max(self.height(c) - k, 0) for k, c in enumerate(stair[:6], 1))
        return float(away + 10 * in_way)

    def height(self, column: int) -> int:
        """Return how many boxes stand on a column of the zone."""
        cells, at = self.ground.cells, column
        while cells[at]:
            at += 1
        return at - column

    def note_trip(self, steps: int) -> None:
        """Note how long it took to bring a box."""
        self._trips.append(steps)

    def trips(self, supply: int) -> float:
        """Return how many boxes can still be brought, with one in each pair of hands."""
        last = self._trips[-3:]
        steps = SLOWER * max(sum(last) / len(last), 40.0) if last else FIRST_TRIP
        return min(len(self.minds) * self._left / steps, supply)

    def supply(self) -> list[int]:
        """Return the boxes that are not where the stair needs them."""
        if self.is_closing:  # of what has been stacked, nothing is taken any more
            kept = {c + z for c in self.zone for z in range(1, self.height(c))}
            kept.update(self.stair[: self.begun])
        else:
            kept = {c + z for k, c in enumerate(self.stair[: self.begun], 1) for z in range(k)}
        return [box for box in self.ground.boxes() if box not in kept]

    def next_column(self) -> int:
        """Return the first column of the stair that is not high enough; NOWHERE: put on top."""
        carried = sum(mind.box == NOWHERE and mind.carries for mind in self.builders())
        trips = self.trips(len(self.supply()) + carried)
        for k, column in enumerate(self.stair, 1):
            missing = k - self.height(column)
            self.begun = max(self.begun, k)
            if missing > 0:
                if k > 2 and trips < missing + 1:
                    break
                return NOWHERE if self.is_closing else column
        self.is_closing = True
        return NOWHERE

    def builders(self) -> Iterator[Builder]:
        """Yield the minds."""
        for mind in self.minds:
            assert isinstance(mind, Builder)
            yield mind


def stairs(ground: Ground, zone: list[int]) -> Iterator[list[int]]:
    """Yield ways through all columns of a zone, to and fro from each of its corners."""
    cells = {ground.cell(n)[:2]: n for n in zone}
    xs, ys = (sorted({cell[k] for cell in cells}) for k in (0, 1))
    for columns in (xs, xs[::-1]):
        for rows in (ys, ys[::-1]):
            by_x = [(x, y) for k, x in enumerate(columns) for y in (rows, rows[::-1])[k % 2]]
            by_y = [(x, y) for k, y in enumerate(rows) for x in (columns, columns[::-1])[k % 2]]
            for way in (by_x, by_y):
                yield [cells[cell] for cell in way if cell in cells]


class Builder(Mind):
    """One agent."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site = site
        self.box = NOWHERE  # that it fetches
        self.carries = False
        self._bad: dict[int, int] = {}
        self._age = 0
        self._began = 0

    def think(self, body: Body) -> None:
        """Fetch a box, or bring it to where it belongs."""
        if body.is_carrying:
            self.box, self.carries = NOWHERE, True
            self._bring()
            return
        if self.carries:
            self._site.note_trip(self._age - self._began)
        self._began, self.carries = self._age, False
        self._fetch()

    def act(self, body: Body) -> Any:
        """Count steps."""
        self._age += 1
        return super().act(body)

    def _search(self) -> Search:
        return Search(self._site.ground, self.place, blocked=others(self._site.minds, self))

    def _bring(self) -> None:
        ground, search = self._site.ground, self._search()
        put = self._put(search)
        if put is None:
            return
        if put.place == self.place:
            leg = PutHigher if put.jumps else Hands
            self.legs = [leg(ground, put.place, put.column)]
            return
        route = search.route(put.place)
        assert route is not None  # it was reached
        self.legs = legs_of(ground, route, True, heading(ground, put.place, put.column))

    def _put(self, search: Search) -> Put | None:
        """Return how to put down the next box."""
        site = self._site
        column = site.next_column()
        if column != NOWHERE:
            found = min(self._puts(search, column), default=None)
            if found is not None:
                return found[1]
        best: tuple[float, float, Put] | None = None
        for column in site.zone:
            for cost, put in self._puts(search, column):
                height = site.height(column) + 1
                if best is None or (height, -cost) > best[:2]:
                    best = height, -cost, put
        return best[2] if best else None

    def _puts(self, search: Search, column: int) -> Iterator[tuple[float, Put]]:
        """Yield the ways to put a box on a column, and their costs."""
        ground, height = self._site.ground, self._site.height(column)
        cells = ground.cells
        for side in ground.sides:
            for level in range(max(height - 1, 0), HIGHEST):
                place = column + side + level
                if place not in search.cost or (place == self.place and search.cost[place] > 0):
                    continue
                jumps = level < height
                if jumps and cells[place + 2]:
                    continue
                cost = search.cost[place] + 14 * jumps
                yield cost + 60 * self._bad.get(place, 0), Put(place, column, jumps)

    def _fetch(self) -> None:
        site, ground = self._site, self._site.ground
        here = self._search()
        put = self._put(here)
        there = Search(ground, put.place) if put else here
        claimed = {mind.box for mind in site.builders() if mind is not self}
        options = []
        for box in site.supply():
            if box in claimed or not self._gains(box, put):
                continue
            for place in stands_for(ground, box, here.cost):
                cost = here.cost[place] + there.cost.get(place, 500.0)
                options.append((cost + 100 * self._bad.get(box, 0), box, place))
        if not options:
            return
        _, self.box, place = min(options)
        self._bad[self.box] = self._bad.get(self.box, 0) + 1
        route = here.route(place)
        assert route is not None  # it was reached
        self.legs = legs_of(ground, route, True, heading(ground, place, self.box))
        self.legs.append(Hands(ground, place, self.box, self.box))

    def _gains(self, box: int, put: Put | None) -> bool:
        """Whether a box comes to stand higher in the zone than it does, or for the stair."""
        site = self._site
        if put is None or not site.is_closing:
            return True
        z = site.ground.cell(box)[2] - site.ground.cell(put.column)[2]
        base = box - z
        return base not in site.columns or (site.height(put.column) > z and base != put.column)

    def fail(self) -> None:
        """Note that a leg could not be done: here something is in the way."""
        self._bad[self.place] = self._bad.get(self.place, 0) + 1


class Player(LevelPlayer):
    """Plays all agents of all worlds."""

    level = Site
