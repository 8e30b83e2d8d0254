"""The games of a mixed batch: what is given for them, and which part of the batch each is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium

from gpu_envs import errors
from gpu_envs.core import options
from gpu_envs.core.layout import Output
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import registration

# What each game has in a form of its own, even where two are equally long.
OWN = ("state", "final_state", "reward_parts", "parameters", "measures")

Games = Mapping[str, Mapping[str, Any]] | Sequence[str]


@dataclass(frozen=True)
class Part:
    """One game, and which part of the batch it is."""

    game: str
    simulator: Simulator
    worlds: slice
    rows: slice

    def of(self, array: Any, all_worlds: int) -> Any:
        """Return this game's part of an array by world or by row."""
        return array[self.worlds if len(array) == all_worlds else self.rows]


@contextlib.contextmanager
def named(part: Part) -> Iterator[None]:
    """Say of which game an error is, whose worlds it counts from 0."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as problem:
        line = str(problem)
        if part.game in line:
            raise
        raise type(problem)(f"{part.game}, among its worlds: {line}") from problem


def cut(value: Any, worlds: int, part: slice) -> Any:
    """Return a game's part of an array with a value per world; all else as it is."""
    return value[part] if tuple(getattr(value, "shape", ())) == (worlds,) else value


def bounds(space: Any) -> tuple[Any, Any]:
    """Return the least and the greatest numbers of an action."""
    if isinstance(space, gymnasium.spaces.Box):
        return space.low.reshape(-1), space.high.reshape(-1)
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return 0, space.nvec - 1
    return 0, getattr(space, "n", 2) - 1


def form(output: Output) -> tuple[Any, ...]:
    """Return what has to be alike in all games."""
    return output.type, output.shape[1:], output.per_agent, output.by_a_step, output.where_ended


def shown(value: Any) -> str:
    """Return a value in a few words; of a space of numbers not all of their bounds."""
    if isinstance(value, gymnasium.spaces.Box):
        return f"Box of shape {value.shape}, {value.dtype}"
    return str(value)


def checked_games(games: Games) -> dict[str, Mapping[str, Any]]:
    """Return the keywords of each game, by its whole id."""
    if isinstance(games, str) or not isinstance(games, Mapping | Sequence):
        raise TypeError(f"games must be ids, or a dict of them, got {errors.shown(games)}")
    pairs = games.items() if isinstance(games, Mapping) else [(game, {}) for game in games]
    given = {}
    for game, own in pairs:
        if not isinstance(own, Mapping):
            raise TypeError(f"keywords of {game} must be a dict, got {errors.shown(own)}")
        given[registration.find(game)["id"]] = own
    if len(given) < len(games) or not given:
        raise ValueError(f"games must be one id or more, each once, got {errors.shown(games)}")
    return given


def checked_shares(
    shares: Sequence[int] | None, num_worlds: object, games: Sequence[str]
) -> list[int]:
    """Return how many worlds each game has."""
    count = errors.whole(num_worlds, "num_worlds", len(games), options.WORLD_LIMIT)
    if shares is None:
        each, more = divmod(count, len(games))
        return [each + (number < more) for number in range(len(games))]
    if not isinstance(shares, list | tuple):
        raise TypeError(f"shares must be a list of numbers of worlds, got {errors.shown(shares)}")
    counts = [errors.whole(share, "shares", 1, options.WORLD_LIMIT) for share in shares]
    if len(counts) != len(games) or sum(counts) != count:
        raise ValueError(
            f"shares must have a number of worlds for each of {len(games)} games, {count} in all, "
            f"got {counts}"
        )
    return counts
