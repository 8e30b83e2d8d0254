"""Land of Collect, laid out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from voxel_worlds import Array, Make, Playground

GAME = "Collect-v0"
PARTS = ("good", "bad", "all", "fall")
# Nothing but the clock ends an episode: as short as `seconds` says.
SHORT = {"diamond_seconds": 0}
GROUND = "floor 0 0 0 20 20 0; "
FAR_GREEN = "diamond 18 18 1; "  # so that a level is not solved by others
GREEN, RED = 0x3BB372, 0xFF0000
SIDE = 41


class Land(Playground):
    """One land, laid out by hand or drawn."""

    def __init__(self, make: Make, layout: str = "", **options: Any) -> None:
        super().__init__(make, GAME, layout, **options)

    @property
    def good_left(self) -> int:
        return int(self.get("land.good_left"))


def heights_of(simulator: Any) -> Array:
    """Cells of every column above the floor, (worlds, x, y)."""
    return np.asarray(simulator.get("columns.height").reshape(-1, SIDE, SIDE)).astype(int)
