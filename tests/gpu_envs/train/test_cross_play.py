"""`evaluate A B ... --cross-play`: who meets whom, what is measured, and what is refused."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")

import numpy as np
import torch

from gpu_envs.policies.teams import Team
from gpu_envs.train import cross_play, evaluate, match, worlds
from gpu_envs.train.config import make
from tests.gpu_envs.train import fresh

SMALL = {"preset": "small"}


def output(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    status = match.main([*map(str, arguments), "--device", "cpu"])
    found = capsys.readouterr()
    return status, found.out, found.err


# ---- seats


def test_the_first_agent_or_the_first_role_has_the_first_seat() -> None:
    two, three = (cross_play.Seats.of([f"player_{k}" for k in range(n)]) for n in (2, 3))
    assert (two.first, two.others) == ("player_0", "player_1")
    assert (three.of_first, three.measured) == ((0,), (0, 1, 2))
    assert three.others == "the other 2 agents"
    roles = cross_play.Seats.of(["hider_0", "hider_1", "seeker_0"])
    assert (roles.first, roles.others) == ("hider", "seeker")
    assert roles.of_first == roles.measured == (0, 1)  # a mean over opponents says nothing
    with pytest.raises(ValueError, match="several agents"):
        cross_play.Seats.of(["player_0"])


def test_every_pair_meets_in_both_seats_in_the_same_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        fresh.write(tmp_path / "one", "Hanabi-v0", SMALL, policies="agent", share=False, memory=2),
        fresh.write(tmp_path / "two", "Hanabi-v0", SMALL, share=False, memory=3),
    ]
    seen = []

    def play(env: Any, policies: Any, of_row: Any, *, seed: int, is_sampled: bool) -> Any:
        sizes = torch.tensor([*(p.memory_size for p in policies), 0])  # NOBODY is the last
        seen.append((sizes[of_row].view(-1, 2)[0].tolist(), seed, is_sampled))
        returns = torch.tensor([[1.0, 3.0], [5.0, 7.0]]) * len(seen)
        return returns, returns

    monkeypatch.setattr(evaluate, "play", play)
    made = make("Hanabi-v0", parameters=SMALL)
    with closing(worlds.for_evaluation(made, "cpu", 2)) as env:
        teams = [*(Team.load(path, env.simulator) for path in paths), Team.at_random(env.simulator)]
        matrix = cross_play.play(env, teams, ["a", "b", "c"], seed=4, is_sampled=True)
    assert [pair for pair, *_ in seen] == [[i, j] for i in (2, 3, 0) for j in (2, 3, 0)]
    assert {rest for _, *rest in map(tuple, seen) for rest in [tuple(rest)]} == {(4, True)}
    assert np.array_equal(matrix.mean, 4.0 * np.arange(1, 10).reshape(3, 3))
    assert np.allclose(matrix.error, 2.0 * np.arange(1, 10).reshape(3, 3))  # of 2 k and 6 k
    own, other = matrix.self_play(), matrix.cross_play()
    assert own[0] == pytest.approx(4 * 5) and other[0] == pytest.approx(4 * 5)
    assert other[1] == pytest.approx(2 * 5)  # episodes are the same, so errors add up


def test_the_diagonal_is_what_a_file_reaches_alone(tmp_path: Path, capsys: Any) -> None:
    one = fresh.write(tmp_path / "one", "Hanabi-v0", SMALL)
    two = fresh.write(tmp_path / "two", "Hanabi-v0", SMALL, seed=7)
    words = (one, two, "random", "--cross-play", "--episodes", 20, "--out", tmp_path / "x")
    status, out, err = output(capsys, *words)
    assert (status, err) == (0, "")
    found = json.loads((tmp_path / "x" / cross_play.JSON).read_text())
    assert (tmp_path / "x" / cross_play.PICTURE).read_bytes()[:4] == b"\x89PNG"
    alone = output(capsys, one, "--episodes", 20)[1].splitlines()[2].split()
    assert f"{found['mean'][0][0]:.3f}" == alone[1] and f"{found['error'][0][0]:.3f}" == alone[2]
    assert found["policies"] == [str(one), str(two), "random"] and found["episodes"] == 20
    head, *rows = out.splitlines()[1:5]
    assert head.split()[-3:] == ["#1", "#2", "random"]
    for row, means in zip(rows, found["mean"], strict=True):
        assert [float(cell) for cell in row.split()[1::3]] == [round(m, 3) for m in means]
    off = [m for i, row in enumerate(found["mean"]) for j, m in enumerate(row) if i != j]
    assert found["cross_play"]["mean"] == pytest.approx(np.mean(off))
    assert found["self_play"]["mean"] == pytest.approx(np.trace(found["mean"]) / 3)
    assert f"#2 is {two}\nparameters: preset=small" in out


def test_scripted_players_take_a_seat(tmp_path: Path, capsys: Any) -> None:
    words = ("TagGrid-v0", "scripted", "random", "--cross-play", "--episodes", 5)
    status, _, err = output(capsys, *words, "--out", tmp_path)
    assert (status, err) == (0, "")
    found = json.loads((tmp_path / cross_play.JSON).read_text())
    assert (found["first_seat"], found["other_seats"]) == ("tagger", "runner")
    (chase, _), (err, _) = found["mean"]
    assert chase > err + 1  # the returns of taggers, who chase or act at random


def test_a_role_without_a_policy_is_named(tmp_path: Path, capsys: Any) -> None:
    one = fresh.write(tmp_path / "one", "TagGrid-v0", learn="tagger")
    status, _, err = output(capsys, one, "random", "--cross-play", "--episodes", 2)
    assert status == 2 and "has no policy for runner_0, which --cross-play needs" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Hanabi-v0", "random", "--cross-play"), "--cross-play needs two policies or more"),
        (("Hanabi-v0", "random", "nobody", "--cross-play"), "must be random, trained, scripted or"),
        (("Hanabi-v0", "random", "random"), "'random' behind 'Hanabi-v0' needs --cross-play"),
        (("Hanabi-v0", "--out", "x"), "--out needs --cross-play"),
        (
            ("Hanabi-v0", "random", "random", "--cross-play", "--against", "random"),
            "--cross-play takes neither --policy, --against nor --task",
        ),
        (
            ("CartPole-v0", "random", "random", "--cross-play", "--episodes", "1"),
            "--cross-play needs an environment with several agents",
        ),
        (("Hanabi-v0", "random", "scripted", "--cross-play"), "has no scripted player"),
    ],
)
def test_nonsense_is_one_line(words: tuple[str, ...], message: str, capsys: Any) -> None:
    status, out, err = output(capsys, *words)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_file_of_another_environment_is_refused(tmp_path: Path, capsys: Any) -> None:
    one = fresh.write(tmp_path / "one", "Hanabi-v0", SMALL)
    two = fresh.write(tmp_path / "two", "Micro-v0")
    status, _, err = output(capsys, one, two, "--cross-play", "--episodes", 1)
    assert status == 2 and "Micro-v0" in err
