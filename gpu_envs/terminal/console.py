"""The terminal: whether it shows colours, text without them, tables, and single key presses."""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Sequence
from typing import TextIO

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ARROWS = {b"[A": "up", b"[B": "down", b"[C": "right", b"[D": "left"}
_ESCAPE_SECONDS = 0.05  # [s]; the rest of an arrow's escape sequence comes at once


def plain(text: str) -> str:
    """Return text without ANSI escapes."""
    return _ESCAPES.sub("", text)


def shows_colors(stream: TextIO) -> bool:
    """Whether a stream gets colours: it is a terminal, and NO_COLOR is empty."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def rewrites_lines(stream: TextIO) -> bool:
    """Whether a line of a stream can be overwritten."""
    return shows_colors(stream) and os.environ.get("TERM") != "dumb"


def for_stream(text: str, stream: TextIO) -> str:
    """Return text with its escapes, or without where the stream gets none."""
    return text if shows_colors(stream) else plain(text)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with aligned columns, all but the first to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def silence(stream: TextIO) -> None:
    """Redirect a stream whose reader is gone to /dev/null, so that the last flush succeeds too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def read_key() -> str:
    r"""Wait for one key of the terminal on stdin, unechoed; "" at its end.

    Arrows are "up", "down", "left" and "right", keys of other names a lone "\x1b"; Ctrl-C raises
    KeyboardInterrupt as always.
    """
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)  # keeps what was typed ahead
        key = os.read(descriptor, 1)
        if key == b"\x1b" and select.select([descriptor], [], [], _ESCAPE_SECONDS)[0]:
            return _ARROWS.get(os.read(descriptor, 2), "\x1b")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return "" if key == b"\x04" else key.decode(errors="replace")
