"""`others=`: players of the roles that the learner does not play.

A player is called with the observations of one role's agents, (worlds, n, ...), and returns their
actions, (worlds, n[, k]). Players that draw depend only on the seed of the last seeded reset, on
the world's number and on the steps since: a world plays by itself as in a batch.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core import saves
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.libraries import require
from gpu_envs.core.role_actions import RoleReader, to_library
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs
from gpu_envs.players import hub, policy_files
from gpu_envs.players.lots import Pool
from gpu_envs.players.player import (
    AGENT,
    BITS,
    COLUMN,
    GOLDEN,
    SECOND,
    STEP,
    Keeper,
    Player,
    Seen,
    even,
    mixed,
    signed,
)
from gpu_envs.players.scripted import SCRIPTED, Scripted, host

RANDOM, NOOP = "random", "noop"
_WORDS = (RANDOM, NOOP, policy_files.TRAINED, SCRIPTED)
FORMS = f"{', '.join(map(repr, _WORDS))}, a file of policies or a callable"
_NEEDED = ("action_mask", "agent_active")  # outputs that players look at
_WERE_OVER = "were_over"  # with NextStep: whose episode the step before has ended


class Others:
    """The players of those that the learner does not play, and what else is kept of each world.

    Args:
        players: By the names of the agents' roles, or of parts of them.
        more: What is saved, loaded and copied with them, but is not asked for actions.
    """

    def __init__(
        self, players: dict[str, Player], more: Mapping[str, Keeper] | None = None
    ) -> None:
        self.players = players
        self._all: dict[str, Keeper] = {**players, **(more or {})}

    def begin(
        self, seed: int | Sequence[int] | None, worlds: Any, but: Collection[str] = ()
    ) -> None:
        """Pass a reset on to all, but some."""
        for name, keeper in self._all.items():
            if name not in but:
                keeper.begin(seed, worlds)

    def kept(self, worlds: list[int]) -> dict[str, saves.Kept]:
        """Return what players keep of some worlds, in host memory, by role."""
        return {
            role: saves.Kept(player.who, {n: host(a) for n, a in player.rows(worlds).items()})
            for role, player in self._keepers()
        }

    def check(self, kept: Mapping[str, saves.Kept]) -> None:
        """Refuse what other players than these have kept."""
        theirs = {role: one.who for role, one in kept.items()}
        mine = {role: player.who for role, player in self._keepers()}
        if theirs != mine:
            raise ValueError(
                f"load: the save differs in other players: it has {_named(theirs)}, "
                f"this environment {_named(mine)}"
            )

    def rows(self, worlds: list[int]) -> dict[str, Any]:
        """Return a copy of what players keep of some worlds, by role."""
        return {role: player.rows(worlds) for role, player in self._keepers()}

    def put(self, worlds: list[int], rows: Mapping[str, Any]) -> None:
        """Write what `rows` returned."""
        for role, player in self._keepers():
            player.put(worlds, rows[role])

    def copy(self, sources: list[int], destinations: list[int], reseed: bool) -> None:
        """Let worlds that became copies have the players of what they are copies of."""
        for keeper in self._all.values():
            keeper.copy(sources, destinations)
            if reseed:
                keeper.reseed(destinations)

    def _keepers(self) -> list[tuple[str, Keeper]]:
        return [(name, keeper) for name, keeper in self._all.items() if keeper.who]


def others_of_roles(
    simulator: Simulator, mine: Role, chosen: object, first_world: int = 0
) -> Others:
    """Make the players of all roles but one.

    Args:
        simulator: What they play in.
        mine: The role that is not theirs.
        chosen: What `others=` was.
        first_world: Number of the first world.
    """
    theirs = [role for role in simulator.roles if role is not mine and role.count]
    if not theirs and chosen is not None:
        raise ValueError(f"others= is for other roles: {simulator.name} has only {mine.name}")
    named = _by_role(chosen, mine, theirs, simulator.name)
    lots = lots_of(chosen)
    return Others(
        {
            role.name: player_of(
                simulator, role, named.get(role.name, RANDOM), first_world, lots(role.first)
            )
            for role in theirs
        }
    )


def lots_of(chosen: object) -> Callable[[int], int]:
    """Return a function from an agent's number to that of the draws from its pool.

    A pool for all others is drawn from once; pools of a dict are drawn from one by one.
    """
    is_dict = isinstance(chosen, Mapping)
    return lambda first: first + 1 if is_dict else 0


def _named(players: Mapping[str, str]) -> str:
    return ", ".join(f"{role}: {who}" for role, who in players.items()) or "none that keep anything"


def needed(chosen: object) -> tuple[str, ...]:
    """Return the outputs that players look at besides observations; `chosen` is others=."""
    return (*_NEEDED, "state") if _is_scripted(chosen) else _NEEDED


def _is_scripted(chosen: object) -> bool:
    """Whether a scripted player is among those chosen."""
    if isinstance(chosen, Mapping):
        chosen = list(chosen.values())
    if isinstance(chosen, list | tuple):
        return any(map(_is_scripted, chosen))
    return isinstance(chosen, str) and chosen == SCRIPTED


def _by_role(chosen: object, mine: Role, theirs: Sequence[Role], who: str) -> dict[str, object]:
    """Return the choice for each role; roles that are left out play at random."""
    if not isinstance(chosen, Mapping):
        return {role.name: told_role(chosen, role.name) for role in theirs}
    known = [role.name for role in theirs]
    for name in chosen:
        if name == mine.name:
            raise ValueError(f"others= names {name!r}, which is the role= of this environment")
        if name not in known:
            raise ValueError(errors.unknown(f"role in others= of {who}", name, known))
        check_callables(chosen[name], f"others= of role {name!r}")
    return dict(chosen)


def told_role(chosen: object, role: str) -> object:
    """Return a choice for all roles as that for one: a callable is told which."""
    if isinstance(chosen, list | tuple):
        return [told_role(one, role) for one in chosen]
    if callable(chosen):
        _check_arguments(chosen, ("role", "obs", "mask"), "others=")
        return partial(chosen, role)
    return RANDOM if chosen is None else chosen


def check_callables(chosen: object, label: str) -> None:
    """Refuse callables that cannot be called with observations and a mask."""
    for one in chosen if isinstance(chosen, list | tuple) else (chosen,):
        if callable(one):
            _check_arguments(one, ("obs", "mask"), label)


def _check_arguments(function: Callable[..., Any], wanted: Sequence[str], label: str) -> None:
    """Refuse a callable that cannot be called with the arguments that a player gets."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a built-in function
        return
    try:
        signature.bind(*wanted)
    except TypeError as problem:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            f"{label}: the callable is called with ({', '.join(wanted)}), got {name}{signature}"
        ) from problem


def player_of(
    simulator: Simulator, role: Role, chosen: object, first_world: int, lots: int
) -> Player:
    """Return a player of a role.

    Args:
        simulator: What it plays in.
        role: Its agents.
        chosen: Who it is, or a pool of such.
        first_world: Number of the first world.
        lots: Number of the draws from its pool.
    """
    if not isinstance(chosen, list | tuple):
        return _player(simulator, role, chosen, first_world)
    if not chosen:
        raise ValueError("others=: a pool needs at least one player, got an empty one")
    members = [_player(simulator, role, one, first_world) for one in chosen]
    return Pool(simulator, role, members, lots)


def _player(simulator: Simulator, role: Role, chosen: object, first_world: int) -> Player:
    if callable(chosen):
        return Called(simulator, role, chosen)
    if not isinstance(chosen, str | Path):
        raise TypeError(
            f"others= must be {FORMS}, a pool (a list) or a dict by role, got {chosen!r}"
        )
    if chosen == RANDOM:
        return Chance(simulator, role, first_world)
    if chosen == NOOP:
        return Idle(simulator, role)
    if chosen == SCRIPTED:
        return Ruled(simulator, role)
    is_fetched = hub.is_one(str(chosen))
    if chosen != policy_files.TRAINED and not is_fetched and not Path(chosen).is_file():
        if missing := policy_files.missing_file(Path(chosen)):
            raise ValueError(f"others=: {missing}")
        meant = errors.suggestion(chosen, _WORDS)
        raise ValueError(f"others= must be {FORMS}, got {str(chosen)!r}{meant}")
    path = policy_files.file_of(simulator.name, str(chosen), "others=")
    assert path is not None  # chance was met above
    return Saved(simulator, role, path)


# ---- chance and idleness


def _host(array: Any, simulator: Simulator) -> Any:
    """Return an array in the library that players compute in: NumPy on the CPU, without a copy."""
    return np.asarray(array) if simulator.device == "cpu" else array


class Chance(Player):
    """Draws evenly among the actions that the mask allows, or that the space has."""

    who = RANDOM

    def __init__(self, simulator: Simulator, role: Role, first_world: int) -> None:
        super().__init__(simulator)
        self._first_world = first_world
        # A key per world, and a step's share for each step since the reset that was seeded.
        self.kept["draws"] = to_library(np.zeros(simulator.num_worlds, np.int64), simulator)
        space = role.action_space
        self._count = role.choices
        extent = (role.count, *(space.shape or ()))
        agents = np.array(role.numbers, np.int64) * np.int64(signed(AGENT))
        columns = np.arange(extent[1] if len(extent) > 1 else 1) * np.int64(signed(COLUMN))
        cells = agents[:, None] + columns if len(extent) > 1 else agents
        self._cells = to_library(cells, simulator)
        self._counts = self._low = self._span = None
        if isinstance(space, spaces.MultiDiscrete):
            self._counts = to_library(space.nvec.astype(np.int64), simulator)
        elif isinstance(space, spaces.Box):
            low, high = _range(space)
            self._low, self._span = to_library(low, simulator), to_library(high - low, simulator)

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Take new keys from a seed, and count steps from zero."""
        if seed is None:
            return
        draws = self.kept["draws"]
        numbers = np.zeros(1, np.int64)  # a list's seed is that of a world alone
        if isinstance(seed, int):
            numbers = np.arange(len(draws), dtype=np.int64) + self._first_world
            seed = [seed]
        keys = np.array([signed((s + 1) * GOLDEN) for s in seed], np.int64)
        keys = keys + (numbers + 1) * signed(SECOND)
        chosen = slice(None) if worlds is None else to_library(worlds, self._simulator)
        draws[chosen] = to_library(mixed(keys), self._simulator)[chosen]

    def reseed(self, worlds: list[int]) -> None:
        """Mix the number of each world into its key."""
        numbers = np.array(worlds, np.int64) + self._first_world
        own = to_library((numbers + 1) * signed(SECOND), self._simulator)
        self.kept["draws"][worlds] = mixed(self.kept["draws"][worlds] + own)

    def __call__(self, seen: Seen) -> Any:
        """Draw."""
        bits = self.kept["draws"]
        step = signed(STEP)
        self.kept["draws"] = bits + (step if seen.stepped is None else step * seen.stepped)
        bits = mixed(mixed(bits.reshape(-1, *[1] * self._cells.ndim) + self._cells))
        if seen.mask is not None:
            allowed = _host(seen.mask, self._simulator).cumsum(-1)
            total = allowed[..., -1]
            chosen = (allowed <= even(bits, total)[..., None]).sum(-1)
            return chosen * (total > 0)
        if self._low is not None:
            share = ((bits >> 40 & (2**BITS - 1)) + 0.5) * 2.0**-BITS
            return self._low + self._span * share
        return even(bits, self._count if self._counts is None else self._counts)


def _range(space: spaces.Box) -> tuple[Any, Any]:
    """Return the range of random actions: 1 wide at a single bound, -1 to 1 without bounds."""
    has_low, has_high = np.isfinite(space.low), np.isfinite(space.high)
    low = np.where(has_low, space.low, np.where(has_high, space.high - 1, -1))
    high = np.where(has_high, space.high, np.where(has_low, space.low + 1, 1))
    return low.astype(np.float32), high.astype(np.float32)


class Idle(Player):
    """Takes the idle action: 0, or the lowest that the mask allows; for floats, the middle."""

    def __init__(self, simulator: Simulator, role: Role) -> None:
        super().__init__(simulator)
        shape = (simulator.num_worlds, role.count, *(role.action_space.shape or ()))
        idle = np.zeros(shape, np.int64)
        if isinstance(role.action_space, spaces.Box):
            low, high = role.action_space.low, role.action_space.high
            is_bounded = np.isfinite(low) & np.isfinite(high)
            middle = np.where(is_bounded, low, 0) / 2 + np.where(is_bounded, high, 0) / 2
            idle = np.broadcast_to(np.clip(middle, low, high).astype(np.float32), shape)
        self._idle = to_library(np.ascontiguousarray(idle), simulator)

    def __call__(self, seen: Seen) -> Any:
        """Return the same at each step, unless the mask forbids it."""
        return self._idle if seen.mask is None else _host(seen.mask, self._simulator).argmax(-1)


# ---- functions


class Called(Player):
    """A function of the caller, whose actions are checked."""

    def __init__(self, simulator: Simulator, role: Role, function: Callable[..., Any]) -> None:
        super().__init__(simulator)
        self._role, self._function = role, function
        self._reader = RoleReader(simulator, role, simulator.num_worlds)

    def answer(self, seen: Seen) -> Any:
        """Return what the function returns."""
        return self._function(seen.shown, seen.mask)

    def __call__(self, seen: Seen) -> Any:
        """Call the function, and refuse values that are not actions of the role."""
        answer, name = self.answer(seen), self._role.name
        try:
            actions = self._reader.read(answer)
        except (TypeError, ValueError) as problem:
            raise ValueError(
                f"others= of role {name!r} returned a bad value: {problem}"
            ) from problem
        if self._simulator.device == "cpu":  # a GPU would have to wait; `check` reports there
            self._check(actions, seen)
        return actions

    def _check(self, actions: Any, seen: Seen) -> None:
        role, is_bad = self._role, self._reader.out_of_range(actions)
        why = f"the role has {role.action_space}"
        if is_bad.ndim > 2:
            is_bad = is_bad.any(axis=tuple(range(2, is_bad.ndim)))
        if seen.stepped is not None:
            is_bad = is_bad & seen.stepped[:, None]
        if seen.mask is not None and not is_bad.any():
            legal = np.asarray(seen.mask)
            chosen = np.take_along_axis(legal, actions[..., None], -1)[..., 0]
            is_bad, why = (chosen == 0) & (legal != 0).any(-1), ""
            if seen.stepped is not None:
                is_bad = is_bad & seen.stepped[:, None]
        if is_bad.any():
            world, number = map(int, np.argwhere(is_bad)[0])
            if not why:
                why = f"its action mask allows {np.flatnonzero(legal[world, number]).tolist()}"
            agent = role.agents[number] if role.agents else f"{role.name} {number}"
            raise ValueError(
                f"others= of role {role.name!r} returned {actions[world, number].tolist()} for "
                f"{agent} in world {world}: {why}"
            )


class Ruled(Called):
    """The environment's scripted player, which may read the state of the world."""

    def __init__(self, simulator: Simulator, role: Role) -> None:
        player = Scripted(simulator, role, "others=")
        super().__init__(simulator, role, player)
        self._player = player
        self.who = SCRIPTED if player.keeps else ""

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Let the player start over in worlds that were reset."""
        self._player.forget(slice(None) if worlds is None else worlds)

    def rows(self, worlds: list[int]) -> dict[str, Any]:
        """Return what the player says of itself."""
        return self._player.rows(worlds)

    def put(self, worlds: list[int], rows: Mapping[str, Any]) -> None:
        """Hand the player what it has said."""
        self._player.put(worlds, rows)

    def answer(self, seen: Seen) -> Any:
        """Return what the player returns; it keeps its memory of worlds that do not step."""
        rests = [] if seen.stepped is None else np.flatnonzero(~host(seen.stepped)).tolist()
        before = self._player.rows(rests) if rests else {}
        actions = self._player(seen.shown, seen.mask, seen.outputs.state)
        if before:
            self._player.put(rests, before)
        return actions


# ---- saved policies


class Saved(Player):
    """Policies of a file of the trainer; each world has memories of its own."""

    def __init__(self, simulator: Simulator, role: Role, path: Path) -> None:
        team = policy_files.team(path, simulator)
        super().__init__(simulator)
        self._torch = require("torch")
        numbers = [team.of_agent[agent] for agent in role.numbers]
        if min(numbers) < 0:
            raise ValueError(f"others=: {path} has no policy for role {role.name!r}")
        self._parts = [
            (team.policies[k], [i for i, number in enumerate(numbers) if number == k])
            for k in sorted(set(numbers))
        ]
        shape = (simulator.num_worlds, role.count, *(role.action_space.shape or ()))
        kind = self._torch.float32 if isinstance(role.action_space, spaces.Box) else None
        device = simulator.device
        self._action = self._torch.zeros(shape, dtype=kind or self._torch.int64, device=device)
        self._memories = {  # names of arrays that are kept, by policy
            k: f"memory.{k}" for k, (policy, _) in enumerate(self._parts) if policy.memory_size
        }
        for k, name in self._memories.items():
            policy, at = self._parts[k]
            extent = (shape[0], len(at), policy.memory_size)
            self.kept[name] = self._torch.zeros(extent, device=device)
        if self._memories:
            hashed = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
            self.who = f"policies {hashed}"
            if simulator.autoreset_mode is AutoresetMode.NEXT_STEP:
                over = self._torch.zeros(shape[:2], dtype=self._torch.bool, device=device)
                self.kept[_WERE_OVER] = over
        self._has_turns = bool(simulator.instance["turns"])  # agents that wait keep their memory

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Clear the memories of worlds that were reset."""
        chosen = slice(None)
        if worlds is not None:
            chosen = self._torch.as_tensor(worlds, device=self._simulator.device)
        for array in self.kept.values():
            array[chosen] = 0

    def note(self, outputs: Outputs) -> None:
        """Clear the memories of agents that ended."""
        if self._memories:
            with self._torch.no_grad():
                self._forget(outputs)

    def __call__(self, seen: Seen) -> Any:
        """Return the likeliest actions."""
        with self._torch.no_grad():
            self.note(seen.outputs)
            for k, (policy, at) in enumerate(self._parts):
                rows: Any = self._rows(seen.outputs.obs, at)
                if isinstance(seen.shown, Mapping):  # layers, and numbers beside them
                    rows = {name: self._rows(part, at) for name, part in seen.shown.items()}
                legal = None if seen.mask is None else self._rows(seen.mask, at)
                name = self._memories.get(k)
                memory = None if name is None else self.kept[name].flatten(0, 1)
                said, _, memory = policy(rows, legal, memory)
                chosen = policy.actions.for_env(policy.actions.likeliest(said))
                self._action[:, at] = chosen.view(len(self._action), len(at), *chosen.shape[1:])
                if name is not None:
                    self._remember(name, memory.view(self.kept[name].shape), seen.stepped)
        if self._simulator.arrays == "cupy":
            return require("cupy").from_dlpack(self._action)
        return self._action.numpy() if self._simulator.device == "cpu" else self._action

    def _remember(self, name: str, memory: Any, stepped: Any) -> None:
        """Keep new memories, of worlds that step."""
        if stepped is not None:
            steps = self._tensor(stepped).reshape(-1, *[1] * (memory.ndim - 1))
            memory = self._torch.where(steps, memory, self.kept[name])
        self.kept[name] = memory

    def _rows(self, array: Any, at: list[int]) -> Any:
        """Return the rows of some of the role's agents as a tensor."""
        return self._tensor(array)[:, at].flatten(0, 1)

    def _tensor(self, array: Any) -> Any:
        if isinstance(array, self._torch.Tensor):
            return array
        if self._simulator.device == "cpu":  # read, never written
            return self._torch.from_numpy(np.array(array))
        return self._torch.from_dlpack(array)

    def _forget(self, outputs: Outputs) -> None:
        """Clear the memories of agents whose episode is over, or that do not take part.

        With NextStep the first observation of the next episode comes a step later.
        """
        if outputs.terminated is None:  # after a reset, which `begin` has noted
            return
        over = self._tensor(outputs.terminated) | self._tensor(outputs.truncated)
        lost = over
        if _WERE_OVER in self.kept:
            lost = over | self.kept[_WERE_OVER]
            self.kept[_WERE_OVER] = over.clone()
        if outputs.agent_active is not None and not self._has_turns:
            lost = lost | ~self._tensor(outputs.agent_active)
        for k, name in self._memories.items():
            self.kept[name].masked_fill_(lost[:, self._parts[k][1]].unsqueeze(-1), 0)
