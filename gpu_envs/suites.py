"""Suites: games that belong together, to be played and learned in one batch.

    suite = gpu_envs.suites.megaverse8()
    env = suite.make_vec(512, agent_count=2)

Which games a suite has is said in their data: `"suites"` in the measures beside each header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.faces.mixed import MixedVectorEnv
from gpu_envs.known import suites


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


def find(name: object, **keywords: Any) -> Suite:
    """Return a suite by its name.

    Args:
        name: Such as "megaverse8".
        **keywords: Options and parameters of all of its games.
    """
    return Suite(str(name), {game: {} for game in suites.games_of(name)}, keywords)


def megaverse8(**keywords: Any) -> Suite:
    """Return the eight games of Megaverse (Petrenko and others, ICML 2021).

    Args:
        **keywords: Options and parameters of all of them, such as `agent_count` and `resolution`.
    """
    return find("megaverse8", **keywords)
