"""Measures what one environment adds to the checks.

Usage: .venv/bin/python scripts/checks/check_costs.py HideSeek-v0

For a tree in which `.ci/run` has passed. An id with or without its version is taken, and a header's
name such as `hide_seek`. Compiling: a comment is put into the environment's header and everything
that the checks build is brought up to date; what that takes is what the environment costs, since
nothing else is built. Running: the native programs that have its name, whatever is proven of them,
and the tests of pytest that have its name or ids, without collecting them. Everything is put back.

The columns are seconds of processors, of a program and of all that it starts. Cold is where nothing
was compiled or proven before; warm is where all of it was. The budgets stand in docs/checks.md and
are for the machine that its minutes are of. `--parts` measures some of it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.checks import ninja_plan
from scripts.checks.nearest import Tree
from scripts.checks.ninja_plan import NINJA

ROOT = Path(__file__).resolve().parents[2]
from gpu_envs import errors  # noqa: E402
from gpu_envs.building import places  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

PYTHON, CMAKE = str(ROOT / ".venv/bin/python"), str(ROOT / ".venv/bin/cmake")
JOBS = str(os.cpu_count())
PARTS = ("modules", "native", "sanitizers", "cuda", "running", "pytest")
BOARD, BODIES = 60, 150  # budgets of the cold gate [s of processors]
BODIES_OF = ("kernels/physics/", "kernels/cameras/", "kernels/voxel/")
_TARGET = re.compile(r"CMakeFiles/([^/]+)\.dir/")
_BUILDS = ("plain", "block1", "block32", "shuffled", "lanes", "flat", "cuda")
_USERS = ("env", "envs")  # objects that users load, in their libraries


@dataclass(frozen=True)
class Row:
    """What a part adds, in seconds of processors."""

    part: str
    cold: float
    warm: float = 0.0


class Clock:
    """Measures the processors' time of commands that run one after another."""

    def __init__(self) -> None:
        self._environment = os.environ | {"CXXFLAGS": "-Werror"}  # as .ci/run

    def seconds(self, *command: str, also: Sequence[int] = ()) -> float:
        """Run a command in the tree; `also` are statuses that are no failures."""
        before = _children()
        done = subprocess.run(
            command, cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, *also):
            said = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
            raise SystemExit(f"{' '.join(command)} failed:\n{said}")
        return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _changed(path: Path, text: str) -> Iterator[None]:
    """Give a file another text, for a while; SIGTERM ends the while."""
    held = path.read_text(encoding="utf-8")
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        path.write_text(text, encoding="utf-8")
        yield
    finally:
        path.write_text(held, encoding="utf-8")
        signal.signal(signal.SIGTERM, before)


def _stop(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


# ---- compiling


def build_of(path: str) -> str:
    """Return the build that an object of CMake's targets is of."""
    said = _TARGET.search(path)
    target = said[1] if said else ""
    if target.startswith("test."):
        return "tests' own sources"
    word = target.removeprefix("ge_").removeprefix("build_").split("_")[0]
    if word in _USERS:
        return "plain"
    return word if word in _BUILDS else "other"


def by_build(objects: Iterable[str]) -> dict[str, list[str]]:
    """Return objects of CMake's targets by the build that they are of."""
    found: dict[str, list[str]] = {}
    for path in objects:
        found.setdefault(build_of(path), []).append(path)
    return found


def _native(clock: Clock, folder: str) -> Iterator[tuple[str, float]]:
    """Yield what the native programs of a folder take, by build."""
    ninja = (NINJA, "-C", folder)
    ninja_plan.refresh(ROOT / folder)
    planned = ninja_plan.objects(ROOT / folder, "tests")
    for build, objects in by_build(planned).items():
        yield build, clock.seconds(*ninja, *objects)
    yield "linking", clock.seconds(*ninja, "tests")


def compiling(clock: Clock, header: Path, parts: Sequence[str]) -> Iterator[Row]:
    """Yield what each build takes after an edit of a header, beyond finding nothing to do."""
    steps: dict[str, Callable[[], list[tuple[str, float]]]] = {
        "modules": lambda: [("", clock.seconds(PYTHON, "-m", "gpu_envs", "build"))],
        "native": lambda: list(_native(clock, "build/dev")),
        "sanitizers": lambda: [("", sum(took for _, took in _native(clock, "build/asan")))],
        "cuda": lambda: [
            ("", clock.seconds(PYTHON, "-m", "gpu_envs", "build", "--target", "cuda"))
        ],
    }
    steps = {name: step for name, step in steps.items() if name in parts}
    idle = {}
    for name, step in steps.items():
        _configure(name)
        step()
        idle[name] = dict(step())
    note = f"\n// measured at {time.time()}\n"
    with _changed(header, header.read_text(encoding="utf-8") + note):
        for name, step in steps.items():
            for inner, took in step():
                label = f"compiling: {name}" + f", {inner}" * bool(inner)
                yield Row(label, max(0.0, took - idle[name].get(inner, 0.0)))
    for step in steps.values():
        step()


def _configure(part: str) -> None:
    preset = {"native": "dev", "sanitizers": "asan"}.get(part)
    if preset:
        command = [CMAKE, "--preset", preset, f"-DCMAKE_MAKE_PROGRAM={NINJA}"]
        command.append(f"-DGE_PYTHON={PYTHON}")
        subprocess.run(command, cwd=ROOT / "kernels", capture_output=True, check=True)


# ---- running


def programs_of(stem: str) -> str:
    """Return the expression of the native programs that are an environment's."""
    return rf"^envs\.{stem}(_lanes|_shuffled|_flat|_blocks.*)?$|\.{stem}$"


def running(clock: Clock, stem: str) -> Iterator[Row]:
    """Yield what an environment's native programs take, with sanitizers and without."""
    for folder in ("build/dev", "build/asan"):
        command = [
            PYTHON,
            str(ROOT / "scripts/checks/native_tests.py"),
            "--build",
            folder,
            "--anew",
        ]
        listed = subprocess.run(
            [*command, "--list", programs_of(stem)], cwd=ROOT, capture_output=True, check=False
        )
        if listed.returncode == 0:
            took = clock.seconds(*command, programs_of(stem))
            yield Row("running: native" + ", sanitized" * (folder == "build/asan"), took)


def python(clock: Clock, stem: str, ids: Sequence[str]) -> Row:
    """Return what an environment's tests take in pytest, beyond collecting them."""
    command = [PYTHON, "-m", "pytest", "-q", "-n", "0", "-k", " or ".join([stem, *ids])]
    collected = clock.seconds(*command, "--collect-only")
    took = clock.seconds(*command) - collected
    return Row("running: pytest", took, took)


# ---- the table


def find(name: str, tree: Tree) -> str:
    """Return the stem of an environment by it, or by an id with or without its version."""
    known = {stem: stem for stem in places.environments()}
    for full, path in tree.ids.items():
        if (stem := Path(path).stem) in places.environments():
            known |= {full: stem, full.rpartition("-v")[0]: stem}
    bare = name.removeprefix("gpu_envs/")
    if bare not in known:
        raise ValueError(errors.unknown("environment", name, sorted(known)))
    return known[bare]


def budget(header: str, tree: Tree) -> tuple[int, str]:
    """Return what an environment may add to the cold gate, and why so much."""
    seen, waiting = set(), [header]
    while waiting:
        seen.add(one := waiting.pop())
        waiting += [name for name in tree.needs.get(one, {}) if name not in seen]
    for folder in BODIES_OF:
        if any(name.startswith(folder) for name in seen):
            return BODIES, f"it includes {folder.rstrip('/')}"
    return BOARD, "it includes neither physics nor pictures that agents see"


def table(name: str, rows: Sequence[Row], allowed: int, why: str) -> str:
    """Return the rows, their sum and what that is of the budget, as lines."""
    lines = [f"{name:<44} {'cold':>8} {'warm':>8}   seconds of processors"]
    cold, warm = sum(row.cold for row in rows), sum(row.warm for row in rows)
    for row in [*rows, Row("all", cold, warm)]:
        lines.append(f"  {row.part:<42} {row.cold:8.1f} {row.warm:8.1f}")
    over = cold - allowed
    verdict = f"above it by {over:.0f}" if over > 0 else f"within it, {-over:.0f} are left"
    lines.append(f"  budget of the cold gate: {allowed} ({why}): {verdict}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="ID", help="such as HideSeek-v0 or hide_seek")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all of these"
    )
    options = parser.parse_args()
    tree, clock = Tree(), Clock()
    known = places.environments()
    try:
        stems = [find(name, tree) for name in options.names]
    except ValueError as problem:
        parser.error(str(problem))
    for name, stem in zip(options.names, stems, strict=True):
        path = str(known[stem].relative_to(ROOT))
        ids = sorted(id for id, header in tree.ids.items() if header == path)
        rows = list(compiling(clock, known[stem], options.parts))
        if "running" in options.parts:
            rows += running(clock, stem)
        if "pytest" in options.parts:
            rows.append(python(clock, stem, ids))
        print(table(name, rows, *budget(path, tree)), flush=True)


if __name__ == "__main__":
    broken_pipes.end_quietly()
    main()
