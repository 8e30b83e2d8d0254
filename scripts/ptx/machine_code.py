"""What a module's machine code says of its kernels: registers, and how long they are.

nvcc puts machine code (ELF) and PTX into one object, the fat binary. Without compression
(`GPU_ENVS_CUDA_RUNTIME=interpreted`) both can be read in place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MAGIC = struct.pack("<I", 0xBA55ED50)
_PTX, _ELF = 1, 2  # kinds of parts
_INSTRUCTION = 16  # bytes, from compute capability 7.0 on


@dataclass(frozen=True)
class Code:
    """The machine code of one kernel."""

    registers: int  # of a thread
    instructions: int


def parts_of(path: Path, kind: int) -> Iterator[bytes]:
    """Yield the PTX (1) or ELF (2) parts of an object or a module."""
    data = path.read_bytes()
    at = data.find(_MAGIC)
    while at >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, at)
        part, end = at + header, at + header + size
        while part < end <= len(data):
            found, _, head, bytes_of = struct.unpack_from("<HHIQ", data, part)
            if head == 0:
                break
            if found == kind:
                yield data[part + head : part + head + bytes_of]
            part += head + bytes_of
        at = data.find(_MAGIC, max(end, at + 4) if end <= len(data) else at + 4)


def texts_of(path: Path) -> list[str]:
    """Return the PTX of an object or a module."""
    return [part.rstrip(b"\0").decode() for part in parts_of(path, _PTX)]


def kernels_of(path: Path) -> dict[str, Code]:
    """Return the machine code's kernels by mangled name; of several architectures the last."""
    found: dict[str, Code] = {}
    for elf in parts_of(path, _ELF):
        if elf[:4] == b"\x7fELF":
            found |= _of_elf(elf)
    return found


def _of_elf(elf: bytes) -> dict[str, Code]:
    table, size, count, names = (
        struct.unpack_from("<Q", elf, 40)[0],
        *struct.unpack_from("<HHH", elf, 58),
    )
    # Fields of a section: name, type, flags, address, offset, size, link, info.
    sections = [struct.unpack_from("<IIQQQQII", elf, table + k * size) for k in range(count)]
    strings = sections[names][4]
    found = {}
    for name, _, _, _, _, length, _, info in sections:
        begin = strings + name
        text = elf[begin : elf.index(b"\0", begin)].decode()
        if text.startswith(".text."):
            found[text.removeprefix(".text.")] = Code(info >> 24, length // _INSTRUCTION)
    return found
