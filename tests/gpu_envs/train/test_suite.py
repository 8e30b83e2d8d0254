"""Suites in the trainer: a policy for each game, and one for all of them."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu_envs import suites
from gpu_envs.known import suites as known_suites
from gpu_envs.train import command, config, evaluate, match, rewards, run, suite, worlds

FEW = (
    *("--total-steps", "64", "--num-envs", "4", "--rollout", "4", "--minibatch", "16"),
    *("--evaluation-episodes", "2", "--episode-seconds", "1", "--resolution", "4x6"),
    *("--hidden", "8", "--encoder", "mlp", "--device", "cpu", "--supersample", "1"),
)
TWO = suites.Suite("two", {"Sokoban-v0": {}, "Rearrange-v0": {}})


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(known_suites, "members", lambda: {"two": list(TWO.games)})
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


@pytest.mark.parametrize("env", ["Collect-v0", "TowerBuilding-v0", "HexMemory-v0", "megaverse8"])
def test_a_preset_is_a_set_of_parameters(env: str) -> None:
    _, choices = command.parse([env, "--preset", "team", "--agent-count", "2"])
    assert choices["parameters"] == {"team_spirit": "0..1@0.5", "agent_count": 2}
    made = config.make(env, **choices)
    assert made.varying == {"team_spirit": "0..1@0.5"}
    own = command.parse([env, "--preset", "team", "--team-spirit", "0.25"])[1]
    assert own["parameters"] == {"team_spirit": 0.25}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["Sokoban-v0", "--preset", "tem"],
            "unknown preset of Sokoban-v0 (--preset) 'tem'; did you mean 'team'? (valid: team)",
        ),
        (["CartPole-v0", "--preset", "team"], "unknown option '--preset'"),
    ],
)
def test_unknown_presets_are_refused(capsys: Any, words: list[str], message: str) -> None:
    with pytest.raises(SystemExit):
        command.parse(words)
    assert message in capsys.readouterr().err


def test_help_names_the_presets_of_a_game(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        command.parse(["Rearrange-v0", "--help"])
    assert "--preset team" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ('{"presets": {}}', "'doc' is missing"), ('{"doc": 1}', "must be str")],
)
def test_a_damaged_file_of_a_suite_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "two.suite.json").write_text(text)
    monkeypatch.setattr(known_suites.places, "kernels", lambda: tmp_path)
    with pytest.raises((TypeError, ValueError), match=f"two.suite.json.*{message}"):
        known_suites.about("two")


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


# ---- one policy for all games


ONE = ("two", *FEW)
GAMES = ("Sokoban-v0", "Rearrange-v0")


def test_one_policy_learns_in_all_games_and_each_has_its_results(two: None, capsys: Any) -> None:
    assert run.main(list(ONE)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("two, seed 1: 4 worlds on cpu; 1 policy of") for line in lines)
    assert [line for line in lines if line.startswith(GAMES)] == [
        "Sokoban-v0    return 0, solved 0",
        "Rearrange-v0  return 0, solved 0",
    ]
    with Path("runs/two/1/curve.csv").open() as file:
        last = list(csv.DictReader(file))[-1]
    for game in GAMES:
        assert float(last[f"evaluation/return_in_{game}"]) == 0
        assert float(last[f"evaluation/solved_in_{game}"]) == 0
    assert run.main([*ONE, "--resume", "--total-steps", "128"]) == 0
    assert "128 steps in" in capsys.readouterr().out


def test_its_policy_plays_each_game(two: None, capsys: Any) -> None:
    run.main(list(ONE))
    file = "runs/two/1/best.ckpt"
    capsys.readouterr()
    for game in GAMES:
        match.main([game, "--policy", file, "--episodes", "2", "--device", "cpu"])
        assert "solved" in capsys.readouterr().out
    assert match.main(["CartPole-v0", "--policy", file]) != 0
    assert "was saved for environment 'two', expected 'CartPole-v0'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["two", "--policy"], []])
def test_a_suite_is_evaluated_as_one_table(two: None, capsys: Any, words: list[str]) -> None:
    run.main(list(ONE))
    file = "runs/two/1/best.ckpt"
    capsys.readouterr()
    assert match.main([*words, file, "--episodes", "3", "--device", "cpu", "--hfov", "90"]) == 0
    title, head, *lines = capsys.readouterr().out.splitlines()
    rows, (_, note, *others) = lines[:2], lines[2:]
    assert title == "two: 3 episodes on cpu, likeliest actions, seed 1"
    assert head.split()[0] == "game"
    assert [row.split()[0] for row in rows] == list(GAMES)
    assert all(row.endswith("solved 0.000") for row in rows)
    assert note.startswith("parameters: ")
    assert "hfov=90" in note
    assert any(line.startswith("FILE was measured otherwise") for line in others)
    assert any(line.startswith("FILE was trained otherwise") for line in others)
    for game, row in zip(GAMES, rows, strict=True):
        match.main([game, "--policy", file, "--episodes", "3", "--device", "cpu", "--hfov", "90"])
        alone = capsys.readouterr().out.splitlines()[2].split()
        assert alone[1:7] == row.split()[1:7]


@pytest.mark.parametrize(
    "words", [["--task", "x"], ["--against", "random"], ["random", "random", "--cross-play"]]
)
def test_matches_of_a_suite_are_refused(two: None, capsys: Any, words: list[str]) -> None:
    assert match.main(["two", *words, "--episodes", "1"]) == 2
    (flag,) = (word for word in words if word.startswith("--"))
    message = f"error: {flag} is for one environment: two is a suite\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["two", "random"], "'random' behind 'two' needs --cross-play"),
        (["two", "--side-high", "5"], "unrecognized arguments: --side-high 5"),
        (["two", "--policy", "no.ckpt"], "--policy: the file 'no.ckpt' does not exist"),
        (["two", "--out", "x"], "--out needs --cross-play"),
        (["two", "--episodes", "0"], "--episodes"),
    ],
)
def test_wrong_words_for_a_suite_are_refused(
    two: None, capsys: Any, words: list[str], message: str
) -> None:
    try:
        assert match.main(words) == 2
    except SystemExit as end:
        assert end.code == 2
    assert message in capsys.readouterr().err


def test_a_suites_file_is_its_policy(two: None, capsys: Any) -> None:
    run.main(list(ONE))
    file = "runs/two/1/best.ckpt"
    capsys.readouterr()
    assert match.main([file, "--policy", "scripted"]) == 2
    assert f"--policy needs an ID: {file} is a file of policies" in capsys.readouterr().err


def test_help_for_a_suite_has_the_parameters_that_its_games_share(two: None, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        match.main(["two", "--help"])
    found = capsys.readouterr().out
    assert "--team-spirit" in found
    assert "--pushes-high" not in found


def test_policies_of_a_suite_are_random_without_a_file(two: None, capsys: Any) -> None:
    small = ["--resolution", "4x6", "--episode-seconds", "1", "--episodes", "2"]
    assert match.main(["two", *small]) == 0
    assert "two: 2 episodes on cpu, random actions, seed 1" in capsys.readouterr().out


def test_evaluations_tell_games_apart(two: None) -> None:
    chosen = dataclasses.replace(
        config.make("two", parameters={"resolution": "4x6", "episode_seconds": 1.0}),
        evaluation_parameters={},
    )
    env = worlds.for_evaluation(chosen, "cpu", 5)
    assert (env.worlds_of("Sokoban-v0"), env.worlds_of("Rearrange-v0")) == (
        slice(0, 3),
        slice(3, 5),
    )
    assert env.worlds_of(None) == slice(None)
    returns, lengths = evaluate.play(env, [], torch.full((5,), -1), seed=1)
    assert returns.shape == lengths.shape == (5, 1)
    assert (lengths == 15).all()
    env.close()


def test_rewards_of_games_are_scaled(two: None) -> None:
    chosen = config.make("two", reward_scales="Rearrange-v0=0.25")
    simulator = suites.find("two", agent_count=2, resolution="4x6", device="cpu").simulator(3)
    scale = rewards.scales_of(chosen, simulator, torch.device("cpu"))
    assert scale is not None
    assert scale.tolist() == [1, 1, 1, 1, 0.25, 0.25]
    own = rewards.Rewards(chosen, (), (), "two", torch.device("cpu"), scale)
    assert own.of(torch.full((2, 6), 4.0), None)[1].tolist() == [4, 4, 4, 4, 1, 1]
    assert rewards.scales_of(config.make("two"), simulator, torch.device("cpu")) is None
    for text, message in (
        ("Rearrange-v0", "must be like"),
        ("Rearrange-v0=x", "must be like"),
        ("CartPole-v0=1", "unknown game of two"),
    ):
        with pytest.raises(ValueError, match=message):
            rewards.scales_of(
                config.make("two", reward_scales=text), simulator, torch.device("cpu")
            )
    simulator.close()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["two", "--num-envs", "1"], "--num-envs must be at least 2"),
        (["two", *FEW, "--evaluation-episodes", "1"], "--evaluation-episodes must be at least 2"),
        (["two", "--reward-weights", "goal=1"], "--reward-weights is for one environment"),
        (["two", "--critic-state"], "--critic-state is for one environment"),
        (["CartPole-v0", "--reward-scales", "a=1"], "--reward-scales is for suites"),
    ],
)
def test_options_that_a_suite_has_not_are_refused(
    two: None, capsys: Any, words: list[str], message: str
) -> None:
    assert run.main([*words, "--device", "cpu"]) == 2
    assert message in capsys.readouterr().err


def test_parameters_of_a_suite_are_those_that_all_have(two: None) -> None:
    described = {f["name"]: f for f in known_suites.described("two")["parameters"]}
    assert {"agent_count", "team_spirit", "resolution", "episode_seconds"} <= set(described)
    assert "goal_reward" not in described
    assert described["episode_seconds"]["doc"].endswith("; games have defaults of their own")
    assert described["agent_count"]["doc"] == "agents of each world, one team"
    assert known_suites.training_of("two")["defaults"]["encoder"] == "patches"
