"""Scripted player of Rearrange: carries each object to where the model has one like it.

An object is settled where the model has one of its form and colour, on settled ones. Agents bring
objects to places that are free and whose support is settled, so what lies below comes first. What
lies in the way of others is put aside. No object goes where it would wall in a place or an object
that is still needed, unless there is no other way; agents without work leave the pedestal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gpu_envs.kernels.voxel import routes, supply
from gpu_envs.kernels.voxel.carrying import Carrier, Put, height, puts, yard
from gpu_envs.kernels.voxel.ground import NOWHERE, Ground
from gpu_envs.kernels.voxel.minds import Level, LevelPlayer, Mind, Rows, cells_of, others
from gpu_envs.kernels.voxel.motion import Body
from gpu_envs.kernels.voxel.routes import Search

Array = np.ndarray[Any, Any]
Kind = tuple[float, ...]  # form and colour

MODEL, WORK = (5, 8, 2), (13, 8, 2)  # cells of the middles
REACH = 2  # cells from the middle in which objects can be put down
WALLED_IN = 400.0  # cost of a place that walls something in
ASIDE = 200.0  # cost of a place where an object is not wanted
TRIED = 100.0  # cost of an object that has been tried
CELL = 4.0  # cost of a metre


class Room(Level):
    """One world: which objects are wanted where, and where they are."""

    def __init__(self, rows: Rows, agents: int) -> None:
        self.ground = ground = Ground(rows["statics"], np.zeros((0, 8)))
        self.minds: list[Mind] = [Mover(self) for _ in range(agents)]
        boxes = rows["boxes"][rows["boxes"][:, 0] > 0]
        self.kinds: list[Kind] = [tuple(row[5:9]) for row in boxes.tolist()]
        self._copies = [k for k, row in enumerate(boxes) if not row[9]]
        by_offset = np.array(WORK) - np.array(MODEL)
        self.wanted = {
            ground.number(np.floor(row[1:4]) + by_offset): kind
            for row, kind in zip(boxes, self.kinds, strict=True)
            if row[9]
        }
        reach = range(-REACH, REACH + 1)
        self.area = [
            ground.number((WORK[0] + x, WORK[1] + y, WORK[2])) for x in reach for y in reach
        ]
        self.yard = yard(ground, self.area)
        self.objects: dict[int, Kind] = {}  # copies that stand, by cell
        self._carriers: Array | None = None

    def see(self, rows: Rows) -> None:
        """Note where objects are."""
        boxes = rows["boxes"]
        if self._carriers is not None and np.array_equal(boxes[:, 4], self._carriers):
            return
        self._carriers = boxes[:, 4].copy()
        self.ground.set_boxes(cells_of(boxes))
        self.objects = {
            self.ground.number(np.floor(boxes[k, 1:4])): self.kinds[k]
            for k in self._copies
            if boxes[k, 4] < 0
        }

    def movers(self) -> Iterator[Mover]:
        """Yield the minds."""
        for mind in self.minds:
            assert isinstance(mind, Mover)
            yield mind

    def settled(self) -> set[int]:
        """Return the cells whose objects can stay."""
        found: set[int] = set()
        for cell in sorted(self.wanted):  # in a column from below
            if self.objects.get(cell) == self.wanted[cell] and self._rests_on(cell, found):
                found.add(cell)
        return found

    def open(self, settled: set[int], but: Mover) -> dict[int, Kind]:
        """Return what is wanted where an object can be put, and that no other agent brings."""
        claimed = {mind.target for mind in self.movers() if mind is not but}
        return {
            cell: kind
            for cell, kind in self.wanted.items()
            if cell not in self.objects and cell not in claimed and self._rests_on(cell, settled)
        }

    def _rests_on(self, cell: int, settled: set[int]) -> bool:
        return cell - 1 not in self.wanted or cell - 1 in settled

    def column(self, cell: int) -> int:
        """Return the lowest cell of a cell's column on the pedestal."""
        return cell - (self.ground.cell(cell)[2] - WORK[2])

    def walled_in(self, start: int) -> int:
        """Return how many objects and places are needed and cannot be reached."""
        ground, settled = self.ground, self.settled()
        reached = routes.reached(ground, start)
        count = 0
        for cell in self.objects:
            is_loose = cell not in settled and cell + 1 not in self.objects
            count += is_loose and not supply.stands(ground, cell, reached)
        for cell in self.wanted:
            if not ground.cells[cell] and self._rests_on(cell, settled):
                count += next(puts(ground, self.column(cell), reached), None) is None
        return count

    def kept_in(self, box: int, place: int) -> int:
        """Return how many could still not be reached after an object is taken from a place."""
        self.ground.take(box)
        count = self.walled_in(place)
        self.ground.put(box)
        return count

    def walls_in(self, put: Put) -> int:
        """Return how many objects and places could not be reached after an object is put."""
        cell = put.column + height(self.ground, put.column)
        before = self.walled_in(put.place)
        self.ground.put(cell)
        after = self.walled_in(put.place)
        self.ground.take(cell)
        return after - before


class Mover(Carrier):
    """One agent."""

    level: Room

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.target = NOWHERE  # where it brings an object

    def think(self, body: Body) -> None:
        """Bring an object to where it belongs, or fetch one, or make room."""
        room = self.level
        self.box = self.target = NOWHERE
        settled, search = room.settled(), self.search()
        if body.is_carrying:
            self._bring(room.kinds[body.box], settled, search)
        elif not self._fetch(settled, search):
            self.leave(room.yard, search)

    # ---- bring

    def _bring(self, kind: Kind, settled: set[int], search: Search) -> None:
        room = self.level
        wanted = {room.column(cell) for cell in room.wanted}
        goals = {
            column: (ASIDE, NOWHERE)
            for column in room.area
            if column not in wanted and not height(room.ground, column)
        }
        for cell, needed in room.open(settled, self).items():
            if needed == kind:
                goals[room.column(cell)] = 0.0, cell
        self._put_best(goals, search)

    def _put_best(self, goals: dict[int, tuple[float, int]], search: Search) -> None:
        """Put the object on the best of some columns; of each its cost, and the cell to claim."""
        taken = others(self.level.minds, self)
        options = sorted(
            (goals[column][0] + cost, put)
            for column in goals
            if column not in taken
            for cost, put in self.ways_to_put(search, column)
        )
        best: tuple[float, Put] | None = None
        for cost, put in options:
            if best is not None and cost >= best[0]:
                break
            cost += WALLED_IN * self.level.walls_in(put)
            if best is None or cost < best[0]:
                best = cost, put
        if best is not None:
            self.target = goals[best[1].column][1]
            self.put(best[1], search)

    # ---- fetch

    def _fetch(self, settled: set[int], search: Search) -> bool:
        """Fetch an object that can be brought, else one that is in the way of others."""
        room = self.level
        claimed = {mind.box for mind in room.movers() if mind is not self}
        loose = set(room.objects) - settled - claimed
        goals = room.open(settled, self)
        options = []
        for box in loose:
            for cell, kind in goals.items():
                if kind != room.objects[box]:
                    continue
                if next(puts(room.ground, room.column(cell), search.cost), None) is None:
                    continue
                way = CELL * np.abs(np.subtract(*map(room.ground.middle, (box, cell)))).sum()
                options += [(cost + way, *rest, cell) for cost, *rest in self._takes(box, search)]
        if not options:
            columns = {room.column(cell) for cell in room.wanted}
            in_way = [box for box in loose if room.column(box) in columns]
            options = [(*way, NOWHERE) for box in in_way for way in self._takes(box, search)]
        if not options and loose and not any(m.is_busy for m in room.movers() if m is not self):
            kept = (way for box in settled for way in self._takes(box, search))
            options = [
                (cost + WALLED_IN * room.kept_in(box, place), box, place, NOWHERE)
                for cost, box, place in kept
            ]
        if not options:
            return False
        _, box, place, self.target = min(options)
        self.take(box, place, search)
        return True

    def _takes(self, box: int, search: Search) -> Iterator[tuple[float, int, int]]:
        """Yield costs, the box, and places from which it is taken."""
        taken = others(self.level.minds, self)
        for place in supply.stands(self.level.ground, box, search.cost):
            wasted = TRIED * (self.tries.get(box, 0) + (place in taken))
            yield search.cost[place] + wasted, box, place

    @property
    def is_busy(self) -> bool:
        """Whether it fetches or brings something."""
        return self.box != NOWHERE or self.target != NOWHERE


class Player(LevelPlayer):
    """Plays all agents of all worlds."""

    level = Room
