"""Ends a command without an error when its output is closed, as in `info X | head`."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable
from typing import Any

from gpu_envs.terminal import console


def end_quietly() -> None:
    """End this process, as a success, when standard output or standard error is a broken pipe.

    Other pipes, such as that to a video encoder, raise as before.
    """
    _watch(ends=True)


def go_on_quietly() -> None:
    """Drop output after its pipe is closed, and go on: training does not end with its reader."""
    _watch(ends=False)


def _watch(ends: bool) -> None:
    given = [stream or _nowhere() for stream in (sys.stdout, sys.stderr)]
    streams: Any = [_Stream(stream, ends) for stream in given]
    sys.stdout, sys.stderr = streams
    for stream in streams:
        atexit.register(stream.flush)


def _nowhere() -> Any:
    """Return a substitute for a stream that was closed before the start, as by `>&-`."""
    nowhere = os.open(os.devnull, os.O_WRONLY)  # stays open to the end, as the standard streams do
    return open(nowhere, "w", encoding="utf-8", closefd=False)


class _Stream:
    """A text stream that ignores a broken pipe."""

    def __init__(self, stream: Any, ends: bool) -> None:
        self._stream, self._ends = stream, ends

    def write(self, text: str) -> int:
        """Write text."""
        try:
            self._stream.write(text)
        except BrokenPipeError:
            self._leave()
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        console.silence(self._stream)
        if self._ends:
            raise SystemExit(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
