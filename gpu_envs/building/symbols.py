"""The symbols of an object file: what it wants of others, and which of its variables can change.

Objects are ELF, as on every system that the package runs on; reading them needs no tool.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _WRITE = 2, 1
_OBJECT, _COMMON_TYPE, _TLS = 1, 5, 6
_UNDEFINED, _COMMON, _SPECIAL = 0, 0xFFF2, 0xFF00


class Symbols(NamedTuple):
    """Names as the compiler writes them."""

    undefined: list[str]
    changeable: list[str]  # variables in memory that can be written


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def read(path: Path) -> Symbols:
    """Return the symbols of an object; `ValueError` where it is not 64-bit ELF."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not a 64-bit object file")
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    sections = [_Section(*_SECTION.unpack_from(data, start + size * k)) for k in range(count)]
    names = sections[names_at]
    can_change = [
        bool(section.flags & _WRITE)
        and not _text(data, names.offset + section.name).startswith(".data.rel.ro")
        for section in sections
    ]
    undefined, changeable = [], []
    for name, kind, section in _symbols(data, sections):
        if section == _UNDEFINED:
            undefined.append(name)
        elif kind in (_OBJECT, _COMMON_TYPE, _TLS) and (
            section == _COMMON or (section < _SPECIAL and can_change[section])
        ):
            changeable.append(name)
    return Symbols(undefined, changeable)


def _symbols(data: bytes, sections: list[_Section]) -> Iterator[tuple[str, int, int]]:
    """Yield name, type and section of each symbol that has a name."""
    for table in sections:
        if table.type != _SYMTAB:
            continue
        texts = sections[table.link].offset
        for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
            name, info, _, section, _, _ = _SYMBOL.unpack_from(data, at)
            if name:
                yield _text(data, texts + name), info & 15, section


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(0, at)].decode()
