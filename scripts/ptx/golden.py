#!/usr/bin/env python3
"""Run the recorded hashes of tests/golden on interpreted kernels: the PTX that nvcc makes.

    .venv/bin/python scripts/ptx/golden.py [STEM ...] [--shipped] [--all-ways] [--long] [--anew]

STEM is an environment's file without its ending, such as `cartpole`; without one, all that have
recorded hashes are run, those of the tests and examples too unless `--shipped`. Modules are built
first (target `cuda_ptx`, which needs nvcc and no GPU). A run that has passed with the same modules
and hashes is not repeated; `--anew` repeats it. Each environment is run with the lanes and the
schedule that the engine chooses, and again with the flat schedule if it has one; `--all-ways` adds
every number of lanes that is compiled, any order of blocks and warps, memory that holds NaN, races,
plain launches, and steps in two parts. Only with plain launches does a step wait for a copy of its
actions; in all other ways the kernels of several steps follow one another, and each may begin
before the one in front has ended.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["GPU_ENVS_CUDA_RUNTIME"] = "interpreted"

from gpu_envs.building import labels, outside, places, toolchain, upkeep  # noqa: E402
from gpu_envs.building.objects import digest  # noqa: E402
from gpu_envs.commands.build import build_header  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.checks import golden_cases, proofs  # noqa: E402

LANES = (1, 2, 4, 8, 16, 32, 64, 128)
NOT_BUILT = ("lanes must be one of", "not built for the flat schedule", "lanes must be")


@dataclass(frozen=True)
class Way:
    """How cases are run: options of the simulator, and of the interpreter."""

    name: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    settings: dict[str, str] = field(default_factory=dict, hash=False)  # GPU_ENVS_PTX_...
    clears: bool = False  # final rows in the same arrays
    in_a_row: int = golden_cases.IN_A_ROW  # calls with nothing between them
    parts: int = 1  # calls that a step is taken in, each of some worlds


OWN = Way("as the engine chooses")
FLAT = Way("flat", {"schedule": "flat"})
ALL_WAYS = (
    OWN,
    *(Way(f"{lanes} lanes", {"lanes": lanes, "schedule": "group"}) for lanes in LANES),
    FLAT,
    Way("plain launches", {"dependent_launch": False}, clears=True, in_a_row=1),
    Way("two parts", parts=2),
    Way("two parts, flat", {"schedule": "flat"}, parts=2),
    Way("any order", settings={"SHUFFLE": "7"}),
    Way("any order, NaN", settings={"SHUFFLE": "11", "POISON": "0x7fc00001"}),
    Way("races", settings={"RACES": "1"}),
)


@dataclass
class Result:
    """What came of one environment in one way."""

    runs: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


def headers() -> dict[str, Path]:
    """Return the headers outside of kernels/envs that have recorded hashes, by stem."""
    folders = (ROOT / "tests" / "kernels" / "envs", ROOT / "examples")
    found = [header for folder in folders for header in sorted(folder.rglob("*.hpp"))]
    recorded = {path.stem for path in golden_cases.FOLDER.glob("*.txt")}
    return {header.stem: header for header in found if header.stem in recorded}


def _usual_ways(stem: str) -> tuple[Way, ...]:
    """Return the ways of each run: as the engine chooses, and flat where that is compiled."""
    header = places.environments().get(stem) or headers()[stem]
    folder = header.parent.parent if header.parent.name == places.TASKS else header.parent
    has_own = stem == folder.name or folder != header.parent
    files = [header, *(folder.glob("*.hpp") if has_own else ())]
    is_flat = any(".flat = " in file.read_text(encoding="utf-8") for file in files)
    return (OWN, FLAT) if is_flat else (OWN,)


def build(stems: Sequence[str]) -> None:
    """Bring modules up to date; those of tests lie in a cache of their own."""
    own = places.environments()
    upkeep.ensure(places.PTX, [stem for stem in stems if stem in own])
    known = headers()
    for stem in stems:
        if stem not in own:
            build_header(known[stem], [places.PTX])
    registration.refresh()


def cases_of(stem: str, folder: Path) -> Iterator[golden_cases.Case]:
    """Yield an environment's recorded runs."""
    path = folder / f"{stem}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return (golden_cases.parse(line) for line in lines if line and not line.startswith("#"))


def run(stem: str, way: Way, folder: Path) -> Result:
    """Run the cases of an environment, in a process of its own."""
    os.environ.update({f"GPU_ENVS_PTX_{name}": text for name, text in way.settings.items()})
    found, begun = Result(), time.monotonic()
    for case in cases_of(stem, folder):
        files = native.data_files(places.PTX, case.id)
        module = native.at(places.PTX, case.id)
        options = case.options | way.options
        try:
            simulator = module.Simulator(case.id, case.worlds, data_files=files, **options)
        except ValueError as problem:
            if way.options and any(text in str(problem) for text in NOT_BUILT):
                continue
            raise
        hashes = simulator.golden(case.steps, case.seed, way.clears, way.in_a_row, way.parts)
        simulator.close()
        found.runs += 1
        if tuple(hashes) != case.hashes:
            options_shown = case.options["parameters"] | {"mode": case.options["autoreset_mode"]}
            found.wrong.append(f"{case.id} {options_shown}: {hashes}, recorded {case.hashes}")
    found.seconds = time.monotonic() - begun
    return found


def proof_of(stem: str, way: Way, folder: Path) -> str:
    """Return the name of the proof that a run passed: of all that its result depends on."""
    names = {case.id for case in cases_of(stem, folder)}
    files = [_module(stem), places.engine_file(places.PTX), places.bindings_file(places.PTX)]
    files += [places.runtime_file(places.PTX)]
    calls = f"{way.clears} {way.in_a_row} {way.parts}"
    shown = [way.name, str(way.options), str(way.settings), calls]
    text = (folder / f"{stem}.txt").read_text(encoding="utf-8")
    data = [said for name in sorted(names) for said in _data(name)]
    built = [labels.content_hash(file) for file in files]
    return digest("interpreted golden runs", proofs.machine(), *shown, text, *data, *built)


def _module(stem: str) -> Path:
    if stem in places.environments():
        return places.module_file(stem, places.PTX)
    return outside.module_file(headers()[stem], places.PTX)


def _data(name: str) -> list[str]:
    held = native.data_files(places.PTX, name).by_name
    return [word for file, (_, said) in sorted(held.items()) for word in (file, said)]


def main(argv: Sequence[str]) -> int:
    """Build, run and report; 1 where a hash differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stems", nargs="*", metavar="STEM", help="such as cartpole; none: all")
    parser.add_argument("--shipped", action="store_true", help="those of kernels/envs alone")
    parser.add_argument("--all-ways", action="store_true", help="every lane count, order, poison")
    parser.add_argument("--long", action="store_true", help="the cases of tests/golden/long too")
    parser.add_argument("--anew", action="store_true", help="believe no proof")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args(argv)
    recorded = sorted(path.stem for path in golden_cases.FOLDER.glob("*.txt"))
    own = places.environments()
    stems = given.stems or [stem for stem in recorded if stem in own or not given.shipped]
    for stem in stems:
        if stem not in recorded:
            parser.error(f"{stem} has no recorded hashes; those that have: {', '.join(recorded)}")
    os.environ["GPU_ENVS_CACHE"] = str(places.build_folder() / "ptx_cache")
    try:
        build(stems)
    except toolchain.CannotBuild as problem:
        print(f"scripts/ptx/golden.py: {problem}", file=sys.stderr)
        return 1
    folders = [golden_cases.FOLDER, *([golden_cases.FOLDER / "long"] if given.long else [])]
    tasks = [
        (stem, way, folder)
        for stem in stems
        for folder in folders
        for way in (ALL_WAYS if given.all_ways else _usual_ways(stem))
        if (folder / f"{stem}.txt").exists()
    ]
    return _run_all(tasks, given.jobs, proofs.Proofs(anew=given.anew))


def _run_all(tasks: Sequence[tuple[str, Way, Path]], jobs: int, known: proofs.Proofs) -> int:
    wanted = {task: proof_of(*task) for task in tasks}
    left = [task for task in tasks if not known.hold(wanted[task])]
    if len(left) < len(tasks):
        print(f"{len(tasks) - len(left)} of {len(tasks)} proven before", flush=True)
    runs, wrong, begun = 0, 0, time.monotonic()
    with get_context("spawn").Pool(jobs, maxtasksperchild=1) as processes:
        started = [(task, processes.apply_async(run, task)) for task in left]
        for task, running in started:
            stem, way, folder = task
            try:
                found = running.get()
            except Exception as problem:  # a fault of a kernel
                found = Result(wrong=[str(problem)])
            runs, wrong = runs + found.runs, wrong + len(found.wrong)
            long = ", long" if folder.name == "long" else ""
            print(f"{stem}{long}, {way.name}: {found.runs} runs, {found.seconds:.1f} s", flush=True)
            for line in found.wrong:
                print(f"  DIFFERS: {line}", flush=True)
            if not found.wrong:
                known.keep(wanted[task], f"interpreted {stem}, {way.name}", found.seconds)
    print(f"{runs} runs, {wrong} wrong, {time.monotonic() - begun:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
