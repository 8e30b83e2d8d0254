"""Counts, times, and the line that says how far something is."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import pytest

from gpu_envs.terminal import progress
from gpu_envs.terminal.progress import Progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def _shown(
    stream: io.StringIO, times: Sequence[float], total: int | None = 10, note: str = ""
) -> str:
    """What is shown of one step at each of the times, before the end."""
    clock = _Clock()
    with Progress("drawing X-v0", total, stream=stream, now=clock) as shown:
        for clock.seconds in times:
            shown.step(note=note)
        return stream.getvalue()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (999, "999"), (999.6, "1k"), (61_300_000, "61.3M"), (999_499, "999k"),
        (999_999, "1M"), (2e9, "2G"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_counts_are_short(number: float, text: str) -> None:
    assert progress.short(number) == text


def test_times_are_clocks() -> None:
    assert [progress.clock(s) for s in (0, 59.9, 60, 3661, math.nan, math.inf)] == [
        "0:00", "0:59", "1:00", "1:01:01", "-:--", "-:--",
    ]  # fmt: skip


@pytest.mark.parametrize("stream", [io.StringIO(), _Terminal()])
def test_what_is_short_shows_nothing(stream: io.StringIO) -> None:
    assert _shown(stream, [0.5, 1.0, 1.9]) == ""
    assert stream.getvalue() == ""


def test_a_log_gets_a_line_every_ten_seconds() -> None:
    assert _shown(io.StringIO(), [1, 3, 5, 12, 13, 22.9, 23]) == (
        "drawing X-v0: 2 of 10, 0:12 left\n"
        "drawing X-v0: 5 of 10, 0:13 left\n"
        "drawing X-v0: 7 of 10, 0:09 left\n"
    )


def test_a_terminal_has_one_line_that_goes_away() -> None:
    stream = _Terminal()
    shown = _shown(stream, [1, 2, 2.05, 4], note="rest")
    assert shown == (
        "\r\x1b[Kdrawing X-v0: 2 of 10, 0:08 left, rest"
        "\r\x1b[Kdrawing X-v0: 4 of 10, 0:06 left, rest"
    )
    assert stream.getvalue() == shown + "\r\x1b[K"


def test_a_line_fits_its_terminal() -> None:
    stream = _Terminal()
    assert len(_shown(stream, [3], note="long " * 40)) == len("\r\x1b[K") + 79


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("NO_COLOR", "1")])
def test_a_plain_terminal_is_a_log(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert _shown(_Terminal(), [3, 4]) == "drawing X-v0: 1 of 10, 0:27 left\n"


def test_a_total_may_be_unknown() -> None:
    assert _shown(io.StringIO(), [3, 70], None) == (
        "drawing X-v0: 1, 0:03 so far\ndrawing X-v0: 2, 1:10 so far\n"
    )


def test_a_note_without_a_step_counts_nothing() -> None:
    clock, stream = _Clock(), io.StringIO()
    shown = Progress("building", 3, stream=stream, now=clock)
    clock.seconds = 4
    shown.step(0, "engine")
    assert stream.getvalue() == "building: 0 of 3, -:-- left, engine\n"


def test_quiet_shows_nothing() -> None:
    clock, stream = _Clock(), io.StringIO()
    with Progress("building", 3, quiet=True, stream=stream, now=clock) as shown:
        clock.seconds = 100
        shown.step()
    assert (shown.done, stream.getvalue()) == (1, "")


def test_a_reader_that_left_is_no_error() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    assert _shown(Gone(), [3, 20]) == ""
