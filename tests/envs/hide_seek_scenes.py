"""Scenes of hide-and-seek laid by hand, the same in many worlds: what the tests of physics share.

Rows of the bodies: the hiders, the seekers, nine boxes (those of the layout first), the ramps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpu_envs import Simulator
from tests.envs.hide_seek_worlds import NEUTRAL, yaw_of

Array = np.ndarray[Any, Any]
FAR = 80.0  # where agents stand that a scene does not need [m]


class Scene:
    """A layout in `worlds` worlds, without preparation, resets or limits.

    Agents that the layout does not name stand far away: one hider and one seeker at least.
    """

    def __init__(self, layout: str, worlds: int = 1, **parameters: Any) -> None:
        things = [line.split()[0] for line in layout.replace("\n", ";").split(";") if line.strip()]
        self.hiders = max(things.count("hider"), 1)
        self.seekers = max(things.count("seeker"), 1)
        for team, wanted in (("hider", self.hiders), ("seeker", self.seekers)):
            for k in range(wanted - things.count(team)):
                layout += f"; {team} {FAR if team == 'hider' else -FAR} {FAR + 5 * k}"
        self.worlds, self.agents = worlds, self.hiders + self.seekers
        self.box, self.ramp = self.agents, self.agents + 9
        parameters = {"preparation_steps": 0, **parameters}
        self.simulator = Simulator(
            "HideSeek-v0",
            worlds,
            device="cpu",
            autoreset_mode="Disabled",
            max_episode_steps=0,
            outputs=[],
            reuse=True,
            hider_count=self.hiders,
            seeker_count=self.seekers,
            **parameters,
        )
        self.simulator.reset(seed=0, options={"layout": layout})
        self.bodies = self.simulator.get("bodies.state").shape[1]

    def get(self, column: str, row: int | slice = slice(None)) -> Array:
        return self.simulator.get(f"bodies.{column}")[:, row].astype(np.float64)

    def place(self, row: int, at: ArrayLike | None = None, yaw: ArrayLike | None = None) -> None:
        """Puts a body somewhere else, perhaps somewhere else in every world."""
        if at is not None:
            positions = self.simulator.get("bodies.position")
            positions[:, row] = at
            self.simulator.set("bodies.position", positions)
        if yaw is not None:
            half = 0.5 * np.broadcast_to(np.asarray(yaw, np.float64), (self.worlds,))
            turns = self.simulator.get("bodies.orientation")
            turns[:, row] = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)
            self.simulator.set("bodies.orientation", turns)

    def push(self, row: int, velocity: ArrayLike) -> None:
        velocities = self.simulator.get("bodies.velocity")
        velocities[:, row] = velocity
        self.simulator.set("bodies.velocity", velocities)

    def at(self, row: int) -> Array:
        return self.get("position", row)

    def yaw(self, row: int) -> Array:
        angles: Array = yaw_of(self.get("orientation", row))
        return angles

    def upright(self, row: int | slice = slice(None)) -> Array:
        """Cosine of the tilt."""
        _w, x, y, _z = np.moveaxis(self.get("orientation", row), -1, 0)
        return 1 - 2 * (x * x + y * y)

    def drive(self, **heads: ArrayLike) -> Array:
        """Actions of agent 0, others do nothing; heads are x, y, turn, grab, lock."""
        actions = np.empty((self.worlds, self.agents, 5), np.int32)
        actions[:] = NEUTRAL
        for name, value in heads.items():
            actions[:, 0, ("x", "y", "turn", "grab", "lock").index(name)] = value
        return actions

    def step(self, actions: Array) -> None:
        self.simulator.step(actions)

    def track(self, steps: int, row: int, **heads: ArrayLike) -> Array:
        """Positions of a body after each step, (steps, worlds, 3)."""
        actions = self.drive(**heads)
        path = []
        for _ in range(steps):
            self.step(actions)
            path.append(self.at(row))
        return np.array(path)


def axes_of(yaw: Array) -> Array:
    """Both axes of a footprint, (..., axis, 2)."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -2)


def overlap_depth(
    at_a: Array, yaw_a: Array, half_a: Array, at_b: Array, yaw_b: Array, half_b: Array
) -> Array:
    """How deep two turned rectangles overlap; negative where they are apart (separating axes)."""
    axes_a, axes_b = axes_of(yaw_a), axes_of(yaw_b)
    depth = np.full(yaw_a.shape, np.inf)
    for axis in (axes_a[..., 0, :], axes_a[..., 1, :], axes_b[..., 0, :], axes_b[..., 1, :]):
        reach = np.zeros(yaw_a.shape)
        for axes, half in ((axes_a, half_a), (axes_b, half_b)):
            for k in range(2):
                reach = reach + half[..., k] * np.abs(np.sum(axes[..., k, :] * axis, -1))
        depth = np.minimum(depth, reach - np.abs(np.sum((at_b - at_a) * axis, -1)))
    return depth


def random_actions(generator: np.random.Generator, worlds: int, agents: int) -> Array:
    """All heads uniform."""
    return generator.integers(0, (11, 11, 11, 2, 2), (worlds, agents, 5), dtype=np.int32)
