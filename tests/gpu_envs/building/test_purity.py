"""What compiled rules may not use, found in their objects."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from gpu_envs.building import purity, symbols, toolchain

STATE = "it outlives a step"
FOUND = {
    "extern int calls; int calls = 3;": f"`calls`: {STATE}",
    "int next() { static int count = 0; return ++count; }": f"`count`: {STATE}",
    "int next() { thread_local int count = 0; return ++count; }": f"`count`: {STATE}",
    "namespace deep::er { int many[4]; int& first() { return many[0]; } }": f"`many`: {STATE}",
    "const char* names[] = {\"a\"};": f"`names`: {STATE}",
    "#include <ctime>\nlong now() { return time(nullptr); }": ":2: GE: the call of `time`: ",
    "#include <ctime>\nint hour(long t) { return localtime(&t)->tm_hour; }": "`localtime`: it",
    "#include <unistd.h>\nlong cores() { return sysconf(84); }": "`sysconf`: it differs",
    "#include <cmath>\nfloat f(float x) { return cosf(x); }": "`cosf`: use engine/maths/math.hpp",
    "#include <random>\nauto f() { return std::random_device{}(); }": "`random_device`: ",
}  # fmt: skip
NOT_FOUND = [
    "constexpr int table[] = {1, 2}; int f(int k) { return table[k]; }",
    'constexpr const char* names[] = {"a"}; const char* f(int k) { return names[k]; }',
    "struct A { virtual ~A() = default; virtual int f() { return 1; } }; A* f() { return new A; }",
    "#include <vector>\n#include <string>\nstd::vector<std::string> f() { return {\"time\"}; }",
    "#include <cmath>\n// lint: allow libm: for people\nfloat f(float x) { return std::cos(x); }",
    "#include <cmath>\n// lint: allow libm: for people\nfloat f(float x) { return cosf(x); }",
    "float f(float x) { return __builtin_fmaf(x, x, 1.0f); }",
    "// lint: allow impure: it is filled once\nint held[4]; int& f() { return held[0]; }",
]  # fmt: skip


def _made(folder: Path, text: str, *flags: str) -> list[tuple[Path, list[str]]]:
    source, made = folder / "one.cpp", folder / "one.o"
    source.write_text(text)
    command = [toolchain.cxx(), "-std=c++20", "-O1", "-fPIC", *flags, "-c", source, "-o", made]
    subprocess.run(command, check=True, capture_output=True)
    return [(made, [str(source)])]


@pytest.mark.parametrize("text", FOUND)
def test_clocks_random_numbers_and_state_are_named_with_their_line(
    tmp_path: Path, text: str
) -> None:
    said = purity.breaches(_made(tmp_path, text))
    assert len(said) == 1
    assert FOUND[text] in said[0]
    assert said[0].startswith(f"{tmp_path / 'one.cpp'}:{1 + text.count(chr(10))}: GE: ")


@pytest.mark.parametrize("text", NOT_FOUND)
def test_tables_classes_and_the_library_are_none(tmp_path: Path, text: str) -> None:
    assert purity.breaches(_made(tmp_path, text)) == []


def test_what_is_no_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.o").write_text("no object")
    with pytest.raises(toolchain.CannotBuild, match=r"one\.o is not a 64-bit object file"):
        symbols.read(tmp_path / "one.o")


def test_objects_without_code_name_the_flag(tmp_path: Path) -> None:
    made = _made(tmp_path, "int f() { return 1; }", "-flto", "-fno-fat-lto-objects")
    with pytest.raises(toolchain.CannotBuild, match="with `-flto` compilers write none"):
        purity.breaches(made)
    made[0][0].write_bytes(b"BC\xc0\xde")  # as clang writes them
    with pytest.raises(toolchain.CannotBuild, match="with `-flto` compilers write none"):
        purity.breaches(made)


def test_a_declaration_is_shown_and_not_a_use(tmp_path: Path) -> None:
    lines = [
        "#include <string>",
        'const std::string kTitle = "a long title that lies on the heap";',
        "inline const char* title() { return kTitle.c_str(); }",
        "const char* used() { return title(); }",
    ]
    (said,) = purity.breaches(_made(tmp_path, "\n".join(lines)))
    assert said.startswith(f"{tmp_path / 'one.cpp'}:2: GE: the variable `kTitle`: ")
    assert said.endswith("for a table that is filled once, `// lint: allow impure: why` above it")


def test_sections_whose_count_needs_more_than_its_field_are_read(tmp_path: Path) -> None:
    ((path, _),) = _made(tmp_path, "int held; extern int other; int f() { return held += other; }")
    plain, data = symbols.read(path), bytearray(path.read_bytes())
    (start,) = struct.unpack_from("<Q", data, 0x28)
    count, names_at = struct.unpack_from("<HH", data, 0x3C)
    struct.pack_into("<HH", data, 0x3C, 0, 0xFFFF)
    struct.pack_into("<QI", data, start + 0x20, count, names_at)
    path.write_bytes(data)
    assert symbols.read(path) == plain
    assert plain.changeable == ["held"]
    assert "other" in plain.undefined


def test_symbols_in_sections_above_the_field_are_read(tmp_path: Path) -> None:
    source, made = tmp_path / "one.s", tmp_path / "one.o"
    many = "".join(f".section .s{k}\n" for k in range(0xFF10))
    variable = '.section .data.last,"aw"\n.globl held\n.type held,@object\nheld: .long 1\n'
    source.write_text(many + variable)
    subprocess.run([toolchain.cxx(), "-c", source, "-o", made], check=True)
    assert symbols.read(made).changeable == ["held"]
