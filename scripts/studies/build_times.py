"""What building costs a user, in seconds of this machine: a fresh clone, step by step.

Usage: .venv/bin/python scripts/studies/build_times.py [ID ...] [--keep FOLDER]

The first ID is trained, the others are made; without any, one of every module. The clone is of the
last commit, in a temporary folder, with an empty store of objects and the packages of this
interpreter (so that pip and downloads are not counted); each line is a process of its own, as a
user starts it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

TRAINING = "gpu_envs.train {id} --total-steps 1 --device cpu --out run"
MAKE = "import gymnasium, gpu_envs; gymnasium.make_vec('gpu_envs/{id}', 2, device='cpu').close()"
UNIT = """
import os, subprocess, sys
sys.path.insert(0, "gpu_envs")
from building import places, recipes
stem, target = sys.argv[1:]
unit = recipes.module(stem, places.environments()[stem], target, places.MODULES)
job = unit.objects[0]
sys.exit(subprocess.run([*job.command, "-c", job.source, "-o", os.devnull]).returncode)
"""


_UNSET = (
    "GPU_ENVS_BUILD_DIR",
    "GPU_ENVS_STORE",
    "GPU_ENVS_CUDA",
    "GPU_ENVS_CPU",
    "CXX",
    "CXXFLAGS",
)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measure(what: str, command: list[str], folder: Path) -> None:
    own = {key: value for key, value in os.environ.items() if key not in _UNSET}
    environment = own | {"PYTHONPATH": str(folder), "GPU_ENVS_CACHE": str(folder / "cache")}
    begin, used = time.monotonic(), _children()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, processor = time.monotonic() - begin, _children() - used
    if done.returncode:
        raise SystemExit(f"{what} failed:\n{done.stdout}{done.stderr}")
    print(f"{what:<58} {wall:7.1f} {processor:7.1f}", flush=True)


def main() -> None:
    """Clone and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: one of every module")
    parser.add_argument("--keep", type=Path, help="clone into this folder and leave it there")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp()) / "gpu_envs"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    python = [sys.executable]
    first, *others = options.ids or registration.firsts()
    print(f"{'in a fresh clone, one after the other':<58} {'wall s':>7} {'CPU s':>7}")
    try:
        training = TRAINING.format(id=first).split()
        _measure(f"the first training step of {first}", [*python, "-m", *training], folder)
        for name in [*others, first]:
            what = "the first make of" if name != first else "another make of"
            _measure(f"{what} {name}", [*python, "-c", MAKE.format(id=name)], folder)
        header = str(folder / "examples/snow_plough/snow_plough.hpp")
        build = [*python, "-m", "gpu_envs", "build", header]
        _measure("build of a header outside of the package, one build", build, folder)
        unit = [*python, "-c", UNIT, registration.home(first).stem, native.cpu_target()]
        _measure(f"the unit of {first} alone", unit, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder.parent)


if __name__ == "__main__":
    broken_pipes.end_quietly()
    main()
