"""What a person sees of a run: words, columns, curves and pictures."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs matplotlib")
pytest.importorskip("rich", reason="needs rich")

from gpu_envs.train import curves
from gpu_envs.train.columns import Told
from tests.gpu_envs.train.reports import EVALUATION, LOSS, RETURN, fill, lines, make

# What a person sees


ROLES = Told(("hider", "seeker"))
OF_ROLES = {f"{RETURN}_hider": -1.0, f"{RETURN}_seeker": 1.0, f"{EVALUATION}_hider": -3.0}


def test_of_several_sides_each_has_words_and_columns_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = make(tmp_path, told=ROLES)
    report.row(100, 1.0, {LOSS: 0.5, **OF_ROLES})
    shown = capsys.readouterr().out
    assert shown == (
        "100 steps, 100/s, return hider -1.0 seeker 1.0, evaluation hider -3.0 seeker -, 1.0 s\n"
    )
    assert lines(tmp_path) == [
        f"steps,seconds,{RETURN}_hider,{RETURN}_seeker,{EVALUATION}_hider,{EVALUATION}_seeker,"
        f"{LOSS}",
        "100,1,-1,1,-3,,0.5",
    ]


def test_of_several_sides_each_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, told=ROLES, threshold=None) as report:
        for k in range(1, 5):
            report.row(100 * k, 1.0 * k, {name: k * value for name, value in OF_ROLES.items()})
    found = figures[0].axes[0].get_lines()
    assert [list(line.get_ydata()) for line in found] == [
        [-1, -2, -3, -4], [-3, -6, -9, -12], [1, 2, 3, 4], [],
    ]  # fmt: skip
    assert found[0].get_color() == found[1].get_color() != found[2].get_color()
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == [
        "hider, training: sampled actions",
        "hider, evaluation: likeliest actions",
        "seeker, training: sampled actions",
    ]


def test_the_environments_own_measure_has_words_a_column_and_a_panel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, told=Told(measures=("hiders seen",))) as report:
        report.row(100, 1.0, {RETURN: 3.0})
        report.row(200, 20.0, {"evaluation/hiders_seen": 0.5234, EVALUATION: 1.0})
    first, second, _ = capsys.readouterr().out.splitlines()
    assert "evaluation -, hiders seen -, 1.0 s" in first
    assert "evaluation 1.0, hiders seen 0.523, 20.0 s" in second
    assert lines(tmp_path)[0] == f"steps,seconds,{RETURN},{EVALUATION},evaluation/hiders_seen"
    panel = figures[0].axes[2]
    assert panel.get_ylabel() == "hiders seen" and len(figures[0].axes) == 4
    assert list(panel.get_lines()[0].get_ydata()) == [0.5234]
    assert size_of(tmp_path / "curve.png") == (1300, 806)


@pytest.mark.parametrize(
    ("ends", "told", "is_told"),
    [
        ((60.0, 30.0), Told(differences=("x 1 in training, 2 in evaluations", "y")), True),
        ((60.0, 40.0), Told(differences=("x",)), False),
        ((60.0, 90.0), Told(differences=("x",)), True),
        ((60.0, 30.0), Told(is_sampled=True, differences=("x",)), True),
        ((60.0, 30.0), Told(is_sampled=True), False),
        ((60.0, None), Told(differences=("x",)), False),
    ],
)
def test_a_hint_names_what_differs_where_evaluations_are_far_off(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ends: tuple[float, float | None],
    told: Told,
    is_told: bool,
) -> None:
    report = make(tmp_path, told=told)
    report.row(0, 0.0, {RETURN: 0.0})
    report.row(1, 1.0, {RETURN: 100.0})
    for k in range(2, 7):
        report.row(k, 1.0 * k, {RETURN: ends[0] + k - 4})  # of which the mean counts
    report.row(7, 7.0, {} if ends[1] is None else {EVALUATION: ends[1]})
    report.stop()
    capsys.readouterr()
    report.hint()
    line = capsys.readouterr().out
    assert bool(line) is is_told
    if is_told:
        draw = "" if told.is_sampled else "; --sampled-evaluation draws actions in evaluations too"
        assert line == (
            f"at the end training returns 60.0, evaluations {ends[1]}; what differs: "
            f"{'; '.join(told.differences)}{draw}\n"
        )


# Pictures


def size_of(picture: Path) -> tuple[int, int]:
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR"
    assert len(content) > 10_000  # not an empty page
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects the figures that are saved."""
    figures: list[Any] = []
    save = curves._save
    monkeypatch.setattr(curves, "_save", lambda f, path: (figures.append(f), save(f, path)))
    return figures


def test_the_end_draws_training_evaluation_and_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path) as report:
        fill(report, 6)
    assert size_of(tmp_path / "curve.png") == (1300, 546)
    steps, seconds = figures[0].axes
    assert [(axes.get_xlabel(), len(axes.get_lines())) for axes in (steps, seconds)] == [
        ("steps", 3),
        ("seconds", 3),
    ]
    training, evaluation, threshold = steps.get_lines()
    assert list(training.get_xdata()) == [100, 200, 300, 400, 500, 600]
    assert list(evaluation.get_ydata()) == [40, 80, 120]
    assert list(threshold.get_ydata()) == [475, 475] and threshold.get_linestyle() == "--"
    assert list(seconds.get_lines()[1].get_xdata()) == [1, 2, 3]
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == ["training: sampled actions", "evaluation: likeliest actions", "threshold"]


def test_a_run_without_rows_draws_nothing(tmp_path: Path) -> None:
    make(tmp_path).close()
    assert os.listdir(tmp_path) == []


def test_a_run_without_evaluations_has_no_such_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, threshold=None) as report:
        report.row(100, 1.0, {RETURN: 3.0})
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == ["training: sampled actions"]
    assert figures[0].axes[0].get_lines()[0].get_marker() == "o"  # a line of one point


def test_a_missing_matplotlib_costs_the_picture_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    genuine = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return genuine(name, *rest)

    with make(tmp_path) as report:
        fill(report, 1)
        monkeypatch.setattr(builtins, "__import__", refuse)
    assert "curve.png could not be drawn: No module named" in capsys.readouterr().out
