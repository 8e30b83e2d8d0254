"""The outputs that a simulator can write, by name."""

from __future__ import annotations

from typing import Any, NamedTuple


class Outputs(NamedTuple):
    """The outputs of one call; None for those that do not exist or were not asked for.

    The engine fills these fields by their names and refuses a class with other fields.
    Only loops that unpack the tuple depend on the order: the first eight keep their places.
    """

    obs: Any = None
    reward: Any = None
    terminated: Any = None
    truncated: Any = None
    final_obs: Any = None
    ended: Any = None
    episode_return: Any = None
    episode_length: Any = None
    action_mask: Any = None
    agent_active: Any = None
    state: Any = None
    reward_parts: Any = None
    final_state: Any = None
    depth: Any = None
    segmentation: Any = None
    final_depth: Any = None
    final_segmentation: Any = None
    true_objective: Any = None
    parameters: Any = None
    numbers: Any = None
    final_numbers: Any = None
    measures: Any = None


OUTPUTS = Outputs._fields
# Observations, and last ones; an environment without pictures has only the first layer.
LAYERS = ("obs", "depth", "segmentation", "numbers")
FINAL_LAYERS = ("final_obs", "final_depth", "final_segmentation", "final_numbers")
