"""Reads the recorded hashes of tests/golden, for scripts that run them outside pytest."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden"
_OPTIONS = {"max_episode_steps": -1, "dtype": "own", "level_count": 0, "first_level": 0}
IN_A_ROW = 8  # calls of which each may begin on a GPU before the one in front has ended


class Case(NamedTuple):
    """One recorded run."""

    id: str
    worlds: int
    options: dict[str, Any]  # of a native simulator
    steps: int
    seed: int
    hashes: tuple[str, str]  # of records and of outputs


def read(known: Container[str], folder: Path = FOLDER) -> Iterator[Case]:
    """Yield each recorded run of a known id."""
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#") and line.partition("|")[0].strip() in known:
                yield parse(line)


def parse(line: str) -> Case:
    """Read one line."""
    name, given, mode, worlds, steps, seed, *hashes = [part.strip() for part in line.split("|")]
    pairs = [] if given == "-" else [pair.split("=") for pair in given.split(",")]
    ranges = {key: [float(end) for end in text.split("..")] for key, text in pairs if ".." in text}
    parameters = {key: ranges[key][1] if key in ranges else _value(text) for key, text in pairs}
    # Some of them are options of the simulator beside its parameters.
    own = {name: parameters.pop(name, usual) for name, usual in _OPTIONS.items()}
    options = {"autoreset_mode": mode, **own, "parameters": parameters}
    if ranges:  # that each world's resets draw from
        options["varies"] = tuple(ranges)
        options["changes"] = {key: ("uniform", ends) for key, ends in ranges.items()}
    records, outputs = hashes
    return Case(name, int(worlds), options, int(steps), int(seed), (records, outputs))


def _value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    # A name of a choice, a layout, a resolution.
    if text[0].isalpha() or " " in text or "x" in text:
        return text
    return float(text) if "." in text or "e" in text else int(text)
