"""What scripts/gpu/check.sh has found: rows as lines of JSON, and the report made of them.

A row is appended when it is found and the report renewed at once, both under one lock, so that a
kill at any second loses one row, whichever of the processes it meets. A folder keeps what earlier
commands found: rows are only ever added.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROWS, REPORT, HALF = "rows.jsonl", "report.md", "report.md.part"
_MOST_FILE, _MOST_ROW = 15 << 20, 64 << 10  # bytes; a row that would pass them loses its data
_SHOWN = 2000  # letters of what a step printed last
NO_TIME = "no time was left"
_WORST = ("fail", "skip", "pass")
Row = dict[str, Any]


class Evidence:
    """The folder that rows go to."""

    def __init__(self, folder: Path, step: str = "", of: str = "") -> None:
        self.folder, self.step, self.of = folder, step, of
        folder.mkdir(parents=True, exist_ok=True)

    def row(
        self,
        cells: dict[str, Any] | None = None,
        *,
        status: str = "pass",
        detail: str = "",
        kind: str = "row",
        **more: Any,
    ) -> None:
        """Add what was found: `cells` by column of the step's table, `detail` where it is wrong.

        Args:
            cells: What the table of the step shows.
            status: "pass", "fail", or "skip" where something is missing.
            detail: In words.
            kind: "row"; "run" begins a command, "end" ends a process.
            more: `bar`, a line and its figures; `data`, for the file alone.
        """
        shown = {name: str(cell) for name, cell in (cells or {}).items()}
        added = {"kind": kind, "step": self.step, "of": self.of, "at": round(time.time(), 2)}
        found = {"status": status, "detail": detail[:_SHOWN], "cells": shown}
        self._add({**added, **found, **more})

    def _add(self, row: Row) -> None:
        with (self.folder / ROWS).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # goes with its process
            size = file.seek(0, os.SEEK_END)
            text = json.dumps(row)
            if len(text) > _MOST_ROW or size + len(text) > _MOST_FILE:
                text = json.dumps({**row, "data": {}})
            # A process that was killed may have left half a line.
            begin = "" if not size or _last_byte(file, size) == b"\n" else "\n"
            file.write(f"{begin}{text}\n".encode())
            file.flush()
            half = self.folder / HALF
            half.write_text(markdown(read(self.folder)), encoding="utf-8")
            os.replace(half, self.folder / REPORT)


def _last_byte(file: Any, size: int) -> bytes:
    file.seek(size - 1)
    return bytes(file.read(1))


def read(folder: Path) -> list[Row]:
    """Return the rows of a folder; incomplete lines are skipped."""
    try:
        lines = (folder / ROWS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [row for row in map(_parsed, lines) if row]


def _parsed(line: str) -> Row:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and "kind" in found else {}


def line(row: Row) -> str:
    """A row as one line of a log."""
    if row["kind"] == "run":
        return str(row["detail"])
    said = [f"{name} {cell}" for name, cell in row["cells"].items() if cell]
    if row.get("bar"):
        said = [row["bar"]["line"]]
    elif row["detail"]:
        said.append(row["detail"])
    end = " ended" if row["kind"] == "end" else ""
    return f"{row['status']:4}  {row['step']:9} {row['of']}{end}: {', '.join(said)}"


def closing(rows: Sequence[Row]) -> str:
    """The end of a log, where it is cut: steps, what is not well, and the bars."""
    steps = dict.fromkeys(row["step"] for row in rows if row["step"])
    said = [_summary(step, [row for row in rows if row["step"] == step]) for step in steps]
    lines = [f"{step:9}  {status:4}  {n:>4} rows  {s:>6} s" for step, status, n, s, _ in said]
    bad = [row for row in rows if row["status"] != "pass" and row["detail"] != NO_TIME]
    lines += [line(row)[:300] for row in bad if row["kind"] != "run"]
    return "\n".join([*lines, *(row["bar"]["line"] for row in rows if row.get("bar"))])


# ---- the report


def worst(rows: Sequence[Row]) -> str:
    """The worst status."""
    return min((row["status"] for row in rows), key=_WORST.index, default="pass")


def markdown(rows: Sequence[Row]) -> str:
    """The report for people."""
    runs = [row for row in rows if row["kind"] == "run"]
    steps: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] != "run":
            steps.setdefault(row["step"], []).append(row)
    parts = [f"# {runs[0]['cells']['machine'] if runs else 'GPU check'}"]
    parts += [
        f"`{run['cells']['command']}`, {run['cells']['date']}: {run['detail']}" for run in runs
    ]
    header = ["step", "", "rows", "seconds", ""]
    parts += ["## Steps", _table(header, [_summary(*step) for step in steps.items()])]
    bars = [f"- {row['bar']['line']}" for row in rows if row.get("bar")]
    parts += ["## Bars", "\n".join(bars)] if bars else []
    for step, found in steps.items():
        parts += _tables(step, found)
        for row in found:
            if row["status"] == "fail" and row.get("data", {}).get("output"):
                parts += [
                    f"## What {step} {row['of']} printed last",
                    _fenced(row["data"]["output"]),
                ]
    return "\n\n".join(parts) + "\n"


def _summary(step: str, rows: list[Row]) -> list[str]:
    ends = [row for row in rows if row["kind"] == "end"]
    seconds = sum(float(row["cells"].get("seconds", 0)) for row in ends)
    bad = [row for row in rows if row["status"] != "pass"]
    bad.sort(key=lambda row: _WORST.index(row["status"]))
    told = f"{bad[0]['of']}: {bad[0]['detail']}".strip(": ") if bad else ""
    return [step, worst(rows), str(len(rows) - len(ends)), f"{seconds:.1f}", told]


def _tables(step: str, rows: list[Row]) -> list[str]:
    """One table for each set of columns, in the order in which they were found."""
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        if row["cells"] and row["kind"] == "row":
            cells = [row["of"], *row["cells"].values(), _verdict(row)]
            tables.setdefault(tuple(row["cells"]), []).append(cells)
    # Processes that ran side by side wrote in turns.
    order = list(dict.fromkeys(row["of"] for row in rows))
    parts = []
    for number, (columns, cells) in enumerate(tables.items()):
        title = step if not number else f"{step} ({number + 1})"
        cells.sort(key=lambda row: order.index(row[0]))
        parts += [f"## {title}", _table(["", *columns, ""], cells)]
    return parts


def _verdict(row: Row) -> str:
    return "" if row["status"] == "pass" else f"{row['status']}: {row['detail']}".rstrip(": ")


def _fenced(text: str) -> str:
    return f"```\n{text[-_SHOWN:].strip()}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header: Sequence[str], rows: list[list[str]]) -> str:
    align = ["---", *("---:" if _is_number(rows, i) else "---" for i in range(1, len(header)))]
    lines = [header, align, *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _is_number(rows: list[list[str]], column: int) -> bool:
    return bool(rows) and all(re.match(r"[\d.,]+( [kMGT])?%?$", row[column]) for row in rows)
