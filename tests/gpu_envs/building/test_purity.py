"""What compiled rules may not use, found in their objects."""

from __future__ import annotations

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
    "#include <cmath>\nfloat f(float x) { return cosf(x); }": "`cosf`: use engine/maths/math.hpp",
    "#include <random>\nauto f() { return std::random_device{}(); }": "`random_device`: ",
}  # fmt: skip
NOT_FOUND = [
    "constexpr int table[] = {1, 2}; int f(int k) { return table[k]; }",
    'constexpr const char* names[] = {"a"}; const char* f(int k) { return names[k]; }',
    "struct A { virtual ~A() = default; virtual int f() { return 1; } }; A* f() { return new A; }",
    "#include <vector>\n#include <string>\nstd::vector<std::string> f() { return {\"time\"}; }",
    "// lint: allow impure: it is filled once\nint held[4]; int& f() { return held[0]; }",
]  # fmt: skip


def _made(folder: Path, text: str) -> list[tuple[Path, list[str]]]:
    source, made = folder / "one.cpp", folder / "one.o"
    source.write_text(text)
    command = [toolchain.cxx(), "-std=c++20", "-O1", "-fPIC", "-c", source, "-o", made]
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
    with pytest.raises(ValueError, match=r"one\.o is not a 64-bit object file"):
        symbols.read(tmp_path / "one.o")
