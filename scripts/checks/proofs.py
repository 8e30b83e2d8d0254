"""Run a command unless it has passed before with the same files: a proof is kept and believed.

    .venv/bin/python scripts/checks/proofs.py [--anew] NAME --reads PATH [PATH ...] -- COMMAND...

A proof says that a command passed. Its name is a hash of all that the result can depend on: the
program and its libraries, the arguments, the files read, the environment, the processors. A failure
is never kept. Proofs lie in the user's store (`GPU_ENVS_STORE`), for all clones, and can be deleted
at any time. `--anew` believes none.

Folders after --reads are taken whole. The command gets the variables of `PASSED` and no others.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.building import kept, places, store  # noqa: E402
from gpu_envs.building.objects import digest  # noqa: E402

PASSED: tuple[str, ...]
PASSED = ("PATH", "HOME", "TMPDIR", "USER", "LANG", "LC_ALL", "CXX", "CXXFLAGS", "NVCC")
PASSED += ("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "GPU_ENVS_*")
# Where pip finds packages: checks of a wheel install it.
PASSED += ("PIP_*", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PASSED += ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PLACES = {"TMPDIR", "GPU_ENVS_CACHE", "GPU_ENVS_STORE"}  # they say where files go, not which
_LARGEST = 1 << 16  # bytes of a proof


# ---- names


_hashes: dict[tuple[str, int, int, int, int], str] = {}


def content(path: Path) -> str:
    """Return the hash of a file's bytes; each version of a file is read once."""
    status = path.stat()
    key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if key not in _hashes:
        made = hashlib.blake2b(digest_size=16)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                made.update(block)
        _hashes[key] = made.hexdigest()
    return _hashes[key]


def contents(path: Path) -> Iterator[str]:
    """Yield the names and hashes of the files of a folder, or the hash of one file."""
    if not path.is_dir():
        yield content(path)
        return
    seen: dict[str, str] = {}  # a folder that links lead to again, perhaps without end, counts once
    for place, folders, files in os.walk(path, followlinks=True):
        inner = os.path.relpath(place, path)
        first = seen.setdefault(os.path.realpath(place), inner)
        if first != inner:
            folders.clear()
            yield f"{inner} is {first}"
            continue
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            file = Path(place, name)
            yield str(file.relative_to(path))
            yield content(file) if file.is_file() else "no file"


@functools.cache
def machine() -> str:
    """Return the kind and number of the processors that a command may run on."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "flags", "CPU part", "Features"):
                found.setdefault(name.strip(), value.strip())
    count = len(os.sched_getaffinity(0))
    return digest(platform.machine(), str(count), *sorted(" ".join(each) for each in found.items()))


@functools.cache
def _listed(program: Path) -> tuple[Path, ...]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    words = (word for line in listed.stdout.splitlines() for word in line.split())
    return tuple(sorted({Path(os.path.realpath(word)) for word in words if word[0] == "/"}))


def libraries(program: Path) -> list[Path]:
    """Return what is loaded with a program: its shared libraries, or the interpreter of a script.

    Those of the system are among them: another libstdc++ may give other results.
    """
    with program.open("rb") as file:
        first = file.readline(4096)
    if not first.startswith(b"#!"):
        return [found for found in _listed(program) if found != program]
    words = first[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = words[1:]
    interpreter = shutil.which(words[0]) if words else None
    return [Path(interpreter).resolve()] if interpreter else []


def of_program(program: Path, beside: Iterable[Path] = ()) -> str:
    """Return the hash of a program, of its libraries, and of modules that it opens by itself."""
    files = [program, *libraries(program)]
    for module in beside:
        files += [module, *libraries(module)]
    return digest(*(word for file in files for word in (file.name, content(file))))


# ---- what is kept


class Proofs:
    """The proofs of one store. `problem` says why none are believed, or none kept; it may be empty.

    With `anew` earlier ones are ignored, and new ones are kept.
    """

    def __init__(self, *, anew: bool = False) -> None:
        self.folder = places.store_folder() / "proofs"
        self.anew = anew
        self.problem = ""
        self._trusted = True
        if self.folder.is_dir():
            self._check_trust()
        if self._trusted and self.folder.is_dir():
            store.prune_now_and_then(self.folder.parent)  # proofs that nobody asked for in months

    def _check_trust(self) -> None:
        try:
            kept.check_trust(self.folder, "GPU_ENVS_STORE")
        except kept.Untrusted as problem:
            self._trusted = False
            self.problem = f"no proof is believed or kept: {problem}"

    def hold(self, name: str) -> bool:
        """Whether something of this name has passed; its proof counts as used now."""
        path = self.folder / f"{name}.json"
        if self.anew or not self._trusted:
            return False
        try:
            kept.check_trust(path, "GPU_ENVS_STORE")
            with path.open("rb") as file:
                found = json.loads(file.read(_LARGEST))
            said = found.pop("hash")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            return False
        if found.get("name") != name or said != _hash_of(found):
            return False
        with contextlib.suppress(OSError):
            os.utime(path)
        return True

    def keep(self, name: str, label: str, seconds: float) -> None:
        """Keep that something passed; where nothing can be written, only `problem` is set."""
        said: dict[str, object] = {"name": name, "label": label, "seconds": round(seconds, 3)}
        text = json.dumps({**said, "hash": _hash_of(said)})
        if not self._trusted:
            return
        try:
            store.make(self.folder.parent)
            self._check_trust()
            if self._trusted:
                places.write(self.folder / f"{name}.json", text)
        except OSError as problem:
            self.problem = f"no proof is kept: {self.folder}: {problem.strerror}"


def _hash_of(said: Mapping[str, object]) -> str:
    return digest(json.dumps(said, sort_keys=True))


# ---- commands


def passed_on() -> dict[str, str]:
    """Return the variables that a command gets; with the store, which others may lead to."""
    beginnings = tuple(name[:-1] for name in PASSED if name.endswith("*"))
    held = os.environ.items()
    found = {name: text for name, text in held if name in PASSED or name.startswith(beginnings)}
    with contextlib.suppress(places.CannotBuild):  # it says so itself
        found["GPU_ENVS_STORE"] = str(store.folders(quiet=True)[-1])
    return found


def _written(key: str, text: str) -> str:
    """Return a variable's text; flags are the same however far apart they stand."""
    if key == "CXXFLAGS":
        with contextlib.suppress(ValueError):
            return shlex.join(shlex.split(text))
    return text


def _packages(program: str) -> list[str]:
    """Return names and versions of what is installed beside an interpreter of its own."""
    home = Path(program).parent.parent
    if not (home / "pyvenv.cfg").exists():
        return []
    return sorted(path.name for path in home.glob("lib/python*/site-packages/*.dist-info"))


def name_of(name: str, reads: Sequence[Path], command: Sequence[str]) -> str:
    """Return the name of a command's proof: the same in each clone, as far as results are."""
    program = shutil.which(command[0])
    if program is None:
        raise places.CannotBuild(f"{name}: there is no program {command[0]}")
    outside = sorted(reads, key=lambda path: len(str(path)), reverse=True)

    def bare(word: str) -> str:
        for path in outside:
            if not path.is_relative_to(ROOT):
                word = word.replace(str(path), f"$READS{reads.index(path)}")
        return word.replace(str(ROOT), "$ROOT")

    parts = [name, machine(), of_program(Path(program).resolve()), *_packages(program)]
    parts += [
        f"{key}={bare(_written(key, text))}"
        for key, text in sorted(passed_on().items())
        if key not in _PLACES
    ]
    for word in command[1:]:
        parts += ["word", bare(word), content(Path(word)) if os.path.isfile(word) else ""]
    read = []
    for path in reads:
        if not path.exists():
            raise places.CannotBuild(f"{name}: it is said to read {path}, which does not exist")
        read.append((bare(str(path)), *contents(path)))
    for words in sorted(read):  # in whatever order somebody has found them
        parts += ["reads", *words]
    return digest(*parts)


def run(name: str, reads: Sequence[Path], command: Sequence[str], *, anew: bool) -> int:
    """Run a command unless it is proven; return its exit status."""
    proofs = Proofs(anew=anew)
    asked = name_of(name, reads, command)
    if proofs.hold(asked):
        print(f"{name}: proven before", flush=True)
        return 0
    begun = time.monotonic()
    status = subprocess.run(command, env=passed_on(), check=False).returncode
    if status == 0:
        if name_of(name, reads, command) == asked:
            proofs.keep(asked, name, time.monotonic() - begun)
        else:
            proofs.problem = "this run is not kept: what it reads changed meanwhile"
    if proofs.problem:
        print(f"{name}: {proofs.problem}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def main(arguments: Sequence[str]) -> int:
    """Read the command line."""
    given, command = list(arguments), list[str]()
    if "--" in given:
        border = given.index("--")
        given, command = given[:border], given[border + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        usage="%(prog)s [--anew] NAME --reads PATH... -- COMMAND...",
    )
    parser.add_argument("name", metavar="NAME", help="what is proven, for people")
    parser.add_argument("--anew", action="store_true", help="run it whatever is proven")
    parser.add_argument(
        "--reads",
        nargs="+",
        type=Path,
        required=True,
        metavar="PATH",
        help="files and folders that it reads",
    )
    options = parser.parse_args(given)
    if not command:
        parser.error("no command: it stands behind --")
    reads = [Path(os.path.abspath(path)) for path in options.reads]
    try:
        return run(options.name, reads, command, anew=options.anew)
    except (places.CannotBuild, OSError) as problem:
        print(f"proofs: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
