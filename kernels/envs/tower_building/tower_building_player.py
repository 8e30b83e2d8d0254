"""Scripted player of TowerBuilding: builds a stair of 1, 2, 3 and so on boxes, and tops it.

The stair winds through the zone. Its next column is begun while time and boxes are left to finish
it and to put one more on top. Then boxes go where they come to stand highest: on the last column
from the one before it, in a jump, and so on down the stair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gpu_envs.kernels.voxel.carrying import Carrier, Put, height, yard
from gpu_envs.kernels.voxel.ground import NOWHERE, ZONE, Ground
from gpu_envs.kernels.voxel.minds import Level, LevelPlayer, Mind, Rows, cells_of
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.routes import Search
from gpu_envs.kernels.voxel.supply import stands

Array = np.ndarray[Any, Any]

FIRST_TRIP, SLOWER = 110.0, 1.15  # steps until a box stands; later ones take longer


class Site(Level):
    """One world: the zone, its stair, and how much time is left."""

    def __init__(self, rows: Rows, agents: int) -> None:
        self.ground = Ground(rows["statics"], rows["marks"])
        self.minds: list[Mind] = [Builder(self) for _ in range(agents)]
        self.columns = self.ground.marks[ZONE]
        self.zone = sorted(self.columns)
        self.yard = yard(self.ground, self.zone)
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
        return height(self.ground, column)

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


class Builder(Carrier):
    """One agent."""

    level: Site

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.carries = False
        self._age = 0
        self._began = 0

    def think(self, body: Body) -> None:
        """Fetch a box, or bring it to where it belongs."""
        if body.is_carrying:
            self.box, self.carries = NOWHERE, True
            search = self.search()
            put = self._best_put(search)
            if put is not None:
                self.put(put, search)
            return
        if self.carries:
            self.level.note_trip(self._age - self._began)
        self._began, self.carries = self._age, False
        self._fetch()

    def act(self, body: Body) -> Any:
        """Count steps."""
        self._age += 1
        return super().act(body)

    def _best_put(self, search: Search) -> Put | None:
        """Return how to put down the next box."""
        site = self.level
        column = site.next_column()
        if column != NOWHERE:
            found = min(self.ways_to_put(search, column), default=None)
            if found is not None:
                return found[1]
        best: tuple[float, float, Put] | None = None
        for column in site.zone:
            for cost, put in self.ways_to_put(search, column):
                top = site.height(column) + 1
                if best is None or (top, -cost) > best[:2]:
                    best = top, -cost, put
        return best[2] if best else None

    def _fetch(self) -> None:
        site, here = self.level, self.search()
        put = self._best_put(here)
        there = Search(site.ground, put.place) if put else here
        claimed = {mind.box for mind in site.builders() if mind is not self}
        options = []
        for box in site.supply():
            if box in claimed or not self._gains(box, put):
                continue
            for place in stands(site.ground, box, here.cost):
                cost = here.cost[place] + there.cost.get(place, 500.0)
                options.append((cost + 100 * self.tries.get(box, 0), box, place))
        if options:
            _, box, place = min(options)
            self.take(box, place, here)
        else:
            self.leave(site.yard, here)

    def _gains(self, box: int, put: Put | None) -> bool:
        """Whether a box comes to stand higher in the zone than it does, or for the stair."""
        site = self.level
        if put is None or not site.is_closing:
            return True
        z = site.ground.cell(box)[2] - site.ground.cell(put.column)[2]
        base = box - z
        return base not in site.columns or (site.height(put.column) > z and base != put.column)


class Player(LevelPlayer):
    """Plays all agents of all worlds."""

    level = Site
