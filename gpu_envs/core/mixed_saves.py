"""Saves of several games as one: a magic, a JSON header, the saves, and a BLAKE2b of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

_MAGIC = b"gpu_mix\1"
_LENGTH, _DIGEST = 8, 16  # bytes


def joined(saves: Mapping[str, bytes]) -> bytes:
    """Return the saves of games, by id, as one."""
    header = {"version": 1, "games": {game: len(data) for game, data in saves.items()}}
    text = json.dumps(header).encode()
    body = b"".join((_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *saves.values()))
    return body + _digest(body)


def split(data: object) -> dict[str, bytes]:
    """Return the saves of games, by id."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    whole = bytes(data)
    if not whole.startswith(_MAGIC):
        raise ValueError("load: this is not a save of several games")
    body, digest = whole[:-_DIGEST], whole[-_DIGEST:]
    begin = len(_MAGIC) + _LENGTH
    if len(whole) < begin + _DIGEST or _digest(body) != digest:
        raise ValueError("load: the save is damaged or truncated: its checksum does not fit")
    length = int.from_bytes(body[len(_MAGIC) : begin], "little")
    sizes: dict[str, int] = json.loads(body[begin : begin + length])["games"]
    saves, at = {}, begin + length
    for game, size in sizes.items():
        saves[game] = body[at : at + size]
        at += size
    return saves


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
