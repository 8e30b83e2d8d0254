"""What the cold gate costs: sums by kind, and what builds share counts once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_envs.building import objects, toolchain
from gpu_envs.building.launcher import asked_for
from scripts.checks import gate_costs
from scripts.checks.gate_costs import Objects

SOURCE = "#include <string>\nint answer();\nint answer() { return 42; }\n"


def test_lists_have_their_sums_and_begin_with_what_took_longest() -> None:
    rows = [("lanes", "arena", 2.0), ("plain", "arena", 1.0), ("lanes", "herd", 3.0)]
    shown, total = gate_costs.text("compiling", [*rows, ("lanes", "arena", 4.0)], top=1)
    assert total == 10.0
    assert shown.splitlines() == [
        "compiling: 10 s",
        "      9.0  lanes, 2",
        "          6.0  arena",
        "      1.0  plain, 1",
        "          1.0  arena",
    ]


def test_what_two_builds_share_counts_once(tmp_path: Path) -> None:
    source, build, held = tmp_path / "a_lanes_0.cpp", tmp_path / "build", tmp_path / "store"
    source.write_text(SOURCE)
    build.mkdir()
    said = []
    for target in ("ge_lanes_a", "ge_flat_a"):
        made = f"{build}/CMakeFiles/{target}.dir/a.o"
        words = [toolchain.cxx(), "-O1", "-o", made, "-c", str(source)]
        said.append({"command": " ".join(words)})
        asked = asked_for(gate_costs.ROOT, words, (held,))
        assert asked is not None
    assert objects.make(asked[0])[0] == 0
    (build / "compile_commands.json").write_text(json.dumps(said))
    rows = list(Objects().of_cmake(build, (held,)))
    assert [row[:2] for row in rows] == [("lanes", "a"), ("flat", "a")]
    assert rows[0][2] > 0
    assert rows[1][2] == 0
    assert list(Objects().of_cmake(tmp_path / "nowhere", (held,))) == []


def test_environments_have_objects_programs_and_tests_of_their_name_and_ids() -> None:
    compiled = [("lanes", "overcooked", 5.0), ("tests' own sources", "overcooked_test", 1.0)]
    ran = [
        ("native programs of build/dev", "engine.executors_lanes.overcooked", 3.0),
        ("native programs of build/dev", "cameras.oracle", 50.0),
        ("pytest", "tests/contract/test_golden.py::test_hashes[Overcooked-v0]", 2.0),
    ]
    shown = gate_costs.by_environment(compiled, ran).splitlines()
    (row,) = [line.split() for line in shown if line.startswith("overcooked ")]
    assert row == ["overcooked", "6.0", "5.0", "11.0", "60"]
    over = gate_costs.by_environment([("lanes", "overcooked", 60.5)], [])
    assert [line for line in over.splitlines() if line.endswith("above it")]


def test_programs_that_the_tree_no_longer_has_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_costs, "ROOT", tmp_path)
    monkeypatch.setattr(gate_costs.places, "store_folder", lambda: tmp_path)
    held = {"dev cameras.light": 1.5, "dev engine.gone": 9.0, "lanes-all cameras.light": 9.0}
    (tmp_path / "native_tests.json").write_text(json.dumps(held))
    (tmp_path / "build" / "dev").mkdir(parents=True)
    (tmp_path / "build" / "dev" / "tests.json").write_text('[{"name": "cameras.light"}]')
    assert list(gate_costs.programs()) == [("native programs of build/dev", "cameras.light", 1.5)]
