"""Options of command lines: errors of one line, and a flag for each described parameter."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gpu_envs.known import fields, native

_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_OWN = "own."
_NEGATIVE = re.compile(r"-\.?\d")  # how a value begins that argparse would take for an option


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line and leave."""
        self.exit(2, f"error: {message}\n")


def truth(text: str) -> bool:
    """Read true or false."""
    if text.lower() not in _TRUTHS:
        raise argparse.ArgumentTypeError(f"must be true or false, got {text!r}")
    return _TRUTHS[text.lower()]


def reader(field: fields.Field) -> Callable[[str], Any]:
    """Return the reader of a parameter on a command line; its bounds are checked later."""
    if field.type in ("bool", "boolean"):
        return truth
    if field.type in ("string", "str") or field.names:
        return str
    return _one(float if field.type.startswith("float") else int)


def _one(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader of numbers that says what it lacks where a range is typed."""

    def reads(text: str) -> Any:
        if ".." in text:
            raise argparse.ArgumentTypeError(
                f"must be one value, got {text!r}: no range is taken here"
            )
        return read(text)

    reads.__name__ = read.__name__  # as errors name it
    return reads


def add_parameters(
    parser: argparse.ArgumentParser,
    described: Sequence[fields.Field],
    form: str = "",
) -> None:
    """Add a flag for each parameter of an environment, after all others.

    It is `--<name>`, or `--env-<name>` where the parser has that option already. Words such as -2,
    -1e-3 and -2..-1 are values then.

    Args:
        parser: The parser.
        described: The parameters.
        form: What a parameter that may differ by world takes beside a number, in words; such a
            text, with "..", is handed on as it was typed. "": nothing.
    """
    if not described:
        return
    parser._negative_number_matcher = _NEGATIVE
    taken = {option for action in parser._actions for option in action.option_strings}
    group = parser.add_argument_group("parameters of this environment")
    for field in described:
        flag = "--" + field.name.replace("_", "-")
        doc = f"{field.doc}; default {field.default_text()}".replace("%", "%%")
        what = field.bounds().replace(" | ", "|").replace(" to ", "..")
        group.add_argument(
            f"--env-{flag[2:]}" if flag in taken else flag,
            dest=_OWN + field.name,
            type=_or_text(reader(field)) if form and field.by_world else reader(field),
            default=argparse.SUPPRESS,
            metavar=what,
            help=f"{doc}; also {form}" if form and field.by_world else doc,
        )


def _or_text(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader that hands a range on as it was typed."""

    def reads(text: str) -> Any:
        return text if ".." in text else read(text)

    reads.__name__ = read.__name__  # as errors name it
    return reads


def for_environment(
    argv: Sequence[str], make_parser: Callable[[Sequence[fields.Field]], argparse.ArgumentParser]
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Read a command line that begins with the ID of an environment.

    Args:
        argv: The words of the command line.
        make_parser: Makes the parser, given the environment's parameters.

    Returns:
        The options, and the given parameters.
    """
    given = [word for word in argv if word not in ("-h", "--help")]
    described: tuple[fields.Field, ...] = ()
    if given and not given[0].startswith("-"):
        described = fields.read(native.described(given[0])["parameters"])
    parser = make_parser(described)
    if given and given[0].startswith("-"):
        parser.error("the ID comes first")
    options = parser.parse_args(argv)
    own = take_parameters(vars(options))
    if getattr(options, "max_episode_steps", None) is not None:
        own["max_episode_steps"] = options.max_episode_steps
    return options, own


def take_parameters(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the given parameters from `values` and return them."""
    names = [name for name in values if name.startswith(_OWN)]
    return {name.removeprefix(_OWN): values.pop(name) for name in names}
