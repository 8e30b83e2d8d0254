"""Reads the user's cache of headers, and checks that the cache can be trusted.

Every import reads this, so it is cheap: nothing of the builder is loaded. An entry is a file,
`headers/<key>.json`, with the header's path and what its environments say of themselves. An entry
that cannot be read is left out, and its problem says what to do.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from . import places

_LARGEST = 16 << 20  # bytes of an entry; those of large environments have less than a hundredth
_NUMBER = (int, float, type(None))
_SAID: dict[str, tuple[type, ...]] = {  # keys that are read without loading the module
    "id": (str,),
    "doc": (str,),
    "agents": (str,),
    "max_episode_steps": (int,),
    "reward_threshold": _NUMBER,
}
_FIELD: dict[str, tuple[type, ...]] = {  # keys that `fields.read` takes; bounds are numbers
    "name": (str,),
    "type": (str,),
    "shape": (list, type(None)),
    "low": _NUMBER,
    "high": _NUMBER,
    "choices": (int, type(None)),
    "unit": (str,),
    "doc": (str,),
    "names": (list, type(None)),
}
_PARTS = {"shape": int, "names": str}
_FIELD_NEEDS = ("name", "type")
_LISTS = ("parameters", "reset_options", "action", "observation", "state", "columns")
_LISTS_NEEDED = ("parameters", "reset_options")


class Untrusted(places.CannotBuild):
    """A folder or file that another user can write to."""


class Entry(NamedTuple):
    """One header that was passed to `python -m gpu_envs build`."""

    header: Path
    environments: list[dict[str, Any]]
    file: str = ""  # the entry's own name, for `build --forget`


def check_trust(path: Path, variable: str = "GPU_ENVS_CACHE") -> None:
    """Refuse a path that another user could put code into; the user's own groups are trusted.

    `variable` is the environment variable that names another folder.
    """
    own_groups = {os.getgid(), os.getegid()}
    real = path.resolve()
    folder = path if path.is_dir() else path.parent
    for place in dict.fromkeys((path, *path.parents, real, *real.parents)):
        try:
            status = place.stat()
        except OSError:
            continue
        mode = status.st_mode
        sticky = bool(mode & stat.S_ISVTX) and place not in (path, folder, real, folder.resolve())
        strangers = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and status.st_gid not in own_groups)
        if (strangers and not sticky) or status.st_uid not in (os.geteuid(), 0):
            raise Untrusted(
                f"{place} belongs to another user, or others can write to it and put code there: "
                f"change its owner or mode, or set {variable} to another folder"
            )


def read() -> tuple[list[Entry], list[str]]:
    """Return the entries of the cache, and a line for each that is left out.

    The result is empty where the cache does not exist, or cannot be trusted.
    """
    folder = places.kept_headers()
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    except OSError as problem:
        return [], [f"gpu_envs leaves out what `build` made: {folder}: {problem.strerror}"]
    try:
        if names:
            check_trust(folder)
    except Untrusted as problem:
        return [], [f"gpu_envs leaves out what `build` made: {problem}"]
    found, problems = [], []
    for name in names:
        try:
            found.append(_entry(folder / name))
        except (OSError, ValueError, RuntimeError) as problem:  # or JSON that is too deep
            problems.append(left_out(name, str(getattr(problem, "strerror", None) or problem)))
    return found, problems


def left_out(name: str, why: str) -> str:
    """Return the warning for an entry that cannot be used."""
    return (
        f"gpu_envs leaves out {places.kept_headers() / name}: {why}. Build its header again, or "
        f"remove the entry: `python -m gpu_envs build --forget {name}`"
    )


def _entry(path: Path) -> Entry:
    """Read one entry; another release, or a person, may have written another form."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a file")
    check_trust(path)
    if status.st_size > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST >> 20} MiB")
    held = json.loads(path.read_bytes())
    if not isinstance(held, dict) or not isinstance(held.get("environments"), list):
        raise ValueError("it is not an entry of `build`")
    header = held.get("header")
    if not isinstance(header, str) or not os.path.isabs(header) or "\0" in header:
        raise ValueError("it does not name a header by its absolute path")
    for said in held["environments"]:
        _check(said)
    return Entry(Path(header), held["environments"], path.name)


def _check(said: object) -> None:
    """Refuse a description whose parts are missing or of another type."""
    if not isinstance(said, dict):
        raise ValueError("an environment in it is not an object")
    for name, types in _SAID.items():
        value = said.get(name, ...)
        if not isinstance(value, types) or isinstance(value, bool):
            raise ValueError(f"`{name}` of an environment in it is missing or of another type")
    json.dumps(said, ensure_ascii=False).encode()  # half a surrogate pair could not be printed
    if said["max_episode_steps"] < 0:
        raise ValueError("`max_episode_steps` of an environment in it is negative")
    for name in _LISTS:
        if name in said or name in _LISTS_NEEDED:
            _check_fields(name, said.get(name))


def _check_fields(where: str, described: object) -> None:
    """Refuse a value that is not a list of fields with the right types."""
    if not isinstance(described, list) or not all(isinstance(field, dict) for field in described):
        raise ValueError(f"`{where}` of an environment in it is not a list of fields")
    for field in described:
        for name, types in _FIELD.items():
            if name in field or name in _FIELD_NEEDS:
                _check_part(f"`{name}` in `{where}` of it", name, field.get(name, ...), types)


def _check_part(label: str, name: str, value: object, types: tuple[type, ...]) -> None:
    """Refuse a part of a field that is missing or of another type."""
    parts = value if isinstance(value, list) else []
    fits = isinstance(value, types) and all(isinstance(part, _PARTS[name]) for part in parts)
    if not fits or any(isinstance(part, bool) for part in (value, *parts)):
        raise ValueError(f"{label} is missing or of another type")
