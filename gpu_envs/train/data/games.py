"""Whole games, played by policies from a seed of each game's own.

A batch of worlds plays a game each; worlds whose game is over wait for the others. A game depends
on its seed, on the policies and on its number, by which sampled actions are drawn, and not on the
games beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from gpu_envs.core import ranges
from gpu_envs.core.roles import Parts, Role
from gpu_envs.faces.infos import parts_by_name
from gpu_envs.known import registration
from gpu_envs.known.fields import read as read_fields
from gpu_envs.known.outputs import Outputs
from gpu_envs.policies.teams import Ruled, Team
from gpu_envs.train import evaluate, varying
from gpu_envs.train.worlds import Worlds

MOST_STEPS = 100_000  # of a game whose environment has no limit: more than one has that ends
MOST_BYTES = 1 << 32  # of the games of a batch
_TOO_LONG = "a game has not ended after {:,} steps: choose a limit with --max-episode-steps"
_TOO_LARGE = (
    "{} games at once take more than {:,} MB after {:,} steps: lower --num-envs, or choose a limit "
    "with --max-episode-steps"
)
Array = np.ndarray[Any, Any]


@dataclass
class Track:
    """What one agent saw and did: observations and masks have a row more than actions."""

    observations: Any  # an array, or arrays by name
    actions: Any  # an array; of all agents together, arrays by agent
    rewards: Array
    terminations: Array
    truncations: Array
    infos: dict[str, Any] = field(default_factory=dict)


@dataclass
class Game:
    """One game: the tracks of agents, each until the agent's own end, or all until the last."""

    number: int
    seed: int
    tracks: dict[str, Track]


def worlds_of(facts: Mapping[str, Any], count: int, device: str = "cpu") -> Worlds:
    """Return the worlds of a data set, without autoreset.

    Args:
        facts: The data set's: environment, parameters, ranges as they are typed, and step limit.
        count: How many worlds.
        device: Where they live.
    """
    described = read_fields(registration.find(facts["environment"])["parameters"])
    varying.check(facts["varying"], described)
    keywords: dict[str, Any] = dict(facts["parameters"])
    if facts["varying"]:
        keywords |= varying.keywords(facts["varying"], described)
    keywords |= {"device": device, "arrays": "torch", "autoreset_mode": "Disabled"}
    keywords["max_episode_steps"] = facts["max_episode_steps"]
    env = Worlds(facts["environment"], count, **keywords)
    if not facts["varying"]:
        return env
    names = [output.name for output in env.simulator.layout.outputs if output is not None]
    env.close()
    return Worlds(facts["environment"], count, outputs=(*names, "parameters"), **keywords)


# Observations and masks -> actions of all rows, or by role.
Choose = Callable[[Any, Any], Any]


def by_policies(env: Worlds, team: Team, seed: int, *, is_sampled: bool) -> Callable[[int], Choose]:
    """Return what begins a batch of games of policies, given the number of the first game.

    Args:
        env: The worlds.
        team: Who plays.
        seed: Of sampled actions.
        is_sampled: Draw actions, instead of taking the likeliest.
    """
    rows = evaluate.rows_of(team.of_agent, env.num_worlds, env.device)
    ruled = [player for player in team.policies if isinstance(player, Ruled)]

    def begin(first: int) -> Choose:
        crowd = evaluate.crowd(env, team.policies, rows, seed, first, is_sampled=is_sampled)

        def choose(obs: Any, mask: Any) -> Any:
            for player in ruled:
                player.look(env.outputs)
            return _copied(crowd(obs, mask))

        return choose

    return begin


class Played:
    """Plays games.

    Args:
        env: The worlds, without autoreset.
        begin: Returns who chooses actions in a batch, given the number of its first game.
        roles: Whose tracks are kept.
        is_whole: Whether all tracks last as long as the game.
    """

    def __init__(
        self,
        env: Worlds,
        begin: Callable[[int], Choose],
        *,
        roles: Sequence[Role],
        is_whole: bool,
    ) -> None:
        self.env, self.begin = env, begin
        self.roles, self.is_whole = roles, is_whole
        self._parts = Parts(env.simulator, "role", roles)
        described = read_fields(env.simulator.instance["parameters"])
        self._names = list(ranges.may_vary(described))

    def games(self, seeds: Sequence[int]) -> Iterator[Game]:
        """Play a game for each seed, in their order."""
        worlds = self.env.num_worlds
        for first in range(0, len(seeds), worlds):
            yield from self._batch(first, list(seeds[first : first + worlds]))

    def _batch(self, first: int, seeds: list[int]) -> Iterator[Game]:
        env, worlds = self.env, self.env.num_worlds
        count = len(seeds)
        choose = self.begin(first)
        obs, infos = env.reset(seed=seeds + [0] * (worlds - count))
        shape = (worlds, env.agents_per_world)
        gone: Array = np.zeros(shape, np.bool_)
        active = infos.get("agent_active")
        if active is not None and not env.simulator.instance["turns"]:
            gone = ~_array(active).reshape(shape)  # an absent agent has no episode
        gone[count:] = True
        lengths = np.zeros(shape, np.int64)
        kept = {role.name: _Kept(role, self._names) for role in self.roles}
        self._look(kept)
        steps = 0
        while not gone.all():
            if steps == MOST_STEPS:
                raise ValueError(_TOO_LONG.format(MOST_STEPS))
            if sum(one.size for one in kept.values()) > MOST_BYTES:
                raise ValueError(_TOO_LARGE.format(worlds, MOST_BYTES >> 20, steps))
            actions = choose(obs, infos.get("action_mask"))
            over = gone.all(1)
            obs, _, _, _, infos = env.step(actions, worlds=~over if over.any() else None)
            steps += 1
            ends = _array(env.outputs.terminated | env.outputs.truncated).reshape(shape) & ~gone
            lengths[ends] = steps
            gone |= ends
            self._look(kept, actions)
        if self.is_whole:
            lengths[:] = lengths.max(1, keepdims=True)
        stacked = {name: one.stacked() for name, one in kept.items()}
        for world, seed in enumerate(seeds):
            tracks = {}
            for role in self.roles:
                for k, number in enumerate(role.numbers):
                    length = int(lengths[world, number])
                    if length:
                        name = role.agents[k] if role.agents else f"{role.name}_{k}"
                        tracks[name] = _track(stacked[role.name], world, k, length)
            yield Game(first + world, seed, tracks)

    def _look(self, kept: Mapping[str, _Kept], actions: Any = None) -> None:
        """Keep what was seen, and after a step what was done for it."""
        env, simulator = self.env, self.env.simulator
        outputs = _by_world(env)
        for role in self.roles:
            part = self._parts.part(role.name, outputs)
            views = role.views if simulator.views is None else simulator.views
            seen = part.obs if views is None else views.observed(part)
            if isinstance(actions, Mapping):
                done = actions[role.name][:, role.within]
            elif actions is not None:
                done = actions.view(env.num_worlds, -1, *actions.shape[1:])[:, role.at]
            else:
                done = None
            kept[role.name].add(seen, part, done, simulator.varies)


class _Kept:
    """The steps of one role's agents in a batch of games."""

    def __init__(self, role: Role, names: Sequence[str]) -> None:
        self.role, self.names = role, names  # of parameters that may vary
        self.size = 0  # bytes
        self.seen: dict[str, list[Array]] = {}  # from the reset on
        self.done: dict[str, list[Array]] = {}  # from the first step on

    def add(self, seen: Any, part: Outputs, done: Any, varies: Sequence[str]) -> None:
        """Keep a reset, or where something was done a step."""
        rows = (
            {f"seen/{name}": array for name, array in seen.items()}
            if isinstance(seen, Mapping)
            else {"seen": seen}
        )
        if self.role.has_mask and part.action_mask is not None:
            rows["action_mask"] = part.action_mask
        if part.agent_active is not None:
            rows["agent_active"] = part.agent_active
        if part.parameters is not None:
            for k, name in enumerate(self.names):
                if name in varies:
                    values = part.parameters[:, k, None]
                    rows[f"parameters/{name}"] = values.expand(-1, self.role.count)
        self._append(self.seen, rows)
        if done is None:
            return
        rows = {"actions": done, "rewards": part.reward}
        rows |= {"terminations": part.terminated, "truncations": part.truncated}
        if part.reward_parts is not None and self.role.reward_fields:
            parts = parts_by_name(part.reward_parts, self.role.reward_fields)
            rows |= {f"reward_parts/{name}": array for name, array in parts.items()}
        self._append(self.done, rows)

    def _append(self, kept: dict[str, list[Array]], rows: Mapping[str, Any]) -> None:
        for name, tensor in rows.items():
            array = _array(tensor)
            kept.setdefault(name, []).append(array)
            self.size += array.nbytes

    def stacked(self) -> dict[str, Array]:
        """Return all, shaped (worlds, agents, steps, ...); the steps are forgotten."""
        found = {}
        for kept in (self.seen, self.done):
            while kept:
                name, arrays = kept.popitem()
                found[name] = np.stack(arrays, 2)
        kind = self.role.action_space.dtype
        found["actions"] = found["actions"].astype(kind, copy=False)
        return found


def _track(stacked: Mapping[str, Array], world: int, agent: int, length: int) -> Track:
    """Return the first steps of one agent."""
    ones = {
        name: array[world, agent, : length + (name in _WITH_RESET or _is_seen(name))]
        for name, array in stacked.items()
    }
    own = {name: ones.pop(name) for name in ("actions", "rewards", "terminations", "truncations")}
    whole = ones.pop("seen", None)
    parts = {name: ones.pop(name) for name in list(ones) if name.startswith("seen/")}
    observations = whole if whole is not None else _nested(parts, "seen")
    infos: dict[str, Any] = {name: array for name, array in ones.items() if "/" not in name}
    for group in ("reward_parts", "parameters"):
        if found := _nested(ones, group):
            infos[group] = found
    return Track(observations, **own, infos=infos)


_WITH_RESET = ("seen", "action_mask", "agent_active")


def _is_seen(name: str) -> bool:
    return name.startswith(("seen/", "parameters/"))


def _nested(arrays: Mapping[str, Array], group: str) -> dict[str, Array]:
    prefix = f"{group}/"
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def _by_world(env: Worlds) -> Outputs:
    """Return the outputs of the last call, those of agents as (worlds, agents, ...)."""
    layout, kinds = env.simulator.layout, env.simulator.kinds
    shape = (env.num_worlds, env.agents_per_world)
    found = {}
    for output in layout.outputs:
        if output is None:
            continue
        array = getattr(env.outputs, output.name)
        is_apart = kinds.is_split and output.name in kinds.arrays
        if array is not None and output.per_agent and not is_apart:
            array = array.view(*shape, *array.shape[1:])
        found[output.name] = array
    return Outputs(**found)


def _array(tensor: Any) -> Array:
    """Return an array in host memory."""
    found: Array = tensor.numpy(force=True) if isinstance(tensor, torch.Tensor) else tensor
    return found


def _copied(actions: Any) -> Any:
    """Return actions that stay when others are chosen."""
    if isinstance(actions, Mapping):
        return {name: part.clone() for name, part in actions.items()}
    return actions.clone()
