"""What names an object: sources of a line, and each thing that could change what is made."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpu_envs.building import compilers, objects, store, toolchain
from tests.gpu_envs.building.compiling import found_object, job_of, made_object, small_tree


def test_the_same_question_has_the_same_object(tmp_path: Path) -> None:
    job = job_of(small_tree(tmp_path / "tree"), tmp_path / "store")
    assert objects.stored(job) is None
    path = made_object(job)
    assert found_object(job) == path
    assert objects.stored(job) == (path, ["a.hpp"])
    assert store.sizes(tmp_path / "store").objects == 1


def test_a_changed_header_makes_another_object_and_changed_back_the_first(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    job = job_of(root, tmp_path / "store")
    first = made_object(job)
    (root / "a.hpp").write_text("constexpr int kA = 2;\n")
    assert objects.stored(job) is None
    second = made_object(job)
    assert second != first
    assert second.read_bytes() != first.read_bytes()
    (root / "a.hpp").write_text("constexpr int kA = 1;\n")
    assert found_object(job) == first


def test_flags_and_compiler_name_an_object_but_not_where_definitions_stand(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    job = job_of(root, kept, "-DA", "-DB", "-Wall")
    first = made_object(job)
    assert found_object(job_of(root, kept, "-Wall", "-D", "A", "-DB")) == first
    assert objects.stored(job_of(root, kept, "-DA", "-DB", "-O2")) is None
    assert objects.stored(job_of(root, kept, "-DA")) is None
    assert objects.stored(dataclasses.replace(job, compiler="another")) is None


def test_of_two_flags_the_later_wins_so_their_order_counts(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    for flags in (["-fno-inline", "-finline"], ["-DV=1", "-DV=2"], ["-DV", "-UV"], ["-Ip", "-Iq"]):
        made_object(job_of(root, kept, *flags))
        assert objects.stored(job_of(root, kept, *flags)) is not None
        assert objects.stored(job_of(root, kept, *reversed(flags))) is None


def test_a_folder_of_any_name_has_its_headers_read(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "c# $HOME and 'a'")
    job = job_of(root, tmp_path / "store")
    path = made_object(job)
    assert objects.stored(job) == (path, ["a.hpp"])
    (root / "a.hpp").write_text("constexpr int kA = 2;\n")
    assert objects.stored(job) is None


def test_a_header_that_is_a_link_counts_as_where_it_leads(tmp_path: Path) -> None:
    root, one, two = small_tree(tmp_path / "tree"), tmp_path / "one.hpp", tmp_path / "two.hpp"
    one.write_text("constexpr int kA = 3;\n")
    two.write_text("constexpr int kA = 4;\n")
    (root / "a.hpp").unlink()
    (root / "a.hpp").symlink_to(one)
    job = job_of(root, tmp_path / "store")
    path = made_object(job)
    assert objects.stored(job) == (path, ["a.hpp"])
    (root / "a.hpp").unlink()
    (root / "a.hpp").symlink_to(two)
    assert objects.stored(job) is None


@pytest.mark.parametrize("name", ["CPLUS_INCLUDE_PATH", "COMPILER_PATH", "NIX_CFLAGS_COMPILE"])
def test_what_the_compiler_reads_beside_its_command_names_an_object(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = compilers.known(toolchain.cxx()).text
    monkeypatch.setenv(name, "/elsewhere")
    assert compilers.known(toolchain.cxx()).text != before
    assert compilers.environment()[name] == "/elsewhere"


def test_of_several_efforts_the_last_counts(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    first = made_object(job_of(root, kept, "-O0", "-O2"))
    assert found_object(job_of(root, kept, "-O2")) == first
    assert objects.stored(job_of(root, kept, "-O2", "-O0")) is None


def test_trees_of_different_paths_share_objects(tmp_path: Path) -> None:
    one, two = small_tree(tmp_path / "one"), small_tree(tmp_path / "deep" / "er" / "two")
    first = made_object(job_of(one, tmp_path / "store", f"-ffile-prefix-map={one}/="))
    job = job_of(two, tmp_path / "store", f"-ffile-prefix-map={two}/=")
    assert found_object(job) == first
    assert made_object(dataclasses.replace(job, stores=(tmp_path / "other",))).name == first.name


def test_a_header_that_moves_is_found_again(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    job = job_of(root, tmp_path / "store", f"-I{root}/further")
    first = made_object(job)
    (root / "further").mkdir()
    shutil.move(root / "a.hpp", root / "further" / "a.hpp")
    assert objects.stored(job) is None
    moved = made_object(job)
    assert objects.stored(job) == (moved, ["further/a.hpp"])
    shutil.move(root / "further" / "a.hpp", root / "a.hpp")
    assert found_object(job) == first


def test_headers_elsewhere_count(tmp_path: Path) -> None:
    root, other = small_tree(tmp_path / "tree"), tmp_path / "other"
    other.mkdir()
    (other / "far.hpp").write_text("constexpr int kFar = 1;\n")
    (root / "a.hpp").write_text(
        '#include <vector>\n#include "../other/far.hpp"\nconstexpr int kA = kFar;\n'
    )
    job = job_of(root, tmp_path / "store")
    made_object(job)
    assert objects.stored(job) is not None
    assert objects.stored(job)[1] == [str(other / "far.hpp"), "a.hpp"]  # and nothing of the system
    (other / "far.hpp").write_text("constexpr int kFar = 2;\n")
    assert objects.stored(job) is None


def test_headers_of_the_system_count_too(tmp_path: Path) -> None:
    root, system = small_tree(tmp_path / "tree"), tmp_path / "system"
    system.mkdir()
    (system / "far.hpp").write_text("constexpr int kFar = 1;\n")
    (root / "a.hpp").write_text("#include <far.hpp>\nconstexpr int kA = kFar;\n")
    job = job_of(root, tmp_path / "store", "-isystem", str(system))
    path = made_object(job)
    assert objects.stored(job) == (path, ["a.hpp"])
    (system / "far.hpp").write_text("constexpr int kFar = 2;\n")
    assert objects.stored(job) is None


def test_a_header_that_is_new_in_a_folder_looked_in_before_counts(tmp_path: Path) -> None:
    root, late = small_tree(tmp_path / "tree"), tmp_path / "late"
    (root / "early").mkdir()
    (late / "deep").mkdir(parents=True)
    (late / "deep" / "b.hpp").write_text("constexpr int kB = 1;\n")
    (root / "a.hpp").write_text("#include <deep/b.hpp>\nconstexpr int kA = kB;\n")
    job = job_of(root, tmp_path / "store", f"-I{root}/early", "-isystem", str(late))
    path = made_object(job)
    assert found_object(job) == path
    (root / "early" / "deep").mkdir()
    (root / "early" / "deep" / "b.hpp").write_text("constexpr int kB = 2;\n")
    assert objects.stored(job) is None
    assert made_object(job) != path
    assert found_object(job) != path
    shutil.rmtree(root / "early" / "deep")
    assert found_object(job) == path


def test_the_folder_of_a_header_outside_the_tree_leaves_no_trace(tmp_path: Path) -> None:
    made = []
    for name in ("one", "another"):
        root = small_tree(tmp_path / name / "tree")
        own = tmp_path / name / "own"
        own.mkdir()
        (own / "own.hpp").write_text("const char* const where = __FILE__;\n")
        (root / "a.cpp").write_text('#include "own.hpp"\nconst char* a() { return where; }\n')
        flags = toolchain.beside(own, "cpu")
        job = job_of(root, tmp_path / "store", *flags)
        job = dataclasses.replace(job, folders=(("$HEADER", own),))
        made.append(made_object(job) if not made else found_object(job))
        assert objects.stored(job) == (made[0], [str(own / "own.hpp")])


def test_an_object_that_holds_the_path_of_its_tree_is_of_that_tree_alone(tmp_path: Path) -> None:
    one, two = small_tree(tmp_path / "one"), small_tree(tmp_path / "two")
    for root in (one, two):
        (root / "a.cpp").write_text("const char* a() { return __FILE__; }\n")
    first = made_object(job_of(one, tmp_path / "store"))
    assert objects.stored(job_of(two, tmp_path / "store")) is None
    second = made_object(job_of(two, tmp_path / "store"))
    assert second != first
    assert found_object(job_of(two, tmp_path / "store")) == second


def test_a_folder_with_a_longer_name_is_another(tmp_path: Path) -> None:
    job = job_of(small_tree(tmp_path / "tree"), tmp_path / "store", f"-I{tmp_path}/tree2")
    assert f"-I{tmp_path}/tree2" in objects.words_of(job)


def test_what_compiled_without_a_word_serves_where_warnings_are_errors(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    first = made_object(job_of(root, kept, "-Wall"))
    assert found_object(job_of(root, kept, "-Wall", "-Werror")) == first
    (root / "a.cpp").write_text("static int unused;\n")
    made_object(job_of(root, kept, "-Wall"))
    assert objects.stored(job_of(root, kept, "-Wall", "-Werror")) is None
    status, printed, _ = objects.make(job_of(root, kept, "-Wall", "-Werror"))
    assert status != 0
    assert "unused" in printed


def test_a_warning_that_is_let_pass_is_no_error(tmp_path: Path) -> None:
    root, kept = small_tree(tmp_path / "tree"), tmp_path / "store"
    (root / "a.cpp").write_text("static int unused;\n")
    job = job_of(root, kept, "-Wall", "-Werror", "-Wno-error=unused-variable")
    path = made_object(job)
    assert found_object(job) == path


@pytest.mark.parametrize("flags", [["-Iearly"], ["-isystem", "early"], []])
def test_a_new_header_shadows_an_old_one_wherever_it_is_looked_for(
    tmp_path: Path, flags: list[str]
) -> None:
    root = small_tree(tmp_path / "tree")
    (root / "early").mkdir()
    (root / "a.hpp").write_text("#include <version>\nconstexpr int kA = 1;\n")
    job = job_of(root, tmp_path / "store", *flags)
    if not flags:  # as CPLUS_INCLUDE_PATH does
        job = dataclasses.replace(job, system=(str(root / "early"), *job.system))
    made_object(job)
    assert objects.stored(job) is not None
    (root / "early" / "version").write_text("constexpr int kOther = 1;\n")
    assert objects.stored(job) is None


def test_a_header_that_became_a_pipe_is_another(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    job = job_of(root, tmp_path / "store")
    made_object(job)
    (root / "a.hpp").unlink()
    os.mkfifo(root / "a.hpp")
    assert objects.stored(job) is None


def test_a_source_that_moved_away_from_its_headers_is_another(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    job = dataclasses.replace(job_of(root, tmp_path / "store"), command=(toolchain.cxx(),))
    made_object(job)
    (root / "away").mkdir()
    (root / "a.cpp").rename(root / "away" / "a.cpp")
    job = dataclasses.replace(job, source=root / "away" / "a.cpp")
    assert objects.stored(job) is None
    status, printed, _ = objects.make(job)
    assert status == 1
    assert "a.hpp: No such file" in printed


@pytest.mark.parametrize("text", ["", "{}", '[["a\\u0000.hpp"]]', "[[1]]", "[3]", "[" * 100000])
def test_a_damaged_list_of_headers_is_none(tmp_path: Path, text: str) -> None:
    job = job_of(small_tree(tmp_path / "tree"), tmp_path / "store")
    made_object(job)
    (listed,) = (tmp_path / "store" / "made").glob("*.headers")
    listed.write_text(text)
    assert objects.stored(job) is None
    made_object(job)


def test_sanitized_objects_hold_no_path_of_their_tree(tmp_path: Path) -> None:
    """As kernels/cmake/flags.cmake has it."""
    made = []
    for name in ("one", "another"):
        root = small_tree(tmp_path / name)
        (root / "a.cpp").write_text(
            '#include "a.hpp"\nint held[kA];\nint a(int k) { return held[k]; }\n'
        )
        flags = ["-fsanitize=address,undefined", "-g1", f"-fdebug-prefix-map={root}=."]
        job = job_of(root, tmp_path / "store", f"-ffile-prefix-map={root}/=", *flags)
        made.append(made_object(job) if not made else found_object(job))
    assert made[0] == made[1]


def _compiler(folder: Path, program: str) -> str:
    """Write a compiler that is a script of its own, but for what it says of itself."""
    folder.mkdir(exist_ok=True)
    file = folder / "g++"
    file.write_text(f"#!/bin/sh\n{program}\n")
    file.chmod(0o755)
    return str(file)


def test_a_compiler_of_the_same_name_and_version_is_known_by_its_content(tmp_path: Path) -> None:
    real, tools = toolchain.cxx(), tmp_path / "tools"
    path = _compiler(tmp_path / "bin", f'exec {real} "$@"')
    first = compilers.known(path, tools)
    assert compilers.known(path, tools) == first
    assert first.text != compilers.known(real, tools).text
    _compiler(tmp_path / "bin", f'exec {real} -fwrapv "$@"')
    assert compilers.known(path, tools).text != first.text
    assert first.system == compilers.known(real, tools).system
    assert "/usr/include" in first.system


def test_a_compiler_is_given_no_other_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_VARIABLE_OF_THIS_TEST", "1")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    path = _compiler(tmp_path / "bin", f'env > {tmp_path}/seen; exec {toolchain.cxx()} "$@"')
    job = job_of(small_tree(tmp_path / "tree"), tmp_path / "store")
    made_object(dataclasses.replace(job, command=(path, *job.command[1:])))
    seen = (tmp_path / "seen").read_text()
    assert "SOURCE_DATE_EPOCH=1" in seen
    assert "A_VARIABLE_OF_THIS_TEST" not in seen


def test_what_was_edited_while_it_was_compiled_is_not_stored(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    compiler = tmp_path / "slow_compiler"
    compiler.write_text(
        f"#!/bin/sh\n{toolchain.cxx()} \"$@\" && echo 'constexpr int kA = 3;' > {root}/a.hpp\n"
    )
    compiler.chmod(0o755)
    job = job_of(root, tmp_path / "store")
    status, printed, _ = objects.make(
        dataclasses.replace(job, command=(str(compiler), *job.command[1:]))
    )
    assert status != 0
    assert "a header changed while it was compiled: try again" in printed
    assert objects.stored(job) is None


def test_a_link_to_another_header_while_it_was_compiled_counts(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    for name in ("one", "two"):
        (root / f"{name}.hpp").write_text(
            f"constexpr int kA = sizeof({name!r});\n".replace("'", '"')
        )
    (root / "a.hpp").unlink()
    (root / "a.hpp").symlink_to(root / "one.hpp")
    swapped = f"ln -sfn {root}/two.hpp {root}/a.hpp"
    path = _compiler(tmp_path / "bin", f'{toolchain.cxx()} "$@" && {swapped}')
    job = job_of(root, tmp_path / "store")
    job = dataclasses.replace(job, command=(path, *job.command[1:]))
    assert "a header changed while" in objects.make(job)[1]
    assert objects.stored(job) is None


def test_a_failed_compilation_leaves_nothing(tmp_path: Path) -> None:
    root = small_tree(tmp_path / "tree")
    (root / "a.hpp").write_text("nonsense\n")
    job = job_of(root, tmp_path / "store")
    status, printed, _ = objects.make(job)
    assert status != 0
    assert "a.hpp:1:" in printed
    held = [path for path in (tmp_path / "store").rglob("*") if not path.is_dir()]
    assert held == []


def test_a_clock_that_was_set_back_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers are then dated after now."""
    root = small_tree(tmp_path / "tree")
    real = os.stat

    def ahead(path, **named):
        found = real(path, **named)
        if str(path) != str(root / "a.hpp"):
            return found
        held = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**held | {"st_ctime_ns": found.st_ctime_ns + 10**15})

    monkeypatch.setattr(os, "stat", ahead)
    made_object(job_of(root, tmp_path / "store"))


def test_an_object_is_placed_as_a_copy_with_a_time_of_its_own(tmp_path: Path) -> None:
    """Two clones that build in turns do not make each other link again."""
    job = job_of(small_tree(tmp_path / "tree"), tmp_path / "store")
    path = made_object(job)
    record = store.Record(path, "what it said")
    objects.place(record, job.object, report=True)
    before = path.stat().st_mtime_ns, job.object.stat().st_mtime_ns
    objects.place(record, tmp_path / "elsewhere" / "a.o")
    job.object.write_bytes(b"other")
    assert (tmp_path / "elsewhere" / "a.o").read_bytes() == path.read_bytes() != b"other"
    assert path.stat().st_mtime_ns == before[0]
    assert (job.object.parent / "a.ptxas.txt").read_text() == "what it said"
