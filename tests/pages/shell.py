"""Runs the commands of a page's shell blocks in a folder of their own, cut short.

Bash reads a block as it stands, and notes what Python would be started with. Then these programs
run in this process, one after the other, which spares each one the time of its imports.
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages.blocks import ROOT, Block, all_blocks

# What is replaced before bash reads a block.
REPLACED = {
    # what it ends with, once everything is installed
    r"\bscripts/train\b": "python -m gpu_envs.train",
    # it looks up what is asked for, and downloads nothing
    r"\bpip install (?:-e )?(\"?)\.": r"pip install \1gpu_envs",
    r"\bpip install\b": "python -m pip install --no-index --no-deps",
    r"\btimeit -n \d+": "timeit -n 1 -r 1",
    # the seed whose training is shown
    r"(runs/learning/\w+)/\d+/best": r"\1/1/best",
}
# What is put behind a command that begins so: later options win.
TRAINED = (
    "--total-steps 1 --num-envs 4 --rollout 8 --epochs 1 --minibatch 16 --evaluation-episodes 1"
)
CUT = {
    "-m gpu_envs train ": TRAINED,
    "-m gpu_envs.train ": TRAINED,
    "-m gpu_envs evaluate ": "--episodes 1",
    "-m gpu_envs render ": "--steps 3 --size 48x32 --samples 1",
    "-m gpu_envs bench ": "--worlds 1 --seconds 0.001 --repeats 1",
    "examples/scripted_hiders.py ": "--worlds 2",
    "examples/go_explore.py ": "--rounds 2",
    "examples/": "--steps 1",
}
# These change the process that they run in, or the list of environments.
APART = ("-m pip ", "-m gpu_envs build ", "-m timeit ", "examples/skrl", "examples/torchrl")
# Policies that a reader has from an earlier training.
GIVEN = {
    "runs/Hanabi-v0/1": "Hanabi-v0",
    "runs/Overcooked-v0/1": "Overcooked-v0",
    "runs/a": "CartPole-v0",
    "A": "TagGrid-v0",
    "B": "TagGrid-v0",
}
PYTHON = 'python() { { printf "%s\\0" "$@"; printf "\\n\\0"; } >&3; }'


def own_header() -> str:
    """Return the header of an environment of the reader's own, my_env.hpp."""
    first = next(b for b in all_blocks() if b.page.endswith("first_environment.md"))
    text = re.sub(r"\bplough(?=::| {)", "my_env", first.text)
    return text.replace("Plough-v0", "MyEnv-v0")


def make_folder(folder: Path) -> None:
    """Put into a folder what a reader has: examples, an environment, and policies."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "my_env.hpp").write_text(own_header(), encoding="utf-8")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "activate").touch()
    for place, name in GIVEN.items():
        (folder / place).mkdir(parents=True)
        shutil.copy(ROOT / "trained" / f"{name}.ckpt", folder / place / "best.ckpt")


def calls_of(text: str, folder: Path) -> Iterator[list[str]]:
    """Yield the arguments of Python in a block, cut short."""
    for pattern, other in REPLACED.items():
        text = re.sub(pattern, other, text)
    script = f"set -eu\nexec 3>calls\n{PYTHON}\n{text}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{text}{done.stderr}"
    for call in (folder / "calls").read_text(encoding="utf-8").split("\n\0")[:-1]:
        words = call.split("\0")[:-1]
        begin = " ".join(words) + " "
        more = next((more for which, more in CUT.items() if begin.startswith(which)), "")
        yield [*words, *more.split()]


def run_here(arguments: list[str]) -> None:
    """Run Python with these arguments in this process; whoever would type presses q."""
    program, *rest = arguments
    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO("q\n"))
        patch.setattr(sys, "stdout", shown)
        patch.setattr(sys, "stderr", shown)
        patch.setattr(sys, "argv", rest if program == "-m" else arguments)
        try:
            if program == "-m":
                runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            assert not end.code, f"{' '.join(arguments)}: {end.code}\n{shown.getvalue()}"


def check_extras(command: str) -> None:
    """Assert that the package has the extras of a command of pip, which only warns of others."""
    known = importlib.metadata.metadata("gpu_envs").get_all("Provides-Extra") or []
    for extras in re.findall(r"\[(.*?)\]", command):
        assert set(extras.split(",")) <= {*known}, command


def run_apart(arguments: list[str], folder: Path) -> None:
    """Run Python with these arguments in a process and with modules of its own."""
    own = {"PYTHONPATH": str(ROOT), "GPU_ENVS_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *arguments], env=os.environ | own, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}{done.stderr}"


def follow(blocks: list[Block], folder: Path) -> list[str]:
    """Run blocks in a folder, one after the other, and return the commands that ran."""
    make_folder(folder)
    ran = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        for block in blocks:
            for call in calls_of(block.text, folder):
                ran.append(" ".join(call))
                if ran[-1].startswith("-m pip "):
                    check_extras(ran[-1])
                if ran[-1].startswith(APART):
                    run_apart(call, folder)
                else:
                    run_here(call)
    return ran
