#!/usr/bin/env python3
"""Measures how fast one build steps against another.

Usage: scripts/studies/compare_builds.py BEFORE AFTER [CASE ...]

BEFORE and AFTER are folders that hold a built package `gpu_envs`; a CASE is an environment and its
number of worlds, `CartPole-v0:4096`. Without one, AFTER says: of every module the first id, with a
middling number of worlds of its benchmark. Each folder gets a process of its own. The two take
turns, in short slices of equally many steps from the same seed with the same actions, so that what
else the machine does meets both; the answer is the median of the slices' ratios, above 1 where
AFTER is faster. Compare a folder with itself to learn how far that wavers.

With --varies, each world of AFTER has values of its own of the parameters it names (`all`: of all
that may differ by world), which are the usual ones: with BEFORE and AFTER the same folder, the
ratio is what a row per world costs.

One thread is timed by its processor's time, which others on the machine cannot take; more threads
by the clock on the wall.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import statistics
import sys
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

CASES = "cases"  # the request for them
ALL = "all"  # parameters that may differ by world
BATCHES = 16  # of actions, drawn before the clock runs
SEED = 7


@dataclass(frozen=True)
class Case:
    """An environment, and how it is stepped."""

    name: str
    worlds: int
    threads: int
    dtype: str | None  # of the actions; None: int64 or float32
    varies: tuple[str, ...] = ()  # parameters of which each world has its own value


def draw_actions(instance: dict[str, Any], dtype: str | None) -> np.ndarray:
    """Return batches of random actions, (batches, worlds, agents, k)."""
    random = np.random.default_rng(SEED)
    shape = (BATCHES, instance["num_worlds"], instance["agents_per_world"])
    if roles := instance.get("roles"):  # padded: each agent has what its role has to choose from
        counts = np.repeat([r["choices"] for r in roles], [r["count"] for r in roles])
        return random.integers(0, counts, shape, np.int64).astype(dtype or np.int64)
    parts = []
    for field in instance["action"]:
        low, high = field["low"], field["high"]
        size = (*shape, int(np.prod(field["shape"])))
        if field["choices"] is not None:
            parts.append(random.integers(int(low), int(high) + 1, size, np.int64))
        else:
            bounds = (-1.0 if low is None else low, 1.0 if high is None else high)
            parts.append(random.uniform(*bounds, size).astype(np.float32))
    return np.ascontiguousarray(np.concatenate(parts, axis=-1), dtype=dtype)


class Loop:
    """A simulator that has begun, and its steps."""

    def __init__(self, case: Case) -> None:
        native = importlib.import_module("gpu_envs.known.native")
        options: dict[str, Any] = {"threads": case.threads}
        if case.varies == (ALL,):
            plain = json.loads(native.make("cpu", case.name, 1).instance)
            options["varies"] = [f["name"] for f in plain["parameters"] if "by_world" in f]
        elif case.varies:
            options["varies"] = list(case.varies)
        self.simulator = native.make("cpu", case.name, case.worlds, **options)
        instance = json.loads(self.simulator.instance)
        self.actions = draw_actions(instance, case.dtype)
        self.addresses, self.outputs = self.simulator.allocate(False)
        self.clock = time.process_time if case.threads == 1 else time.perf_counter
        self.taken = 0
        self.simulator.reset(SEED, 0, {}, self.addresses, 0)

    def seconds(self, steps: int) -> float:
        """Return the time of a number of steps."""
        step, kind = self.simulator.step, str(self.actions.dtype)
        begin = self.clock()
        for _ in range(steps):
            batch = self.actions[self.taken % BATCHES]
            step(batch.ctypes.data, kind, self.addresses, 0)
            self.taken += 1
        return self.clock() - begin


def usual_cases() -> list[str]:
    """Return the first id of every module, with the worlds in the middle of its first form."""
    registration = importlib.import_module("gpu_envs.known.registration")
    measures = importlib.import_module("gpu_envs.known.measures")
    found = []
    for name in registration.firsts():
        forms = measures.measures_of(name)["benchmark"].get("forms", [{"worlds": [4096]}])
        worlds = forms[0]["worlds"]
        found.append(f"{name}:{worlds[len(worlds) // 2]}")
    return found


def work(folder: str, pipe: Connection) -> None:
    """Answer what is asked of the package in `folder`: CASES, to begin a case, to take steps."""
    sys.path.insert(0, folder)
    package = importlib.import_module("gpu_envs")
    assert package.__file__ is not None
    if Path(package.__file__).parent.parent != Path(folder):
        raise ImportError(f"{folder} has no package gpu_envs, found {package.__file__}")
    loop: Loop | None = None
    while (request := pipe.recv()) is not None:
        if isinstance(request, Case):
            loop = Loop(request)
            pipe.send(0.0)
        elif request == CASES:
            pipe.send(usual_cases())
        else:
            assert loop is not None
            pipe.send(loop.seconds(request))


class Worker:
    """A process with one of the packages."""

    def __init__(self, folder: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (str(Path(folder).resolve()), theirs)
        self.process = context.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()  # or the end of the process would never be seen here

    def ask(self, request: Case | int | str) -> Any:
        """Return the seconds of a number of steps, 0 once a case has begun, or the cases."""
        self.pipe.send(request)
        return self.pipe.recv()

    def end(self) -> None:
        """Let the process go."""
        self.pipe.send(None)
        self.process.join()


def steps_of_slice(before: Worker, after: Worker, seconds: float) -> int:
    """Return how many steps take about so long, both being warm then."""
    steps = 1
    while (took := before.ask(steps)) < seconds / 4:
        after.ask(steps)
        steps *= 2
    return max(1, round(steps * seconds / took))


def compare(before: Worker, after: Worker, slices: int, steps: int) -> list[tuple[float, float]]:
    """Return the seconds of both in each slice; they take turns in going first."""
    pairs = []
    for k in range(slices):
        if k % 2 == 0:
            first = before.ask(steps)
            pairs.append((first, after.ask(steps)))
        else:
            second = after.ask(steps)
            pairs.append((before.ask(steps), second))
    return pairs


def show(case: Case, steps: int, pairs: list[tuple[float, float]]) -> None:
    """Print the line of one case."""
    ratios = [before / after for before, after in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    best = [case.worlds * steps / min(times) / 1e6 for times in zip(*pairs, strict=True)]
    print(
        f"{case.name:18} {case.worlds:8,} {best[0]:10.3f} {best[1]:10.3f} "
        f"{middle:7.3f}  {low:.3f} to {high:.3f}",
        flush=True,
    )


def main() -> None:
    """Compare the two builds case by case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", help="folder with a built package gpu_envs")
    parser.add_argument("after", help="folder with the build to judge")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="ID:WORLDS")
    parser.add_argument("--slices", type=int, default=40, help="slices of each build (default 40)")
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="seconds of a slice (default 0.1)"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of each build (default 1)")
    parser.add_argument("--dtype", help="of the actions (default int64 or float32)")
    parser.add_argument(
        "--varies", nargs="+", default=[], metavar="NAME", help="worlds of AFTER have their own"
    )
    given = parser.parse_args()
    before, after = Worker(given.before), Worker(given.after)
    titles = ("worlds", "M steps/s", "after", "ratio")
    print("{:18} {:>8} {:>10} {:>10} {:>7}  quartiles".format("environment", *titles))
    for text in given.cases or after.ask(CASES):
        name, _, worlds = text.partition(":")
        case = Case(name, int(worlds), given.threads, given.dtype)
        before.ask(case), after.ask(replace(case, varies=tuple(given.varies)))
        steps = steps_of_slice(before, after, given.seconds)
        show(case, steps, compare(before, after, given.slices, steps))
    before.end()
    after.end()


if __name__ == "__main__":
    main()
