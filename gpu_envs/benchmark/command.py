"""The command line of the benchmark: which suite runs, for how long, and where results go."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_envs import native, registration
from gpu_envs.benchmark import bodies, cuda, games, herds, machine, scaling, swarms, throughput
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.report import Report

_BUSY = 0.5  # load per core at the start from which figures are worth a warning
_EPILOG = """
One agent per world (CartPole): steps/s for several numbers of worlds through Simulator.step and
gymnasium.make_vec, one thread and all, default and lean outputs, each kind of array; bytes per
step against the memory's bandwidth measured in the same run; microseconds of Python per step;
peers that are installed (Gymnasium, EnvPool, gymnax) and a plain C loop.
Many agents per world (Micro): agent-steps/s by agents per world, by work and by threads, plotted.
Games (Hanabi, Overcooked): world steps/s with random legal moves drawn in the loop, by element type
and outputs, against a plain copy of as many bytes, beside peers (OpenSpiel, overcooked-ai, JaxMARL)
and by agents per world with the memory of a world, plotted.
Rigid bodies (HideSeek): world steps/s with random actions and resets, one thread and all, without
sleep, crowded, by profile; where the time of a step goes; by agents and by boxes, plotted.
Swarms (TagGrid, TagContinuous, Flocking, SwarmTag): agent-steps/s with 5 to 17,600 agents a world,
bytes or pairs in range per second against the machine's limit, beside WarpDrive's and floxs's own
programs where they are installed.
On a GPU the same numbers come from CUDA events, with lanes per world, captured graphs and the limit
that the memory sets.
"""


def parser(program: str) -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        prog=program,
        description="Measure an environment's speed on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = options.add_argument
    add("id", help="environment, such as CartPole or CartPole64-v0")
    add("--quick", action="store_true", help="a short run: small batches, rough figures")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("benchmarks/results"),
        help="folder of the results (default: %(default)s)",
    )
    add("--device", default="auto", help="auto, cpu, cuda or cuda:<n> (default: %(default)s)")
    add("--worlds", type=_counts, metavar="N,N,...", help="numbers of worlds to measure")
    add("--seconds", type=float, help="length of one repeat (default: 0.1; 0.005 with --quick)")
    add("--repeats", type=int, default=5, help="the median counts (default: %(default)s)")
    add("--no-peers", action="store_true", help="leave the peers out")
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
    counts = tuple(int(part) for part in text.split(","))
    if any(count < 1 for count in counts):
        raise ValueError(text)
    return counts


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(text)
    return name, json.loads(value)


def _resolved(name: str) -> str:
    """Accept CartPole for CartPole-v0."""
    known = registration.environments()
    bare = name.removeprefix(f"{registration.NAMESPACE}/")
    resolved: str = registration.find(f"{bare}-v0" if f"{bare}-v0" in known else bare)["id"]
    return resolved


def main(argv: Sequence[str] | None = None, program: str = "python -m gpu_envs bench") -> None:
    """Measure, print, and write the results."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = parser(program)
    arguments = options.parse_args(given)
    try:
        name = _resolved(arguments.id)
        device_machine, ordinal = native.parse_device(arguments.device)
    except (ValueError, RuntimeError) as problem:
        options.error(str(problem))
    device = "cpu" if device_machine == "cpu" else f"cuda:{ordinal}"
    report = Report(name, machine.describe(device), " ".join([program, *given]))
    _introduce(report)
    _run(name, device, arguments, report)
    report.machine["load_at_end"] = round(machine.load(), 2)
    for path in report.write(arguments.out):
        print(f"wrote {path}")


def _introduce(report: Report) -> None:
    facts = report.machine
    print(f"{report.environment} on {facts['device_name']}, {facts['cores']} cores")
    versions = ", ".join(f"{name} {v}" for name, v in facts["versions"].items())
    print(f"instruction set {facts['instruction_set']}; {versions}; load {facts['load_at_start']}")
    if facts["load_at_start"] > _BUSY * facts["cores"]:
        report.say("other work is running on this machine: figures are lower than it could give")


def _run(name: str, device: str, arguments: argparse.Namespace, report: Report) -> None:
    seconds = arguments.seconds or (0.005 if arguments.quick else 0.1)
    parameters = dict(arguments.parameters)
    clock = Clock(seconds, arguments.repeats)
    if device != "cpu":
        clock = cuda.device_clock(seconds, arguments.repeats, device)
    if name in games.GAMES:
        default = games.WORLDS if device == "cpu" else games.DEVICE_WORLDS
        worlds = arguments.worlds or (games.QUICK_WORLDS if arguments.quick else default)
        games.run(
            games.Plan(
                name, worlds, clock, arguments.quick, not arguments.no_peers, device, parameters
            ),
            report,
            arguments.out,
        )
    elif name in bodies.YARDS:
        default = bodies.WORLDS if device == "cpu" else bodies.DEVICE_WORLDS
        worlds = arguments.worlds or (bodies.QUICK_WORLDS if arguments.quick else default)
        repeats = 1 if arguments.quick else min(3, arguments.repeats)
        bodies.run(
            bodies.Plan(name, worlds, repeats, arguments.quick, device, parameters),
            report,
            arguments.out,
        )
    elif name in herds.HERDS:
        swarms.run(
            swarms.Plan(
                name,
                clock,
                arguments.quick,
                not arguments.no_peers,
                device,
                parameters,
                arguments.worlds or (),
            ),
            report,
        )
    elif not registration.find(name)["agents"].isdecimal():
        plan = scaling.Plan(name, clock, arguments.quick, device, parameters)
        scaling.run(plan, report, arguments.out)
    elif device != "cpu":
        worlds = arguments.worlds or (cuda.QUICK_WORLDS if arguments.quick else cuda.WORLDS)
        cuda.run(cuda.Plan(name, worlds, clock, device, parameters), report)
    else:
        worlds = arguments.worlds or (
            throughput.QUICK_WORLDS if arguments.quick else throughput.WORLDS
        )
        with_peers = not arguments.no_peers
        throughput.run(
            throughput.Plan(name, worlds, clock, arguments.quick, with_peers, parameters), report
        )
