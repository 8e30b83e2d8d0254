"""What a built file says of itself: a label behind its last byte.

A shared object may have anything behind its sections, so file and label are one and are put in
place by one rename. The label holds the length and hash of what stands before it: opening a
truncated library kills the process, so a file is looked through before it is opened. It also says
which engine and target the file is for, and what it was made of, so that nothing stale runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TAIL = struct.Struct("<Q16s8s")  # length and hash of the label, and the magic word
_MAGIC = b"gpu_envs"

# Of one input: time of its last change [ns], bytes, hash of its content.
Input = tuple[int, int, str]


class Damaged(ValueError):
    """A file that cannot be opened safely, or that is for something else."""


@dataclass
class Label:
    """What stands in a label; `inputs` is empty in files that are shipped."""

    kind: str  # "engine", "bindings" or "module"
    target: str
    engine: str  # hash of the engine's headers
    inputs: dict[str, Input] = field(default_factory=dict)
    made: str = ""  # hash of the commands


def hash_of(data: bytes) -> str:
    """Return the hash that labels and objects use."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def seen(path: Path) -> Input:
    """Return what a label keeps of an input."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size, hash_of(path.read_bytes())


def attach(path: Path, label: Label) -> None:
    """Put a label behind the last byte of a file."""
    data = path.read_bytes()
    held: dict[str, Any] = {"length": len(data), "hash": hash_of(data), **vars(label)}
    text = json.dumps(held, separators=(",", ":")).encode()
    with path.open("ab") as file:
        file.write(text + _TAIL.pack(len(text), bytes.fromhex(hash_of(text)), _MAGIC))


def _held(path: Path) -> tuple[dict[str, Any], int]:
    """Return what a file's label says, and where the label begins."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < _TAIL.size:
            raise Damaged(f"{path} is damaged: it has {size} bytes")
        file.seek(size - _TAIL.size)
        length, digest, magic = _TAIL.unpack(file.read(_TAIL.size))
        start = size - _TAIL.size - length
        if magic != _MAGIC or start < 0:
            raise Damaged(f"{path} is no module of gpu_envs, or is damaged: it has no label")
        file.seek(start)
        text = file.read(length)
    if hash_of(text) != digest.hex():
        raise Damaged(f"{path} is damaged: its label cannot be read")
    held: dict[str, Any] = json.loads(text)
    return held, start


def read(path: Path) -> Label:
    """Return the label of a file; `Damaged` where it has none, `OSError` where there is no file."""
    held, start = _held(path)
    if held.pop("length", None) != start:
        raise Damaged(f"{path} is damaged: its length is not the one on its label")
    del held["hash"]
    try:
        return Label(**held)
    except TypeError:
        raise Damaged(f"{path} has a label of another release of gpu_envs") from None


def verify(path: Path) -> Label:
    """Return the label of a file whose every byte is what the label says."""
    label = read(path)
    held, start = _held(path)
    with path.open("rb") as file:
        if hash_of(file.read(start)) != held["hash"]:
            raise Damaged(f"{path} is damaged: its content is not the one on its label")
    return label


def is_current(label: Label, path_of: Callable[[str], str | Path]) -> bool:
    """Whether all that a file was made of is as it was; `path_of` says where an input lies."""
    for name, (time, size, digest) in label.inputs.items():
        path = path_of(name)
        try:
            status = os.stat(path)
            if (status.st_mtime_ns, status.st_size) == (time, size):
                continue
            if status.st_size != size or hash_of(Path(path).read_bytes()) != digest:
                return False
        except OSError:
            return False
    return True
