"""What a person sees while a run goes on: a bar on a terminal, else a line for each evaluation."""

from __future__ import annotations

import contextlib
import math
import os
import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from gpu_envs import terminal
from gpu_envs.progress import clock, short

_TEXT_WIDTH = 84  # of what stands beside the bar


def _decimal(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "-"


class Screen:
    """The lines and the bar of a run."""

    def __init__(self, total_steps: int) -> None:
        self.total_steps = total_steps
        # Plain text: a title may hold what rich takes for markup.
        self.console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
        self._bar: Progress | None = None

    def line(self, text: str) -> None:
        """Print a line, above the bar where there is one."""
        # A log on a full disk, or a reader that has left (SystemExit is rich's answer to that), is
        # no reason to stop.
        with contextlib.suppress(OSError, SystemExit):
            self.console.print(terminal.for_stream(text, sys.stdout))

    def warn(self, text: str) -> None:
        """Print what is not as it should be."""
        self.line(f"warning: {text}")

    def show(
        self, steps: int, seconds: float, speed: float, returns: tuple[float, float], is_news: bool
    ) -> None:
        """Say how far the run is; `returns` are of training and evaluation, NaN for none yet."""
        known = f"return {_decimal(returns[0])}, evaluation {_decimal(returns[1])}"
        if self._bar is None and self._has_bar():
            self._bar = self._new_bar()
        if self._bar is not None:
            left = max(0, self.total_steps - steps) / speed if speed else math.nan
            counts = f"{short(steps)}/{short(self.total_steps)} steps, {short(speed)}/s"
            text = f"{counts}, {known}, {clock(seconds)}, {clock(left)} left"
            self._bar.update(self._bar.task_ids[0], completed=steps, description=text)
            self._bar.start()  # nothing once it runs
        elif is_news:
            pace = f"{speed:,.0f}" if math.isfinite(speed) else "-"
            self.line(f"{steps:,} steps, {pace}/s, {known}, {seconds:.1f} s")

    def stop(self) -> None:
        """Leave the bar as it is; lines may follow."""
        if self._bar is not None:
            self._bar.stop()

    def _has_bar(self) -> bool:
        is_plain = self.console.is_dumb_terminal or os.environ.get("NO_COLOR")
        return self.console.is_terminal and not is_plain

    def _new_bar(self) -> Progress:
        width = min(30, self.console.width - _TEXT_WIDTH)
        bars = [BarColumn(width)] if width >= 5 else []
        text = TextColumn("{task.description}", markup=False)
        bar = Progress(*bars, text, console=self.console, refresh_per_second=5)
        bar.add_task("", total=self.total_steps)
        return bar
