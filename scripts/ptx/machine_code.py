"""What a module's machine code says of its kernels: registers, and how long they are.

It can be read where it is not compressed (`GPU_ENVS_CUDA_RUNTIME=interpreted`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from scripts.ptx import fat_binary

_INSTRUCTION = 16  # bytes, from compute capability 7.0 on


@dataclass(frozen=True)
class Code:
    """The machine code of one kernel."""

    registers: int  # of a thread
    instructions: int


def kernels_of(path: Path) -> dict[str, Code]:
    """Return the machine code's kernels by mangled name; of several architectures the last."""
    found: dict[str, Code] = {}
    for part in fat_binary.parts_of(path.read_bytes()):
        if part.kind == fat_binary.ELF and part.data.startswith(b"\x7fELF"):
            found |= _of_elf(part.data)
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
