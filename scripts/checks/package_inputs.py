"""Lists what a wheel and its checks are a function of, a line each: `make wheel` asks for it.

Usage: scripts/checks/package_inputs.py [--built] [TARGET ...]

Default: the targets that a wheel would have here. With --built it lists no files of the tree.

- the files of the tree that Git does not ignore, but for pages and results, which no archive has
- the interpreter, and the packages beside it, which build the wheel
- the compilers, by their bytes
- the built modules of the targets, by their bytes without the labels: what headers of the system
  and flags have made of the sources is in these

A proof (scripts/checks/proofs.py) that names this list is of no use after a change of any of it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from gpu_envs.building import labels, places, shipping, toolchain
from gpu_envs.terminal import broken_pipes
from scripts.checks import nearest
from scripts.checks.nearest import ROOT

NOT_PACKED = ("docs/", "examples/", "benchmarks/", "trained/", ".ci/")
_TOOLS = ("cc1plus", "as", "ld")  # what g++ calls


def _content(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def sources(root: Path = ROOT) -> Iterator[str]:
    """Yield a line of each file that an archive may have."""
    for name in nearest.files(root):
        if not name.startswith(NOT_PACKED):
            path = root / name
            runs = "runs" if os.access(path, os.X_OK) else "is read"
            yield f"file {name} {runs} {_content(path)}"


def interpreter() -> Iterator[str]:
    """Yield what builds the wheel, and what it is for."""
    yield f"interpreter {sys.version} {sysconfig.get_config_var('EXT_SUFFIX')}"
    yield f"its bytes {_content(Path(sys.executable).resolve())}"
    found = {(one.name, one.version) for one in importlib.metadata.distributions()}
    yield from (f"package {name} {version}" for name, version in sorted(found))


def compilers() -> Iterator[str]:
    """Yield the compilers that there are."""
    compiler = toolchain.cxx()
    yield f"compiler {toolchain.known(compiler).text}"
    for tool in ("", *_TOOLS):
        asked = [compiler, f"-print-prog-name={tool}"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        path = shutil.which(said or tool) if tool else compiler
        if path:
            yield f"compiler's {tool or 'driver'} {_content(Path(path).resolve())}"
    try:
        yield f"nvcc {toolchain.nvcc().identity}"
    except toolchain.CannotBuild:
        yield "nvcc: none"


def modules(targets: Sequence[str], folder: Path = places.MODULES) -> Iterator[str]:
    """Yield a line of each built file of these targets."""
    for target in targets:
        engine = places.engine_file(target, folder)
        if not engine.exists():
            raise toolchain.CannotBuild(f"{engine} is not built: python -m gpu_envs build")
        own = [engine, places.bindings_file(target, folder)]
        if target == places.PTX:
            own.append(places.runtime_file(target, folder))
        for path in (*own, *sorted(folder.glob(f"*.{target}.so"))):
            labels.verify(path)
            yield f"module {path.name} {labels.content_hash(path)}"


def main() -> int:
    """Print all of it."""
    is_whole = "--built" not in sys.argv
    targets = [word for word in sys.argv[1:] if word != "--built"] or shipping.targets()
    try:
        lines = [*interpreter(), *compilers(), *modules(targets)]
        if is_whole:
            lines = [*sources(), *lines]
    except (toolchain.CannotBuild, labels.Damaged, OSError) as problem:
        print(f"package_inputs: {problem}", file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
