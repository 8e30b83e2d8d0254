"""Levels of Rearrange, and an agent who is put wherever an object can be reached."""

from __future__ import annotations

from typing import Any

import numpy as np
from voxel_worlds import RADIUS, Array, Make, Playground

GAME = "Rearrange-v0"
PARTS = ("match", "all", "lift")
MODEL, WORK = np.array((5, 8, 2)), np.array((13, 8, 2))  # cells of the middles
ALL_REWARD = 10.0
HALF = 0.45  # of the widest box that an object collides as [m]


class Room(Playground):
    """One room, laid out by hand or drawn."""

    def __init__(self, make: Make, layout: str = "", **options: Any) -> None:
        super().__init__(make, GAME, layout, **options)

    @property
    def size(self) -> int:
        return int(self.get("task.object_count"))

    @property
    def best(self) -> int:
        return int(self.get("task.best"))

    @property
    def is_solved(self) -> bool:
        return bool(self.get("task.solved"))

    def model(self, k: int) -> Array:
        """The place of object k in the model, from its middle."""
        return np.asarray(self.get("crates.cell", k)) - MODEL

    def copy(self, k: int) -> Array:
        """The place of the copy of object k."""
        return np.asarray(self.get("crates.cell", self.size + k)) - WORK

    def is_held(self, k: int) -> bool:
        return bool(self.get("crates.carrier", self.size + k) >= 0)

    def looks(self, row: int) -> tuple[int, int]:
        return int(self.get("crates.form", row)), int(self.get("crates.colour", row))

    def in_place(self) -> int:
        """Count by plain loops how many objects lie where the model has such a one."""
        model = {(*self.looks(k), *self.model(k).tolist()) for k in range(self.size)}
        copies = [k for k in range(self.size) if not self.is_held(k)]
        return sum((*self.looks(self.size + k), *self.copy(k).tolist()) in model for k in copies)

    def take(self, k: int, others: str = "") -> bool:
        """Take object k from a side that is free, if there is one."""
        cell = self.copy(k) + WORK
        for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
            for away in (1.0, 0.8, 1.3):
                at = cell[:2] + 0.5 + away * np.array((np.sin(angle), -np.cos(angle)))
                if self._is_free(at, float(cell[2]), k):
                    self.stand(*at, yaw=float(np.remainder(angle + np.pi, 2 * np.pi) - np.pi),
                               feet=float(cell[2]) + 0.06)  # fmt: skip
                    self.act("i" + others)
                    return self.is_held(k)
        return False

    def _is_free(self, at: Array, feet: float, k: int) -> bool:
        """Whether a body may stand there, for all objects but its own."""
        rows = np.arange(self.size, 2 * self.size)
        rows = rows[(rows != self.size + k) & (self.simulator.get("crates.carrier")[0, rows] < 0)]
        cells = self.simulator.get("crates.cell")[0, rows]
        gaps = np.maximum(np.abs(at - (cells[:, :2] + 0.5)) - HALF, 0)
        beside = np.hypot(*gaps.T) > RADIUS + 0.01
        below = cells[:, 2] + 1 <= feet
        return bool((beside | below).all())

    def give(self, place: Array, others: str = "") -> None:
        """Let the carried object fall onto a place, from four metres above the pedestal."""
        x, y = (place + WORK)[:2]
        self.stand(x + 0.5, y - 0.5, feet=5.75)
        self.act("i" + others)
