"""Modules of headers outside the tree, and the cache that holds them.

The cache has an entry per header, `headers/<key>.json`, with the header's path and what its
environments say of themselves, and the modules in a folder per engine,
`<engine>/<key>.<target>.so`, so that installations of several releases share it. A cache that
strangers can write to is refused: they could put code there.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import labels, places, recipes, rules, shipping, toolchain, upkeep


@dataclass(frozen=True)
class Entry:
    """One header that `python -m gpu_envs build` was given."""

    header: Path
    environments: list[dict[str, Any]]


def key_of(header: Path) -> str:
    """Return the name that a header's module has: two files of one name do not meet."""
    return f"{header.stem}-{labels.hash_of(str(header).encode())[:8]}"


def check_trust(path: Path) -> None:
    """Refuse what somebody else could put code into; one's own group is no stranger."""
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
            raise toolchain.CannotBuild(
                f"{place} belongs to or can be written by somebody else, who could put code there: "
                "change its owner or mode, or set GPU_ENVS_CACHE to another folder"
            )


_SAID = ("id", "max_episode_steps", "reward_threshold")  # what is read without asking


def _entry(text: str) -> Entry:
    """Read an entry; another release may have written another form."""
    held = json.loads(text)
    described = [dict(entry) for entry in held["environments"]]
    for entry in described:
        for name in _SAID:
            entry[name]
    return Entry(Path(held["header"]), described)


def _own_folder(folder: Path) -> None:
    """Make a folder of the cache that others cannot write to, and refuse one they can."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        for path in reversed(missing):
            path.mkdir(mode=0o755, exist_ok=True)
            path.chmod(0o755)  # whatever the umask
    except OSError as problem:
        raise toolchain.CannotBuild(f"{folder} cannot be made ({problem.strerror})") from None
    check_trust(folder)


def entries() -> list[Entry]:
    """Return all headers of the cache; none where it does not exist or is not to be trusted."""
    folder = places.kept_headers()
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    if not names:
        return []
    found = []
    for name in names:
        try:
            check_trust(folder / name)
            found.append(_entry((folder / name).read_text(encoding="utf-8")))
        except toolchain.CannotBuild as problem:
            warnings.warn(f"gpu_envs leaves out what `build` made: {problem}", stacklevel=2)
            return []
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def keep(header: Path, environments: list[dict[str, Any]]) -> None:
    """Write the entry of a header."""
    folder = places.kept_headers()
    _own_folder(folder)
    text = json.dumps({"header": str(header), "environments": environments})
    places.write(folder / f"{key_of(header)}.json", text)


def forget(header: Path) -> bool:
    """Remove a header and its modules from the cache; returns whether there was anything."""
    key = key_of(header)
    found = [places.kept_headers() / f"{key}.json", *places.cache_folder().glob(f"*/{key}.*.so")]
    there = [path for path in found if path.exists()]
    for path in there:
        path.unlink(missing_ok=True)
    for data in places.cache_folder().glob(f"*/{key}.data"):
        shutil.rmtree(data, ignore_errors=True)
    return bool(there)


def module_file(header: Path, target: str) -> Path:
    """Return where the module of a header lies."""
    return places.module_file(key_of(header), target, places.cache_folder() / places.engine_hash())


def module_of(header: Path, target: str) -> Path:
    """Return the module of a header, built where it is missing or older than the header.

    A header that is gone leaves its module as it is.
    """
    file = module_file(header, target)
    if not header.exists() and not file.exists():
        raise ImportError(
            f"{header} is gone, and nothing was built of it for this engine (`python -m gpu_envs "
            f"build --forget {header}` takes it out)"
        )
    try:
        check_trust(file)
    except toolchain.CannotBuild as problem:
        raise ImportError(str(problem)) from None
    if header.exists() and not upkeep.is_current(file, target):
        was = "is newer than its module" if file.exists() else f"has no module for {target} yet"
        try:
            build(header, target)
        except toolchain.CannotBuild as problem:
            raise ImportError(f"{header} {was}, and it cannot be built: {problem}") from None
    return file


def build(header: Path, target: str) -> Path:
    """Make the module of a header; the package is not touched."""
    if said := rules.breaches(header):
        raise toolchain.CannotBuild("\n".join([f"{header} cannot keep its bits:", *said]))
    file = module_file(header, target)
    _own_folder(file.parent)
    if not places.is_source_tree():
        for part in ("objects", "units"):  # what the linker takes is code too
            _own_folder(places.build_folder() / part)
    product = recipes.module(header.stem, header, target, file.parent, name=key_of(header))
    upkeep.ensure_one(product)
    shipping.keep_data(header, file)
    return file
