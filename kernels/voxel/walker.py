"""Legs of a body that follows a route or uses its hands: each chooses an action step by step.

A leg is asked once a step with the body as it is. It answers with an action, or says that it is
done or has failed; then the player thinks again. Legs know cells, places and bodies, no game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_envs.kernels.voxel import motion, routes
from gpu_envs.kernels.voxel.ground import NOWHERE, Ground
from gpu_envs.kernels.voxel.motion import Body

Action = tuple[int, int, int, int, int, int]  # move, strafe, turn, gaze, jump, interact
STAND: Action = (0, 0, 0, 0, 0, 0)
NEAR = 0.16  # of the middle of a cell, where hands reach the next one safely [m]
_STEADY = 0.11  # of a heading, for hands [rad]
_BOX_HELD = 0.575  # the middle of a carried box, above the feet [m]


class Leg:
    """A part of what a body does. `act` returns None once it has ended; `has_failed` says how."""

    limit = 90  # steps after which it has failed
    gate = NOWHERE  # place that a body needs for itself

    def __init__(self) -> None:
        self.steps = 0
        self.has_failed = False
        self._second: tuple[int, int] | None = None  # of a push and one against it

    def act(self, body: Body) -> Action | None:
        """Return the action of this step; None: the leg is over."""
        self.steps += 1
        if self.steps > self.limit:
            self.has_failed = True
            return None
        return self.choose(body)

    def choose(self, body: Body) -> Action | None:
        """Return the action of this step; None: the leg is over."""
        raise NotImplementedError

    def rest_at(self, body: Body, turn: int, yaw: float, point: tuple[float, float]) -> Action:
        """Return an action towards rest at a point; goes through with what it began."""
        if self._second is not None and turn == 0:
            way, self._second = self._second, None
        else:
            way, self._second = motion.to_rest(body, yaw, point)
        return _action(way, turn)

    def fail(self) -> None:
        """Note that it cannot be done."""
        self.has_failed = True


def _action(way: tuple[int, int], turn: int = 0, jump: int = 0, interact: int = 0) -> Action:
    return way[0], way[1], turn, 0, jump, interact


class Walk(Leg):
    """To a place on level ground along free places; comes to rest there if it `stops`.

    Args:
        ground: The world.
        places: The way, without that where it begins.
        stops: Whether the body has to rest in the middle of the last place.
        heading: Where it looks at the end; None: where it goes.
    """

    def __init__(
        self, ground: Ground, places: Sequence[int], stops: bool, heading: float | None = None
    ) -> None:
        super().__init__()
        self._points = [ground.middle(place) for place in places]
        self._ground, self._level = ground, ground.cell(places[-1])[2]
        self._stops, self._heading, self._next = stops, heading, 0
        self._stuck = 0  # steps in which a ledge has held the body
        self.limit = 30 + 12 * len(places)

    def choose(self, body: Body) -> Action | None:
        """Run from point to point, and rest at the last one."""
        if body.is_standing and abs(body.feet - self._level) > 0.6:
            self.fail()
            return None
        while self._next < len(self._points) - 1:
            x, y = self._points[self._next]
            after = self._points[self._next + 1]
            is_straight = self._is_straight(body, after)
            if not is_straight and math.hypot(x - body.x, y - body.y) > 0.3:
                break
            self._next += 1
        point = self._points[self._next]
        is_last = self._next == len(self._points) - 1
        away = math.hypot(point[0] - body.x, point[1] - body.y)
        if is_last and not self._stops and away < 0.4:
            return None
        wanted = motion.heading_to(body, point) if away > 0.5 else body.yaw
        if self._heading is not None and len(self._points) - self._next <= 2:
            wanted = self._heading
        turn, yaw = motion.turn_to(body, wanted)
        if not body.is_standing:
            return _action(motion.to_land(body, yaw, point, body.feet - self._level), turn)
        is_held = body.feet < self._level - 0.3 and body.speed < 0.15 and away > 0.25
        self._stuck = self._stuck + 1 if is_held else 0
        if self._stuck > 4:  # it has slipped off the floor's edge
            return _action(motion.to_run(body, yaw, point), turn, jump=1)
        if is_last and self._stops:
            is_there = away < NEAR and body.speed < 0.4
            if is_there and (turn == 0 or self._heading is None):
                return None
            return self.rest_at(body, turn, yaw, point)
        if away < 1.2:  # a corner: not too fast, or it swings wide
            return self.rest_at(body, turn, yaw, point)
        return _action(motion.to_run(body, yaw, point), turn)

    def _is_straight(self, body: Body, after: tuple[float, float]) -> bool:
        """Whether the body may run straight at the point after the next: all are in one line."""
        x, y = self._points[self._next]
        along_x = abs(after[1] - y) < 0.1 and abs(body.y - y) < 0.2
        along_y = abs(after[0] - x) < 0.1 and abs(body.x - x) < 0.2
        return along_x or along_y


class Climb(Leg):
    """From a place onto the next, one higher."""

    limit = 70

    def __init__(self, ground: Ground, place: int, higher: int) -> None:
        super().__init__()
        self.gate = place
        self._from, self._to = ground.middle(place), ground.middle(higher)
        self._level = ground.cell(higher)[2]
        self._rises = False

    def choose(self, body: Body) -> Action | None:
        """Go near, jump against it, and push on until it carries the body."""
        turn, yaw = motion.turn_to(
            body, math.atan2(self._from[0] - self._to[0], self._to[1] - self._from[1])
        )
        away = math.hypot(body.x - self._to[0], body.y - self._to[1])
        is_up = body.feet > self._level - 0.25
        if body.is_standing and is_up:
            if away < 0.62:
                return None
            return self.rest_at(body, turn, yaw, self._to)
        if not body.is_standing:
            if is_up and body.climb < 3:
                way = motion.to_land(body, yaw, self._to, body.feet - self._level)
            else:
                way = motion.to_run(body, yaw, self._to)
            return _action(way, turn)
        if body.feet < self._level - 1.6:
            self.fail()
            return None
        aside = self._aside(body.x - self._to[0], body.y - self._to[1])
        drift = self._aside(body.vx, body.vy)
        if aside > 0.22 or drift > 0.8 or away > 1.35 or (away > 1.1 and body.speed > 2.5):
            return self.rest_at(body, turn, yaw, self._from)
        return _action(motion.to_run(body, yaw, self._to), turn, jump=1)

    def _aside(self, x: float, y: float) -> float:
        """Return how much of a distance or a speed lies across the way."""
        dx, dy = self._to[0] - self._from[0], self._to[1] - self._from[1]
        return abs(x * dy - y * dx)


class Drop(Leg):
    """From a place over its edge to a lower one."""

    limit = 80

    def __init__(self, ground: Ground, place: int, lower: int, is_careful: bool) -> None:
        super().__init__()
        self._from, self._to = ground.middle(place), ground.middle(lower)
        self._level, self._is_careful = ground.cell(lower)[2], is_careful
        self._start = ground.cell(place)[2]
        self._along = self._to[0] - self._from[0], self._to[1] - self._from[1]

    def choose(self, body: Body) -> Action | None:
        """Go over the edge slowly where more than the ground waits behind it."""
        turn, yaw = motion.turn_to(
            body, math.atan2(self._from[0] - self._to[0], self._to[1] - self._from[1])
        )
        if body.is_standing and body.feet < self._start - 0.5:
            return None
        if not body.is_standing:
            way = motion.to_land(body, yaw, self._to, body.feet - self._level)
            return _action(way, turn)
        if self._is_careful:
            height = body.feet - self._level
            return _action(motion.over_edge(body, yaw, self._from, self._along, height), turn)
        return _action(motion.to_run(body, yaw, self._to), turn)


class Hop(Leg):
    """From a place over its edge into the next column, in a jump that begins at rest at the edge.

    A body that walks over an edge keeps its speed; in the air it moves slowly, and where it wants.
    """

    limit = 130

    def __init__(self, ground: Ground, place: int, lower: int) -> None:
        super().__init__()
        at, self._to = ground.middle(place), ground.middle(lower)
        self._start, self._level = ground.cell(place)[2], ground.cell(lower)[2]
        dx, dy = self._to[0] - at[0], self._to[1] - at[1]
        self._edge = at[0] + 0.36 * dx, at[1] + 0.36 * dy
        self._heading = math.atan2(-dx, dy)

    def choose(self, body: Body) -> Action | None:
        """Rest at the edge, jump, and steer."""
        turn, yaw = motion.turn_to(body, self._heading)
        if not body.is_standing:
            way = motion.to_land(body, yaw, self._to, body.feet - self._level)
            return _action(way, turn)
        if body.feet < self._start - 0.5:
            return None
        away = math.hypot(body.x - self._edge[0], body.y - self._edge[1])
        if away > 0.12 or body.speed > 0.3:
            return self.rest_at(body, turn, yaw, self._edge)
        return _action((0, 0), turn, jump=1)


class Leap(Leg):
    """Over what carries nobody, from the middle of a place to that of another in one line."""

    limit = 110

    def __init__(self, ground: Ground, place: int, target: int) -> None:
        super().__init__()
        self.gate = place
        self._from, self._to = ground.middle(place), ground.middle(target)
        self._start, self._level = ground.cell(place)[2], ground.cell(target)[2]
        dx, dy = self._to[0] - self._from[0], self._to[1] - self._from[1]
        self._length = abs(dx) + abs(dy)
        self._along = dx / self._length, dy / self._length
        self._heading = math.atan2(-dx, dy)
        side = next(s for s in ground.sides if self._is_along(ground, place, s))
        # In lava at its own height a body must not touch the ground once more.
        self._latest = 0.45 if place + side in ground.lava else 0.66
        self._yaw: float | None = None
        self._way = (1, 0)
        self._has_left = False

    def _is_along(self, ground: Ground, place: int, side: int) -> bool:
        x, y = ground.middle(place + side)
        return (x - self._from[0]) * self._along[0] + (y - self._from[1]) * self._along[1] > 0.5

    def choose(self, body: Body) -> Action | None:
        """Rest in the middle, turn, run, jump, and steer in the air."""
        if not body.is_standing:
            turn, yaw = motion.turn_to(body, self._heading)
            return _action(motion.to_land(body, yaw, self._to, body.feet - self._level), turn)
        if self._has_left:
            if abs(body.feet - self._level) > 0.6 or self._gone(body) < 1:
                self.fail()
            return None
        if self._yaw is None:
            away = math.hypot(body.x - self._from[0], body.y - self._from[1])
            turn, yaw = motion.turn_to(body, self._heading)
            if away > 0.12 or body.speed > 0.3:
                return self.rest_at(body, turn, yaw, self._from)
            self._yaw, self._way = motion.aligned(body.yaw, self._heading)
        turn, yaw = motion.turn_to(body, self._yaw)
        if abs(math.remainder(yaw - self._yaw, 2 * math.pi)) > 0.02:
            return _action((0, 0), turn)
        return self._run(body, turn)

    def _gone(self, body: Body) -> float:
        return (body.x - self._from[0]) * self._along[0] + (body.y - self._from[1]) * self._along[1]

    def _run(self, body: Body, turn: int) -> Action:
        """Jump as soon as that reaches, or at the last moment."""
        steps = motion.flight(body.feet - self._level, motion.JUMP)
        speed = body.vx * self._along[0] + body.vy * self._along[1]
        speed = min(speed + motion.PUSH, motion.WALK)
        gone = self._gone(body)
        reaches = gone + speed * steps * motion.STEP > self._length - 0.12
        is_last = gone + speed * motion.STEP > self._latest
        self._has_left = reaches or is_last
        return _action(self._way, turn, jump=int(self._has_left))


class Hands(Leg):
    """Picks up, or puts down, in the cell next to a place in whose middle the body rests.

    Args:
        ground: The world.
        place: Where it stands.
        target: A cell of the column on which the hands are, next to the place.
        cell: The cell of the box that is picked up; NOWHERE: the hands put down what they carry.
    """

    limit = 70

    def __init__(self, ground: Ground, place: int, target: int, cell: int = NOWHERE) -> None:
        super().__init__()
        self.gate = place
        self._at, self._to = ground.middle(place), ground.middle(target)
        self._takes = cell != NOWHERE
        self._level = ground.cell(place)[2]
        self._above = ground.cell(cell)[2] - self._level if self._takes else 0
        self._tries = 0

    def choose(self, body: Body) -> Action | None:
        """Turn to the cell, and interact; jump for what is out of reach."""
        if body.is_carrying == self._takes:
            return None
        if self._tries > 3:
            self.fail()
            return None
        turn, yaw = motion.turn_to(body, motion.heading_to(body, self._to))
        if not body.is_standing:
            # Hands reach the cell at 0.875 m above the feet, and the one above it.
            reach = math.floor(body.feet + body.climb * motion.STEP + 0.7) - self._level
            can = self._takes and reach in (self._above - 1, self._above)
            return _action((0, 0), turn, interact=int(can))
        away = math.hypot(body.x - self._at[0], body.y - self._at[1])
        if away > NEAR + 0.06 or body.speed > 0.5:
            return self.rest_at(body, turn, yaw, self._at)
        error = math.remainder(motion.heading_to(body, self._to) - yaw, 2 * math.pi)
        if abs(error) > _STEADY + 0.02:
            return _action((0, 0), turn)
        self._tries += 1
        if self._above > 1:
            return _action((0, 0), turn, jump=1)
        return _action((0, 0), turn, interact=1)


class PutHigher(Hands):
    """Puts down one cell higher than `Hands`: in a jump on the spot."""

    def choose(self, body: Body) -> Action | None:
        """Turn to the cell, jump, and let go as soon as the box is above the lower cell."""
        if not body.is_carrying:
            return None
        if body.is_standing:
            action = super().choose(body)
            return action and (*action[:4], action[5], 0)  # jumps where it would let go
        turn, _ = motion.turn_to(body, motion.heading_to(body, self._to))
        feet = body.feet + (body.climb - motion.FALL) * motion.STEP
        return _action((0, 0), turn, interact=int(feet + _BOX_HELD > self._level + 1.05))


class Stay(Leg):
    """At a point, to which the body presses on where others are in its way."""

    limit = 40

    def __init__(self, point: tuple[float, float]) -> None:
        super().__init__()
        self._point = point

    def choose(self, body: Body) -> Action | None:
        """Rest there."""
        return self.rest_at(body, 0, body.yaw, self._point)


def legs_of(
    ground: Ground,
    route: routes.Route,
    stops: bool,
    heading: float | None,
    hops: bool = False,
) -> list[Leg]:
    """Return the legs of a route that needs no boxes.

    Args:
        ground: The world.
        route: The way.
        stops: Whether the body has to rest at its end.
        heading: Where it looks at its end.
        hops: Whether it jumps down slowly where running off would take it far.
    """
    legs: list[Leg] = []
    place, walked = route.start, []
    for step in route.steps:
        if step.how == routes.WALK:
            walked.append(step.place)
        else:
            if walked:
                legs.append(Walk(ground, walked, stops=step.how != routes.CLIMB))
                walked = []
            if step.how == routes.CLIMB:
                legs.append(Climb(ground, place, step.place))
            elif step.how == routes.DROP and hops and _is_far(ground, place, step.place):
                legs.append(Hop(ground, place, step.place))
            elif step.how == routes.DROP:
                legs.append(Drop(ground, place, step.place, _is_risky(ground, place, step.place)))
            else:
                legs.append(Leap(ground, place, step.place))
        place = step.place
    if walked or stops:
        legs.append(Walk(ground, walked or [place], stops, heading))
    return legs


def _is_far(ground: Ground, place: int, lower: int) -> bool:
    """Whether a drop that is run into is deep, or may end behind the next column."""
    depth = ground.cell(place)[2] - ground.cell(lower)[2]
    return depth > 1 or _is_risky(ground, place, lower)


def _is_risky(ground: Ground, place: int, lower: int) -> bool:
    """Whether lava or nothing lies behind the foot of an edge."""
    x, y, _ = ground.cell(lower)
    side = ground.number((x, y, ground.cell(place)[2])) - place
    at = lower
    for _ in range(4):
        at += side
        if ground.cells[at]:
            return False
        below = ground.rest(at)
        if below == NOWHERE or below in ground.lava:
            return True
    return False
