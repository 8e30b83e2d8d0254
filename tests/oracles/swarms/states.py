"""What the swarms of floxs are put through: states and actions, from seeds, with NumPy alone.

record.py asks floxs for its answers, tests/oracles/test_floxs.py asks our environments.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

RECORDING = Path(__file__).with_name("floxs.npz")
TURN = np.float32(2 * np.pi)
STEPS = 300
SAMPLES = (1, 2, 10, 50, 300)  # steps after which the state is compared
FLOCK_STATES, TAG_STATES = 60, 60
BIRDS, PREDATORS, PREY = 50, 2, 20
SPEEDS = np.float32(0.015), np.float32(0.025)


@dataclass
class State:
    """Agents of one world; x and y in the last axis of `position`."""

    position: np.ndarray
    heading: np.ndarray
    speed: np.ndarray


def random_state(seed: int, agents: int, spread: float = 1.0) -> State:
    """Uniform, or a crowd within `spread` of the corner, over the edges of the torus."""
    rng = np.random.default_rng(seed)
    position = rng.random((agents, 2), dtype=np.float32) * np.float32(spread)
    position = (position - np.float32(spread / 2)) % np.float32(1) if spread < 1 else position
    position[position >= 1] = 0
    low, high = SPEEDS
    return State(
        position,
        rng.random(agents, dtype=np.float32) * TURN,
        low + rng.random(agents, dtype=np.float32) * (high - low),
    )


def flock_states() -> list[State]:
    """Every third is a crowd."""
    return [random_state(k, BIRDS, 0.3 if k % 3 == 2 else 1.0) for k in range(FLOCK_STATES)]


def tag_states() -> list[State]:
    """Predators first."""
    agents = PREDATORS + PREY
    return [random_state(1000 + k, agents, 0.2 if k % 2 else 0.6) for k in range(TAG_STATES)]


def actions(step: int, agents: int) -> np.ndarray:
    """(rotation, acceleration) of every agent, sometimes beyond the bounds; step 1 is the first."""
    i = np.arange(agents)
    played = np.stack([1.2 * np.sin(i + step), 1.2 * np.cos(2 * i + step / 2)], axis=1)
    return np.clip(played, -1, 1).astype(np.float32)
