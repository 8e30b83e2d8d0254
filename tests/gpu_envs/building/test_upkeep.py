"""Built files follow their sources, one builder at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from damages import give_up_writing_everywhere

from gpu_envs.building import labels, places, recipes, toolchain, upkeep
from gpu_envs.known import native

# What one step of Counter pays, and what was built for it.
STEP = """
import gpu_envs
env = gpu_envs.make_vec("Counter-v0", 2, device="cpu")
env.reset(seed=0)
print(env.step([1, 1])[1].tolist())
"""
CARTPOLE = """
import gpu_envs
gpu_envs.make_vec("CartPole-v0", 2, device="cpu").reset(seed=0)
"""


def _edit(copy, old: str, new: str) -> Path:
    header = copy.root / "kernels" / "envs" / "counter.hpp"
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new))
    return header


def _states(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_what_is_current_starts_no_process_and_takes_no_lock(counted) -> None:
    for path in (counted.root / "kernels").rglob("*.hpp"):
        path.touch()  # as old as can be, but equal
    before = _states(counted.modules)
    done = counted.run(
        "import fcntl, subprocess\n"
        "def refuse(*given, **named): raise AssertionError(given)\n"
        "subprocess.run = subprocess.Popen = fcntl.flock = refuse\n" + STEP
    )
    assert done.stdout.strip() == "[1.0, 1.0]", done.stderr
    assert _states(counted.modules) == before


def test_a_changed_header_rebuilds_its_module_alone_and_not_under_those_who_use_it(counted) -> None:
    before = _states(counted.modules)
    header = counted.root / "kernels" / "envs" / "counter.hpp"
    done = counted.run(
        STEP + f"from pathlib import Path\nheader = Path({str(header)!r})\n"
        "header.write_text(header.read_text().replace('1.0f', '2.0f'))\n"
        "try:\n    gpu_envs.make_vec('Counter-v0', 2, device='cpu')\n"
        "except ImportError as problem:\n    print(problem)\n"
        "print(env.step([1, 1])[1].tolist())\n"  # what is loaded goes on
    )
    first, refusal, second = done.stdout.splitlines()
    assert (first, second) == ("[1.0, 1.0]", "[2.0, 2.0]"), done.stderr
    assert refusal.endswith("was rebuilt after it was loaded: restart Python")
    changed = {name for name, time in _states(counted.modules).items() if before.get(name) != time}
    assert changed == {counted.module("counter").name}
    assert counted.run(STEP).stdout.strip() == "[2.0, 2.0]"


def test_an_engine_that_was_built_anew_is_not_mixed_with_the_one_in_use(counted) -> None:
    engine = places.engine_file(native.cpu_target(), counted.modules)
    done = counted.run(
        CARTPOLE + f"import os\nos.utime({str(engine)!r})\n"
        "try:\n    gpu_envs.make_vec('Counter-v0', 2, device='cpu')\n"
        "except ImportError as problem:\n    print(problem)\n"
    )
    assert done.stdout.strip().endswith("has changed since it was loaded: restart Python")


def test_sources_below_the_folder_of_objects_are_inputs_all_the_same(tree) -> None:
    tree.environment["GPU_ENVS_BUILD_DIR"] = str(tree.root)
    assert tree.run(STEP).stdout.strip() == "[1.0, 1.0]"
    _edit(tree, "1.0f * float(", "2.0f * float(")
    assert tree.run(STEP).stdout.strip() == "[2.0, 2.0]"


def test_an_engine_edited_while_a_module_is_built_is_found(tree, monkeypatch) -> None:
    monkeypatch.setattr(places, "PACKAGE", tree.root / "gpu_envs")
    monkeypatch.setattr(places, "RULES", tree.root / "gpu_envs" / "building")
    for name, value in tree.environment.items():
        monkeypatch.setenv(name, value)
    header = places.environments()["counter"]
    product = recipes.module("counter", header, native.cpu_target(), tree.modules)
    unread = tree.root / "kernels" / "engine" / "cuda" / "lanes_device.hpp"
    unread.write_text(unread.read_text() + "// another engine\n")
    with pytest.raises(toolchain.CannotBuild, match="counter changed while it was built"):
        upkeep.build([product])


def test_five_processes_build_a_missing_module_once(counted) -> None:
    counted.module("counter").unlink()
    _check_that_one_builds(counted, [_started(counted) for _ in range(5)])


BUILD = (
    "from gpu_envs.known import native\n"
    "from gpu_envs.building import upkeep\n"
    "built, real = [], upkeep.build\n"
    "def build(products, **options):\n"
    "    real(products, **options)\n"
    "    built.extend(products)\n"
    "upkeep.build = build\n" + STEP + "print('built', len(built))\n"
)


def _started(copy, **environment: str) -> subprocess.Popen[str]:
    return copy.start("-c", BUILD, **environment)


def _check_that_one_builds(copy, processes: list[subprocess.Popen[str]]) -> None:
    results = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), results
    printed = [out.split("\n")[:2] for out, _ in results]
    assert all(lines[0] == "[1.0, 1.0]" for lines in printed), results
    assert sorted(lines[1] for lines in printed) == ["built 0"] * (len(results) - 1) + ["built 1"]
    labels.verify(copy.module("counter"))
    lock_file = copy.modules / f".{native.cpu_target()}.lock"
    assert list(copy.modules.glob(".*")) == [lock_file], "something half done is left"
    with lock_file.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_five_processes_go_on_where_the_builder_is_killed(tree, tmp_path) -> None:
    tree.environment["GPU_ENVS_STORE"] = str(tmp_path / "store")  # empty: it has to compile
    pipe, compiler = tmp_path / "pipe", tmp_path / "compiler"
    os.mkfifo(pipe)
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *" -c "*) echo > {pipe}; sleep 1000;; esac\n'
        f'exec {toolchain.cxx()} "$@"\n'
    )
    compiler.chmod(0o755)
    half = tree.modules / f".build-{tree.module('counter').name}-half"
    half.mkdir()  # as a linker leaves it that is killed
    (half / "x.so").write_text("half")
    builder = _started(tree, CXX=str(compiler))
    with pipe.open() as started:
        started.readline()  # it compiles, and holds the lock
    others = [_started(tree) for _ in range(5)]
    for other in others:
        assert other.stderr is not None
        assert "waiting for another process that builds" in other.stderr.readline()
    try:
        builder.kill()
        builder.communicate()
        _check_that_one_builds(tree, others)
    finally:
        os.killpg(builder.pid, signal.SIGKILL)  # its compiler, which sleeps


@pytest.mark.parametrize("way", ["CXX", "PATH"])
def test_without_a_compiler_what_is_built_works_and_what_is_not_says_what_to_install(
    tree, tmp_path, way
) -> None:
    (tmp_path / "empty").mkdir()
    value = {"CXX": "no-such-g++", "PATH": str(tmp_path / "empty")}[way]
    done = tree.run(
        CARTPOLE + "try:\n    gpu_envs.make_vec('Counter-v0', 2, device='cpu')\n"
        "except ImportError as problem:\n    print(problem)\n",
        **{way: value},
    )
    cause, built = done.stdout.splitlines()
    assert cause.startswith(
        f"counter ({native.cpu_target()}) is not built, or older than its sources"
    )
    assert "apt install g++" in cause
    assert built == f"built for {native.cpu_target()}: cartpole"


@pytest.fixture
def read_only(tree):
    folders = [path for path in tree.root.rglob("*") if path.is_dir()]
    folders.append(Path(tree.environment["GPU_ENVS_BUILD_DIR"]))
    for folder in folders:
        folder.chmod(0o555)
    tree.before = give_up_writing_everywhere
    yield tree
    for folder in folders:
        folder.chmod(0o755)


def test_a_read_only_tree_uses_what_is_current_and_says_what_is_not(read_only) -> None:
    done = read_only.run(
        CARTPOLE + "try:\n    gpu_envs.make_vec('Counter-v0', 2, device='cpu')\n"
        "except ImportError as problem:\n    print(problem)\n",
    )
    assert "cannot be written" in done.stdout.splitlines()[0], done.stderr
    assert done.stdout.splitlines()[1] == f"built for {native.cpu_target()}: cartpole"


def test_another_python_needs_bindings_of_its_own_alone(monkeypatch) -> None:
    target = native.cpu_target()
    native.at(target, "CartPole-v0")
    asked: list[recipes.Product] = []
    monkeypatch.setattr(upkeep, "build", lambda products, **options: asked.extend(products))
    monkeypatch.setattr(places, "SUFFIX", ".cpython-399-x86_64-linux-gnu.so")
    upkeep.ensure(target, ["cartpole"])
    assert [product.kind for product in asked] == ["bindings"]
    assert asked[0].file.name == f"_{target}.cpython-399-x86_64-linux-gnu.so"
    assert asked[0].objects[0].object.parent.name == "python.cpython-399-x86_64-linux-gnu"
    for file in (places.engine_file(target), places.module_file("cartpole", target)):
        assert "cpython" not in file.name


def _pythons() -> list[str]:
    """Return all interpreters that run here, this one and others."""
    names = [shutil.which(f"python3.{minor}") for minor in range(10, 15)]
    check = "import sys; sys.exit(sys.version_info < (3, 10))"
    runs = [
        name
        for name in filter(None, names)
        if subprocess.run([name, "-c", check], capture_output=True, check=False).returncode == 0
    ]
    return [sys.executable, *runs]


def test_every_python_finds_engine_and_modules_current() -> None:
    target = native.cpu_target()
    native.at(target, "CartPole-v0")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from building import upkeep; "
        "print(upkeep.ensure(sys.argv[2], ['cartpole'], bindings=False))"
    )  # without any package: the builder needs the standard library alone
    for python in _pythons():
        command = [python, "-B", "-I", "-c", program, str(places.PACKAGE), target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "[]", done.stderr


def test_a_lock_lies_beside_what_it_guards_and_is_silent_where_it_is_free(tmp_path, capfd) -> None:
    with upkeep.lock(tmp_path, "one"), upkeep.lock(tmp_path, "two"):
        assert stat.S_ISREG((tmp_path / ".one.lock").stat().st_mode)
    with upkeep.lock(tmp_path, "one"):
        pass
    assert capfd.readouterr().err == ""


def test_a_child_that_was_forked_while_a_lock_was_held_does_not_keep_it(tmp_path) -> None:
    with upkeep.lock(tmp_path, "one"):
        child = subprocess.Popen(["sleep", "1000"], close_fds=False)
        pid = os.fork()  # has the lock's file, as a worker of another thread would
        if pid == 0:
            time.sleep(1000)
    try:
        with (tmp_path / ".one.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        child.kill()
        child.wait()
