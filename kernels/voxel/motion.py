"""Where an action takes a body in the next steps: what kernels/voxel/walk.hpp does on open ground.

Scripted players choose actions by it. It knows no obstacles: a body that meets one stays behind.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

STEP = 1 / 15  # [s]
TURN = 3.5 * STEP  # a step's turn [rad]
PUSH, FRICTION = 50 * STEP, 15 * STEP  # of a step on the ground [m/s]
AIR_PUSH, AIR_SPEED = 3 * STEP, 1.0  # [m/s]
WALK = 4.5  # highest speed [m/s]
FALL, JUMP = 13.72 * STEP, 6.2  # what a step of falling adds, and a jump's speed [m/s]
FEET = 0.855  # below the middle of a body [m]
_LIP = 0.72  # ahead of the middle of a cell, where a body falls off its edge [m]
_CLOSE = 0.3  # of a point, where single pushes go too far [m]

# Moves and strafes, the best first where several are as good: on, aside, back, none.
WAYS = ((1, 0), (1, 1), (1, 2), (0, 1), (0, 2), (2, 1), (2, 2), (2, 0), (0, 0))
_AHEAD = np.array([{0: 0, 1: 1, 2: -1}[move] for move, _ in WAYS], float)
_LEFT = np.array([{0: 0, 1: 1, 2: -1}[strafe] for _, strafe in WAYS], float)
_LENGTH = np.maximum(np.hypot(_AHEAD, _LEFT), 1)
_AHEAD, _LEFT = _AHEAD / _LENGTH, _LEFT / _LENGTH
_EFFORT = 0.03 * (np.hypot(_AHEAD, _LEFT) > 0)  # of pushes, as a distance [m]


class Body(NamedTuple):
    """A body, as the state's rows of agents have it."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    climb: float
    cosine: float  # of its yaw, which is 0 along +y and grows to the left
    sine: float
    pitch: float
    is_standing: bool
    is_carrying: bool
    box: int  # row of the box that it carries, -1: none

    @classmethod
    def of(cls, row: list[float]) -> Body:
        """Read the first numbers of an agent's row."""
        return cls(*row[:9], row[9] > 0.5, row[10] > 0.5, round(row[11]))

    @property
    def feet(self) -> float:
        """Height of the feet."""
        return self.z - FEET

    @property
    def yaw(self) -> float:
        """Heading [rad]."""
        return math.atan2(self.sine, self.cosine)

    @property
    def speed(self) -> float:
        """Speed across [m/s]."""
        return math.hypot(self.vx, self.vy)


def wishes(yaw: float) -> Array:
    """Return the directions that WAYS push in, (ways, 2)."""
    sine, cosine = math.sin(yaw), math.cos(yaw)
    return np.stack([-sine * _AHEAD - cosine * _LEFT, cosine * _AHEAD - sine * _LEFT], -1)


def _slowed(velocity: Array, loss: float, least: float = 0.0) -> Array:
    speed = np.hypot(velocity[..., 0], velocity[..., 1])
    kept = np.maximum(speed - loss, np.minimum(speed, least)) / np.maximum(speed, 1e-9)
    return velocity * kept[..., np.newaxis]


def _coast(velocity: Array) -> Array:
    """Return how far bodies slide to rest."""
    speed = np.hypot(velocity[..., 0], velocity[..., 1])
    steps = np.floor(speed / FRICTION)
    way = ((steps + 1) * speed - FRICTION * steps * (steps + 1) / 2) * STEP
    return velocity * (way / np.maximum(speed, 1e-9))[..., np.newaxis]


def _pushed(velocity: Array, wish: Array) -> Array:
    return _slowed(velocity + wish * PUSH, 100 * STEP, WALK)


def to_rest(
    body: Body, yaw: float, target: tuple[float, float]
) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """Return the ways of pushing in this step and the next after which a body rests at a point.

    Near the point a push and one against it move a body less than any single push; farther away
    one push is looked for, and the second is None.
    """
    wish = wishes(yaw)
    at, aim = np.array([body.x, body.y]), np.array(target)
    first = _pushed(np.array([body.vx, body.vy]), wish)
    moved = at + first * STEP
    first = _slowed(first, FRICTION)
    rest = moved + _coast(first)
    away = np.hypot(rest[:, 0] - aim[0], rest[:, 1] - aim[1])
    if away.min() > _CLOSE:
        return WAYS[int(np.argmin(away))], None
    second = _pushed(first[:, np.newaxis], wish[np.newaxis])
    rest = moved[:, np.newaxis] + second * STEP
    rest = rest + _coast(_slowed(second, FRICTION))
    away = np.hypot(rest[..., 0] - aim[0], rest[..., 1] - aim[1])
    # A push has to be worth it, or a body that rests well enough begins again and again.
    away = away + _EFFORT[:, np.newaxis] + _EFFORT
    best = int(np.argmin(away.min(axis=1) + 1e-4 * np.arange(len(WAYS))))
    return WAYS[best], WAYS[int(np.argmin(away[best]))]


def over_edge(
    body: Body, yaw: float, start: tuple[float, float], along: tuple[float, float], height: float
) -> tuple[int, int]:
    """Return the way of pushing with which a body falls off an edge close to its foot.

    A push on the ground is fast, and in the air little is lost. So the body has to come to the
    edge while it slides to rest.

    Args:
        body: It stands before the edge.
        yaw: Its heading after the step's turn.
        start: The middle of its cell; the edge is half a metre ahead.
        along: The direction across the edge.
        height: Of the feet above the ground below.
    """
    steps = flight(height, 0.0)
    lost = AIR_PUSH * steps * (steps + 1) / 2  # of the way in the air, by pushing back
    gone = (body.x - start[0]) * along[0] + (body.y - start[1]) * along[1]
    pushes = PUSH * (wishes(yaw) @ np.array(along))
    speed = body.vx * along[0] + body.vy * along[1]
    ways = len(WAYS)
    at, left = np.full(ways * ways, gone), np.full(ways * ways, False)
    now, off = np.full(ways * ways, speed), np.zeros(ways * ways)
    for k in range(6):
        push = np.repeat(pushes, ways) if k == 0 else np.tile(pushes, ways) if k == 1 else 0.0
        now = np.where(left, now, np.clip(now + push, -WALK, WALK))
        at = np.where(left, at, at + now * STEP)
        leaves = ~left & (at > _LIP)
        off = np.where(leaves, at + np.maximum(now * steps - lost, now * 2) * STEP, off)
        left |= leaves
        now = np.where(left, now, np.sign(now) * np.maximum(np.abs(now) - FRICTION, 0))
    # From here a push slides over the edge slowly.
    cost = np.where(left, 1.5 * np.abs(off - 0.95), 1.0 + np.abs(at - 0.3))
    return WAYS[int(np.argmin(cost.reshape(ways, ways).min(axis=1) + 1e-4 * np.arange(ways)))]


def to_run(body: Body, yaw: float, target: tuple[float, float]) -> tuple[int, int]:
    """Return the way of pushing after which a body runs at a point as fast as it can."""
    aim = np.array([target[0] - body.x, target[1] - body.y])
    aim = aim / max(math.hypot(*aim), 1e-9)
    speeds = _pushed(np.array([body.vx, body.vy]), wishes(yaw))
    along = speeds @ aim
    across = np.abs(speeds[:, 0] * aim[1] - speeds[:, 1] * aim[0])
    return WAYS[int(np.argmax(along - across))]


def flight(height: float, climb: float) -> int:
    """Return in how many steps a body in the air is `height` lower; with a climb of JUMP, lands."""
    steps = 0
    while steps < 60:
        climb -= FALL
        height += climb * STEP
        steps += 1
        if climb < 0 and height <= 0:
            return steps
    return steps


def to_land(body: Body, yaw: float, target: tuple[float, float], height: float) -> tuple[int, int]:
    """Return the way of pushing in the air after which a body lands nearest to a point.

    Args:
        body: It flies.
        yaw: Its heading after the step's turn.
        target: The point.
        height: Of the feet above what it lands on.
    """
    steps = flight(height, body.climb)
    now = np.array([body.vx, body.vy])
    after = now + wishes(yaw) * AIR_PUSH
    speed, before = np.hypot(after[:, 0], after[:, 1]), math.hypot(*now)
    refused = (speed > AIR_SPEED) & (speed >= before)
    after[refused] = now
    # As if it pushed on like that: the mean of what it has and what it will have.
    change = (after - now) * (steps + 1) / 2
    end = np.array([body.x, body.y]) + (now + change) * (steps * STEP)
    away = np.hypot(end[:, 0] - target[0], end[:, 1] - target[1])
    # The same push for all the flight goes too far where less is enough: then one step of it.
    once = np.array([body.x, body.y]) + after * (steps * STEP)
    away = np.minimum(away, np.hypot(once[:, 0] - target[0], once[:, 1] - target[1]))
    return WAYS[int(np.argmin(away + 1e-4 * np.arange(len(WAYS))[::-1]))]


def turn_to(body: Body, wanted: float) -> tuple[int, float]:
    """Return the turn of a step towards a heading, and the heading after it."""
    error = math.remainder(wanted - body.yaw, 2 * math.pi)
    turn = 1 if error > TURN / 2 else 2 if error < -TURN / 2 else 0
    return turn, body.yaw + (0.0, TURN, -TURN)[turn]


def aligned(yaw: float, wanted: float, most: int = 5) -> tuple[float, tuple[int, int]]:
    """Return a heading near `yaw`, and the way of pushing with which it moves along `wanted`.

    Steps of a turn do not divide the angles between ways evenly: a few turns find one that fits.
    """
    best = (9.0, 0.0, WAYS[0])
    for turns in range(-most, most + 1):
        heading = yaw + turns * TURN
        for number, way in enumerate(WAYS[:-1]):
            angle = heading + math.atan2(_LEFT[number], _AHEAD[number])
            error = abs(math.remainder(angle - wanted, 2 * math.pi)) + 0.003 * abs(turns)
            best = min(best, (error, heading, way))
    return best[1], best[2]


def heading_to(body: Body, target: tuple[float, float]) -> float:
    """Return the heading of a point."""
    return math.atan2(-(target[0] - body.x), target[1] - body.y)
