"""Everything that needs a GPU, in one command: build, check, measure, tune, report.

Each step is a process of its own with a time limit, so that a crash or a hang ends that step alone.
Without a GPU, --dry-run runs every step on CPU modules as stand-ins, with small sizes.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gpu_native as native
import gpu_speed
import gpu_steps as steps
import gpu_train
from gpu_steps import Result

ROOT = native.ROOT
SCRIPT = Path(__file__).resolve()
TOTAL = 590  # seconds for everything: what has not begun by then is skipped
WATCHED = 120  # seconds for compute-sanitizer
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")  # of compute-sanitizer
_PACKAGES = ("numpy", "torch", "gymnasium", "pettingzoo", "pytest", "pybind11")
_EPILOG = """steps, in this order (those with * decide the exit status):
  environment  GPU, driver, nvcc, packages
  build *      CPU and CUDA modules in place, with a C++ compiler, nvcc and pybind11 at hand
  golden *     recorded hashes with every number of lanes that is compiled (all of them with
               GPU_ENVS_CUDA_LANES=all), dependent launch on and off
  large *      up to 100,000 worlds of each environment equal to the CPU
  save *       saves carried from CPU to CUDA and back go on equal
  capture *    1 and 32 steps in a CUDA graph, replayed 100 times; steps wait for nothing
  tests *      pytest, the tests that use CUDA (needs gymnasium and pytest)
  sanitizer *  compute-sanitizer: memcheck, racecheck, synccheck, initcheck
  bench        native steps/s, byte table, bandwidth, bars, captured graphs, many agents
  bodies       world steps/s with rigid bodies against the bars
  swarms       agent-steps/s with 5 to 17,600 agents in a world against the bars
  package      the package's own benchmarks of other environments (needs gymnasium)
  train        the trainer: graphs against plain calls, steps/s, to the goal (needs gymnasium)
  tune         lanes, threads per block and dependent launch: the fastest on this GPU
exit status: 0 all is well, 1 a step with * failed, 2 there is no GPU"""


# ---- steps that run other programs


def environment(dry_run: bool) -> Result:
    """Say what this machine is."""
    gpu = native.find_gpu() or {}
    facts: dict[str, Any] = {"gpu": gpu.get("name", "none"), **gpu}
    facts |= {"system": platform.platform(), "python": f"{platform.python_version()}"}
    facts["cores"] = len(os.sched_getaffinity(0))
    query = "driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"
    facts["nvidia-smi"] = _line(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"])
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    facts["nvcc"] = re.sub(r".*release ", "", _line([nvcc, "--version"], at="release"))
    facts["compiler"] = _line(["c++", "--version"])
    for package in _PACKAGES:
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "missing"
    result = Result("pass", f"{facts['gpu']}, nvcc {facts['nvcc']}, torch {facts['torch']}")
    result.data = facts
    result.table("Machine", ["", ""], [[k, str(v)] for k, v in facts.items() if k != "name"])
    return result


def _line(command: Sequence[str], at: str = "") -> str:
    """The first line of a program's output that holds `at`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "missing"
    lines = [line for line in done.stdout.splitlines() if at in line]
    return lines[0].strip() if lines and done.returncode == 0 else "missing"


def build(dry_run: bool) -> Result:
    """Build every module that this machine can run, with the package's own builder."""
    if dry_run:
        levels = native.cpu_levels()
        return Result("pass" if levels else "fail", f"dry run: found: {', '.join(levels)}")
    try:
        native.build_all()
    except (OSError, RuntimeError) as problem:
        text = str(problem)
        return Result("fail", text.partition("\n")[0], data={"output": text[-6000:]})
    reason = native.native.at("cuda").device_problem()
    if reason:
        return Result("fail", f"CUDA is built but cannot be used: {reason}")
    reports = native.places.build_folder() / "cuda"
    spills = _run([sys.executable, "scripts/check_spills.py", str(reports)])
    lines = spills.stdout.strip().splitlines() or [""]
    detail = f"CUDA and {', '.join(native.cpu_levels())}; {lines[-1]}"
    return Result("fail" if spills.returncode else "pass", detail, data={"spills": lines})


def tests(dry_run: bool) -> Result:
    """Run the tests that use CUDA, where what they import is installed."""
    # A bare machine lacks them: the other steps work on native modules alone.
    missing = [p for p in ("gymnasium", "pettingzoo", "pytest") if not native.has(p)]
    if missing:
        return Result("skip", f"not installed: {', '.join(missing)}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda"]
    done = _run([*command, *(["--collect-only"] if dry_run else []), "tests"])
    lines = done.stdout.strip().splitlines() or ["no output"]
    data = {"output": done.stdout[-6000:]}
    return Result("fail" if done.returncode else "pass", lines[-1].strip("= "), data=data)


def sanitizer(dry_run: bool) -> Result:
    """Watch a short run of each environment with each of compute-sanitizer's tools."""
    program = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if not program and not dry_run:
        return Result("skip", "compute-sanitizer was not found")
    rows: list[list[str]] = []
    problems: list[str] = []
    refused: set[str] = set()
    outputs: dict[str, str] = {}
    left, end = 0, time.perf_counter() + WATCHED
    for description in native.environments(native.tested(dry_run), tests=True):
        name = description["id"]
        for tool in ("none",) if dry_run else TOOLS:
            command = [sys.executable, str(SCRIPT), "--small", name]
            if dry_run:
                command += ["--dry-run"]
            else:
                command = [str(program), "--tool", tool, "--error-exitcode", "9", *command]
            begin = time.perf_counter()
            try:
                done = _run(command, max(end - begin, 0.01))
            except subprocess.TimeoutExpired:
                left += 1
                rows.append([name, tool, "", "no time left"])
                continue
            took = time.perf_counter() - begin
            summary = _summary(done.stdout)
            said = "clean" if done.returncode == 0 else summary
            # The tool's own failure says nothing about our kernels.
            if done.returncode and re.search("not supported|Unable to|Internal San", done.stdout):
                said = f"refused: {summary}"
                refused.add(tool)
            elif done.returncode:
                problems.append(f"{tool}, {name}: {summary}")
                outputs[f"{tool} {name}"] = done.stdout[:4000]
            rows.append([name, tool, f"{took:.1f}", said])
    detail = f"{len(rows)} runs clean"
    if left:
        detail = f"{len(rows) - left} of {len(rows)} runs clean, others had no time"
    result = steps.verdict(problems, detail)
    if refused and not problems:
        result = Result("skip", f"refused by this machine: {', '.join(sorted(refused))}")
    result.table("compute-sanitizer", ["environment", "tool", "seconds", "said"], rows)
    result.data |= {"outputs": outputs}
    return result


def _summary(text: str) -> str:
    """Return the line in which compute-sanitizer sums up, or the last one."""
    lines = [line.strip("= \n") for line in text.splitlines() if line.strip("= \n")]
    return next((x for x in lines[::-1] if "SUMMARY" in x), (lines or ["silent"])[-1])


def package(dry_run: bool) -> Result:
    """The package's benchmark, whose report is kept whole."""
    if not native.has("gymnasium") or not native.has("pettingzoo"):
        return Result("skip", "gymnasium or pettingzoo is not installed: bench has native figures")
    reports, texts = [], []
    for name in gpu_speed.names_of("package"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "scripts/benchmark.py", name, "--full", "--bars"]
            command += ["--no-peers"]
            if dry_run:
                command += ["--device", "cpu", "--quick", "--worlds", "64", "--repeats", "1"]
            else:
                command += ["--device", "cuda", "--repeats", "3", "--seconds", "0.03"]
            done = _run([*command, "--out", folder])
            files = sorted(Path(folder).glob("*.json"))
            if done.returncode or not files:
                output = {"output": done.stdout[-6000:]}
                return Result("fail", f"the benchmark of {name} failed", data=output)
            reports.append(json.loads(files[0].read_text(encoding="utf-8")))
            texts.append(files[0].with_suffix(".md").read_text(encoding="utf-8"))
    bars = [f"{bar['what']} {bar['verdict']}" for report in reports for bar in report["bars"]]
    detail = "; ".join(bars) or "measured"
    return Result("pass", detail, data={"reports": reports, "markdown": "\n".join(texts)})


def train(dry_run: bool) -> Result:
    """The trainer: captured against plain, and how fast."""
    if not native.has("gymnasium") or not native.has("pettingzoo"):
        return Result("skip", "gymnasium or pettingzoo is not installed")
    return gpu_train.train(dry_run)


def tune(dry_run: bool) -> Result:
    """Time the compiled variants and propose rows for the tuning table."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tuning.json"
        command = [sys.executable, "scripts/tune.py", "--quick", "--json", str(file)]
        done = _run([*command, *(["--dry-run"] if dry_run else [])])
        if done.returncode or not file.exists():
            return Result("fail", "tuning failed", data={"output": done.stdout[-6000:]})
        found = json.loads(file.read_text(encoding="utf-8"))
    result = Result("pass", f"{len(found['rows'])} rows for kernels/engine/cuda/tuning_table.hpp")
    result.data = found
    header = ["environment", "tier", "phase", "architecture", "lanes", "threads", "dependent"]
    rows = [[str(cell) for cell in row.values()] for row in found["rows"]]
    note = (
        "`scripts/tune.py --from FILE --write` puts the rows of this report's JSON into the table."
    )
    result.table("Tuning: fastest variants", header, rows, note)
    return result


def _run(command: Sequence[str], seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository's root, its errors among its output."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(
        command,
        cwd=ROOT,
        stdout=out,
        stderr=err,
        text=True,
        errors="replace",
        check=False,
        timeout=seconds,
    )


Step = Callable[[bool], Result]
STEPS: dict[str, tuple[Step, int, bool]] = {  # function, seconds, whether it decides the status
    "environment": (environment, 60, False),
    "build": (build, 400, True),
    "golden": (steps.golden, 120, True),
    "large": (steps.large, 120, True),
    "save": (steps.save, 60, True),
    "capture": (steps.capture, 100, True),
    "tests": (tests, 100, True),
    "sanitizer": (sanitizer, 150, True),
    "bench": (gpu_speed.bench, 90, False),
    "bodies": (gpu_speed.bodies, 90, False),
    "swarms": (gpu_speed.swarms, 90, False),
    "package": (package, 60, False),
    "train": (train, 120, False),
    "tune": (tune, 90, False),
}


# ---- running them


def run_step(name: str, limit: float, dry_run: bool) -> Result:
    """Run one step in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder) / "result.json", Path(folder) / "log"
        command = [sys.executable, str(SCRIPT), "--step", name, "--result", str(file)]
        command += ["--dry-run"] if dry_run else []
        with log.open("wb") as output:
            # In a session of its own, so that what it starts can be ended with it; its output goes
            # to a file, since a full pipe would stop it.
            child = subprocess.Popen(
                command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code: int | None = child.wait(limit)
            except BaseException as reason:
                os.killpg(child.pid, signal.SIGKILL)  # and what the step had started
                child.wait()
                if not isinstance(reason, subprocess.TimeoutExpired):
                    raise
                code = None
        if code == 0 and file.exists():
            return Result(**json.loads(file.read_text(encoding="utf-8")))
        text = log.read_text(encoding="utf-8", errors="replace")
    lines = text.strip().splitlines() or ["no output"]
    why = f"stopped after {limit:.0f} s" if code is None else f"ended with status {code}"
    return Result("fail", f"{why}: {lines[-1][:200]}", data={"output": text[-6000:]})


def run_all(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the chosen steps one after the other, and print a line for each."""
    done, end = [], time.perf_counter() + arguments.total
    for name in arguments.only or STEPS:
        _, own, decides = STEPS[name]
        begin = time.perf_counter()
        # A step has its own time, or what is left of all: a slow machine still ends with a report.
        limit = min(arguments.seconds or own, end - begin)
        if limit < 5:
            result = Result("skip", f"no time left of {arguments.total} s")
        else:
            result = run_step(name, limit, arguments.dry_run)
        seconds = round(time.perf_counter() - begin, 1)
        done.append({"name": name, "decides": decides, "seconds": seconds, **asdict(result)})
        print(f"{result.status:4}  {name:11}  {seconds:6.1f} s  {result.detail}", flush=True)
        if result.status == "fail" and "output" in result.data:
            print(result.data["output"][-2000:], flush=True)
        for bar in result.bars:
            print(bar["line"], flush=True)
    return done


# ---- the report


def write(folder: Path, gpu: str, command: str, done: list[dict[str, Any]]) -> list[Path]:
    """Write what was found as JSON and as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", gpu).strip("-") + time.strftime("-%Y-%m-%d")
    report = {"gpu": gpu, "date": time.strftime("%Y-%m-%d"), "command": command, "steps": done}
    paths = [folder / f"{stem}.json", folder / f"{stem}.md"]
    paths[0].write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    paths[1].write_text(markdown(report), encoding="utf-8")
    return paths


def markdown(report: dict[str, Any]) -> str:
    """The report for people."""
    rows = [
        [step["name"], step["status"], f"{step['seconds']:.1f}", _cell(step["detail"])]
        for step in report["steps"]
    ]
    total = sum(step["seconds"] for step in report["steps"])
    parts = [f"# {report['gpu']}, {report['date']}", f"`{report['command']}`, {total:.0f} seconds"]
    parts += ["## Steps", _table(["step", "", "seconds", ""], rows)]
    bars = [f"- {bar['line']}" for step in report["steps"] for bar in step["bars"]]
    parts += ["## Bars", "\n".join(bars)] if bars else []
    for step in report["steps"]:
        for table in step["tables"]:
            parts += [f"## {table['title']}", _table(table["header"], table["rows"])]
            parts += [table["note"]] if table["note"] else []
        if step["status"] == "fail" and "output" in step["data"]:
            parts += [f"## What {step['name']} printed last", _fenced(step["data"]["output"])]
        if "markdown" in step["data"]:
            parts.append(re.sub(r"^#", "##", step["data"]["markdown"].strip(), flags=re.MULTILINE))
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    return f"```\n{text[-2000:].strip()}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header: list[str], rows: list[list[str]]) -> str:
    align = ["---", *("---:" if _is_number(rows, i) else "---" for i in range(1, len(header)))]
    lines = [header, align, *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _is_number(rows: list[list[str]], column: int) -> bool:
    return bool(rows) and all(re.match(r"[\d.,]+( [kMGT])?%?$", row[column]) for row in rows)


# ---- the command line


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        prog="scripts/gpu_check.sh",
        description="Does everything that needs a GPU and writes one JSON and one Markdown file. "
        "Takes under eight minutes, creates no environment and downloads nothing.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, out = options.add_argument, ROOT / "benchmarks" / "results"
    add("--out", type=Path, metavar="DIR", default=out, help=f"default: {out.relative_to(ROOT)}")
    add("--only", nargs="+", choices=STEPS, metavar="STEP", help="run these steps alone")
    add("--seconds", type=float, help="time limit of every step (default: each has its own)")
    add("--total", type=float, default=TOTAL, help="time limit of all (default: %(default)s)")
    add("--dry-run", action="store_true", help="use CPU modules in place of CUDA; needs no GPU")
    add("--small", metavar="ID", help="a short run of one environment, for compute-sanitizer")
    add("--step", choices=STEPS, help=argparse.SUPPRESS)
    add("--result", type=Path, help=argparse.SUPPRESS)
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps and report; return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = parser().parse_args(given)
    gpu = native.find_gpu()
    if gpu is None and not arguments.dry_run:
        print(f"gpu_check: {native.NO_GPU} (--dry-run tries the script on the CPU)")
        print("\n".join(gpu_speed.unmeasured()))
        return 2
    if arguments.small or arguments.step not in (None, "build"):
        native.take_as_built()
    if arguments.small:
        steps.small(arguments.small, arguments.dry_run)
        return 0
    if arguments.step:
        result = STEPS[arguments.step][0](arguments.dry_run)
        arguments.result.write_text(json.dumps(asdict(result)), encoding="utf-8")
        return 0
    name = "dry run" if arguments.dry_run or gpu is None else gpu["name"]
    done = run_all(arguments)
    command = " ".join(["scripts/gpu_check.sh", *given])
    for path in write(arguments.out, name, command, done):
        print(f"wrote {path}")
    failed = [step["name"] for step in done if step["decides"] and step["status"] == "fail"]
    print(f"gpu_check: {'failed: ' + ', '.join(failed) if failed else 'no check failed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
