"""Runs a compiler, and stops it at limits of time and memory.

A header can keep a compiler busy for ever: by an endless include, or templates that double at each
level. A compiler starts programs of its own, so all of them are stopped.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import compilers

_MOST = 8 << 30  # bytes of memory of one program
_SHARE = 0.75  # share of this machine's memory and swap, where that is less
_SET_BY = "`build --time-limit SECONDS` sets that of a header outside the tree"
# Memory is limited in the compiler's own process: a limit set from here could come too late.
_LIMITED = (
    'ulimit -v "$0" 2>/dev/null; used="$1"; shift; "$@"; status=$?; '
    '{ command times >"/dev/fd/$used"; } 2>/dev/null; exit $status'
)
_TIME = re.compile(r"(\d+)m([\d.]+)s")


class Ran(subprocess.CompletedProcess[str]):
    """A command that has ended, and the processor seconds that it took."""

    processor: float = 0.0


def run(
    command: Sequence[str],
    cwd: Path,
    *,
    seconds: float = 3600.0,
    variables: Sequence[tuple[str, str]] = (),
) -> Ran:
    """Run a command and return its status and all that it printed; it is ended at its limits."""
    reading, writing = os.pipe()
    used = ""
    try:
        done = _run(command, cwd, seconds, writing, compilers.environment() | dict(variables))
        os.close(writing)
        writing = -1
        os.set_blocking(
            reading, False
        )  # a program that the compiler left running may hold the other end
        with contextlib.suppress(BlockingIOError):
            used = os.read(reading, 4096).decode()
    finally:
        for end in {reading, writing} - {-1}:
            os.close(end)
    done.processor = sum(60 * int(minutes) + float(rest) for minutes, rest in _TIME.findall(used))
    return done


def _run(
    command: Sequence[str], cwd: Path, seconds: float, used: int, environment: dict[str, str]
) -> Ran:
    most = memory()
    with subprocess.Popen(
        ["/bin/sh", "-c", _LIMITED, str(most >> 10), str(used), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=cwd,
        env=environment,
        pass_fds=(used,),
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except BaseException as problem:
            _end(process.pid)
            printed, _ = process.communicate()
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            limit = f"GE: it was ended after {seconds:.0f} s, its time limit ({_SET_BY})"
            return Ran(command, 124, f"{limit}\n{printed}")
    status = process.returncode
    if status and ("out of memory" in printed or "virtual memory exhausted" in printed):
        printed = f"GE: it takes more than {most >> 30} GiB of memory\n{printed}"
    return Ran(command, status, printed)


def memory() -> int:
    """Return how many bytes of memory one program may have."""
    have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_MOST, int(_SHARE * (have + swap())))


def swap(path: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes of this machine's swap; 0 where it does not say."""
    try:
        found = re.search(r"^SwapTotal:\s*(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def _end(process: int) -> None:
    """Kill a process and all its children.

    They are of this process's own group, so that an interrupt at a terminal reaches them.
    """
    for each in [process, *_descendants(process)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _descendants(process: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            after = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(after[1]), []).append(int(folder.name))
    found, waiting = [], [process]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
