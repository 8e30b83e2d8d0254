"""What padded rows of roles may choose where their mask allows nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.simulator import Simulator


def choices(simulator: Simulator) -> np.ndarray[Any, Any] | None:
    """Return which categories each agent has at all: bool, (agents, largest); None: all of them.

    The mask of an agent that has left, or is not there, allows nothing, and what it does is
    ignored; but a number that its role does not have is a bad action all the same.
    """
    mask = simulator.layout.of("action_mask")
    if not simulator.instance.get("roles") or simulator.split is not None or mask is None:
        return None
    counts = np.zeros(simulator.agents_per_world, np.int64)
    for role in simulator.roles:
        counts[role.at] = role.choices
    own: np.ndarray[Any, Any] = np.arange(mask.shape[-1]) < counts[:, None]
    return own
