"""Action masks of rows, with the fallback for rows whose mask allows nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.core.simulator import Simulator
from gpu_envs.faces.vector import VectorEnv


def has_masks(env: VectorEnv) -> bool:
    """Whether the infos of a batch have an action mask: that of one role may be asked for."""
    return "action_mask" in env.infos_shown.always


def choices(simulator: Simulator) -> np.ndarray[Any, Any] | None:
    """Return the categories of each agent's role: bool, (agents, largest); None: all of them.

    The mask of an agent that has left, or is absent, allows nothing, and its actions are ignored;
    but a number that its role does not have is still a bad action.
    """
    mask = simulator.layout.output("action_mask")
    if simulator.kinds.is_one or simulator.kinds.is_split or mask is None:
        return None
    counts = np.zeros(simulator.agents_per_world, np.int64)
    for role in simulator.roles:
        counts[role.at] = role.choices
    own: np.ndarray[Any, Any] = np.arange(mask.shape[-1]) < counts[:, None]
    return own


def filled(masks: np.ndarray[Any, Any], own: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """Return masks of rows, bool, which allow a role's own categories where they allow nothing."""
    if own is None:
        return masks
    by_world = masks.reshape(-1, *own.shape)
    nothing = ~by_world.any(-1, keepdims=True)
    whole: np.ndarray[Any, Any] = (by_world | (nothing & own)).reshape(masks.shape)
    return whole
