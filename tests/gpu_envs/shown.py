"""A small terminal for tests: what a program writes becomes characters and colours on a screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|(.)", re.DOTALL)
_CUBE = [0, 95, 135, 175, 215, 255]
BLOCK = "\u2580"
_BLACK = (0, 0, 0)
_OF_TEXTS = {1, 7, *range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108)}  # not kept
_SECONDS = 60.0  # after which a program that says nothing more has failed
Cell = tuple[str, tuple[int, int, int], tuple[int, int, int]]  # character, ink, paper


def rgb(code: int) -> tuple[int, int, int]:
    """Return the colour of a number of the 256."""
    if code >= 232:
        grey = 8 + 10 * (code - 232)
        return grey, grey, grey
    code -= 16
    return _CUBE[code // 36], _CUBE[code // 6 % 6], _CUBE[code % 6]


class Shown:
    """Characters on a screen, and in which mode it is."""

    def __init__(self, lines: int = 24, columns: int = 80) -> None:
        self.lines, self.columns = lines, columns
        self.modes = {"?25": True, "?1049": False}  # cursor, other buffer
        self._ink = self._paper = _BLACK
        self._buffers: dict[bool, list[list[Cell]]] = {b: self._empty() for b in (False, True)}
        self._at = {False: (0, 0), True: (0, 0)}

    def _empty(self) -> list[list[Cell]]:
        return [[(" ", _BLACK, _BLACK)] * self.columns for _ in range(self.lines)]

    @property
    def cells(self) -> list[list[Cell]]:
        return self._buffers[self.modes["?1049"]]

    def resize(self, lines: int, columns: int) -> None:
        """Take another size, empty."""
        self.lines, self.columns = lines, columns
        self._buffers = {b: self._empty() for b in (False, True)}

    def feed(self, text: str) -> None:
        for numbers, command, letter in _TOKEN.findall(text):
            if command:
                self._command(numbers, command)
            else:
                self._put(letter)

    def _command(self, numbers: str, command: str) -> None:
        buffer = self.modes["?1049"]
        row, column = self._at[buffer]
        if command == "m":
            self._paint([int(n or 0) for n in numbers.split(";")])
        elif command == "H":
            at = [int(n or 1) for n in numbers.split(";")] + [1]
            self._at[buffer] = (at[0] - 1, at[1] - 1 if ";" in numbers else 0)
        elif command == "J":
            assert numbers == "2"
            self._buffers[buffer] = self._empty()
        elif command == "K":
            self.cells[row][column:] = [(" ", _BLACK, _BLACK)] * (self.columns - column)
        else:
            assert command in "hl" and numbers in self.modes, (numbers, command)
            self.modes[numbers] = command == "h"

    def _paint(self, codes: list[int]) -> None:
        while codes:
            kind = codes.pop(0)
            if kind == 0:
                self._ink = self._paper = _BLACK
                continue
            if kind in _OF_TEXTS:
                continue
            assert kind in (38, 48), kind
            form = codes.pop(0)
            color = rgb(codes.pop(0)) if form == 5 else (codes.pop(0), codes.pop(0), codes.pop(0))
            if kind == 38:
                self._ink = color
            else:
                self._paper = color

    def _put(self, letter: str) -> None:
        buffer = self.modes["?1049"]
        row, column = self._at[buffer]
        if letter == "\r":
            column = 0
        elif letter == "\n":
            row += 1
        else:
            assert letter >= " ", letter
            if column == self.columns:
                row, column = row + 1, 0
            self._scroll(row)
            row = min(row, self.lines - 1)
            self.cells[row][column] = (letter, self._ink, self._paper)
            column += 1
        self._scroll(row)
        self._at[buffer] = (min(row, self.lines - 1), column)

    def _scroll(self, row: int) -> None:
        if row >= self.lines:
            self.cells.append(self._empty()[0])
            del self.cells[0]

    def text(self) -> str:
        return "\n".join("".join(cell[0] for cell in row).rstrip() for row in self.cells)

    def pixels(self) -> Any:
        """Return the pixels of the half blocks, which are a rectangle at the upper left."""
        rows = [[cell for cell in row if cell[0] == BLOCK] for row in self.cells]
        rows = [row for row in rows if row]
        halves = [[cell[part] for cell in row] for row in rows for part in (1, 2)]
        return np.array(halves, np.uint8)


def pixels_of(lines: Sequence[str]) -> Any:
    """Return the pixels of lines of half blocks."""
    screen = Shown(len(lines) + 1, 400)
    screen.feed("\r\n".join(lines))
    return screen.pixels()


def _take_terminal() -> None:
    """Make stdin the terminal whose Ctrl-C and Ctrl-Z reach this process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where tests run in the background
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@dataclass
class Ended:
    """What a program left behind."""

    screen: Shown
    written: str
    status: int  # as subprocess has it
    mode_before: list[Any]
    mode_after: list[Any]


class Player:
    """A program on a terminal of its own, and who sits before it.

    Args:
        command: Arguments of Python.
        lines: Lines of the terminal; 0 where it does not say.
        columns: Columns of the terminal; 0 where it does not say.
        **environment: Variables that differ; "" for none.
    """

    def __init__(
        self, command: Sequence[str], lines: int = 24, columns: int = 80, **environment: str
    ) -> None:
        self.screen, self.written = Shown(lines or 24, columns or 80), ""
        # The terminal is kept open here too, so that its mode can be read after the program's end.
        self._keyboard, self._terminal = pty.openpty()
        self._pending = b""
        self._set_size(lines, columns)
        self.mode_before = termios.tcgetattr(self._terminal)
        values = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": ""} | environment
        ours = self._terminal
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=ours,
            stdout=ours,
            stderr=ours,
            env=os.environ | values,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )

    def _set_size(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, lines: int, columns: int) -> None:
        self.screen.resize(lines, columns)
        self._set_size(lines, columns)

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def wait_for(self, shown: str | Callable[[Shown], bool]) -> None:
        """Read until a text is on the screen, or until something else is true of it."""
        deadline = time.monotonic() + _SECONDS
        while not (shown in self.screen.text() if isinstance(shown, str) else shown(self.screen)):
            assert time.monotonic() < deadline, self.screen.text()
            self._read(0.05)

    def end(self) -> Ended:
        """Wait for the program's end."""
        deadline = time.monotonic() + _SECONDS
        while True:
            status = self.process.poll()
            while self._read(0.0 if status is not None else 0.05):
                pass
            if status is not None:
                break
            assert time.monotonic() < deadline, self.screen.text()
        after = termios.tcgetattr(self._terminal)
        os.close(self._terminal)
        os.close(self._keyboard)
        return Ended(self.screen, self.written, status, self.mode_before, after)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._keyboard], [], [], seconds)[0]:
            return False
        text = self._pending + os.read(self._keyboard, 65536)
        # What is cut through, a character or an escape, waits for its rest.
        whole = re.sub(rb"(\x1b(\[[?0-9;]*)?|[\xc0-\xff][\x80-\xbf]?)$", b"", text)
        self._pending = text[len(whole) :]
        shown = whole.decode()
        self.written += shown
        self.screen.feed(shown)
        return True


Play = Callable[..., Player]  # starts a game
