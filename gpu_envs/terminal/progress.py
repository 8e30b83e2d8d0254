"""Progress of long work: one line on stderr, for videos, builds and measurements.

    with Progress("drawing HideSeek-v0", total=241) as progress:
        for _ in range(241):
            ...
            progress.step(note="step 17")

shows `drawing HideSeek-v0: 80 of 241, 0:31 left, step 17`. What takes less than two seconds shows
nothing. A terminal's line is written over, and gone at the end; elsewhere a line follows at most
every ten seconds. The trainer has a screen of its own (train/progress.py), of the same words.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from gpu_envs.terminal import console

_PATIENCE = 2.0  # [s], before anything is shown
_LIVE_EVERY, _LINE_EVERY = 0.1, 10.0  # [s], on a terminal and elsewhere
_ERASE = "\r\x1b[K"


def short(value: float) -> str:
    """Return a count in a few characters: 61.3M."""
    for scale, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * scale:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}" if math.isfinite(value) else "-"


def clock(seconds: float) -> str:
    """Return a time as 0:05 or 1:02:03."""
    if not math.isfinite(seconds):
        return "-:--"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """Counts steps, and shows them.

    Args:
        what: Name of the work; the beginning of the line.
        total: Number of steps, None where it is unknown.
        quiet: Show nothing.
        stream: The output; None is stderr.
        now: The clock [s].
    """

    def __init__(
        self,
        what: str,
        total: int | None,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.what, self.total, self.done = what, total, 0
        self._stream = sys.stderr if stream is None else stream
        self._now, self._quiet = now, quiet
        self._is_live = console.rewrites_lines(self._stream)
        self._begin = now()
        self._shown: float | None = None  # time of the last line; None without a line

    def __enter__(self) -> Progress:
        """Start the clock."""
        self._begin = self._now()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Erase the line."""
        self.clear()

    def step(self, n: int = 1, note: str = "") -> None:
        """Count `n` steps; 0 changes only the note."""
        self.done += n
        now = self._now()
        last = self._begin + _PATIENCE if self._shown is None else self._shown + self._pause
        if self._quiet or now < last:
            return
        line = self._line(now - self._begin, note)
        self._write(_ERASE + line[: self._width() - 1] if self._is_live else line + "\n")
        self._shown = now

    def clear(self) -> None:
        """Erase the line on a terminal, so that other lines can be printed."""
        if self._shown is not None and self._is_live:
            self._write(_ERASE)
            self._shown = None

    @property
    def _pause(self) -> float:
        return _LIVE_EVERY if self._is_live else _LINE_EVERY

    def _line(self, seconds: float, note: str) -> str:
        if self.total is None:
            parts = [f"{self.what}: {self.done}", f"{clock(seconds)} so far"]
        else:
            left = seconds * (self.total - self.done) / self.done if self.done else math.nan
            parts = [f"{self.what}: {self.done} of {self.total}", f"{clock(left)} left"]
        return ", ".join([*parts, note] if note else parts)

    def _width(self) -> int:
        with contextlib.suppress(OSError, ValueError):  # not a real terminal
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        return 80

    def _write(self, text: str) -> None:
        # The work goes on when the reader of the stream is gone.
        with contextlib.suppress(OSError):
            self._stream.write(text)
            self._stream.flush()
