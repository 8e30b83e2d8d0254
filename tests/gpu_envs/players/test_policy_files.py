"""Who plays: `--policy random | trained | FILE` of evaluate, play and render."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gpu_envs.__main__ import main
from gpu_envs.building import places
from gpu_envs.players import policy_files


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that keeps a policy of one player's Overcooked, and one of CartPole."""
    pytest.importorskip("torch", reason="needs torch")
    from tests.gpu_envs.train import fresh

    fresh.write(tmp_path / "CartPole-v0.ckpt", "CartPole-v0")
    fresh.write(tmp_path / "Overcooked-v0.ckpt", "Overcooked-v0", {"player_count": 1})
    monkeypatch.setattr(policy_files, "folder", lambda: tmp_path)
    return tmp_path


def test_chance_needs_no_file() -> None:
    assert policy_files.file_of("CartPole-v0", "random") is None
    assert policy_files.parameters_of(None, "CartPole-v0") == {}


def test_trained_is_the_file_that_the_repository_keeps(kept: Path) -> None:
    for name in ("CartPole-v0", "CartPole", "gpu_envs/CartPole-v0"):
        assert policy_files.file_of(name, "trained") == kept / "CartPole-v0.ckpt"


def test_a_repository_without_the_policy_says_what_trains_one(kept: Path) -> None:
    with pytest.raises(ValueError, match="no policy of Micro-v0; `scripts/train Micro-v0` train"):
        policy_files.file_of("Micro-v0", "trained")


def test_an_installed_package_says_what_trains_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "is_source_tree", lambda: False)
    told = r"only the repository has .*; `python -m gpu_envs train CartPole-v0` trains one"
    with pytest.raises(ValueError, match=told):
        policy_files.file_of("CartPole-v0", "trained")


def test_a_file_brings_its_parameters(kept: Path) -> None:
    file = kept / "Overcooked-v0.ckpt"
    assert policy_files.parameters_of(file, "Overcooked-v0")["player_count"] == 1
    with pytest.raises(ValueError, match="'Overcooked-v0', expected 'CartPole-v0'"):
        policy_files.parameters_of(file, "CartPole-v0")


def test_every_command_plays_what_is_kept(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["evaluate", "Overcooked-v0", "--policy", "trained", "--episodes", "2"]) == 0
    assert "trained" in capsys.readouterr().out
    assert main(["play", "Overcooked-v0", "--policy", "trained"]) == 0
    assert "player_1" not in capsys.readouterr().out
    drawn = []
    for policy in ("trained", str(kept / "CartPole-v0.ckpt"), "random"):
        out = kept / "a.png"
        told = ["render", "CartPole-v0", "--size", "48x32", "--seed", "3", "--step", "6"]
        assert main([*told, "--policy", policy, "--out", str(out)]) == 0
        drawn.append(out.read_bytes())
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_is_typed_goes_before_the_files_parameters(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["render", "Overcooked-v0", "--policy", "trained", "--out", str(kept / "a.png")]
    assert main([*told, "--size", "64x64"]) == 0
    assert main([*told, "--player-count", "2"]) == 2
    assert "agents 1, expected 2" in capsys.readouterr().err
