"""The symbols of an object file: its undefined names, and its writable variables.

Objects are ELF, as on every system that the package runs on; reading them needs no tool.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import places

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _INDICES, _WRITE = 2, 18, 1
_OBJECT, _COMMON_TYPE, _TLS = 1, 5, 6
_UNDEFINED, _COMMON, _SPECIAL, _ELSEWHERE = 0, 0xFFF2, 0xFF00, 0xFFFF
_NO_CODE = "has no machine code (with `-flto` compilers write none: take it out of CXXFLAGS)"


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
    """Return the symbols of an object; `CannotBuild` where it is not 64-bit ELF with code."""
    data = path.read_bytes()
    if data[:2] == b"BC":  # LLVM's bitcode
        raise places.CannotBuild(f"{path} {_NO_CODE}")
    if data[:6] != b"\x7fELF\x02\x01":
        raise places.CannotBuild(f"{path} is not a 64-bit object file")
    sections, names = _sections(data)
    can_change = [
        bool(section.flags & _WRITE)
        and not _text(data, names.offset + section.name).startswith(".data.rel.ro")
        for section in sections
    ]
    undefined, changeable = [], []
    for name, kind, section in _symbols(data, sections):
        if name == "__gnu_lto_slim":
            raise places.CannotBuild(f"{path} {_NO_CODE}")
        if section == _UNDEFINED:
            undefined.append(name)
        elif kind in (_OBJECT, _COMMON_TYPE, _TLS) and (section is None or can_change[section]):
            changeable.append(name)
    return Symbols(undefined, changeable)


def _sections(data: bytes) -> tuple[list[_Section], _Section]:
    """Return an object's sections, and the section of their names."""
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    if count == 0 or names_at == _ELSEWHERE:  # too large: the first section has it
        first = _Section(*_SECTION.unpack_from(data, start))
        count, names_at = count or first.size, first.link if names_at == _ELSEWHERE else names_at
    sections = [_Section(*_SECTION.unpack_from(data, start + size * k)) for k in range(count)]
    return sections, sections[names_at]


def _symbols(data: bytes, sections: list[_Section]) -> Iterator[tuple[str, int, int | None]]:
    """Yield name, type and section of each symbol that has a name.

    A common variable has no section yet; constants, which have none either, are left out.
    """
    for index, table in enumerate(sections):
        if table.type != _SYMTAB:
            continue
        texts = sections[table.link].offset
        wide = next((s.offset for s in sections if (s.type, s.link) == (_INDICES, index)), 0)
        for k, at in enumerate(range(table.offset, table.offset + table.size, _SYMBOL.size)):
            name, info, _, section, _, _ = _SYMBOL.unpack_from(data, at)
            if section == _ELSEWHERE:
                (section,) = struct.unpack_from("<I", data, wide + 4 * k)
            elif section >= _SPECIAL and section != _COMMON:
                continue
            if name:
                kept = None if section == _COMMON else section
                yield _text(data, texts + name), info & 15, kept


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(0, at)].decode()
