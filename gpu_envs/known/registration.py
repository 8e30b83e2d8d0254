"""Lists the environments and registers them with Gymnasium.

The catalogue has a file per environment, `catalogue/<stem>.json`, made from the headers'
descriptions; nothing is said here again, and reading it loads no native code. Environments that
`python -m gpu_envs build` made of headers elsewhere are found in the user's cache. An environment
is `gpu_envs/<Name>-v0`, and `<Name>-v0` too where nobody else has that name. Gymnasium is imported
where something is registered or made: what only looks an environment up does without.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from gpu_envs import errors
from gpu_envs.building import places
from gpu_envs.known import catalogue

NAMESPACE = "gpu_envs"

Description = dict[str, Any]


class Home(NamedTuple):
    """The source of an environment: a module of the package, or a header outside of it."""

    stem: str
    header: Path | None = None


@functools.cache
def _catalogue() -> tuple[dict[str, catalogue.Descriptions], list[str]]:
    return catalogue.read()


def damaged() -> list[str]:
    """Return a sentence for each damaged file of the catalogue, whose environments are left out."""
    return _catalogue()[1]


@functools.cache
def _known() -> dict[str, tuple[Description, Home]]:
    described, problems = _catalogue()
    catalogue.warn(problems)
    found = {entry["id"]: (entry, Home(stem)) for stem in described for entry in described[stem]}
    if os.path.isdir(places.kept_headers()):  # seldom, so that an import stays cheap
        _add_kept(found)
    return found


def _add_kept(found: dict[str, tuple[Description, Home]]) -> None:
    """Add the environments of the user's cache; warn of entries that are invalid or hidden."""
    from gpu_envs.building import kept

    ours = {name.rpartition("-v")[0]: name for name in found}  # not another version of it
    entries, problems = kept.read()
    for entry in entries:
        own = Home(entry.header.stem, entry.header)
        try:
            _check_forms(own, entry.environments)
        except ModuleNotFoundError:
            pass  # without Gymnasium nothing is registered
        except ImportError as problem:
            problems.append(kept.left_out(entry.file, str(problem)))
            continue
        for said in entry.environments:
            name = ours.get(said["id"].rpartition("-v")[0], said["id"])
            if name == said["id"] and found.setdefault(name, (said, own))[1] == own:
                continue
            what = "that" if name == said["id"] else name
            problems.append(
                f"{said['id']} of {entry.header} is hidden by {what} of "
                f"{found[name][1].header or 'gpu_envs'}: rename it, "
                f"or `python -m gpu_envs build --forget {entry.header}`"
            )
    for line in problems:
        errors.warn(line)


def _check_forms(own: Home, described: list[Description]) -> None:
    """Refuse ids that Gymnasium would not register, and duplicates."""
    names = [entry["id"] for entry in described]
    for name in names:
        if why := _id_problem(name):
            raise ImportError(
                f"{own.header or own.stem} defines the id {name!r}, {why}: an id is "
                "<Name>-v<number> without a namespace, such as MyTask-v0; the name has letters, "
                "digits, `_`, `-` and `.`"
            )
        if names.count(name) > 1:
            raise ImportError(f"{own.header or own.stem} defines the id {name!r} twice")


def _id_problem(name: str) -> str:
    """Return why Gymnasium cannot make `gpu_envs/<name>`, by its own parser; "" if it can."""
    from gymnasium import error
    from gymnasium.envs.registration import get_env_id, parse_env_id

    try:
        namespace, bare, version = parse_env_id(f"{NAMESPACE}/{name}")
    except error.Error:
        return "which Gymnasium refuses"
    if version is None:
        return "which has no version"
    if ":" in name:
        return "whose `:` is for the name of a module in `gymnasium.make`"
    if get_env_id(namespace, bare, version) != f"{NAMESPACE}/{name}":
        return "whose version is not a plain number"
    return ""


def check_ids(own: Home, described: list[Description]) -> None:
    """Refuse ids that Gymnasium cannot register, and those of other headers."""
    _check_forms(own, described)
    for entry in described:
        if entry["id"] not in environments() or home(entry["id"]) == own:
            continue
        other, remedy = home(entry["id"]).header, "choose another"
        owner = "gpu_envs has already"
        if other is not None:
            owner = f"{other} defines already"
            remedy = f"choose another, or `python -m gpu_envs build --forget {other}`"
        source = own.header or own.stem
        raise ImportError(f"{source} defines {entry['id']}, which {owner}: {remedy}")
    _check_names(own, described)


def _check_names(own: Home, described: list[Description]) -> None:
    """Refuse a version of a name of the package: the bare name would resolve to it."""
    if own.header is None:
        return
    taken = {name.rpartition("-v")[0]: name for name in shipped()}
    for entry in described:
        if other := taken.get(entry["id"].rpartition("-v")[0]):
            raise ImportError(
                f"{own.header} defines {entry['id']}, whose name belongs to {other} of gpu_envs: "
                "choose another"
            )


def refresh() -> None:
    """Read the catalogue and the cache again, and register what is new."""
    _catalogue.cache_clear()
    _known.cache_clear()
    environments.cache_clear()
    if "gymnasium" in sys.modules:
        register_all()


@functools.cache
def environments() -> dict[str, Description]:
    """Descriptions of all environments by id."""
    return {name: description for name, (description, _) in _known().items()}


def shipped() -> list[str]:
    """Return the ids of the package, without those of the user's own headers."""
    return [name for name in environments() if home(name).header is None]


def catalogue_text(described: list[Description]) -> str:
    """Return the text of a module's file in the catalogue."""
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def remember(own: Home, described: list[Description]) -> bool:
    """Write a module's description where the catalogue or the cache differs from it."""
    if [entry for entry, place in _known().values() if place == own] == described:
        return False
    check_ids(own, described)
    if own.header is not None:
        from gpu_envs.building import outside

        outside.keep(own.header, described)
        refresh()
        return True
    path = places.CATALOGUE / f"{own.stem}.json"
    text = catalogue_text(described)
    if not path.exists() or path.read_bytes() != text.encode():  # or another process did so
        places.CATALOGUE.mkdir(exist_ok=True)
        places.write(path, text)
        print(f"gpu_envs: {path} is new: commit it", file=sys.stderr)
    refresh()
    return True


def home(name: str) -> Home:
    """Return the source of an environment, by its id without the namespace."""
    return _known()[name][1]


def firsts() -> list[str]:
    """Return the first id of every module of the package."""
    found: dict[Home, str] = {}
    for name in environments():
        found.setdefault(home(name), name)
    return [name for own, name in found.items() if own.header is None]


def find(name: str) -> Description:
    """Return the description of `name`, with or without the namespace and the version."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {name!r} of type {type(name).__name__}")
    known = environments()
    bare = name.removeprefix(f"{NAMESPACE}/")
    versions = [full for full in known if full.rpartition("-v")[0] == bare]
    if bare not in known and not versions:
        raise ValueError("\n".join([errors.unknown("environment", name, known), *damaged()]))
    return known[bare if bare in known else versions[-1]]


def register_all() -> None:
    """Register every environment with Gymnasium, by strings, so that nothing else is imported."""
    import gymnasium

    for name, description in environments().items():
        _register(f"{NAMESPACE}/{name}", description)
        if name in gymnasium.registry or not _name_is_taken(name):
            _register(name, description)


def _name_is_taken(name: str) -> bool:
    import gymnasium
    from gymnasium.envs.registration import parse_env_id

    _, bare, _ = parse_env_id(name)
    return any(s.namespace is None and s.name == bare for s in gymnasium.registry.values())


def _register(env_id: str, description: Description) -> None:
    import gymnasium

    held = gymnasium.registry.get(env_id)
    if held is not None:
        if held.kwargs.get("name") == description["id"]:  # ours; its header may have been edited
            held.max_episode_steps = description["max_episode_steps"] or None
            held.reward_threshold = description["reward_threshold"]
        return
    gymnasium.register(
        id=env_id,
        entry_point="gpu_envs.faces.single:Env",
        vector_entry_point="gpu_envs.faces.vector:VectorEnv",
        max_episode_steps=description["max_episode_steps"] or None,
        reward_threshold=description["reward_threshold"],
        kwargs={"name": description["id"]},
    )
