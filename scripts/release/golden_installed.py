"""Runs the recorded hashes on the installed package's own modules, and times loading them.

Usage: scripts/release/golden_installed.py; check_release runs it outside the working copy.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # last: what is installed goes first

import gpu_envs
from gpu_envs.building import places, processor
from gpu_envs.known import levels, native, registration
from gpu_envs.terminal import broken_pipes
from scripts.checks import golden_cases

_TIMES = 20
_CLOCK = """
import sys, time
from gpu_envs.known import native
native.at(sys.argv[1])
begin = time.perf_counter()
native.at(sys.argv[1], sys.argv[2])
print(time.perf_counter() - begin)
"""


def wrong(level: str) -> list[str]:
    """Return the recorded runs whose hashes an instruction set does not find."""
    problems, count = [], 0
    for case in golden_cases.read(registration.shipped()):
        bindings = native.at(f"cpu_{level}", case.id)
        files = native.data_files(f"cpu_{level}", case.id)
        simulator = bindings.Simulator(case.id, case.worlds, data_files=files, **case.options)
        found = tuple(simulator.golden(case.steps, case.seed))
        simulator.close()
        count += 1
        if found != case.hashes:
            problems.append(f"{level}: {case}: {found}")
    print(f"{level}: {count} recorded runs, {count - len(problems)} equal")
    return problems if count else [f"{level}: there are no recorded runs"]


def load_time(target: str, name: str) -> float:
    """Return milliseconds from a loaded engine to a loaded module: the median of processes."""
    command = [sys.executable, "-c", _CLOCK, target, name]
    times = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(_TIMES)
    ]
    return 1e3 * statistics.median(times)


def smallest_and_largest() -> list[str]:
    """Return the environments with the shortest and the longest module."""
    stems = {name: registration.home(name).stem for name in registration.shipped()}
    files = {name: places.module_file(stem, native.cpu_target()) for name, stem in stems.items()}
    by_size = sorted(files, key=lambda name: files[name].stat().st_size)
    return [by_size[0], by_size[-1]]


def main() -> int:
    """Run the hashes at every level that is built and runs here; then time loading."""
    if not Path(gpu_envs.__file__).is_relative_to(sys.prefix):
        print(f"gpu_envs was imported from {gpu_envs.__file__}, not from {sys.prefix}")
        return 1
    built, runnable = levels.built(), processor.runnable_levels()
    unrunnable = ", ".join(level for level in built if level not in runnable)
    print(f"built: {', '.join(built)}" + (f"; not run here: {unrunnable}" * bool(unrunnable)))
    problems = [p for level in built if level in runnable for p in wrong(level)]
    print("\n".join(problems), end="\n" if problems else "")
    for name in smallest_and_largest():
        print(f"loading {name}: {load_time(native.cpu_target(), name):.1f} ms (median of {_TIMES})")
    return 1 if problems else 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
