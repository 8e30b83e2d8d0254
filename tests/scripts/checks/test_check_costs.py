"""What an environment adds to the checks: by which names, of which builds, and against what."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.checks import check_costs, ninja_plan
from scripts.checks.check_costs import Row
from scripts.checks.nearest import Tree


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("CartPole-v0", "cartpole"),
        ("CartPole", "cartpole"),
        ("gpu_envs/CartPole-v0", "cartpole"),
        ("CartPole64", "cartpole_forms"),
        ("CartPoleContinuous-v0", "cartpole_forms"),
        ("hide_seek", "hide_seek"),
        ("ObstaclesEasy", "obstacles_easy"),
    ],
)
def test_an_environment_is_found_by_id_and_by_header(name: str, stem: str, tree: Tree) -> None:
    assert check_costs.find(name, tree) == stem


@pytest.mark.parametrize("name", ["CartPol", "Arena-v0", "CartPole-v1", ""])
def test_a_name_of_no_shipped_environment_is_refused(name: str, tree: Tree) -> None:
    with pytest.raises(ValueError, match="unknown environment"):
        check_costs.find(name, tree)


@pytest.mark.parametrize(
    ("stem", "allowed", "why"),
    [
        ("hanabi", 60, "neither"),
        ("overcooked", 60, "neither"),
        ("hide_seek", 150, "kernels/physics"),
        ("obstacles_hard", 150, "kernels/cameras"),
    ],
)
def test_budgets_are_by_what_a_header_includes(
    stem: str, allowed: int, why: str, tree: Tree
) -> None:
    found, said = check_costs.budget(tree.headers[stem], tree)
    assert found == allowed
    assert why in said


NINJA = """\
rule compile
  command = touch $out
  description = Building CXX object $out
rule link
  command = touch $out
  description = Linking CXX executable $out
rule again
  command = test -e $out || touch $out
  generator = 1
  restat = 1
build looked: again | always
build always: phony
build build.ninja: again | looked
"""
OBJECTS = {
    "CMakeFiles/ge_build_lanes.dir/units/hanabi_lanes_0.cpp.o": "lanes",
    "CMakeFiles/ge_lanes_hanabi.dir/units/hanabi_lanes_1.cpp.o": "lanes",
    "CMakeFiles/ge_shuffled_hanabi.dir/units/hanabi_shuffled_0.cpp.o": "shuffled",
    "CMakeFiles/ge_env_hanabi.dir/units/hanabi_cpu_0.cpp.o": "plain",
    "CMakeFiles/ge_build_block32.dir/units/hanabi_cpu_0.cpp.o": "block32",
    "CMakeFiles/test.envs.hanabi.dir/tests/hanabi_test.cpp.o": "tests' own sources",
    "CMakeFiles/ge_shared.dir/units/stamp.cpp.o": "other",
}


def test_what_is_to_be_made_is_planned_and_not_made(tmp_path: Path) -> None:
    rules = [f"build {path}: compile source" for path in OBJECTS]
    rules.append(f"build tests: link {' '.join(OBJECTS)}\n")
    (tmp_path / "build.ninja").write_text(NINJA + "\n".join(rules))
    (tmp_path / "source").touch()
    for _ in range(2):
        ninja_plan.refresh(tmp_path)  # as CMake's glob does it, at each call
        assert sorted(ninja_plan.objects(tmp_path, "tests")) == sorted(OBJECTS)
    made = [ninja_plan.NINJA, "-C", str(tmp_path), "tests"]
    subprocess.run(made, check=True, capture_output=True)
    assert ninja_plan.objects(tmp_path, "tests") == []


def test_objects_are_told_apart_by_build() -> None:
    found = check_costs.by_build(OBJECTS)
    assert {path: build for build, paths in found.items() for path in paths} == OBJECTS


def test_programs_of_an_environment_are_those_with_its_name() -> None:
    programs = "envs.cartpole envs.cartpole_lanes envs.micro engine.executors_lanes.cartpole"
    programs += " engine.executors_flat.cartpole_forms engine.table envs.cartpole_forms"
    chosen = re.compile(check_costs.programs_of("cartpole"))
    found = [name for name in programs.split() if chosen.search(name)]
    assert found == ["envs.cartpole", "envs.cartpole_lanes", "engine.executors_lanes.cartpole"]


def test_seconds_are_those_of_processors_and_not_of_the_wall() -> None:
    clock = check_costs.Clock()
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    assert 0.5 <= clock.seconds(sys.executable, "-c", inner) < 5.0, "with all that it starts"
    begun = time.monotonic()
    assert clock.seconds("sleep", "1") < 0.5
    assert time.monotonic() - begun >= 1.0
    with pytest.raises(SystemExit, match="false failed"):
        clock.seconds("false")


def test_a_header_is_put_back_whoever_ends_the_measuring(tmp_path: Path) -> None:
    header = tmp_path / "ball.hpp"
    header.write_text("as it was")
    program = "import pathlib, time\nfrom scripts.checks import check_costs\n"
    program += f"path = pathlib.Path({str(header)!r})\n"
    program += "with check_costs._changed(path, 'other'):\n    print(path.read_text(), flush=True)"
    program += "\n    time.sleep(60)"
    running = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=check_costs.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "other\n"
    running.terminate()
    assert running.wait(60) == 143
    running.stdout.close()
    assert header.read_text() == "as it was"


def test_the_table_says_what_is_left_of_the_budget() -> None:
    rows = [Row("compiling: modules", 40.0), Row("running: pytest", 12.5, 12.5)]
    lines = check_costs.table("Hanabi-v0", rows, 60, "a board").splitlines()
    assert lines[-2].split() == ["all", "52.5", "12.5"]
    assert lines[-1].endswith("60 (a board): within it, 8 are left")
    over = check_costs.table("Hanabi-v0", [*rows, Row("x", 20.0)], 60, "a board")
    assert over.endswith("60 (a board): above it by 12")
