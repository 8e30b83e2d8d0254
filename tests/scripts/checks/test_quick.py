"""Which tests are near to a change, and which of them fit into the time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.checks import minutes, nearest, pytest_times, quick
from scripts.checks.quick import Candidate

FILES = {
    "kernels/base/shapes.hpp": "struct Shape {};",
    "kernels/base/rays.hpp": '#include "base/shapes.hpp"',
    "kernels/envs/ball/rules.hpp": '#include "../../base/rays.hpp"',
    "kernels/envs/ball/ball.hpp": '#include "rules.hpp"\nBuilds<Build<"Ball-v0", Environment>>;',
    "kernels/envs/cube.hpp": 'Builds<Build<"Cube-v0", Environment>>;',
    "kernels/base/build.hpp": '// Build<"Ball-v0", Environment> makes an id of it',
    "kernels/bindings/all.cpp": "",
    "tests/kernels/base/rays_test.cpp": '#include "base/rays.hpp"',
    "tests/kernels/base/sums_test.cpp": "// environment: sphere cube\n",
    "tests/kernels/engine/executors_lanes_test.cpp": 'read("tests/golden");',
    "tests/kernels/envs/ball_test.cpp": "",
    "gpu_envs/__init__.py": "",
    "gpu_envs/arrays.py": "",
    "gpu_envs/vector.py": "from gpu_envs import arrays\n",
    "gpu_envs/train/__init__.py": "",
    "gpu_envs/train/ppo.py": "from ..vector import step\n",
    "gpu_envs/known/native.py": "",
    "scripts/play": "exec scripts/played.py",
    "scripts/played.py": "import gpu_envs.vector\n",
    "tests/conftest.py": "import gpu_envs.known.native\n",
    "tests/gpu_envs/test_vector.py": "",
    "tests/gpu_envs/test_other.py": "def test():\n    from gpu_envs.vector import step\n",
    "tests/gpu_envs/train/test_ppo_long.py": "",
    "tests/envs/courts.py": 'COURT = "gpu_envs/Ball-v0"\n',
    "tests/envs/test_ball_rules.py": "",
    "tests/envs/test_courts.py": "import courts\n",
    "tests/test_pages.py": '"""Not of kernels/envs/cube.hpp."""\nPAGES = ROOT / "docs"\n',
    "tests/scripts/test_play.py": 'run("scripts/play")\n',
    "tests/golden/ball.txt": "",
    "docs/ball.md": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


@pytest.fixture(scope="module")
def tree() -> nearest.Tree:
    return nearest.Tree()


def git(root: Path, *words: str) -> None:
    named = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", *named, *words], cwd=root, check=True)


def test_what_changed_is_committed_edited_deleted_or_new(root: Path) -> None:
    assert nearest.changed("HEAD", root) == []
    (root / "docs" / "new.md").write_text("")
    (root / "gpu_envs" / "arrays.py").write_text("ONE = 1\n")
    (root / "kernels" / "envs" / "cube.hpp").unlink()
    changed = ["docs/new.md", "gpu_envs/arrays.py", "kernels/envs/cube.hpp"]
    assert nearest.changed("HEAD", root) == changed
    git(root, "add", "-A")
    git(root, "commit", "-qm", "edit")
    assert nearest.changed("HEAD", root) == []
    assert nearest.changed("HEAD~1", root) == changed
    assert "kernels/envs/cube.hpp" not in nearest.files(root)


NEAR = [
    ("kernels/base/rays.hpp", "tests/kernels/base/rays_test.cpp", 0.5),
    ("kernels/base/shapes.hpp", "tests/kernels/base/rays_test.cpp", 1.5),
    ("kernels/base/rays.hpp", "tests/kernels/envs/ball_test.cpp", 2.5),
    ("kernels/envs/ball/ball.hpp", "tests/envs/test_ball_rules.py", 0.5),
    ("kernels/envs/ball/ball.hpp", "tests/envs/test_courts.py", 2.0),
    ("kernels/envs/ball/ball.hpp", "tests/kernels/engine/executors_lanes_test.cpp", 1.0),
    ("kernels/envs/ball/ball.hpp", "tests/kernels/base/sums_test.cpp", None),
    ("kernels/envs/cube.hpp", "tests/kernels/base/sums_test.cpp", 0.5),
    ("kernels/envs/cube.hpp", "tests/test_pages.py", None),
    ("kernels/bindings/all.cpp", "tests/gpu_envs/test_vector.py", 4.0),
    ("gpu_envs/vector.py", "tests/gpu_envs/test_vector.py", 0.5),
    ("gpu_envs/vector.py", "tests/gpu_envs/test_other.py", 1.0),
    ("gpu_envs/arrays.py", "tests/gpu_envs/test_other.py", 2.0),
    ("gpu_envs/arrays.py", "tests/gpu_envs/train/test_ppo_long.py", 2.5),
    ("tests/envs/courts.py", "tests/envs/test_courts.py", 1.0),
    ("tests/envs/test_courts.py", "tests/envs/test_courts.py", 0.0),
    ("tests/conftest.py", "tests/envs/test_courts.py", 2.0),
    ("scripts/play", "tests/scripts/test_play.py", 0.5),
    ("scripts/played.py", "tests/scripts/test_play.py", 1.5),
    ("docs/ball.md", "tests/test_pages.py", 1.5),
    ("tests/golden/ball.txt", "tests/kernels/engine/executors_lanes_test.cpp", 1.5),
]


@pytest.mark.parametrize(("change", "test", "steps"), NEAR)
def test_tests_are_as_far_as_includes_imports_and_names_are(
    root: Path, change: str, test: str, steps: float | None
) -> None:
    tree = nearest.Tree(root)
    assert tree.ids["Ball-v0"] == "kernels/envs/ball/ball.hpp", "and not an example in a comment"
    assert tree.distances([change]).get(test) == steps


def test_a_file_that_is_gone_leads_to_those_that_include_it(root: Path) -> None:
    (root / "kernels/base/shapes.hpp").unlink()
    changes = nearest.changed("HEAD", root)
    near = nearest.Tree(root, also=changes).distances(changes)
    assert near["tests/kernels/base/rays_test.cpp"] == 1.5


def test_every_test_of_this_tree_is_near_to_itself_and_to_what_it_mirrors(
    tree: nearest.Tree,
) -> None:
    assert (
        tree.needs["tests/gpu_envs/faces/test_vector.py"]["gpu_envs/faces/vector.py"]
        == nearest.MIRRORED
    )
    assert tree.headers["cartpole"] == "kernels/envs/cartpole/cartpole.hpp"
    near = tree.distances(["kernels/envs/hanabi/hanabi.hpp"])
    for name in ("tests/kernels/envs/hanabi_test.cpp", "tests/envs/test_hanabi.py"):
        assert near[name] == nearest.MIRRORED
    assert near["tests/gpu_envs/test_hanabi_v0.py"] <= 1.5
    assert near.get("tests/envs/test_flocking.py", 9.0) > 1.5


# ---- what fits


def compiling(part: str) -> float:
    return {"engine": 40.0, "module a": 20.0}[part]


def test_the_nearest_are_chosen_until_the_time_is_full() -> None:
    tests = [
        Candidate("native", "far", 3.0, 1.0),
        Candidate("native", "near", 1.0, 5.0),
        Candidate("native", "long", 2.0, 100.0),
        Candidate("native", "short", 1.0, 2.0),
    ]
    chosen, left = quick.choose(tests, 8.0, compiling)
    assert [test.name for test in chosen] == ["short", "near", "far"]
    assert [test.name for test in left] == ["long"]
    assert quick.choose(tests, 7.0, compiling)[0] == chosen[:2]


def test_what_is_compiled_for_two_counts_once() -> None:
    parts = frozenset({"engine", "module a"})
    tests = [Candidate("native", name, 1.0, 1.0, parts=parts) for name in "ab"]
    assert len(quick.choose(tests, 62.0, compiling)[0]) == 2
    assert len(quick.choose(tests, 61.9, compiling)[0]) == 1
    assert not quick.choose(tests, 60.9, compiling)[0]


def test_the_start_of_pytest_counts_once() -> None:
    tests = [Candidate("pytest", name, 1.0, 1.0) for name in "ab"]
    assert len(quick.choose(tests, 10.0, compiling)[0]) == 2
    assert not quick.choose(tests, 8.9, compiling)[0]


def test_an_edited_environment_brings_its_share_of_what_all_have_to_keep(
    tree: nearest.Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "_old_modules", lambda: {"module hanabi", "module micro"})
    near = tree.distances(["kernels/envs/hanabi/hanabi.hpp"])
    tests = {test.name: test for test in quick.python_tests(tree, near, {})}
    golden = tests["tests/contract/test_golden.py"]
    assert str(golden) == "tests/contract/test_golden.py -k Hanabi-v0"
    assert golden.parts == {"module hanabi"}
    assert tests["tests/envs/test_hanabi.py"].parts == {"module hanabi"}
    engine = tree.distances(["kernels/bindings/bind.cpp", *tree.headers.values()])
    tests = {test.name: test for test in quick.python_tests(tree, engine, {})}
    assert not tests["tests/contract/test_golden.py"].ids
    assert tests["tests/contract/test_golden.py"].parts == {"module hanabi", "module micro"}


def test_programs_of_one_environment_are_as_far_as_it_is(root: Path) -> None:
    tree = nearest.Tree(root)
    source = "tests/kernels/engine/executors_lanes_test.cpp"
    targets = ["test.engine.executors_lanes.ball", "test.engine.executors_lanes.cube"]
    targets += ["test.engine.executors_lanes_more", "test.engine.executors"]
    ball, cube = targets[:2]
    for change, programs in {
        "kernels/envs/ball/rules.hpp": {ball: 2.0},
        "kernels/envs/cube.hpp": {cube: 1.0},
        source: {ball: 0.0, cube: 0.0},
    }.items():
        near = tree.distances([change])
        assert quick.programs_of(source, targets, tree, near) == programs
    blocks = ["test.engine.executors_blocks.block1", "test.engine.executors_blocks.plain"]
    near = {"tests/kernels/engine/executors_blocks_test.cpp": 1.0}
    found = quick.programs_of(next(iter(near)), blocks, tree, near)
    assert found == dict.fromkeys(blocks, 1.0)


def test_each_kind_has_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}

    def run(tests: list[Candidate], clock: quick.Clock) -> bool:
        given[tests[0].kind] = clock.left
        return tests[0].kind == "pytest"

    monkeypatch.setattr(quick, "run_python", run)
    monkeypatch.setattr(quick, "run_native", run)
    tests = [Candidate("native", "a", 1.0, 12.0, parts=frozenset({"engine", "module a"}))]
    tests.append(Candidate("pytest", "b", 2.0, 28.0))
    assert not quick.run_chosen(tests, quick.Clock(54.0), compiling)
    assert given["native"] == pytest.approx(36.0, abs=1.0)  # 72 of 108
    assert given["pytest"] == pytest.approx(54.0, abs=1.0), "what the first left is the second's"


# ---- times


def test_times_of_native_tests_are_those_of_the_build_without_sanitizers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path))
    assert quick.times_of_native_tests() == {}
    (tmp_path / "native_tests.json").write_text('{"dev engine.table": 1.5, "asan engine.table": 9}')
    assert quick.times_of_native_tests() == {"engine.table": 1.5}
    (tmp_path / "native_tests.json").write_text("[]")
    assert quick.times_of_native_tests() == {}


TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no fixture")

def test_that_passes(): pass
def test_that_fails(): assert 1 == 2
def test_without_fixture(broken): pass
"""


def test_times_and_failures_are_written_as_tests_end(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    times = tmp_path / "times"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "scripts.checks.pytest_times"]
    command += [
        "-c",
        "pyproject.toml",
        "--rootdir",
        str(tmp_path),
        "--times",
        str(times),
        str(tmp_path / "test_some.py"),
    ]
    subprocess.run(command, cwd=nearest.ROOT, capture_output=True, check=False)
    took = list(pytest_times.read(times))
    assert len(took) == 8, "set-up, test and end of three, one of which had no set-up"
    assert {one.file for one in took} == {"test_some.py"}
    failures = sorted(one.failed for one in took if one.failed)
    assert len(failures) == 2
    assert "test_that_fails" in failures[0]
    assert "assert 1 == 2" in failures[0]
    assert "no fixture" in failures[1]


def report_of(folder: Path, *rows: tuple[str, float, str]) -> Path:
    lines = [json.dumps(row) + "\n" for row in rows]
    (folder / "times").write_text("".join(lines) + '["tests/test_cut')
    return folder / "times"


def test_times_of_a_report_are_kept_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    minutes.keep("durations.json", {"pytest": {"tests/a.py": 9.0, "tests/x.py": 1.0}})
    rows = ("tests/a.py", 1.5, ""), ("tests/a.py", 2.0, "failed"), ("tests/b.py", 1.0, "")
    quick.record(report_of(tmp_path, *rows))
    assert minutes.read("durations.json")["pytest"] == {
        "tests/a.py": 3.5,
        "tests/b.py": 1.0,
        "tests/x.py": 1.0,
    }


def test_times_of_a_run_that_was_ended_are_at_least_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    for known, kept in ((1.0, 2.0), (3.0, 3.0)):
        minutes.keep("durations.json", {"pytest": {"tests/a.py": known}})
        quick.record(report_of(tmp_path, ("tests/a.py", 2.0, "")), whole=False)
        assert minutes.read("durations.json")["pytest"] == {"tests/a.py": kept}


def test_a_failure_before_the_time_is_over_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    for failed, passed in (("x == y", False), ("", True)):
        line = json.dumps(("tests/a.py", 1.0, failed))
        # In place of pytest: it gets the report's name behind --times.
        program = f"while [ $1 != --times ]; do shift; done; echo '{line}' >$2; sleep 60"
        monkeypatch.setattr(quick, "_pytest", lambda _, p=program: ["bash", "-c", p, "bash"])
        tests = [Candidate("pytest", "tests/a.py", 1.0, 1.0)]
        assert quick.run_python(tests, quick.Clock(1.0)) is passed
        assert (failed in capfd.readouterr().out) is True


def test_native_tests_that_drop_out_and_lint_that_does_not_end_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not quick.lint(quick.Clock(0.0))
    assert "before lint had ended" in capsys.readouterr().out
    cmake = tmp_path / ".venv" / "bin" / "cmake"
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    (tmp_path / "kernels").mkdir()
    near = {"tests/kernels/engine/a_test.cpp": 0.0}
    for text in ("", "#!/bin/sh\necho why >&2; exit 1\n"):
        if text:
            cmake.parent.mkdir(parents=True)
            cmake.write_text(text)
            cmake.chmod(0o755)
        assert quick.native_tests(nearest.Tree(nearest.ROOT), near, {}) == []
        said = capsys.readouterr().out
        assert "quick: CMake failed: no native test is run" in said
        assert ("why" if text else "No such file") in said


def test_commands_are_ended_when_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    clock = quick.Clock(0.5)
    assert clock.run(["bash", "-c", f"exec 9>{pipe}; echo begun >&9; sleep 60; true"])[0] is None
    assert clock.left == 0
    assert os.read(reader, 99) == b"begun\n"
    ended, _, _ = select.select([reader], [], [], 10.0)
    assert ended, "what the command started goes on"
    os.close(reader)
    assert quick.Clock(60).run(["bash", "-c", "echo said; exit 3"], quiet=True) == (3, "said\n")
