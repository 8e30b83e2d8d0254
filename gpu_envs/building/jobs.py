"""Runs compile commands side by side, the longest first, and shows where it is on one line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TextIO

from . import objects
from .objects import Compile
from .toolchain import CannotBuild


class Progress:
    """One line that is written over on a terminal; elsewhere a line per milestone."""

    def __init__(self, title: str, total: int, quiet: bool = False) -> None:
        self._title, self._total, self._quiet = title, total, quiet
        self._done, self._begin = 0, time.monotonic()
        self._out: TextIO = sys.stderr
        self._is_live = self._out.isatty()
        self._shown = False

    def begin(self) -> None:
        """Say what is going to happen, where nobody sees the line change."""
        if self._total and not self._is_live:
            files = "1 file" if self._total == 1 else f"{self._total} files"
            self._print(f"gpu_envs: building {self._title} ({files})")

    def at(self, running: Sequence[str]) -> None:
        """Show what runs now."""
        if self._total and self._is_live:
            names = ", ".join(running)
            line = f"gpu_envs: building {self._title}: {self._done} of {self._total}"
            line = f"{line}, {time.monotonic() - self._begin:.0f} s ({names})"
            width = os.get_terminal_size(self._out.fileno()).columns if self._is_live else 100
            self._print("\r\x1b[K" + line[: width - 1], end="")
            self._shown = True

    def step(self) -> None:
        """Count one file that is done."""
        self._done += 1

    def end(self) -> None:
        """Leave one line behind."""
        if self._total:
            seconds = time.monotonic() - self._begin
            start = "\r\x1b[K" if self._is_live else ""
            self._print(f"{start}gpu_envs: built {self._title} in {seconds:.0f} s")

    def abandon(self) -> None:
        """Leave the line as it is, and go below it."""
        if self._shown:
            self._print("")

    def _print(self, text: str, end: str = "\n") -> None:
        if not self._quiet:
            print(text, end=end, file=self._out, flush=True)


def worker_count() -> int:
    """Return how many commands run at once: the processors that this process may use."""
    return len(os.sched_getaffinity(0))


def run(wanted: Sequence[Compile], title: str, quiet: bool = False) -> dict[Compile, list[str]]:
    """Make all objects and return the headers of each; `CannotBuild` at the first failure."""
    headers: dict[Compile, list[str]] = {}
    missing: list[Compile] = []
    for job in wanted:
        found = objects.stored(job)
        if found is None:
            missing.append(job)
        else:
            objects.place(found[0], job.object)
            headers[job] = found[1]
    missing.sort(key=lambda job: -job.weight)
    progress = Progress(title, len(missing), quiet)
    progress.begin()
    headers |= _compile(missing, progress)
    progress.end()
    return headers


def _compile(missing: Sequence[Compile], progress: Progress) -> dict[Compile, list[str]]:
    """Make the objects that the store lacks; what runs when one fails is waited for."""
    headers: dict[Compile, list[str]] = {}
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
                status, printed, headers[job] = future.result()
                if status:
                    progress.abandon()
                    raise CannotBuild(_failure(job, printed))
                _take(job, printed, progress)
    return headers


def _take(job: Compile, printed: str, progress: Progress) -> None:
    """Place an object that was made, and show what its compiler said."""
    if printed.strip() and not job.report:
        progress.abandon()
        print(printed, file=sys.stderr)
    found = objects.stored(job)
    if found is None:
        raise CannotBuild(f"{job.source} changed while it was compiled: try again")
    objects.place(found[0], job.object)
    progress.step()


_SHOWN = 40  # lines of what a compiler printed


def _failure(job: Compile, printed: str) -> str:
    """Return the message of a command that failed: what the engine says of a rule stands first."""
    lines = printed.rstrip().splitlines()
    own = [line.strip() for line in lines if "GE:" in line][:1]
    log = job.object.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(printed, encoding="utf-8")
    rest = [f"(all {len(lines)} lines: {log})"] if len(lines) > _SHOWN else []
    return "\n".join([f"compiling {job.source} failed:", *own, *lines[:_SHOWN], *rest])
