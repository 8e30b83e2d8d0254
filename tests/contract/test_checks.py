"""tests/checks.json: which tests make a numbered check of a specification. Each of them exists.

{"<specification>": {"<check>": ["tests/x.py::test_y", "native: folder.program test"]}}
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = json.loads((ROOT / "tests" / "checks.json").read_text(encoding="utf-8"))
CASES = [
    pytest.param(number, tests, id=f"{specification}-{number}")
    for specification, checks in CHECKS.items()
    for number, tests in checks.items()
]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of the tests of a file, Python's or a native one's."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cpp":
        return frozenset(re.findall(r"^GE_TEST\((\w+)\)", text, re.MULTILINE))
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def missing(named: str) -> str:
    """Return what of a test's name does not exist, or nothing."""
    if native := re.fullmatch(r"native: ([\w.]+) (\w+)", named):
        path = ROOT / "tests" / "kernels" / f"{native[1].replace('.', '/')}_test.cpp"
        test = native[2]
    elif python := re.fullmatch(r"(tests/[\w/]+\.py)::(test_\w+)", named):
        path, test = ROOT / python[1], python[2]
    else:
        return f"{named!r} is neither 'tests/x.py::test_y' nor 'native: folder.program test'"
    if not path.is_file():
        return f"{named}: there is no {path.relative_to(ROOT)}"
    return "" if test in names_in(path) else f"{named}: {path.name} has no such test"


@pytest.mark.parametrize(("number", "tests"), CASES)
def test_names_in_a_check_exist(number: str, tests: list[str]) -> None:
    assert number.isdecimal()
    assert tests and len(set(tests)) == len(tests)
    assert [problem for named in tests if (problem := missing(named))] == []


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("tests/contract/test_checks.py::test_nothing", "no such test"),
        ("tests/contract/test_check.py::test_nothing", "there is no tests/contract/test_check.py"),
        ("native: voxel.walk jump", "no such test"),
        ("native: voxel.run jump", "there is no tests/kernels/voxel/run_test.cpp"),
        ("walk_test.cpp: jump", "is neither"),
    ],
)
def test_names_of_no_test_are_found(named: str, problem: str) -> None:
    assert problem in missing(named)
