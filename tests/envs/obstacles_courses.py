"""Worlds of the obstacle courses, laid out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from voxel_worlds import GROUND, Make, Playground

BOTH = pytest.mark.parametrize("name", ["ObstaclesEasy-v0", "ObstaclesHard-v0"])
PARTS = ("exit", "all_exit", "diamond", "box")
# Nothing but the clock ends an episode: as short as `seconds` says.
SHORT = {"platform_seconds": 0, "box_seconds": 0}
PAD = GROUND + "pad 8 12 1 12 13 2; "


class Course(Playground):
    """One course, laid out by hand."""

    def __init__(self, make: Make, layout: str = "", name: str = "Easy", **options: Any) -> None:
        super().__init__(make, f"Obstacles{name}-v0", layout, **options)
