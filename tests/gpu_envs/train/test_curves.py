"""Several runs in one picture, and tables that are no curves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs matplotlib")
pytest.importorskip("rich", reason="needs rich")

from gpu_envs.train import curves, report
from gpu_envs.train.columns import EVALUATION


def size_of(picture: Path) -> tuple[int, int]:
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "steps,seconds\n1,2,3\n", "steps,seconds\nx,1\n", "steps\n1\n", "\xff\n"]
)
def test_a_table_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "curve.csv"
    path.write_bytes(text.encode("latin1"))
    with pytest.raises(ValueError, match=r"curve.csv is not a learning curve of gpu_envs"):
        curves.read(path)


def test_mean_is_taken_where_all_seeds_have_been() -> None:
    places, values = curves.mean([([0, 2, 4], [0, 2, 4]), ([1, 3], [10, 30])])
    assert places == [1, 2, 3] and values == [5.5, 11, 16.5]
    assert curves.mean([([0, 1], [0, 1]), ([5, 6], [0, 1])]) == ([], [])


def write_runs(folder: Path) -> list[str]:
    """Write three tables of 4, 5 and 6 rows, each second row with an evaluation."""
    paths = [folder / f"{number}.csv" for number in range(3)]
    for number, path in enumerate(paths):
        table = curves.Table(path)
        for k in range(1, 5 + number):
            score = {} if k % 2 else {EVALUATION: 20.0 * k}
            table.add({"steps": 100 * k, "seconds": 0.5 * k, **score})
    return [str(path) for path in paths]


def test_command_draws_several_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = write_runs(tmp_path)
    figures: list[Any] = []
    out, save = tmp_path / "all.png", curves._save
    monkeypatch.setattr(curves, "_save", lambda f, path: (figures.append(f), save(f, path)))
    options = ("--out", str(out), "--x", "seconds", "--title", "Balance", "--threshold", "60")
    assert report.main(["curves", *options, f"ours={one},{two}", f"other={three}"]) == 0
    assert size_of(out) == (1040, 585)
    axes = figures[0].axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["ours, mean of 2", "other", "threshold"]
    assert axes.get_title() == "Balance" and axes.get_xlabel() == "seconds"
    assert len(axes.get_lines()) == 6  # three seeds, two means, the threshold
    mean = axes.get_lines()[2]
    assert (list(mean.get_xdata()), list(mean.get_ydata())) == ([1, 2], [40, 80])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["curves", "--out", "x.png", "ours"], "must be LABEL=curve.csv"),
        (["curves", "a=b"], "--out"),
        (["curves", "--out", "x.png", "a=/dev/null/none"], "/dev/null/none"),
        (["curves", "--out", "x.png", "a=/dev/null"], "/dev/null has no row with"),
        (["curves", "--out", "/dev/null/x.png", "a=CURVE"], "/dev/null/"),
        (
            ["curves", "--out", "x.png", "--y", "losses/none", "a=CURVE"],
            "no row with 'losses/none'",
        ),
        ([], "curves"),
    ],
)
def test_command_names_what_is_wrong_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    curve = write_runs(tmp_path)[0]
    monkeypatch.chdir(tmp_path)
    try:
        status: object = report.main([word.replace("CURVE", curve) for word in arguments])
    except SystemExit as leaving:
        status = leaving.code
    line = capsys.readouterr().err
    assert status == 2 and line.startswith("error: ") and line.count("\n") == 1
    assert words in line and not Path("x.png").exists()


def test_a_run_of_opponents_names_the_columns_of_its_roles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = curves.Table(tmp_path / "curve.csv")
    table.add({"steps": 1, "seconds": 1.0, f"{EVALUATION}_hider": 2.0, "losses/x": 1.0})
    drawing = ["curves", "--out", str(tmp_path / "x.png"), f"a={tmp_path / 'curve.csv'}"]
    assert report.main(drawing) == 2
    assert "did you mean 'evaluation/return_hider'?" in capsys.readouterr().err
    assert report.main([*drawing, "--y", f"{EVALUATION}_hider"]) == 0


def test_module_is_a_command() -> None:
    command = [sys.executable, "-m", "gpu_envs.train.report", "curves", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "LABEL=PATH[,PATH...]" in shown.stdout and shown.stderr == ""
