"""Collects tables, bars and figures; prints them and writes JSON and Markdown."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_envs.benchmark.points import Point
from gpu_envs.terminal import console


def si(value: float) -> str:
    """A number with its thousands as a letter: 61.3 M."""
    for scale, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= scale:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


@dataclass(slots=True)
class Table:
    """A table of strings; the first column is a label."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar on speed and its measurement; None where it could not be measured."""

    what: str
    required: float
    measured: float | None
    unit: str
    at_least: bool = True
    note: str = ""  # its time, and its share of a limit

    @property
    def verdict(self) -> str:
        """Result of the measurement: ok, short or not measured."""
        if self.measured is None:
            return "not measured"
        kept = self.measured >= self.required if self.at_least else self.measured <= self.required
        return "ok" if kept else "short"

    def line(self) -> str:
        """The bar in one line."""
        wanted = f"at {'least' if self.at_least else 'most'} {si(self.required)}{self.unit}"
        got = "" if self.measured is None else f"measured {si(self.measured)}{self.unit}: "
        note = f" ({self.note})" if self.note else ""
        return f"bar: {self.what}: {wanted}; {got}{self.verdict}{note}"


@dataclass(slots=True)
class Report:
    """All output of one run."""

    environment: str
    machine: dict[str, Any]
    command: str
    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    is_followed: bool = False  # a line for each point when it is measured
    is_judged: bool = True  # else bars are not shown

    def follow(self, point: Point) -> None:
        """Print a point before its table is complete."""
        if self.is_followed:
            case, rate = point.case, si(point.get("world_steps") or 0.0)
            label = f"{case.sweep} {case.value:,}" if case.sweep else case.form
            label = ": ".join(filter(None, (label, case.way)))
            print(f"  {case.worlds:>9,} worlds  {rate:>7} world steps/s  {label}", flush=True)

    def keep(self, points: Sequence[Point]) -> None:
        """Keep a measurement for the file."""
        self.results["points"] = [point.as_json() for point in points]

    def show(self, table: Table) -> None:
        """Keep a table and print it at once, so that a long run can be followed."""
        self.tables.append(table)
        _print(table)

    def say(self, note: str) -> None:
        """Keep a remark and print it."""
        self.notes.append(note)
        print(note, flush=True)

    def judge(self, bar: Bar) -> None:
        """Keep a bar and print it, where bars are asked for."""
        if not self.is_judged:
            return
        self.bars.append(bar)
        print(bar.line(), flush=True)

    def stem(self) -> str:
        """Name of this run's files: one per environment and machine."""
        # One more run on the same machine replaces the files, so that history is git's.
        where = re.sub(r"[^A-Za-z0-9]+", "-", self.machine["device_name"]).strip("-")
        return f"{self.environment}_{where}-x{self.machine['cores']}"

    def write(self, folder: Path) -> list[Path]:
        """Write JSON and Markdown, and return where."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.stem()}.json", folder / f"{self.stem()}.md"]
        paths[0].write_text(json.dumps(self._as_json(), indent=1) + "\n", encoding="utf-8")
        paths[1].write_text(self._as_markdown(), encoding="utf-8")
        return paths

    def _as_json(self) -> dict[str, Any]:
        bars = [
            {
                "what": bar.what,
                "required": bar.required,
                "measured": bar.measured,
                "unit": bar.unit.strip(),
                "at_least": bar.at_least,
                "verdict": bar.verdict,
                "note": bar.note,
            }
            for bar in self.bars
        ]
        return {
            "environment": self.environment,
            "command": self.command,
            "machine": self.machine,
            "bars": bars,
            "notes": self.notes,
            "figures": self.figures,
            **self.results,
        }

    def _as_markdown(self) -> str:
        parts = [f"# {self.environment} on {self.machine['device_name']}", f"`{self.command}`"]
        versions = ", ".join(f"{n} {v}" for n, v in self.machine["versions"].items())
        facts = {k: v for k, v in self.machine.items() if k not in ("versions", "caches")}
        caches = ", ".join(f"{level} {size}" for level, size in self.machine["caches"].items())
        facts |= {"caches": caches, "versions": versions}
        parts.append("\n".join(f"- {k.replace('_', ' ')}: {v}" for k, v in facts.items()))
        if self.bars:
            parts.append("\n".join(f"- {bar.line()}" for bar in self.bars))
        parts += [_markdown(table) for table in self.tables]
        parts += [f"![{Path(name).stem}]({name})" for name in self.figures]
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    lines = [f"## {table.title}", "", _row(table.header), _row(["---"] * len(table.header))]
    lines += [_row(row) for row in table.rows]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    shown = (f"`{cell}`" if "<" in cell else cell for cell in cells)  # else it would be a tag
    return "| " + " | ".join(shown) + " |"


def _print(table: Table) -> None:
    # A bare GPU machine has no more than NumPy.
    if importlib.util.find_spec("rich") is None:
        _print_plain(table)
        return
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title, title_justify="left", caption=table.note or None)
    for index, name in enumerate(table.header):
        shown.add_column(name, justify="right" if index else "left", no_wrap=True)
    for row in table.rows:
        shown.add_row(*row)
    needed = Console(width=1000).measure(shown).maximum  # never shortened: lines may wrap instead
    Console(width=needed).print(shown)


def _print_plain(table: Table) -> None:
    lines = console.aligned([table.header, *table.rows])
    print("", table.title, *lines, *filter(None, [table.note]), "", sep="\n", flush=True)
