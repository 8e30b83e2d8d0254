"""Worlds of TagContinuous for tests: made, read and changed agent by agent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_envs import Simulator

Array = NDArray[Any]
TWO_PI = 2 * math.pi


def made(start: str | None = None, worlds: int = 1, **parameters: Any) -> Simulator:
    """Make a simulator and reset it; a start by hand says how many agents there are."""
    if start is not None:
        parameters["num_taggers"], parameters["num_runners"] = (
            start.count(role) for role in ("tagger", "runner")
        )
        parameters["start"] = start
    parameters = {"device": "cpu", "autoreset_mode": "Disabled"} | parameters
    simulator = Simulator("TagContinuous-v0", worlds, **parameters)
    simulator.reset(seed=1)
    return simulator


def column(simulator: Simulator, name: str) -> Array:
    """Return a column of the agents, without rows that have none: (worlds, agents)."""
    return simulator.get(f"agents.{name}")[:, : simulator.agents_per_world]


def put(simulator: Simulator, name: str, values: object) -> None:
    whole = simulator.get(f"agents.{name}")
    whole[:, : simulator.agents_per_world] = values
    simulator.set(f"agents.{name}", whole)


def actions(simulator: Simulator, *pairs: tuple[int, int]) -> Array:
    """Return one action per agent, the same in all worlds; none: nobody changes anything."""
    rows = np.zeros((simulator.num_worlds, simulator.agents_per_world, 2), np.int32)
    if pairs:
        rows[:] = np.array(pairs, np.int32)
    return rows


def drawn(simulator: Simulator, random: np.random.Generator) -> Array:
    most = np.array(simulator.single_action_space.nvec)  # type: ignore[attr-defined]
    shape = (simulator.num_worlds, simulator.agents_per_world, 2)
    return random.integers(0, most[None, None], shape).astype(np.int32)


def features(obs: Array) -> Array:
    """Split rows into seven features by others: (..., 7, others)."""
    return obs[..., :-1].reshape(*obs.shape[:-1], 7, -1)
