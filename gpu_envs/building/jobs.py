"""Runs compile commands side by side, the longest first, and shows progress on one line."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TextIO

from . import objects
from .objects import Compile
from .toolchain import CannotBuild

_LINE_EVERY = 10.0  # [s] between lines that cannot be overwritten


class Progress:
    """A progress line that is overwritten on a terminal; elsewhere one at most every ten seconds.

    `gpu_envs.terminal.progress` is the same for what may import the package.
    """

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total = title, total
        self._done, self._begin = 0, time.monotonic()
        self._out: TextIO = sys.stderr
        self._is_live = self._out.isatty()
        self._shown = False
        self._last = self._begin

    def begin(self) -> None:
        """Announce the work, where the line is not overwritten."""
        if self._total and not self._is_live:
            files = "1 file" if self._total == 1 else f"{self._total} files"
            self._print(f"gpu_envs: building {self._title} ({files})")

    def at(self, running: Sequence[str]) -> None:
        """Show the running jobs."""
        now = time.monotonic()
        if not self._total or (not self._is_live and now - self._last < _LINE_EVERY):
            return
        self._last = now
        line = f"gpu_envs: building {self._done} of {self._total}, {now - self._begin:.0f} s"
        line = f"{line} ({', '.join(running)})"  # the title may be longer than a line
        if self._is_live:
            width = os.get_terminal_size(self._out.fileno()).columns
            self._print("\r\x1b[K" + line[: width - 1], end="")
            self._shown = True
        else:
            self._print(line)

    def step(self) -> None:
        """Count a finished file."""
        self._done += 1

    def end(self) -> None:
        """End with one line."""
        if self._total:
            seconds = time.monotonic() - self._begin
            start = "\r\x1b[K" if self._is_live else ""
            self._print(f"{start}gpu_envs: built {self._title} in {seconds:.0f} s")

    def abandon(self) -> None:
        """Leave the line as it is, and go below it."""
        if self._shown:
            self._print("")

    def _print(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=self._out, flush=True)


def worker_count() -> int:
    """Return how many commands run at once: the processors that this process may use."""
    return len(os.sched_getaffinity(0))


Made = dict[Compile, tuple[Path, list[str]]]  # the object in the store, and its headers


def run(wanted: Sequence[Compile], title: str) -> Made:
    """Make all objects that the store lacks; `CannotBuild` at the first failure."""
    made: Made = {}
    missing: list[Compile] = []
    for job in wanted:
        found = _shown(job)
        if found is None:
            missing.append(job)
        else:
            made[job] = found
    missing.sort(key=lambda job: -job.weight)
    progress = Progress(title, len(missing))
    progress.begin()
    made |= _compile(missing, progress)
    progress.end()
    return made


def _shown(job: Compile) -> tuple[Path, list[str]] | None:
    """Return a stored object, with its compiler's report where that is asked for."""
    there = objects.found(job)
    if there is None:
        return None
    if job.report:
        objects.place(there[0], job.object, report=True)
    return there[0].object, objects.own(job, there[1])


def _compile(missing: Sequence[Compile], progress: Progress) -> Made:
    """Make objects side by side; after a failure wait for the jobs that run."""
    made: Made = {}
    waiting = list(missing)
    running: dict[Future[tuple[int, str, list[str]]], Compile] = {}
    with ThreadPoolExecutor(worker_count()) as pool:
        while waiting or running:
            while waiting and len(running) < worker_count():
                job = waiting.pop(0)
                running[pool.submit(objects.make, job)] = job
            progress.at([job.object.stem for job in running.values()])
            done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                job = running.pop(future)
                status, printed, _ = future.result()
                if status:
                    progress.abandon()
                    raise CannotBuild(_failure(job, printed))
                made[job] = _taken(job, printed, progress)
    return made


def _taken(job: Compile, printed: str, progress: Progress) -> tuple[Path, list[str]]:
    """Return an object that was made, and show what its compiler said."""
    if printed.strip() and not job.report:
        progress.abandon()
        print(printed, file=sys.stderr)
    found = _shown(job)
    if found is None:
        raise CannotBuild(f"{job.source} changed while it was compiled: try again")
    progress.step()
    return found


_SHOWN = 40  # lines of what a compiler printed
# What nvcc says of a rule that calls a function without GE_FN.
_HOST_ONLY = re.compile(r'calling a (?:constexpr )?__host__ function(?:\("([^"]+)"\))?')


def _host_only(lines: Sequence[str]) -> str:
    """Return the function of the host that a rule calls, by nvcc's errors; "" where none is."""
    for at, line in enumerate(lines):
        if found := _HOST_ONLY.search(line):
            if found[1]:
                return found[1]
            # Errors do not name it: below them is the line, and a caret behind the name.
            shown, caret = [*lines[at + 1 : at + 3], "", ""][:2]
            name = re.search(r"[\w:]+$", shown[: caret.find("^")])
            return name[0] if name else "this"
    return ""


def _failure(job: Compile, printed: str) -> str:
    """Return the message of a command that failed, with the engine's own errors first."""
    lines = printed.rstrip().splitlines()
    own = [line.strip() for line in lines if "GE:" in line][:1]
    if name := _host_only(lines):
        own.insert(0, f"GE: {name} is a function of the host that a rule calls: mark it GE_FN")
    if not own and len(lines) > _SHOWN:  # long lists of who includes whom stand before the cause
        own = [line.strip() for line in lines if "error:" in line][:1]
    log = job.object.with_suffix(".log")
    with contextlib.suppress(OSError):  # what failed may be that nothing can be written
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(printed, encoding="utf-8")
    rest = [f"(all {len(lines)} lines: {log})"] if len(lines) > _SHOWN else []
    shown = [line for line in lines[:_SHOWN] if line.strip() not in own]
    return "\n".join([f"compiling {job.source} failed:", *own, *shown, *rest])
