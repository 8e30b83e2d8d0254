"""Hanabi under the names of PettingZoo's `classic/hanabi-v5`, to be used in its place.

    from gpu_envs import hanabi_v0
    env = hanabi_v0.env(players=3)

Agents, keywords and their defaults, action numbers, observations ({"observation": float64,
"action_mask": int8}), rewards and the end of the game by an illegal move are the same. Different
are: the decks for a seed; observations after the last move, which are those of the finished game
(there they stay as they were before it); render modes ("ansi", "human" in the terminal); and games
with more players than colours, which are allowed.

Keywords of all three functions: colors=5 and ranks=5 (1 to 5), players=2 (2 to 5), hand_size=5
(also for 4 and 5 players, who hold 4 cards by the rules), max_information_tokens=8,
max_life_tokens=3, observation_type="card_knowledge" ("minimal", "seer"), random_start_player=False,
render_mode=None; and those of `TurnEnv` or `ParallelEnv` and the others of Hanabi-v0, such as
keep_score=True.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import wrappers

from gpu_envs import errors
from gpu_envs.faces.parallel import ParallelEnv
from gpu_envs.faces.turns import TurnEnv

__all__ = ["env", "parallel_env", "raw_env"]

# Their numbers: our name, default, least and most; ours take "as the preset says" besides.
_MOST = 2**31 - 1
_NUMBERS = {
    "colors": ("color_count", 5, 1, 5),
    "ranks": ("rank_count", 5, 1, 5),
    "players": ("player_count", 2, 2, 5),
    "hand_size": ("hand_size", 5, 1, _MOST),
    "max_information_tokens": ("max_information_tokens", 8, 0, _MOST),
    "max_life_tokens": ("max_life_tokens", 3, 1, _MOST),
}


class HanabiEnv(TurnEnv):
    """A `TurnEnv` whose observations are float64, as those of PettingZoo's game."""

    # lint: allow environment-id: this module is an interface to that environment alone
    def __init__(self, name: str = "Hanabi-v0", **keywords: Any) -> None:
        super().__init__(name, **keywords)
        own: dict[str, Any] = self.observation_spaces
        for agent, space in own.items():
            row, kind = space["observation"], np.float64
            wide: Any = spaces.Box(row.low.astype(kind), row.high.astype(kind), dtype=kind)
            own[agent] = spaces.Dict({"observation": wide, "action_mask": space["action_mask"]})

    def observe(self, agent: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return what an agent sees."""
        seen: dict[str, Any] = super().observe(agent)
        return {**seen, "observation": seen["observation"].astype(np.float64)}


def env(**keywords: Any) -> Any:
    """Make a game in PettingZoo's usual wrappers; an illegal move ends it with reward -1.

    Args:
        **keywords: See the module.
    """
    game = wrappers.TerminateIllegalWrapper(raw_env(**keywords), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(game))


def raw_env(**keywords: Any) -> HanabiEnv:
    """Make a game without wrappers; an illegal move raises ValueError.

    Args:
        **keywords: See the module.
    """
    return HanabiEnv(**{"illegal": "raise", "noop": False, **_translated(keywords)})


def parallel_env(**keywords: Any) -> ParallelEnv:
    """Make a game in which all players act in every step; an illegal move ends it with reward -1.

    A player who waits has one legal action, the last, which does nothing. Observations are uint8.

    Args:
        **keywords: See the module.
    """
    # lint: allow environment-id: as above
    return ParallelEnv("Hanabi-v0", **{"illegal": "terminate", **_translated(keywords)})


def _translated(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return keywords by our names, with PettingZoo's defaults."""
    for theirs, (own, *_) in _NUMBERS.items():
        if own != theirs and own in keywords:
            raise TypeError(f"{own} of Hanabi-v0 has PettingZoo's name here: use {theirs}=")
    if "preset" in keywords:
        raise TypeError(
            "preset of Hanabi-v0 is not for this game, whose defaults are PettingZoo's: use "
            f"{', '.join(f'{theirs}=' for theirs in _NUMBERS)} and observation_type="
        )
    options = {"observation_type": "card_knowledge", **keywords}
    for theirs, (own, default, low, high) in _NUMBERS.items():
        options[own] = errors.whole(options.pop(theirs, default), theirs, low, high)
    return options
