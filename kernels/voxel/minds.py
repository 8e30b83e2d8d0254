"""What scripted players of voxel games share: a world per level, and a mind per agent.

A game derives its level from `Level`, which reads the state row before each step, and what its
agents want from `Mind`, which thinks whenever the legs that it chose are over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from gpu_envs.kernels.voxel.ground import NOWHERE, Ground
from gpu_envs.kernels.voxel.motion import Body, heading_to
from gpu_envs.kernels.voxel.walker import STAND, Action, Leg

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]
Rows = dict[str, Array]  # tables of the state of one world, by name


class Level:
    """One world: what all its agents know.

    Args:
        rows: Its state when the episode begins.
        agents: How many there are.
    """

    ground: Ground
    minds: list[Mind]

    def __init__(self, rows: Rows, agents: int) -> None:
        raise NotImplementedError

    def see(self, rows: Rows) -> None:
        """Note what has changed since the last step."""
        raise NotImplementedError

    def act(self, rows: Rows) -> list[Action]:
        """Return the action of each agent."""
        bodies = [Body.of(row) for row in rows["agents"].tolist()]
        for mind, body in zip(self.minds, bodies, strict=True):
            mind.place = self.ground.place_of(body.x, body.y, body.feet)
        self.see(rows)
        return [mind.act(body) for mind, body in zip(self.minds, bodies, strict=True)]


class LevelPlayer:
    """Plays all agents of all worlds; each world by itself."""

    level: ClassVar[type[Level]]

    def __init__(self, game: Game) -> None:
        self._agents = len(game.agents)
        self._levels: dict[int, Level] = {}

    def begin(self, worlds: list[int]) -> None:
        """Forget the levels of these worlds."""
        for world in worlds:
            self._levels.pop(world, None)

    def __call__(self, seen: Seen) -> Array:
        """Return the actions of all agents."""
        worlds = len(seen.state["agents"])
        actions = np.zeros((worlds, self._agents, 6), np.int64)
        for world in range(worlds):
            rows = {name: table[world] for name, table in seen.state.items()}
            level = self._levels.get(world)
            if level is None:
                level = self._levels[world] = self.level(rows, self._agents)
            actions[world] = level.act(rows)
        return actions


class Mind:
    """What one agent is about to do."""

    patience = 15  # steps until one who knows nothing to do looks again

    def __init__(self) -> None:
        self.place = NOWHERE  # where it stands
        self.legs: list[Leg] = []
        self._waits = 0

    def act(self, body: Body) -> Action:
        """Return the action of a step."""
        for _ in range(4):
            if not self.legs:
                if self._waits > 0 or not body.is_standing:
                    self._waits -= 1
                    return STAND
                if self.place != NOWHERE:
                    self.think(body)
                if not self.legs:
                    self._waits = self.patience
                    return STAND
            action = self.legs[0].act(body)
            if action is not None:
                return action
            over = self.legs.pop(0)
            if over.has_failed:
                self.legs.clear()
                self.fail()
        return STAND

    def think(self, body: Body) -> None:
        """Choose the next legs."""
        raise NotImplementedError

    def fail(self) -> None:
        """Note that a leg could not be done."""


def cells_of(boxes: Array) -> list[tuple[int, int, int]]:
    """Return the cells of standing boxes, of the state's table."""
    standing = boxes[(boxes[:, 0] > 0) & (boxes[:, 4] < 0)]
    return [(int(x), int(y), int(z)) for x, y, z in np.floor(standing[:, 1:4])]


def heading(ground: Ground, place: int, target: int) -> float:
    """Return the heading of one cell from another."""
    at, to = ground.middle(place), ground.middle(target)
    return heading_to(Body(*at, *[0.0] * 7, True, False, 0), to)


def others(minds: Iterable[Mind], but: Mind) -> set[int]:
    """Return the places where other agents stand."""
    return {mind.place for mind in minds if mind is not but} - {NOWHERE}
