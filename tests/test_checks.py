"""The trace from the specifications to the tests: checks.json, a list of tests per number.

Every test that it names exists. Hide-and-seek's numbers hold for some of its profiles: where their
tests take a `profile`, they have to be run for every one that the table here names.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLE: dict[str, dict[str, list[str]]] = json.loads((TESTS / "checks.json").read_text())
LETTERS = {"p": "port", "f": "fixed", "o": "openai"}

# Hide-and-seek's checks: profiles, of p (port), f (fixed), o (openai).
CHECKS = {
    **{"R1": "pf", "R2": "p", "R3": "p", "R4": "o", "R5": "pf", "R6": "pf", "R7": "pf"},
    **{"R8": "pf", "R9": "pf", "R10": "pfo", "R11": "pf", "R12": "pf"},
    **{"A1": "pf", "A2": "pf", "A3": "pf", "A4": "pf", "A5": "pf", "A6": "pf", "A7": "pf"},
    **{"A8": "pf", "A9": "pf", "A10": "pf", "A11": "p", "A12": "o", "A13": "pf", "A14": "pf"},
    **{"O1": "pf", "O2": "pf", "O3": "pf", "O4": "pf", "O5": "pfo", "O6": "pfo", "O7": "pfo"},
    **{"O8": "pf", "O9": "pfo", "O10": "pf", "O11": "pfo", "O12": "pfo"},
    **{"L1": "p", "L2": "pf", "L3": "pf", "L4": "p", "L5": "f", "L6": "pf", "L7": "pf"},
    **{"L8": "p", "L9": "p", "L10": "pfo", "L11": "f"},
    **{"P1": "pfo", "P2": "pf", "P3": "pf", "P4": "p", "P5": "f", "P6": "pf", "P7": "pf"},
    **{"P8": "pf", "P9": "pf", "P10": "pf", "P11": "pf", "P12": "pfo", "P13": "pfo"},
    **{"P14": "pfo", "P15": "f", "P16": "f"},
    **{"B1": "pfo", "B2": "pfo", "B3": "pfo", "B4": "pf", "B5": "pfo", "B6": "pfo", "B7": "p"},
}

# Check and profile: why it does not hold here, and is not meant to.
NOT_APPLICABLE = {
    "R7p": "a sighting that is paid once more in the next step is a slip of the original's code "
    "for CPUs",
    "R12p": "seekers who grab during the preparation: a guard that the original lost; kept as "
    "freeze='movement', which test_freeze_of_movement_leaves_the_hands_free covers",
    "O3p": "agents whose observed velocity is always zero are an artefact of zeroing it; objects "
    "are tested for both profiles",
    "L6p": "first yaws over half of the circle are a slip; for fixed the whole circle is tested",
    "P4p": "slides measured with a friction bound that ignores mass and depends on the shape; P5 "
    "tests Coulomb's law instead",
    "B7p": "displacements under random play of the original's solver, its friction included",
}
# Figures of one statistic that belong to the original's random generator.
NOT_APPLICABLE_FIGURES = {
    "L2": "15.05 +-0.1 walls: of the original's low-bit generator; 14.9 +-0.15 is tested",
    "L3": "0.775 +-0.015 of perimeters with a gap: likewise; 0.805 +-0.015 is tested",
}
# Of cameras and of the games with voxels: how many checks there are, and why some have no test.
OTHERS = {
    "cameras": (
        20,
        {
            **dict.fromkeys(["12", "13", "14"], "of triangles: boxes and round shapes are drawn"),
            "15": "of scenes made of triangles, which come and go while others are drawn",
            "16": "needs a GPU: scripts/gpu/check.sh captures every environment's steps",
            "18": "needs a GPU: the forms of obstacles_easy.measures.json, by scripts/gpu/check.sh",
            "19": "needs a GPU, and the peer that is compared with",
        },
    ),
    "covid_economy": (18, {}),
    "megaverse": (
        20,
        {str(k): "of another game of the family" for k in range(10, 16)},
    ),
}


@cache
def functions(path: str) -> dict[str, ast.FunctionDef | None]:
    """Return the tests of a file by name; of a native one, without a syntax tree."""
    text = (TESTS / path).read_text()
    if path.endswith(".cpp"):
        return dict.fromkeys(re.findall(r"^(?:GE_TEST|FOR_\w+)\((\w+)\)", text, re.MULTILINE))
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def profiles_of(test: ast.FunctionDef | None) -> set[str] | None:
    """Return the profiles that a test is run for; None where it does not take any."""
    if test is None or "profile" not in [argument.arg for argument in test.args.args]:
        return None
    named = {"PF": {"port", "fixed"}, "ALL": {"port", "fixed", "openai"}}
    profiles: set[str] = set()
    for decorator in test.decorator_list:
        text = ast.unparse(decorator)
        if "parametrize('profile'" in text:
            for name, meant in named.items():
                profiles |= meant if re.search(rf"\b{name}\b", text) else set()
            profiles |= {name for name in LETTERS.values() if f"'{name}'" in text}
    return profiles or None


@pytest.mark.parametrize("specification", TABLE)
def test_every_name_in_the_table_is_a_test(specification):
    for number, names in TABLE[specification].items():
        assert names, number
        for name in names:
            path, _, function = name.partition("::")
            assert function in functions(path), f"{specification} {number}: no test is {name}"


@pytest.mark.parametrize("specification", OTHERS)
def test_every_check_has_a_test_or_a_reason(specification):
    count, reasons = OTHERS[specification]
    assert {*TABLE[specification], *reasons} == {str(k) for k in range(1, count + 1)}
    assert not TABLE[specification].keys() & reasons.keys()


def test_every_check_of_hide_seek_is_in_the_table():
    counts = {"R": 12, "A": 14, "O": 12, "L": 11, "P": 16, "B": 7}
    assert set(CHECKS) == {f"{k}{n}" for k, count in counts.items() for n in range(1, count + 1)}
    for key, reason in NOT_APPLICABLE.items():
        assert key[-1] in CHECKS[key[:-1]]
        assert len(reason) > 20
    assert set(NOT_APPLICABLE_FIGURES) <= set(CHECKS)


@pytest.mark.parametrize("number", CHECKS)
def test_check_of_hide_seek_is_run_for_its_profiles(number):
    wanted = {LETTERS[k] for k in CHECKS[number] if f"{number}{k}" not in NOT_APPLICABLE}
    names = TABLE["hide_seek"].get(number, [])
    assert names or not wanted, f"{number} has no test"
    run = [profiles_of(functions(path)[name]) for path, name in (n.split("::") for n in names)]
    if all(profiles is not None for profiles in run):
        missing = wanted.difference(*(profiles or set() for profiles in run))
        assert not missing, f"{number} is not run for {sorted(missing)}"
