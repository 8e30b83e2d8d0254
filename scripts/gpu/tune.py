"""Times the compiled variants of each phase on the GPU at hand and records the fastest.

Usage: scripts/gpu/tune.py [--quick] [--write] [--json FILE] [--from FILE] [--dry-run]

Variants differ in lanes per world, threads per block and dependent launch. The lanes and threads
of a phase are judged by the time of its own kernel, which torch's profiler reports; dependent
launch by the time of whole steps. Without --write nothing but the printed table and --json is made.

Only what is compiled is timed. An ordinary build has one number of lanes for each phase, and those
that the table names (kernels/engine/cuda/lanes_kept.hpp); GPU_ENVS_CUDA_LANES=all, with which
scripts/gpu/bundle builds, has all that a phase lists. The numbers in the rows that are written are
compiled from then on.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

import scripts.gpu  # noqa: F401 - before the package: finds it where Gymnasium is missing
from gpu_envs.benchmark import memory
from gpu_envs.benchmark.cases import LANES
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.worlds import Run
from gpu_envs.known import registration
from gpu_envs.terminal import broken_pipes
from scripts.gpu import native

TABLE = native.ROOT / "kernels" / "engine" / "cuda" / "tuning_table.hpp"
BLOCKS = (32, 64, 128, 256)
CROWDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # agents per world, for every tier
AGENTS, QUICK_AGENTS = 1 << 20, 1 << 17  # of all worlds together
FEW, MOST_OF_FEW = 1 << 11, 1 << 13  # worlds of a small batch, and up to which it speaks for others
DEFAULT_BLOCK = 128
WORTH = 0.98  # of the default's time: what is hardly faster is noise
_PROFILED = 20  # steps


@dataclass(frozen=True)
class Row:
    """One row of the table, in the order of its columns."""

    environment: str
    tier: int
    phase: str
    architecture: int
    most_worlds: int
    lanes: int
    threads: int
    dependent: bool


@dataclass(frozen=True)
class Case:
    """What is tuned: an environment in one tier of capacity."""

    environment: str
    tier: int
    worlds: int
    most_worlds: int  # upper limit of what was found; 0: for any number
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Timing:
    """One variant of one phase, as it really ran."""

    phase: str
    lanes: int
    threads: int
    seconds: float


def cases(name: str, quick: bool, dry_run: bool) -> list[Case]:
    """An environment in every tier of capacity; of a tier the largest crowd counts."""
    agents_of_all = 64 if dry_run else QUICK_AGENTS if quick else AGENTS
    module, description = native.reference(name), registration.find(name)
    tiers: dict[int, Case] = {}
    crowds = CROWDS[:5] if dry_run else CROWDS
    for agents in (1,) if description["agents"].isdecimal() else crowds:
        parameters = native.crowd(description, agents)
        worlds = max(1, agents_of_all // agents)
        try:
            simulator = module.Simulator(name, 1, parameters=parameters)
        except ValueError:
            continue  # more or fewer agents than it can have
        tier = int(native.facts(simulator)["tier"])
        simulator.close()
        # Crowds are in rising order, so the largest of a tier is the last.
        tiers[tier] = Case(name, tier, worlds, 0, parameters)
    large = [case for case in tiers.values() if case.worlds > MOST_OF_FEW]
    small = [replace(case, worlds=FEW, most_worlds=MOST_OF_FEW) for case in large]
    return [*tiers.values(), *small]


def start(module: Any, case: Case, **tuning: Any) -> Run:
    """Make a simulator and step it until its worlds have spread out."""
    run = Run(module, case.environment, case.worlds, parameters=case.parameters, **tuning)
    run.reset(0)
    step = run.stepper()
    for i in range(64 if run.units == run.worlds else 8):
        step(i)
    return run


def time_phases(run: Run, seconds: float) -> list[Timing]:
    """Time each launch of a step; a step as a whole where the launches cannot be told apart."""
    step = run.stepper()
    launches = run.facts.get("launches", [])
    if run.on_gpu and (found := _profile(step, len(launches))):
        pairs = zip(launches, found, strict=True)
        return [Timing(x["phase"], x["lanes"], x["threads"], t) for x, t in pairs]
    whole = _timed(run, step, seconds)
    shown = launches or [{"phase": "step", "lanes": 1, "threads": DEFAULT_BLOCK}]
    return [Timing(x["phase"], x["lanes"], x["threads"], whole) for x in shown]


def _timed(run: Run, step: Any, seconds: float) -> float:
    return Clock(seconds, 3, memory.timed(run.on_gpu)).time(step).median


def _profile(step: Any, launches: int) -> list[float]:
    """Mean seconds of each launch of a step; empty where the profiler sees something else."""
    torch = memory.torch()
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for i in range(_PROFILED):
                step(i)
            torch.cuda.synchronize()
        cuda = torch.autograd.DeviceType.CUDA
        events = [e for e in profile.events() if e.device_type == cuda and "phase_kernel" in e.name]
    except (RuntimeError, AttributeError):
        return []
    # Kernels cannot be told apart by name; by their order they can, if none is missing.
    if not launches or len(events) != launches * _PROFILED:
        return []
    events.sort(key=lambda event: event.time_range.start)
    spent = [event.time_range.elapsed_us() * 1e-6 for event in events]
    return [sum(spent[k::launches]) / _PROFILED for k in range(launches)]


def tune(module: Any, case: Case, architecture: int, seconds: float) -> tuple[list[Row], list[Any]]:
    """Find the fastest variant of each phase; return rows and everything that was timed."""
    timings: dict[str, dict[tuple[int, int], float]] = {}
    defaults: dict[str, tuple[int, int]] = {}
    for lanes in (0, *LANES):
        for block in (0, *BLOCKS):
            # Lanes of the engine's own choice are only needed once, as what the others are compared
            # with.
            if not lanes and block not in (0, DEFAULT_BLOCK):
                continue
            tuning = {"lanes": lanes, "block": block, "dependent_launch": False}
            try:
                run = start(module, case, **tuning)
            except (ValueError, RuntimeError) as problem:
                if not re.search("lanes must be|fits on this GPU|shared memory", str(problem)):
                    raise
                continue
            for timing in time_phases(run, seconds):
                shape = (timing.lanes, timing.threads)
                defaults.setdefault(timing.phase, shape)
                known = timings.setdefault(timing.phase, {})
                # A shape may run more than once, where a block was made smaller to fit: the fastest
                # counts.
                known[shape] = min(timing.seconds, known.get(shape, timing.seconds))
            run.close()
    dependent = _dependent_pays(module, case, seconds)
    rows, shown = [], []
    for phase, found in timings.items():
        best = min(found, key=lambda shape: found[shape])
        if found[best] > WORTH * found[defaults[phase]]:
            best = defaults[phase]
        facts = (case.environment, case.tier, phase, architecture, case.most_worlds)
        rows.append(Row(*facts, *best, dependent))
        for (lanes, threads), spent in sorted(found.items(), key=lambda item: item[1]):
            timed = asdict(Timing(phase, lanes, threads, spent))
            shown.append({**asdict(case), **timed, "chosen": (lanes, threads) == best})
    return rows, shown


def _dependent_pays(module: Any, case: Case, seconds: float) -> bool:
    """Compare whole steps. What the GPU or the present table rules out stays ruled out."""
    spent = []
    for dependent in (True, False):
        run = start(module, case, dependent_launch=dependent)
        if dependent and not any(x["dependent"] for x in run.facts.get("launches", [])):
            run.close()
            return False
        spent.append(_timed(run, run.stepper(), seconds))
        run.close()
    return spent[0] <= spent[1] / WORTH


# ---- the table in the sources


def line(row: Row) -> str:
    """A row as C++."""
    dependent = "true" if row.dependent else "false"
    numbers = f"{row.architecture}, {row.most_worlds}, {row.lanes}, {row.threads}, {dependent}"
    return f'    {{"{row.environment}", {row.tier}, "{row.phase}", {numbers}}},'


def merge(text: str, rows: Sequence[Row]) -> str:
    """The header's text with these rows in place of those they replace; the rest stays."""
    head, begin, rest = text.partition("kTuning[] = {\n")
    body, end, tail = rest.partition("};")
    if not begin or not end:
        raise SystemExit(f"tune: {TABLE.name} has no list of rows that could be replaced")

    def key(written: str) -> tuple[str, ...]:
        return tuple(re.findall(r'"[^"]*"|\w+', written)[:5])

    new = {key(line(row)): line(row) for row in rows}
    kept = [
        old
        for old in body.splitlines()
        if not old.lstrip().startswith("{") or (key(old) not in new and '{"", 0' not in old)
    ]
    return head + begin + "\n".join([*kept, *new.values()]) + "\n" + end + tail


def read_rows(file: Path) -> list[Row]:
    """Rows of a file that --json wrote, or of the rows.jsonl of scripts/gpu/check.sh."""
    lines = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        found = [row["data"]["row"] for row in map(json.loads, lines.splitlines()) if _is_row(row)]
    else:
        found = json.loads(lines).get("rows", [])
    if not found:
        raise SystemExit(f"tune: {file} has no rows of a tuning table")
    return [Row(**row) for row in found]


def _is_row(found: dict[str, Any]) -> bool:
    return found["step"] == "tune" and found["kind"] == "row" and "row" in found.get("data", {})


# ---- the command line


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        prog="scripts/gpu/tune.py",
        description="Times the compiled variants of each phase on the GPU at hand: lanes per "
        "world, threads per block, dependent launch. Exit status 3: there is no GPU.",
    )
    add = options.add_argument
    add("--quick", action="store_true", help="fewer worlds and shorter runs")
    add("--json", type=Path, metavar="FILE", help="write rows and timings here")
    add("--write", action="store_true", help=f"put the rows into {TABLE.relative_to(native.ROOT)}")
    add("--from", type=Path, metavar="FILE", dest="source", help="rows of an earlier run")
    add("--dry-run", action="store_true", help="a CPU module in place of CUDA: tries the script")
    return options


def plan() -> str:
    """What would be timed."""
    found = [case for name in native.built() for case in cases(name, quick=False, dry_run=False)]
    if not found:
        return "nothing is built here"
    shapes = f"lanes {', '.join(map(str, LANES))}; threads per block {', '.join(map(str, BLOCKS))}"
    lines = [f"would time {shapes}; dependent launch on and off, for"]
    lines += [f"  {c.environment}, tier {c.tier}: {c.worlds:,} worlds" for c in found]
    return "\n".join(lines)


def show(timings: list[dict[str, Any]]) -> None:
    """Print every variant; a star marks the chosen one."""
    print(f"{'environment':16} {'tier':>4} {'phase':10} {'lanes':>5} {'threads':>7} {'us':>10}")
    for x in timings:
        shape = f"{x['lanes']:5} {x['threads']:7} {x['seconds'] * 1e6:10.2f}"
        mark = " *" if x["chosen"] else ""
        print(f"{x['environment']:16} {x['tier']:4} {x['phase']:10} {shape}{mark}")


def main(argv: Sequence[str] | None = None) -> int:
    """Time, print and record; return the exit status."""
    arguments = parser().parse_args(argv)
    rows: list[Row] = []
    timings: list[Any] = []
    if arguments.source:
        rows = read_rows(arguments.source)
    else:
        gpu = native.find_gpu()
        if gpu is None and not arguments.dry_run:
            print(f"tune: {native.NO_GPU}\n{plan()}")
            return 3
        native.take_as_built()
        architecture = 0 if arguments.dry_run or gpu is None else int(gpu["architecture"])
        seconds = 0.001 if arguments.dry_run else 0.01 if arguments.quick else 0.05
        for name in native.names(arguments.dry_run):
            for case in cases(name, arguments.quick, arguments.dry_run):
                module = native.tested(arguments.dry_run, name)
                more, timed = tune(module, case, architecture, seconds)
                rows += more
                timings += timed
        show(timings)
    print("\n".join(line(row) for row in rows))
    if arguments.json:
        found = {"rows": [asdict(row) for row in rows], "timings": timings}
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.write and arguments.dry_run:
        print("tune: a dry run leaves the table alone")
    elif arguments.write:
        TABLE.write_text(merge(TABLE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        print(f"wrote {TABLE.relative_to(native.ROOT)}")
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
