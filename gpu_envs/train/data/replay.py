"""Plays a data set again from its seeds and actions, and compares every bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import torch

from gpu_envs.core.roles import Role
from gpu_envs.train.data.games import Game, Played, worlds_of
from gpu_envs.train.data.minari_files import DataSet

WORLDS = 64  # of a batch


def again(data: DataSet, worlds: int = WORLDS) -> Iterator[tuple[Game, Game]]:
    """Yield each game as it was recorded, and as its seed and actions play it here.

    Args:
        data: The data set, with the tracks of all agents.
        worlds: How many games are played at once.
    """
    if data.facts["role"]:
        raise ValueError(
            f"{data.name!r} has the actions of one role, {data.facts['role']}: a game needs those "
            "of all agents to be played again"
        )
    with closing(worlds_of(data.facts, worlds)) as env:
        waiting: list[Game] = []
        played = Played(
            env,
            lambda _: _Actions(env, waiting),
            roles=env.simulator.roles,
            is_whole=data.is_together,
        )
        games = data.games()
        while batch := list(itertools.islice(games, worlds)):
            waiting[:] = batch
            yield from zip(batch, played.games([game.seed for game in batch]), strict=True)


class _Actions:
    """Chooses what was chosen in a batch of games."""

    def __init__(self, env: Any, games: Sequence[Game]) -> None:
        self.roles: dict[str, Role] = {role.name: role for role in env.simulator.roles}
        self.is_one, self.agents = env.simulator.kinds.is_one, env.agents_per_world
        self.step, steps = 0, max(len(t.rewards) for game in games for t in game.tracks.values())
        self.taken: dict[str, Any] = {}
        for role in self.roles.values():
            space = role.action_space
            shape = (steps, env.num_worlds, role.count, *(space.shape or ()))
            taken = np.zeros(shape, space.dtype)
            for world, game in enumerate(games):
                for k in range(role.count):
                    track = game.tracks.get(role.agents[k] if role.agents else f"{role.name}_{k}")
                    if track is not None:
                        taken[: len(track.actions), world, k] = track.actions
            self.taken[role.name] = torch.from_numpy(taken)

    def __call__(self, obs: Any, mask: Any) -> Any:
        """Return the actions of the next step; zeros where a game is over."""
        step, self.step = self.step, self.step + 1
        now = {name: taken[min(step, len(taken) - 1)] for name, taken in self.taken.items()}
        if not self.is_one:
            return now
        first = next(iter(now.values()))
        joined = first.new_zeros((len(first), self.agents, *first.shape[2:]))
        for name, part in now.items():
            joined[:, self.roles[name].at] = part
        return joined.flatten(0, 1)


def differences(one: Game, other: Game) -> list[str]:
    """Return the names of what differs between two games, in any bit."""
    found = []
    if list(one.tracks) != list(other.tracks):
        return [f"agents {list(one.tracks)} and {list(other.tracks)}"]
    for agent, track in one.tracks.items():
        mine, theirs = dict(_leaves(vars(track))), dict(_leaves(vars(other.tracks[agent])))
        found += [f"{agent}: {name}" for name in mine.keys() ^ theirs.keys()]
        found += [
            f"{agent}: {name}"
            for name in mine.keys() & theirs.keys()
            if not _same(mine[name], theirs[name])
        ]
    return found


def _leaves(node: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in node.items():
        place = f"{where}/{name}" if where else name
        if isinstance(part, Mapping):
            yield from _leaves(part, place)
        else:
            yield place, part


def _same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    alike = one.dtype == other.dtype and one.shape == other.shape
    return bool(alike and one.tobytes() == other.tobytes())
