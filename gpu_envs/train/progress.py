"""The display of a running training: a bar on a terminal, else a line every 15 seconds."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from gpu_envs.terminal import console
from gpu_envs.terminal.progress import clock, short

_TEXT_WIDTH = 84  # usual width of the text beside the bar
_BAR_WIDTHS = (5, 30)  # the least width for a bar
_LINE_EVERY = 15.0  # [s] of the run


class Screen:
    """The lines and the bar of a run."""

    def __init__(self, total_steps: int) -> None:
        self.total_steps = total_steps
        # Plain text: a title may hold what rich takes for markup.
        self.console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
        self._bar: Progress | None = None
        self._due = -math.inf  # seconds of the run at which the next line is
        self._waiting = ""  # the last line, as long as it is not shown

    def line(self, text: str) -> None:
        """Print a line, above the bar where there is one."""
        # The run goes on when the disk of a log is full, or the reader of a pipe is gone, for which
        # rich raises SystemExit.
        with contextlib.suppress(OSError, SystemExit):
            self.console.print(console.for_stream(text, sys.stdout))

    def warn(self, text: str) -> None:
        """Print a warning."""
        self.line(f"warning: {text}")

    def show(self, steps: int, seconds: float, speed: float, known: Sequence[str]) -> None:
        """Show the progress of the run; `known` are words on its results."""
        if self._bar is None and self._has_bar():
            self._bar = self._new_bar()
        if self._bar is not None:
            left = max(0, self.total_steps - steps) / speed if speed else math.nan
            counts = f"{short(steps)}/{short(self.total_steps)} steps, {short(speed)}/s"
            times = f"{clock(seconds)}, {clock(left)} left"
            text = self._laid_out(counts, times, known)
            self._bar.update(self._bar.task_ids[0], completed=steps, description=text)
            self._bar.start()  # nothing once it runs
            return
        pace = f"{speed:,.0f}" if math.isfinite(speed) else "-"
        self._waiting = f"{steps:,} steps, {pace}/s, {', '.join(known)}, {seconds:.1f} s"
        if seconds >= self._due:
            self._due = seconds + _LINE_EVERY
            self._tell()

    def stop(self) -> None:
        """Leave the bar as it is, or print the final progress; lines may follow."""
        if self._bar is not None:
            self._bar.stop()
        self._tell()

    def _tell(self) -> None:
        if self._waiting:
            self.line(self._waiting)
        self._waiting = ""

    def _laid_out(self, counts: str, times: str, known: Sequence[str]) -> str:
        """Return the text beside the bar, in as many lines as it needs."""
        room = self.console.width - self._bar_width() - 1
        whole, rest = ", ".join([counts, *known, times]), ", ".join(known)
        if len(whole) <= room:
            return whole
        return "\n".join([f"{counts}, {times}", *([rest] if len(rest) <= room else known)])

    def _has_bar(self) -> bool:
        is_plain = self.console.is_dumb_terminal or os.environ.get("NO_COLOR")
        return self.console.is_terminal and not is_plain

    def _bar_width(self) -> int:
        least, most = _BAR_WIDTHS
        width = min(most, self.console.width - _TEXT_WIDTH)
        return width if width >= least else 0

    def _new_bar(self) -> Progress:
        width = self._bar_width()
        bars = [BarColumn(width)] if width else []
        text = TextColumn("{task.description}", markup=False)
        bar = Progress(*bars, text, console=self.console, refresh_per_second=5)
        bar.add_task("", total=self.total_steps)
        return bar
