"""Reads kernels/flags.txt, the one list of compiler flags."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path


@cache
def read(path: Path) -> dict[str, list[str]]:
    """Return the flags by name; `$ROOT` stays as it is."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, colon, flags = line.partition(":")
        if colon and not line.startswith("#"):
            found[name.strip()] = shlex.split(flags)
    return found
