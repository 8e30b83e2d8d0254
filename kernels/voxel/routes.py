"""Routes through a voxel world: on foot, down, one metre up, in jumps, and over boxes to be placed.

A route's step may need boxes: they are put on its column, from the place before it, until the body
stands high enough there. So stairs before a wall and bridges over lava are found as the cheapest
way, since a box costs more than any detour.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from typing import NamedTuple

from gpu_envs.kernels.voxel.ground import NOWHERE, Ground

WALK, DROP, CLIMB, JUMP = "walk", "drop", "climb", "jump"
# Costs in steps of time.
_WALK, _DROP, _CLIMB, _JUMP, BOX_COST = 4.0, 8.0, 18.0, 30.0, 250.0
_BLOCKED = 40.0  # of a place where somebody else stands
_MEMORY = 12  # steps back in which a way is looked through for boxes that it would move
MOST_RAISED = 4  # boxes on one column
# Cells that a jump crosses at most, by how many cells lower it lands.
_REACH = (3, 4, 4, 4)
_REACH_UP = 2  # where it lands one higher


class Step(NamedTuple):
    """One step of a route."""

    place: int  # where it leads
    how: str  # WALK, DROP, CLIMB or JUMP
    boxes: int  # that its column needs before


class Route(NamedTuple):
    """A way from a place to a goal."""

    start: int
    steps: list[Step]
    cost: float

    @property
    def boxes(self) -> int:
        """Boxes that have to be placed along it."""
        return sum(step.boxes for step in self.steps)

    def places(self) -> list[int]:
        """Return its places from the start on."""
        return [self.start, *(step.place for step in self.steps)]


class Move(NamedTuple):
    """What one step from a place may be."""

    place: int
    how: str
    cost: float
    boxes: int
    is_brink: bool = False  # leads onto the top of an outer wall


def moves(ground: Ground, place: int) -> list[Move]:
    """Return the steps from a place, those that need boxes included."""
    found: list[Move] | None = ground.known.get(place)
    if found is None:
        found = [move for side in ground.sides for move in _towards(ground, place, side)]
        found = [move._replace(is_brink=ground.is_brink(move.place)) for move in found]
        ground.known[place] = found
    return found


def _towards(ground: Ground, place: int, side: int) -> Iterator[Move]:
    cells, ahead = ground.cells, place + side
    has_headroom = not cells[place + 2]
    if cells[ahead]:
        if has_headroom and not cells[ahead + 1] and not cells[ahead + 2]:
            yield Move(ahead + 1, CLIMB, _CLIMB, 0)
        return
    if cells[ahead + 1]:
        return
    below = ground.rest(ahead)
    is_hazard = below == NOWHERE or below in ground.lava
    if below == ahead and ground.is_ledge(place, ahead):
        if has_headroom and not is_hazard:
            yield Move(ahead, CLIMB, _CLIMB, 0)
    elif not is_hazard:
        is_level = below == ahead
        yield Move(below, WALK if is_level else DROP, _WALK if is_level else _DROP, 0)
    if below != NOWHERE:
        yield from _raised(ground, place, ahead, below)
    if has_headroom and is_hazard:
        yield from _jumps(ground, place, side)


def _raised(ground: Ground, place: int, ahead: int, below: int) -> Iterator[Move]:
    """Yield the places on boxes that are put ahead: one higher, level, and just above lava."""
    missing = ahead - below
    if missing < MOST_RAISED and not ground.cells[ahead + 2] and not ground.cells[place + 2]:
        yield Move(ahead + 1, CLIMB, _CLIMB + BOX_COST * (missing + 1), missing + 1)
    if 0 < missing <= MOST_RAISED:
        yield Move(ahead, WALK, _WALK + BOX_COST * missing, missing)
    if missing > 1 and below in ground.lava:
        yield Move(below + 1, DROP, _DROP + BOX_COST, 1)


def _jumps(ground: Ground, place: int, side: int) -> Iterator[Move]:
    cells, ahead = ground.cells, place
    for crossed in range(_REACH[-1] + 1):
        ahead += side
        if cells[ahead + 1] or (crossed and cells[ahead + 2]):
            return
        if cells[ahead]:
            if 0 < crossed <= _REACH_UP:
                yield Move(ahead + 1, JUMP, _JUMP + 4 * crossed, 0)
            return
        below = ground.rest(ahead)
        if crossed == 0 or below == NOWHERE or below in ground.lava:
            continue
        if crossed <= _REACH[min(ahead - below, len(_REACH) - 1)]:
            yield Move(below, JUMP, _JUMP + 4 * crossed, 0)


def reached(ground: Ground, start: int, goal: int = NOWHERE) -> set[int]:
    """Return the places to which one comes without boxes; stops where it finds the goal."""
    found, left = {start}, [start]
    while left and goal not in found:
        for move in moves(ground, left.pop()):
            if not move.boxes and not move.is_brink and move.place not in found:
                found.add(move.place)
                left.append(move.place)
    return found


class Search:
    """The cheapest ways from a place.

    Args:
        ground: The world.
        start: Where they begin.
        goals: The search ends at the first of these places; empty: it visits everything.
        may_build: Whether boxes may be placed.
        blocked: Places that are taken by others, and cost extra.
        on_walls: Whether ways may lead over the tops of outer walls.
        closed: Places that no way may lead to.
    """

    def __init__(
        self,
        ground: Ground,
        start: int,
        goals: Collection[int] = (),
        may_build: bool = False,
        blocked: Collection[int] = (),
        on_walls: bool = False,
        closed: Collection[int] = (),
    ) -> None:
        self._start = start
        self.cost: dict[int, float] = {start: 0.0}
        self._before: dict[int, tuple[int, Move]] = {}
        self.found = NOWHERE
        costs, queue = self.cost, [(0.0, start)]
        while queue:
            cost, place = heapq.heappop(queue)
            if cost > costs[place]:
                continue
            if place in goals:
                self.found = place
                return
            if place in blocked and place != start:
                cost += _BLOCKED
            for move in moves(ground, place):
                if (move.boxes and not may_build) or (move.is_brink and not on_walls):
                    continue
                total = cost + move.cost
                if total < costs.get(move.place, 1e9):
                    if move.place in closed:
                        continue
                    if may_build and self._meets_itself(ground, place, move):
                        continue
                    costs[move.place] = total
                    self._before[move.place] = place, move
                    heapq.heappush(queue, (total, move.place))

    def _meets_itself(self, ground: Ground, place: int, move: Move) -> bool:
        """Whether a way comes back to a column on which it puts boxes."""
        column = ground.column(move.place)
        for _ in range(_MEMORY):
            if place not in self._before:
                return False
            place, last = self._before[place]
            if (move.boxes or last.boxes) and ground.column(last.place) == column:
                return True
        return bool(move.boxes) and ground.column(place) == column

    def route(self, place: int) -> Route | None:
        """Return the way to a place that was found; None if there is none."""
        if place not in self.cost:
            return None
        steps, at = [], place
        while at != self._start:
            before, move = self._before[at]
            steps.append(Step(at, move.how, move.boxes))
            at = before
        return Route(self._start, steps[::-1], self.cost[place])
