"""The command line: `python -m gpu_envs list | info ID | build | bench ID | play ID | ...`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from gpu_envs import errors
from gpu_envs.known import extras, registration
from gpu_envs.terminal import broken_pipes


class _Command(NamedTuple):
    """One command: its line in the list of commands, and what its own help begins with."""

    help: str
    description: str
    module: str = ""  # reads the options of the command; none: `_parser` lists them
    arguments: str = "ID [options]"  # as that module takes them


_COMMANDS = {
    "list": _Command("list all environments", "List all environments."),
    "info": _Command(
        "describe one environment",
        "Print an environment's rules, parameters, spaces and reset options.",
    ),
    "build": _Command(
        "build modules: of this tree, or of your own header",
        "Build native code; `build -h` lists the options.",
        "gpu_envs.commands.build",
        "[ID | FILE.hpp ...]",
    ),
    "bench": _Command(
        "measure an environment's speed",
        "Measure steps per second; options after the id go to the benchmark.",
        "gpu_envs.benchmark",
    ),
    "check": _Command(
        "check your own environment: bits, saves, bounds, interfaces",
        "Check what every environment promises; `check -h` lists the options.",
        "gpu_envs.commands.check",
    ),
    "doctor": _Command(
        "list what works on this machine, and how to get the rest",
        "Look through modules, instruction sets, devices and libraries.",
    ),
    "store": _Command(
        "show or empty the store of compiled objects",
        "Show the folder that keeps compiled objects for all clones and packages, and proofs of "
        "tests that passed. GPU_ENVS_STORE names another folder. Anything in it may be deleted at "
        "any time.",
    ),
    "play": _Command(
        "play an environment by hand",
        "Play in the terminal; `play ID -h` lists the options.",
        "gpu_envs.commands.play",
    ),
    "render": _Command(
        "draw an episode",
        "Draw an episode into a file; `render ID -h` lists the options.",
        "gpu_envs.commands.render",
    ),
    "mesh": _Command(
        "write a house as a mesh for other programs",
        "Write a mesh that all worlds share into a file; `mesh ID -h` lists the options.",
        "gpu_envs.commands.mesh",
    ),
    "train": _Command(
        "train agents by PPO",
        "Train agents; `train ID -h` lists the options, with the ID's defaults.",
        "gpu_envs.train.__main__",
    ),
    "evaluate": _Command(
        "play episodes with trained policies",
        "Say what trained policies reach; `evaluate ID -h` lists the options.",
        "gpu_envs.train.match",
        "ID|FILE [options]",
    ),
    "record": _Command(
        "record games as a data set of Minari",
        "Record games of policies; `record ID -h` lists the options.",
        "gpu_envs.train.data.record",
    ),
    "export": _Command(
        "write saved policies for other programs",
        "Write policies as ONNX, safetensors or torch; `export -h` lists the options.",
        "gpu_envs.commands.export",
        "FILE|ID --to FORM [options]",
    ),
}


def _list() -> None:
    rows = [("id", "agents", "steps", "what")]
    for name, entry in registration.environments().items():
        doc = (entry["doc"].strip().splitlines() or [""])[0]
        steps = str(entry["max_episode_steps"] or "-")
        rows.append((f"{registration.NAMESPACE}/{name}", str(entry["agents"]), steps, doc))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        print("  ".join(cells).rstrip())


def _store(is_emptied: bool) -> None:
    store = importlib.import_module("gpu_envs.building.store")
    for folder in store.folders():
        if is_emptied:
            store.empty(folder)
        print(store.text(folder))


def _doctor() -> Any:
    return importlib.import_module("gpu_envs.commands.doctor")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_envs",
        description="RL environments that run thousands of worlds at once in one native simulator.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {
        name: commands.add_parser(
            name,
            help=command.help,
            description=command.description,
            add_help=not command.module,
        )
        for name, command in _COMMANDS.items()
    }
    for name, command in _COMMANDS.items():
        if command.module:
            parsers[name].add_argument(
                "arguments", nargs=argparse.REMAINDER, metavar=command.arguments
            )
    parsers["info"].add_argument("id", help="such as CartPole-v0")
    parsers["store"].add_argument("--empty", action="store_true", help="delete what it holds")
    return parser


def _run(command: str, arguments: list[str]) -> int:
    try:
        module = importlib.import_module(_COMMANDS[command].module)
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise
        print(f"error: {extras.needs(command, 'torch', 'train')}", file=sys.stderr)
        return 1
    return module.main(arguments) or 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given and given[0] in _COMMANDS and _COMMANDS[given[0]].module:
        return _run(given[0], given[1:])
    if given == ["--version"]:
        print(f"gpu_envs {_doctor().version()}")
        return 0
    arguments = _parser().parse_args(given)
    try:
        if arguments.command == "list":
            _list()
        elif arguments.command == "doctor":
            found, is_usable = _doctor().text()
            print(found)
            return 0 if is_usable else 1
        elif arguments.command == "store":
            _store(arguments.empty)
        else:
            print(importlib.import_module("gpu_envs.commands.info").text(arguments.id))
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        broken_pipes.go_on_quietly()
    else:
        broken_pipes.end_quietly()
    sys.exit(main())
