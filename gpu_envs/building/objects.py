"""Object files, keyed by their inputs: command, compiler, source and every header it read.

The package's builder in any tree, CMake for the native tests (`launcher`) and wheels share objects
through the store. Keys compare content, never time, and contain no paths of trees. For each command
and source the store keeps the lists of headers of the last few compilations. An object that was
compiled without a warning serves with -Werror and without.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import limits, places, store
from .store import Record

_KEPT = 4  # lists of headers of one source
_PATIENCE = 3600  # [s]; no compilation takes longer
_HALF_DONE = ".making-"
_DEPENDENCY = re.compile(r"(?:\\.|\S)+")
_ESCAPED = re.compile(r"\\([ #])|\$(\$)")  # names as make writes them
_FIRST = ("-D", "-U", "-I")
_STRICT = ("-Werror", "-Werror=all-warnings")
_LOOKED_IN = ("-I", "-iquote", "-isystem")
_WARNING = re.compile(r"\bwarning\b", re.IGNORECASE)


@dataclass(frozen=True)
class Compile:
    """One object to make: `command` lacks the output and the list of dependencies."""

    command: tuple[str, ...]
    source: Path
    object: Path
    compiler: str  # identity of the compiler
    root: Path  # of the tree
    stores: tuple[Path, ...]  # stores to search; the last is written to
    system: tuple[str, ...] = ()  # folders of headers that are the compiler's own
    folders: tuple[tuple[str, Path], ...] = ()  # further ones whose place is not part of a name
    report: bool = False  # keep what the command printed beside the object
    weight: int = 0  # long units start first
    seconds: float = _PATIENCE  # [s], after which it is stopped
    variables: tuple[tuple[str, str], ...] = ()  # of the environment, which change no object

    @functools.cached_property
    def names(self) -> list[tuple[str, str]]:
        """Folders that are written as a name, the innermost first."""
        all_of_them = [("$ROOT", self.root), *self.folders]
        return sorted(
            ((name, str(path)) for name, path in all_of_them), key=lambda pair: -len(pair[1])
        )

    @functools.cached_property
    def system_folders(self) -> tuple[str, ...]:
        """Folders of headers that are the compiler's own, or of packages."""
        words = self.command
        given = [words[k + 1] for k, word in enumerate(words[:-1]) if word == "-isystem"]
        return tuple(f"{folder}/" for folder in (*self.system, *given))

    @property
    def is_strict(self) -> bool:
        """Whether a warning is an error."""
        return any(word in _STRICT for word in self.command)


def digest(*parts: str | bytes) -> str:
    """Return a hash of several parts that keeps the borders between them."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little") + data)
    return made.hexdigest()


def _placeless(job: Compile, word: str) -> str:
    """Replace the folders of a command whose paths differ between trees."""
    for name, path in job.names:
        if path in word:
            parts = re.split(re.escape(path) + r"(?![\w.-])", word)
            word = name.join(parts)
    return word


def words_of(job: Compile) -> list[str]:
    """Return compiler and flags of a command, without the tree's own path.

    Of two flags the later wins, so their order counts; but definitions and folders come first, as
    CMake puts them.
    """
    words = _joined([_placeless(job, word) for word in job.command[1:] if word not in _STRICT])
    first = [word for word in words if word.startswith(_FIRST)]
    efforts = [word for word in words if word.startswith("-O")][-1:]
    rest = [word for word in words if not word.startswith((*_FIRST, "-O"))]
    return [job.compiler, *first, *rest, *efforts]


def _joined(words: Sequence[str]) -> list[str]:
    """Return words with the value of `-D V` behind its flag."""
    found: list[str] = []
    for word in words:
        if found and found[-1] in _FIRST:
            found[-1] += word
        else:
            found.append(word)
    return found


def _command_key(job: Compile) -> str:
    source = "" if job.source.parent.name == "units" else _placeless(job, str(job.source))
    return digest(*words_of(job), source, job.source.read_bytes())


def _lists_file(folder: Path, job: Compile) -> Path:
    return folder / "made" / f"{_command_key(job)}.headers"


def _read_lists(folder: Path, job: Compile) -> list[list[str]]:
    """Return the known lists of headers of a command; () for a damaged file."""
    found = places.read_json(_lists_file(folder, job))
    lists = found if isinstance(found, list) else []
    return [
        names
        for names in lists
        if isinstance(names, list) and all(isinstance(name, str) for name in names)
    ]


# ---- headers


def path_of(job: Compile, name: str) -> str:
    """Return the path of a listed header in this tree."""
    start, slash, rest = name.partition("/")
    folder = next((path for known, path in job.names if known == start), None)
    return folder + slash + rest if folder is not None else name


def _is_system(job: Compile, path: str) -> bool:
    return path.startswith(job.system_folders)


@functools.lru_cache(maxsize=1 << 16)
def _digest_at(path: str, _state: tuple[int, int, int, int]) -> str:
    with open(path, "rb") as file:
        return digest(file.read())


def _content(job: Compile, path: str) -> str | bytes:
    """Return the content of a header, or a hash; of the system's, as long as it seems unchanged."""
    s = os.stat(path)
    if not stat.S_ISREG(s.st_mode):
        raise OSError(f"{path} is not a regular file")  # a pipe would block
    if not _is_system(job, path):
        with open(path, "rb") as file:
            return file.read()
    return _digest_at(path, (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))


def _object_key(job: Compile, headers: Sequence[str]) -> str | None:
    parts: list[str | bytes] = [_command_key(job)]
    try:
        for name in headers:
            parts += [name, _content(job, path_of(job, name))]
    except (OSError, ValueError):  # or an invalid file name
        return None
    return digest(*parts, *_in_the_way(job, headers))


def _in_the_way(job: Compile, headers: Sequence[str]) -> list[str]:
    """Return the existing files that an include search would find before a header.

    A new header in an earlier folder makes another object.
    """
    looked_in = {os.path.dirname(job.source), *job.system}
    for k, word in enumerate(job.command):
        for flag in _LOOKED_IN:
            if word == flag and k + 1 < len(job.command):
                looked_in.add(job.command[k + 1])
            elif word.startswith(flag) and flag != word:
                looked_in.add(word[len(flag) :])
    paths = [path_of(job, name) for name in headers]
    looked_in |= {os.path.dirname(path) for path in paths if not _is_system(job, path)}
    beside: dict[str, list[str]] = {}
    for folder in sorted({os.path.join(job.root, folder) for folder in looked_in}):
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                beside.setdefault(name, []).append(folder)
    return sorted(
        _placeless(job, other)
        for path in paths
        for other in _others(path, beside)
        if os.path.isfile(other)
    )


def _others(path: str, beside: dict[str, list[str]]) -> Iterator[str]:
    """Yield other places of a header, in folders that have the first part of its path."""
    rest = path
    while rest:
        rest, _, last = rest.rpartition("/")
        tail = path[len(rest) + 1 :]
        for folder in beside.get(last, ()):
            other = f"{folder}/{tail}"
            if other != path:
                yield other


def _dependencies(text: str) -> list[str]:
    """Return the files that a list of dependencies names after its target."""
    words = _DEPENDENCY.findall(text.replace("\\\n", " "))
    after = next((k for k, word in enumerate(words) if word.endswith(":")), -1)
    return [_ESCAPED.sub(lambda found: found[1] or found[2], word) for word in words[after + 1 :]]


def _named(job: Compile, paths: Sequence[str]) -> list[str]:
    """Return the headers of a list of dependencies, by names that hold in every tree.

    A name in the tree is one of the tree's, whatever it links to.
    """
    root, source = job.root.resolve(), job.source.resolve()
    found = set()
    for name in paths:
        path = Path(os.path.normpath(job.root / name))
        real = path.resolve()
        if real == source:
            continue
        if not path.is_relative_to(job.root) and real.is_relative_to(root):
            path = job.root / real.relative_to(root)
        known = next((n for n, folder in job.names if path.is_relative_to(folder)), None)
        if known is None:
            found.add(str(path))
        else:
            found.add(f"{known}/{path.relative_to(dict(job.names)[known])}")
    return sorted(found)


def own(job: Compile, headers: Sequence[str]) -> list[str]:
    """Return the headers that are not the compiler's: below the tree's root by their names there.

    The product's label keeps these, so that an edit is noticed.
    """
    root = f"{job.root}/"
    paths = (path_of(job, name) for name in headers)
    return sorted(path.removeprefix(root) for path in paths if not _is_system(job, path))


# ---- finding and making


def found(job: Compile) -> tuple[Record, list[str]] | None:
    """Return the stored object of a command, and its headers."""
    for folder in job.stores:
        for headers in reversed(_read_lists(folder, job)):
            key = _object_key(job, headers)
            if key is None:
                continue
            record = store.find(folder, key) or store.find(folder, _key_here(job, key))
            if record is None:
                continue
            if record.strict or not (job.is_strict and _WARNING.search(record.said)):
                return record, headers
    return None


def stored(job: Compile) -> tuple[Path, list[str]] | None:
    """Return the object of a command, and its own headers, if it is stored."""
    there = found(job)
    return (there[0].object, own(job, there[1])) if there else None


def _key_here(job: Compile, key: str) -> str:
    """Return the key of an object that contains the path of a folder of this tree."""
    return digest(key, *(path for _, path in job.names))


def make(job: Compile) -> tuple[int, str, list[str]]:
    """Run a command and store its object; return exit status, what it printed, and own headers."""
    folder = job.stores[-1]
    if not job.source.is_file():
        return 1, f"{job.source} is not there\n", []
    try:
        with store.workplace(folder) as work:
            return _make(job, folder, work)
    except OSError as problem:
        where = problem.filename or folder
        remedy = "GPU_ENVS_STORE names another folder for objects"
        return 1, f"{where} cannot be used ({problem.strerror}): {remedy}\n", []


def _make(job: Compile, folder: Path, work: Path) -> tuple[int, str, list[str]]:
    made, listed = work / "made.o", work / "made.d"
    begun = _now(job)
    asked = _command_key(job)
    command = [*job.command, "-MD", "-MF", str(listed), "-MT", "made.o", "-c", str(job.source)]
    if any(word.startswith("-fsanitize") for word in command):  # they keep names as they are given
        command = [word.replace(f"{job.root}/", "") for word in command]
    done = limits.run(
        [*command, "-o", str(made)], job.root, seconds=job.seconds, variables=job.variables
    )
    if done.returncode or not made.exists():
        return done.returncode or 1, done.stdout, []
    headers = _named(job, _dependencies(listed.read_text("utf-8", "surrogateescape")))
    if lost := [name for name in headers if not os.path.exists(path_of(job, name))]:
        return 1, f"{job.source}: it includes {lost[0]!r}, whose name cannot be followed\n", []
    key = _object_key(job, headers)
    if key is None or asked != _command_key(job) or _changed(job, headers, begun):
        return 1, f"{job.source}: a header changed while it was compiled: try again\n", []
    lists = [known for known in _read_lists(folder, job) if known != headers][-_KEPT + 1 :]
    data = made.read_bytes()
    holds_path = any(path.encode() in data for _, path in job.names)
    record = Record(made, done.stdout, job.is_strict, done.processor)
    store.put(folder, _key_here(job, key) if holds_path else key, record)
    places.write(_lists_file(folder, job), json.dumps([*lists, headers]))
    store.prune_now_and_then(folder)
    return 0, done.stdout, own(job, headers)


def _now(job: Compile) -> int:
    """Return the present time by the clock of the tree's file system, which dates headers."""
    job.object.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=job.object.parent) as file:
        return os.fstat(file.fileno()).st_ctime_ns


def _changed(job: Compile, headers: Sequence[str], begun: int) -> bool:
    """Whether a header was edited while the compiler ran, so that the object is outdated.

    The change time decides, since tools can set the modification time; links count with their own
    too. A time in the future is from before the clock was set back.
    """
    paths, ended = [path_of(job, name) for name in headers], _now(job)
    times = [look(path).st_ctime_ns for path in paths for look in (os.stat, os.lstat)]
    return any(begun < time <= ended for time in times)


def place(record: Record, to: Path, *, report: bool = False) -> None:
    """Copy an object to where a linker looks for it.

    A copy, since times are a file's own: Ninja asks for what is newer than its headers. What ptxas
    said lies beside it, for scripts/gpu/check_spills.py.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    said = to.with_suffix(".ptxas.txt")
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=_HALF_DONE) as folder:
        half = Path(folder) / to.name
        shutil.copyfile(record.object, half)
        os.replace(half, to)
        if report:
            (Path(folder) / said.name).write_text(record.said, encoding="utf-8")
            os.replace(Path(folder) / said.name, said)
        else:
            said.unlink(missing_ok=True)
