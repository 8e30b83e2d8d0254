"""Scripted player of the obstacle courses: plans on the state row, builds with boxes, and walks.

It looks for the way to the pad that needs the fewest boxes (kernels/voxel/routes.py). Where that
needs none, it goes. Else it fetches a box at a time and puts it where the way needs the next one.
Before a way that does not lead back, such as down from a wall, it takes along the boxes that it
needs behind it. Of several agents one builds; the others follow, keep out of its way, and go to
the pad once they can. Diamonds are taken where that is not far.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from gpu_envs.kernels.voxel import routes, supply
from gpu_envs.kernels.voxel.ground import NOWHERE, PAD, Ground
from gpu_envs.kernels.voxel.motion import Body, heading_to
from gpu_envs.kernels.voxel.routes import Route, Search
from gpu_envs.kernels.voxel.walker import STAND, Action, Hands, Leg, Stay, legs_of

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]

CHOICES = 8  # of boxes that are looked at before one is fetched
PATIENCE = 45  # steps until an agent that knows no way looks again
DETOUR = 45.0  # cost of a way to a diamond and on, more than without it
HURRY = 0.35  # share of the time below which diamonds are left alone
DOORS = 5  # ways that are compared where boxes run out
QUEUE = 1.7  # from a gate that another needs, where agents wait [m]
BEHIND = 16  # steps of a route at which followers go after the builder


class Player:
    """Plays all agents of all worlds; each world by itself.

    Args:
        game: What is played.
        builds: Whether boxes are touched; without, agents try the same ways all the same.
    """

    def __init__(self, game: Game, builds: bool = True) -> None:
        self._agents, self._builds = len(game.agents), builds
        self._courses: dict[int, Course] = {}

    def begin(self, worlds: list[int]) -> None:
        """Forget the courses of these worlds."""
        for world in worlds:
            self._courses.pop(world, None)

    def __call__(self, seen: Seen) -> Array:
        """Return the actions of all agents."""
        state = seen.state
        names = ("agents", "boxes", "diamonds", "time")
        rows = zip(*(state[name].tolist() for name in names), strict=True)
        actions = np.zeros((len(state["time"]), self._agents, 6), np.int64)
        for world, (agents, boxes, diamonds, time) in enumerate(rows):
            if world not in self._courses:
                statics, marks = state["statics"][world], state["marks"][world]
                self._courses[world] = Course(statics, marks, self._agents, self._builds)
            actions[world] = self._courses[world].act(agents, boxes, diamonds, time)
        return actions


class Course:
    """One world: what all its agents know.

    Args:
        statics: Rows of the state.
        marks: Rows of the state.
        agents: How many agents there are.
        builds: Whether boxes are touched.
    """

    def __init__(self, statics: Array, marks: Array, agents: int, builds: bool) -> None:
        self.ground, self.builds = Ground(statics, marks), builds
        self.pad = self.ground.marks[PAD]
        self.minds = [Mind(self, number) for number in range(agents)]
        self.places = [NOWHERE] * agents  # of all agents; the last known where one is in the air
        self.builder = 0
        self.diamonds: set[int] = set()
        self.closed: set[int] = set()  # places that routes avoid
        self._cells: list[Any] = []
        # Places that one agent needs for itself: its number, and how far away it is.
        self._gates: dict[int, tuple[int, float]] = {}
        self._arrived: dict[int, int] = {}  # agents on a crowded pad, in their order

    def act(
        self,
        agents: list[list[float]],
        boxes: list[list[float]],
        diamonds: list[list[float]],
        time: list[float],
    ) -> list[Action]:
        """Return the action of each agent."""
        cells = [
            (int(x // 1), int(y // 1), int(z // 1))
            for there, x, y, z, carrier in boxes
            if there > 0 and carrier < 0
        ]
        if cells != self._cells:
            self._cells = cells
            self.ground.set_boxes(cells)
        has_time = time[0] > HURRY
        self.diamonds = {
            self.ground.number(map(int, cell)) for left, *cell in diamonds if left > 0 and has_time
        }
        bodies = [Body.of(row) for row in agents]
        for number, body in enumerate(bodies):
            if body.is_standing:
                place = self.ground.place_of(body.x, body.y, body.feet)
                self.places[number] = place if place != NOWHERE else self.places[number]
        return [mind.act(body) for mind, body in zip(self.minds, bodies, strict=True)]

    def is_crowded(self) -> bool:
        """Whether the pad has hardly more places than there are agents."""
        return len(self.minds) > sum(map(self.ground.is_place, self.pad)) - 2

    def slot(self, number: int) -> tuple[float, float]:
        """Return the point of the pad for an agent; the first to come goes farthest."""
        points = supply.slots(self.ground, self.pad)
        order = self._arrived.setdefault(number, len(self._arrived))
        return points[min(order, len(points) - 1)]

    def enter(self, number: int, gate: int, away: float) -> bool:
        """Whether an agent has a gate for itself; the nearest takes it until somebody is there."""
        owner, distance = self._gates.get(gate, (number, away))
        if owner != number and (distance < 0.8 or distance < away + 0.2):
            return False
        self.leave(number)
        self._gates[gate] = number, away
        return True

    def leave(self, number: int) -> None:
        """Let others have the gates of an agent."""
        self._gates = {gate: one for gate, one in self._gates.items() if one[0] != number}

    def others(self, number: int) -> set[int]:
        """Return the places of all agents but one."""
        return {place for k, place in enumerate(self.places) if k != number}


class Mind:
    """What one agent is about to do."""

    def __init__(self, course: Course, number: int) -> None:
        self._course, self._ground, self._number = course, course.ground, number
        self._legs: list[Leg] = []
        self._tried: dict[int, int] = {}  # boxes, and how often they were to be fetched
        self._waits = 0
        self.claimed: set[int] = set()  # columns where others should not stand

    def act(self, body: Body) -> Action:
        """Return the action of a step."""
        for _ in range(4):
            if not self._legs:
                if self._waits > 0 or not body.is_standing:
                    self._waits -= 1
                    return STAND
                self.claimed = set()
                self._think(body)
                if not self._legs:
                    return STAND
                self._waits = 0
            if not self._may_pass(body):
                return STAND
            if not self._legs:
                continue
            action = self._legs[0].act(body)
            if action is not None:
                return action
            self._course.leave(self._number)
            if self._legs.pop(0).has_failed:
                self._legs.clear()
                self._give_way(body)
        return STAND

    def _give_way(self, body: Body) -> None:
        """Step back where an agent before this one is as near to what both want."""
        here = self._course.places[self._number]
        for place in self._course.places[: self._number]:
            if here != NOWHERE != place:
                x, y = self._ground.middle(place)
                if math.hypot(x - body.x, y - body.y) < 1.3:
                    self._leave(here)
                    return

    def _may_pass(self, body: Body) -> bool:
        """Whether the next gate is free, or far; one that stands in another's makes room."""
        gate = next((leg.gate for leg in self._legs[:2] if leg.gate != NOWHERE), NOWHERE)
        if gate == NOWHERE or len(self._course.minds) == 1:
            return True
        x, y = self._ground.middle(gate)
        away = math.hypot(x - body.x, y - body.y)
        if away > QUEUE or not body.is_standing or self._course.enter(self._number, gate, away):
            return True
        if away > 1.0 or self._waits > 0:
            self._waits = max(self._waits - 1, 0)
            return False
        self._legs = []
        self._leave(gate)
        return bool(self._legs)

    # ---- thinking

    def _think(self, body: Body) -> None:
        here = self._ground.place_of(body.x, body.y, body.feet)
        route = self._choose(here, body) if here != NOWHERE else None
        self._waits = PATIENCE
        if route is None:
            return
        if self._take_diamond(route):
            return
        if route.boxes == 0:
            self._finish(route)
        elif not self._course.builds:
            self._legs = legs_of(self._ground, route, True, None)
        elif self._is_builder():
            self._work(body, route)
        else:
            self._follow(route)

    def _choose(self, place: int, body: Body) -> Route | None:
        """Return the way to the pad, one that does not run out of boxes if there is one.

        Ways over walls that were not meant, such as into a neighbouring platform, may need fewer
        boxes than the course has for them in all, but more than lie before them.
        """
        course, route = self._course, self._to_pad(place)
        kept, best = set(course.closed), (99, 99)
        for _ in range(DOORS):
            if route is None or route.boxes == 0:
                break
            found = self._deficit(route, 0) - int(body.is_carrying), route.boxes
            if found < best:
                best, kept = found, set(course.closed)
            top = self._top_of(route)
            if found[0] <= 0 or not top:
                break
            course.closed |= top
            route = self._search(place, False)
        course.closed = kept
        return self._to_pad(place)

    def _top_of(self, route: Route) -> set[int]:
        """Return the level places to which the first boxes of a route lead."""
        first = next(k for k, step in enumerate(route.steps) if step.boxes)
        after = (step.place for step in route.steps[first:] if not step.boxes)
        found = set(left := list(itertools.islice(after, 1)))  # none where boxes end on the pad
        while left:
            for move in routes.moves(self._ground, left.pop()):
                if move.how == routes.WALK and not move.boxes and move.place not in found:
                    found.add(move.place)
                    left.append(move.place)
        return found

    def _to_pad(self, place: int) -> Route | None:
        """Return the way to the pad; over the tops of outer walls only if there is no other."""
        return self._search(place, False) or self._search(place, True)

    def _search(self, place: int, on_walls: bool) -> Route | None:
        course = self._course
        blocked, closed = course.others(self._number), () if on_walls else course.closed
        for goals in (course.pad - blocked, course.pad):
            search = Search(self._ground, place, goals, True, blocked, on_walls, closed)
            if search.found != NOWHERE:
                return search.route(search.found)
        return None

    def _go(self, route: Route, stops: bool, heading: float | None = None) -> None:
        """Follow a route, and claim it."""
        self._legs = legs_of(self._ground, route, stops, heading)
        self.claimed = {self._ground.column(place) for place in route.places()}

    def _finish(self, route: Route) -> None:
        course = self._course
        if course.builder == self._number:
            course.builder = NOWHERE
        is_near = len(route.steps) <= 2 and all(s.how == routes.WALK for s in route.steps)
        if is_near and course.is_crowded():
            self._waits = 0
            self._legs = [Stay(course.slot(self._number))]
            return
        if route.steps:
            self._go(route, True)
            return
        self._waits = 15
        self._yield(self._course.pad)

    def _take_diamond(self, route: Route) -> bool:
        """Go to a diamond that is near the way; return whether there is one."""
        diamonds = self._course.diamonds
        if not diamonds:
            return False
        here = Search(self._ground, route.start)
        for cost, place in sorted((here.cost[d], d) for d in diamonds if d in here.cost):
            after = self._to_pad(place)
            returns = route.start in routes.reached(self._ground, place, route.start)
            if after is None or after.boxes > route.boxes or (route.boxes and not returns):
                continue
            way = here.route(place)
            if way is not None and way.steps and cost + after.cost < route.cost + DETOUR:
                self._go(way, False)
                return True
        return False

    # ---- other agents

    def _is_builder(self) -> bool:
        """Whether this agent builds; the first that needs boxes while nobody does."""
        if self._course.builder == NOWHERE:
            self._course.builder = self._number
        return self._course.builder == self._number

    def _follow(self, route: Route) -> None:
        """Make room for the builder, or go after it."""
        self._waits = 10
        if self._yield(None):
            return
        builder = self._course.places[self._course.builder]
        search = Search(self._ground, route.start, (builder,), False, ())
        way = search.route(builder)
        if way is not None and len(way.steps) > BEHIND:
            self._go(Route(way.start, way.steps[: -BEHIND // 2], 0.0), True)
            self.claimed = set()

    def _yield(self, within: set[int] | None) -> bool:
        """Leave a place that others have claimed; return whether there is a better one near."""
        ground, course = self._ground, self._course
        claimed = set().union(*(mind.claimed for mind in course.minds if mind is not self))
        here = course.places[self._number]
        if ground.column(here) not in claimed:
            return False
        search = Search(ground, here, (), False, course.others(self._number))
        taken = course.others(self._number)
        free = [
            (cost, place)
            for place, cost in search.cost.items()
            if ground.column(place) not in claimed
            and place not in taken
            and (within is None or place in within)
        ]
        way = search.route(min(free)[1]) if free else None
        if way is None or not way.steps:
            return False
        self._legs = legs_of(ground, way, True, None)
        return True

    def _leave(self, gate: int) -> None:
        """Go to a free place away from a gate."""
        ground, others = self._ground, self._course.others(self._number)
        x, y = ground.middle(gate)
        search = Search(ground, self._course.places[self._number], (), False, others)
        free = []
        for place, cost in search.cost.items():
            to_x, to_y = ground.middle(place)
            if place not in others and math.hypot(to_x - x, to_y - y) > QUEUE:
                free.append((cost, place))
        way = search.route(min(free)[1]) if free else None
        if way is None or not way.steps:
            self._waits = 10
            return
        self._legs = legs_of(ground, way, True, None)
        for leg in self._legs:
            leg.gate = NOWHERE

    # ---- boxes

    def _work(self, body: Body, route: Route) -> None:
        """Put a box where the route needs its first one, or fetch one; or take a step for good."""
        stage = self._stage(route)
        first = next(k for k, step in enumerate(route.steps) if step.boxes)
        if stage is not None and stage < first:
            self._cross(body, route, stage)
        elif body.is_carrying:
            self._put(route, first)
        else:
            self._fetch(route, route.places()[first])

    def _stage(self, route: Route) -> int | None:
        """Return the first step of a route that does not lead back; None: all do."""
        places = route.places()
        for k, step in enumerate(route.steps):
            if step.boxes:
                return None
            is_down = step.how == routes.DROP or (
                step.how == routes.JUMP and self._height(step.place) < self._height(places[k])
            )
            if is_down and places[k] not in routes.reached(self._ground, step.place, places[k]):
                return k
        return None

    def _height(self, place: int) -> int:
        return self._ground.cell(place)[2]

    def _put(self, route: Route, step: int) -> None:
        """Go along a route and put the box on the column of a step, from the place before it."""
        before, column = route.places()[step], route.steps[step].place
        part = Route(route.start, route.steps[:step], 0.0)
        self._go(part, True, self._heading(before, column))
        self._legs.append(Hands(self._ground, before, column))
        self.claimed.add(self._ground.column(column))

    def _cross(self, body: Body, route: Route, step: int) -> None:
        """Take what is needed behind a step that does not lead back, then take the step."""
        lacking = self._deficit(route, step + 1)
        before, target = route.places()[step], route.steps[step].place
        if lacking > 0 and not body.is_carrying:
            if self._fetch(route, before):
                return
        elif lacking > 1 and supply.holds(self._ground, before, target):
            self._put(route, step)
            return
        self._go(Route(route.start, route.steps[: step + 1], 0.0), False)

    def _deficit(self, route: Route, begin: int) -> int:
        """Return how many boxes more than there are a route needs from one of its places on."""
        ground, places = self._ground, route.places()
        columns = {ground.column(place) for place in places}
        reached: set[int] = set()
        first_at: dict[int, int] = {}
        most, needed = -99, 0
        for k in range(begin, len(places)):
            if ground.is_place(places[k]) and places[k] not in reached:
                reached |= routes.reached(ground, places[k])
                for box in ground.boxes():
                    is_free = box not in first_at and ground.column(box) not in columns
                    if is_free and supply.stands(ground, box, reached):
                        first_at[box] = k
            if k < len(route.steps) and route.steps[k].boxes:
                needed += route.steps[k].boxes
                most = max(most, needed - len(first_at))
        return most

    def _fetch(self, route: Route, before: int) -> bool:
        """Go and take the box that is soonest at a place; return whether there is one."""
        ground, blocked = self._ground, self._course.others(self._number)
        here = Search(ground, route.start, (), False, blocked)
        there = Search(ground, before, (), False, blocked)
        options = []
        for box in ground.boxes():
            stands = [
                (here.cost[place] + there.cost.get(place, 500.0), place)
                for place in supply.stands(ground, box, here.cost)
            ]
            if stands:
                cost, place = min(stands)
                options.append((cost + 100 * self._tried.get(box, 0), box, place))
        enough = supply.spare(ground, route.places(), here.cost)
        columns = {ground.column(place) for place in route.places()}
        others = []
        for cost, box, place in sorted(options)[:CHOICES]:
            needed, left = self._after(box, place)
            if needed <= route.boxes and left >= min(enough, needed) - 1:
                return self._take(here, box, place)
            # What takes a step back, or boxes out of reach, is better than to stand still.
            if ground.column(box) not in columns:
                others.append((max(needed - left, 0) + needed, cost, box, place))
        return bool(others) and self._take(here, *min(others)[2:])

    def _take(self, here: Search, box: int, place: int) -> bool:
        way = here.route(place)
        assert way is not None  # it was reached
        self._tried[box] = self._tried.get(box, 0) + 1
        self._go(way, True, self._heading(place, box))
        self._legs.append(Hands(self._ground, place, box, box))
        return True

    def _after(self, box: int, place: int) -> tuple[int, int]:
        """Return how many boxes the way needs once one is taken from a place, and can be had.

        Others that could not come after count as a way that needs very many.
        """
        ground, course = self._ground, self._course
        came = routes.reached(ground, place)
        ground.take(box)
        route = self._to_pad(place) if ground.is_place(place) else None
        needed, left = 999, 0
        if route is not None:
            left = supply.spare(ground, route.places(), routes.reached(ground, place))
            needed = route.boxes
            for other in course.others(self._number):
                follows = place in routes.reached(ground, other, place)
                needed += 0 if follows or other in course.pad or other not in came else 99
        ground.put(box)
        return needed, left

    def _heading(self, place: int, target: int) -> float:
        at, to = self._ground.middle(place), self._ground.middle(target)
        return heading_to(Body(*at, *[0.0] * 7, True, False, 0), to)
