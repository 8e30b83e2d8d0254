"""Episodes of indoor navigation that are laid by hand, and walks of double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

POINT_GOAL, FLEE, EXPLORE = "PointGoalNav-v0", "Flee-v0", "Explore-v0"
ALL = (POINT_GOAL, FLEE, EXPLORE)
STOP, FORWARD, LEFT, RIGHT = range(4)
STEP, TURN = 0.25, math.radians(10)
SMALL = {"house_count": 2, "rooms_low": 1, "rooms_high": 2, "observation": "numbers"}
EMPTY = {
    **SMALL,
    "house_count": 1,
    "rooms_high": 1,
    "clutter_low": 0.0,
    "clutter_high": 0.0,
}


class Walk:
    """One world: an agent that is told what to do."""

    def __init__(self, make: Make, game: str, layout: str = "house 0", **options: Any) -> None:
        self.simulator = make(game, 1, **{**EMPTY, "autoreset_mode": "Disabled", **options})
        self.last = self.simulator.reset(seed=1, options={"layout": layout})
        self.total = 0.0

    def again(self, layout: str) -> None:
        """Begin an episode by hand."""
        self.last = self.simulator.reset(options={"layout": layout})
        self.total = 0.0

    def act(self, action: int, times: int = 1) -> Any:
        for _ in range(times):
            self.last = self.simulator.step(np.array([[action]]))
            self.total += self.reward
        return self.last

    @property
    def reward(self) -> float:
        return float(np.asarray(self.last.reward).ravel()[0])

    def get(self, column: str) -> Any:
        return self.simulator.get(column).ravel()[0]

    @property
    def at(self) -> Array:
        return np.array([self.get("walker.x"), self.get("walker.y")], np.float64)

    @property
    def yaw(self) -> float:
        return float(self.get("walker.yaw"))

    @property
    def is_terminated(self) -> bool:
        return bool(np.asarray(self.last.terminated).any())

    @property
    def is_truncated(self) -> bool:
        return bool(np.asarray(self.last.truncated).any())

    def measure(self, name: str) -> float:
        return float(np.asarray(measures_of(self.simulator, self.last)[name]).ravel()[0])


def measures_of(simulator: Simulator, results: Any) -> dict[str, Array]:
    """Return the measures of the ends of episodes, by name."""
    rows = np.asarray(results.measures)
    return {field.name: rows[..., k] for k, field in enumerate(simulator.measure_fields)}


def place(at: Array) -> str:
    return " ".join(f"{float(number):.6f}" for number in at)


def line_of(walk: Walk, least: float) -> tuple[Array, float]:
    """Return where one can walk straight on for so long, and the heading."""
    for _ in range(200):
        walk.again("house 0")
        start, yaw = walk.at, walk.yaw
        walk.act(FORWARD, math.ceil(least / STEP))
        if np.hypot(*(walk.at - start)) > least - 1e-3:
            return start, yaw
    raise AssertionError(f"no straight line of {least} m")


def ahead_of(at: Array, yaw: float, metres: float, left: float = 0.0) -> Array:
    """Return the point so far ahead and to the left."""
    x, y = -math.sin(yaw), math.cos(yaw)
    return np.asarray(at + metres * np.array([x, y]) + left * np.array([-y, x]))
