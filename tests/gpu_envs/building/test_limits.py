"""Compilers that take too long or too much."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpu_envs.building import limits


def test_all_that_a_command_has_started_is_ended(tmp_path: Path) -> None:
    program = f"sleep 1000 & echo $! > {tmp_path}/pid; sleep 1000"
    done = limits.run(["/bin/sh", "-c", program], tmp_path, seconds=1)
    assert done.returncode == 124
    assert done.stdout.startswith(
        "GE: it was ended after 1 s, its time limit (`build --time-limit "
    )
    child = Path("/proc") / (tmp_path / "pid").read_text().strip() / "stat"
    for _ in range(1000):  # until its new parent has asked for it
        if not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.01)
    raise AssertionError(child.read_text())


def test_memory_is_limited(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(limits, "memory", lambda: 1 << 30)
    done = limits.run([sys.executable, "-c", "bytearray(2 << 30)"], tmp_path, seconds=60)
    assert "MemoryError" in done.stdout


def test_what_a_command_prints_and_returns_is_passed_on(tmp_path: Path) -> None:
    program = "import os, sys; os.write(1, b'a\\xff'); print(os.getcwd(), file=sys.stderr); exit(3)"
    done = limits.run([sys.executable, "-c", program], tmp_path, seconds=60)
    assert isinstance(done, subprocess.CompletedProcess)
    assert (done.returncode, done.stdout) == (3, f"a\ufffd{tmp_path}\n")


def test_swap_counts_as_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "meminfo"
    said.write_text("MemTotal: 1 kB\nSwapTotal:       2097148 kB\n")
    assert limits.swap(said) == 2097148 << 10
    assert limits.swap(tmp_path / "missing") == 0
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1 << 18, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(limits, "swap", lambda: 1 << 30)
    assert limits.memory() == 3 << 29  # three quarters of 2 GiB


def test_the_processor_seconds_of_a_command_are_known(tmp_path: Path) -> None:
    program = "import time\nwhile time.process_time() < 0.3: pass"
    done = limits.run([sys.executable, "-c", program], tmp_path, seconds=60)
    assert 0.29 <= done.processor < 3
    assert limits.run(["sleep", "0.3"], tmp_path, seconds=60).processor < 0.2
