"""The command line of the trainer: options made from the configuration, and their errors."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from gpu_envs import errors
from gpu_envs.known import fields, native, suites
from gpu_envs.policies.options import flag_of
from gpu_envs.terminal import flags
from gpu_envs.train import by_role, settings, varying
from gpu_envs.train.config import GROUPS, Config, reader

PROGRAM = "python -m gpu_envs train"
_ABOUT = (
    "Train agents by PPO until the evaluation reaches the goal. Writes checkpoint.ckpt (the run, "
    "for --resume), best.ckpt (the best policies, or where several roles learn the last, for "
    "`python -m gpu_envs evaluate` and `play`), "
    "curve.csv, curve.png and TensorBoard's files. The defaults shown are those of ENV, where one "
    "is named. `--suite megaverse8` in the place of ENV trains a policy for each game of a suite, "
    "and prints one table. Several processes: torchrun --nproc-per-node=N -m gpu_envs.train ENV "
    "[options]."
)


def _add_options(parser: argparse.ArgumentParser, preset: Mapping[str, Any]) -> None:
    hints, others = get_type_hints(Config), []
    groups = {name: parser.add_argument_group(name) for name in GROUPS}
    for field in dataclasses.fields(Config):
        if not field.metadata:
            continue
        name, kind = field.metadata["group"], hints[field.name]
        default = preset.get(field.name, field.default)
        shown = str(default).lower() if kind is bool else f"{default}"
        doc = f"{field.metadata['help']} (default {shown or repr(shown)})"
        extra: dict[str, Any] = {"type": str, "metavar": "TEXT"}
        if field.metadata["choices"]:
            extra["metavar"] = "|".join(field.metadata["choices"])
        elif kind in (int, float):
            extra = {"type": reader(field.name), "metavar": "N" if kind is int else "X"}
        elif kind is bool:
            extra = {"type": flags.truth, "metavar": "true|false", "nargs": "?", "const": True}
        if field.metadata["by_role"]:
            extra["type"] = functools.partial(by_role.read, kind=reader(field.name))
            extra["metavar"] += f"[,ROLE={extra['metavar']}]"
            extra["action"] = by_role.Merged
        flag, also = flag_of(field.name), field.metadata["also"]
        groups[name].add_argument(flag, help=doc.replace("%", "%%"), **extra)
        if also:  # parsed here; the help lists them once, at the end
            extra |= {"dest": field.name, "help": argparse.SUPPRESS}
            groups[name].add_argument(*also, **extra)
            others.append(f"{', '.join(also)} for {flag}")
    parser.epilog = (
        "With --policies role or agent, options with ROLE take a value for each role, with a map "
        "for each policy: --entropy 0.01,seeker=0.02 --hidden seeker=128,128. "
        f"Names that other libraries use are taken too: {'; '.join(others)}."
    )


def parser_for(env: str | None, *, is_help: bool = False, program: str = PROGRAM) -> flags.Parser:
    """Return the parser, with the defaults and parameters of an environment if one is named.

    Help needs only the standard library, and builds nothing: the catalogue is enough.
    """
    parser = flags.Parser(
        prog=program,
        usage="%(prog)s ENV [options]",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        description=_ABOUT,
    )
    parser.add_argument("env", metavar="ENV", help="id of the environment, such as CartPole-v0")
    entry = None if env is None else suites.described(env)
    if entry is not None and not is_help:
        for game in suites.games_of(env) if suites.is_suite(env) else [entry["id"]]:
            native.described(game)
        entry = suites.described(str(env))
    training = {} if entry is None else suites.training_of(entry["id"])
    _add_options(parser, training.get("defaults", {}))
    if entry is not None:
        parser.add_argument(
            "--evaluate-with",
            metavar="NAME=VALUE",
            action="append",
            help="a parameter of the evaluation worlds that differs; may be repeated",
        )
        _add_presets(parser, entry["id"])
        own = _as_trained(entry["id"], training.get("parameters", {}))
        flags.add_parameters(parser, own, varying.FORM)
    return parser


def _add_presets(parser: flags.Parser, env: str) -> None:
    """Add the choice among the presets of an environment, where it has some."""
    presets = suites.presets_of(env)
    if not presets:
        return
    told = "; ".join(f"{name}: {preset['doc']}" for name, preset in presets.items())
    parser.add_argument(
        "--preset",
        metavar="|".join(presets),
        help=f"a named set of parameters; those given beside it replace its own. {told}",
    )


def _as_trained(env: str, usual: Mapping[str, Any]) -> list[fields.Field]:
    """Return the parameters of an environment, with the defaults of its training."""
    return [
        dataclasses.replace(field, default=usual.get(field.name, field.default))
        for field in settings.described(env)
    ]


def parse(argv: Sequence[str], program: str = PROGRAM) -> tuple[str, dict[str, Any]]:
    """Return the id of the environment and the given options; exit with a line if they are bad.

    Options that were not given are left out: their values depend on the environment, and on the
    checkpoint of a resumed run.

    Args:
        argv: The words of the command line.
        program: Name of the command, for its help.
    """
    named = argv[0] if argv and not argv[0].startswith("-") else None
    is_help = bool({"-h", "--help"} & set(argv))
    try:
        parser = parser_for(named, is_help=is_help, program=program)
    except (ValueError, RuntimeError, ImportError) as problem:
        flags.Parser().error(str(problem))
    if named is None and not is_help:
        parser.error(f"the ENV comes first, or --suite: {program} CartPole-v0 [options]")
    given, rest = parser.parse_known_args(argv)
    if rest:
        known = [o for action in parser._actions for o in action.option_strings if len(o) > 2]
        parser.error(_unknown(rest[0], known, f"{program} {named}", str(named)))
    choices = vars(given)
    env: str = choices.pop("env")
    own = flags.take_parameters(choices)
    tested = choices.pop("evaluate_with", None)
    preset, presets = choices.pop("preset", None), suites.presets_of(env)
    if preset is not None:
        if preset not in presets:
            parser.error(errors.unknown(f"preset of {env} (--preset)", preset, presets))
        own = {**presets[preset]["parameters"], **own}
    if own:
        choices["parameters"] = own
    if tested:
        described = settings.described(env)
        choices["evaluation_parameters"] = _pairs(parser, tested, described)
    return env, choices


def _unknown(word: str, known: Sequence[str], command: str, env: str) -> str:
    """Return the message for a word that is not an option of a training."""
    if not word.startswith("-"):
        return f"{word!r} follows no option: name one before it, such as --num-envs {word}"
    whole = f"`{command} --help`"
    own = [f"--{field.name.replace('_', '-')}" for field in settings.described(env)]
    rest = f"; parameters of {env}: {errors.listed(own, word)}" if own else ""
    return errors.unknown("option", word, known, whole) + rest


def _pairs(
    parser: flags.Parser, texts: Sequence[str], described: Sequence[fields.Field]
) -> dict[str, Any]:
    by_name = {field.name: field for field in described}
    result: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.replace("-", "_")
        if not sign:
            parser.error(f"--evaluate-with must be NAME=VALUE, got {text!r}")
        if name not in by_name:
            what = "parameter (--evaluate-with NAME=VALUE)"
            parser.error(errors.unknown(what, name, by_name))
        try:
            result[name] = flags.reader(by_name[name])(value)
        except (ValueError, argparse.ArgumentTypeError) as problem:
            parser.error(f"--evaluate-with {name}: {problem}")
    return result
