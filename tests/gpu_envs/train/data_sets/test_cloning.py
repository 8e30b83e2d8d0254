"""Behaviour cloning: policies of every form learn what a data set shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("minari", reason="needs gpu_envs[data]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch

from gpu_envs.__main__ import main
from gpu_envs.policies import saved

NAME = "some/games-v0"


def record(*words: str) -> None:
    assert main(["record", *words, "--out", NAME]) == 0


def train(folder: Path, *words: str) -> int:
    fixed = ("--clone", NAME, "--total-steps", "0", "--tensorboard", "false", "--device", "cpu")
    return main(["train", *words, *fixed, "--out", str(folder)])


def shares(text: str) -> list[float]:
    return [float(share) for share in re.findall(r"([\d.]+) % of actions", text)]


def test_a_cart_is_balanced_by_imitation_alone(tmp_path: Path, capsys: Any) -> None:
    record("CartPole-v0", "--policy", "trained", "--episodes", "20")
    words = ("--evaluation-episodes", "10", "--goal", "inf")
    assert train(tmp_path, "CartPole-v0", *words) == 0
    text = capsys.readouterr().out
    assert shares(text)[-1] > 80
    score = re.search(r"evaluation ([\d.]+)", text)
    assert score is not None and float(score[1]) > 350, text
    assert torch.isfinite(
        saved.policies_of(saved.read(tmp_path / "best.ckpt"))["all"]["actor.weight"]
    ).all()


@pytest.mark.parametrize(
    ("recorded", "network"),
    [
        (("Hanabi-v0", "--policy", "trained"), ("--memory", "16", "--hidden", "32")),
        (
            ("HideSeek-v0", "--policy", "trained"),
            ("--policies", "role", "--normalize-observations"),
        ),
        (("HideSeek-v0", "--policy", "trained"), ("--encoder", "attention", "--hidden", "32")),
        (("CartPoleContinuous-v0", "--policy", "trained"), ("--share",)),
        (
            ("CovidEconomy-v0", "--agents", "together", "--max-episode-steps", "30"),
            ("--policies", "role", "--max-episode-steps", "30"),
        ),
        (
            (
                "Explore-v0",
                "--observation",
                "depth+numbers",
                "--house-count",
                "2",
                "--resolution",
                "16x16",
                "--rooms-low",
                "1",
                "--rooms-high",
                "1",
                "--max-episode-steps",
                "30",
            ),
            (
                "--observation",
                "depth+numbers",
                "--house-count",
                "2",
                "--resolution",
                "16x16",
                "--rooms-low",
                "1",
                "--rooms-high",
                "1",
                "--max-episode-steps",
                "30",
                "--encoder",
                "patches",
                "--memory",
                "8",
            ),
        ),
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_policies_of_every_form_learn(
    recorded: tuple[str, ...], network: tuple[str, ...], tmp_path: Path, capsys: Any
) -> None:
    record(*recorded, "--episodes", "20")
    own = ("--num-envs", "4", "--rollout", "8", "--evaluation-episodes", "1", "--clone-epochs", "3")
    assert train(tmp_path, recorded[0], *_parameters(recorded[0]), *network, *own) == 0
    text = capsys.readouterr().out
    losses = [float(x) for x in re.findall(r"of 3: loss (-?[\d.]+)", text)]
    each = [losses[k : k + 3] for k in range(0, len(losses), 3)]
    assert each and all(one[-1] < one[0] for one in each), text
    assert text.count("held out: loss") == len(losses)


def _parameters(env_id: str) -> tuple[str, ...]:
    """Return the options with which the shipped policy's observations fit."""
    if env_id != "Hanabi-v0":
        return ()
    return ("--color-count", "2", "--hand-size", "5")


def test_ppo_goes_on_from_there(tmp_path: Path, capsys: Any) -> None:
    record("CartPole-v0", "--policy", "trained", "--episodes", "4")
    words = ("--num-envs", "8", "--rollout", "16", "--total-steps", "256", "--goal", "inf")
    fixed = ("--clone", NAME, "--clone-epochs", "1", "--tensorboard", "false", "--device", "cpu")
    assert main(["train", "CartPole-v0", *words, *fixed, "--out", str(tmp_path)]) == 0
    assert "cloning all: 2,000 choices" in capsys.readouterr().out
    more = ("--resume", "--total-steps", "512")
    assert main(["train", "CartPole-v0", *more, "--out", str(tmp_path)]) == 0
    assert "cloning" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("env", "words", "says"),
    [
        ("CartPole64-v0", (), "was recorded in CartPole-v0"),
        ("CartPole-v0", ("--clone", "gone-v0"), "there is no data set"),
        ("CartPole-v0", ("--clone", "no name"), "a data set is named"),
        ("CartPole-v0", ("--clone-epochs", "0"), "--clone-epochs"),
    ],
)
def test_what_does_not_fit_is_refused(
    env: str, words: tuple[str, ...], says: str, tmp_path: Path, capsys: Any
) -> None:
    record("CartPole-v0", "--episodes", "2")
    fixed = () if "--clone" in words else ("--clone", NAME)
    assert main(["train", env, "--total-steps", "0", "--out", str(tmp_path), *fixed, *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1, error


def test_a_kitchen_of_another_size_is_refused(tmp_path: Path, capsys: Any) -> None:
    record("Overcooked-v0", "--episodes", "1", "--max-episode-steps", "4")
    assert train(tmp_path, "Overcooked-v0", "--layout", "coordination_ring") == 2
    error = capsys.readouterr().err
    assert "has observations Box" in error and error.count("\n") == 1, error


def test_a_role_without_games_is_named_before_anything_is_learned(
    tmp_path: Path, capsys: Any
) -> None:
    record("HideSeek-v0", "--role", "hider", "--episodes", "1", "--max-episode-steps", "10")
    assert train(tmp_path, "HideSeek-v0") == 2
    error = capsys.readouterr()
    assert "no choices of seeker; --learn ROLE" in error.err and "pass 1" not in error.out


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kitchen_is_run_by_imitation(seed: int, tmp_path: Path, capsys: Any) -> None:
    record("Overcooked-v0", "--policy", "trained", "--sampled", "--episodes", "100")
    assert train(tmp_path, "Overcooked-v0", "--seed", str(seed)) == 0
    capsys.readouterr()
    returns = []
    for policy in ("trained", str(tmp_path / "best.ckpt")):
        words = ("--policy", policy, "--sampled", "--episodes", "100")
        assert main(["evaluate", "Overcooked-v0", *words]) == 0
        row = next(
            r for r in capsys.readouterr().out.splitlines() if r.startswith(("trained  ", "FILE  "))
        )
        returns.append(float(row.split()[1]))
    print(f"seed {seed}: {returns[1]} of {returns[0]}")
    assert returns[1] >= 0.8 * returns[0]
