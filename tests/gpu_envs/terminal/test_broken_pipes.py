"""Commands whose output nobody reads any more, as in `info X | head`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = [sys.executable, "-m", "gpu_envs"]


def left(command: list[str]) -> tuple[int, str]:
    """Run a command whose reader left before it wrote; return its status and its errors."""
    for unbuffered in ([], ["-u"]):  # fails at the last flush, or at the first line
        words = [command[0], *unbuffered, *command[1:]]
        process = subprocess.Popen(
            words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        if process.wait() != 0 or errors:
            break
    return process.returncode, errors


@pytest.mark.parametrize(
    "command",
    [
        [*PACKAGE, "info", "CartPole-v0"],
        [*PACKAGE, "list"],
        [*PACKAGE, "play", "-h"],
        [sys.executable, "scripts/train_help.py", "CartPole-v0"],
    ],
    ids=lambda command: " ".join(command[-2:]),
)
def test_a_command_whose_reader_leaves_ends_quietly(command) -> None:
    assert left(command) == (0, "")


def test_a_reader_of_errors_that_leaves_is_no_error_either() -> None:
    process = subprocess.Popen(
        [*PACKAGE, "info", "nonsense"], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stderr.close()
    assert process.stdout.read() == b"" and process.wait() in (0, 2)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_runs_with_closed_streams(closed: str) -> None:
    command = f"{sys.executable} -W always -m gpu_envs list {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("CartPole-v0" in done.stdout) == (closed == "2>&-")


def test_a_reader_of_many_lines_may_leave_too() -> None:
    code = (
        "import sys; from gpu_envs.terminal import broken_pipes; broken_pipes.end_quietly(); "
        "sys.stdout.writelines(['line\\n'] * 100_000)"
    )
    assert left([sys.executable, "-c", code]) == (0, "")


def test_other_broken_pipes_are_errors() -> None:
    code = (
        "import os; from gpu_envs.terminal import broken_pipes; broken_pipes.end_quietly(); "
        "reader, writer = os.pipe(); os.close(reader); os.write(writer, b'film')"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 1 and "BrokenPipeError" in process.stderr


def test_a_training_goes_on_without_its_reader() -> None:
    code = (
        "import sys; from gpu_envs.terminal import broken_pipes; broken_pipes.go_on_quietly()\n"
        "for _ in range(3): print('line', flush=True)\n"
        "print('done', file=sys.stderr)"
    )
    assert left([sys.executable, "-c", code]) == (0, "done\n")


def test_the_trainer_goes_on_without_its_reader(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    size = ["--num-envs", "4", "--total-steps", "256", "--device", "cpu", "--out", str(tmp_path)]
    size += ["--evaluation-episodes", "4"]
    assert left([*PACKAGE, "train", "CartPole-v0", *size]) == (0, "")
    assert (tmp_path / "best.ckpt").is_file()
