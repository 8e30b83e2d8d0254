"""The runner of native tests believes a proof where nothing changed, and nothing else."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from damages import give_up_writing_everywhere

from scripts.checks import native_tests

COMPILER = os.environ.get("CXX", "c++")
SEES = """
test "$(cat tests/golden/arena.txt)" = "one" || { echo "golden: other"; exit 1; }
cat data/maze/a.bin >/dev/null || exit 1
echo ran
"""


class Build:
    """A build folder with one program, a script, and what it reads."""

    def __init__(self, folder: Path) -> None:
        self.root, self.build, self.ran = folder / "tree", folder / "build", folder / "ran"
        (self.root / "tests/golden").mkdir(parents=True)
        (self.root / "data/maze").mkdir(parents=True)
        self.golden = self.root / "tests/golden/arena.txt"
        self.golden.write_text("one")
        self.data = self.root / "data/maze/a.bin"
        self.data.write_text("a")
        (self.root / "undeclared.txt").write_text("")
        self.build.mkdir()
        self.module = self.build / "module.so"
        self.module.write_text("module")
        self.tests: list[dict[str, object]] = []
        self.store = folder / "store"
        self.variables = {**os.environ, "GPU_ENVS_STORE": str(self.store)}

    def add(self, name: str, script: str = SEES, **said: object) -> Path:
        program = self.build / f"test.{name}"
        program.write_text(f"#!/bin/sh\necho {name} >>{self.ran}\n{script}\n")
        program.chmod(0o755)
        line = {"name": name, "program": program.name, "launcher": [], "loads": ["module.so"]}
        line |= {"reads": ["tests/golden/arena.txt", "data/maze"], "always": []}
        self.tests.append(line | said)
        (self.build / "tests.json").write_text(json.dumps(self.tests))
        return program

    def command(self, *arguments: str) -> list[str]:
        places = ["--build", str(self.build), "--root", str(self.root)]
        return [sys.executable, native_tests.__file__, *places, *arguments]

    def run(
        self, *arguments: str, before: Callable[[], object] | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=before,
        )

    def times(self) -> int:
        return len(self.ran.read_text().split()) if self.ran.exists() else 0

    def proofs(self) -> list[Path]:
        return sorted((self.store / "proofs").glob("*.json"))


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return Build(tmp_path)


def test_program_that_passed_is_proven_before(build: Build) -> None:
    build.add("one")
    first, again = build.run(), build.run()
    assert (first.returncode, again.returncode) == (0, 0)
    assert "1 passed, 0 proven before, 0 failed" in first.stdout
    assert "proven before       one\n" in again.stdout
    assert "0 passed, 1 proven before, 0 failed" in again.stdout
    assert build.times() == 1
    assert "1 passed, 0 proven before" in build.run("--anew").stdout
    assert build.times() == 2


def _change_golden(build: Build) -> None:
    build.golden.write_text("one\n")  # a line that the shell reads as before


def _change_data(build: Build) -> None:
    build.data.write_text("b")


def _add_data(build: Build) -> None:
    (build.data.parent / "b.bin").write_text("")


def _rename_data(build: Build) -> None:
    build.golden.parent.joinpath("more.txt").write_text("")
    build.tests[0]["reads"] = ["tests/golden", "data/maze"]
    (build.build / "tests.json").write_text(json.dumps(build.tests))


def _change_module(build: Build) -> None:
    build.module.write_text("elude")  # another content


def _change_program(build: Build) -> None:
    program = build.build / "test.one"
    program.write_text(program.read_text() + "true\n")


@pytest.mark.parametrize(
    "change",
    [_change_golden, _change_data, _add_data, _rename_data, _change_module, _change_program],
)
def test_what_changed_is_run(build: Build, change: Callable[[Build], None]) -> None:
    build.add("one")
    assert build.run().returncode == 0
    change(build)
    assert "1 passed, 0 proven before" in build.run().stdout
    assert build.times() == 2


def test_variable_of_the_list_is_part_of_the_name_and_no_other_is_passed_on(build: Build) -> None:
    build.add("one", 'echo "[$UBSAN_OPTIONS][$GE_WRITE_GOLDEN]"; exit ${UBSAN_OPTIONS:-0}')
    assert build.run().returncode == 0
    assert "1 proven before" in build.run(GE_WRITE_GOLDEN="1").stdout
    found = build.run(UBSAN_OPTIONS="7", GE_WRITE_GOLDEN="1")
    assert found.returncode == 1 and "[7][]" in found.stdout


def test_planted_bug_is_found_in_the_first_run_after_it(build: Build) -> None:
    build.add("one")
    build.add("two", "exit 0")
    assert build.run().returncode == 0
    build.golden.write_text("two")
    found = build.run()
    assert found.returncode == 1
    assert "golden: other" in found.stdout and "failed: one" in found.stdout
    build.golden.write_text("one")
    assert "0 passed, 2 proven before" in build.run().stdout


def test_failure_is_never_kept(build: Build) -> None:
    build.add("one", "echo why; exit 3")
    found = [build.run(), build.run()]
    assert [each.returncode for each in found] == [1, 1]
    assert "why" in found[1].stdout and build.times() == 2 and not build.proofs()


@pytest.mark.parametrize("damage", ["shorter", "flipped", "empty", "another's"])
def test_damaged_proof_counts_as_none(build: Build, damage: str) -> None:
    build.add("one")
    build.run()
    (proof,) = build.proofs()
    text = proof.read_text()
    if damage == "another's":
        build.add("two", "exit 0")
        build.run()
        (other,) = [path for path in build.proofs() if path != proof]
        text = other.read_text()
    proof.write_text(
        {"shorter": text[:-3], "flipped": text.replace("one", "0ne"), "empty": ""}.get(damage, text)
    )
    before = build.times()
    assert "1 passed" in build.run("one$").stdout
    assert build.times() == before + 1
    assert "1 proven before" in build.run("one$").stdout


def test_file_that_is_not_declared_is_not_there(build: Build) -> None:
    build.add("one", "ls *.txt && exit 1; ls -R; exit 0")
    build.add("two", "test -e undeclared.txt || exit 1", reads=["undeclared.txt"])
    assert build.run().returncode == 0


def test_declared_file_that_is_missing_fails(build: Build) -> None:
    build.add("one", "exit 0", reads=["absent.txt"])
    found = build.run()
    assert found.returncode == 1 and "absent.txt" in found.stdout


def test_program_that_is_not_built_fails(build: Build) -> None:
    build.add("one").unlink()
    found = build.run()
    assert found.returncode == 1 and "test.one" in found.stdout


def test_what_runs_always_is_neither_kept_nor_believed(build: Build) -> None:
    build.add("one", "exit 0", always=["threads meet"])
    assert [build.run().returncode for _ in range(2)] == [0, 0]
    assert build.times() == 2 and not build.proofs()
    assert "(always: threads meet)" in build.run("--list").stdout


def test_store_that_cannot_be_written_keeps_nothing_and_says_so_once(build: Build) -> None:
    build.add("one")
    build.add("two")
    build.store.write_text("")  # no folder can be made here, whoever asks
    found = build.run()
    assert found.returncode == 0 and found.stdout.count("no proof is kept") == 1


def test_read_only_store_is_believed_and_keeps_nothing(build: Build) -> None:
    build.add("one")
    assert build.run().returncode == 0
    build.add("two")
    (build.store / "proofs").chmod(0o555)
    found = build.run(before=give_up_writing_everywhere)
    (build.store / "proofs").chmod(0o755)
    assert "1 passed, 1 proven before" in found.stdout and "no proof is kept" in found.stdout


def test_store_of_half_a_path_is_refused_in_one_line(build: Build) -> None:
    build.add("one")
    found = build.run(GPU_ENVS_STORE="store")
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert line.startswith("native tests: GPU_ENVS_STORE must be the absolute path of a folder")


def test_store_that_strangers_can_write_to_is_refused_by_name(build: Build) -> None:
    build.add("one")
    build.run()
    (build.store / "proofs").chmod(0o777)
    found = build.run()
    assert found.returncode == 0 and "1 passed, 0 proven before" in found.stdout
    assert str(build.store / "proofs") in found.stdout and "another user" in found.stdout


def test_what_passed_before_a_kill_counts(build: Build) -> None:
    build.add("one")
    build.add("slow", f"test -e {build.root}/go || sleep 100")
    running = subprocess.Popen(
        build.command("--jobs", "2"), env=build.variables, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not build.proofs() and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    printed, _ = running.communicate(timeout=60)
    assert running.returncode == native_tests.INTERRUPTED and "then stopped" in printed
    (build.root / "go").write_text("")
    found = build.run()
    assert found.returncode == 0 and "1 passed, 1 proven before" in found.stdout


def test_runner_that_is_killed_takes_its_programs_with_it(build: Build, tmp_path: Path) -> None:
    temporary, pipe = tmp_path / "tmp", tmp_path / "pipe"
    temporary.mkdir()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    build.add("one", f"exec 9>{pipe}; echo begun >&9; exec sleep 100")
    build.variables["TMPDIR"] = str(temporary)
    other = temporary / f"gpu_envs_test_{os.getpid()}_of_another"
    other.mkdir()
    running = subprocess.Popen(build.command(), env=build.variables, stdout=subprocess.DEVNULL)
    assert select.select([reader], [], [], 60.0)[0]
    assert os.read(reader, 99) == b"begun\n"
    running.kill()
    running.wait()
    assert select.select([reader], [], [], 20.0)[0] and os.read(reader, 99) == b"", "it goes on"
    os.close(reader)
    assert len(list(temporary.iterdir())) == 2
    build.add("two", "exit 0")
    assert build.run("two").returncode == 0
    assert list(temporary.iterdir()) == [other], "its runner lives"


def test_nothing_follows_native_tests_that_were_interrupted(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    python = f"echo $* >>{tmp_path}/ran; case $1 in *native_tests.py) exit $STATUS;; esac"
    for name, text in {
        "scripts/setup": "echo true",
        ".venv/bin/cmake": "exit 0",
        ".venv/bin/python": python,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    shutil.copy(native_tests.ROOT / "scripts" / "test", tmp_path / "scripts" / "test")
    for status, follows in ((native_tests.INTERRUPTED, False), (1, True), (0, True)):
        (tmp_path / "ran").unlink(missing_ok=True)
        variables = {**os.environ, "STATUS": str(status)}
        done = subprocess.run([tmp_path / "scripts" / "test", "-n0"], env=variables, check=False)
        assert done.returncode == status
        assert ("pytest" in (tmp_path / "ran").read_text()) is follows


def test_program_that_hangs_is_ended(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    build.add("one", "exec sleep 100")
    monkeypatch.setattr(native_tests, "PATIENCE", 0.2)
    (test,) = native_tests.listed(build.build)
    outcome = native_tests.Runner(build.root).run(test, "")
    assert not outcome.passed and "ended after" in outcome.printed


def test_list_that_is_cut_off_is_named(build: Build) -> None:
    build.add("one")
    for text in ('[{"name": "one"', '[{"name": "one"}]', "[1]"):
        (build.build / "tests.json").write_text(text)
        found = build.run()
        assert found.returncode == 2 and "tests.json is damaged" in found.stderr, found.stderr


def test_names_choose_and_a_name_of_nothing_fails(build: Build) -> None:
    build.add("engine.one")
    build.add("envs.two")
    assert "1 passed" in build.run("engine").stdout
    assert build.run("nothing").returncode == 2


def test_longest_begin_first_and_unknown_ones_before(build: Build) -> None:
    build.add("short", "sleep 0.1")
    build.add("long", "sleep 0.5")
    build.run()
    build.add("new", "exit 0")
    lines = build.run("--list").stdout.splitlines()
    assert [line.split()[2] for line in lines] == ["new", "long", "short"]


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no compiler")
def test_source_that_no_program_would_be_made_of_is_refused(tmp_path: Path) -> None:
    for name in ("kernels", "tests/kernels", "tests/golden", "examples", "gpu_envs/building"):
        shutil.copytree(native_tests.ROOT / name, tmp_path / name)
    cmake = [str(native_tests.ROOT / ".venv/bin/cmake"), "--preset", "dev"]
    cmake.append(f"-DCMAKE_MAKE_PROGRAM={native_tests.ROOT / '.venv/bin/ninja'}")

    def configured() -> str:
        run = subprocess.run(
            cmake, cwd=tmp_path / "kernels", capture_output=True, text=True, check=False
        )
        assert (run.returncode != 0) is ("CMake Error" in run.stderr), run.stderr
        return " ".join(run.stderr.split())

    assert configured() == ""
    source = tmp_path / "tests/kernels/engine/roles_flat_test.cpp"
    text = source.read_text()
    for stem, refusal in {
        "troup": f"{source} names the environment troup, which no header has",
        "hanabi": f"no build has what {source} names: hanabi",
    }.items():
        source.write_text(text.replace("// environment: troupe", f"// environment: {stem}"))
        assert refusal in configured()


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no compiler")
def test_library_that_a_program_is_linked_to_is_part_of_its_name(build: Build) -> None:
    folder = build.build
    (folder / "library.cpp").write_text("int answer() { return ANSWER; }\n")
    (folder / "main.cpp").write_text("int answer(); int main() { return answer(); }\n")

    def library(answer: int) -> None:
        command = [COMPILER, "-shared", "-fPIC", f"-DANSWER={answer}", "library.cpp"]
        subprocess.run([*command, "-o", "libanswer.so"], cwd=folder, check=True)

    library(0)
    program = folder / "test.one"
    command = [COMPILER, "main.cpp", "-o", str(program), "-L.", "-lanswer", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(command, cwd=folder, check=True)
    linked = program.read_bytes()
    build.add("one")
    program.write_bytes(linked)
    assert build.run().returncode == 0
    assert "1 proven before" in build.run().stdout
    library(5)
    assert build.run().returncode == 1
