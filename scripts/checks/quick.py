"""Lint, then the tests nearest to what changed, within two minutes: `make quick`.

Usage: scripts/checks/quick.py [--since REVISION] [--seconds 120] [--list]
       scripts/checks/quick.py --record REPORT

What changed is what differs from REVISION (default: where this branch left origin/main or main) in
the working tree. Tests are taken by how many includes, imports and names they are away from it
(nearest.py), as long as the seconds that they took last time, and those that compiling for them
takes, fit into the time. What is left out is named, and so is what the time did not suffice for. It
is a look at what is near, not a proof: that is `scripts/test`.

`--list` only says what it would run. `--record` keeps the seconds of test files from a report
(scripts/checks/pytest_times.py), as `scripts/test` and this script do after a run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from gpu_envs.building import places, upkeep
from gpu_envs.known import native, registration
from gpu_envs.terminal import broken_pipes
from scripts.checks import minutes, nearest, ninja_plan, pytest_times
from scripts.checks.nearest import ROOT, Tree
from scripts.checks.ninja_plan import NINJA

PYTHON = str(ROOT / ".venv/bin/python")
BUILD = ROOT / "build" / "dev"
JOBS = len(os.sched_getaffinity(0))
_RECORD = "durations.json"
_UNKNOWN = {"pytest": 4.0, "native": 2.0, "module": 20.0, "engine": 40.0, "object": 4.0}  # [s]
_START = 8.0  # [s] that pytest takes before the first test
_NATIVE = 30  # as many of the nearest native tests are looked at
_GRACE = 2.0  # [s]
_BUSY = 0.8  # of the processors' time that tests make use of
_SHOWN = 12


@dataclass(frozen=True)
class Candidate:
    """One that may be run: a file of pytest's, with `ids` for these environments, or a program."""

    kind: str  # pytest or native
    name: str
    distance: float
    seconds: float  # of a processor
    ids: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()  # what has to be compiled first

    def __str__(self) -> str:
        return f"{self.name} -k {' or '.join(self.ids)}" if self.ids else self.name


def choose(
    tests: Iterable[Candidate], budget: float, compiling: Callable[[str], float]
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the nearest tests that fit into the seconds of processors, and those left out.

    A part that several need is compiled once. One that does not fit leaves room for later ones.
    """
    chosen: list[Candidate] = []
    left: list[Candidate] = []
    made = set[str]()
    for test in sorted(tests, key=lambda test: (test.distance, test.seconds, test.name)):
        starts = 0.0 if test.kind in {one.kind for one in chosen} else _starting(test.kind)
        cost = starts + test.seconds + sum(compiling(part) for part in test.parts - made)
        if cost > budget:
            left.append(test)
            continue
        budget -= cost
        made |= test.parts
        chosen.append(test)
    return chosen, left


def _starting(kind: str) -> float:
    return _START if kind == "pytest" else 0.0


# ---- what there is to choose from


def python_tests(tree: Tree, near: dict[str, float], seconds: dict[str, float]) -> list[Candidate]:
    """Return the files of pytest's that lead to a change, with the modules that are to be built."""
    old = _old_modules()
    edited = {name: near[path] for name, path in tree.ids.items() if path in near}
    edited = {name: steps for name, steps in edited.items() if name in registration.shipped()}
    found = []
    for name in sorted(near):
        path = Path(name)
        if not (name.startswith("tests/") and path.name.startswith("test_")):
            continue
        if path.suffix != ".py":
            continue
        if name.startswith("tests/contract/") and 0 < len(edited) <= 3:
            continue  # below, for what was edited
        took = seconds.get(name, _UNKNOWN["pytest"])
        needed = frozenset(old & _modules_of(tree, name)) if old else frozenset()
        found.append(Candidate("pytest", name, near[name], took, parts=needed))
    if 0 < len(edited) <= 3:
        found += _contract(tree, edited, seconds, old)
    return found


def _contract(
    tree: Tree, edited: dict[str, float], seconds: dict[str, float], old: set[str]
) -> list[Candidate]:
    """Return the tests of every environment, for those that were edited."""
    share = len(edited) / len(registration.shipped())
    stems = {Path(tree.ids[name]).stem for name in edited}
    needed = frozenset(old & {"engine", *(f"module {stem}" for stem in stems)})
    files = [name for name in tree.names if name.startswith("tests/contract/test_")]
    steps = min(edited.values()) + nearest.STEP
    return [
        Candidate(
            "pytest",
            name,
            steps,
            seconds.get(name, 10 * _UNKNOWN["pytest"]) * share,
            tuple(sorted(edited)),
            needed,
        )
        for name in files
    ]


def _old_modules() -> set[str]:
    """Return what of the package's native code is missing, or older than its sources."""
    target = native.cpu_target()
    found = set()
    if not upkeep.is_current(places.engine_file(target), target):
        found.add("engine")
    for stem in places.environments():
        if not upkeep.is_current(places.module_file(stem, target), target):
            found.add(f"module {stem}")
    return found


def _modules_of(tree: Tree, name: str) -> set[str]:
    """Return the modules that a test loads, as far as texts say: CartPole's stands for others."""
    every = {f"module {stem}" for stem in places.environments()}
    if name.startswith("tests/contract/"):
        return {"engine", *every}
    seen, waiting = set(), [name]
    while waiting:
        seen.add(one := waiting.pop())
        needed = tree.needs.get(one, {}).keys() - seen
        waiting += [other for other in needed if other.startswith("tests/")]
        seen |= needed
    named = {f"module {Path(path).stem}" for path in seen if path.startswith("kernels/envs/")}
    return {"engine", "module cartpole"} | (named & every)


def native_tests(tree: Tree, near: dict[str, float], took: dict[str, float]) -> list[Candidate]:
    """Return the native programs that lead to a change, with the objects that are to be made."""
    sources = [name for name in near if name.endswith("_test.cpp")]
    if not sources or not _configured():
        return []
    ninja_plan.refresh(BUILD)
    targets = _targets()
    found = [
        (distance, target)
        for source in sources
        for target, distance in programs_of(source, targets, tree, near).items()
    ]
    return [
        Candidate(
            "native",
            target,
            distance,
            took.get(target.removeprefix("test."), _UNKNOWN["native"]),
            parts=frozenset(ninja_plan.objects(BUILD, target)),
        )
        for distance, target in sorted(found)[:_NATIVE]
    ]


def programs_of(
    source: str, targets: Iterable[str], tree: Tree, near: dict[str, float]
) -> dict[str, float]:
    """Return the programs of a source and how far they are from a change.

    One that has the name of an environment behind it is of that environment, and of no other.
    """
    name = source.removeprefix("tests/kernels/").removesuffix("_test.cpp").replace("/", ".")
    through = [near[header] + nearest.STEP for header in tree.headers.values() if header in near]
    by_itself = not through or near[source] < min(through)
    found = {}
    for target in targets:
        beginning, _, last = target.removeprefix("test.").rpartition(".")
        if target == f"test.{name}" or (beginning == name and last not in tree.headers):
            found[target] = near[source]
        elif beginning == name and (by_itself or tree.headers[last] in near):
            header = near.get(tree.headers[last], near[source]) + nearest.STEP
            found[target] = near[source] if by_itself else header
    return found


def _configured() -> bool:
    cmake = [str(ROOT / ".venv/bin/cmake"), "--preset", "dev", f"-DGE_PYTHON={PYTHON}"]
    cmake.append(f"-DCMAKE_MAKE_PROGRAM={NINJA}")
    try:
        done = subprocess.run(
            cmake, cwd=ROOT / "kernels", capture_output=True, text=True, check=False
        )
        said = done.stderr.strip()
    except OSError as problem:
        said = str(problem)
    else:
        if done.returncode == 0:
            return True
    print(f"{said[-2000:]}\nquick: CMake failed: no native test is run")
    return False


def _targets() -> list[str]:
    command = [NINJA, "-C", str(BUILD), "-t", "targets", "all"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = (line.partition(": ")[0] for line in done.stdout.splitlines())
    return sorted({name for name in lines if name.startswith("test.")})


# ---- seconds of earlier runs


def times_of_objects() -> dict[str, float]:
    """Return what each output of the native build took last, as Ninja noted it."""
    found = {}
    with contextlib.suppress(OSError):
        for line in (BUILD / ".ninja_log").read_text(encoding="utf-8").splitlines():
            words = line.split("\t")
            if len(words) == 5:
                found[words[3]] = (int(words[1]) - int(words[0])) / 1e3
    return found


def times_of_native_tests() -> dict[str, float]:
    """Return what each native test took when it ran last on this machine."""
    try:
        path = places.store_folder() / "native_tests.json"
        found = json.loads(path.read_text(encoding="utf-8")).items()
        return {name.removeprefix("dev "): float(s) for name, s in found if name.startswith("dev ")}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def record(report: Path, *, whole: bool = True) -> None:
    """Keep the seconds of the files of a report.

    Where it is not `whole`, some tests are missing: the seconds are at least these.
    """
    seconds: dict[str, float] = {}
    for took in pytest_times.read(report):
        seconds[took.file] = seconds.get(took.file, 0.0) + took.seconds
    groups = minutes.read(_RECORD)
    known = groups.get("pytest", {})
    if not whole:
        seconds = {name: max(took, known.get(name, 0.0)) for name, took in seconds.items()}
    groups["pytest"] = known | seconds
    minutes.keep(_RECORD, groups)


# ---- running


class Clock:
    """The time that is left; what runs when it is over is ended."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return max(0.0, self._end - time.monotonic())

    def run(self, command: Sequence[str], *, quiet: bool = False) -> tuple[int | None, str]:
        """Run a command in the tree and return its status; None if it ran out of time."""
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            to = said if quiet else None
            running = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=to,
                stderr=to,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # ended with all that it has begun
            )
            status: int | None = None
            try:
                status = running.wait(self.left)
            except subprocess.TimeoutExpired:
                # Native tests are in sessions of their own: their runner ends them.
                running.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(_GRACE)
            finally:
                if status is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
            said.seek(0)
            return status, said.read()


def run_python(tests: Sequence[Candidate], clock: Clock) -> bool:
    """Build what they load and run files of pytest's; whether none failed."""
    parts = {part for test in tests for part in test.parts}
    if stems := sorted(part.split()[1] for part in parts if " " in part):
        status, _ = clock.run([PYTHON, "-m", "gpu_envs", "build", *stems])
        if status is None:
            return _over(tests)
        if status:
            return False
    some = [test for test in tests if test.ids]
    whole = [test for test in tests if not test.ids]
    passed = True
    for group in (some, whole):
        if group:
            passed = _run_pytest(group, clock) and passed
    return passed


def _run_pytest(tests: Sequence[Candidate], clock: Clock) -> bool:
    ids = tests[0].ids
    chosen = ["-k", " or ".join(ids)] if ids else []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "times"
        command = [*_pytest(tests), "-p", "scripts.checks.pytest_times", "--times", str(report)]
        status, _ = clock.run([*command, *chosen, *(test.name for test in tests)])
        if status is not None:
            if not ids:
                record(report)
            return status in (0, 5)  # 5: no test has these ids
        failures = [took.failed for took in pytest_times.read(report) if took.failed]
        if not ids:
            record(report, whole=False)
    print("", *failures, sep="\n")
    return _over(tests) and not failures


def _pytest(tests: Sequence[Candidate]) -> list[str]:
    processes = str(JOBS) if sum(test.seconds for test in tests) > _START else "0"
    return [
        PYTHON,
        "-m",
        "pytest",
        "-q",
        "--disable-warnings",
        "-n",
        processes,
        "--dist",
        "loadgroup",
    ]


def _over(tests: Sequence[Candidate]) -> bool:
    print(f"quick: the time was over before these had ended: {_names(tests)}")
    return True


def run_native(tests: Sequence[Candidate], clock: Clock) -> bool:
    """Build and run native programs, those of one distance together; whether none failed."""
    passed = True
    for distance in sorted({test.distance for test in tests}):
        group = [test for test in tests if test.distance == distance]
        if clock.left == 0.0:
            return _over([test for test in tests if test.distance >= distance]) and passed
        passed = _run_programs(group, clock) and passed
    return passed


def _run_programs(tests: Sequence[Candidate], clock: Clock) -> bool:
    targets = [test.name for test in tests]
    status, said = clock.run([NINJA, "-C", str(BUILD), *targets], quiet=True)
    if status == 0:
        names = [f"^{re.escape(target.removeprefix('test.'))}$" for target in targets]
        status, said = clock.run([PYTHON, "scripts/checks/native_tests.py", *names])
    if status is None:
        return _over(tests)
    if status:
        print(said)
    return status == 0


def _names(tests: Sequence[Candidate]) -> str:
    shown = ", ".join(map(str, tests[:_SHOWN]))
    return shown + (f", and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else "")


def base() -> str:
    """Return the commit where this branch left origin/main or main; HEAD where there is neither."""
    for name in ("origin/main", "main"):
        command = ["git", "merge-base", "HEAD", name]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return "HEAD"


def lint(clock: Clock) -> bool:
    """Lint; whether nothing was found, in time."""
    status, _ = clock.run(["make", "--silent", "lint"])
    if status is None:
        print("quick: the time was over before lint had ended")
    return status == 0


def candidates(changes: Sequence[str]) -> list[Candidate]:
    """Return the tests that lead to what changed."""
    tree = Tree(also=changes)
    near = tree.distances(changes)
    seconds = minutes.read(_RECORD).get("pytest", {})
    return [*python_tests(tree, near, seconds), *native_tests(tree, near, times_of_native_tests())]


def main() -> int:
    """Lint, choose, run, and say what was left out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", metavar="REVISION", help="what changed since this commit")
    parser.add_argument("--seconds", type=float, default=120.0, help="in all (default: 120)")
    parser.add_argument("--list", action="store_true", help="only say what would run")
    parser.add_argument("--record", type=Path, metavar="REPORT", help="keep times of a report")
    options = parser.parse_args()
    if options.record:
        record(options.record)
        return 0
    clock = Clock(options.seconds)
    if not options.list and not lint(clock):
        return 1
    changes = nearest.changed(options.since or base())
    times = times_of_objects()

    def compiling(part: str) -> float:
        kind = part.split()[0] if part.split()[0] in _UNKNOWN else "object"
        return times.get(part, _UNKNOWN[kind])

    tests = candidates(changes)
    chosen, left = choose(tests, clock.left * JOBS * _BUSY, compiling)
    print(f"quick: {len(changes)} files changed, {len(tests)} test files lead to them")
    if options.list:
        for test in (*chosen, *left):
            said = "      left out" if test in left else ""
            print(f"{test.distance:4.1f} steps {test.seconds:6.1f} s  {test}{said}")
        return 0
    if left:
        print(f"quick: the time does not suffice for {_names(left)}")
    print(f"quick: {_names(chosen) or 'there is no test to run'}", flush=True)
    passed = run_chosen(chosen, clock, compiling)
    print(f"quick: {'passed' if passed else 'failed'}, {clock.left:.0f} s were left")
    return 0 if passed else 1


def run_chosen(
    chosen: Sequence[Candidate], clock: Clock, compiling: Callable[[str], float]
) -> bool:
    """Run each kind, that of the nearest test first, within its share of the time."""
    passed, left = True, list(chosen)
    while left:
        kind = left[0].kind
        now = [test for test in left if test.kind == kind]
        left = [test for test in left if test.kind != kind]
        share = _cost(now, compiling) / (_cost(now, compiling) + _cost(left, compiling))
        run = run_python if kind == "pytest" else run_native
        passed = run(now, Clock(clock.left * share)) and passed
    return passed


def _cost(tests: Sequence[Candidate], compiling: Callable[[str], float]) -> float:
    """Return the processors' seconds that tests take, those of compiling for them included."""
    parts = {part for test in tests for part in test.parts}
    starting = sum(_starting(kind) for kind in {test.kind for test in tests})
    return starting + sum(test.seconds for test in tests) + sum(map(compiling, parts))


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
