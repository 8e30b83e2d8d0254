"""Options with a value for each role: how they are typed, and that each policy has its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs.known import measures
from gpu_envs.policies import checkpoint, options
from gpu_envs.policies.checkpoint import CheckpointError
from gpu_envs.train import by_role, command, config, curves, run
from gpu_envs.train.config import Config, as_options, make
from tests.gpu_envs.train.small_runs import BY_ROLE

TAG = ("TagContinuous-v0", "--num-taggers", "2", "--num-runners", "3", "--policies", "role")


def train(folder: Path, *words: str) -> dict[str, Any]:
    """Train, and return the learners of the checkpoint by their names."""
    assert run.main([*TAG, *BY_ROLE, *words, "--out", str(folder)]) == 0
    learners = checkpoint.load(folder / "checkpoint.ckpt")["state"]["learners"]
    return {learner["name"]: learner for learner in learners}


def same(left: Any, right: Any) -> bool:
    """Compare trees bit for bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return t.equal(left, right) if isinstance(left, t.Tensor) else bool(left == right)


# ---- how they are typed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", 0.5),
        ("planner=0.5", {"planner": 0.5}),
        ("0.01,planner=0.5", {"": 0.01, "planner": 0.5}),
        ("1e-2, planner=.5 governor=1", {"": 0.01, "planner": 0.5, "governor": 1.0}),
    ],
)
def test_a_value_may_name_roles(text: str, expected: object) -> None:
    assert by_role.read(text, by_role.number(float)) == expected


@pytest.mark.parametrize(
    "words", ["0.01 planner=0.5", "planner=0.5 0.01", "0.3,planner=1 0.01,planner=0.5"]
)
def test_an_option_that_is_typed_again_says_more_of_other_roles(words: str) -> None:
    told = [word for value in words.split() for word in ("--entropy", value)]
    _, choices = command.parse(["HideSeek-v0", *told])
    assert choices == {"entropy": {"": 0.01, "planner": 0.5}}


def test_lists_of_widths_are_told_from_roles() -> None:
    _, choices = command.parse(["HideSeek-v0", "--hidden", "64,32,seeker=128,16,hider=8"])
    assert choices == {"hidden": {"": "64,32", "seeker": "128,16", "hider": "8"}}
    made = make("HideSeek-v0", policies="role", **choices)
    assert made.widths == (64, 32)
    assert made.of_role("seeker").widths == (128, 16) and made.of_role("hider").widths == (8,)


def test_a_value_for_all_replaces_what_the_environment_says_of_single_roles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = {"policies": "role", "entropy": "0.01,seeker=0.5", "gamma": 0.9}
    monkeypatch.setattr(measures, "measures_of", lambda _: {"training": {"defaults": held}})
    usual = make("HideSeek-v0")
    assert usual.of_role("seeker").entropy == 0.5 and usual.of_role("hider").entropy == 0.01
    other = make("HideSeek-v0", entropy="hider=0.2")
    assert other.roles == {"seeker": {"entropy": 0.5}, "hider": {"entropy": 0.2}}
    for plain in (0.3, {"": 0.3}):
        made = make("HideSeek-v0", entropy=plain)
        assert made.entropy == made.of_role("seeker").entropy == 0.3
    assert "--entropy 0.01,seeker=0.5,hider=0.2" in as_options(other)
    assert "--entropy" not in as_options(usual)


def test_one_policy_for_all_has_no_use_for_what_the_environment_says_of_roles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = {"policies": "role", "entropy": "0.01,seeker=0.5"}
    monkeypatch.setattr(measures, "measures_of", lambda _: {"training": {"defaults": held}})
    shared = make("HideSeek-v0", policies="shared")
    assert shared.entropy == 0.01 and not shared.roles
    with pytest.raises(ValueError, match=r"--entropy seeker=... needs --policies role"):
        make("HideSeek-v0", policies="shared", entropy="seeker=0.2")


def test_what_holds_for_roles_survives_a_file() -> None:
    made = make("HideSeek-v0", policies="role", entropy="seeker=0.5", hidden="seeker=8")
    assert Config(**made.facts()) == made
    shaped = Config(**made.shaping())
    assert shaped.roles == {"seeker": {"hidden": "8"}}
    assert "roles" not in make("HideSeek-v0", policies="role", entropy="seeker=0.5").shaping()


@pytest.mark.parametrize("name", config.BY_ROLE)
def test_every_such_option_takes_roles(name: str) -> None:
    value = getattr(Config(env="HideSeek-v0"), name)
    word = str(value).lower() if isinstance(value, bool) else str(value)
    _, choices = command.parse(["HideSeek-v0", options.flag_of(name), f"seeker={word}"])
    assert list(choices[name]) == ["seeker"] and str(choices[name]["seeker"]) == str(value)
    make("HideSeek-v0", policies="role", **choices)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--entropy tagger=lots", ["--entropy", "a number", "'lots'"]),
        ("--entropy tagger=1,tagger=2", ["--entropy", "'tagger' more than once"]),
        ("--entropy tagger=-1", ["--entropy", "between 0 and 1000", "-1", "tagger"]),
        ("--hidden tagger=0", ["--hidden", "'0'", "tagger"]),
        ("--policies shared --entropy tagger=1", ["--entropy tagger=", "--policies role"]),
        ("--entropy taggr=1", ["--entropy taggr=", "did you mean 'tagger'?", "runner"]),
        ("--memory tagger=8 --rollout 1", ["--memory needs --rollout", "tagger"]),
        ("--learn tagger --entropy runner=1", ["--entropy runner=", "--learn is tagger"]),
        ("--seed tagger=1", ["--seed", "a whole number"]),
    ],
)
def test_nonsense_is_one_line(
    words: str, expected: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = [*TAG, *words.split()]
    try:
        status: object = run.main([*told, "--device", "cpu", "--out", str(tmp_path / "out")])
    except SystemExit as leaving:
        status = leaving.code
    line = capsys.readouterr().err
    assert status == 2 and line.startswith("error: ") and line.count("\n") == 1
    assert all(word in line for word in expected), line


# ---- what they do


def test_roles_with_the_same_values_learn_as_if_these_held_for_all(tmp_path: Path) -> None:
    plain = ("--entropy", "0.01", "--lr", "0.002", "--gamma", "0.9", "--memory", "4")
    named = ("--entropy", "runner=0.01,tagger=0.01", "--lr", "1,runner=0.002,tagger=0.002")
    named += ("--gamma", "runner=.9,tagger=.9", "--memory", "runner=4,tagger=4")
    steps = ("--total-steps", "1280")
    one, other = train(tmp_path / "a", *plain, *steps), train(tmp_path / "b", *named, *steps)
    assert same(one, other)


def test_each_policy_has_its_own_network_rate_and_entropy(tmp_path: Path) -> None:
    words = ("--hidden", "16,tagger=8,4", "--memory", "runner=4", "--lr", "0.01,tagger=0")
    words += ("--schedule", "constant", "--entropy", "runner=0.5", "--entropy-end", "runner=0.1")
    learners = train(tmp_path, *words, "--total-steps", "1280")
    runner, tagger = learners["runner"]["policy"], learners["tagger"]["policy"]
    assert runner["encoder.layers.0.weight"].shape[0] == 16 and "cell.weight_hh" in runner
    assert tagger["encoder.layers.1.weight"].shape == (4, 8) and "cell.weight_hh" not in tagger
    rows = curves.read(tmp_path / "curve.csv")[1:]
    assert [row["charts/runner/entropy_weight"] for row in rows] == pytest.approx([0.5, 0.3])
    assert all(row["charts/tagger/entropy_weight"] < 0.01 for row in rows)
    assert all(row["charts/runner/learning_rate"] == pytest.approx(0.01) for row in rows)
    # Who learns at a rate of nothing stays as it was.
    first = checkpoint.load(tmp_path / "best.ckpt")["policies"]["tagger"]
    again = train(tmp_path, *words, "--total-steps", "2560")["tagger"]["policy"]
    assert all(t.equal(first[name], again[name]) for name in first if "scale" not in name)


def test_a_run_with_roles_is_resumed_to_the_bit_and_refuses_other_values(tmp_path: Path) -> None:
    words = ("--hidden", "8,tagger=4", "--memory", "runner=4", "--entropy", "tagger=0.2")
    words += ("--schedule", "constant", "--entropy-end", "nan", "--gamma", "tagger=0.5")
    whole = train(tmp_path / "whole", *words, "--total-steps", "2560")
    train(tmp_path / "parts", *words, "--total-steps", "1280")
    go_on = ("--resume", "--entropy", "tagger=0.2", "--total-steps", "2560")
    assert same(train(tmp_path / "parts", *go_on), whole)
    kept = checkpoint.load(tmp_path / "parts" / "checkpoint.ckpt")["config"]
    assert kept["roles"]["tagger"]["entropy"] == 0.2
    given = {"out": str(tmp_path / "parts"), "resume": True, "entropy": {"tagger": 0.3}}
    with pytest.raises(CheckpointError, match=r"--entropy tagger= 0.2, expected 0.3"):
        run.configure("TagContinuous-v0", given)
    given["entropy"] = 0.01  # for all, as it was, and so for taggers too
    with pytest.raises(CheckpointError, match=r"--entropy tagger= 0.2, expected 0.01"):
        run.configure("TagContinuous-v0", given)
    given["entropy"] = {"tagger": 0.2}  # that there is a policy of taggers says the file
    assert run.configure("TagContinuous-v0", given)[0].of_role("tagger").entropy == 0.2


def test_an_older_checkpoint_had_the_defaults_of_options_it_lacks(tmp_path: Path) -> None:
    train(tmp_path, "--total-steps", "640")
    file = tmp_path / "checkpoint.ckpt"
    tree = checkpoint.load(file)
    for name in ("decisions", "finite", "roles"):
        del tree["config"][name]
    checkpoint.save(file, tree)
    given: dict[str, Any] = {"out": str(tmp_path), "resume": True, "decisions": "all"}
    assert run.configure("TagContinuous-v0", given)[0].decisions == "all"
    with pytest.raises(CheckpointError, match=r"--decisions 'all', expected 'choice'"):
        run.configure("TagContinuous-v0", {**given, "decisions": "choice"})
