"""What differs between training, evaluations and play: lines of a run, its curve, `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from matplotlib.figure import Figure

from gpu_envs import __main__, environments
from gpu_envs.policies import checkpoint
from gpu_envs.train import command, config, match, run, settings, worlds
from tests.gpu_envs.train.fresh import write

SMALL = ("--num-envs", "2", "--rollout", "8", "--hidden", "4", "--epochs", "1")
SMALL += ("--total-steps", "32", "--evaluation-episodes", "2", "--tensorboard", "false")
SMALL += ("--device", "cpu", "--max-episode-steps", "10")
SHAPED = "shaping_factor 1 in training, 0 in evaluations"
DRAWN = "policy's actions sampled in training, likeliest in evaluations"


@pytest.mark.parametrize("name", environments())
def test_every_difference_of_a_run_is_named_and_nothing_else(name: str) -> None:
    made = config.make(name)
    found = settings.differing(settings.training(made), settings.evaluation(made))
    own = {n for n, v in made.evaluation_parameters.items() if made.parameters.get(n) != v}
    names = {field.name for field in settings.described(name)}
    assert found.keys() & names == {n for n in own if n in found}
    assert (settings.ACTIONS in found) is not made.sampled_evaluation
    assert len(settings.within(made)) == len(found)


def test_a_parameter_that_is_as_by_default_is_no_difference() -> None:
    made = config.make("Overcooked-v0", evaluation_parameters={"shaping_factor": 1})
    assert settings.within(made) == [DRAWN]
    made = config.make("Overcooked-v0", parameters={"shaping_factor": 0.1}, sampled_evaluation=True)
    assert settings.within(made) == ["shaping_factor 0.1 in training, 0 in evaluations"]


def test_a_value_that_stands_for_another_is_explained() -> None:
    made = config.make("HideSeek-v0", parameters={"box_mass": "1..2", "arena_size": 5})
    found = settings.within(made)
    assert "box_mass 1..2 in training, -1 (the profile's value) in evaluations" in found
    assert not any("arena_size" in line for line in found)


def test_few_levels_in_training_are_a_difference() -> None:
    few = config.make("SokobanGrid-v0", level_count=3)
    assert "levels of episodes 3 fixed in training, any in evaluations" in settings.within(few)
    env = worlds.for_training(few, "cpu", 40)
    env.reset(seed=5)
    assert len(np.unique(env.simulator.get("player.level"))) == 3
    env.close()
    env = worlds.for_evaluation(few, "cpu", 40)
    env.reset(seed=5)
    assert len(np.unique(env.simulator.get("player.level"))) > 30
    env.close()


def test_levels_of_training_are_played_again(tmp_path: Path, capsys: Any) -> None:
    small = [w for w in SMALL if w not in ("--max-episode-steps", "10")]
    out = ["--out", str(tmp_path), "--level-count", "3", "--difficulty", "easy"]
    assert run.main(["SokobanGrid-v0", *small, *out]) == 0
    printed = capsys.readouterr().out
    assert "levels of episodes 3 fixed in training, any in evaluations" in printed
    match.main([str(tmp_path / "best.ckpt"), "--episodes", "4", "--level-count", "3"])
    printed = capsys.readouterr().out
    assert "4 episodes on cpu, 3 fixed levels, " in printed.splitlines()[0]
    assert "levels of episodes any there, 3 fixed here" in printed
    assert "3 fixed there" not in printed
    match.main([str(tmp_path / "best.ckpt"), "--episodes", "4"])
    printed = capsys.readouterr().out
    assert "levels of episodes 3 fixed there, any here" in printed


def test_noise_that_lasts_and_earlier_opponents_differ_too() -> None:
    made = config.make("Flocking-v0", past_worlds=0.5)
    assert settings.within(made) == [
        "steps of the same noise 5 in training, 1 in evaluations",
        "share of worlds with earlier opponents 0.5 in training, 0 in evaluations",
    ]


def test_screen_and_curve_say_it(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = []
    legend = Figure.legend
    monkeypatch.setattr(
        Figure, "legend", lambda *a, **k: titles.append(k["title"]) or legend(*a, **k)
    )
    assert run.main(["Overcooked-v0", *SMALL, "--goal", "inf", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"training and evaluations differ: {SHAPED}; {DRAWN}\n" in out
    (title,) = titles
    assert " ".join(title.split()) == f"What differs: {SHAPED}; {DRAWN}"


def evaluated(capsys: Any, *words: Any) -> list[str]:
    """Return the lines below the table."""
    assert __main__.main(["evaluate", *map(str, words), "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if " was " in line or line.startswith("parameters: ")]


def test_evaluate_says_in_what_else_a_file_was_trained_and_measured(
    tmp_path: Path, capsys: Any
) -> None:
    path = write(tmp_path / "p", "Overcooked-v0", {"layout": "cramped_room"})
    words = (path, "--episodes", 1, "--max-episode-steps", 3)
    assert evaluated(capsys, *words) == [
        "parameters: shaping_factor=0, max_episode_steps=3; all others as by default",
        "FILE was measured otherwise: max_episode_steps 400 there, 3 here",
        "FILE was trained otherwise: shaping_factor 1 there, 0 here; max_episode_steps 400 there, "
        "3 here; policy's actions sampled there, likeliest here",
    ]
    kitchen = ("--layout", "coordination_ring", "--sampled", "--shaping-factor", "1")
    kitchen += ("--max-episode-steps", "400")
    other = write(tmp_path / "q", "Overcooked-v0", {"layout": "coordination_ring"})
    words = (other, "--episodes", 1, *kitchen)
    assert evaluated(capsys, *words) == [
        "parameters: layout=coordination_ring; all others as by default",
        "FILE was measured otherwise: shaping_factor 0 there, 1 here; policy's actions likeliest "
        "there, sampled here",
    ]


def test_a_layout_and_an_opponents_file_are_named(tmp_path: Path, capsys: Any) -> None:
    one = write(tmp_path / "p", "TagGrid-v0", {"max_episode_steps": 5})
    two = write(tmp_path / "q", "TagGrid-v0", {"max_episode_steps": 4}, sampled_evaluation=True)
    found = evaluated(capsys, one, "--against", two, "--episodes", 1)
    assert (
        "other FILE was measured otherwise: max_episode_steps 4 there, 5 here; policy's"
        in (found[-2])
    )
    assert found[0] == "parameters: max_episode_steps=5; all others as by default"


def test_a_file_that_does_not_say_how_it_was_measured_is_named(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    tree = checkpoint.load(path)
    del tree["config"]["sampled_evaluation"]
    checkpoint.save(path, tree)
    assert __main__.main(["evaluate", str(path), "--episodes", "1"]) == 0
    assert "FILE does not say how its evaluations chose actions\n" in capsys.readouterr().out


def test_chance_has_no_likeliest_actions(capsys: Any) -> None:
    assert __main__.main(["evaluate", "CartPole-v0", "--episodes", "2", "--device", "cpu"]) == 0
    assert "2 episodes on cpu, random actions, seed 1" in capsys.readouterr().out


def test_a_task_is_measured_by_its_own_measure(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path / "p", "CartPole-v0")
    assert __main__.main(["evaluate", str(path), "--task", "cartpole", "--episodes", "2"]) == 0
    head, row = capsys.readouterr().out.splitlines()[1:3]
    mean, own = row.split()[1], row.split()[-1]
    assert head.endswith("steps upright") and float(mean) == float(own)
    assert __main__.main(["evaluate", str(path), "--task", "carpole", "--episodes", "2"]) == 2
    assert "did you mean 'cartpole'" in capsys.readouterr().err


# ---- defaults of training that are parameters of the environment


def test_obstacles_are_trained_by_their_recipe_and_measured_on_all_levels() -> None:
    made = config.make("ObstaclesEasy-v0")
    assert (made.encoder, made.memory, made.hold_noise) == ("patches", 0, 4)
    assert made.parameters["resolution"] == "18x32" and made.parameters["height_high"] == 1
    assert settings.variant(made) == ["resolution=18x32", "channels=last", "supersample=2"]
    task = config.make("ObstaclesEasy-v0", parameters={"height_high": 2, "episode_seconds": 9.0})
    assert task.parameters["height_high"] == 2
    assert not {"height_high", "episode_seconds"} & task.evaluation_parameters.keys()


def test_help_has_the_defaults_of_training(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        command.parse(["ObstaclesEasy-v0", "--help"])
    assert "default 18x32" in " ".join(capsys.readouterr().out.split())


def test_a_tasks_measure_has_the_digits_of_its_row() -> None:
    assert match._shown(0.0164551, None) == "0.016"
    assert match._shown(0.0164551, "swarm_tag") == "0.0164551"


def test_a_refusal_names_the_defaults_of_training(tmp_path: Path, capsys: Any) -> None:
    words = ("ObstaclesEasy-v0", *SMALL, "--out", str(tmp_path))
    clash = "platform_count_low=2 is above platform_count_high=1"
    assert run.main([*words, "--platform-count-low", "2"]) == 2
    assert capsys.readouterr().err.endswith(  # a module that is built says so before
        f"error: {clash}; platform_count_high=1 is the default of training: "
        "--platform-count-high VALUE replaces it\n"
    )
    assert run.main([*words, "--evaluate-with", "platform_count_low=3"]) == 2
    assert capsys.readouterr().err == (
        "error: platform_count_low=3 is above platform_count_high=2; platform_count_high=2 is the "
        "default of evaluations: --evaluate-with platform_count_high=VALUE replaces it\n"
    )
    assert run.main([*words, "--gap-low", "3", "--gap-high", "2"]) == 2
    assert capsys.readouterr().err == "error: gap_low=3 is above gap_high=2\n"
