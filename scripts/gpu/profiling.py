"""The step of scripts/gpu/check.py that looks into kernels: Nsight Compute, else torch's profiler.

Each environment is stepped at the size of its first bar. In a dry run the clocks around the stages
of the CPU's executor stand in.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.cases import open_case
from gpu_envs.benchmark.points import Subject
from gpu_envs.known import measures
from scripts.gpu import native
from scripts.gpu import speed as gpu_speed
from scripts.gpu.evidence import Evidence

_SECTIONS = (
    *("SpeedOfLight", "LaunchStats", "Occupancy", "SchedulerStats", "WarpStateStats"),
    *("InstructionStats", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables"),
)
_SHOWN = {  # columns, and the metrics of ncu that fill them; those that a version lacks stay empty
    "us": ("gpu__time_duration.sum", 1e-3),
    "registers": ("launch__registers_per_thread", 1),
    "threads": ("launch__block_size", 1),
    "shared B": ("launch__shared_mem_per_block_dynamic", 1),
    "warps of SM, %": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "could be, %": ("sm__maximum_warps_per_active_cycle_pct", 1),
    "issue, %": ("smsp__issue_active.avg.pct_of_peak_sustained_active", 1),
    "instructions": ("smsp__inst_executed.sum", 1),
    "DRAM, %": ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "DRAM MB": ("dram__bytes.sum", 1e-6),
    "DRAM read MB": ("dram__bytes_read.sum", 1e-6),
    "L2 hits, %": ("lts__t_sector_hit_rate.pct", 1),
}
_STALL = re.compile(r"smsp__average_warps?_(?:latency_)?issue_stalled_(\w+?)(?:_per_\w+)?\.\w+")
_STEPS, _LAUNCHES, _PATIENCE = 3, 60, 28  # of them at most; seconds
_LONGEST = 100  # letters of a kernel's name
_PARTS = 12  # stages


def profile(found: Evidence, name: str, dry_run: bool) -> None:
    """Registers, occupancy, issue slots, bytes and stalls of each kernel of a step."""
    if dry_run:
        return _stages(found, name)
    program = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if program:
        said = _run_ncu(program, name)  # nothing before it has ended
        kernels = list(read_ncu(said))
        for kernel in kernels:
            found.row(shown(kernel), data=kernel)
        if kernels:
            return None
        found.row(status="skip", detail=f"ncu said: {said.strip()[-300:]}")
    traced = list(_traced(name))
    for cells in traced:
        found.row(cells)
    if not traced:
        found.row(status="skip", detail="torch's profiler saw no kernels")
    return None


def _run_ncu(program: str, name: str) -> str:
    """Return what ncu prints of the launches between the program's own two marks."""
    command = [program, "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--profile-from-start", "off", "--clock-control", "none"]
    command += ["--launch-count", str(_LAUNCHES)]
    command += [word for section in _SECTIONS for word in ("--section", section)]
    script = str(Path(__file__).with_name("check.py"))
    command += [sys.executable, script, "--profiled", name]
    out, err = subprocess.PIPE, subprocess.STDOUT
    try:
        done = subprocess.run(
            command, stdout=out, stderr=err, text=True, check=False, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"nothing in {_PATIENCE} s"
    return done.stdout


def read_ncu(text: str) -> Iterator[dict[str, str]]:
    """Metrics of each launch, by their names, from the CSV that ncu prints among other lines."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    for row in csv.DictReader(lines[begin:]):
        if (row.get("ID") or "").isdecimal():  # the first line has the units
            yield {key: value for key, value in row.items() if key and value}


def shown(kernel: dict[str, str]) -> dict[str, str]:
    """A launch as a row of the table."""
    cells = {"kernel": short(kernel.get("Kernel Name", ""))}
    for column, (metric, scale) in _SHOWN.items():
        value = _number(kernel.get(metric, ""))
        cells[column] = "" if value is None else f"{value * scale:,.4g}"
    return {**cells, "stalled by": _stalls(kernel)}


def _stalls(kernel: dict[str, str]) -> str:
    """The three states that warps wait in longest."""
    waits = {}
    for metric, text in kernel.items():
        value, state = _number(text), _STALL.fullmatch(metric)
        if state and value and state[1] not in ("selected", "not_selected"):
            waits[state[1]] = max(value, waits.get(state[1], 0.0))
    first = sorted(waits.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{state} {value:.2g}" for state, value in first)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def short(name: str) -> str:
    """A kernel's name without its namespaces and the list of its arguments."""
    plain = re.sub(r"(?:\w+::)+(?=\w)", "", name.partition("(")[0].removeprefix("void "))
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3] + "..."


def _subject(name: str, dry_run: bool) -> Subject:
    """The worlds of an environment's first bar, spread out."""
    drawn = bool(measures.measures_of(name)["benchmark"].get("drawn"))
    return open_case(gpu_speed.largest(name, dry_run), drawn)


def stepped(name: str) -> None:
    """Step between two marks, for a profiler to look at."""
    subject = _subject(name, False)
    cuda = memory.torch().cuda
    cuda.synchronize()
    cuda.profiler.start()
    for i in range(_STEPS):
        subject.step(i)
    cuda.synchronize()
    cuda.profiler.stop()
    subject.close()


def _traced(name: str) -> Iterator[dict[str, str]]:
    """Kernels of a step by torch's profiler."""
    subject, torch = _subject(name, False), memory.torch()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiled:
        for i in range(_STEPS):
            subject.step(i)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(file))
        trace = json.loads(file.read_text(encoding="utf-8"))
    subject.close()
    yield from read_trace(trace, _STEPS)


def read_trace(trace: dict[str, Any], steps: int) -> Iterator[dict[str, str]]:
    """Kernels of a trace, launches of one shape together, the longest first."""
    spent: dict[tuple[str, ...], list[float]] = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            known = event["args"]
            shape = [str(known.get(key, "")) for key in ("grid", "block")]
            shape += [str(known.get("registers per thread", ""))]
            shape += [str(known.get("shared memory", "")), str(known.get("warps per SM", ""))]
            shape += [str(known.get("est. achieved occupancy %", ""))]
            spent.setdefault((short(event["name"]), *shape), []).append(float(event["dur"]))
    for key, times in sorted(spent.items(), key=lambda item: -sum(item[1])):
        columns = (
            "kernel",
            "grid",
            "block",
            "registers",
            "shared B",
            "warps of SM",
            "occupancy, %",
        )
        cells = dict(zip(columns, key, strict=True))
        each = {"us a step": f"{sum(times) / steps:.4g}", "launches": f"{len(times) / steps:g}"}
        yield {**cells, **each}


def _stages(found: Evidence, name: str) -> None:
    module, subject = native.tested(True, name), _subject(name, True)
    module.watch_stages(True)
    for i in range(_STEPS):
        subject.step(i)
    stages = sorted(module.stage_seconds(), key=lambda stage: -stage[1])
    module.watch_stages(False)
    subject.close()
    for stage, seconds in stages[:_PARTS]:
        found.row({"stage": short(stage), "us a step": f"{seconds / _STEPS * 1e6:.4g}"})
