"""Saves of worlds together with what the players of other roles keep of them.

Such a save is a magic, a JSON header that begins with its length, the simulator's own save, the
players' arrays one after the other, and a BLAKE2b of 16 bytes of everything before it. An array has
a row for each world of the simulator's save.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Rows = Mapping[str, Array]  # arrays by name, each with a row per world

_MAGIC = b"gpu_oth\1"
_LENGTH, _DIGEST = 8, 16  # bytes
_KINDS = "biuf"  # of arrays: bools and numbers


class Kept(NamedTuple):
    """What one player keeps."""

    who: str  # rows of one player mean nothing to another
    rows: Rows


def joined(save: bytes, players: Mapping[str, Kept]) -> bytes:
    """Return a simulator's save and what players keep, by role, as one."""
    arrays = [
        np.ascontiguousarray(rows) for kept in players.values() for rows in kept.rows.values()
    ]
    header = {
        "version": 1,
        "save": len(save),
        "players": {
            role: {"who": kept.who, "arrays": [_described(*item) for item in kept.rows.items()]}
            for role, kept in players.items()
        },
    }
    text = json.dumps(header).encode()
    parts = (array.astype(_plain(array.dtype), copy=False).tobytes() for array in arrays)
    body = b"".join((_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, save, *parts))
    return body + _digest(body)


def split(data: bytes) -> tuple[bytes, int, dict[str, Kept] | None]:
    """Return a simulator's save, its number of worlds, and what players keep, by role.

    None in place of the players: the data are a simulator's save alone, which is not looked into.
    """
    if not data.startswith(_MAGIC):
        return data, 0, None
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if len(data) < len(_MAGIC) + _LENGTH + _DIGEST or _digest(body) != digest:
        raise ValueError(
            "load: the save is damaged or truncated: its checksum does not fit its bytes"
        )
    try:
        return _read(body)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
        raise ValueError(f"load: the save of other players is damaged: {problem}") from problem


def refuse_players(data: bytes) -> None:
    """Refuse a save with players, for a simulator, which has none."""
    if data.startswith(_MAGIC):
        raise ValueError(
            "load: the save has other players in it, which a simulator has not: load it with an "
            "environment that is made with role= and others="
        )


def _read(body: bytes) -> tuple[bytes, int, dict[str, Kept]]:
    header, at = _header(body, len(_MAGIC))
    end = at + _whole(header["save"])
    save = body[at:end]
    worlds = _whole(_header(save, _LENGTH)[0]["worlds"])  # after a magic as long as ours
    players, at = {}, end
    for role, described in header["players"].items():
        rows = {}
        for name, kind, shape in described["arrays"]:
            dtype = np.dtype(kind)
            if dtype.kind not in _KINDS:
                raise ValueError(f"an array of {kind}")
            extent = (worlds, *map(_whole, shape))
            end = at + math.prod(extent) * dtype.itemsize
            if end > len(body):
                raise ValueError("an array goes beyond its end")
            read = np.frombuffer(body[at:end], np.uint8 if dtype.kind == "b" else dtype)
            rows[str(name)] = read.astype(dtype).reshape(extent)
            at = end
        players[str(role)] = Kept(str(described["who"]), rows)
    if at != len(body):
        raise ValueError("it is longer than its arrays")
    return save, worlds, players


def _header(data: bytes, at: int) -> tuple[dict[str, Any], int]:
    """Return a JSON header whose length stands at `at`, and where it ends."""
    begin = at + _LENGTH
    end = begin + int.from_bytes(data[at:begin], "little")
    header: dict[str, Any] = json.loads(data[begin:end])
    return header, end


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _described(name: str, rows: Array) -> tuple[str, str, tuple[int, ...]]:
    return name, _plain(rows.dtype).str, rows.shape[1:]


def _plain(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type with the lowest byte first, as every machine reads it."""
    plain: np.dtype[Any] = kind.newbyteorder("<")
    return plain


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
