"""The reports of a training run: a bar, curves, TensorBoard and W&B.

Each update becomes a row of `curve.csv` and of a TensorBoard file, both on disk at once, so that a
run that is killed loses nothing. A full or missing disk is reported once and never stops the
training: rows wait in memory and are tried again with every update.

    python -m gpu_envs.train.report curves --out x.png LABEL=curve.csv[,curve.csv...] ...
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_envs.known import extras
from gpu_envs.terminal import flags
from gpu_envs.train import curves
from gpu_envs.train.columns import EVALUATION, TRAINING, Told, column, decimal
from gpu_envs.train.curves import plot
from gpu_envs.train.events import Events
from gpu_envs.train.progress import Screen

__all__ = ["Report", "main", "plot"]

_USUAL = Told()


class Report:
    """All output of one training run; use it in a `with`, or call `close` at the end."""

    def __init__(
        self,
        folder: Path,
        title: str,
        settings: Mapping[str, Any],
        *,
        total_steps: int,
        threshold: float | None,
        tensorboard: bool = True,
        wandb: str = "",
        append: bool = False,
        told: Told = _USUAL,
    ) -> None:
        self.folder, self.title, self.settings, self.told = folder, title, dict(settings), told
        self.threshold, self.screen = threshold, Screen(total_steps)
        self._troubles: set[str] = set()  # names of outputs that cannot be written right now
        self._is_closed = False
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):  # before hours of training, not after
            raise PermissionError(f"{folder} is not writable")
        path = folder / "curve.csv"
        self.table = curves.Table(path, curves.read(path) if append and path.is_file() else ())
        self._has_tensorboard = tensorboard and self._finds_tensorboard()
        self._wandb = self._started_wandb(wandb) if wandb else None
        self._begin(int(self.table.rows[-1]["steps"]) + 1 if self.table.rows else 0)

    def __enter__(self) -> Report:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For callers

    def line(self, text: str) -> None:
        """Print a line, above the bar where there is one."""
        self.screen.line(text)

    def rewind(self, steps: int) -> None:
        """Drop rows after `steps`: the run continues from a checkpoint at that step."""
        with self._trying("curve.csv"):
            self.table.rewind(steps)
        self._begin(steps + 1)

    def row(self, steps: int, seconds: float, values: Mapping[str, float]) -> None:
        """Take the values of one update; NaN stands for values that were not measured."""
        numbers = dict.fromkeys(self.told.columns(), math.nan)
        numbers |= {name: float(value) for name, value in values.items()}
        with self._trying("curve.csv"):
            self.table.add({"steps": int(steps), "seconds": float(seconds), **numbers})
        known = {name: value for name, value in numbers.items() if not math.isnan(value)}
        self._write_events(lambda events: events.row(steps, known))
        self._use_wandb(lambda run: run.log({**known, "seconds": seconds}, step=steps))
        self._shown |= {name: known[name] for name in self._shown if name in known}
        passed = seconds - self._origin[1]
        done = steps - self._origin[0]
        speed = done / passed if done and passed > 0 else math.nan
        self.screen.show(steps, seconds, speed, self.told.words(self._shown))

    def note(self, name: str, text: str) -> None:
        """Give TensorBoard a text in Markdown; the settings it has already."""
        self._write_events(lambda events: events.text(name, text))

    def stop(self) -> None:
        """Leave the bar as it is, or print the final progress; lines may follow."""
        self.screen.stop()

    def hint(self) -> None:
        """Report the sides whose training and evaluations end far apart, and what differs there."""
        for side in self.told.sides if self.told.differences else ():
            names = column(TRAINING, side), column(EVALUATION, side)
            ends = curves.apart(self.table.rows, *names)
            if ends is not None:
                who = f"{side}: " if side else ""
                line = (
                    f"{who}at the end training returns {decimal(ends[0])}, evaluations "
                    f"{decimal(ends[1])}; what differs: {'; '.join(self.told.differences)}"
                )
                draw = "; --sampled-evaluation draws actions in evaluations too"
                self.line(line if self.told.is_sampled else line + draw)

    def close(self) -> None:
        """Draw the curve, close the files and print the folder of the results."""
        if self._is_closed:
            return
        self._is_closed = True
        self.stop()
        with self._trying("curve.csv"):
            self.table.flush()
        if self._events is not None:
            with self._trying("TensorBoard's file"):
                self._events.flush()
        if self.table.rows:
            self._draw()
        self._use_wandb(lambda run: run.finish())
        if self._troubles:
            names = " and ".join(sorted(self._troubles))
            self.screen.warn(f"{names} in {self.folder}: the last rows are missing")
        self.line(f"results are in {self.folder}")

    # Writing

    def _begin(self, first_step: int) -> None:
        """Begin where the table ends; older events from `first_step` on are void."""
        last = self.table.rows[-1] if self.table.rows else {"steps": 0, "seconds": 0.0}
        self._origin = last["steps"], last["seconds"]
        self._shown = dict.fromkeys(self.told.columns(), math.nan)
        for name in self._shown:
            values = curves.measured(self.table.rows, "steps", name)[1]
            self._shown[name] = values[-1] if values else math.nan
        self._events: Events | None = None  # a file of its own, once there is something to write
        self._first_step = first_step

    @contextlib.contextmanager
    def _trying(self, what: str) -> Iterator[None]:
        """Report once that something cannot be written, and once that it can again."""
        try:
            yield
        except OSError as problem:
            if what not in self._troubles:
                reason = problem.strerror or problem
                self.screen.warn(
                    f"{what} in {self.folder} cannot be written ({reason}): the training goes on, "
                    "what is missing there is kept in memory and tried again"
                )
            self._troubles.add(what)
        else:
            if what in self._troubles:
                self._troubles.remove(what)
                self.line(f"{what} is written again, nothing is missing")

    def _finds_tensorboard(self) -> bool:
        try:
            importlib.import_module("torch.utils.tensorboard")
        except ImportError:
            self.line(
                "TensorBoard is not installed, its files are not written: "
                f"{extras.command('train')}, or --tensorboard false"
            )
            return False
        return True

    def _write_events(self, write: Callable[[Events], None]) -> None:
        if not self._has_tensorboard:
            return
        with self._trying("TensorBoard's file"):
            if self._events is None:
                self._events = Events(self.folder, self._first_step, self.settings)
            write(self._events)

    def _started_wandb(self, project: str) -> Any:
        try:
            wandb = importlib.import_module("wandb")
        except ImportError as problem:
            message = extras.needs(f"W&B's project {project!r}", "wandb")
            raise ValueError(message) from problem
        try:
            return wandb.init(
                project=project, name=self.title, config=self.settings, dir=str(self.folder)
            )
        except Exception as problem:  # raises many kinds: no key, no network, a wrong name
            raise ValueError(f"W&B did not start: {_first_line(problem)}") from problem

    def _use_wandb(self, use: Callable[[Any], None]) -> None:
        if self._wandb is None:
            return
        try:
            use(self._wandb)
        except Exception as problem:
            self._wandb = None
            self.screen.warn(f"W&B gets nothing more from this run: {_first_line(problem)}")

    def _draw(self) -> None:
        path = self.folder / "curve.png"
        try:
            curves.draw(self.table.rows, path, self.title, self.threshold, self.told)
        except Exception as problem:  # a failed picture must not hide the run's last lines
            self.screen.warn(f"{path} could not be drawn: {_first_line(problem)}")


def _first_line(problem: Exception) -> str:
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0]


# ---- the command line: several runs in one picture


def _labelled(text: str) -> tuple[str, list[Path]]:
    label, sign, paths = text.partition("=")
    if not (label and sign and paths):
        raise argparse.ArgumentTypeError(f"must be LABEL=curve.csv[,curve.csv...], got {text!r}")
    return label, [Path(path) for path in paths.split(",")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = flags.Parser(
        prog="python -m gpu_envs.train.report",
        description="Draw the learning curves of several runs in one picture.",
    )
    curve = parser.add_subparsers(required=True, metavar="curves").add_parser("curves")
    add = curve.add_argument
    wanted = "LABEL=PATH[,PATH...]"
    add("curves", nargs="+", type=_labelled, metavar=wanted, help="a label and its seeds' tables")
    add("--out", type=Path, required=True, metavar="PNG", help="the picture to write")
    add("--x", choices=("steps", "seconds"), default="steps")
    add("--y", default=EVALUATION, metavar="COLUMN", help=f"what is drawn (default {EVALUATION})")
    add("--title", default="")
    add("--threshold", type=float, metavar="RETURN", help="where a dashed line is drawn")
    options = parser.parse_args(argv)
    chosen: dict[str, list[Path]] = {}
    for label, paths in options.curves:
        chosen.setdefault(label, []).extend(paths)
    try:
        wishes = {name: getattr(options, name) for name in ("x", "y", "title", "threshold")}
        plot(chosen, options.out, **wishes)
    except (ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
