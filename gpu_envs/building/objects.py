"""Objects named by what made them: command, compiler, source and every header it read.

An object is taken from the store where one of that name is there, whoever asked for it first: the
package's builder, CMake for the native tests (through `launch`), a wheel. What is compared is
content, never time, and names are free of the tree's own path. For each command and source the
store remembers the headers that were read, as the last few compilations found them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_KEPT = 4  # lists of headers of one source
_MOST = 3 << 30  # bytes in a store
_HALF_DONE = ".making-"
_PATIENCE = 3600  # [s]; no compilation takes longer
_FORGOTTEN = 90 * 24 * 3600  # [s]
_DEPENDENCY = re.compile(r"(?:\\.|\S)+")
_ESCAPED = re.compile(r"\\([ #])|\$(\$)")  # as make wants names
_ORDER_FREE = ("-D", "-I")


@dataclass(frozen=True)
class Compile:
    """One object to make: `command` lacks the output and the list of dependencies."""

    command: tuple[str, ...]
    source: Path
    object: Path
    compiler: str  # what the compiler says of itself
    root: Path  # of the tree: dependencies below it count by content
    store: Path
    everywhere: bool = False  # so do all others but those of the system
    report: bool = False  # keep what the command printed beside the object
    weight: int = 0  # long units begin first
    seconds: float = _PATIENCE  # it is ended after this time


def digest(*parts: str | bytes) -> str:
    """Return a hash of several parts, none of which can be taken for another."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little") + data)
    return made.hexdigest()


def words_of(job: Compile) -> list[str]:
    """Return compiler and flags of a command, without the tree's own path.

    Of two flags the later wins, so their order counts; definitions and folders come first, as CMake
    has them.
    """
    words = [word.replace(str(job.root), "$ROOT") for word in job.command[1:]]
    free = {word for word in words if word.startswith(_ORDER_FREE)}
    efforts = [word for word in words if word.startswith("-O")][-1:]
    rest = [word for word in words if not word.startswith((*_ORDER_FREE, "-O"))]
    return [job.compiler, *sorted(free), *rest, *efforts]


def _command_key(job: Compile) -> str:
    return digest(*words_of(job), job.source.read_bytes())


def _lists_file(job: Compile) -> Path:
    return job.store / f"{_command_key(job)}.headers"


def _read_lists(job: Compile) -> list[list[str]]:
    try:
        found: list[list[str]] = json.loads(_lists_file(job).read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return []


def _object_key(job: Compile, headers: Sequence[str]) -> str | None:
    parts: list[str | bytes] = [_command_key(job)]
    for name in headers:
        try:
            parts += [name, (job.root / name).read_bytes()]
        except OSError:
            return None
    return digest(*parts)


def stored(job: Compile) -> tuple[Path, list[str]] | None:
    """Return the object that a command would make, and its headers, if it is there."""
    for headers in reversed(_read_lists(job)):
        key = _object_key(job, headers)
        if key is None:
            continue
        path = job.store / f"{key}.o"
        if path.exists() and (not job.report or path.with_suffix(".txt").exists()):
            return path, headers
    return None


def _dependencies(text: str) -> list[str]:
    """Return the files that a list of dependencies names after its target."""
    words = _DEPENDENCY.findall(text.replace("\\\n", " "))
    after = next((k for k, word in enumerate(words) if word.endswith(":")), -1)
    return [_ESCAPED.sub(lambda found: found[1] or found[2], word) for word in words[after + 1 :]]


def _escaped(name: str) -> str:
    return name.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _own(job: Compile, paths: Sequence[str]) -> list[str]:
    """Keep the dependencies that may change: those of the tree; where it is asked, all.

    A name in the tree is one of the tree's, whatever it links to.
    """
    root, source = job.root.resolve(), job.source.resolve()
    kept = set()
    for name in paths:
        path = Path(os.path.normpath(job.root / name))
        real = path.resolve()
        if real == source:
            continue
        inside = next((p for p in (path, real) if p.is_relative_to(root)), None)
        if inside is not None:
            kept.add(str(inside.relative_to(root)))
        elif path.is_relative_to(job.root):
            kept.add(str(path.relative_to(job.root)))
        elif job.everywhere:
            kept.add(str(path))
    return sorted(kept)


Run = Callable[[Sequence[str], Path], subprocess.CompletedProcess[str]]


def _run(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        cwd=cwd,
    )


def make(job: Compile, run: Run = _run) -> tuple[int, str, list[str]]:
    """Run a command and store its object; return exit status, what it printed, and headers.

    `run` may set limits: CMake, which calls this file as a program, has none.
    """
    job.store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=job.store, prefix=_HALF_DONE) as folder:
        made, listed = Path(folder) / "made.o", Path(folder) / "made.d"
        begun = os.stat(folder).st_ctime_ns  # by the clock that headers are dated by
        asked = _command_key(job)
        command = [*job.command, "-MMD", "-MF", str(listed), "-MT", "made.o", "-c", str(job.source)]
        done = run([*command, "-o", str(made)], job.root)
        if done.returncode or not made.exists():
            return done.returncode or 1, done.stdout, []
        headers = _own(job, _dependencies(listed.read_text(encoding="utf-8")))
        if lost := [name for name in headers if not (job.root / name).exists()]:
            return 1, f"{job.source}: it includes {lost[0]!r}, whose name cannot be followed\n", []
        key = _object_key(job, headers)
        if key is None or asked != _command_key(job) or _changed_since(begun, job, headers):
            return 1, f"{job.source}: a header changed while it was compiled: try again\n", []
        lists = [known for known in _read_lists(job) if known != headers][-_KEPT + 1 :]
        (Path(folder) / "lists").write_text(json.dumps([*lists, headers]), encoding="utf-8")
        os.replace(Path(folder) / "lists", _lists_file(job))
        if job.report:
            (Path(folder) / "made.txt").write_text(done.stdout, encoding="utf-8")
            os.replace(Path(folder) / "made.txt", job.store / f"{key}.txt")
        os.replace(made, job.store / f"{key}.o")
    return 0, done.stdout, headers


def _changed_since(begun: int, job: Compile, headers: Sequence[str]) -> bool:
    """Whether a header was edited while the compiler ran: the object is not of what is there now.

    The time that the system keeps, since tools set the other one as they like.
    """
    return any((job.root / name).stat().st_ctime_ns > begun for name in headers)


def place(stored_object: Path, to: Path) -> None:
    """Put an object where a linker looks for it, by a link where that is possible.

    What ptxas said of it lies beside it, for scripts/check_spills.py.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    files = {stored_object: to, stored_object.with_suffix(".txt"): to.with_suffix(".ptxas.txt")}
    for source, target in files.items():
        if not source.exists():
            target.unlink(missing_ok=True)
            continue
        # Renamed into place: a name that is written to may be another object of the store.
        with tempfile.TemporaryDirectory(dir=to.parent, prefix=_HALF_DONE) as folder:
            half = Path(folder) / target.name
            try:
                os.link(source, half)
            except OSError:
                shutil.copyfile(source, half)
            os.replace(half, target)
    touch(stored_object)


def touch(stored_object: Path) -> None:
    """Note that an object was asked for; its time of change is left, which Ninja compares."""
    with contextlib.suppress(OSError):
        status = stored_object.stat()
        os.utime(stored_object, ns=(time.time_ns(), status.st_mtime_ns))


def _sizes(store: Path) -> list[tuple[int, int, Path]]:
    """Return when each object was asked for, its bytes, and where it is."""
    found = []
    for path in store.glob("*.o"):
        with contextlib.suppress(OSError):  # others prune too
            status = path.stat()
            found.append((status.st_atime_ns, status.st_size, path))
    return sorted(found)


def prune(store: Path) -> None:
    """Forget the objects that were asked for longest ago, where they are very large together.

    And what compilations left that were killed, and lists of headers that nobody used for long.
    """
    for left in [*store.glob(f"{_HALF_DONE}*"), *store.glob("*.headers")]:
        patience = _PATIENCE if left.name.startswith(_HALF_DONE) else _FORGOTTEN
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - patience:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    objects = _sizes(store)
    excess = sum(size for _, size, _ in objects) - _MOST
    for _, size, path in objects:
        if excess <= 0:
            break
        excess -= size
        for suffix in (".o", ".txt"):
            path.with_suffix(suffix).unlink(missing_ok=True)


_ASKED = ("CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH")


def compiler_identity(compiler: str) -> str:
    """Return what a compiler says of itself, by whichever name it is called.

    And what it reads of the environment beside its command.
    """
    version, machine = (
        subprocess.run([compiler, flag], capture_output=True, text=True, check=False).stdout
        for flag in ("--version", "-dumpmachine")
    )
    first = version.partition("\n")[0].removeprefix(Path(compiler).name)
    asked = [f"{name}={os.environ[name]}" for name in _ASKED if os.environ.get(name)]
    return " ".join([first.strip(), machine.strip(), *asked])


# ---- CMake's launcher: `objects.py STORE ROOT compiler arguments...`

_TAKES_VALUE = {"-o", "-MF", "-MT", "-MQ"}


def launch(arguments: Sequence[str]) -> int:
    """Run one compile command of CMake's through the store; anything else, as it is."""
    store, root, compiler, *given = arguments
    asked = asked_for(Path(store), Path(root), [compiler, *given])
    if asked is None:
        return subprocess.run([compiler, *given], check=False).returncode
    return _serve(*asked)


def asked_for(
    store: Path, root: Path, command: Sequence[str]
) -> tuple[Compile, dict[str, str]] | None:
    """Read one of CMake's compile commands; None where it is something else."""
    compiler, *given = command
    kept: list[str] = []
    values: dict[str, str] = {}
    words = iter(given)
    for word in words:
        if word in _TAKES_VALUE:
            values[word] = next(words)
        elif word not in ("-MD", "-c"):
            kept.append(word)
    sources = [word for word in kept if word.endswith((".cpp", ".cc", ".cxx"))]
    if "-c" not in given or "-o" not in values or len(sources) != 1:
        return None
    kept.remove(sources[0])
    job = Compile(
        command=(compiler, *kept),
        source=Path(sources[0]),
        object=Path(values["-o"]),
        compiler=compiler_identity(compiler),
        root=root,
        store=store,
    )
    return job, values


def _serve(job: Compile, values: dict[str, str]) -> int:
    """Put an object, made or found, and its list of headers where CMake wants them."""
    found = stored(job)
    if found is None:
        status, printed, _ = make(job)
        sys.stderr.write(printed)
        if status:
            return status
        found = stored(job)
        if found is None:
            return 1
    made, headers = found
    place(made, job.object)
    os.utime(job.object)  # Ninja asks for what is newer than its headers
    if "-MF" in values:
        names = [str(job.source), *(str(job.root / name) for name in headers)]
        listed = " \\\n  ".join(_escaped(name) for name in names)
        Path(values["-MF"]).write_text(f"{values.get('-MT', values['-o'])}: {listed}\n")
    return 0


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1:]))
