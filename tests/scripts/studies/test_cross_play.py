"""The study of seeds that meet: what it trains, what it writes, and its errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")

import numpy as np

from gpu_envs.train.cross_play import Matrix, Seats
from scripts.studies import cross_play as study

SEATS = Seats.of(["player_0", "player_1"])
TINY = {"num_envs": 8, "rollout": 16, "minibatch": 64, "epochs": 1, "total_steps": 256}
TINY |= {"evaluation_every": 0, "evaluation_share": 0.0, "evaluation_episodes": 4, "hidden": "8"}


def test_a_task_is_one_of_the_page() -> None:
    assert study.task_of("hanabi")["id"] == "Hanabi-v0"
    with pytest.raises(ValueError, match=r"unknown task 'hanaby'; did you mean 'hanabi'\?"):
        study.task_of("hanaby")


def test_errors_over_seeds_leave_one_out() -> None:
    means = np.array([[9.0, 1.0, 2.0], [3.0, 6.0, 4.0], [5.0, 7.0, 3.0]])
    matrix = Matrix(SEATS, ["1", "2", "3"], means[..., None].repeat(2, 2))
    own, error = study.over_seeds(matrix, True)
    assert own == 6 and error == pytest.approx(3 / 3**0.5)  # the standard error of 9, 6, 3
    mean, error = study.over_seeds(matrix, False)
    left_out = np.array([(4 + 7) / 2, (2 + 5) / 2, (1 + 3) / 2])
    spread = ((left_out - left_out.mean()) ** 2).sum()
    assert mean == pytest.approx(22 / 6) and error == pytest.approx((spread * 2 / 3) ** 0.5)
    two = Matrix(SEATS, ["1", "2"], means[:2, :2, None])
    assert np.isnan(study.over_seeds(two, False)[1])  # one left out leaves no pair


def test_what_is_missing_is_trained_and_all_pairs_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    whole = study.task_of("hanabi")
    options = {"preset": "small", **TINY}
    small = {**whole, "options": {**options, "goal": "inf"}, "stages": [{}, {"entropy": 0.01}]}
    monkeypatch.setattr(study, "task_of", lambda name: small)
    words = ["hanabi", "--other-play", "--seeds", "1", "2", "--episodes", "6"]
    words += ["--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    monkeypatch.setattr(sys, "argv", ["cross_play.py", *words])
    assert study.main() == 0
    home = tmp_path / "runs" / "hanabi"
    assert sorted(p.name for p in home.iterdir()) == ["other_play", "self_play"]
    (found,) = (tmp_path / "results").glob("*.json")
    facts = json.loads(found.read_text())
    for way in ("self-play", "Other-Play"):
        for actions in ("likeliest", "sampled"):
            own = facts[f"{way}, {actions}"]
            assert np.shape(own["mean"]) == (2, 2) and own["seeds"] == ["1", "2"]
    assert min(facts["processor_seconds"]["Other-Play"]) > 0
    assert (tmp_path / "results" / facts["figures"][0]).read_bytes()[:4] == b"\x89PNG"
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*.ckpt")}
    assert study.main() == 0
    assert before == {path: path.stat().st_mtime_ns for path in home.rglob("*.ckpt")}
    assert "names by which agents play drawn in training" in capsys.readouterr().out
