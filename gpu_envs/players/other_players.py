"""`others=`: players of the roles that the learner does not play.

A player is called with the observations of one role's agents, (worlds, n, ...), and returns their
actions, (worlds, n[, k]). Players that draw depend only on the seed of the last seeded reset, on
the world's number and on the steps since: a world plays by itself as in a batch.

All that a player keeps between steps has a row for each world: `rows` and `put` read and write
those of some worlds, for saves, copies and worlds that sit out a step.
"""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core import saves
from gpu_envs.core.autoreset import AutoresetMode
from gpu_envs.core.libraries import require
from gpu_envs.core.role_actions import to_library
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.known.outputs import Outputs
from gpu_envs.players import policy_files
from gpu_envs.players.scripted import SCRIPTED, Scripted, host

RANDOM, NOOP = "random", "noop"
_WORDS = (RANDOM, NOOP, policy_files.TRAINED, SCRIPTED)
FORMS = f"{', '.join(map(repr, _WORDS))}, a file of policies or a callable"
_NEEDED = ("action_mask", "agent_active")  # outputs that players look at
_WERE_OVER = "were_over"  # with NextStep: whose episode the step before has ended

# Odd constants of the splitmix64 generator (Steele, Lea, Flood 2014) and of Weyl sequences.
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_STEP, _AGENT, _COLUMN = 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7
_BITS = 23  # of a draw: with a half added still exact in float32


class Seen(NamedTuple):
    """Observations of the agents of one role, as arrays of (worlds, n, ...)."""

    outputs: Outputs  # theirs, of the last call
    shown: Any  # observations as the environment presents them: by field, where that was asked for
    mask: Any  # None where every action is legal
    stepped: Any = None  # which worlds step, a bool each in the players' library; None: all


class Player(ABC):
    """Plays one role in all worlds.

    `kept` holds its arrays with a row for each world, and `who` says whose they are; a player that
    keeps nothing between steps has neither.
    """

    who = ""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.kept: dict[str, Any] = {}

    @abstractmethod
    def __call__(self, seen: Seen) -> Any:
        """Return the actions of the role's agents, (worlds, n[, k])."""

    def begin(self, seed: int | Sequence[int] | None, worlds: Any) -> None:
        """Note a reset; a player without memory does nothing.

        Args:
            seed: The seed of `reset`; None continues.
            worlds: Bool per world, in host memory; None for all.
        """
        return

    def note(self, outputs: Outputs) -> None:
        """Note the outputs of a step that is not followed by a call of this player."""
        return

    def rows(self, worlds: list[int]) -> dict[str, Any]:
        """Return a copy of what it keeps of some worlds, a row each."""
        return {name: array[worlds] for name, array in self.kept.items()}

    def put(self, worlds: list[int], rows: Mapping[str, Any]) -> None:
        """Write what `rows` returned, here or elsewhere; a single row into each of the worlds."""
        mine, theirs = _forms(self.kept), _forms(rows)
        if theirs != mine:
            raise ValueError(f"load: the save differs in what others keep: {theirs}, not {mine}")
        for name, array in self.kept.items():
            given = rows[name]
            if isinstance(given, np.ndarray) and not isinstance(array, np.ndarray):
                is_tensor = hasattr(array, "new_tensor")
                given = array.new_tensor(given) if is_tensor else to_library(given, self._simulator)
            array[worlds] = given

    def copy(self, sources: list[int], destinations: list[int]) -> None:
        """Let worlds that became copies have what it keeps of their sources."""
        self.put(destinations, self.rows(sources))

    def reseed(self, worlds: list[int]) -> None:
        """Give worlds that became copies draws of their own."""
        return


def _forms(rows: Mapping[str, Any]) -> list[str]:
    """Return name, type and shape of the rows of arrays, whichever library they are of."""
    return [
        f"{name} {str(array.dtype).removeprefix('torch.')} {tuple(array.shape[1:])}"
        for name, array in rows.items()
    ]


class Others:
    """The players of all roles but one.

    Args:
        simulator: What they play in.
        mine: The role that is not theirs.
        chosen: What `others=` was.
        first_world: Number of the first world.
    """

    def __init__(
        self, simulator: Simulator, mine: Role, chosen: object, first_world: int = 0
    ) -> None:
        theirs = [role for role in simulator.roles if role is not mine and role.count]
        self.players: dict[str, Player] = {}
        if not theirs and chosen is not None:
            raise ValueError(f"others= is for other roles: {simulator.name} has only {mine.name}")
        named = _by_role(chosen, mine, theirs, simulator.name)
        for role in theirs:
            player = _player(simulator, role, named.get(role.name, RANDOM), first_world)
            self.players[role.name] = player

    def begin(
        self, seed: int | Sequence[int] | None, worlds: Any, but: Collection[str] = ()
    ) -> None:
        """Pass a reset on to all players, but those of some roles."""
        for role, player in self.players.items():
            if role not in but:
                player.begin(seed, worlds)

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
        for player in self.players.values():
            player.copy(sources, destinations)
            if reseed:
                player.reseed(destinations)

    def _keepers(self) -> list[tuple[str, Player]]:
        return [(role, player) for role, player in self.players.items() if player.who]


def _named(players: Mapping[str, str]) -> str:
    return ", ".join(f"{role}: {who}" for role, who in players.items()) or "none that keep anything"


def needed(chosen: object) -> tuple[str, ...]:
    """Return the outputs that players look at besides observations; `chosen` is others=."""
    named = chosen.values() if isinstance(chosen, Mapping) else (chosen,)
    is_scripted = any(isinstance(who, str) and who == SCRIPTED for who in named)
    return (*_NEEDED, "state") if is_scripted else _NEEDED


def _by_role(chosen: object, mine: Role, theirs: Sequence[Role], who: str) -> dict[str, object]:
    """Return the choice for each role; roles that are left out play at random."""
    if not isinstance(chosen, Mapping):
        if callable(chosen):
            _check_arguments(chosen, ("role", "obs", "mask"), "others=")
            return {role.name: partial(chosen, role.name) for role in theirs}
        return {role.name: RANDOM if chosen is None else chosen for role in theirs}
    known = [role.name for role in theirs]
    for name in chosen:
        if name == mine.name:
            raise ValueError(f"others= names {name!r}, which is the role= of this environment")
        if name not in known:
            raise ValueError(errors.unknown(f"role in others= of {who}", name, known))
        if callable(chosen[name]):
            _check_arguments(chosen[name], ("obs", "mask"), f"others= of role {name!r}")
    return dict(chosen)


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


def _player(simulator: Simulator, role: Role, chosen: object, first_world: int) -> Player:
    if callable(chosen):
        return Called(simulator, role, chosen)
    if not isinstance(chosen, str | Path):
        raise TypeError(f"others= must be {FORMS}, or a dict of these by role, got {chosen!r}")
    if chosen == RANDOM:
        return Chance(simulator, role, first_world)
    if chosen == NOOP:
        return Idle(simulator, role)
    if chosen == SCRIPTED:
        return Ruled(simulator, role)
    if chosen != policy_files.TRAINED and not Path(chosen).is_file():
        if missing := policy_files.missing_file(Path(chosen)):
            raise ValueError(f"others=: {missing}")
        meant = errors.suggestion(chosen, _WORDS)
        raise ValueError(f"others= must be {FORMS}, got {str(chosen)!r}{meant}")
    path = policy_files.file_of(simulator.name, str(chosen), "others=")
    assert path is not None  # chance was met above
    return Saved(simulator, role, path)


# ---- chance and idleness


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _mixed(bits: Any) -> Any:
    # Shifts of int64 keep the sign, so what they bring in is masked away.
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * _signed(_FIRST)
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * _signed(_SECOND)
    return bits ^ ((bits >> 31) & (2**33 - 1))


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
        agents = np.array(role.numbers, np.int64) * np.int64(_signed(_AGENT))
        columns = np.arange(extent[1] if len(extent) > 1 else 1) * np.int64(_signed(_COLUMN))
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
        keys = np.array([_signed((s + 1) * _GOLDEN) for s in seed], np.int64)
        keys = keys + (numbers + 1) * _signed(_SECOND)
        chosen = slice(None) if worlds is None else to_library(worlds, self._simulator)
        draws[chosen] = to_library(_mixed(keys), self._simulator)[chosen]

    def reseed(self, worlds: list[int]) -> None:
        """Mix the number of each world into its key."""
        numbers = np.array(worlds, np.int64) + self._first_world
        own = to_library((numbers + 1) * _signed(_SECOND), self._simulator)
        self.kept["draws"][worlds] = _mixed(self.kept["draws"][worlds] + own)

    def __call__(self, seen: Seen) -> Any:
        """Draw."""
        bits = self.kept["draws"]
        step = _signed(_STEP)
        self.kept["draws"] = bits + (step if seen.stepped is None else step * seen.stepped)
        bits = _mixed(_mixed(bits.reshape(-1, *[1] * self._cells.ndim) + self._cells))
        bits = (bits >> 40) & (2**_BITS - 1)
        if seen.mask is not None:
            allowed = _host(seen.mask, self._simulator).cumsum(-1)
            total = allowed[..., -1]
            chosen = (allowed <= ((bits * total) >> _BITS)[..., None]).sum(-1)
            return chosen * (total > 0)
        if self._low is not None:
            even = (bits + 0.5) * 2.0**-_BITS
            return self._low + self._span * even
        return (bits * (self._count if self._counts is None else self._counts)) >> _BITS


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
        self._reader = simulator.role_actions.readers[role.name]

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
        """Return what the player returns."""
        return self._player(seen.shown, seen.mask, seen.outputs.state)


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
                rows = self._rows(seen.outputs.obs, at)
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
