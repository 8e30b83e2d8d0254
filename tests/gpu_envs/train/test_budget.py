"""Evaluations keep to their share of the time, the time limit counts from the run's beginning."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from gpu_envs.known import measures
from gpu_envs.policies import checkpoint
from gpu_envs.train import curves, evaluate, ppo, run

SMALL = ("CartPole-v0", "--num-envs", "4", "--rollout", "8", "--hidden", "4", "--epochs", "1")
SMALL += ("--goal", "inf", "--tensorboard", "false", "--device", "cpu")
STEP = 32  # of an update


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on by a second with each update, and with each evaluated episode."""
    now = [100.0]
    play, iterate = evaluate.play, ppo.Trainer.iterate

    def slow_play(env: Any, *arguments: Any, **keywords: Any) -> Any:
        until, look = keywords["until"], env.num_worlds / 1000
        lasts = min(env.num_worlds, max(look, until - now[0]))
        now[0] += lasts
        if lasts < env.num_worlds:
            raise evaluate.OutOfTime
        return play(env, *arguments, **keywords)

    def slow_iterate(trainer: Any) -> Any:
        now[0] += 1
        return iterate(trainer)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(evaluate, "play", slow_play)
    monkeypatch.setattr(ppo.Trainer, "iterate", slow_iterate)
    return now


def train(folder: Path, *arguments: str) -> list[curves.Row]:
    assert run.main([*SMALL, *arguments, "--out", str(folder)]) == 0
    return curves.read(folder / "curve.csv")


def counts(rows: list[curves.Row]) -> list[int]:
    found = [row["evaluation/episodes"] for row in rows]
    return [int(count) for count in found if count == count]


def test_a_short_run_measures_little_of_untrained_play(
    tmp_path: Path, clock: list[float], capsys: Any
) -> None:
    rows = train(tmp_path, "--time-limit", "200", "--evaluation-episodes", "20")
    assert counts(rows) == [8, 20]
    assert [round(row["seconds"]) for row in (rows[0], rows[-1])] == [8, 199]
    assert rows[-1]["steps"] == STEP * 171  # 8 s before, 20 after, one update's kept back
    assert all(row["time/evaluation"] <= 20 for row in rows[:-1])
    out = capsys.readouterr().out
    assert "before the first update 8 episodes are measured: all 20 would take more than" in out
    assert "evaluation 4%, last evaluation 10%" in out
    assert "mean return of 20 evaluation episodes: best" in out


def test_evaluations_never_have_more_than_their_share(tmp_path: Path, clock: list[float]) -> None:
    rows = train(tmp_path, "--time-limit", "600", "--evaluation-episodes", "16")
    assert counts(rows) == [16] * 4
    evaluated = [row for row in rows[1:-1] if row["evaluation/episodes"] > 0]
    assert all(row["time/evaluation"] <= 0.1 * row["seconds"] for row in evaluated)


def test_episodes_that_take_too_long_are_left_out(
    tmp_path: Path, clock: list[float], capsys: Any
) -> None:
    rows = train(tmp_path, "--time-limit", "60", "--evaluation-episodes", "48")
    assert counts(rows) == [8]  # at the end: all would take half of the limit
    assert rows[0]["steps"] == 0 and rows[0]["seconds"] < 3.1 and rows[-1]["seconds"] <= 62
    assert "before the first update nothing is measured" in capsys.readouterr().out
    assert checkpoint.load(tmp_path / "best.ckpt")["steps"] == rows[-1]["steps"]


def test_few_episodes_neither_end_a_run_nor_are_its_best(
    tmp_path: Path, clock: list[float]
) -> None:
    more = ("--time-limit", "200", "--evaluation-episodes", "16", "--goal", "1")
    rows = train(tmp_path, *more)
    assert counts(rows) == [8, 16] and rows[-1]["steps"] > 0


def test_no_environment_counts_its_evaluations_in_updates_by_default() -> None:
    for name in ("CartPole-v0", "CartPole64-v0", "CartPoleContinuous-v0", "Flocking-v0"):
        assert "evaluation_every" not in measures.measures_of(name)["training"]["defaults"]


def test_what_is_left_of_a_time_limit_is_said_before_the_work(
    tmp_path: Path, clock: list[float], capsys: Any
) -> None:
    train(tmp_path, "--time-limit", "40", "--evaluation-episodes", "1")
    before = (tmp_path / "checkpoint.ckpt").read_bytes()
    capsys.readouterr()
    again = ["CartPole-v0", "--resume", "--goal", "inf", "--out", str(tmp_path), "--time-limit"]
    assert run.main([*again, "20"]) == 2
    assert capsys.readouterr().err == (
        "error: --time-limit 20 counts from the beginning of the run, which has taken 39 s: "
        "--time-limit 59 goes on for 20 s more\n"
    )
    assert (tmp_path / "checkpoint.ckpt").read_bytes() == before
    assert run.main([*again, "60"]) == 0
    assert "which has taken 39 s: 21 s are left" in capsys.readouterr().out
    assert curves.read(tmp_path / "curve.csv")[-1]["seconds"] > 55


def test_a_run_that_has_its_steps_says_how_to_go_on(tmp_path: Path, capsys: Any) -> None:
    train(tmp_path, "--total-steps", "64", "--evaluation-episodes", "1")
    assert run.main(["CartPole-v0", "--resume", "--out", str(tmp_path)]) == 0
    assert "--total-steps 128 goes on for as many more" in capsys.readouterr().out


def test_a_first_evaluation_that_is_cut_short_says_less_than_the_last_will_take(
    tmp_path: Path, clock: list[float]
) -> None:
    rows = train(tmp_path, "--time-limit", "60", "--evaluation-episodes", "6")
    assert counts(rows) == [6] and rows[0]["seconds"] == pytest.approx(3, abs=0.1)
    assert rows[-1]["seconds"] <= 60


def test_a_time_limit_binds_evaluations_that_come_every_so_many_updates(
    tmp_path: Path, clock: list[float], capsys: Any
) -> None:
    every = ("--time-limit", "60", "--evaluation-every", "5", "--evaluation-episodes")
    rows = train(tmp_path / "long", *every, "80")
    assert counts(rows) == [8]  # at the end: all would take half of the limit
    assert rows[0]["seconds"] < 31 and rows[-1]["seconds"] <= 62
    assert "all 80 would take more than half of --time-limit 60\n" in capsys.readouterr().out
    rows = train(tmp_path / "short", *every, "10")
    assert counts(rows) == [10] * 4 and 55 <= rows[-1]["seconds"] <= 60
