#!/usr/bin/env python3
"""Check the PTX in modules and objects: what must not be in it, and what is new in it.

    .venv/bin/python scripts/checks/ptx_lint.py [FILE ...] [--unknown | --inventory]

FILE is a module, an object that nvcc made, or PTX as text (`.ptx`); without any, all modules of
target `cuda_ptx` in gpu_envs/modules are read, and an allowance that none of them needs is an error
too. PTX must not be compressed: `GPU_ENVS_CUDA_RUNTIME=interpreted` keeps it so.

The rules stand in kernels/ptx/lint.hpp; scripts/checks/ptx_allowed.txt lists what is allowed, and
why. `--unknown` decodes every kernel instead, and names opcodes, modifiers, special registers and
calls that the interpreter does not know, and functions of CUDA's runtime that it does not have:
what to look at first with another nvcc. `--inventory` lists all of them, known or not, with counts.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.building import places, recipes, upkeep  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.ptx import fat_binary  # noqa: E402

ALLOWED = Path(__file__).with_name("ptx_allowed.txt")
RULES = (
    "approximate", "rounding", "fma", "endless", "empty", "local", "loop-call", "recursion",
)  # fmt: skip


class Wrong(Exception):
    """A file that cannot be checked."""


# ---- files


def fat_binaries(data: bytes) -> Iterator[str]:
    """Yield the PTX texts in an object."""
    kinds = set()
    for part in fat_binary.parts_of(data):
        kinds.add(part.kind)
        if part.kind != fat_binary.PTX:
            continue
        if part.is_compressed:
            raise Wrong("its PTX is compressed: build with --compress-mode=none")
        yield part.data.rstrip(b"\0").decode()
    if kinds and fat_binary.PTX not in kinds:
        raise Wrong("it has no PTX, only machine code")


def texts_of(file: Path) -> list[str]:
    """Return the PTX texts of a file."""
    data = file.read_bytes()
    if file.suffix == ".ptx":
        return [data.decode()]
    if not data.startswith(b"\x7fELF"):
        raise Wrong("neither an object nor PTX (*.ptx)")
    return list(fat_binaries(data))


def built() -> list[Path]:
    """Return all modules whose kernels are interpreted, and the engine."""
    files = [places.engine_file(places.PTX), *sorted(places.MODULES.glob(f"*.{places.PTX}.so"))]
    return [file for file in files if file.exists()]


def is_whole(files: Sequence[Path]) -> bool:
    """Whether these are all modules of the tree, so that every allowance has to be needed."""
    wanted = {places.module_file(stem, places.PTX) for stem in places.environments()}
    return wanted <= set(files)


# ---- what is allowed


@dataclass(frozen=True)
class Allowance:
    """Findings of a rule in functions whose mangled name a regular expression finds."""

    rule: str
    pattern: str
    reason: str


def allowances(text: str) -> list[Allowance]:
    """Read `rule | pattern | reason`, a line each, with blanks around the bars; # is a comment."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        words = re.split(r"\s+\|\s+", line.strip(), maxsplit=2)  # patterns have no blanks
        if len(words) != 3 or not all(words) or words[0] not in RULES:
            raise Wrong(f"line {number} is not `rule | pattern | reason`: {line}")
        found.append(Allowance(*words))
    return found


# ---- the interpreter's library


@dataclass(frozen=True)
class Finding:
    """A place that a rule names."""

    rule: str
    function: str  # mangled
    line: int
    source: str
    text: str


class Library:
    """The interpreter, which reads and decodes PTX."""

    def __init__(self, file: Path) -> None:
        self.file = file
        loaded = ctypes.CDLL(str(file))
        self._calls = {name: getattr(loaded, f"ge_ptx_{name}") for name in ("lint", "inventory")}
        for call in self._calls.values():
            call.restype, call.argtypes = ctypes.c_char_p, [ctypes.c_char_p]

    @classmethod
    def built(cls) -> Library:
        """Build the interpreter where it is missing or old."""
        product = recipes.runtime(places.PTX, places.MODULES)
        upkeep.ensure_one(product)
        return cls(product.file)

    def lines(self, what: str, text: str) -> list[list[str]]:
        """Return the words of `ge_ptx_lint` or `ge_ptx_inventory`."""
        made: bytes = self._calls[what](text.encode())
        lines = [line.split("\t") for line in made.decode().splitlines()]
        if lines[0][0] != "module":
            raise Wrong(lines[0][-1])
        return lines

    def symbols(self) -> set[str]:
        """Return the functions of CUDA's runtime that it has."""
        return {name for name in _names(self.file, "-D", "--defined-only") if "cuda" in name}


def _names(file: Path, *options: str) -> set[str]:
    nm = shutil.which("nm")
    if nm is None:
        raise Wrong("nm is missing: install binutils")
    done = subprocess.run([nm, *options, str(file)], capture_output=True, text=True, check=False)
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line}


def missing_symbols(files: Sequence[Path], known: set[str]) -> dict[str, str]:
    """Return what files call of CUDA's runtime and the interpreter lacks, each with a file."""
    found: dict[str, str] = {}
    for file in files:
        if file.suffix == ".ptx":
            continue
        options = ["-D"] if ".so" in file.suffixes else []
        for name in _names(file, *options, "--undefined-only"):
            if re.match(r"_{0,2}cuda[A-Z]", name) and name not in known:
                found.setdefault(name, file.name)
    return found


# ---- all files


@dataclass
class Read:
    """What a text consists of, or what the rules say of it."""

    file: Path
    lines: list[list[str]]

    @property
    def kernels(self) -> int:
        """How many entries it has."""
        return int(self.lines[0][1])

    @property
    def length(self) -> int:
        """How many lines it has."""
        return int(self.lines[0][2])

    def findings(self) -> Iterator[Finding]:
        """Yield findings of rules, and of the decoder."""
        for rule, *words in self.lines[1:]:
            if rule not in ("opcode", "register", "call"):
                function, line, source, text = words
                yield Finding(rule, function, int(line), source, text)

    def counts(self, kind: str) -> Counter[str]:
        """Return how often each `opcode`, `register` or `call` occurs."""
        return Counter({words[1]: int(words[2]) for words in self.lines[1:] if words[0] == kind})


def read_all(library: Library, files: Sequence[Path], what: str) -> list[Read]:
    """Read every text once: modules share kernels of the engine."""
    texts: dict[str, Path] = {}
    for file in files:
        try:
            for text in texts_of(file):
                texts.setdefault(text, file)
        except (OSError, UnicodeDecodeError, Wrong) as problem:
            raise Wrong(f"{file}: {problem}") from None

    def read(text: str) -> Read:
        try:
            return Read(texts[text], library.lines(what, text))
        except Wrong as problem:
            raise Wrong(f"{texts[text]}: {problem}") from None

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the library's calls let other threads run
        return list(pool.map(read, sorted(texts, key=len, reverse=True)))


def plain_names(names: Sequence[str]) -> dict[str, str]:
    """Return functions as C++ writes them, cut where they are long."""
    demangler = shutil.which("c++filt")
    if demangler is None or not names:
        return {name: name for name in names}
    done = subprocess.run(
        [demangler], input="\n".join(names), capture_output=True, text=True, check=True
    )
    plain = (line if len(line) <= 160 else f"{line[:157]}..." for line in done.stdout.splitlines())
    return dict(zip(names, plain, strict=True))


def report(found: Sequence[tuple[Path, Finding]]) -> None:
    """Print findings, by file."""
    plain = plain_names(sorted({one.function for _, one in found}))
    for file, one in found:
        at = f", PTX line {one.line}" if one.line else ""
        at += f", {one.source}" if one.source else ""
        print(f"{file.name}: {one.rule}: {one.text}{at}\n  in {plain[one.function]}")


def lint(reads: Sequence[Read], allowed: Sequence[Allowance], *, whole: bool) -> int:
    """Print what no allowance covers, and return how much that is."""
    needed: set[Allowance] = set()
    found = []
    for read in reads:
        for one in read.findings():
            covering = [
                a for a in allowed if a.rule == one.rule and re.search(a.pattern, one.function)
            ]
            needed.update(covering)
            if not covering:
                found.append((read.file, one))
    report(found)
    idle = [a for a in allowed if a not in needed] if whole else []
    for each in idle:
        print(f"{ALLOWED.name}: nothing needs `{each.rule} | {each.pattern}`")
    return len(found) + len(idle)


def unknown(reads: Sequence[Read], missing: dict[str, str]) -> int:
    """Print what the interpreter does not know, and return how much that is."""
    once: dict[str, tuple[Path, Finding]] = {}
    for read in reads:
        for one in read.findings():
            once.setdefault(re.sub(r"^PTX line \d+: ", "", one.text), (read.file, one))
        for name in read.counts("call"):
            call = Finding("unknown", name, 0, "", "a call of a function without a body")
            once.setdefault(name, (read.file, call))
    report(list(once.values()))
    for name, file in sorted(missing.items()):
        print(f"{file}: unknown: {name} of CUDA's runtime")
    return len(once) + len(missing)


def inventory(reads: Sequence[Read]) -> None:
    """Print opcodes, registers and calls with their counts."""
    for kind in ("opcode", "register", "call"):
        counts: Counter[str] = Counter()
        for read in reads:
            counts += read.counts(kind)
        print(f"{len(counts)} {kind}s, {counts.total()} times")
        for name, count in counts.most_common():
            print(f"  {count:9} {name}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0: nothing was found."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--unknown", action="store_true", help="what the interpreter does not know")
    kind.add_argument("--inventory", action="store_true", help="all that there is, with counts")
    args = parser.parse_args(argv)
    files = args.files or built()
    if not files:
        print("ptx_lint: no modules: run `python -m gpu_envs build --target cuda_ptx`")
        return 2
    begun = time.monotonic()
    try:
        library = Library.built()
        decodes = args.unknown or args.inventory
        reads = read_all(library, files, "inventory" if decodes else "lint")
        if args.inventory:
            inventory(reads)
        if decodes:
            problems = unknown(reads, missing_symbols(files, library.symbols()))
        else:
            whole = not args.files and is_whole(files)
            problems = lint(reads, allowances(ALLOWED.read_text()), whole=whole)
    except Wrong as problem:
        print(f"ptx_lint: {problem}")
        return 2
    kernels, lines = sum(r.kernels for r in reads), sum(r.length for r in reads)
    took = time.monotonic() - begun
    print(f"ptx_lint: {kernels} kernels, {lines} lines, {took:.1f} s: {problems or 'no'} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
