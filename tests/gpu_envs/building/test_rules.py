"""What rules may not say, found in a header and in what it includes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gpu_envs.building import rules

FOUND = ["std::sin(x)", "std::pow<float>(x, y)", "using std::exp;", "cosf(x)", "#include <math.h>"]
NOT_FOUND = ["ge::sin(x)", "w.sinf(x)", "// std::sin(x)", '"std::sin(x)"', "std::abs(x)"]


@pytest.mark.parametrize("line", FOUND + NOT_FOUND)
def test_functions_of_libm_are_found_in_code_alone(tmp_path: Path, line: str) -> None:
    header = tmp_path / "one.hpp"
    header.write_text(f"#pragma once\n\n{line}\n")
    said = rules.breaches(header)
    assert len(said) == (line in FOUND)
    assert all(each.startswith(f"{header}:3: GE: `") for each in said)


def test_a_reason_lifts_the_rule(tmp_path: Path) -> None:
    header = tmp_path / "one.hpp"
    header.write_text("// lint: allow libm: text for people\n#include <cmath>\n")
    assert rules.breaches(header) == []


def test_headers_from_beside_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    one, two = tmp_path / "tasks" / "one.hpp", tmp_path / "two.hpp"
    one.write_text('#include "engine/environment.hpp"\n#include "../two.hpp"\n')
    two.write_text('#include "tasks/one.hpp"\n#include <cmath>\n')
    assert rules.headers_of(one) == [one, two]
    assert [said.partition(": ")[0] for said in rules.breaches(one)] == [f"{two}:2"]


@pytest.mark.parametrize(
    "line",
    ['#pragma GCC optimize("O3")', "__attribute__((optimize(3)))", "_rdrand32_step(&x)", "asm(x)"],
)
def test_what_changes_flags_or_reads_the_machine_is_found(tmp_path: Path, line: str) -> None:
    header = tmp_path / "one.hpp"
    header.write_text(f"#pragma once\n\n{line}\n")
    (said,) = rules.breaches(header)
    assert said.startswith(f"{header}:3: GE: `")
    header.write_text(f"// lint: allow impure: for a test\n{line}\n")
    assert rules.breaches(header) == []


def test_folders_without_an_end_are_refused_and_those_of_like_names_are_not(
    tmp_path: Path,
) -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".hpp") as file:
        assert rules.unreadable(Path(file.name)) == ""
    assert rules.unreadable(Path("/proc/self/status")) == "it is not a regular file"
    assert rules.unreadable(Path("/dev/zero")) == "it is not a regular file"
    for name in ("development", "processes", "system"):
        header = tmp_path / name / "one.hpp"
        header.parent.mkdir()
        header.touch()
        assert rules.unreadable(header) == ""


@pytest.mark.parametrize("text", ["/*", 'R"(', "#include", "\n", "'", '"', "/*/"])
def test_what_does_not_end_is_read_once(tmp_path: Path, text: str) -> None:
    """Time grows with the length: were it with its square, each of these would take hours."""
    header = tmp_path / "one.hpp"
    header.write_text(text * 100_000)
    assert rules.breaches(header) == []
