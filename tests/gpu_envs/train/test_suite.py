"""`train --suite`: every game of a suite, and the table of what was reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpu_envs import suites
from gpu_envs.train import run, suite

FEW = (
    *("--total-steps", "64", "--num-envs", "4", "--rollout", "4", "--minibatch", "16"),
    *("--evaluation-episodes", "2", "--episode-seconds", "1", "--resolution", "4x6"),
    *("--hidden", "8", "--encoder", "mlp", "--device", "cpu", "--supersample", "1"),
)
TWO = suites.Suite("two", {"Sokoban-v0": {}, "Rearrange-v0": {}})


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(suites, "members", lambda: {"two": list(TWO.games)})
    monkeypatch.chdir(tmp_path)


def test_a_policy_is_trained_for_each_game(two: None, capsys: Any) -> None:
    assert run.main(["--suite", "two", *FEW]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Sokoban-v0, 1 of 2 games of two" in lines
    assert "Rearrange-v0, 2 of 2 games of two" in lines
    head, *rows = lines[-3:]
    assert head.split()[:3] == ["game", "steps", "seconds"]
    assert [row.split()[:2] for row in rows] == [["Sokoban-v0", "64"], ["Rearrange-v0", "64"]]
    assert all("solved 0" in row for row in rows)
    for game in TWO.games:
        assert Path("runs", game, "1", "best.ckpt").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "unknown suite 'nothing' (valid: two)"),
        ([], "unknown suite None (valid: two)"),
    ],
)
def test_wrong_names_are_one_line(two: None, capsys: Any, words: list[str], message: str) -> None:
    assert run.main(["--suite", *words]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_options_that_a_game_does_not_know_are_refused(two: None, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        run.main(["--suite", "two", "--goal-reward", "1", *FEW])
    assert "unknown option '--goal-reward'" in capsys.readouterr().err


def test_several_processes_are_refused(
    two: None, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run.main(["--suite", "two", *FEW]) == 2
    assert "--suite trains in one process" in capsys.readouterr().err


def test_columns_are_as_wide_as_their_longest_entry() -> None:
    rows = [("a", "1", "2", "3.00", "-"), ("a-game", "1,000", "20", "-0.50", "solved 0.25")]
    assert suite.table(rows).splitlines() == [
        "game    steps  seconds  best return  last evaluation",
        "a           1        2         3.00  -",
        "a-game  1,000       20        -0.50  solved 0.25",
    ]
