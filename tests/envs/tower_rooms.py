"""Rooms of TowerBuilding, laid out by hand."""

from __future__ import annotations

from typing import Any

from voxel_worlds import Make, Playground

GAME = "TowerBuilding-v0"
PARTS = ("pick", "visit", "tower")
DARK_GREY = 0x555555
# Nothing but the clock ends an episode: as short as `seconds` says.
SHORT = {"box_seconds": 0}
GROUND = "floor 0 0 0 20 20 0; "


def value(height: int) -> float:
    """What a box is worth at a height, 1 on the floor."""
    return 0.05 * height + min(0.05 * 2.0**height, 20.0)


class Room(Playground):
    """One room, laid out by hand."""

    def __init__(self, make: Make, layout: str = "", **options: Any) -> None:
        super().__init__(make, GAME, layout, **options)

    @property
    def height(self) -> int:
        return int(self.get("site.highest"))
