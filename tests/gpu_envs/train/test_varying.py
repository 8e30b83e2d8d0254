"""Ranges and schedules of parameters, from the command line to the worlds of a run."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import gpu_envs
from gpu_envs.known import fields, registration
from gpu_envs.train import command, settings, varying, worlds
from gpu_envs.train.config import as_options, make
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks

CARTPOLE = fields.read(registration.find("CartPole-v0")["parameters"])


def test_ranges_and_schedules_are_read() -> None:
    assert varying.read("mass", "0.5..2") == gpu_envs.uniform(0.5, 2)
    assert varying.read("mass", "-1..-.5") == gpu_envs.uniform(-1, -0.5)
    assert varying.read("mass", "1e-1..3") == gpu_envs.uniform(0.1, 3)
    moving = varying.read("mass", "3..1@0.5")
    assert [moving.at(x) for x in (0, 0.25, 0.5, 1)] == [3, 2, 1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": "2..1"}, "the lowest value comes first"),
        ({"mass": "1..x"}, "must be a number, or LOW..HIGH or FROM..TO@SHARE"),
        ({"mass": "1..2..3"}, "must be a number, or"),
        ({"mass": "1..2@0"}, "share of the run"),
        ({"mass": "1..2@1.5"}, "share of the run"),
        ({"velocities": "0..1"}, "these can: gravity, force, length, mass, pole_mass"),
        ({"max_episode_steps": "5..9"}, "'max_episode_steps' cannot have 5..9"),
    ],
)
def test_nonsense_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make("CartPole-v0", parameters=given)


def test_the_command_line_takes_them_where_a_parameter_may_differ_by_world() -> None:
    words = ["CartPole-v0", "--mass", "0.5..2", "--force", "8"]
    env, choices = command.parse(words)
    config = make(env, **choices)
    assert config.varying == {"mass": "0.5..2"}
    assert config.parameters == {"force": 8.0}
    assert "--mass 0.5..2" in as_options(config)
    with pytest.raises(SystemExit):
        command.parse(["CartPole-v0", "--velocities", "0..1"])


@pytest.mark.parametrize("text", ["-2..-1", "-2..-1@0.5", "-.5..1", "-1e-3..2", "-2..x"])
def test_negative_ranges_are_values_on_the_command_line(text: str) -> None:
    for words in (["--tag-penalty-for-runner", text], [f"--tag-penalty-for-runner={text}"]):
        _, choices = command.parse(["TagContinuous-v0", *words])
        assert choices == {"parameters": {"tag_penalty_for_runner": text}}


def test_a_run_says_at_which_values_it_trains_and_evaluates() -> None:
    config = make("CartPole-v0", parameters={"mass": "0.5..2", "force": 8})
    assert settings.training(config)["mass"] == "0.5..2"
    assert settings.evaluation(config)["mass"] == 1
    assert "mass 0.5..2 in training, 1 in evaluations" in settings.within(config)
    told = make("CartPole-v0", parameters={"mass": "0.5..2"}, evaluation_parameters={"mass": 2})
    assert settings.evaluation(told)["mass"] == 2


def test_worlds_of_training_draw_and_those_of_evaluations_do_not() -> None:
    config = make("CartPole-v0", parameters={"mass": "0.5..2"})
    trained = worlds.for_training(config, "cpu", 8)
    trained.reset(seed=0)
    assert len(set(trained.simulator.get("world.mass")[:, 0].tolist())) == 8
    trained.close()
    tried = worlds.for_evaluation(config, "cpu", 4)
    tried.reset(seed=0)
    assert (tried.simulator.get("world.mass") == 1).all()
    tried.close()


def test_a_schedule_moves_with_the_run() -> None:
    options = {"rollout": 8, "num_envs": 4, "minibatch": 32, "epochs": 1, "total_steps": 320}
    config = make("CartPole-v0", parameters={"mass": "1..3@0.5"}, **options)
    env = worlds.for_training(config, "cpu", 4)
    trainer = Trainer(config, env, Ranks("cpu"), print)
    seen = []
    trainer.start()
    for _ in range(8):
        trainer.iterate()
        seen.append(env.simulator.get("world.mass")[0, 0].item())
        moving = trainer.schedules.under_way(trainer.fraction())
        assert bool(moving) is (trainer.steps < 160)
    assert np.allclose(seen, [1, 1.4, 1.8, 2.2, 2.6, 3, 3, 3])
    env.close()


def test_whole_numbers_of_a_schedule_are_rounded() -> None:
    described = fields.read(registration.find("Rearrange-v0")["parameters"])
    own = varying.keywords({"object_count_high": "2..5@1"}, described)
    assert own == {"object_count_high": 2, "varies": ("object_count_high",)}


# Schedules that begin well and end badly.
BAD_ENDS = [
    (
        ("Flocking-v0", {"min_speed": "0..0.4@0.5"}),
        "min_speed must not be above max_speed; "
        "--min-speed 0..0.4@0.5 comes to 0.4 after 0.5 of the run",
    ),
    (
        ("Flocking-v0", {"min_speed": "0..0.02@0.5", "max_speed": "0.03..0.01@0.5"}),
        "--min-speed 0..0.02@0.5 comes to 0.02 and --max-speed 0.03..0.01@0.5 comes to 0.01",
    ),
    (  # apart at the end of both, not at the end of the first
        ("Flocking-v0", {"min_speed": "0..0.02@0.2", "max_speed": "0.01..0.04@1"}),
        "--max-speed 0.01..0.04@1 comes to 0.016 after 0.2 of the run",
    ),
    (
        ("CartPole-v0", {"mass": "1..0@0.5", "force": "8..9@1"}),
        "got 0; --mass 1..0@0.5 comes to 0 after 0.5 of the run",
    ),
    (
        ("ObstaclesEasy-v0", {"platform_count_low": "1..2@0.5"}),
        "platform_count_high=1 is the default of training: --platform-count-high VALUE replaces",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD_ENDS)
def test_a_schedule_that_ends_badly_is_refused_before_training(given, message) -> None:
    name, parameters = given
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        worlds.for_training(make(name, parameters=parameters), "cpu", 2)
    assert "world 0" not in str(caught.value)


def test_schedules_that_hold_together_are_taken_and_begin_at_their_first_values() -> None:
    given = {"min_speed": "0..0.05@0.5", "max_speed": "0.02..0.05@0.5"}
    env = worlds.for_training(make("Flocking-v0", parameters=given), "cpu", 2)
    assert np.allclose(env.simulator.get("world.min_speed"), 0)
    assert np.allclose(env.simulator.get("world.max_speed"), 0.02)
    env.close()


def test_a_schedule_ends_at_its_last_value_to_the_bit() -> None:
    moving = varying.read("mass", "0.3..0.01@0.7")
    assert moving.at(0.7) == moving.at(1) == 0.01
