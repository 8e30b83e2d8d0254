"""Swarms for tests: worlds laid out by hand, and a slow second opinion of what agents see and get.

`views` and `company` go through all pairs in NumPy, by the formulas of jumanji's `view`; they share
nothing with the kernels. Arrays have one row per agent of one world.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_envs import Simulator

F = np.float32
NAMES = ("x", "y", "heading", "speed")


@dataclass
class Swarm:
    """State of one world."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    speed: np.ndarray


def uniform(seed: int, agents: int, max_speed: float = 0.025) -> Swarm:
    rng = np.random.default_rng(seed)
    draws = rng.random((4, agents), dtype=F)
    return Swarm(draws[0], draws[1], draws[2] * F(2 * np.pi), draws[3] * F(max_speed))


def place(simulator: Simulator, *swarms: Swarm) -> None:
    """World k gets swarm k."""
    for name in NAMES:
        values = np.stack([getattr(swarm, name) for swarm in swarms]).astype(F)
        simulator.set(f"agents.{name}", values)


def state(simulator: Simulator, world: int = 0) -> Swarm:
    return Swarm(*(simulator.get(f"agents.{name}")[world] for name in NAMES))


def offsets(swarm: Swarm, viewers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From each viewer to every agent, the shorter way around the torus."""

    def one(values: np.ndarray) -> np.ndarray:
        plain = values[None, :] - values[viewers, None]
        around = np.sign(plain) * (np.abs(plain) - F(1))
        return np.where(np.abs(plain) < np.abs(around), plain, around)

    return one(swarm.x), one(swarm.y)


def near(swarm: Swarm, viewers: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Distances of all agents, and which of the others are in range."""
    dx, dy = offsets(swarm, viewers)
    squared = dx * dx + dy * dy
    mask = squared <= F(reach * reach)
    mask[np.arange(len(viewers)), viewers] = False
    return np.sqrt(squared), mask


def views(swarm: Swarm, viewers: np.ndarray, reach: float, radius: float, n: int, angle: float):
    """What each viewer sees: -1 where nobody is."""
    dx, dy = offsets(swarm, viewers)
    distance, mask = near(swarm, viewers, reach)
    rays = np.linspace(-angle * np.pi, angle * np.pi, n)
    rows = np.full((len(viewers), n), -1.0)
    for k, viewer in enumerate(viewers):
        for other in np.flatnonzero(mask[k]):
            delta = float(swarm.heading[viewer]) - np.arctan2(float(dy[k, other]), dx[k, other])
            delta = (delta + np.pi) % (2 * np.pi) - np.pi
            width = np.arctan2(radius, float(distance[k, other]))
            met = (delta - width < rays) & (rays < delta + width)
            shown = distance[k, other] / reach
            rows[k] = np.where(met & ((rows[k] < 0) | (rows[k] > shown)), shown, rows[k])
    return rows


def company(swarm: Swarm, viewers: np.ndarray, reach: float, touch: float):
    """Sum of exp(-5 D / R) over those in range who do not touch, and how many touch."""
    distance, mask = near(swarm, viewers, reach)
    touches = mask & (distance < F(touch))
    worth = np.exp(-5 * distance.astype(np.float64) / reach) * (mask & ~touches)
    return worth.sum(1), touches.sum(1)


def random_actions(rng: np.random.Generator, simulator: Simulator) -> np.ndarray:
    shape = (simulator.num_worlds, simulator.agents_per_world, 2)
    return rng.uniform(-1, 1, shape).astype(F)


def stand(simulator: Simulator) -> np.ndarray:
    """Actions that turn nobody and change no speed."""
    return np.zeros((simulator.num_worlds, simulator.agents_per_world, 2), F)
