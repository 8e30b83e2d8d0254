#!/usr/bin/env python3
"""Show which instructions of the PTX no lane has executed, by kernel and source line.

    .venv/bin/python scripts/ptx/coverage.py [STEM ...] [--recorded | --small] [--seconds N]

Runs the recorded hashes of tests/golden in all ways (golden.py beside this) and the small cases
(small_cases.py), and counts. STEM is an environment's file without its ending; without one, all
that ship. Modules are compiled with line information and lie in a folder of their own,
`build/ptx_lines`: the tree's modules stay as they are. An instruction is executed if at least one
lane has been active in it. Every kernel has to reach 90 per cent, all together 95, with what
unreached.json explains: code that no simulator can reach. `--show` prints the last run again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.building import places, toolchain  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.checks import golden_cases  # noqa: E402
from scripts.ptx import golden, interpreter, learner_cases, reached, small_cases  # noqa: E402
from scripts.ptx.reached import Reached  # noqa: E402

OF_A_KERNEL, OF_ALL = 90.0, 95.0  # per cent
REASONS = Path(__file__).with_name("unreached.json")


def folder() -> Path:
    """Return the folder of what is compiled with line information."""
    return places.build_folder() / "ptx_lines"


def use_own_modules() -> None:
    """Let this process build and load modules of that folder."""
    os.environ["GPU_ENVS_CUDA_RUNTIME"] = "interpreted"
    os.environ["GPU_ENVS_CUDA_LINES"] = "1"
    os.environ["GPU_ENVS_CACHE"] = str(folder() / "cache")
    places.MODULES = folder() / "modules"


@dataclass(frozen=True)
class Task:
    """Runs of one environment in a process of its own."""

    stem: str
    name: str = ""  # the id whose small cases these are; empty: recorded runs
    part: int = 0  # of the small cases, every PARTS-th from here on; of WAYS, which

    def __str__(self) -> str:
        if self == LEARNER:
            return "learner"
        if self.name:
            return f"{self.name}, small cases, part {self.part + 1} of {PARTS}"
        ways = WAYS[self.part]
        return f"{self.stem}, {ways[0].name}{' and others' if len(ways) > 1 else ''}"


LEARNER = Task("", "learner")
PARTS = 2
# Ways with settings of the interpreter have a process each; the others share one.
_PLAIN = tuple(way for way in golden.ALL_WAYS if not way.settings)
WAYS = (_PLAIN, *((way,) for way in golden.ALL_WAYS if way.settings))


@dataclass
class Outcome:
    """What came of a task."""

    task: Task
    reached: Reached
    ran: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run(task: Task, most_seconds: float) -> Outcome:
    """Run a task and return the instructions that its kernels have executed.

    Args:
        task: What is run.
        most_seconds: For each tier and way to kernels, after which no further case is drawn.
    """
    use_own_modules()
    interpreter.set_to(counts=1)
    begun = time.monotonic()
    outcome = Outcome(task, Reached())
    if task == LEARNER:
        outcome.ran, outcome.wrong = learner_cases.run()
    elif task.name:
        streams = small_cases.streams_of(task.name)[task.part :: PARTS]
        drawn = (stream.until_quiet(most_seconds) for stream in streams)
        kinds = small_cases.kinds_of(task.name)[task.part :: PARTS]
        cases = small_cases.run_cases(task.name, itertools.chain(*drawn, kinds))
        outcome.ran, outcome.wrong = cases.ran, cases.wrong
    for way in () if task.name else WAYS[task.part]:
        runs = golden.run(task.stem, way, golden_cases.FOLDER)
        outcome.ran += runs.runs
        outcome.wrong += [f"{way.name}: {line}" for line in runs.wrong]
    outcome.reached = reached.of_report(interpreter.report())
    outcome.seconds = time.monotonic() - begun
    return outcome


def tasks_of(stem: str, *, recorded: bool, small: bool) -> list[Task]:
    """Return the runs of an environment."""
    found = []
    if recorded and (golden_cases.FOLDER / f"{stem}.txt").exists():
        found += [Task(stem, part=part) for part in range(len(WAYS))]
    if small:
        ids = [n for n in registration.environments() if registration.home(n).stem == stem]
        found += [Task(stem, name, part) for name in ids for part in range(PARTS)]
    return found


def built(stems: Sequence[str]) -> Reached:
    """Return all kernels of the engine and of these modules, with nothing executed."""
    files = [places.engine_file(places.PTX)]
    files += [places.module_file(stem, places.PTX) for stem in stems]
    return reached.of_files(files)


def run_all(
    tasks: Sequence[Task], given: argparse.Namespace, recorded: Reached, whole: Reached
) -> list[str]:
    """Run tasks in processes; add what they reach, and return what was wrong."""
    wrong = []
    with get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as processes:
        begun = [(t, processes.apply_async(run, (t, given.seconds))) for t in tasks]
        for task, running in begun:
            try:
                outcome = running.get()
            except Exception as problem:  # a fault of a kernel
                outcome = Outcome(task, Reached(), wrong=[f"{task}: {problem}"])
            whole.add(outcome.reached)
            if not task.name:
                recorded.add(outcome.reached)
            wrong += outcome.wrong
            said = f"{outcome.ran} runs, {outcome.seconds:.1f} s, {whole.summary()}"
            print(f"{task}: {said}", flush=True)
            for line in outcome.wrong:
                print(f"  DIFFERS: {line}", flush=True)
    return wrong


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stems", nargs="*", metavar="STEM", help="such as cartpole; none: all")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--recorded", action="store_true", help="run recorded hashes only")
    which.add_argument("--small", action="store_true", help="run small cases only")
    which.add_argument("--show", action="store_true", help="run nothing, show the last run")
    parser.add_argument("--add", action="store_true", help="to what the last run has reached")
    parser.add_argument(
        "--seconds", type=float, default=80.0, help="most for the drawn cases of a way to kernels"
    )
    parser.add_argument("--lines", type=int, default=20, help="source lines shown per module")
    parser.add_argument("--json", type=Path, help="keep what was reached in this file")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser


def main(argv: Sequence[str]) -> int:
    """Build, run, and report; 1 where a result differs or too little was reached."""
    given = _parser().parse_args(argv)
    use_own_modules()
    own = places.environments()
    if unknown := [stem for stem in given.stems if stem not in own]:
        _parser().error(f"{unknown[0]} is not an environment's file; there are {', '.join(own)}")
    stems, file = given.stems or list(own), given.json or folder() / "reached.json"
    wrong: list[str] = []
    recorded, whole = Reached(), Reached()
    if given.show or given.add:
        held = json.loads(file.read_text(encoding="utf-8"))
        recorded, whole = (reached.read(held[key]) for key in ("recorded", "all"))
    if not given.show:
        try:
            golden.build(stems)
            native.cpu()
        except toolchain.CannotBuild as problem:
            print(f"scripts/ptx/coverage.py: {problem}", file=sys.stderr)
            return 1
        tasks = [
            task
            for stem in stems
            for task in tasks_of(stem, recorded=not given.small, small=not given.recorded)
        ]
        tasks = tasks if given.recorded else [LEARNER, *tasks]
        recorded.add(built(stems))
        whole.add(built(stems))
        wrong = run_all(tasks, given, recorded, whole)
        held = {"recorded": recorded.as_json(), "all": whole.as_json()}
        file.write_text(json.dumps(held), encoding="utf-8")
    reasons = reached.read_reasons(REASONS)
    problems = reached.judge(whole, reasons, OF_A_KERNEL, OF_ALL, is_all=not given.stems)
    print(reached.table(recorded, whole, reasons, given.lines))
    for problem in problems:
        print(f"MISSED: {problem}")
    return int(bool(wrong or problems))


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
