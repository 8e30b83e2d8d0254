"""Identifies compilers, and selects the environment variables that reach them.

A compiler is identified by the content of its programs, not by its name or place. It gets a fixed
list of variables and no others; those that may change its output are part of the names of objects.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import places

# What may change an object. Compilers of some systems are scripts that read variables of their own.
_NAMED = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "SOURCE_DATE_EPOCH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
)
_NAMED_PREFIXES = (
    "NIX_CFLAGS",
    "NIX_LDFLAGS",
    "NIX_CC",
    "NIX_BINTOOLS",
    "NIX_HARDENING",
    "SPACK_",
    "CRAY",
    "PE_",
    "CCACHE_",
)
# Variables of temporary folders, and of a linker.
_PASSED = ("PATH", "HOME", "TMPDIR", "TMP", "TEMP", "TERM", "LIBRARY_PATH")
_SET = {"LC_ALL": "C.UTF-8"}  # whether there was a warning is read in what they say
_PARTS = ("cc1plus", "as")  # the programs that a driver runs to make an object
_CUDA_PARTS = ("nvcc", "nvcc.profile", "cudafe++", "ptxas", "fatbinary", "bin2c", "crt/*")


_Found = tuple[str, list[str]]


@dataclass(frozen=True)
class Known:
    """The identity of a compiler."""

    text: str  # version, machine, hash of its programs, and the variables that count
    system: tuple[str, ...]  # folders of its own headers


def named_environment() -> dict[str, str]:
    """Return the variables that are part of an object's name."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if value and (name in _NAMED or name.startswith(_NAMED_PREFIXES))
    }


def environment() -> dict[str, str]:
    """Return the variables that a compiler and a linker are given."""
    passed = {name: value for name, value in os.environ.items() if name in _PASSED}
    return passed | _SET | named_environment()


def _output(command: Sequence[str], *, errors: bool = False) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, errors="replace", env=environment()
    )
    return done.stderr if errors else done.stdout


def _state(path: str) -> str:
    """Return the path of a program, and the system's record of its last change."""
    try:
        s = os.stat(path)
    except OSError:
        return path
    return f"{path} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"


def _content(path: str) -> str:
    try:
        return places.hash_of(Path(path).read_bytes())
    except OSError:
        return ""


def _programs(compiler: str) -> list[str]:
    """Return the files of a host compiler: its driver, and the programs that it runs."""
    found = [os.path.realpath(shutil.which(compiler) or compiler)]
    for part in _PARTS:
        said = _output([compiler, f"-print-prog-name={part}"]).strip()
        path = said if os.path.isabs(said) else shutil.which(said) if said else None
        found += [os.path.realpath(path)] if path else []
    return [*found, *(os.path.join(os.path.dirname(path), "specs") for path in found[1:])]


def _kept(folder: Path | None, programs: Sequence[str], find: Callable[[], _Found]) -> _Found:
    """Return what was found of these programs before, for as long as none of them changes.

    Looking through a compiler takes a quarter of a second.
    """
    if folder is None:
        return find()
    asked = json.dumps([sorted(map(_state, programs)), named_environment()])
    file = folder / f"{places.hash_of(asked.encode())}.json"
    held = places.read_json(file)
    if isinstance(held, list) and len(held) == 2 and isinstance(held[1], list):
        return str(held[0]), [str(path) for path in held[1]]
    found = find()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        places.write(file, json.dumps(found))
    except OSError:
        pass  # the cache is optional
    return found


def _hash_of_all(programs: Sequence[str]) -> str:
    return places.hash_of("".join(map(_content, programs)).encode())[:16]


def known(compiler: str, folder: Path | None = None) -> Known:
    """Return what a host compiler is, by whichever name it is called.

    `folder` keeps the result for the next process.
    """
    programs = _programs(compiler)
    text, system = _kept(folder, programs, lambda: _looked_at(compiler, programs))
    return Known(text, tuple(system))


def _looked_at(compiler: str, programs: Sequence[str]) -> _Found:
    first = _output([compiler, "--version"]).partition("\n")[0]
    version = first.removeprefix(os.path.basename(compiler)).strip()
    machine = _output([compiler, "-dumpmachine"]).strip()
    given = [f"{name}={value}" for name, value in named_environment().items()]
    said = _output([compiler, "-E", "-v", "-x", "c++", os.devnull], errors=True)
    listed = said.partition("#include <...> search starts here:")[2].partition("End of search")[0]
    folders = {os.path.normpath(line.strip()) for line in listed.splitlines() if line.strip()}
    folders |= {os.path.realpath(folder) for folder in folders}
    return " ".join([version, machine, _hash_of_all(programs), *given]), sorted(folders)


def cuda_parts(top: Path, folder: Path | None = None) -> str:
    """Return a hash of the programs and device libraries of a CUDA compiler that lies in `top`."""
    files = [path for name in _CUDA_PARTS for path in sorted((top / "bin").glob(name))]
    files += sorted((top / "nvvm").rglob("*"))
    names = [str(path) for path in files if path.is_file()]
    return _kept(folder, names, lambda: (_hash_of_all(names), []))[0]


def zig_version(path: str) -> str:
    """Return the version that zig reports."""
    return _output([path, "version"]).strip()


def zig_identity(path: str, folder: Path | None = None) -> str:
    """Return zig's version and a hash of the program, whose compilers are in it."""
    found, _ = _kept(
        folder, [path], lambda: (f"zig {zig_version(path)} {_hash_of_all([path])}", [])
    )
    return found
