"""`scripted`: the player that lies beside an environment's header, `<name>_player.py`.

It is a Python file of the environment's author with a class `Player`, which follows rules of its
own: what learned policies are compared with. It sees what the agents of one role observe and, where
the environment describes a state, that of the whole world by name. This module finds and loads such
files, and says when episodes begin; it knows no environment.

Python beside headers is imported as `gpu_envs.kernels.<folders>.<file>`, in a source tree and in an
installed package, so that players of a family can share modules.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gpu_envs import errors
from gpu_envs.building import manifest, places
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.core.spaces import FieldViews
from gpu_envs.known import fields, measures, registration
from gpu_envs.known.outputs import LAYERS, Outputs

SCRIPTED = "scripted"
SUFFIX = "_player.py"
HEADERS = "gpu_envs.kernels"  # package of the Python files beside headers

_OWN = "own."  # of the names of what a player says of itself

Array = np.ndarray[Any, Any]


class Game(NamedTuple):
    """What a player is made for: the agents of one role in some worlds."""

    id: str  # of the environment
    role: str
    agents: tuple[str, ...]  # names of the agents that it plays, in the order of their rows
    numbers: tuple[int, ...]  # of these agents among all of a world, as rows of the state have them
    worlds: int
    parameters: Mapping[str, Any]
    action_space: Any  # of one agent
    fields: tuple[fields.Field, ...]  # of one agent's observation


class Seen(NamedTuple):
    """What a player sees before a step, as NumPy arrays that it must not write to."""

    obs: Any  # (worlds, agents, ...), or a dict of them where observations are by field or layer
    mask: Any  # (worlds, agents, choices); None where every action is legal
    state: dict[str, Array]  # (worlds, *shape) by the names that `info ID` lists; else empty


# ---- files


def file_of(env_id: str) -> Path | None:
    """Return the file of an environment's player; None where it has none."""
    home = registration.home(registration.find(env_id)["id"])
    header = home.header or places.environments().get(home.stem)
    if header is not None:
        stems = [header.stem, places.own_folders(header)[-1].name]
        tried = [
            folder / f"{stem}{SUFFIX}" for folder in places.own_folders(header) for stem in stems
        ]
        return next((file for file in tried if file.is_file()), None)
    # An installed package has no header of its own environments, but their data.
    folder = measures.file_of(env_id).parent
    family = folder.parent if folder.name == places.TASKS else folder
    names = (f"{home.stem}{SUFFIX}", f"{family.name}{SUFFIX}")
    listed = manifest.under(family)
    return next((file for name in names for file in listed if file.name == name), None)


def required(env_id: str, option: str) -> Path:
    """Return the file of an environment's player; ValueError names those that exist."""
    found = file_of(env_id)
    if found is None:
        name = registration.find(env_id)["id"]
        others = [other for other in registration.environments() if file_of(other)]
        raise ValueError(
            f"{option} scripted: {name} has no scripted player: none lies beside its header as "
            f"<name>{SUFFIX} (these have one: {errors.listed(others)})"
        )
    return found


def module_of(file: Path) -> ModuleType:
    """Import a Python file that lies beside a header."""
    _add_headers()
    if file.is_relative_to(places.kernels()):
        inside = file.relative_to(places.kernels()).with_suffix("")
        return importlib.import_module(".".join((HEADERS, *inside.parts)))
    spec = importlib.util.spec_from_file_location(f"{HEADERS}_of.{file.stem}", file)
    assert spec is not None and spec.loader is not None  # of a .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def beside(env_id: str) -> ModuleType:
    """Import the file of an environment's player."""
    return module_of(required(env_id, "the player"))


def _add_headers() -> None:
    if HEADERS not in sys.modules:
        package = ModuleType(HEADERS, "Python files beside the headers of environments.")
        package.__path__ = [str(places.kernels())]
        sys.modules[HEADERS] = package


# ---- players


class Scripted:
    """An environment's own player of one role, in all worlds of a simulator.

    A player that keeps something of a world between steps may say it, for saves and copies:
    `save_worlds(worlds)` returns a dict of arrays with a row for each of these worlds, and
    `load_worlds(worlds, rows)` takes such rows, also those of other worlds. Without these two the
    player starts over in a world that was loaded or copied.

    Args:
        simulator: Whose worlds are played.
        role: The agents that it plays.
        option: The option that asked for it, for errors.
        **choices: Arguments of the player beside the game.
    """

    def __init__(
        self, simulator: Simulator, role: Role, option: str = "--policy", **choices: Any
    ) -> None:
        file = required(simulator.name, option)
        self._simulator, self._role = simulator, role
        game = Game(
            *(simulator.name, role.name, role.agents, tuple(role.numbers), simulator.num_worlds),
            *(simulator.parameters, role.action_space, role.fields),
        )
        maker = getattr(module_of(file), "Player", None)
        if maker is None:
            raise ValueError(f"{file} defines no class Player")
        self._player: Any = maker(game, **choices)
        described = fields.read(simulator.instance.get("state") or ())
        self._views = FieldViews(described, ()) if described else None
        self.shape = (simulator.num_worlds, role.count, *(role.action_space.shape or ()))
        # The episode and step in which each world was seen last.
        self._seen = {name: np.full(simulator.num_worlds, -1) for name in ("episode", "step")}
        self.keeps = hasattr(self._player, "save_worlds")

    def __call__(self, shown: Any, mask: Any, state: Any) -> Array:
        """Return the actions of the role's agents, (worlds, n[, k]).

        Args:
            shown: The role's observations, as the environment presents them.
            mask: The role's action masks, or None.
            state: The worlds' rows of state, or None.
        """
        self._begin()
        by_name = {}
        if self._views is not None:
            if state is None:
                raise ValueError(
                    f"the scripted player of {self._simulator.name} reads the output 'state': "
                    "name it in outputs="
                )
            by_name = self._views(host(state))
        if isinstance(shown, Mapping):
            shown = {name: host(array) for name, array in shown.items()}
        else:
            shown = host(shown)
        seen = Seen(shown, None if mask is None else host(mask), by_name)
        actions = np.asarray(self._player(seen))
        if actions.shape != self.shape:
            raise ValueError(
                f"the scripted player of {self._simulator.name} returned actions of shape "
                f"{actions.shape}, expected {self.shape}"
            )
        return actions

    def see(self, outputs: Outputs) -> Array:
        """Return the actions for the outputs of a call of the simulator, by agents or by rows."""
        own, by_role = self._role, self._simulator.by_role
        arrays = {name: getattr(outputs, name) for name in (*LAYERS, "action_mask")}
        part = Outputs(**{n: by_role(a, n)[own.name] for n, a in arrays.items() if a is not None})
        shown = part.obs
        if own.views is not None and not isinstance(shown, Mapping):
            shown = own.views.observed(part)
        return self(shown, part.action_mask, outputs.state)

    def _begin(self) -> None:
        """Tell the player in which worlds another episode has begun, or another was loaded."""
        get = self._simulator.get
        now = {name: get(f"world.{name}")[:, 0].astype(np.int64) for name in self._seen}
        steps, last = now["step"], self._seen["step"]
        is_new = (now["episode"] != self._seen["episode"]) | (steps < last) | (steps > last + 1)
        self._seen = now
        if is_new.any():
            self._player.begin(np.flatnonzero(is_new).tolist())

    def forget(self, worlds: Any) -> None:
        """Let the player start over in some worlds; numbers, or a bool for each."""
        for array in self._seen.values():
            array[worlds] = -1

    def rows(self, worlds: list[int]) -> dict[str, Array]:
        """Return what the player says of itself in some worlds; {} where it says nothing."""
        if not self.keeps:
            return {}
        own = self._player.save_worlds(worlds)
        seen = {name: array[worlds] for name, array in self._seen.items()}
        return seen | {f"{_OWN}{name}": np.asarray(rows) for name, rows in own.items()}

    def put(self, worlds: list[int], rows: Mapping[str, Array]) -> None:
        """Hand the player what it has said; one that says nothing starts over."""
        if not self.keeps:
            self.forget(worlds)
            return
        spread = {n: np.broadcast_to(a, (len(worlds), *a.shape[1:])) for n, a in rows.items()}
        own = {n.removeprefix(_OWN): a for n, a in spread.items() if n.startswith(_OWN)}
        try:
            mine, theirs = map(_kinds, (self.rows(worlds[:1]), rows))
            if theirs != mine:
                raise ValueError(f"{theirs}, not {mine}")
            self._player.load_worlds(worlds, own)
            for name, array in self._seen.items():
                array[worlds] = spread[name]
        except (KeyError, ValueError) as problem:
            raise ValueError(
                f"load: the save differs in what the scripted player of {self._simulator.name} "
                f"keeps: {problem}"
            ) from problem


def _kinds(rows: Mapping[str, Array]) -> dict[str, str]:
    """Return the type of each array, and how many axes it has."""
    return {name: f"{array.dtype} of {array.ndim}" for name, array in rows.items()}


def for_all(simulator: Simulator) -> Callable[[], dict[str, Array]]:
    """Return a function that asks the scripted players of all agents for their actions, by role."""
    players = {role.name: Scripted(simulator, role) for role in simulator.roles if role.count}

    def choose() -> dict[str, Array]:
        outputs = simulator.observe()
        return {name: player.see(outputs) for name, player in players.items()}

    return choose


def host(array: Any) -> Array:
    """Return an array of any library in host memory."""
    if hasattr(array, "cpu"):
        array = array.cpu()
    return np.asarray(array.get() if hasattr(array, "get") else array)
