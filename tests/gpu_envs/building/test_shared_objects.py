"""Objects that several builders share: CMake's launcher, native tests, a CUDA build, clones."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_envs.building import compilers, launcher, objects, places, recipes, store, toolchain
from gpu_envs.building.objects import Compile
from gpu_envs.known import native
from tests.gpu_envs.building.compiling import job_of, made_object, small_tree


def _launched(root: Path, kept: Path, *flags: str) -> int:
    out, listed = root / "b.o", root / "b.d"
    command = [toolchain.cxx(), f"-I{root}", "-O1", *flags, "-MD", "-MF", str(listed)]
    command += ["-MT", "b.o", "-c", str(root / "a.cpp"), "-o", str(out)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ENVS_STORE", str(kept))
        return launcher.launch([str(root), *command])


def test_the_launcher_of_cmake_shares_the_store(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    compiler = toolchain.known(toolchain.cxx()).text
    first = made_object(dataclasses.replace(job_of(root, kept), compiler=compiler))
    assert _launched(root, kept) == 0
    assert (root / "b.o").read_bytes() == first.read_bytes()
    assert str(root / "a.hpp") in (root / "b.d").read_text()
    assert store.sizes(kept).objects == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ENVS_STORE", str(kept))
        assert launcher.launch([str(root), sys.executable, "-c", "exit(7)"]) == 7


def test_the_launcher_says_again_what_was_said_and_refuses_a_store_of_strangers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    (root / "a.cpp").write_text("static int unused;\n")
    for _ in range(2):
        assert _launched(root, kept, "-Wall") == 0
        assert "unused" in capfd.readouterr().err
    kept.chmod(0o777)
    assert _launched(root, kept, "-Wall") == 1
    assert "put code there" in capfd.readouterr().err


FULL = """
import resource, signal, sys
from gpu_envs.building import launcher
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.exit(launcher.launch(sys.argv[1:]))
"""


@pytest.mark.parametrize("is_made", [False, True])
def test_where_nothing_more_can_be_written_a_line_says_so(tmp_path: Path, is_made: bool) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    if is_made:
        assert _launched(root, kept) == 0
        (root / "b.o").unlink()
    store.make(kept)
    compilers.known(toolchain.cxx(), kept / "tools")
    given = [f"-I{root}", "-O1", "-MD", "-MF", str(root / "b.d"), "-MT", "b.o"]
    given += ["-c", str(root / "a.cpp"), "-o", str(root / "b.o")]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(root), toolchain.cxx(), *given],
        env=os.environ | {"GPU_ENVS_STORE": str(kept)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr or "File size limit exceeded" in done.stderr
    assert not (root / "b.o").exists()
    assert _launched(root, kept) == 0
    assert (root / "b.o").exists()


def test_cmake_takes_one_program_as_the_builder_does(tmp_path: Path) -> None:
    cmake = shutil.which("cmake", path=str(Path(sys.executable).parent)) or shutil.which("cmake")
    if cmake is None:
        pytest.skip("needs cmake")
    command = [cmake, "-S", str(places.kernels()), "-B", str(tmp_path)]
    environment = os.environ | {"CXX": f"env {toolchain.cxx()}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "CXX must name one program, got" in done.stderr


def _asked(job: Compile) -> list[str]:
    """Return what names an object."""
    return [*objects.words_of(job), job.source.read_text()]


def test_native_tests_ask_for_the_objects_that_users_load() -> None:
    listed = places.build_folder() / "dev" / "compile_commands.json"
    read = [*(places.kernels() / "cmake").rglob("*.*"), places.kernels() / "flags.txt"]
    newest = max(path.stat().st_mtime for path in read)
    if not listed.exists() or listed.stat().st_mtime < newest:
        pytest.skip("the native tests are not configured as they are now")
    root, target = places.kernels().parent, native.cpu_target()
    of_cmake = {}
    for entry in json.loads(listed.read_text()):
        if re.search(r" -o \S*ge_env_\w+\.dir/units/", entry["command"]):
            found = launcher.asked_for(root, shlex.split(entry["command"]), ())
            assert found is not None
            of_cmake[found[0].source.name] = found[0]
    for stem, header in places.environments().items():
        units = recipes.module(stem, header, target, places.MODULES).objects[:-1]
        for part, unit in enumerate(units):
            assert _asked(of_cmake.pop(f"{stem}_cpu_{part}.cpp")) == _asked(unit)
    assert not of_cmake


def test_the_programs_of_a_cuda_compiler_are_known_by_their_content(tmp_path: Path) -> None:
    for name in ("bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"):
        (tmp_path / "cuda" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cuda" / name).write_text(name)
    seen = {compilers.cuda_parts(tmp_path / "cuda", tmp_path / "tools")}
    assert seen == {compilers.cuda_parts(tmp_path / "cuda", tmp_path / "tools")}
    for name in ("bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"):
        (tmp_path / "cuda" / name).write_text(f"{name}, another")
        seen.add(compilers.cuda_parts(tmp_path / "cuda", tmp_path / "tools"))
    assert len(seen) == 4


RULES = """
rule cxx
  command = {python} -E -S {launcher} {root} {cxx} -I{root} $
            -MD -MF $out.d -MT $out -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = {cxx} -shared $in -o $out && echo linked >> {root}/links
build a.o: cxx {root}/a.cpp
build a.so: link a.o
"""


def test_two_clones_that_build_in_turns_link_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ninja = pytest.importorskip("ninja", reason="needs ninja")
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    roots = [small_tree(tmp_path / "one"), small_tree(tmp_path / "another")]
    for root in roots:
        where = {"root": root, "cxx": toolchain.cxx(), "python": sys.executable}
        (root / "build.ninja").write_text(RULES.format(launcher=launcher.__file__, **where))
    for text in ("1", "2", "1", "1"):
        for root in roots:
            if text not in (root / "a.hpp").read_text():
                (root / "a.hpp").write_text(f"constexpr int kA = {text};\n")
            command = [f"{ninja.BIN_DIR}/ninja", "-C", str(root)]
            subprocess.run(command, check=True, capture_output=True)
    for root in roots:
        assert (root / "links").read_text().split() == ["linked"] * 3
    assert store.sizes(tmp_path / "store").objects == 2
    assert (roots[0] / "a.so").read_bytes() == (roots[1] / "a.so").read_bytes()
    shutil.rmtree(roots[0])
    (roots[1] / "a.hpp").touch()
    subprocess.run(command, check=True, capture_output=True)
