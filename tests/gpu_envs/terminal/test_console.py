"""Text for terminals, and keys from them."""

from __future__ import annotations

import io
import pty
import sys

from gpu_envs.terminal import console


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_text_has_no_escapes() -> None:
    assert console.plain("\x1b[1;31mR0\x1b[0m \x1b[H\x1b[2J\x1b[?25hend") == "R0 end"


def test_colors_belong_on_terminals_unless_refused(monkeypatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    painted = "\x1b[31mred\x1b[0m"
    assert console.for_stream(painted, _Terminal()) == painted
    assert console.for_stream(painted, io.StringIO()) == "red"
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.for_stream(painted, _Terminal()) == "red"
    monkeypatch.setenv("NO_COLOR", "")
    assert console.for_stream(painted, _Terminal()) == painted


def test_keys_are_read_one_by_one(monkeypatch) -> None:
    ours, theirs = pty.openpty()
    with open(theirs, encoding="utf-8") as stdin, open(ours, "wb", buffering=0) as keyboard:
        monkeypatch.setattr(sys, "stdin", stdin)
        keyboard.write(b"w \x1b[A\x1b[Dx\n")
        assert [console.read_key() for _ in range(6)] == ["w", " ", "up", "left", "x", "\n"]
