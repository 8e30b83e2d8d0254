"""Ways in which files are damaged, each taken back afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 24, 1


def give_up_writing_everywhere() -> None:
    """Take from root's process what would let it write where the mode says no."""
    if os.geteuid() == 0:
        assert ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0) == 0


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(1, path.stat().st_size))


def _append(path: Path, chance: random.Random) -> None:
    with path.open("ab") as file:
        file.write(chance.randbytes(1 + chance.randrange(100)))


def _swap(path: Path, _: random.Random) -> None:
    """Put another file of its kind in its place."""
    alike = sorted(path.parent.glob(f"[!.]*{path.suffix}"))
    others = (other for other in alike if other != path and other.is_file())
    path.write_bytes(next((other.read_bytes() for other in others), b"another's"))


def _folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, _: random.Random) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _pipe(path: Path, _: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


WAYS: dict[str, Callable[[Path, random.Random], object]] = {
    "flipped": _flip,
    "truncated": _truncate,
    "empty": lambda path, _: path.write_bytes(b""),
    "longer": _append,
    "another's": _swap,
    "missing": lambda path, _: path.unlink(),
    "a folder": _folder,
    "a dangling link": _link,
    "a pipe": _pipe,
}


@contextlib.contextmanager
def damaged(path: Path, way: str, seed: int = 0) -> Iterator[None]:
    """Damage a file for a while."""
    kept = path.with_name(f".kept-{path.name}")  # hidden, so not of the package
    shutil.copy2(path, kept)
    try:
        WAYS[way](path, random.Random(f"{path.name} {way} {seed}"))
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        os.replace(kept, path)
