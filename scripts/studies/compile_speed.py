#!/usr/bin/env python3
"""Measures steps inside `torch.compile`, beside the same steps in a loop of Python.

Usage: scripts/studies/compile_speed.py [--out DIR]

Steps of CartPole by `VectorEnv.step` with torch's arrays, by the operator of `VectorEnv.compiled`
outside of a program, and by programs of eight steps each, compiled by Inductor; then the same with
a policy of two layers that chooses the actions, where a loop has the policy compiled or not. All
take turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

import gpu_envs  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table, si  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

NAME, AT_ONCE, STEPS = "CartPole-v0", 8, {1: 1_600, 64: 1_600, 4096: 240}
LENGTHS = (1, 8, 32, 128)  # of programs whose compilation is timed
FEW, MANY = 0.6, 0.8  # bars: of VectorEnv.step, with one world and with 4,096
Call = Callable[[], object]


def made(worlds: int) -> Any:
    """Return an environment that has been reset."""
    env = gpu_envs.make_vec(NAME, worlds, device="cpu", arrays="torch", threads=1)
    env.reset(seed=1)
    return env


def program_of(env: Any, length: int, choose: Callable[[Any], Any]) -> Call:
    """Return a call of a compiled program of steps."""
    token, _, step = env.compiled()

    def rollout(token: Any, obs: Any) -> Any:
        for _ in range(length):
            token, (obs, *_) = step(token, choose(obs))
        return obs

    run, state = torch.compile(rollout, fullgraph=True), [env.observe()[0]]

    def call() -> None:
        state[0] = run(token, state[0])

    return call


def loop_of(step: Callable[[Any], Any], obs: Any, choose: Callable[[Any], Any]) -> Call:
    """Return a call of as many steps in a loop of Python."""
    state = [obs]

    def call() -> None:
        for _ in range(AT_ONCE):
            state[0] = step(choose(state[0]))

    return call


def calls(worlds: int) -> dict[str, dict[str, Call]]:
    """Return what runs eight steps, by name: without a policy, and with one."""
    actions = torch.zeros(worlds, dtype=torch.int64)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))

    def nothing(_: Any) -> Any:
        return actions

    def choose(obs: Any) -> Any:
        return policy(obs).argmax(-1)

    def plain(chosen: Callable[[Any], Any]) -> Call:
        env = made(worlds)
        return loop_of(lambda actions: env.step(actions)[0], env.observe()[0], chosen)

    def operator() -> Call:
        env = made(worlds)
        token, _, step = env.compiled()
        return loop_of(lambda actions: step(token, actions)[1][0], env.observe()[0], nothing)

    return {
        "fixed actions": {
            "VectorEnv.step": plain(nothing),
            "operator": operator(),
            "program": program_of(made(worlds), AT_ONCE, nothing),
        },
        "a policy": {
            "VectorEnv.step": plain(choose),
            "VectorEnv.step, compiled policy": plain(torch.compile(choose, fullgraph=True)),
            "program": program_of(made(worlds), AT_ONCE, choose),
        },
    }


def rates(report: Report, repeats: int) -> None:
    """Steps per second of each way."""
    found: dict[int, dict[str, dict[str, float]]] = {}
    for worlds, steps in STEPS.items():
        ways = calls(worlds)
        found[worlds] = {what: timed(own, worlds, steps, repeats) for what, own in ways.items()}
    for what in next(iter(found.values())):
        names = list(found[1][what])
        table = Table(
            f"Steps of worlds per second with {what}, one thread",
            ["worlds", *names],
            note=f"Medians of {repeats} turns; a program has {AT_ONCE} steps.",
        )
        for worlds, own in found.items():
            table.rows.append([f"{worlds:,}", *(si(own[what][name]) for name in names)])
        report.show(table)
    report.results["rates"] = {str(worlds): own for worlds, own in found.items()}
    for worlds, bar in ((1, FEW), (4096, MANY)):
        own = found[worlds]["fixed actions"]
        label = f"program, over VectorEnv.step with {worlds:,} world{'s' if worlds > 1 else ''}"
        report.judge(Bar(label, bar, own["program"] / own["VectorEnv.step"], ""))


def timed(ways: dict[str, Call], worlds: int, steps: int, repeats: int) -> dict[str, float]:
    """Return the steps per second of ways that take turns."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    with torch.no_grad():
        for turn in range(repeats + 1):
            for name, call in ways.items():
                start = time.perf_counter()
                for _ in range(steps // AT_ONCE):
                    call()
                if turn:  # the first one compiles and warms up
                    spent[name].append(time.perf_counter() - start)
    return {name: worlds * steps / statistics.median(s) for name, s in spent.items()}


def compilations(report: Report) -> None:
    """Seconds until a program has run once, by its number of steps."""
    table = Table("Seconds to compile a program with a policy", ["steps", "seconds"])
    for length in LENGTHS:
        no_caches = torch._inductor.config.patch(force_disable_caches=True)
        torch.compiler.reset()
        policy = torch.nn.Linear(4, 2)
        run = program_of(made(64), length, lambda obs, own=policy: own(obs).argmax(-1))
        with torch.no_grad(), warnings.catch_warnings(), no_caches:
            warnings.simplefilter("ignore")  # torch says that caches are off
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
        table.rows.append([str(length), f"{seconds:.1f}"])
        report.results[f"compile {length}"] = seconds
    report.show(table)


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=25, help="turns (default 25)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    torch.set_num_threads(1)
    command = " ".join(["scripts/studies/compile_speed.py", *sys.argv[1:]])
    report = Report("CartPole-compile", machine.describe("cpu"), command)
    rates(report, given.repeats)
    compilations(report)
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
