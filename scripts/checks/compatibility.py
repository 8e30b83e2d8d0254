#!/usr/bin/env python3
"""Runs other libraries' own checkers and wrappers over every environment, into one table.

Usage: scripts/checks/compatibility.py [ID ...] [--library NAME ...] [--out FILE]

A cell says `passes`, or in a word why not; the words are explained below the table. A library that
is not installed has `-` in its rows. Each row of the table is a function of library_checks.py.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import io
import logging
import platform
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

import gpu_envs
from gpu_envs.known import registration
from gpu_envs.terminal import broken_pipes
from scripts.checks.library_checks import CHECKS, LIBRARIES, STEPS, Check, NotFor
from scripts.house import wrap_pages


def word_of(problem: Exception) -> tuple[str, str]:
    """Return what a cell says of a failure, and the sentence that explains it."""
    if isinstance(problem, NotFor):
        return str(problem), ""
    lines = str(problem).strip().splitlines()
    if isinstance(problem, ModuleNotFoundError):
        return "-", lines[0]
    return type(problem).__name__, lines[0][:160] if lines else "no message"


def outcome(row: Check, name: str) -> tuple[str, str]:
    """Run a check over an environment; what its cell says, and why."""
    if importlib.util.find_spec(row.library) is None:
        return "-", ""
    quiet = io.StringIO()
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(quiet):
            warnings.simplefilter("ignore")
            row.run(name)
    except Exception as problem:  # whatever a library says is the answer
        return word_of(problem)
    finally:
        logging.disable(logging.NOTSET)
    return "passes", ""


def table(names: Sequence[str], rows: Iterable[Check]) -> str:
    """Run checks over environments and return the table in Markdown, with its explanations."""
    head = ["library", "check", *(name.removesuffix("-v0") for name in names)]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    reasons: dict[tuple[Check, str, str], list[str]] = {}
    for row in rows:
        cells = []
        for name in names:
            print(f"{row.library}: {row.label}: {name}", file=sys.stderr, flush=True)
            said, why = outcome(row, name)
            cells.append(said)
            if why:
                reasons.setdefault((row, said, why), []).append(name)
        lines.append(f"| {row.library} | {row.label} | {' | '.join(cells)} |")
    lines.append("")
    for (row, said, why), where in reasons.items():
        remedy = f"; {row.remedy}" if row.remedy else ""
        quoted = why.replace("`", "'")
        lines.append(f"- {row.label}, {said} ({', '.join(where)}): `{quoted}`{remedy}")
    return "\n".join(lines) + "\n"


def versions() -> str:
    """Name what the table was made with."""
    found = [f"Python {platform.python_version()}"]
    for name in ("numpy", "torch", *LIBRARIES.values()):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(found)


def page(names: Sequence[str], rows: Iterable[Check], command: str) -> str:
    """Return the page for docs/."""
    return f"""# Compatibility

Other libraries' own checkers and wrappers over every environment, as it is by default (worlds of
the small size where they are large by themselves). Made by `{command}` with {versions()}.

`passes` means that the library's checker is content, or that its wrapper plays {STEPS} steps.
"several agents" means that the check is for worlds of one agent, "no pictures" that there is no
`render_mode="rgb_array"`. `-` stands where a library was not installed; any other word is the error
that the library raised, explained below the table.

{table(names, rows)}"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: every environment")
    parser.add_argument("--library", action="append", choices=list(LIBRARIES), metavar="NAME")
    parser.add_argument("--out", type=Path, help="default: the standard output")
    chosen = parser.parse_args(arguments)
    known = registration.shipped()  # a user's own id: `python -m gpu_envs check ID`
    names = [name.removeprefix("gpu_envs/") for name in chosen.ids] or known
    for name in names:
        if name not in known:
            parser.error(gpu_envs.errors.unknown("environment", name, known))
    rows = [row for row in CHECKS if row.library in (chosen.library or LIBRARIES)]
    words = sys.argv[1:] if arguments is None else arguments
    command = " ".join(["scripts/checks/compatibility.py", *words])
    text = wrap_pages.wrapped(page(names, rows, command))
    if chosen.out is None:
        print(text)
    else:
        chosen.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    broken_pipes.end_quietly()
    main()
