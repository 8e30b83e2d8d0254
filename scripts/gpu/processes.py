"""Processes of scripts/gpu/check.sh: all of them end with the command, however it ends.

They are one process group. A watcher in it kills the group when the command is gone without a
word, and the kernel kills each child whose parent has died (PR_SET_PDEATHSIG). The command itself
ends with the shell or script that it is part of. So nothing is left to disturb the next command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_PR_SET_PDEATHSIG = 1
_LAST = 6000  # bytes of what a child printed
_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


_parents: dict[int, int] = {}  # whose end is that of a command which is part of another
_watchers: dict[int, int] = {}  # by whom they watch


class Stopped(BaseException):
    """The command was told to end."""


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, or the thread that started it.

    So it is for children of this script's main thread alone: other programs may start theirs from
    a thread that ends.
    """
    with contextlib.suppress(OSError, AttributeError):  # another system: the watcher alone
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def lead() -> Callable[[], None]:
    """Make this process the leader of a group that ends with it; return what ends the watch."""
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
        _parents[os.getpid()] = os.getppid()
    for one in _ENDS:
        signal.signal(one, _stop)
    watched, held = os.pipe()
    watcher = os.fork()
    if not watcher:
        os.close(held)
        _watch(watched)
    _watchers[os.getpid()] = watcher
    os.close(watched)

    def leave() -> None:
        os.write(held, b".")
        os.close(held)

    return leave


def look_for_parent() -> None:
    """Stop where what this command is part of has ended."""
    if os.getppid() != _parents.get(os.getpid(), os.getppid()):
        raise Stopped("stopped with what it was part of")


def _stop(number: int, _: object) -> None:
    raise Stopped(f"stopped by {signal.Signals(number).name}")


def _watch(pipe: int) -> None:
    """Wait for the leader: a byte is its farewell, the end of the pipe its death."""
    for one in _ENDS:
        signal.signal(one, signal.SIG_IGN)
    if not os.read(pipe, 1):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


@dataclass
class Child:
    """A process of a step, its limit, and what it prints."""

    of: str
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    end: float  # by the clock
    begun: float = field(default_factory=time.monotonic)
    is_stopped: bool = False

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.begun

    def printed(self) -> str:
        """What it printed last."""
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - _LAST))
        return self.log.read().decode(errors="replace").strip()


def start(of: str, command: Sequence[str], folder: Path, end: float) -> Child:
    """Start a child of this group; its output goes to a file, since a full pipe would stop it."""
    log = TemporaryFile()
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    return Child(of, process, log, end)


def has_ended(child: Child) -> bool:
    """Whether a child is gone; one whose time is over is ended, with all that it started."""
    if child.process.poll() is not None:
        return True
    if time.monotonic() < child.end:
        return False
    child.is_stopped = True
    end_tree(child.process.pid)
    child.process.wait()
    return True


def end_tree(root: int) -> None:
    """Kill a process and all that descend from it."""
    for one in [root, *_descendants(root)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def end_descendants() -> None:
    """Kill all that this process has started, but for its watcher, which it says farewell to."""
    for one in _descendants(os.getpid()):
        if one != _watchers.get(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text(encoding="ascii", errors="replace")
                parent = int(stat.rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = list(children.get(root, []))
    for one in found:  # grows while it is walked
        found += children.get(one, [])
    return found
