"""Worlds of the obstacle courses, laid out by hand, and agents who are spoken to by letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

BOTH = pytest.mark.parametrize("name", ["ObstaclesEasy-v0", "ObstaclesHard-v0"])
HEADS = ("fb", "lr", "LR", "ud", "j", "i")
PARTS = ("exit", "all_exit", "diamond", "box")
# Nothing but the clock ends an episode: as short as `seconds` says.
SHORT = {"platform_seconds": 0, "box_seconds": 0}
TINY = {"resolution": "3x4"}
GROUND = "floor 0 0 0 20 30 0; "
PAD = GROUND + "pad 8 12 1 12 13 2; "


def action(letters: str) -> list[int]:
    """What f, b (forward, backward), l, r (strafe), L, R (turn), u, d (look), j and i ask for."""
    return [next((k + 1 for k, v in enumerate(values) if v in letters), 0) for values in HEADS]


class Course:
    """One world, laid out by hand."""

    def __init__(self, make: Make, layout: str = "", name: str = "Easy", **options: Any) -> None:
        agents = max(layout.count("agent "), 1)
        options = {**TINY, "agent_count": agents, **options}
        self.simulator = make(f"Obstacles{name}-v0", 1, **options)
        given = {"layout": layout} if layout else None
        self.last = self.simulator.reset(seed=1, options=given)
        self.total = np.zeros((agents, len(PARTS)))

    def act(self, words: str, times: int = 1) -> Any:
        """Everybody by words between blanks, "-" for who does nothing; one word: all the same."""
        each = words.split()
        agents = self.simulator.agents_per_world
        actions = [action(each[k % len(each)]) for k in range(agents)]
        for _ in range(times):
            self.last = self.simulator.step(np.array([actions]))
            self.total += self.last.reward_parts[0]
        return self.last

    def get(self, column: str, row: int = 0) -> Any:
        return self.simulator.get(column)[0, row]

    def at(self, agent: int = 0) -> Array:
        place: Array = self.get("agents.position", agent)
        return place

    def box(self, row: int = 0) -> tuple[int, ...] | None:
        """The cell of a box, None while it is carried."""
        if self.get("crates.carrier", row) >= 0:
            return None
        return tuple(self.get("crates.cell", row).tolist())

    @property
    def paid(self) -> Array:
        """The rewards of the last step, by agent."""
        rewards: Array = self.last.reward[0]
        return rewards

    @property
    def is_over(self) -> bool:
        return bool(self.last.terminated.any())
