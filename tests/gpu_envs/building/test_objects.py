"""The store of objects, with sources of a line."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from gpu_envs import native
from gpu_envs.building import objects, places, recipes, toolchain
from gpu_envs.building.objects import Compile


def _tree(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "a.cpp").write_text('#include "a.hpp"\nint a() { return kA; }\n')
    (root / "a.hpp").write_text("constexpr int kA = 1;\n")
    return root


def _job(root: Path, store: Path, *flags: str) -> Compile:
    return Compile(
        command=(toolchain.cxx(), "-O1", f"-I{root}", *flags),
        source=root / "a.cpp",
        object=root / "out" / "a.o",
        compiler="a compiler",
        root=root,
        store=store,
    )


def _made(job: Compile) -> Path:
    status, printed, _ = objects.make(job)
    assert status == 0, printed
    return _found(job)


def _found(job: Compile) -> Path:
    found = objects.stored(job)
    assert found is not None
    return found[0]


def test_the_same_question_has_the_same_object(tmp_path: Path) -> None:
    job = _job(_tree(tmp_path / "tree"), tmp_path / "store")
    assert objects.stored(job) is None
    path = _made(job)
    assert _found(job) == path
    assert objects.stored(job) == (path, ["a.hpp"])
    assert [entry.suffix for entry in (tmp_path / "store").iterdir()].count(".o") == 1


def test_a_changed_header_makes_another_object_and_changed_back_the_first(tmp_path: Path) -> None:
    root = _tree(tmp_path / "tree")
    job = _job(root, tmp_path / "store")
    first = _made(job)
    (root / "a.hpp").write_text("constexpr int kA = 2;\n")
    assert objects.stored(job) is None
    second = _made(job)
    assert second != first
    assert second.read_bytes() != first.read_bytes()
    (root / "a.hpp").write_text("constexpr int kA = 1;\n")
    assert _found(job) == first


def test_flags_and_compiler_name_an_object_but_the_order_of_flags_does_not(tmp_path: Path) -> None:
    root, store = _tree(tmp_path / "tree"), tmp_path / "store"
    job = _job(root, store, "-DA", "-DB")
    first = _made(job)
    assert _found(_job(root, store, "-DB", "-DA")) == first
    assert objects.stored(_job(root, store, "-DA", "-DB", "-O2")) is None
    assert objects.stored(_job(root, store, "-DA")) is None
    assert objects.stored(dataclasses.replace(job, compiler="another")) is None


def test_of_two_flags_the_later_wins_so_their_order_counts(tmp_path: Path) -> None:
    root, store = _tree(tmp_path / "tree"), tmp_path / "store"
    _made(_job(root, store, "-fno-inline", "-finline"))
    assert objects.stored(_job(root, store, "-finline", "-fno-inline")) is None


def test_a_folder_of_any_name_has_its_headers_read(tmp_path: Path) -> None:
    root = _tree(tmp_path / "c# $HOME and 'a'")
    job = _job(root, tmp_path / "store")
    path = _made(job)
    assert objects.stored(job) == (path, ["a.hpp"])
    (root / "a.hpp").write_text("constexpr int kA = 2;\n")
    assert objects.stored(job) is None


def test_a_header_that_is_a_link_counts_as_where_it_leads(tmp_path: Path) -> None:
    root, one, two = _tree(tmp_path / "tree"), tmp_path / "one.hpp", tmp_path / "two.hpp"
    one.write_text("constexpr int kA = 3;\n")
    two.write_text("constexpr int kA = 4;\n")
    (root / "a.hpp").unlink()
    (root / "a.hpp").symlink_to(one)
    job = _job(root, tmp_path / "store")
    path = _made(job)
    assert objects.stored(job) == (path, ["a.hpp"])
    (root / "a.hpp").unlink()
    (root / "a.hpp").symlink_to(two)
    assert objects.stored(job) is None


def test_what_the_compiler_reads_beside_its_command_names_an_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = objects.compiler_identity(toolchain.cxx())
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", "/elsewhere")
    assert objects.compiler_identity(toolchain.cxx()) != before


def test_of_several_efforts_the_last_counts(tmp_path: Path) -> None:
    root, store = _tree(tmp_path / "tree"), tmp_path / "store"
    first = _made(_job(root, store, "-O0", "-O2"))
    assert _found(_job(root, store, "-O2")) == first
    assert objects.stored(_job(root, store, "-O2", "-O0")) is None


def test_trees_of_different_paths_share_objects(tmp_path: Path) -> None:
    one, two = _tree(tmp_path / "one"), _tree(tmp_path / "deep" / "er" / "two")
    first = _made(_job(one, tmp_path / "store", f"-ffile-prefix-map={one}/="))
    job = _job(two, tmp_path / "store", f"-ffile-prefix-map={two}/=")
    assert _found(job) == first
    assert _made(dataclasses.replace(job, store=tmp_path / "other")).name == first.name


def test_a_header_that_moves_is_found_again(tmp_path: Path) -> None:
    root = _tree(tmp_path / "tree")
    job = _job(root, tmp_path / "store", f"-I{root}/further")
    first = _made(job)
    (root / "further").mkdir()
    shutil.move(root / "a.hpp", root / "further" / "a.hpp")
    assert objects.stored(job) is None
    moved = _made(job)
    assert objects.stored(job) == (moved, ["further/a.hpp"])
    shutil.move(root / "further" / "a.hpp", root / "a.hpp")
    assert _found(job) == first


def test_headers_elsewhere_count_where_asked(tmp_path: Path) -> None:
    root, other = _tree(tmp_path / "tree"), tmp_path / "other"
    other.mkdir()
    (other / "far.hpp").write_text("constexpr int kFar = 1;\n")
    (root / "a.hpp").write_text(
        '#include <vector>\n#include "../other/far.hpp"\nconstexpr int kA = kFar;\n'
    )
    job = dataclasses.replace(_job(root, tmp_path / "store"), everywhere=True)
    _made(job)
    assert objects.stored(job) is not None
    assert objects.stored(job)[1] == [str(other / "far.hpp"), "a.hpp"]  # and nothing of the system
    (other / "far.hpp").write_text("constexpr int kFar = 2;\n")
    assert objects.stored(job) is None


def test_what_was_edited_while_it_was_compiled_is_not_stored(tmp_path: Path) -> None:
    root = _tree(tmp_path / "tree")
    compiler = tmp_path / "slow_compiler"
    compiler.write_text(
        f"#!/bin/sh\n{toolchain.cxx()} \"$@\" && echo 'constexpr int kA = 3;' > {root}/a.hpp\n"
    )
    compiler.chmod(0o755)
    job = _job(root, tmp_path / "store")
    status, printed, _ = objects.make(
        dataclasses.replace(job, command=(str(compiler), *job.command[1:]))
    )
    assert status != 0
    assert "a header changed while it was compiled: try again" in printed
    assert objects.stored(job) is None


def test_a_failed_compilation_leaves_nothing(tmp_path: Path) -> None:
    root = _tree(tmp_path / "tree")
    (root / "a.hpp").write_text("nonsense\n")
    job = _job(root, tmp_path / "store")
    status, printed, _ = objects.make(job)
    assert status != 0
    assert "a.hpp:1:" in printed
    assert list((tmp_path / "store").iterdir()) == []


def test_placing_replaces_and_never_writes_into_the_store(tmp_path: Path) -> None:
    store, to = tmp_path / "store.o", tmp_path / "out" / "a.o"
    store.write_bytes(b"new")
    other = tmp_path / "other.o"
    other.write_bytes(b"old")
    objects.place(other, to)
    objects.place(store, to)
    assert to.read_bytes() == b"new"
    assert other.read_bytes() == b"old"


def test_pruning_forgets_the_objects_asked_for_longest_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_MOST", 20)
    for age, name in enumerate("cab"):
        (tmp_path / f"{name}.o").write_bytes(b"ten bytes.")
        (tmp_path / f"{name}.txt").touch()
        os.utime(tmp_path / f"{name}.o", (1000 - age, 1000 + age))
    objects.touch(tmp_path / "a.o")
    assert (tmp_path / "a.o").stat().st_mtime == 1001  # what Ninja compares
    (tmp_path / "old.headers").touch()
    os.utime(tmp_path / "old.headers", (1000, 1000))
    (tmp_path / "now.headers").touch()
    (tmp_path / ".making-old").mkdir()
    os.utime(tmp_path / ".making-old", (1000, 1000))
    (tmp_path / ".making-now").mkdir()
    objects.prune(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.o", "a.txt", "c.o", "c.txt", ".making-now", "now.headers"}


def test_the_launcher_of_cmake_shares_the_store(tmp_path: Path) -> None:
    root, store = _tree(tmp_path / "tree"), tmp_path / "store"
    first = _made(
        dataclasses.replace(_job(root, store), compiler=toolchain.identity(toolchain.cxx()))
    )
    out, listed = root / "b.o", root / "b.d"
    command = [toolchain.cxx(), f"-I{root}", "-O1", "-MD", "-MF", str(listed), "-MT", "b.o"]
    command += ["-c", str(root / "a.cpp"), "-o", str(out)]
    shutil.rmtree(root / "out", ignore_errors=True)
    assert objects.launch([str(store), str(root), *command]) == 0
    assert out.samefile(first)
    assert str(root / "a.hpp") in listed.read_text()
    assert objects.launch([str(store), str(root), sys.executable, "-c", "exit(7)"]) == 7


def _asked(job: Compile) -> list[str]:
    """Return what names an object, but for -Werror, which may be given to one run alone."""
    words = [word for word in objects.words_of(job) if not word.startswith("-Werror")]
    return [*words, job.source.read_text()]


def test_native_tests_ask_for_the_objects_that_users_load() -> None:
    listed = places.build_folder() / "dev" / "compile_commands.json"
    read = [*(places.kernels() / "cmake").rglob("*.*"), places.kernels() / "flags.txt"]
    newest = max(path.stat().st_mtime for path in read)
    if not listed.exists() or listed.stat().st_mtime < newest:
        pytest.skip("the native tests are not configured as they are now")
    root, target = places.kernels().parent, native.cpu_target()
    of_cmake = {}
    for entry in json.loads(listed.read_text()):
        found = objects.asked_for(Path(), root, shlex.split(entry["command"]))
        if found is not None and "ge_envs.dir" in found[1]["-o"]:
            of_cmake[found[0].source.name] = found[0]
    for stem, header in places.environments().items():
        units = recipes.module(stem, header, target, places.MODULES).objects[:-1]
        for part, unit in enumerate(units):
            assert _asked(of_cmake.pop(f"{stem}_cpu_{part}.cpp")) == _asked(unit)
    assert not of_cmake
