"""Who beats whom in self-play: ratings that are known, and a whole small ladder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")


import torch

from gpu_envs.policies import saved
from gpu_envs.train import run
from scripts.studies import ladder


def test_ratings_are_those_that_games_were_drawn_by() -> None:
    rng = np.random.default_rng(1)
    first, second = np.array([0, 100, 300, 500.0]), np.array([0, 250, 50, 400.0])
    chance = 1 / (1 + 10 ** ((second[None] - first[:, None]) / 400))
    wins = rng.random((4, 4, 4000)) < chance[..., None]
    games = np.stack([wins, ~wins], -1).astype(float)
    for found, true in zip(ladder.ratings(games), (first, second), strict=True):
        assert found[0] == 0
        assert np.abs(found - true).max() < 25


def test_who_always_wins_has_a_rating() -> None:
    games = np.zeros((2, 2, 50, 2))
    games[1, ..., 0] = 1
    first, second = ladder.ratings(games)
    assert 400 < first[1] < 2000 and np.isfinite(second).all()


def test_intervals_hold_the_mean_that_often() -> None:
    rng = np.random.default_rng(2)
    found = [ladder.interval(rng.normal(3, 2, 100)) for _ in range(1000)]
    assert 0.92 < np.mean([abs(mean - 3) < half for mean, half in found]) < 0.98


def test_a_ladder_is_played_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "TagGrid-v0 --num-taggers 3 --grid-length 8"
    words += " --policies role --past-worlds 0.25 --num-envs 8 --rollout 16 --minibatch 64"
    words += " --total-steps 3000 --ladder-every 1000 --device cpu --evaluation-episodes 2"
    assert run.main([*words.split(), "--goal", "inf", "--out", str(tmp_path / "run")]) == 0
    arguments = [str(tmp_path / "run"), "--games", "5", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["ladder.py", *arguments])
    assert ladder.main() in (0, 1)
    [path] = tmp_path.glob("TagGrid-ladder_*.json")
    report = json.loads(path.read_text())
    assert report["steps"] == [-1, 1000, 2000, 3000]
    assert np.shape(report["returns"]) == (4, 4, 2)
    assert [values[0] for values in report["ratings"]] == [0, 0]
    assert len(report["bars"]) == 4 and path.with_suffix(".png").exists()
    assert "against the whole ladder" in capsys.readouterr().out


def test_kept_policies_are_small_and_play_as_theirs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "TagGrid-v0 --num-taggers 3 --grid-length 8 --policies role --num-envs 8 --rollout 16"
    words += " --total-steps 2000 --ladder-every 1000 --device cpu --evaluation-episodes 2"
    assert run.main([*words.split(), "--goal", "inf", "--out", str(tmp_path / "run")]) == 0
    told = ["--games", "5", "--out", str(tmp_path / "first"), "--keep", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["ladder.py", str(tmp_path / "run"), *told])
    ladder.main()
    again = ["ladder.py", str(tmp_path / "kept"), "--games", "5", "--out", str(tmp_path / "second")]
    monkeypatch.setattr(sys, "argv", again)
    ladder.main()
    first, second = (
        json.loads(next((tmp_path / out).glob("*.json")).read_text()) for out in ("first", "second")
    )
    assert first["returns"] == second["returns"] and first["steps"] == [-1, 1000, 2000]
    for path in (tmp_path / "run" / "ladder").glob("*.ckpt"):
        own, kept = saved.read(path), saved.read(tmp_path / "kept" / "ladder" / path.name)
        assert kept["config"] == own["config"]
        for name, state in own["policies"].items():
            for key, weights in state.items():
                copied = kept["policies"][name][key]
                assert torch.allclose(copied.to(weights.dtype), weights, rtol=1e-3, atol=1e-6)
        assert (tmp_path / "kept" / "ladder" / path.name).stat().st_size < path.stat().st_size


def test_a_run_without_a_ladder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ladder.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        ladder.main()
