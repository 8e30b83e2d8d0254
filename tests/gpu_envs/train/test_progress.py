"""What a person sees of a run: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs matplotlib")
pytest.importorskip("rich", reason="needs rich")

from rich.console import Console

from gpu_envs.terminal import console
from gpu_envs.train import progress
from tests.gpu_envs.train.reports import EVALUATION, NAN, RETURN, fill, make


def test_without_a_terminal_a_line_follows_every_15_seconds_and_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = make(tmp_path / ("long" * 40))
    report.line("[bold]CartPole[/bold] :smile: " + "x" * 200)
    for k in range(1, 9):
        report.row(100 * k, 5.0 * k, {RETURN: 10.0 * k, EVALUATION: 30.0 if k == 2 else NAN})
    report.stop()
    report.line("a line")
    report.close()
    report.close()
    first, *found = capsys.readouterr().out.splitlines()
    assert first == "[bold]CartPole[/bold] :smile: " + "x" * 200  # as it came, in one line
    assert found == [
        "100 steps, 20/s, return 10.0, evaluation -, 5.0 s",
        "400 steps, 20/s, return 40.0, evaluation 30.0, 20.0 s",
        "700 steps, 20/s, return 70.0, evaluation 30.0, 35.0 s",
        "800 steps, 20/s, return 80.0, evaluation 30.0, 40.0 s",
        "a line",
        f"results are in {tmp_path / ('long' * 40)}",
    ]


def test_before_a_return_is_known_a_dash_stands_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path).row(100, 0.0, {RETURN: NAN, EVALUATION: 1.0})
    assert capsys.readouterr().out == "100 steps, -/s, return -, evaluation 1.0, 0.0 s\n"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A terminal of a width; returns what was written to it."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def screen(width: int) -> io.StringIO:
        stream = io.StringIO()
        monkeypatch.setattr(
            progress,
            "Console",
            lambda **options: Console(file=stream, force_terminal=True, width=width, **options),
        )
        return stream

    return screen


@pytest.mark.parametrize("width", [200, 120, 86, 60])
def test_a_terminal_has_a_bar(tmp_path: Path, screen: Any, width: int) -> None:
    stream = screen(width)
    report = make(tmp_path, total_steps=1_200_000)
    report.row(300_000, 61.0, {RETURN: 20.0, EVALUATION: 33.3})
    report.line("a line")
    report.row(600_000, 120.0, {RETURN: 21.5})
    report.close()
    shown = stream.getvalue()
    assert ("━" in shown) is (width > 90)
    known = "return 21.5, evaluation 33.3"
    wanted = [f"600k/1.2M steps, 5k/s, {known}, 2:00, 2:00 left"]
    if width == 60:
        wanted = ["600k/1.2M steps, 5k/s, 2:00, 2:00 left", known]
    assert all(line in shown for line in wanted)
    assert "a line\n" in shown and f"results are in {tmp_path}" in shown
    assert "61.0 s" not in shown  # no plain line beside the bar
    bar = console.plain(shown).rpartition("600k/1.2M")[2].partition("results are")[0]
    assert max(map(len, bar.splitlines())) <= width


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_plain_terminals_get_lines(
    tmp_path: Path, screen: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    stream = screen(200)
    monkeypatch.setenv(name, value)
    with make(tmp_path) as report:
        fill(report, 2)
    shown = stream.getvalue()
    assert shown.startswith("100 steps, 200/s, return 10.0, evaluation -, 0.5 s\n")
    assert "\x1b" not in shown


def test_speed_and_last_returns_of_a_resumed_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(make(tmp_path), 4)
    capsys.readouterr()
    resumed = make(tmp_path, append=True)
    resumed.rewind(300)  # which took 1.5 s
    resumed.row(900, 3.5, {EVALUATION: 1.0})
    assert capsys.readouterr().out == "900 steps, 300/s, return 30.0, evaluation 1.0, 3.5 s\n"
