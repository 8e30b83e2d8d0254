"""The steps of scripts/gpu/check.py that run other programs, and what the machine is."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.gpu import bundle as gpu_bundle
from scripts.gpu import native
from scripts.gpu import tune as tuning
from scripts.gpu.evidence import Evidence

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")  # of compute-sanitizer
_PACKAGES = ("numpy", "torch", "cupy-cuda13x", "gymnasium", "pettingzoo", "pytest", "pybind11")
_CUDA_TOOLS = f"{os.environ['PATH']}:/usr/local/cuda/bin"
_CUDA_TESTS = ("-m", "gpu", "tests")
_OUTCOME = re.compile(r"^(tests/\S+?\.py)::\S.* (PASSED|FAILED|ERROR|SKIPPED|XFAIL)\b")


def machine(found: Evidence, _: str, dry_run: bool) -> None:
    """Say what this machine is."""
    facts: dict[str, Any] = dict(native.find_gpu() or {"name": "none"})
    facts |= {"system": platform.platform(), "python": platform.python_version()}
    facts["cores"] = len(os.sched_getaffinity(0))
    query = "driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"
    facts["nvidia-smi"] = _line(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"])
    for tool in ("nvcc", "ncu", "compute-sanitizer"):
        path = shutil.which(tool, path=_CUDA_TOOLS)
        at = "release" if tool == "nvcc" else "ersion"
        facts[tool] = _line([path, "--version"], at) if path else "missing"
    facts["compiler"] = _line(["c++", "--version"])
    for package in _PACKAGES:
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "missing"
    for name, value in facts.items():
        found.row({"": name, "is": value})


def _line(command: Sequence[str], at: str = "") -> str:
    """The first line of a program's output that holds `at`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "missing"
    lines = [line for line in done.stdout.splitlines() if at in line]
    return lines[0].strip() if lines and done.returncode == 0 else "missing"


def build(found: Evidence, _: str, dry_run: bool) -> None:
    """Have every module that this machine runs: from the bundle, else from source."""
    if not dry_run and gpu_bundle.problems(native.find_gpu()):
        native.build_all()
        reports = str(native.places.build_folder() / "cuda")
        spills = _run([sys.executable, "scripts/gpu/check_spills.py", reports])
        said = (spills.stdout.strip().splitlines() or [""])[-1]
        found.row({"spills": said}, status="fail" if spills.returncode else "pass", detail=said)
    reason = "" if dry_run else native.native.at("cuda").device_problem()
    names, levels = native.names(dry_run, tests=True), native.cpu_levels()
    good = bool(levels and names) and not reason
    detail = "" if good else reason or "nothing is built: python -m gpu_envs build"
    cells = {"CPU": ", ".join(levels), "environments": ", ".join(names)}
    found.row(cells, status="pass" if good else "fail", detail=detail)


def tests(found: Evidence, _: str, dry_run: bool) -> None:
    """The tests that need a GPU, a row for each file; where what they import is installed."""
    # A bare machine lacks them: the other steps work on native modules alone.
    missing = [p for p in ("gymnasium", "pettingzoo", "pytest") if not native.has(p)]
    if missing:
        found.row(status="skip", detail=f"not installed: {', '.join(missing)}")
        return
    command = [sys.executable, "-m", "pytest", "-v", "--color=no", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors", "--tb=line"]
    command += [*(["tests/gpu_envs/test_errors.py"] if dry_run else _CUDA_TESTS)]
    process = subprocess.Popen(
        command, cwd=native.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    for file, outcomes, last in _by_file(process.stdout):
        bad = outcomes.get("FAILED", 0) + outcomes.get("ERROR", 0)
        found.row(
            {"file": file, **{key.lower(): n for key, n in outcomes.items()}},
            **({"status": "fail", "detail": last} if bad else {}),
        )
    code = process.wait()
    if code not in (0, 1, 5):  # 1: rows say what failed; 5: no test was asked for
        found.row(status="fail", detail=f"pytest ended with {code}")


def _by_file(lines: Any) -> Any:
    """Yield a file of tests when the next begins: its outcomes, and the last line that is bad."""
    file, outcomes, last = "", dict[str, int](), ""
    for line in lines:
        outcome = _OUTCOME.match(line)
        if not outcome:
            continue
        if file not in ("", outcome[1]):
            yield file, outcomes, last
            outcomes, last = {}, ""
        file = outcome[1]
        outcomes[outcome[2]] = outcomes.get(outcome[2], 0) + 1
        last = line.strip() if outcome[2] in ("FAILED", "ERROR") else last
    if file:
        yield file, outcomes, last


def watched(dry_run: bool) -> list[str]:
    """What compute-sanitizer's tools watch, the most telling first; a dry run has no tools."""
    names = sorted(native.names(dry_run, tests=True), key=lambda n: n != native.TEST_ENVIRONMENT)
    return [f"{tool} {name}" for tool in (("none",) if dry_run else TOOLS) for name in names]


def sanitizer(found: Evidence, what: str, dry_run: bool) -> None:
    """Watch a short run of one environment with one of compute-sanitizer's tools."""
    tool, _, name = what.partition(" ")
    program = shutil.which("compute-sanitizer", path=_CUDA_TOOLS)
    command = [sys.executable, str(Path(__file__).with_name("check.py")), "--small", name]
    if dry_run:
        command += ["--dry-run"]
    elif program:
        command = [program, "--tool", tool, "--error-exitcode", "9", *command]
    else:
        found.row(status="skip", detail="compute-sanitizer was not found")
        return
    done = _run(command)
    summary = _summary(done.stdout)
    said: dict[str, Any] = {"status": "pass"}
    # The tool's own failure says nothing about our kernels.
    if done.returncode and re.search("not supported|Unable to|Internal San", done.stdout):
        said = {"status": "skip", "detail": f"refused: {summary}"}
    elif done.returncode:
        said = {"status": "fail", "detail": summary, "data": {"output": done.stdout[:4000]}}
    found.row({"said": "clean" if done.returncode == 0 else summary}, **said)


def _summary(text: str) -> str:
    """Return the line in which compute-sanitizer sums up, or the last one."""
    lines = [line.strip("= \n") for line in text.splitlines() if line.strip("= \n")]
    return next((x for x in lines[::-1] if "SUMMARY" in x), (lines or ["silent"])[-1])


def tune(found: Evidence, name: str, dry_run: bool) -> None:
    """Time the compiled variants of each phase, and propose rows for the tuning table."""
    module, gpu = native.tested(dry_run, name), native.find_gpu()
    architecture = 0 if dry_run or gpu is None else int(gpu["architecture"])
    for case in tuning.cases(name, quick=True, dry_run=dry_run):
        rows, timings = tuning.tune(module, case, architecture, 0.001 if dry_run else 0.01)
        for row in rows:
            of_phase = [one for one in timings if one["phase"] == row.phase]
            cells = {key: value for key, value in asdict(row).items() if key != "environment"}
            found.row(cells, data={"row": asdict(row), "timings": of_phase})


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository's root, its errors among its output."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(
        command, cwd=native.ROOT, stdout=out, stderr=err, text=True, errors="replace", check=False
    )
