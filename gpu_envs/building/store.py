"""The store of objects compiled on this machine, for every tree, wheel and test of this user.

    made/<key>.json      of one question: the object's hash, bytes, what the compiler said
    objects/<hash>.o     an object, named by its content
    made/<key>.headers   the lists of headers that one command read, the last few times
    tools/, proofs/      compilers (`compilers`), and what has passed (scripts/checks/proofs.py)
    zig/                 zig's own libraries for web pages (`wasm`), which it compiles once

An object is checked against its hash at every use. Files are put in place by one rename, objects
before their records: a killed builder leaves no record. Any file may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import kept, places

LIMIT = 6 << 30  # bytes of objects
_FORGOTTEN = 90 * 24 * 3600  # [s]
_PATIENCE = 3600  # [s]; no compilation takes longer
_PRUNED_EVERY = 3600  # [s]
_HALF_DONE = ".making-"
_NAME = re.compile(r"[0-9a-f]{32}")
ZIG = "zig"
PARTS = ("made", "objects", "tools", "proofs")
_KNOWN = (*PARTS, ZIG, ".pruned", "minutes.json", "native_tests.json", "durations.json")
_HELD = (
    ("objects", "*.o"),
    ("made", "*.json"),
    ("made", "*.headers"),
    ("tools", "*.json"),
    ("proofs", "*.json"),
)


@dataclass(frozen=True)
class Record:
    """The record of one command in the store, and the path of its object."""

    object: Path
    said: str = ""  # what the compiler printed
    strict: bool = False  # made with warnings as errors, except those that flags allow
    seconds: float = 0.0  # [s] of a processor that it took


_said: set[Path] = set()


def folders(*, quiet: bool = False) -> tuple[Path, ...]:
    """Return the stores to search; the last one is written to.

    Where the user's cache cannot be used the tree has its own, and one line says so.

    Raises:
        CannotBuild: GPU_ENVS_STORE names a folder that cannot be used.
    """
    own = places.build_folder() / "store"
    wanted = places.store_folder()
    if wanted == own:
        return (_own(own),)
    try:
        _check(wanted)
        make(wanted)
    except (OSError, places.CannotBuild) as problem:
        reason = getattr(problem, "strerror", None)
        why = f"{wanted} cannot be created ({reason})" if reason else str(problem)
        if os.environ.get("GPU_ENVS_STORE"):
            raise places.CannotBuild(why) from None
        if not quiet and wanted not in _said:
            _said.add(wanted)
            print(f"gpu_envs: objects go to {own}, since {why}", file=sys.stderr)
        return (_own(own),)
    return (wanted,) if os.access(wanted / "made", os.W_OK) else (wanted, _own(own))


def _own(folder: Path) -> Path:
    """Return a tree's store, trusted as its sources are; for a package, only if it is trusted."""
    if not places.is_source_tree():
        _check(folder)
    return folder


def _check(folder: Path) -> None:
    """Refuse a folder that is not a store, or that another user could put code into."""
    for path in (folder, *(folder / part for part in PARTS)):
        kept.check_trust(path, "GPU_ENVS_STORE")
    others = (
        [path for path in folder.iterdir() if path.name not in _KNOWN] if folder.is_dir() else []
    )
    if others and not (folder / "made").is_dir():
        raise places.CannotBuild(
            f"{folder} is not a store: GPU_ENVS_STORE must name a store, an empty folder, or one "
            "that does not exist yet"
        )


def make(folder: Path) -> None:
    """Make a store unless it exists; only the user can write to it, whatever the umask."""
    for part in PARTS:
        places.make_folder(folder / part)


@contextlib.contextmanager
def workplace(store: Path) -> Iterator[Path]:
    """A folder in the store for half-made files; removed with its process or by `prune`."""
    make(store)
    with tempfile.TemporaryDirectory(dir=store, prefix=_HALF_DONE) as folder:
        yield Path(folder)


def _record_file(store: Path, key: str) -> Path:
    return store / "made" / f"{key}.json"


def _object_file(store: Path, digest: str) -> Path:
    return store / "objects" / f"{digest}.o"


def put(store: Path, key: str, made: Record) -> None:
    """Take an object from a workplace into the store; the file is moved.

    An object that another builder has stored meanwhile stays: it may be linking that one, and not
    all compilers make the same bytes twice.
    """
    there = find(store, key)
    if there is not None and (there.strict or not made.strict):
        return
    digest = places.hash_of(made.object.read_bytes())
    made.object.chmod(0o644)  # whatever the umask
    os.replace(made.object, _object_file(store, digest))
    held = {**vars(made), "object": digest}
    places.write(_record_file(store, key), json.dumps(held))


def find(store: Path, key: str) -> Record | None:
    """Return the object of a command if it is stored and whole; remove a damaged one."""
    file = _record_file(store, key)
    record = _read(store, file)
    if record is None:
        if file.exists():
            _drop(file)
        return None
    found, digest = record.object, record.object.stem
    try:
        whole = places.hash_of(found.read_bytes()) == digest
    except OSError:
        whole = False
    if not whole:
        if found.exists():
            print(f"gpu_envs: {found} is damaged: it is made again", file=sys.stderr)
        _drop(found)
        _drop(file)
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # marks the last use
    return record


def _read(store: Path, file: Path) -> Record | None:
    """Return a record; None if it is missing or damaged."""
    held = places.read_json(file)
    try:
        assert isinstance(held, dict)
        found = Record(**held)
        found.said.encode()  # half of a pair of surrogates could not be shown
        assert _NAME.fullmatch(str(found.object))
        return replace(found, object=_object_file(store, str(found.object)))
    except (AssertionError, TypeError, AttributeError, ValueError):
        return None


def _drop(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


@dataclass(frozen=True)
class Sizes:
    """The contents of a store, in numbers."""

    objects: int
    bytes: int
    proofs: int


def sizes(store: Path) -> Sizes:
    """Count the contents of a store."""
    objects = []
    for path in _files(store, "objects", "*.o"):
        with contextlib.suppress(OSError):  # others prune
            objects.append(path.stat().st_size)
    return Sizes(len(objects), sum(objects), len(_files(store, "proofs", "*.json")))


def _files(store: Path, part: str, pattern: str) -> list[Path]:
    """Return the files of a part whose names are ours; other files are never touched."""
    found = (store / part).glob(pattern)
    return [path for path in found if _NAME.fullmatch(path.stem) and path.is_file()]


def text(store: Path) -> str:
    """Return one line about a store."""
    held = sizes(store)
    return (
        f"{store}: {held.objects} objects, {held.bytes >> 20:,} MiB of at most {LIMIT >> 20:,}; "
        f"{held.proofs} proofs"
    )


def empty(store: Path) -> None:
    """Delete the contents of a store, except files of running builders."""
    for part, pattern in _HELD:
        for file in _files(store, part, pattern):
            _drop(file)
    shutil.rmtree(store / ZIG, ignore_errors=True)
    _drop_half_done(store)


def prune_now_and_then(store: Path) -> None:
    """Prune a store if the last time is more than an hour ago."""
    with contextlib.suppress(OSError), (store / ".pruned").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # others have better things to do
        if file.tell() and abs(time.time() - os.fstat(file.fileno()).st_mtime) < _PRUNED_EVERY:
            return
        file.write(".")
        file.flush()
        prune(store)


def _age(path: Path) -> float:
    """Return the seconds since a file was used; a time in the future counts as old."""
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:  # another process prunes too
        return _FORGOTTEN
    return age if age > -_PATIENCE else _FORGOTTEN


def _drop_half_done(store: Path) -> None:
    """Delete files of killed builders: those older than an hour, which no build takes."""
    for part in ("", *PARTS):
        for left in (store / part).glob(f"{_HALF_DONE}*" if not part else "tmp*"):
            if _age(left) > _PATIENCE:
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else _drop(left)


def prune(store: Path) -> None:
    """Delete the least recently used objects while all together are too large.

    Also delete objects unused for three months, and files of killed builders.
    """
    _drop_half_done(store)
    total, used = 0, set()
    for file in sorted(_files(store, "made", "*.json"), key=_age):
        record = _read(store, file)
        with contextlib.suppress(OSError):
            if record is not None and _age(file) < _FORGOTTEN:
                more = 0 if record.object in used else record.object.stat().st_size
                if total + more <= LIMIT:
                    total += more
                    used.add(record.object)
                    continue
        _drop(file)
    for part, pattern in _HELD[2:]:
        for file in _files(store, part, pattern):
            if _age(file) >= _FORGOTTEN:
                _drop(file)
    for file in _files(store, "objects", "*.o"):
        if file not in used and _age(file) > _PATIENCE:  # it may have been stored just now
            _drop(file)
