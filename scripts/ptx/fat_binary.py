"""Reads fat binaries, in which nvcc puts PTX and machine code into objects.

NVIDIA does not document the format; this is what nvcc 13.0 writes. A fat binary stands at a
multiple of 8 bytes and has a header of 16: magic, version, its own size, that of the parts. Each
part begins with its kind, a version, the size of its header and of what follows; flags stand at
byte 40.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

PTX, ELF = 1, 2  # kinds of parts
_MAGIC = struct.pack("<I", 0xBA55ED50)
_COMPRESSED = 0xA000  # flags for LZ4 and Zstandard
_HEAD = 48  # bytes of a part's header, at least


@dataclass(frozen=True)
class Part:
    """A part of a fat binary: PTX or machine code."""

    kind: int
    is_compressed: bool
    data: bytes


def parts_of(data: bytes) -> Iterator[Part]:
    """Yield the parts of all fat binaries in an object or a module."""
    at = data.find(_MAGIC)
    while 0 <= at <= len(data) - 16:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        part, end = at + header, min(at + header + size, len(data))
        while part + _HEAD <= end:
            kind, _, head, length = struct.unpack_from("<HHIQ", data, part)
            if head < _HEAD or part + head + length > end:
                break
            flags = struct.unpack_from("<Q", data, part + 40)[0]
            begin = part + head
            yield Part(kind, bool(flags & _COMPRESSED), data[begin : begin + length])
            part = begin + length
        at = data.find(_MAGIC, max(part, at + 8))
