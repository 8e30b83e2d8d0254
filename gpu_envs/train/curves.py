"""Learning curves: the table that a run writes, and pictures of one run or of several.

A table has a row for each update: steps, seconds, then what was measured, empty where nothing was.
Every row is on disk when `add` returns; a row that could not be written waits for the next try. The
meaning of the columns is the caller's.
"""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.policies.checkpoint import replacing
from gpu_envs.train.columns import EVALUATION, TRAINING, Told, column, measure_column

# Those of Okabe and Ito, which colour-blind people tell apart, and two dark ones.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#332288", "#56b4e9", "#e69f00", "#555555")
RETURN_LABEL = "mean return of an episode"  # label of an axis
_RECENT = 5  # updates whose mean counts as the end of training
_FAR = 0.25  # share of the range of all values from which two are far apart
_NOTE_WIDTH = 120  # characters of a line below the curves
_POINTS = 40  # a line of more evaluations is drawn without dots

Row = dict[str, float]


class GrowingFile:
    """A file that grows by whole pieces; a piece that could not be written waits for the next."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0
        self.waiting: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Write a piece after those that wait; OSError if the write fails."""
        self.waiting.append(piece)
        self.flush()

    def flush(self) -> None:
        """Retry the pieces that wait; a half-written piece is overwritten."""
        if self.waiting:
            pieces = b"".join(self.waiting)
            with open(self.path, "r+b" if self.size else "wb") as file:
                file.seek(self.size)
                file.write(pieces)
            self.size += len(pieces)
            self.waiting.clear()


class Table:
    """A csv file that grows by rows; a new name becomes a column at the end."""

    def __init__(self, path: Path, rows: Iterable[Row] = ()) -> None:
        self.file, self.rows = GrowingFile(path), list(rows)
        self.names = list(dict.fromkeys(name for row in self.rows for name in row))
        self.is_stale = True  # the whole file has to be rewritten

    def add(self, row: Row) -> None:
        """Append a row; OSError if it could not be written, and waits in memory for the next."""
        was_stale, self.is_stale = self.is_stale, True  # for an interruption within these lines
        self.rows.append(row)
        late = [name for name in row if name not in self.names]
        self.names += late
        self.file.waiting.append(self._line(row))
        self.is_stale = was_stale or bool(late)
        self.flush()

    def rewind(self, steps: int) -> None:
        """Forget the rows beyond `steps`."""
        self.rows = [row for row in self.rows if row["steps"] <= steps]
        self.is_stale = True
        self.flush()

    def flush(self) -> None:
        """Write the rows that wait in memory."""
        if not self.is_stale:
            try:
                return self.file.flush()
            except FileNotFoundError:
                self.is_stale = True  # the file was deleted
        if not self.names:
            return
        content = b"".join([self._text(self.names), *map(self._line, self.rows)])
        with replacing(self.file.path) as file:
            file.write(content)
        self.file.size, self.is_stale = len(content), False
        self.file.waiting.clear()

    def _line(self, row: Row) -> bytes:
        return self._text([_cell(row.get(name, math.nan)) for name in self.names])

    @staticmethod
    def _text(cells: Sequence[str]) -> bytes:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerow(cells)
        return stream.getvalue().encode()


def _cell(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else f"{value:.9g}"  # digits that keep every bit of a float32


def read(path: Path) -> list[Row]:
    """Return the rows of a table, without a last line that a killed process left unfinished."""
    try:
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        rows = [
            {name: float(cell) if cell else math.nan for name, cell in line.items()}
            for line in csv.DictReader(io.StringIO(whole), strict=True)
        ]
        return [row | {"steps": int(row["steps"]), "seconds": row["seconds"]} for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, csv.Error) as problem:
        raise ValueError(f"{path} is not a learning curve of gpu_envs ({problem!r})") from problem


def apart(rows: Sequence[Row], one: str, other: str) -> tuple[float, float] | None:
    """Return the final values of two columns if they are far apart in the range of all values."""
    first, second = (measured(rows, "steps", name)[1] for name in (one, other))
    if not (first and second):
        return None
    ends = float(np.mean(first[-_RECENT:])), second[-1]
    lowest, highest = min(*first, *second), max(*first, *second)
    return ends if abs(ends[0] - ends[1]) > _FAR * (highest - lowest) else None


# ---- pictures


def measured(rows: Iterable[Row], x: str, y: str) -> tuple[list[float], list[float]]:
    """Return the points at which `y` was measured."""
    points = [(row[x], row[y]) for row in rows if math.isfinite(row.get(y, math.nan))]
    return [x for x, _ in points], [y for _, y in points]


def _save(figure: Any, path: Path) -> None:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130)
    with replacing(path) as file:
        file.write(stream.getvalue())


def _axes(axes: Any, x: str, threshold: float | None) -> None:
    from matplotlib.ticker import EngFormatter

    axes.set_xlabel(x)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if threshold is not None:
        axes.axhline(threshold, color="#777777", linestyle="--", linewidth=1, label="threshold")
    axes.margins(x=0.02)


def draw(rows: Sequence[Row], path: Path, title: str, threshold: float | None, told: Told) -> None:
    """Draw one run, over steps and over seconds."""
    from matplotlib.figure import Figure

    heights = [2, *(1 for _ in told.measures)]
    figure = Figure(figsize=(10, 2.2 + 2 * len(heights)), layout="constrained")
    grid = figure.subplots(
        len(heights), 2, sharex="col", sharey="row", squeeze=False, height_ratios=heights
    )
    panels = grid[0]
    for axes, x in zip(panels, ("steps", "seconds"), strict=True):
        _draw_returns(axes, rows, x, told)
        _axes(axes, x, threshold)
    panels[0].set_ylabel(RETURN_LABEL)
    for above, below, what in zip(grid, grid[1:], told.measures, strict=False):
        for upper, axes, x in zip(above, below, ("steps", "seconds"), strict=True):
            upper.set_xlabel("")
            _draw_measure(axes, rows, x, what)
    figure.suptitle(title)
    shown = [line for line in panels[0].get_lines() if len(line.get_xdata())]
    columns = 3 if told.sides == ("",) else 2
    figure.legend(
        handles=shown,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        title=_noted(told),
        title_fontsize="small",
    )
    _save(figure, path)


def _noted(told: Told) -> str:
    """Return the differences between training and evaluations, as lines below the curves."""
    if not told.differences:
        return ""
    return textwrap.fill(f"What differs: {'; '.join(told.differences)}", _NOTE_WIDTH)


def _draw_returns(axes: Any, rows: Sequence[Row], x: str, told: Told) -> None:
    """Draw training thin and evaluations thick, each side in a colour of its own."""
    for number, side in enumerate(told.sides):
        for y, width, colour in (
            (TRAINING, 0.9, COLOURS[number % len(COLOURS)]),
            (EVALUATION, 1.6, COLOURS[number % len(COLOURS) if side else 1]),
        ):
            points = measured(rows, x, column(y, side))
            has_dots = len(points[0]) <= (_POINTS if y == EVALUATION else 1)
            style = {"marker": "o" if has_dots else "", "markersize": 3.5, "linewidth": width}
            alpha = 0.6 if side and y == TRAINING else 1.0
            axes.plot(*points, color=colour, label=told.label(y, side), alpha=alpha, **style)


def _draw_measure(axes: Any, rows: Sequence[Row], x: str, what: str) -> None:
    """Draw the environment's own measure, which only evaluations have."""
    points = measured(rows, x, measure_column(what))
    marker = "o" if len(points[0]) <= _POINTS else ""
    axes.plot(*points, color=COLOURS[-1], marker=marker, markersize=3.5, linewidth=1.6)
    _axes(axes, x, None)
    if x == "steps":
        axes.set_ylabel(what)


def plot(
    curves: Mapping[str, Sequence[Path]],
    out: Path,
    *,
    x: str = "steps",
    title: str = "",
    threshold: float | None = None,
    y: str = EVALUATION,
) -> None:
    """Draw several runs: each seed of a label thin, their mean thick as far as all of them go."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, (label, paths) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        seeds = [measured(read(Path(path)), x, y) for path in paths]
        for path, (places, values) in zip(paths, seeds, strict=True):
            if not places:
                names = {name for row in read(Path(path)) for name in row}
                near = errors.suggestion(y, sorted(names - {y}))
                raise ValueError(f"{path} has no row with {y!r}{near}")
            axes.plot(places, values, color=colour, linewidth=0.8, alpha=0.45)
        name = label if len(paths) == 1 else f"{label}, mean of {len(paths)}"
        axes.plot(*mean(seeds), color=colour, linewidth=2, label=name)
    _axes(axes, x, threshold)
    is_return = y.startswith((TRAINING, EVALUATION))
    axes.set(title=title, ylabel=RETURN_LABEL if is_return else y)
    axes.legend(loc="best", framealpha=0.85)
    _save(figure, out)


def mean(seeds: Sequence[tuple[list[float], list[float]]]) -> tuple[list[float], list[float]]:
    """Return the mean of curves over the range that all of them have, between points straight."""
    begin, end = max(p[0] for p, _ in seeds), min(p[-1] for p, _ in seeds)
    places = sorted({place for p, _ in seeds for place in p if begin <= place <= end})
    total = np.mean([np.interp(places, p, values) for p, values in seeds], axis=0)
    return places, list(total)
