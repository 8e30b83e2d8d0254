"""What scripted players of indoor navigation share: they turn to the next corner and walk there.

Not a player of its own: point_goal_nav_player.py and flee_player.py are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

STOP, FORWARD, LEFT, RIGHT = range(4)
STEP, TURN = 0.25, np.deg2rad(10.0)  # of one action [m, rad]


def towards(state: dict[str, Array]) -> Array:
    """Return the action of each world that leads to the next corner."""
    ahead = state["facing"].astype(np.float64)
    way = (state["next"] - state["place"]).astype(np.float64)
    across = ahead[..., 0] * way[..., 1] - ahead[..., 1] * way[..., 0]
    error = np.arctan2(across, (ahead * way).sum(axis=-1))  # positive to the left
    turn = np.where(error > 0, LEFT, RIGHT)
    return np.where(np.abs(error) > TURN / 2 + 1e-4, turn, FORWARD)
