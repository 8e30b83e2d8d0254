"""CMake's launcher: `launcher.py ROOT compiler arguments...` compiles through the store."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

if not __package__:  # run as a file: by itself, since `import gpu_envs` takes longer than this
    __package__ = "building"
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    importlib.import_module("building")

from . import compilers, objects, places, store
from .objects import Compile

_TAKES_VALUE = {"-o", "-MF", "-MT", "-MQ"}


def launch(arguments: Sequence[str]) -> int:
    """Run a compile command of CMake's through the store, and any other command as it is."""
    root, compiler, *given = arguments
    try:
        asked = asked_for(Path(root), [compiler, *given], store.folders(quiet=True))
        if asked is not None:
            return _serve(*asked)
    except (places.CannotBuild, OSError) as problem:
        print(f"gpu_envs: {problem}", file=sys.stderr)
        return 1
    return subprocess.run([compiler, *given], check=False).returncode


def asked_for(
    root: Path, command: Sequence[str], stores: tuple[Path, ...]
) -> tuple[Compile, dict[str, str]] | None:
    """Parse one of CMake's compile commands; None for another command."""
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
    known = compilers.known(compiler, stores[-1] / "tools" if stores else None)
    job = Compile(
        command=(compiler, *kept),
        source=Path(sources[0]),
        object=Path(values["-o"]),
        compiler=known.text,
        root=root,
        stores=stores,
        system=known.system,
    )
    return job, values


def _escaped(name: str) -> str:
    return name.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _serve(job: Compile, values: dict[str, str]) -> int:
    """Put an object and its list of headers in the place that CMake expects."""
    there = objects.found(job)
    if there is None:
        status, printed, _ = objects.make(job)
        if status:
            sys.stderr.write(printed)
            return status
        there = objects.found(job)
        if there is None:
            print(f"gpu_envs: {job.source} or the store changed: try again", file=sys.stderr)
            return 1
    record, headers = there
    sys.stderr.write(record.said)
    objects.place(record, job.object)
    if "-MF" in values:
        names = [str(job.source), *(objects.path_of(job, name) for name in headers)]
        listed = " \\\n  ".join(map(_escaped, names))
        Path(values["-MF"]).write_text(f"{values.get('-MT', values['-o'])}: {listed}\n")
    return 0


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1:]))
