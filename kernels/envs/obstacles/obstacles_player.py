"""Scripted player of the obstacle courses: plans on the state row, builds with boxes, and walks.

It looks for the way to the pad that needs the fewest boxes (kernels/voxel/routes.py). Where that
needs none, it goes. Else it fetches a box at a time and puts it where the way needs the next one.
Before a way that does not lead back, such as down from a wall, it takes along the boxes that it
needs behind it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from gpu_envs.kernels.voxel import routes
from gpu_envs.kernels.voxel.ground import NOWHERE, PAD, Ground
from gpu_envs.kernels.voxel.motion import Body, heading_to
from gpu_envs.kernels.voxel.routes import Route, Search
from gpu_envs.kernels.voxel.walker import STAND, Action, Hands, Leg, legs_of

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]


CHOICES = 8  # of boxes that are looked at before one is fetched
PATIENCE = 45  # steps until one who knows no way looks again


class Player:
    """Plays all agents of all worlds; each world by itself."""

    def __init__(self, game: Game) -> None:
        self._agents = len(game.agents)
        self._courses: dict[int, Course] = {}

    def begin(self, worlds: list[int]) -> None:
        """Forget the courses of these worlds."""
        for world in worlds:
            self._courses.pop(world, None)

    def __call__(self, seen: Seen) -> Array:
        """Return the actions of all agents."""
        state = seen.state
        agents, boxes = state["agents"].tolist(), state["boxes"].tolist()
        actions = np.zeros((len(agents), self._agents, 6), np.int64)
        for world in range(len(agents)):
            course = self._courses.get(world)
            if course is None:
                course = Course(state["statics"][world], state["marks"][world], self._agents)
                self._courses[world] = course
            actions[world] = course.act(agents[world], boxes[world])
        return actions


class Course:
    """One world: what all its agents know."""

    def __init__(self, statics: Array, marks: Array, agents: int) -> None:
        self.ground = Ground(statics, marks)
        self.pad = self.ground.marks[PAD]
        self.minds = [Mind(self) for _ in range(agents)]
        self._cells: list[Any] = []
        self.changes = 0  # of standing boxes

    def act(self, agents: list[list[float]], boxes: list[list[float]]) -> list[Action]:
        """Return the action of each agent."""
        cells = [
            (int(row[1] // 1), int(row[2] // 1), int(row[3] // 1))
            for row in boxes
            if row[0] > 0 and row[4] < 0
        ]
        if cells != self._cells:
            self._cells = cells
            self.ground.set_boxes(cells)
            self.changes += 1
        return [mind.act(Body.of(row)) for mind, row in zip(self.minds, agents, strict=True)]


class Mind:
    """What one agent is about to do."""

    def __init__(self, course: Course) -> None:
        self._course, self._ground = course, course.ground
        self._legs: list[Leg] = []
        self._bad: dict[int, int] = {}  # boxes that could not be taken, and how often
        self._waits = 0

    def act(self, body: Body) -> Action:
        """Return the action of a step."""
        for _ in range(4):
            if not self._legs:
                if self._waits > 0 or not body.is_standing:
                    self._waits -= 1
                    return STAND
                self._think(body)
                if not self._legs:
                    self._waits = PATIENCE
                    return STAND
            action = self._legs[0].act(body)
            if action is not None:
                return action
            over = self._legs.pop(0)
            if over.has_failed:
                self._legs.clear()
        return STAND

    # ---- thinking

    def _think(self, body: Body) -> None:
        ground = self._ground
        here = ground.place_of(body.x, body.y, body.feet)
        if here == NOWHERE:
            return
        route = self._to_pad(here)
        if route is None:
            return
        if route.boxes == 0:
            self._legs = legs_of(ground, route, True, None)
            return
        stage = self._stage(route)
        first = next(k for k, step in enumerate(route.steps) if step.boxes)
        if stage is None or first < stage:
            self._build(body, route, first)
        else:
            self._cross(body, route, stage)

    def _to_pad(self, place: int) -> Route | None:
        for on_walls in (False, True):  # which is a way for the desperate
            search = Search(self._ground, place, self._course.pad, True, (), on_walls)
            if search.found != NOWHERE:
                return search.route(search.found)
        return None

    def _stage(self, route: Route) -> int | None:
        """Return the first step of a route that does not lead back; None: all do."""
        places = route.places()
        for k, step in enumerate(route.steps):
            if step.boxes:
                return None
            is_down = step.how == routes.DROP or (
                step.how == routes.JUMP and self._height(step.place) < self._height(places[k])
            )
            if is_down and not self._leads(step.place, places[k]):
                return k
        return None

    def _height(self, place: int) -> int:
        return self._ground.cell(place)[2]

    def _leads(self, place: int, goal: int) -> bool:
        return goal in routes.reached(self._ground, place, goal)

    # ---- boxes

    def _build(self, body: Body, route: Route, step: int) -> None:
        """Put a box where the route needs its first one, or fetch one for it."""
        if body.is_carrying:
            self._put(route, step)
        else:
            self._fetch(body, route, route.places()[step])

    def _put(self, route: Route, step: int) -> None:
        """Go along a route and put the box on the column of a step, from the place before it."""
        places = route.places()
        before, column = places[step], route.steps[step].place
        part = Route(route.start, route.steps[:step], 0.0)
        self._legs = [*legs_of(self._ground, part, True, self._heading(before, column))]
        self._legs.append(Hands(self._ground, before, column))

    def _cross(self, body: Body, route: Route, step: int) -> None:
        """Take what is needed behind a step that does not lead back, then take the step."""
        lacking = self._lacking(route, step)
        if lacking > 0 and not body.is_carrying:
            if self._fetch(body, route, route.places()[step]):
                return
        elif lacking > 1 and self._is_floor(route.places()[step], route.steps[step].place):
            self._put(route, step)
            return
        part = Route(route.start, route.steps[: step + 1], 0.0)
        self._legs = legs_of(self._ground, part, False, None)

    def _is_floor(self, place: int, target: int) -> bool:
        """Whether a box that is put down before a place, towards another, comes to rest."""
        (x, y, z), (to_x, to_y, _) = (self._ground.cell(n) for n in (place, target))
        ahead = x + (to_x > x) - (to_x < x), y + (to_y > y) - (to_y < y), z
        return self._ground.rest(self._ground.number(ahead)) != NOWHERE

    def _lacking(self, route: Route, step: int) -> int:
        """Return how many boxes have to be brought over a step that does not lead back."""
        ground, places = self._ground, route.places()
        behind = [
            k + 1
            for k in range(step, len(route.steps))
            if not route.steps[k].boxes and (k == step or route.steps[k].how != routes.WALK)
        ]
        reached: set[int] = set()
        first_at: dict[int, int] = {}
        for k in behind:
            if not ground.is_place(places[k]):
                continue
            if places[k] not in reached:
                reached |= routes.reached(ground, places[k])
            for box in ground.boxes():
                if box not in first_at and self._stands(box, reached) != []:
                    first_at[box] = k
        most, needed = 0, 0
        for k, one in enumerate(route.steps[step + 1 :], step + 1):
            needed += one.boxes
            supply = sum(at <= k for at in first_at.values())
            most = max(most, needed - supply)
        return most

    def _stands(self, box: int, reached: Collection[int]) -> list[int]:
        """Return the places, of those reached, from which hands take a box."""
        cells, ground = self._ground.cells, self._ground
        if cells[box + 1]:
            return []
        found = []
        for side in ground.sides:
            for lower in (0, 1, 2):
                place = box + side - lower
                if place not in reached or cells[box + side]:
                    continue
                # Hands take the lower of two cells first, where nothing is on top of it.
                if lower == 2 and cells[place + 2]:
                    continue
                found.append(place)
        return found

    def _fetch(self, body: Body, route: Route, before: int) -> bool:
        """Go and take the box that is soonest at a place; return whether there is one."""
        ground = self._ground
        here = Search(ground, route.start)
        there = Search(ground, before)
        options = []
        for box in ground.boxes():
            stands = [
                (here.cost[place] + there.cost.get(place, 500.0), place)
                for place in self._stands(box, here.cost)
            ]
            if stands:
                cost, place = min(stands)
                options.append((cost + 100 * self._bad.get(box, 0), box, place))
        supply = self._spare(route, here.cost)
        others = []
        columns = {ground.column(place) for place in route.places()}
        for cost, box, place in sorted(options)[:CHOICES]:
            needed, left = self._after(box, place)
            if needed <= route.boxes and left >= min(supply, needed) - 1:
                return self._take(here, box, place)
            # What takes a step back, or boxes out of reach, is better than to stand still.
            if ground.column(box) not in columns:
                others.append((max(needed - left, 0) + needed, cost, box, place))
        return bool(others) and self._take(here, *min(others)[2:])

    def _take(self, here: Search, box: int, place: int) -> bool:
        way = here.route(place)
        assert way is not None  # it was reached
        self._bad[box] = self._bad.get(box, 0) + 1
        self._legs = legs_of(self._ground, way, True, self._heading(place, box))
        self._legs.append(Hands(self._ground, place, box, box))
        return True

    def _after(self, box: int, place: int) -> tuple[int, int]:
        """Return how many boxes the way needs once one is taken from a place, and can be had."""
        ground = self._ground
        ground.take(box)
        route = self._to_pad(place) if ground.is_place(place) else None
        left = 0
        if route is not None:
            left = self._spare(route, routes.reached(ground, place))
        ground.put(box)
        return (999, 0) if route is None else (route.boxes, left)

    def _spare(self, route: Route, reached: Collection[int]) -> int:
        """Return how many boxes can be taken from these places, without those under a route."""
        ground = self._ground
        columns = {ground.column(place) for place in route.places()}
        return sum(
            ground.column(box) not in columns and bool(self._stands(box, reached))
            for box in ground.boxes()
        )

    def _heading(self, place: int, target: int) -> float:
        at, to = self._ground.middle(place), self._ground.middle(target)
        return heading_to(Body(*at, *[0.0] * 7, True, False, 0), to)
