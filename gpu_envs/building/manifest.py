"""The files of an installed package with their hashes, so that a damaged file is refused by name.

`manifest.json` in the package lists every file that was shipped. Built files have labels of their
own (labels.py), and modules' data files stand on those; here is what is read as text: the
catalogue, measures, the headers that `build` compiles against. A source tree has no manifest: its
files are the author's to change.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

from . import places
from .places import Damaged, hash_of

NAME = "manifest.json"
REMEDY = "install gpu_envs again"
_HEADERS = "kernels/"
_UNLISTED = ("__pycache__", NAME)


def _files(package: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file of a package, except files that Python or a system adds."""
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        if path.is_file() and not any(p in _UNLISTED or places.is_hidden(p) for p in parts):
            yield "/".join(parts), path


def write(package: Path) -> None:
    """Write the list of files of a complete package."""
    files = {name: hash_of(path.read_bytes()) for name, path in _files(package)}
    held = {"hash": _hash_of(files), "files": files}
    places.write(package / NAME, json.dumps(held, indent=0) + "\n")


def _hash_of(files: dict[str, str]) -> str:
    return hash_of(json.dumps(files, sort_keys=True).encode())


@functools.cache
def _held() -> dict[str, str]:
    path = places.PACKAGE / NAME
    try:
        held = json.loads(_content(path))
        files: dict[str, str] = held["files"]
        if held["hash"] != _hash_of(files):
            raise ValueError("its hash does not match")
    except Damaged:
        raise
    except (ValueError, TypeError, LookupError, RecursionError) as problem:
        raise Damaged(f"{path} is damaged ({problem}): {REMEDY}") from None
    return files


def _content(path: Path) -> bytes:
    """Return the bytes of a file of the package; refuses a pipe, which could block forever."""
    if not path.exists():
        raise Damaged(f"{path} is missing: {REMEDY}")
    if not path.is_file():
        raise Damaged(f"{path} is not a regular file: {REMEDY}")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise Damaged(f"{path} cannot be read ({problem.strerror}): {REMEDY}") from None


def _is_ours(path: Path) -> bool:
    return path.is_relative_to(places.PACKAGE) and not places.is_source_tree()


def lists(path: Path) -> bool:
    """Whether the installed package was shipped with this file; never in a source tree."""
    return _is_ours(path) and path.relative_to(places.PACKAGE).as_posix() in _held()


def under(folder: Path, ending: str = "") -> list[Path]:
    """Return the shipped files of a folder, whether they still exist or not."""
    beginning = folder.relative_to(places.PACKAGE).as_posix() + "/"
    names = (name for name in _held() if name.startswith(beginning) and name.endswith(ending))
    return [places.PACKAGE / name for name in names]


def read(path: Path) -> bytes:
    """Return the bytes of a file; in an installed package only if it is as shipped.

    Raises:
        Damaged: Names the file, and a remedy.
    """
    if not _is_ours(path):
        return path.read_bytes()
    wanted = _held().get(path.relative_to(places.PACKAGE).as_posix())
    if wanted is None:
        raise Damaged(f"{path} is not a file of this release of gpu_envs: delete it")
    content = _content(path)
    if hash_of(content) != wanted:
        raise Damaged(f"{path} is damaged: its content differs from the shipped file: {REMEDY}")
    return content


def problems(*beginnings: str) -> Iterator[str]:
    """Yield a sentence for each file of an installed package that is missing or differs.

    Args:
        beginnings: Of names in the package, such as "kernels/"; none stand for all files.
    """
    if places.is_source_tree():
        return
    try:
        listed = _held()
    except Damaged as problem:
        yield str(problem)
        return
    names = set(listed) | {name for name, _ in _files(places.PACKAGE) if name.startswith(_HEADERS)}
    for name in sorted(names):
        if beginnings and not name.startswith(beginnings):
            continue
        try:
            read(places.PACKAGE / name)
        except Damaged as problem:
            yield str(problem)


def check(*beginnings: str) -> None:
    """Raise `Damaged` for the first of the problems."""
    for problem in problems(*beginnings):
        raise Damaged(problem)
