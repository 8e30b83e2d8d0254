"""Suites: games that belong together, to be played and learned in one batch.

suite = gpu_envs.suites.megaverse8()
env = suite.make_vec(512, agent_count=2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_envs import errors
from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.faces.mixed import MixedVectorEnv


@dataclass(frozen=True)
class Suite:
    """Games with keywords of their own.

    Attributes:
        name: What messages call it.
        games: Keywords of each game, by its id.
        common: Keywords of all games.
    """

    name: str
    games: Mapping[str, Mapping[str, Any]]
    common: Mapping[str, Any] = field(default_factory=dict)

    def make_vec(self, num_envs: int, **keywords: Any) -> MixedVectorEnv:
        """Make a batch of worlds of all games; keywords as `MixedVectorEnv` has them."""
        given = {**self.common, **keywords}
        return MixedVectorEnv(self.games, num_envs, name=self.name, **given)

    def simulator(self, num_worlds: int, **keywords: Any) -> MixedSimulator:
        """Make the same as a simulator; keywords as `MixedSimulator` has them."""
        given = {**self.common, **keywords}
        return MixedSimulator(self.games, num_worlds, name=self.name, **given)


def megaverse8(**keywords: Any) -> Suite:
    """Return the eight games of Megaverse (Petrenko and others, ICML 2021).

    Args:
        **keywords: Options and parameters of all of them, such as `agent_count` and `resolution`.
    """
    games = (
        *("ObstaclesEasy-v0", "ObstaclesHard-v0", "Collect-v0", "Sokoban-v0"),
        *("HexExplore-v0", "HexMemory-v0", "Rearrange-v0", "TowerBuilding-v0"),
    )
    return Suite("megaverse8", {game: {} for game in games}, keywords)


SUITES: Mapping[str, Callable[..., Suite]] = {"megaverse8": megaverse8}


def find(name: object) -> Callable[..., Suite]:
    """Return the function that makes a suite, by its name."""
    if not isinstance(name, str) or name not in SUITES:
        raise ValueError(errors.unknown("suite", name, list(SUITES)))
    return SUITES[name]
