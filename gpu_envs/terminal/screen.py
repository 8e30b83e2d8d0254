"""The whole terminal, for moving pictures: lines that are drawn over, keys as they are typed.

It is restored at any end: by an error, by Ctrl-C, by a signal, and while Ctrl-Z stops the process.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

from gpu_envs.terminal import console

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"  # the other buffer, without a cursor
_LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_UNKNOWN_SIZE = (24, 80)  # if a terminal does not report its size
_END = "\x04"  # Ctrl-D


def terminal_size() -> tuple[int, int]:
    """Return lines and columns of the terminal on stdout, as they are now."""
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    return (lines, columns) if lines and columns else _UNKNOWN_SIZE


class Screen:
    """A context with full control of the terminal on stdin and stdout."""

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._size: tuple[int, int] | None = None  # lines on the screen
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Screen:
        """Take control of the terminal."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, _leave_by)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        try:
            self._take()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the terminal."""
        try:
            self._give_back()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def _take(self) -> None:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        self._before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor, termios.TCSADRAIN)  # keeps what was typed ahead
        self._size = None
        self._write(_ENTER)

    def _give_back(self) -> None:
        import termios

        if not self._before:
            return
        try:
            self._write(_LEAVE)
        except OSError:  # the output is closed
            console.silence(sys.stdout)
        try:
            # Keys typed for the game must not reach the next program.
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSAFLUSH, self._before)
        except termios.error:  # the terminal is gone
            pass

    def _stop(self, number: int, _: FrameType | None) -> None:
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # continues here when the process does
        signal.signal(number, self._stop)
        self._take()

    # ---- drawing

    def show(self, lines: list[str]) -> None:
        """Draw lines over those on the screen; unchanged lines are not sent."""
        if self._size != (size := terminal_size()):
            self._size, self._shown = size, []
            self._write("\x1b[2J")
        lines = lines[: size[0]]
        lines += [""] * (len(self._shown) - len(lines))
        old = self._shown + [""] * (len(lines) - len(self._shown))
        changes = [
            # Erased first where the old one is longer: at the last column that would take a letter.
            f"\x1b[{row};1H" + ("\x1b[K" if _wider(before, now) else "") + now
            for row, (before, now) in enumerate(zip(old, lines, strict=True), 1)
            if before != now
        ]
        self._shown = lines
        if changes:
            self._write("".join(changes))

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    # ---- keys

    def keys(self, wait: float = 0.0) -> list[str]:
        """Return the keys that were pressed since the last call, "" at the end of input.

        Arrows are "up", "down", "left" and "right".

        Args:
            wait: Seconds to wait for a key where none was pressed yet.
        """
        descriptor = sys.stdin.fileno()
        typed = b""
        while select.select([descriptor], [], [], 0 if typed else wait)[0]:
            try:
                read = os.read(descriptor, 4096)
            except OSError:  # the terminal is gone
                read = b""
            if not read:
                return [*keys_of(typed), ""]
            typed += read
        return keys_of(typed)


def keys_of(typed: bytes) -> list[str]:
    """Return the keys in what a terminal sends."""
    return [_named(key) for key in _KEY.findall(typed.decode(errors="replace"))]


def _named(key: str) -> str:
    if key == _END:
        return ""
    return _ARROWS.get(key[-1], "\x1b") if len(key) > 1 else key


def _wider(before: str, now: str) -> bool:
    return len(console.plain(before)) > len(console.plain(now))


def _leave_by(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)  # exit status of a shell for a signal
