"""What a row of a batch shows: which episode it is of, and legal actions for it."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import gpu_envs

# Agents that end before their world, and soon: runners near taggers.
EARLY: dict[str, dict[str, Any]] = {
    "TagContinuous-v0": {
        "num_taggers": 3,
        "num_runners": 4,
        "tagging_distance": 0.12,
        "resample_start": True,
        "max_episode_steps": 20,
    },
    "Troupe-v0": {"max_episode_steps": 20},  # whose clown is absent from some episodes
}


class Episodes:
    """Finds the rows whose observation is of another episode than the one before it."""

    def __init__(self, env: Any) -> None:
        self._simulator: gpu_envs.Simulator = env.simulator
        self._agents: int = env.agents_per_world
        self._last = self._read()

    def _read(self) -> np.ndarray:
        return self._simulator.get("world.episode").ravel().repeat(self._agents)

    def changed(self) -> np.ndarray:
        """Compare with the last call; bool by row."""
        before, self._last = self._last, self._read()
        return self._last != before


class Chance:
    """Draws actions of rows, from a seed of its own."""

    def __init__(self, space: gymnasium.spaces.Space[Any], seed: int = 2) -> None:
        self._space, self._random = space, np.random.default_rng(seed)

    def __call__(self, rows: int, mask: np.ndarray | None) -> np.ndarray:
        """Return an action per row; where nothing is legal the first."""
        if mask is not None:
            return (np.asarray(mask) * self._random.uniform(0.1, 1, mask.shape)).argmax(-1)
        if isinstance(self._space, gymnasium.spaces.Box):
            shape = (rows, *self._space.shape)
            low, high = np.maximum(self._space.low, -1), np.minimum(self._space.high, 1)
            return self._random.uniform(low, high, shape).astype(np.float32)
        most = getattr(self._space, "nvec", None)
        if most is None:
            return self._random.integers(0, int(self._space.n), rows)
        return self._random.integers(0, most, (rows, len(most)))
