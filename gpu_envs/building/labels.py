"""Labels of built files: a description after a file's last byte.

A shared object may have anything behind its sections, so file and label are one and are put in
place by one rename. The label holds the length and hash of what stands before it: opening a
truncated library kills the process, so a file is looked through before it is opened. It also says
which engine and target the file is for, and what it was made of, so that nothing stale runs. The
label of a module names its data files with their hashes: one of another content is not read.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import stat
import struct
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import places

_TAIL = struct.Struct("<Q16s8s")  # length and hash of the label, and the magic word
_MAGIC = b"gpu_envs"
_SECTION = b"gpu_envs"  # name of the section of WebAssembly that holds a label
_HEAD = 1 + 5 + 1 + len(_SECTION)  # bytes of such a section before the label: kind, size, name

# One input: time of its last change [ns], bytes, hash of its content.
Input = tuple[int, int, str]


Damaged = places.Damaged
hash_of = places.hash_of


@dataclass
class Label:
    """The fields of a label; `inputs` is empty in shipped files."""

    kind: str  # "runtime", "engine", "bindings" or "module"
    target: str
    engine: str  # hash of the engine's headers
    inputs: dict[str, Input] = field(default_factory=dict)
    made: str = ""  # hash of the commands
    name: str = ""  # of the file, so that another environment's module is not mistaken for it
    data: dict[str, str] = field(default_factory=dict)  # hash of each data file, by name


def seen(path: Path) -> Input:
    """Return the entry of an input in a label."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size, hash_of(path.read_bytes())


@functools.lru_cache(maxsize=4096)
def _hash_at(path: str, _state: tuple[int, int, int]) -> str:
    return hash_of(Path(path).read_bytes())


def data_in(folders: Iterable[Path]) -> dict[str, tuple[Path, str]]:
    """Return path and hash of the data files in these folders, by name; the first folder wins.

    A content is read again when the times or the size of its file have changed.
    """
    found: dict[str, tuple[Path, str]] = {}
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.name.startswith(".") or path.name in found or not path.is_file():
                continue
            status = path.stat()
            state = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            found[path.name] = path, _hash_at(str(path), state)
    return found


def attach(path: Path, label: Label) -> None:
    """Append a label to a file, with the file's name where the label has none."""
    data = path.read_bytes()
    held = {"length": len(data), "hash": hash_of(data), **vars(label)}
    held["name"] = label.name or path.name
    if path.suffix == ".wasm":
        data = _in_section(data, held)
    with path.open("wb") as file:
        file.write(data + _tail(held))


def _in_section(data: bytes, held: dict[str, Any]) -> bytes:
    """Return a module of WebAssembly and the head of a section, for which the label follows.

    Behind its sections such a module may have nothing, but a section of any name. Length and hash
    in the label are changed to include the head, which has the label's length and so is made first.
    """
    held["length"] = len(data) + _HEAD
    size = 1 + len(_SECTION) + len(_tail(held))
    spelled = bytes([(size >> (7 * k) & 0x7F) | (0x80 if k < 4 else 0) for k in range(5)])  # LEB128
    data += bytes([0]) + spelled + bytes([len(_SECTION)]) + _SECTION
    held["hash"] = hash_of(data)
    return data


def _tail(held: dict[str, Any]) -> bytes:
    text = json.dumps(held, separators=(",", ":")).encode()
    return text + _TAIL.pack(len(text), bytes.fromhex(hash_of(text)), _MAGIC)


def renew(path: Path, **changes: Any) -> None:
    """Change the label of a file, by one rename; length and hash of the content stay as they are.

    So a file whose content is damaged is still known as damaged afterwards.
    """
    held, start = _held(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".label-", delete=False) as file:
        file.write(path.read_bytes()[:start] + _tail(held | changes))
    shutil.copymode(path, file.name)
    os.replace(file.name, path)


def _held(path: Path) -> tuple[dict[str, Any], int]:
    """Return the fields of a file's label, and the offset of the label."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):  # a pipe would not be opened
        raise Damaged(f"{path} is damaged: it is not a regular file")
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < _TAIL.size:
            raise Damaged(f"{path} is damaged: it has {size} bytes")
        file.seek(size - _TAIL.size)
        length, digest, magic = _TAIL.unpack(file.read(_TAIL.size))
        start = size - _TAIL.size - length
        if magic != _MAGIC or start < 0:
            raise Damaged(f"{path} is damaged, or not a module of gpu_envs: it has no label")
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
        raise Damaged(f"{path} is damaged: its length differs from its label")
    del held["hash"]
    try:
        label = Label(**held)
    except TypeError:
        raise Damaged(f"{path} was labelled by another release of gpu_envs") from None
    if label.name not in ("", path.name):  # earlier builds left it out
        raise Damaged(f"{path} is damaged: its label names another file, {label.name!r}")
    return label


def content_hash(path: Path) -> str:
    """Return the hash of the content in front of the label, which a new label does not change."""
    return str(_held(path)[0]["hash"])


def content(path: Path) -> bytes:
    """Return what a file was before it had a label."""
    length = _held(path)[0]["length"] - (_HEAD if path.suffix == ".wasm" else 0)
    return path.read_bytes()[:length]


def verify(path: Path) -> Label:
    """Return the label of a file, after checking its content against the hash in the label."""
    label = read(path)
    held, start = _held(path)
    with path.open("rb") as file:
        if hash_of(file.read(start)) != held["hash"]:
            raise Damaged(f"{path} is damaged: its content does not match its label")
    return label


def is_current(label: Label, path_of: Callable[[str], str | Path]) -> bool:
    """Whether all inputs of a file are unchanged; `path_of` locates an input."""
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
