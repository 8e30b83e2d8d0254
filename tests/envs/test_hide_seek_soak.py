"""HideSeek played long and badly: random worlds, and worlds in which everyone rams what is nearest.

Half of each batch acts at random. In the other half every agent pushes with full force towards the
nearest body or wall, or spins, presses grab in every step and lock in every other. Nothing may
become infinite, sink, outrun the speed limit, enter a wall, leave a closed arena, or fill a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

STEPS = 2400
FEWER_STEPS = 480  # two episodes; the slow tests and scripts/checks/soak play for long
LOOK = 8  # steps between two looks at the columns
PRESENT = 1
BUCKETS = (11, 11, 11, 2, 2)
OPEN: dict[str, Any] = {}  # rooms with doors, episodes of the usual length
CLOSED = {
    "division_count_low": 0,
    "division_count_high": 0,
    "cut_count_low": 0,
    "cut_count_high": 0,
    "wall_height": 12.0,  # no ramp leads over it
    "max_episode_steps": 0,
    "preparation_steps": 0,
}
STATE = ("position", "orientation", "velocity", "spin")
WALLS = ("centre", "half", "count")
UNIT = 1e-3  # of a quaternion's length, which is renewed in each substep
ROUNDING = 1.0001


@dataclass
class Limits:
    """What a profile's sizes allow."""

    lowest: float  # of any centre [m]
    speed: float  # [m/s]


LIMITS = {"fixed": Limits(0.2, 30.0), "openai": Limits(0.05, 15.0)}


def rotated(q: Array, v: tuple[float, float, float]) -> Array:
    """Direction v of each body in the world."""
    w, axis = q[..., :1], q[..., 1:]
    u = np.broadcast_to(np.asarray(v, np.float32), axis.shape)
    return np.asarray(u + 2 * np.cross(axis, np.cross(axis, u) + w * u))


class Adversary:
    """Actions of some worlds that hurt physics most."""

    def __init__(self, simulator: Simulator, worlds: Array, seed: int) -> None:
        self._simulator, self._worlds = simulator, worlds
        self._rng = np.random.default_rng(seed)
        self._step = 0
        self._actions = np.zeros((len(worlds), simulator.agents_per_world, 5), np.int32)

    def _towards_bodies(self, place: Array, body: Array, present: Array) -> Array:
        away = body[:, None, :, :2] - place[:, :, None, :2]
        distance = np.where(present[:, None, :], np.hypot(*np.moveaxis(away, -1, 0)), np.inf)
        agents = place.shape[1]
        distance[:, np.arange(agents), np.arange(agents)] = np.inf
        nearest = distance.argmin(2)
        return np.take_along_axis(away, nearest[..., None, None], 2)[:, :, 0]

    def _towards_walls(self, place: Array, columns: dict[str, Array]) -> Array:
        centre, half, count = (columns[name][self._worlds] for name in WALLS)
        low, high = (centre - half)[:, None, :, :2], (centre + half)[:, None, :, :2]
        at = place[:, :, None, :2]
        away = np.clip(at, low, high) - at
        distance = np.hypot(*np.moveaxis(away, -1, 0))
        missing = np.arange(centre.shape[1]) >= count.reshape(-1, 1)
        distance[np.broadcast_to(missing[:, None], distance.shape)] = np.inf
        nearest = distance.argmin(2)
        return np.take_along_axis(away, nearest[..., None, None], 2)[:, :, 0]

    def look(self, columns: dict[str, Array]) -> None:
        """Choose whom to ram in the next steps."""
        agents = self._simulator.agents_per_world
        body = columns["position"][self._worlds]
        turn = columns["orientation"][self._worlds, :agents]
        place = body[:, :agents]
        present = (columns["state"][self._worlds] & PRESENT) != 0
        bodies = self._rng.random((len(self._worlds), agents, 1)) < 0.7
        to_bodies = self._towards_bodies(place, body, present)
        way = np.where(bodies, to_bodies, self._towards_walls(place, columns))
        for axis, direction in enumerate(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))):
            along = np.sum(rotated(turn, direction)[..., :2] * way, -1)
            self._actions[..., axis] = np.where(along > 0.05, 10, np.where(along < -0.05, 0, 5))
        spins = np.arange(agents) % 2 == 0
        self._actions[..., 2] = np.where(spins, 10, self._rng.integers(0, 11, way.shape[:2]))

    def act(self) -> Array:
        self._step += 1
        self._actions[..., 3] = 1
        self._actions[..., 4] = self._step % 2
        return self._actions


def look(simulator: Simulator) -> dict[str, Array]:
    bodies = {name: simulator.get(f"bodies.{name}") for name in (*STATE, "state")}
    return bodies | {name: simulator.get(f"statics.{name}") for name in WALLS}


def check_bodies(columns: dict[str, Array], limits: Limits) -> None:
    for name in STATE:
        assert np.isfinite(columns[name]).all(), name
    present = (columns["state"] & PRESENT) != 0
    assert columns["position"][present][:, 2].min() > limits.lowest
    assert np.linalg.norm(columns["velocity"][present], axis=1).max() <= limits.speed * ROUNDING
    lengths = np.linalg.norm(columns["orientation"][present], axis=1)
    assert np.abs(lengths - 1).max() < UNIT


def check_walls(columns: dict[str, Array]) -> None:
    """No centre of a body is inside of a wall."""
    centre, half = columns["centre"], columns["half"]
    there = np.arange(centre.shape[1]) < columns["count"].reshape(-1, 1)
    present = (columns["state"] & PRESENT) != 0
    away = np.abs(columns["position"][:, :, None] - centre[:, None])
    inside = (away < half[:, None]).all(-1) & there[:, None] & present[..., None]
    assert not inside.any(), np.argwhere(inside)


def check_arena(columns: dict[str, Array], half: float) -> None:
    present = (columns["state"] & PRESENT) != 0
    assert np.abs(columns["position"][present][:, :2]).max() < half


def check_joints(simulator: Simulator) -> None:
    for name in ("anchor_a", "anchor_b", "relative", "pull", "twist"):
        assert np.isfinite(simulator.get(f"joints.{name}")).all(), name


def soak(simulator: Simulator, steps: int, profile: str, closed: bool) -> None:
    worlds, agents = simulator.num_worlds, simulator.agents_per_world
    limits, half = LIMITS[profile], 0.5 * float(simulator.parameters["arena_size"])
    rng = np.random.default_rng(5)
    adversary = Adversary(simulator, np.arange(worlds // 2, worlds), seed=6)
    simulator.reset(seed=7)
    before = simulator.get("bodies.position")
    travelled = 0.0
    for step in range(steps):
        if step % LOOK == 0:
            columns = look(simulator)
            check_bodies(columns, limits)
            check_walls(columns)
            if closed:
                check_arena(columns, half)
            adversary.look(columns)
        actions = rng.integers(0, BUCKETS, (worlds, agents, 5), dtype=np.int32)
        actions[worlds // 2 :] = adversary.act()
        outputs = simulator.step(actions)
        assert np.isfinite(outputs.obs).all()
        assert np.isfinite(outputs.reward).all()
        if step % 60 == 0:
            check_joints(simulator)
            travelled += float(np.abs(columns["position"] - before).mean())
    simulator.check()  # no table was too small
    assert travelled > 1  # they did move


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_two_hundred_worlds_of_bad_play_stay_whole(make_simulator: Make, closed: bool) -> None:
    simulator = make_simulator("HideSeek-v0", 100, **(CLOSED if closed else OPEN))
    soak(simulator, FEWER_STEPS, "fixed", closed)


def test_openai_worlds_of_bad_play_stay_whole(make_simulator: Make) -> None:
    simulator = make_simulator("HideSeek-v0", 16, profile="openai")
    soak(simulator, 480, "openai", closed=False)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("profile", ["fixed", "openai"])
def test_ten_thousand_worlds_of_bad_play_stay_whole(
    make_simulator: Make, profile: str, closed: bool
) -> None:
    options: dict[str, Any] = CLOSED if closed else OPEN
    if profile == "openai" and closed:
        options = options | {"outer_wall_probability": 1.0, "wall_height": 4.0}
    simulator = make_simulator("HideSeek-v0", 5000, profile=profile, **options)
    soak(simulator, STEPS, profile, closed)
