"""Fails where ptxas reports that a kernel spills registers or keeps a stack frame.

Usage: scripts/gpu/check_spills.py FOLDER [--verbose]

FOLDER, `build/cuda`, holds the `*.ptxas.txt` that the CUDA build put beside its objects. A kernel
that may spill is listed beside its environment's header, under "spills" (docs/measures.md).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENTS = Path(__file__).resolve().parents[2] / "kernels" / "envs"
_ENTRY = re.compile(r"Compiling entry function '(?P<name>\S+)' for '(?P<arch>\w+)'")
_PROPERTIES = re.compile(r"Function properties for (?P<name>\S+)")
_BYTES = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"Used (?P<registers>\d+) registers")


@dataclass
class Function:
    """What ptxas said of one kernel, or of one function that it calls, for one architecture."""

    name: str
    arch: str
    stack: int = 0
    stores: int = 0
    loads: int = 0
    registers: int = 0

    @property
    def worst(self) -> int:
        """The bytes that have to be allowed."""
        return max(self.stack, self.stores, self.loads)


def read_report(text: str) -> list[Function]:
    """Parse one report of `ptxas -v`."""
    functions: list[Function] = []
    arch = ""
    for line in text.splitlines():
        if entry := _ENTRY.search(line):
            arch = entry["arch"]
        elif properties := _PROPERTIES.search(line):
            functions.append(Function(properties["name"], arch))
        elif (found := _BYTES.search(line)) and functions:
            last = functions[-1]
            last.stack, last.stores, last.loads = map(int, found.groups())
        elif (used := _USED.search(line)) and functions:
            functions[-1].registers = int(used["registers"])
    return functions


def read_allowed(folder: Path) -> list[tuple[str, int]]:
    """Return the expressions and bytes that stand in the data of all environments."""
    held = [json.loads(path.read_text()) for path in sorted(folder.rglob("*.measures.json"))]
    return [(one["kernel"], one["bytes"]) for data in held for one in data.get("spills", ())]


def demangle(functions: list[Function]) -> None:
    """Replace the names by readable ones where a demangler is installed."""
    tool = shutil.which("cu++filt") or shutil.which("c++filt")
    if tool and functions:
        names = "\n".join(function.name for function in functions)
        answer = subprocess.run([tool], input=names, text=True, capture_output=True, check=True)
        for function, name in zip(functions, answer.stdout.splitlines(), strict=True):
            function.name = name


def main() -> int:
    """Check a folder of reports; the exit status says whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the build left *.ptxas.txt")
    parser.add_argument("--verbose", action="store_true", help="print registers of every kernel")
    options = parser.parse_args()
    reports = sorted(options.folder.glob("*.ptxas.txt"))
    functions = [function for path in reports for function in read_report(path.read_text())]
    if not functions:
        print(
            f"{options.folder} holds no report of ptxas: remove gpu_envs/modules/*cuda* and build"
        )
        return 1
    demangle(functions)
    allowed = read_allowed(ENVIRONMENTS)
    bad = 0
    for f in functions:
        known = [limit for pattern, limit in allowed if re.search(pattern, f.name)]
        ok = f.worst <= max(known, default=0)
        bad += not ok
        if options.verbose or not ok:
            print(
                f"{'ok  ' if ok else 'FAIL'} {f.arch} {f.registers} registers, {f.stack} bytes of "
                f"stack, {f.stores} bytes spilled, {f.loads} bytes reloaded: {f.name}"
            )
    archs = ", ".join(sorted({f.arch for f in functions if f.arch}))
    print(f"{len(functions)} functions for {archs}: {bad} spill or keep a stack frame unlisted")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
