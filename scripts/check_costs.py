"""What one environment adds to the checks: `.venv/bin/python scripts/check_costs.py hide_seek`.

For a tree in which `.ci/run` has passed on an otherwise idle machine. Compiling: a comment is put
into the environment's header and everything that the checks build is brought up to date; what that
takes is what the environment costs, since nothing else is built. Running: the executors' programs
with and without its recorded hashes (all but one of them), and the tests of pytest that have its
name. Everything is put back as it was. The columns are seconds on the wall, with as many jobs as
there are processors.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu_envs import errors, pipes  # noqa: E402
from gpu_envs.building import places  # noqa: E402

PYTHON, CMAKE = str(ROOT / ".venv/bin/python"), str(ROOT / ".venv/bin/cmake")
JOBS = str(os.cpu_count())


def _seconds(*command: str) -> float:
    """Run a command in the tree as `.ci/run` does."""
    environment = os.environ | {"CXXFLAGS": "-Werror"}
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return time.monotonic() - begin


@contextlib.contextmanager
def _changed(path: Path, text: str) -> Iterator[None]:
    """Give a file another text, for a while."""
    held = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(held, encoding="utf-8")


def _building(header: Path) -> Iterator[tuple[str, float]]:
    """Yield what each build takes after an edit of a header, beyond finding nothing to do."""
    steps = {
        "modules": [PYTHON, "-m", "gpu_envs", "build"],
        "native tests' programs": [CMAKE, "--build", "build/dev", "-j", JOBS, "--target", "tests"],
        "sanitized programs": [CMAKE, "--build", "build/asan", "-j", JOBS, "--target", "tests"],
        "CUDA": [PYTHON, "-m", "gpu_envs", "build", "--target", "cuda"],
    }
    idle = {}
    for name, command in steps.items():
        _seconds(*command)
        idle[name] = _seconds(*command)
    note = f"\n// measured at {time.time()}\n"
    with _changed(header, header.read_text(encoding="utf-8") + note):
        for name, command in steps.items():
            yield f"compiling: {name}", _seconds(*command) - idle[name]
    for command in steps.values():
        _seconds(*command)


def _native(stem: str) -> float:
    """Return what the environment's recorded hashes take in the native tests."""
    file = ROOT / "tests" / "golden" / f"{stem}.txt"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    run = [str(ROOT / ".venv/bin/ctest"), "--test-dir", "build/dev", "-j", JOBS]
    run += ["-R", f"executors_(shuffled|lanes|flat|blocks)|envs.{stem}$"]
    whole = _seconds(*run)
    with _changed(file, "".join(lines[: first + 1])):
        return whole - _seconds(*run, "-E", f"envs.{stem}$")


def _python(stem: str) -> float:
    """Return what the environment's tests take in pytest, by their own clocks."""
    text = (places.CATALOGUE / f"{stem}.json").read_text(encoding="utf-8")
    names = sorted(set(re.findall(r'"id": "(\w+-v\d+)"', text)))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        chosen = " or ".join([stem, *names])
        _seconds(PYTHON, "-m", "pytest", "-q", "-n", "auto", f"--junitxml={report}", "-k", chosen)
        cases = ElementTree.parse(report).iter("testcase")
        return sum(float(case.get("time", 0)) for case in cases) / int(JOBS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stems", nargs="+", metavar="STEM", help="a header's name")
    known = places.environments()
    for stem in parser.parse_args().stems:
        if stem not in known:
            parser.error(errors.unknown("header", stem, known))
        rows = [*_building(known[stem])]
        rows.append(("running: native tests", _native(stem)))
        rows.append(("running: pytest", _python(stem)))
        print(f"{stem:<36} seconds")
        for name, seconds in [*rows, ("all", sum(seconds for _, seconds in rows))]:
            print(f"  {name:<34} {seconds:7.1f}", flush=True)


if __name__ == "__main__":
    pipes.end_quietly()
    main()
