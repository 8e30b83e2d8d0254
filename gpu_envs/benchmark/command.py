"""The command line of the benchmark: cases, times, and the folder of results."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.benchmark import look, loop, machine, memory
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.plan import Plan
from gpu_envs.benchmark.report import Report
from gpu_envs.known import fields, measures, native, suites
from gpu_envs.terminal import flags

_BUSY = 0.5  # load per core at the start that deserves a warning
_OF_FULL = ("quick", "bars", "no_peers")
_EPILOG = """
Within ten seconds: steps per second as a loop around gpu_envs.Simulator gets them, for more and
more worlds of the environment as it is made by default. --full takes minutes. What it measures, and
what is promised, is data beside the header (docs/measures.md): sizes, numbers of worlds, curves,
bars, programs of others. Of each:
steps/s by form, threads and outputs, by element type and kind of array, through Simulator.step
and gymnasium.make_vec where a world is one agent; bytes per step, or pairs of agents in range,
against what this machine does in the same run; where the time of a step goes; curves with plots;
microseconds of Python per step; peers that are installed.
On a GPU the same comes from CUDA events, with lanes per world and captured graphs.
--suite prints one table: each game alone, and all of them in one batch.
"""


def parser(program: str) -> flags.Parser:
    """The options."""
    options = flags.Parser(
        prog=program,
        description="Measure an environment's speed on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = options.add_argument
    add("id", nargs="?", help="environment, such as CartPole or CartPole64-v0")
    add("--suite", metavar="NAME", help="in place of an environment: all games of a suite")
    add("--full", action="store_true", help="measure everything; minutes")
    add("--quick", action="store_true", help="with --full: small batches, rough figures")
    add("--bars", action="store_true", help="with --full: judge the promises of its data")
    add("--no-peers", action="store_true", help="with --full: skip programs of others")
    add("--out", type=Path, metavar="DIR", help="write the results into this folder")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:<n> (default: %(default)s)")
    add("--worlds", type=_counts, metavar="N,N,...", help="numbers of worlds to measure")
    add("--seconds", type=float, help="length of one repeat (default: 0.1; 0.005 with --quick)")
    add(
        "--repeats",
        type=int,
        default=5,
        help="repeats, of which the median counts (default: %(default)s)",
    )
    add(
        "--set",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        dest="parameters",
        help="a parameter of the environment; may be given several times",
    )
    return options


def _counts(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"must be numbers such as 1,64,4096, got {text!r}")
    return tuple(map(int, parts))


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:  # a text needs no quotes
        return name, value


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect, and times that say nothing."""
    if arguments.device.startswith("cuda") and native.target_of("cuda") != "cuda":
        raise ValueError(
            "GPU_ENVS_CUDA_RUNTIME=interpreted: an interpreter's times say nothing about a GPU"
        )
    if (arguments.id is None) == (arguments.suite is None):
        raise ValueError("name an environment, such as CartPole-v0, or --suite megaverse8")
    if arguments.suite is not None:
        _check_suite(arguments)
    for name in _OF_FULL:
        if getattr(arguments, name) and not arguments.full:
            raise ValueError(f"--{name.replace('_', '-')} applies to the full run only: add --full")


def _check_suite(arguments: argparse.Namespace) -> None:
    suites.games_of(arguments.suite)
    for name in ("full", "out"):
        if getattr(arguments, name):
            raise ValueError(f"--{name} is for one environment: not with --suite")
    if arguments.worlds is not None and len(arguments.worlds) > 1:
        raise ValueError("--worlds takes one number with --suite: worlds of each game")


def _measure_suite(arguments: argparse.Namespace, device: str) -> None:
    seconds = arguments.seconds or 0.1
    clock = Clock(seconds, arguments.repeats, memory.timed(device != "cpu"))
    suite = importlib.import_module("gpu_envs.benchmark.suite")  # it needs Gymnasium
    worlds = arguments.worlds[0] if arguments.worlds else suite.WORLDS
    suite.run(arguments.suite, clock, device, worlds, dict(arguments.parameters))


def main(argv: Sequence[str] | None = None, program: str = "python -m gpu_envs bench") -> None:
    """Measure and print, and write the results where a folder is named."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = parser(program)
    arguments = options.parse_args(given)
    try:
        _check(arguments)
        device_machine, ordinal = native.parse_device(arguments.device)
        device = "cpu" if device_machine == "cpu" else f"cuda:{ordinal}"
        if arguments.suite is not None:
            _measure_suite(arguments, device)
            return
        described = native.described(arguments.id)
        name = str(described["id"])
        fields.checked_values(
            fields.read(described["parameters"]),
            dict(arguments.parameters),
            f"parameter of {name}",
            ValueError,
        )
    except (TypeError, ValueError, RuntimeError) as problem:
        options.error(str(problem))
    except KeyboardInterrupt:
        options.exit(130)
    report = Report(name, machine.describe(device), " ".join([program, *given]))
    report.is_followed, report.is_judged = arguments.full, arguments.bars
    _introduce(report)
    try:
        _run(name, device, arguments, report)
    except errors.TROUBLE as problem:
        options.error(str(problem))
    except KeyboardInterrupt:
        options.exit(130)
    report.machine["load_at_end"] = round(machine.load(), 2)
    if arguments.out is not None:
        for path in report.write(arguments.out):
            print(f"wrote {path}")


def _introduce(report: Report) -> None:
    facts = report.machine
    level = f"instruction set {facts['instruction_set']}"
    print(f"{report.environment} on {facts['device_name']}, {facts['cores']} cores, {level}")
    if report.is_followed:
        versions = ", ".join(f"{name} {v}" for name, v in facts["versions"].items())
        print(f"{versions}; load {facts['load_at_start']}", flush=True)
    if facts["load_at_start"] > _BUSY * facts["cores"]:
        report.say("other work is running on this machine: figures are lower than it could give")


def clock_of(
    data: dict[str, Any], on_gpu: bool, *, seconds: float, repeats: int, quick: bool
) -> Clock:
    """Return a clock that measures `seconds`, or whole episodes where the data says so."""
    steps = int(data.get("device_steps" if on_gpu else "steps", 0))
    if steps:
        # Whole episodes take long, so fewer of them are repeated.
        repeats, steps = (1, min(60, steps)) if quick else (min(3, repeats), steps)
    return Clock(seconds, repeats, memory.timed(on_gpu), steps)


def _run(name: str, device: str, arguments: argparse.Namespace, report: Report) -> None:
    seconds = arguments.seconds or (0.005 if arguments.quick else 0.1)
    kind, _, ordinal = device.partition(":")
    on_gpu = kind == "cuda"
    if on_gpu:
        # Events and arrays of torch are by default of the current device.
        memory.torch().cuda.set_device(int(ordinal))
    clock = clock_of(
        measures.measures_of(name)["benchmark"],
        on_gpu,
        seconds=seconds,
        repeats=arguments.repeats,
        quick=arguments.quick,
    )
    plan = Plan(
        name,
        native.target_of(kind),
        clock,
        arguments.quick,
        arguments.worlds or (),
        dict(arguments.parameters),
    )
    if arguments.full:
        loop.run(plan, report, arguments.out, not arguments.no_peers)
    else:
        look.run(plan, report)
