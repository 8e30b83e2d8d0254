"""Run the native tests of a build: those that are proven count as passed.

    .venv/bin/python scripts/checks/native_tests.py [--build build/dev] [--anew] [--list] [NAME ...]

NAME is a regular expression, such as `executors_lanes` or `envs.cartpole$`; without any, all run.
CMake lists the programs and what each is a function of in `tests.json` of the build; how a source
says it, kernels/cmake/native_tests.cmake tells. A program is not run again where its bytes, its
libraries, arguments, files and variables are those of a run that passed on this machine
(scripts/checks/proofs.py), unless its source has `// runs always`. It runs in a folder that has the
declared files and no others, with a fixed list of variables, so that nothing undeclared can matter.
The longest begin first.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.building import places  # noqa: E402
from gpu_envs.building.objects import digest  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.checks import proofs  # noqa: E402

# A user may set these; they are part of a proof's name. No others reach a program.
PASSED = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "GE_EXHAUSTIVE")
FIXED = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
PATIENCE = 1500.0  # [s]; a program that takes longer hangs
INTERRUPTED = 130
_FOLDER = "gpu_envs_test_"  # of a program, with the number of its runner


@dataclass(frozen=True)
class Test:
    """One program, as CMake has listed it; the paths in `reads` are those in the tree."""

    name: str
    program: Path
    launcher: tuple[str, ...]
    reads: tuple[str, ...]
    loads: tuple[Path, ...]
    always: str

    @classmethod
    def of(cls, said: dict[str, Any], build: Path) -> Test:
        """Return the test that a line of `tests.json` describes."""
        return cls(
            name=said["name"],
            program=build / said["program"],
            launcher=tuple(said["launcher"]),
            reads=tuple(said["reads"]),
            loads=tuple(build / name for name in said["loads"]),
            always=" ".join(said["always"]),
        )

    def files(self, root: Path) -> Iterator[tuple[str, Path]]:
        """Yield the files that it declares: path in the tree, and where it is."""
        for name in self.reads:
            path = root / name
            below = sorted(path.rglob("*")) if path.is_dir() else [path]
            for found in below:
                if not found.is_dir():
                    yield str(found.relative_to(root)), found


@dataclass(frozen=True)
class Outcome:
    """What a run gave; `proof` is the name under which it may be kept."""

    passed: bool
    seconds: float
    printed: str
    proof: str = ""


def listed(build: Path) -> list[Test]:
    """Return the tests of a build."""
    path = build / "tests.json"
    try:
        return [Test.of(said, build) for said in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        raise places.CannotBuild(f"there is no {path}: configure the build with CMake") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise places.CannotBuild(f"{path} is damaged: configure the build with CMake") from None


def variables() -> dict[str, str]:
    """Return the variables of every program, but for those that name its folder."""
    return FIXED | {name: os.environ[name] for name in PASSED if name in os.environ}


def name_of(test: Test, root: Path) -> str:
    """Return the name of the proof: a hash of all that the result depends on."""
    parts = ["native test", proofs.machine(), proofs.of_program(test.program, test.loads)]
    parts += ["launcher", *test.launcher]
    for name, path in test.files(root):
        parts += ["reads", name, proofs.content(path)]
    for name, value in sorted(variables().items()):
        parts += ["variable", name, value]
    return digest(*parts)


class Runner:
    """Runs programs, each in a folder of its own; `stop` ends those that run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, test: Test, proof: str) -> Outcome:
        """Run one test."""
        begun = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}_") as folder:
                status, printed = self._run_in(Path(folder), test)
            # What was linked again while it ran is another program.
            still = not proof or name_of(test, self.root) == proof
        except OSError as problem:
            return Outcome(False, time.monotonic() - begun, f"{problem}\n")
        seconds = time.monotonic() - begun
        return Outcome(status == 0, seconds, printed, proof if still else "")

    def _run_in(self, folder: Path, test: Test) -> tuple[int, str]:
        tree, temporary = folder / "tree", folder / "tmp"
        tree.mkdir()
        temporary.mkdir()
        for name, path in test.files(self.root):
            if not path.exists():
                return 1, f"{test.name} is said to read {path}, which does not exist\n"
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).symlink_to(path)
        with self._lock:
            if self._stopped:
                return 1, "stopped\n"
            process = subprocess.Popen(
                [*test.launcher, str(test.program)],
                cwd=tree,
                env=variables() | {"HOME": str(temporary), "TMPDIR": str(temporary)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # ended with all that it has begun
                preexec_fn=_end_with(os.getpid()),
            )
            self._running.add(process)
        try:
            printed = process.communicate(timeout=PATIENCE)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            _end(process)
            printed = process.communicate()[0].decode(errors="replace")
            printed += f"ended after {PATIENCE:.0f} s\n"
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode < 0:
            with contextlib.suppress(ValueError):
                printed += f"ended by {signal.Signals(-process.returncode).name}\n"
        return process.returncode, printed

    def stop(self) -> None:
        """End what runs, and begin nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


_prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux has it
_PR_SET_PDEATHSIG = 1


def _end_with(runner: int) -> Callable[[], None] | None:
    """Return what a program does first: it asks to be killed when its runner is."""
    prctl, kill = _prctl, int(signal.SIGKILL)
    if prctl is None:
        return None

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, kill, 0, 0, 0)
        if os.getppid() != runner:  # it is gone already
            os._exit(1)

    return ask


def remove_leftovers() -> None:
    """Remove the folders of runners that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*_*"):
        number = folder.name.removeprefix(_FOLDER).partition("_")[0]
        with contextlib.suppress(OSError, ValueError):
            if folder.lstat().st_uid == os.geteuid() and not _lives(int(number)):
                shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Seconds:
    """How long each test of a build took when it was run last, on this machine."""

    def __init__(self, build: Path) -> None:
        self._path = places.store_folder() / "native_tests.json"
        self._prefix = f"{build.name} "
        self._held: dict[str, float] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            for name, seconds in found.items() if isinstance(found, dict) else ():
                if isinstance(seconds, float) and math.isfinite(seconds):
                    self._held[str(name)] = seconds

    def of(self, test: Test) -> float | None:
        """Return the seconds of a test; None where it never ran."""
        return self._held.get(self._prefix + test.name)

    def note(self, test: Test, seconds: float) -> None:
        """Take what a run took."""
        self._held[self._prefix + test.name] = round(seconds, 2)

    def save(self) -> None:
        """Write them where the next run looks; a store that cannot be written has none."""
        with contextlib.suppress(OSError):
            places.write(self._path, json.dumps(self._held, indent=0, sort_keys=True))


def longest_first(tests: Sequence[Test], seconds: Seconds) -> list[Test]:
    """Return the tests in the order to begin them; those that nobody has timed first, by size."""

    def weight(test: Test) -> tuple[float, int]:
        size = test.program.stat().st_size if test.program.exists() else 0
        known = seconds.of(test)
        return math.inf if known is None else known, size

    return sorted(tests, key=weight, reverse=True)


def _say(text: str) -> None:
    print(text, flush=True)


def run_all(tests: Sequence[Test], build: Path, root: Path, *, anew: bool, jobs: int) -> int:
    """Run what is not proven; return the exit status."""
    begun = time.monotonic()
    remove_leftovers()
    kept, seconds = proofs.Proofs(anew=anew), Seconds(build)
    names: dict[str, str] = {}
    proven: list[Test] = []
    for test in tests:
        with contextlib.suppress(OSError):  # the run says what is missing
            names[test.name] = "" if test.always else name_of(test, root)
        if names.get(test.name) and kept.hold(names[test.name]):
            proven.append(test)
            _say(f"proven before       {test.name}")
    left = longest_first([test for test in tests if test not in proven], seconds)
    failed, passed, stopped = [], 0, False
    runner = Runner(root)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        runs = {pool.submit(runner.run, test, names.get(test.name, "")): test for test in left}
        try:
            for number, done in enumerate(as_completed(runs), start=1):
                test, outcome = runs[done], done.result()
                word = "passed" if outcome.passed else "FAILED"
                _say(f"{word} {outcome.seconds:10.1f} s  {test.name}  ({len(left) - number} left)")
                if outcome.passed:
                    passed += 1
                    seconds.note(test, outcome.seconds)
                    if outcome.proof:
                        kept.keep(outcome.proof, f"{build.name} {test.name}", outcome.seconds)
                else:
                    failed.append(test.name)
                    _say(outcome.printed)
        except KeyboardInterrupt:
            stopped = True
            runner.stop()
            pool.shutdown(cancel_futures=True)
    seconds.save()
    for name in failed:
        _say(f"failed: {name}")
    if kept.problem:
        _say(f"native tests: {kept.problem}")
    minutes, rest = divmod(round(time.monotonic() - begun), 60)
    _say(
        f"native tests: {passed} passed, {len(proven)} proven before, {len(failed)} failed, "
        f"in {minutes}:{rest:02d}" + (", then stopped" if stopped else "")
    )
    return INTERRUPTED if stopped else int(bool(failed))


def show(tests: Sequence[Test], build: Path) -> None:
    """Print the tests, the seconds of each and why some run always."""
    seconds = Seconds(build)
    for test in longest_first(tests, seconds):
        known = seconds.of(test)
        took = "       ?" if known is None else f"{known:8.1f}"
        _say(f"{took} s  {test.name}" + (f"  (always: {test.always})" if test.always else ""))


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="regular expressions of names")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/dev", help="folder of the build; build/dev"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--anew", action="store_true", help="run what is proven too")
    parser.add_argument("--list", action="store_true", help="show the tests, and run none")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time"
    )
    options = parser.parse_args(arguments)
    build = Path(os.path.abspath(options.build))
    try:
        patterns = [re.compile(name) for name in options.names]
        tests = [
            test
            for test in listed(build)
            if not patterns or any(pattern.search(test.name) for pattern in patterns)
        ]
        if not tests:
            raise places.CannotBuild(f"no test of {build} is called so")
        if options.list:
            show(tests, build)
            return 0
        signal.signal(signal.SIGTERM, _stop)
        return run_all(tests, build, options.root, anew=options.anew, jobs=max(1, options.jobs))
    except (places.CannotBuild, re.error) as problem:
        print(f"native tests: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    broken_pipes.go_on_quietly()
    sys.exit(main(sys.argv[1:]))
