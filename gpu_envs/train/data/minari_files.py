"""Data sets as Minari keeps them: written in parts, and read again.

What Minari has no place for stands in the metadata, under FACTS, as JSON: the environment with its
parameters, who played and how actions were chosen. An episode's own metadata name its game and its
agent. Minari is imported where it is used.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from gpu_envs.known import extras, registration
from gpu_envs.train.data.games import Game, Track

FACTS = "gpu_envs"  # the key in the metadata
VERSION = 1
EACH, TOGETHER = "each", "together"  # forms of games of several agents
PART = 1 << 26  # bytes of a part that is written at once


def library() -> Any:
    """Return Minari; ValueError with what to install where it is missing."""
    try:
        return importlib.import_module("minari")
    except ModuleNotFoundError as problem:
        raise ValueError(extras.needs("a data set", "minari", "data")) from problem


def place(name: str) -> Path:
    """Return the folder of a data set, which need not exist; ValueError for no name of one."""
    minari = library()
    try:
        minari.dataset.minari_dataset.parse_dataset_id(name)
    except (TypeError, ValueError) as problem:  # without a number it asks int() for one
        raise ValueError(
            "a data set is named NAME-vNUMBER or FOLDER/NAME-vNUMBER, of letters, digits, '-' and "
            f"'_', a folder of at least two, such as overcooked/trained-v0, got {name!r}"
        ) from problem
    root = importlib.import_module("minari.storage.datasets_root_dir")
    return Path(root.get_dataset_path(name))


# ---- writing


class Writer:
    """Writes the games of one data set; nothing is left of one that fails.

    It is written under a name of its own, and renamed at the end.

    Args:
        name: Of the data set.
        facts: What stands under FACTS.
        observation_space: Of an episode's observations.
        action_space: Of an episode's actions.
        spec: Of the environment that a reader can make; None for none.
        algorithm: Who played, in words.
        description: What it is, in words.
    """

    def __init__(
        self,
        name: str,
        facts: Mapping[str, Any],
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        spec: Any,
        algorithm: str,
        description: str,
    ) -> None:
        self.name, self.facts, self.spaces = name, facts, (observation_space, action_space)
        self.told = {"env": spec, "algorithm_name": algorithm, "description": description}
        self.is_together = facts["agents"] == TOGETHER
        self.folder = place(name)
        base, _, version = name.rpartition("-v")
        self._partial = f"{base}-partial-{os.getpid()}-v{version}"
        self._refuse_existing()
        self.episodes = self.steps = 0
        self._storage: Any = None
        self._waiting: list[tuple[Any, dict[str, Any]]] = []  # buffers, and their own metadata
        self._size = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
                self._finish()
        finally:
            shutil.rmtree(place(self._partial), ignore_errors=True)

    def _finish(self) -> None:
        """Give the data set its name."""
        if self._storage is None:
            raise ValueError(f"no game of {self.name!r} has an agent")
        file = Path(self._storage.data_path) / "metadata.json"  # Minari itself changes no name
        told = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**told, "dataset_id": self.name}), encoding="utf-8")
        self._refuse_existing()
        place(self._partial).rename(self.folder)

    def _refuse_existing(self) -> None:
        if self.folder.exists():
            raise ValueError(
                f"the data set {self.name!r} exists: choose another name, or delete it with "
                f"`minari delete {self.name}`"
            )

    def add(self, game: Game) -> None:
        """Add a game: an episode for each of its agents, or one of all."""
        names = list(game.tracks)
        if self.is_together:
            self._wait(_joined(game.tracks), game, {"agents": json.dumps(names)})
        else:
            for name, track in game.tracks.items():
                self._wait(track, game, {"agent": name})
        if self._size >= PART:
            self._flush()

    def _wait(self, track: Track, game: Game, own: dict[str, Any]) -> None:
        buffers = importlib.import_module("minari.data_collector")
        buffer = buffers.EpisodeBuffer(
            seed=game.seed,
            observations=track.observations,
            actions=track.actions,
            rewards=track.rewards,
            terminations=track.terminations,
            truncations=track.truncations,
            infos=track.infos or None,
        )
        self._waiting.append((buffer, own))
        self.episodes += 1
        self.steps += len(track.rewards)
        self._size += _bytes(vars(track))

    def _flush(self) -> None:
        waiting, self._waiting, self._size = self._waiting, [], 0
        if not waiting:
            return
        buffers = [buffer for buffer, _ in waiting]
        if self._storage is None:
            self._storage = self._made(buffers)
        else:
            self._storage.update_episodes(buffers)
        last = self._storage.total_episodes
        own = [facts for _, facts in waiting]
        self._storage.update_episode_metadata(own, range(last - len(own), last))

    def _made(self, buffers: list[Any]) -> Any:
        observations, actions = self.spaces
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on facts of an author, whom we do not know
            made = library().create_dataset_from_buffers(
                self._partial,
                buffers,
                observation_space=observations,
                action_space=actions,
                requirements=[f"gpu_envs=={self.facts['package']}"],
                data_format="hdf5",
                jpeg_encoding=False,  # which would change pictures
                **self.told,
            )
        made.storage.update_metadata({FACTS: json.dumps(self.facts)})
        return made.storage


def _joined(tracks: Mapping[str, Track]) -> Track:
    """Return the tracks of all agents as one, by agent; numbers as (steps, agents)."""
    every = list(tracks.values())

    def beside(name: str) -> Any:
        return np.stack([getattr(track, name) for track in every], 1)

    return Track(
        {name: track.observations for name, track in tracks.items()},
        {name: track.actions for name, track in tracks.items()},
        *(beside("rewards"), beside("terminations"), beside("truncations")),
        {name: track.infos for name, track in tracks.items() if track.infos},
    )


def _bytes(node: Any) -> int:
    if isinstance(node, Mapping):
        return sum(_bytes(part) for part in node.values())
    return int(getattr(node, "nbytes", 0))


def spec_of(env_id: str, parameters: Mapping[str, Any]) -> Any:
    """Return the spec with which `recover_environment` makes the single environment."""
    spec = gymnasium.spec(f"{registration.NAMESPACE}/{env_id}")
    kwargs = {**spec.kwargs, **parameters}
    copied = gymnasium.envs.registration.EnvSpec.from_json(spec.to_json())
    copied.kwargs = kwargs
    return copied


# ---- reading


class DataSet:
    """A data set that was recorded here.

    Args:
        name: Of the data set.
    """

    def __init__(self, name: str) -> None:
        minari, folder = library(), place(name)
        if not folder.exists():
            raise ValueError(f"there is no data set {name!r} in {folder.parent}")
        try:
            self.minari: Any = minari.load_dataset(name)
            metadata = self.minari.storage.metadata
            found = json.loads(metadata.get(FACTS, "null"))
        except Exception as problem:  # of JSON, of HDF5, of spaces: a damaged one
            raise _damaged(name, problem) from problem
        if found is None:
            raise ValueError(
                f"the data set {name!r} was not recorded by gpu_envs, or was made of others"
            )
        self.facts = _checked_facts(name, found)
        self.name = name
        self.is_together = self.facts["agents"] == TOGETHER

    def games(self) -> Iterator[Game]:
        """Return the games in their order; episodes of one game have its seed."""
        storage, game = self.minari.storage, None
        episodes = range(storage.total_episodes)
        try:
            pairs = zip(
                storage.get_episode_metadata(episodes), storage.get_episodes(episodes), strict=True
            )
            for own, episode in pairs:
                seed = int(own["seed"])
                if game is None:
                    game = Game(0, seed, {})
                elif seed != game.seed:
                    yield game
                    game = Game(game.number + 1, seed, {})
                game.tracks |= _tracks(own, episode, is_together=self.is_together)
        except (KeyError, OSError, TypeError, ValueError) as problem:
            raise _damaged(self.name, problem) from problem
        if game is not None:
            yield game


def _checked_facts(name: str, found: Any) -> dict[str, Any]:
    """Refuse facts of another version, and those that lack something."""
    version = found.get("version") if isinstance(found, dict) else None
    if isinstance(version, int) and version != VERSION:
        raise ValueError(
            f"the data set {name!r} has version {version}, recorded by gpu_envs "
            f"{found.get('package')}; this one reads version {VERSION}"
        )
    wanted: dict[str, type] = {
        "environment": str,
        "parameters": dict,
        "varying": dict,
        "agents": str,
        "role": str,
        "version": int,
        "games": int,
    }
    for key, kind in wanted.items():
        if not isinstance(found, dict) or not isinstance(found.get(key), kind):
            raise _damaged(name, KeyError(f"{FACTS}: {key}"))
    if found["agents"] not in (EACH, TOGETHER):
        raise _damaged(name, KeyError(f"{FACTS}: agents"))
    limit = found.get("max_episode_steps")
    return {**found, "max_episode_steps": limit if isinstance(limit, int) else None}


def _tracks(
    own: Mapping[str, Any], episode: Mapping[str, Any], *, is_together: bool
) -> dict[str, Track]:
    rewards, terminations, truncations = (
        episode[name] for name in ("rewards", "terminations", "truncations")
    )
    seen, done, infos = episode["observations"], episode["actions"], episode["infos"] or {}
    if not is_together:
        track = Track(seen, done, rewards, terminations, truncations, infos)
        return {_text(own["agent"]): _checked(track)}
    found = {}
    for k, name in enumerate(json.loads(_text(own["agents"]))):
        track = Track(
            *(seen[name], done[name], rewards[:, k], terminations[:, k], truncations[:, k]),
            infos=infos.get(name, {}),
        )
        found[name] = _checked(track)
    return found


def _checked(track: Track) -> Track:
    """Refuse a track whose parts do not belong together."""
    length = len(track.rewards)
    seen = track.observations
    each = seen.values() if isinstance(seen, Mapping) else [seen]
    rows = [len(track.actions), len(track.terminations), len(track.truncations)]
    if length == 0 or {length, *rows, *(len(part) - 1 for part in each)} != {length}:
        raise ValueError(f"an episode of {length} rewards has other parts of another length")
    return track


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _damaged(name: str, problem: Exception) -> ValueError:
    line = " ".join(str(problem).split())[:200]
    return ValueError(f"the data set {name!r} is damaged ({type(problem).__name__}: {line})")
