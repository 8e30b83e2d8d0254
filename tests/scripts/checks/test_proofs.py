"""Proofs of commands: believed where nothing changed, and nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.checks import proofs


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    return tmp_path / "store" / "proofs"


def _program(folder: Path, text: str = "cat data/line; echo ran >>$PWD/ran") -> Path:
    (folder / "data").mkdir()
    (folder / "data" / "line").write_text("one\n")
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def _run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, proofs.__file__, *options, "lines", "--reads", "data"]
    return subprocess.run(
        [*command, "--", "./program", "word"], cwd=folder, capture_output=True, text=True
    )


def _times(folder: Path) -> int:
    ran = folder / "ran"
    return len(ran.read_text().split()) if ran.exists() else 0


def test_command_is_proven_once_until_something_that_it_reads_changes(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path)
    first, again = _run(tmp_path), _run(tmp_path)
    assert (first.returncode, first.stdout) == (0, "one\n")
    assert (again.returncode, again.stdout) == (0, "lines: proven before\n")
    (tmp_path / "data" / "line").write_text("two\n")
    assert _run(tmp_path).stdout == "two\n"
    (tmp_path / "data" / "other").write_text("")
    assert _run(tmp_path).stdout == "two\n"
    program.write_text(program.read_text() + "true\n")
    assert _run(tmp_path).stdout == "two\n"
    monkeypatch.setenv("CXXFLAGS", "-g")
    assert _run(tmp_path).stdout == "two\n"
    monkeypatch.setenv("UNKNOWN_TO_PROOFS", "1")
    assert _run(tmp_path).stdout == "lines: proven before\n"
    assert _run(tmp_path, "--anew").stdout == "two\n"
    assert _times(tmp_path) == 6


def test_variables_that_no_name_holds_are_not_passed_on(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, 'echo "[$UNKNOWN_TO_PROOFS]"')
    monkeypatch.setenv("UNKNOWN_TO_PROOFS", "1")
    assert _run(tmp_path).stdout == "[]\n"


def test_folder_outside_of_the_tree_may_have_another_path(tmp_path: Path) -> None:
    names = []
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "file").write_text("same")
        names.append(proofs.name_of("it", [folder], ["true", f"--out={folder}/x"]))
    assert names[0] == names[1]


def test_failure_is_never_kept(tmp_path: Path, store: Path) -> None:
    _program(tmp_path, "exit 3")
    assert [_run(tmp_path).returncode for _ in range(2)] == [3, 3]
    assert not store.exists() or not list(store.iterdir())


def test_run_is_not_kept_whose_files_change_meanwhile(tmp_path: Path, store: Path) -> None:
    _program(tmp_path, "echo more >>data/line")
    found = _run(tmp_path)
    assert found.returncode == 0 and "changed meanwhile" in found.stderr
    assert not list(store.glob("*.json"))


@pytest.mark.parametrize("damage", ["shorter", "other", "empty", "list", "of another name"])
def test_damaged_proof_counts_as_none(tmp_path: Path, store: Path, damage: str) -> None:
    made = proofs.Proofs()
    made.keep("a" * 32, "it", 1.5)
    made.keep("b" * 32, "it", 1.5)
    path = store / f"{'a' * 32}.json"
    assert made.hold("a" * 32)
    text = path.read_text()
    path.write_text(
        {
            "shorter": text[:-5],
            "other": text.replace("1.5", "2.5"),
            "empty": "",
            "list": json.dumps([text]),
            "of another name": (store / f"{'b' * 32}.json").read_text(),
        }[damage]
    )
    assert not proofs.Proofs().hold("a" * 32)


def test_what_is_kept_can_be_read_by_all_and_written_by_one(tmp_path: Path, store: Path) -> None:
    before = os.umask(0)
    try:
        proofs.Proofs().keep("a" * 32, "it", 1.0)
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (store.parent, store, *store.iterdir())]
    assert modes == [0o755, 0o755, 0o644]


def test_store_that_strangers_can_write_to_is_refused_by_name(tmp_path: Path, store: Path) -> None:
    proofs.Proofs().keep("a" * 32, "it", 1.0)
    store.chmod(0o777)
    found = proofs.Proofs()
    assert not found.hold("a" * 32)
    assert str(store) in found.problem and "set GPU_ENVS_STORE to" in found.problem
    found.keep("b" * 32, "it", 1.0)
    assert [path.stem for path in store.iterdir()] == ["a" * 32]


def test_store_that_is_no_folder_keeps_nothing_and_says_so(tmp_path: Path, store: Path) -> None:
    store.parent.write_text("")
    found = proofs.Proofs()
    found.keep("a" * 32, "it", 1.0)
    assert "no proof is kept" in found.problem and not found.hold("a" * 32)


def test_unused_proofs_are_removed_and_used_ones_are_not(store: Path) -> None:
    made = proofs.Proofs()
    for name in "abc":
        made.keep(name * 32, "it", 1.0)
    old = time.time() - 91 * 24 * 3600
    for path in store.iterdir():
        os.utime(path, (old, old))
    assert made.hold("a" * 32)  # used now
    half = store / "tmpkilled"
    half.write_text("")
    os.utime(half, (old, old))
    (store.parent / ".pruned").unlink(missing_ok=True)  # once an hour
    proofs.Proofs()
    assert [path.stem for path in store.iterdir()] == ["a" * 32]


def test_name_does_not_depend_on_order_or_space(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [proofs.ROOT / "scripts/checks" / name for name in ("proofs.py", "quick.py")]
    names = set[str]()
    for flags, reads in (("-g  -O1 ", inside), ("-g -O1", inside[::-1])):
        monkeypatch.setenv("CXXFLAGS", flags)
        names.add(proofs.name_of("it", reads, ["true"]))
    assert len(names) == 1
    for other in ("-O1 -g", "'-g -O1'"):
        monkeypatch.setenv("CXXFLAGS", other)
        assert proofs.name_of("it", inside, ["true"]) not in names


def test_command_has_the_store_that_other_variables_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPU_ENVS_STORE", raising=False)
    monkeypatch.delenv("GPU_ENVS_CACHE", raising=False)
    names = set()
    for name in ("one", "two"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        wanted = str(tmp_path / name / "gpu_envs" / "store")
        assert proofs.passed_on()["GPU_ENVS_STORE"] == wanted
        names.add(proofs.name_of("it", [], ["true"]))
    assert len(names) == 1


def test_links_that_lead_back_end_and_count(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("one")
    said = [list(proofs.contents(folder))]
    for name in ("back", "inner/there", "inner/more"):
        (folder / name).symlink_to(folder)
        said.append(list(proofs.contents(folder)))
    assert len({tuple(words) for words in said}) == 4
    (folder / "inner" / "file").write_text("two")
    assert list(proofs.contents(folder)) != said[-1]
