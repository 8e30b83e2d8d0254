"""Choices of a run: the command line, defaults, limits, and what is said about nonsense."""

from __future__ import annotations

import argparse
import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from gpu_envs import environments
from gpu_envs.commands import play
from gpu_envs.known import fields, measures, registration
from gpu_envs.policies.options import flag_of
from gpu_envs.terminal import flags
from gpu_envs.train import by_role, command, match
from gpu_envs.train.config import Config, folder_of, make

OPTIONS = {field.name: field for field in dataclasses.fields(Config) if field.metadata}
TEXTS = {"hidden": "32", "policies": "agent", "reward_weights": "sparse=2"}  # others may be any


def other(field: dataclasses.Field[Any]) -> Any:
    """Return a value that is not the default."""
    default, facts = field.default, field.metadata
    if facts["choices"]:
        return next(choice for choice in facts["choices"] if choice != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 3
    if isinstance(default, float):
        return 0.125 if default != 0.125 else 0.25
    return TEXTS.get(field.name, "some/thing")


OTHER = {name: other(field) for name, field in OPTIONS.items()}
TOGETHER = OTHER | {"decisions": "all"}  # which --novelty needs


def typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---- options


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_reaches_the_configuration_and_no_other(name: str) -> None:
    for words in ([flag_of(name), typed(OTHER[name])], [f"{flag_of(name)}={typed(OTHER[name])}"]):
        env, choices = command.parse(["Micro-v0", *words])
        assert (env, choices) == ("Micro-v0", {name: OTHER[name]})
    made, plain = make(env, **choices), make(env)
    changed = {n for n in OPTIONS if typed(getattr(made, n)) != typed(getattr(plain, n))}
    assert changed == {name} and getattr(made, name) == OTHER[name]


def test_all_options_together() -> None:
    words = [word for name in OPTIONS for word in (flag_of(name), typed(TOGETHER[name]))]
    env, choices = command.parse(["CartPole-v0", *words])
    made = make(env, **choices)
    assert {name: getattr(made, name) for name in OPTIONS} == TOGETHER
    assert Config(**made.facts()) == made


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--resume"], {"resume": True}),
        (["--graphs", "no"], {"graphs": False}),
        (["--share", "TRUE"], {"share": True}),
        (["--total-steps", "1_000_000"], {"total_steps": 1_000_000}),
        (["--total-steps", "1e6"], {"total_steps": 1_000_000}),
        (["--total-steps", "2.5E7"], {"total_steps": 25_000_000}),
        (["--goal", "inf"], {"goal": math.inf}),
        (["--goal", "-5"], {"goal": -5.0}),
        (["--goal=-inf"], {"goal": -math.inf}),
        (["--time-limit", ".5"], {"time_limit": 0.5}),
        (["--velocities", "false"], {"parameters": {"velocities": False}}),
        (["--evaluate-with", "velocities=no"], {"evaluation_parameters": {"velocities": False}}),
        (
            ["--evaluate-with", "velocities=1", "--evaluate-with", "sutton-barto-reward=true"],
            {"evaluation_parameters": {"velocities": True, "sutton_barto_reward": True}},
        ),
    ],
    ids=str,
)
def test_values_are_read_as_people_write_them(words: list[str], expected: dict[str, Any]) -> None:
    assert command.parse(["gpu_envs/CartPole-v0", *words])[1] == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--lr 3e-4 --n-envs 8 --ent-coef 0.01", (3e-4, 8, 0.01)),
        ("--learning-rate 3e-4 --num-envs 8 --entropy 0.01", (3e-4, 8, 0.01)),
        ("--learning-rate 1 --lr 3e-4 --n-envs 8 --ent-coef 0.01", (3e-4, 8, 0.01)),
    ],
)
def test_options_have_the_names_of_other_libraries_too(
    words: str, expected: tuple[float, ...]
) -> None:
    _, choices = command.parse(["CartPole-v0", *words.split()])
    names = ("learning_rate", "num_envs", "entropy")
    assert choices == dict(zip(names, expected, strict=True))


def test_other_names_are_told_and_mean_one_option_each(capsys: pytest.CaptureFixture[str]) -> None:
    also = [flag for field in dataclasses.fields(Config) for flag in field.metadata.get("also", ())]
    own = {flag_of(field.name) for field in dataclasses.fields(Config)}
    assert len(set(also)) == len(also) > 8
    assert own.isdisjoint(also)
    with pytest.raises(SystemExit):
        command.parse(["CartPole-v0", "--help"])
    told = capsys.readouterr().out.replace("-\n", "-").split()
    assert all(any(flag in word for word in told) for flag in also)


def test_a_value_given_twice_is_the_last_one() -> None:
    assert command.parse(["CartPole-v0", "--seed", "1", "--seed", "2"])[1] == {"seed": 2}


# ---- nonsense

NONSENSE: list[tuple[list[str], list[str]]] = [
    ([], ["ENV comes first"]),
    (["--seed", "3"], ["ENV comes first"]),
    (["--seed", "3", "CartPole-v0"], ["ENV comes first"]),
    (["CartPol-v0"], ["'CartPol-v0'", "did you mean 'CartPole-v0'?", "Micro-v0"]),
    ([""], ["''", "CartPole-v0"]),
    (["CartPole-v0", "--num-env", "4"], ["'--num-env'", "did you mean '--num-envs'?"]),
    (["CartPole-v0", "--num_envs", "4"], ["'--num_envs'", "did you mean '--num-envs'?"]),
    (["CartPole-v0", "64"], ["'64'", "--num-envs"]),
    (["CartPole-v0", "-n", "4"], ["'-n'"]),
    (["CartPole-v0", "--num-envs"], ["--num-envs", "expected one argument"]),
    (["CartPole-v0", "--num-envs", "0"], ["--num-envs", "at least 1", "got 0"]),
    (["CartPole-v0", "--num-envs", "few"], ["--num-envs", "a whole number", "'few'"]),
    (["CartPole-v0", "--num-envs", "1.5"], ["--num-envs", "a whole number", "'1.5'"]),
    (["CartPole-v0", "--num-envs", "15e-1"], ["--num-envs", "a whole number", "'15e-1'"]),
    (["CartPole-v0", "--num-envs", "1e400"], ["--num-envs", "a whole number", "'1e400'"]),
    (["CartPole-v0", "--rollout", "-8"], ["--rollout", "at least 1", "got -8"]),
    (["CartPole-v0", "--seed", "-1"], ["--seed", "between 0 and", "got -1"]),
    (["CartPole-v0", "--seed", str(2**63)], ["--seed", "between 0 and", str(2**63)]),
    (["CartPole-v0", "--time-limit", "nan"], ["--time-limit", "at least 0", "nan"]),
    (["CartPole-v0", "--time-limit", "soon"], ["--time-limit", "a number", "'soon'"]),
    (["CartPole-v0", "--gamma", "1.01"], ["--gamma", "between 0 and 1", "1.01"]),
    (["CartPole-v0", "--gae-lambda", "nan"], ["--gae-lambda", "between 0 and 1", "nan"]),
    (["CartPole-v0", "--learning-rate", "inf"], ["--learning-rate", "between 0 and", "inf"]),
    (["CartPole-v0", "--learning-rate", "-1e-3"], ["--learning-rate"]),
    (["CartPole-v0", "--entropy", "nan"], ["--entropy", "nan"]),
    (["CartPole-v0", "--entropy-end", "inf"], ["--entropy-end", "between 0 and", "inf"]),
    (["CartPole-v0", "--value-weight", "inf"], ["--value-weight", "inf"]),
    (["CartPole-v0", "--weight-decay", "inf"], ["--weight-decay", "inf"]),
    (["CartPole-v0", "--clip", "-0.1"], ["--clip", "at least 0", "-0.1"]),
    (["CartPole-v0", "--past-worlds", "2"], ["--past-worlds", "between 0 and 1", "got 2"]),
    (["CartPole-v0", "--past-kept", "1"], ["--past-kept", "at least 2", "got 1"]),
    (["CartPole-v0", "--graphs", "perhaps"], ["--graphs", "true or false", "'perhaps'"]),
    (["CartPole-v0", "--encoder", "rnn"], ["--encoder", "cnn or patches or residual", "'rnn'"]),
    (["CartPole-v0", "--schedule", ""], ["--schedule", "constant or linear or cosine", "''"]),
    (["CartPole-v0", "--optimizer", "sgd"], ["--optimizer", "adam or lamb", "'sgd'"]),
    (["CartPole-v0", "--precision", "fp8"], ["--precision", "float32 or tf32 or bf16", "'fp8'"]),
    (["CartPole-v0", "--policies", "own"], ["--policies", "shared or role or agent", "'own'"]),
    (["CartPole-v0", "--hidden", "64x64"], ["--hidden", "64,64", "'64x64'"]),
    (["CartPole-v0", "--hidden", "64,,64"], ["--hidden", "'64,,64'"]),
    (["CartPole-v0", "--hidden", "0"], ["--hidden", "'0'"]),
    (["CartPole-v0", "--hidden", ""], ["--hidden", "''"]),
    (["CartPole-v0", "--out", ""], ["--out", "folder", "''"]),
    (["CartPole-v0", "--memory", "8", "--rollout", "1"], ["--memory", "--rollout", "2"]),
    (["CartPole-v0", "--velocities", "maybe"], ["--velocities", "true or false", "'maybe'"]),
    (["CartPole-v0", "--player-count", "2"], ["'--player-count'", "--velocities"]),
    (["CartPole-v0", "--evaluate-with", "velocities"], ["NAME=VALUE", "'velocities'"]),
    (["CartPole-v0", "--evaluate-with", "speed=1"], ["'speed'", "--evaluate-with", "velocities"]),
    (
        ["CartPole-v0", "--evaluate-with", "mass=0.5..2"],
        ["--evaluate-with mass: must be one value, got '0.5..2': no range is taken here"],
    ),
    (
        ["CartPole-v0", "--max-episode-steps", "5..9"],
        ["--max-episode-steps: must be one value, got '5..9'"],
    ),
    (["CartPole-v0", "--evaluate-with", "velocities=2"], ["--evaluate-with velocities", "'2'"]),
    (["Micro-v0", "--work", "much"], ["--work", "'much'"]),
    (["Micro-v0", "--evaluate-with", "work=much"], ["--evaluate-with work", "'much'"]),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), NONSENSE, ids=lambda part: " ".join(part))
def test_nonsense_is_one_line_with_option_value_and_remedy(
    arguments: list[str], words: list[str], capsys: Any
) -> None:
    try:
        env, choices = command.parse(arguments)
        make(env, **choices)
    except SystemExit as leaving:
        assert leaving.code == 2
        line = capsys.readouterr().err
    except (ValueError, TypeError) as problem:
        line = f"error: {problem}\n"
    else:
        pytest.fail("it was accepted")
    assert line.startswith("error: ") and line.count("\n") == 1
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["CartPole-v0", "--gamma", "2"], ["--gamma", "between 0 and 1"]),
        (["CartPole-v0", "--device", "gpu"], ["device", "'cpu'", "'gpu'"]),
        (["CartPole-v0", "--out", "/dev/null/x"], ["/dev/null/x"]),
        (["CartPole-v0", "--encoder", "cnn"], ["--encoder cnn", "three axes", "x scalar"]),
        (["CartPole-v0", "--reward-weights", "a=1"], ["--reward-weights", "reward part", "'a'"]),
        (["Overcooked-v0", "--reward-weights", "shaped"], ["--reward-weights", "'shaped'"]),
        (["Overcooked-v0", "--layout", "nowhere"], ["layout", "nowhere"]),
        (["Overcooked-v0", "--evaluate-with", "shape=0"], ["'shape'", "shaping_factor"]),
        (["CartPole-v0", "--past-worlds", "0.5"], ["--past-worlds", "several agents"]),
        (["CartPole-v0", "--num-envs", "10000000000"], ["num_envs", "10000000000"]),
        (["CartPole-v0", "--memory", "1000000000"], ["--memory", "out of memory"]),
        (["CartPole-v0", "--rollout", "1000000000000"], ["--rollout", "out of memory"]),
        (["CartPole-v0", "--resume"], ["checkpoint.ckpt", "does not exist"]),
        (["Micro-v0", "--agent-count", "-3"], ["agent_count", "got -3"]),
        (["Micro-v0", "--evaluate-with", "work=-1"], ["work", "got -1"]),
    ],
    ids=lambda part: " ".join(part),
)
def test_the_trainer_says_in_one_line_what_it_cannot_do(
    arguments: list[str], words: list[str], capsys: Any, tmp_path: Any
) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    pytest.importorskip("rich", reason="needs rich")
    from gpu_envs.train.run import main

    device = [] if "--device" in arguments else ["--device", "cpu"]
    out = [] if "--out" in arguments else ["--out", str(tmp_path / "out")]
    try:
        status: object = main([*arguments, *device, *out])
    except SystemExit as leaving:  # where the words alone are wrong
        status = leaving.code
    line = capsys.readouterr().err
    assert status == 2
    assert line.startswith("error: ") and line.count("\n") == 1
    assert all(word in line for word in words), line


def test_values_of_another_type_are_refused() -> None:
    wrong = {"num_envs": 1.5, "share": 1, "gamma": "high", "encoder": 3, "seed": True, "out": None}
    for name, value in wrong.items():
        with pytest.raises(TypeError, match=f"{flag_of(name)} must be .*got {value!r}"):
            make("CartPole-v0", **{name: value})
    with pytest.raises(ValueError, match="unknown option 'num_env'; did you mean 'num_envs'"):
        make("CartPole-v0", num_env=3)
    assert make("CartPole-v0", gamma=1).gamma == 1  # a whole number is a number


# ---- defaults of an environment


@pytest.mark.parametrize("name", environments())
def test_defaults_are_options_and_evaluations_have_parameters(name: str) -> None:
    training, made = measures.measures_of(name)["training"], make(name)
    usual = training["defaults"]
    assert usual and set(usual) <= set(OPTIONS)
    assert by_role.joined(vars(made), made.roles, usual) == usual
    parameters = training.get("evaluation", {})
    described = fields.read(registration.find(name)["parameters"])
    fields.checked_values(described, parameters, f"parameter of {name}", ValueError)
    assert made.evaluation_parameters == parameters
    for choices in [training.get("device", {}), *training.get("compared", [])]:
        make(name, **choices)


@pytest.mark.parametrize("name", environments())
def test_every_environment_has_defaults_and_what_is_chosen_comes_before_them(name: str) -> None:
    assert make(name).env == name and make(f"gpu_envs/{name}") == make(name)
    made = make(name, **TOGETHER)
    assert {option: getattr(made, option) for option in TOGETHER} == TOGETHER


def test_chosen_evaluation_parameters_join_those_of_the_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = {"training": {"evaluation": {"work": 3, "agent_count": 2}}}
    monkeypatch.setattr(measures, "measures_of", lambda name: held)
    made = make("Micro-v0", evaluation_parameters={"work": 5})
    assert made.evaluation_parameters == {"work": 5, "agent_count": 2}
    assert held["training"]["evaluation"] == {"work": 3, "agent_count": 2}


def test_folders_are_named_after_environment_and_seed() -> None:
    assert str(folder_of(make("gpu_envs/CartPole-v0", seed=3))) == "runs/CartPole-v0/3"
    assert str(folder_of(make("CartPole-v0", out="a/<seed>/<env>x"))) == "a/1/CartPole-v0x"


def test_widths_are_read() -> None:
    assert make("CartPole-v0", hidden="128,64,1").widths == (128, 64, 1)
    assert make("CartPole-v0", algorithm="a2c").is_a2c and not make("CartPole-v0").is_a2c


# ---- help


def shown(arguments: Sequence[str], capsys: Any) -> str:
    with pytest.raises(SystemExit) as leaving:
        command.parse(arguments)
    assert leaving.value.code == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("env", [None, *environments()])
def test_help_lists_every_option_with_its_default_and_all_parameters(
    env: str | None, capsys: Any
) -> None:
    top, text = shown([*([] if env is None else [env]), "--help"], capsys).split(" run: ")
    preset = {} if env is None else measures.measures_of(env)["training"]["defaults"]
    for name, field in OPTIONS.items():
        default = typed(preset.get(name, field.default)) or "''"
        words = " ".join(field.metadata["help"].split())
        what = re.escape(f"{words} (default {default})")
        assert len(re.findall(f"{flag_of(name)} [^ ]+ {what}", text)) == 1, name
    if env is None:
        assert "parameters of this environment" not in text
        return
    assert "--evaluate-with NAME=VALUE" in top
    for described in fields.read(registration.find(env)["parameters"]):
        assert f"-{described.name.replace('_', '-')} " in text
        trained = measures.measures_of(env)["training"].get("parameters", {})
        usual = trained.get(described.name, described.default)
        usual_text = fields.Field(described.name, described.type, default=usual).default_text()
        assert f"default {usual_text}" in text


# ---- flags of parameters


def described(*names: str) -> list[fields.Field]:
    return [fields.Field(name, "int32", default=3, doc="100% of it") for name in names]


def test_no_parameter_takes_an_option_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever environments call their parameters, each command can be used."""
    names = [*OPTIONS, "help", "evaluate_with", "against", "episodes", "sampled", "id", "agent"]
    names += ["opponent", "max_episode_steps", "file", "env", "own"]
    own = described(*dict.fromkeys(names))
    for parser in (match._parser(own), play._parser(own)):
        parser.format_help()
        given = parser.parse_args(["x", "--env-seed", "4", "--seed", "5"])
        assert given.seed == 5
        assert flags.take_parameters(vars(given)) == {"seed": 4}
    monkeypatch.setattr(command.fields, "read", lambda _: own)
    words = [w for name in OPTIONS for w in (f"--env-{name.replace('_', '-')}", "4")]
    _, choices = command.parse(
        ["CartPole-v0", *words, "--env-help", "4", "--env-evaluate-with", "4"]
    )
    expected = dict.fromkeys([*OPTIONS, "help", "evaluate_with"], 4)
    assert choices == {"parameters": expected}


@pytest.mark.parametrize("name", environments())
def test_parameters_of_present_environments_reach_the_configuration(name: str) -> None:
    actions, words = command.parser_for(name)._actions, [name]
    known = fields.read(registration.find(name)["parameters"])
    for field in known:
        option = next(a.option_strings[0] for a in actions if a.dest == f"own.{field.name}")
        words += [option, field.default_text().strip("'") or "x"]
    _, choices = command.parse(words)
    assert list(choices) == ["parameters"]
    # Defaults as the help prints them.
    shown = {field.name: fields.short(field.default, field.type) for field in known}
    assert choices["parameters"] == {name: "x" if v == "" else v for name, v in shown.items()}


def test_readers_follow_the_described_type() -> None:
    def read(text: str, **facts: Any) -> Any:
        return flags.reader(fields.Field("x", **facts))(text)

    assert read("3", type="int32") == 3 and read("0.5", type="float32") == 0.5
    assert read("off", type="string") == "off"
    assert read("slow", type="int32", names=("slow", "fast")) == "slow"
    assert read("Yes", type="bool") is True and read("0", type="boolean") is False
    for text in ("2", "", "on"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"true or false, got '{text}'"):
            flags.truth(text)


def test_parameters_are_taken_out_of_what_was_given() -> None:
    given = {"seed": 1, "own.seed": 2, "own.work": 3}
    assert flags.take_parameters(given) == {"seed": 2, "work": 3}
    assert given == {"seed": 1}


def test_no_parameters_are_no_group() -> None:
    parser = flags.Parser(prog="x")
    flags.add_parameters(parser, [])
    assert "parameters" not in parser.format_help()
