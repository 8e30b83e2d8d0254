"""Faults of the store of objects: each is noticed, and stops nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from damages import give_up_writing_everywhere

from gpu_envs import __main__ as program
from gpu_envs.building import places, store
from gpu_envs.building.toolchain import CannotBuild
from gpu_envs.commands import doctor

KEY, OTHER, OLD, NOW = "0" * 32, "1" * 32, "2" * 32, "3" * 32


def _put(folder: Path, key: str = KEY, content: bytes = b"an object", said: str = "") -> Path:
    with store.workplace(folder) as work:
        (work / "made.o").write_bytes(content)
        store.put(folder, key, store.Record(work / "made.o", said))
    found = store.find(folder, key)
    assert found is not None
    return found.object


def test_what_was_put_is_found_with_what_the_compiler_said(tmp_path: Path) -> None:
    path = _put(tmp_path / "store", said="a warning")
    assert path.read_bytes() == b"an object"
    assert store.find(tmp_path / "store", KEY) == store.Record(path, "a warning")
    assert store.find(tmp_path / "store", OTHER) is None


def test_objects_of_equal_content_are_one_file(tmp_path: Path) -> None:
    assert _put(tmp_path, KEY) == _put(tmp_path, OTHER)
    assert store.sizes(tmp_path) == store.Sizes(1, len(b"an object"), 0)


def test_of_two_builders_the_first_is_right(tmp_path: Path) -> None:
    """Some compilers do not make the same bytes twice, and the first may be linking its own."""
    assert _put(tmp_path, content=b"one") == _put(tmp_path, content=b"another")
    assert store.sizes(tmp_path).objects == 1


@pytest.mark.parametrize("damage", [b"", b"an objec", b"an abject"])
def test_a_damaged_object_is_none(
    tmp_path: Path, damage: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _put(tmp_path)
    path.write_bytes(damage)
    assert store.find(tmp_path, KEY) is None
    assert f"{path} is damaged: it is made again" in capsys.readouterr().err
    assert not path.exists()
    assert _put(tmp_path) == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"object": "x"}',
        '{"object": "../../etc", "said": ""}',
        '{"object": "' + KEY + '", "said": "\\ud800"}',
        '{"object": "' + KEY + '", "more": 1}',
        "[" * 100000,
    ],
    ids=range(9),
)
def test_a_damaged_record_is_none(tmp_path: Path, text: str) -> None:
    _put(tmp_path)
    (tmp_path / "made" / f"{KEY}.json").write_text(text)
    assert store.find(tmp_path, KEY) is None
    _put(tmp_path)


def test_any_file_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    path = _put(tmp_path)
    path.unlink()
    assert store.find(tmp_path, KEY) is None
    _put(tmp_path)
    store.empty(tmp_path)
    assert store.find(tmp_path, KEY) is None
    assert store.sizes(tmp_path) == store.Sizes(0, 0, 0)
    _put(tmp_path)


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_nobody_else_can_write_it_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "deep" / "store"))
    held = os.umask(mask)
    try:
        (folder,) = store.folders()
        _put(folder)
    finally:
        os.umask(held)
    assert store.folders() == (folder,)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "deep").rglob("*")}
    assert modes == {0o755, 0o644}


def test_a_folder_of_strangers_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    (tmp_path / "store").chmod(0o777)
    with pytest.raises(CannotBuild, match=r"store belongs to .* or set GPU_ENVS_STORE to another"):
        store.folders()
    (tmp_path / "store").chmod(0o755)
    if os.geteuid() == 0:
        os.chown(tmp_path / "store", 12345, -1)
        with pytest.raises(CannotBuild, match="store belongs to"):
            store.folders()


@pytest.mark.parametrize("part", store.PARTS)
def test_a_part_that_strangers_can_write_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    store.folders()
    (tmp_path / "store" / part).chmod(0o777)
    with pytest.raises(CannotBuild, match=f"store/{part} belongs to another user, or others"):
        store.folders()


def test_a_folder_with_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path))
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "mine.o").write_text("mine")
    (tmp_path / "other.txt").write_text("")
    with pytest.raises(CannotBuild, match="is not a store: GPU_ENVS_STORE must name a store"):
        store.folders()
    (tmp_path / "other.txt").unlink()
    assert store.folders() == (tmp_path,)
    os.utime(tmp_path / "objects" / "mine.o", (0, 0))
    store.prune(tmp_path)
    store.empty(tmp_path)
    assert (tmp_path / "objects" / "mine.o").read_text() == "mine"


def test_a_store_is_named_by_its_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", "some/store")
    with pytest.raises(
        CannotBuild, match="must be the absolute path of a folder, got 'some/store'"
    ):
        store.folders()


def test_a_user_without_a_home_has_a_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GPU_ENVS_STORE", "GPU_ENVS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as without a line in passwd
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert places.store_folder() == tmp_path / f"gpu_envs-{os.getuid()}" / "store"


def test_a_cache_that_cannot_be_used_leaves_objects_to_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GPU_ENVS_STORE")
    monkeypatch.setenv("GPU_ENVS_BUILD_DIR", str(tmp_path / "build"))
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "file"))
    for _ in range(2):
        assert store.folders() == (tmp_path / "build" / "store",)
    assert capsys.readouterr().err == (
        f"gpu_envs: objects go to {tmp_path}/build/store, since {tmp_path}/file/store cannot be "
        "created (Not a directory)\n"
    )
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "file" / "store"))
    with pytest.raises(CannotBuild, match=r"file/store cannot be created \(Not a directory\)"):
        store.folders()
    monkeypatch.setenv("GPU_ENVS_STORE", "")
    assert store.folders() == (tmp_path / "build" / "store",)


READ_ONLY = """
import sys
from gpu_envs.building import store
shared, own = store.folders()
print(store.find(shared, sys.argv[1]).object.name, own.name)
"""


def test_a_store_that_can_only_be_read_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _put(tmp_path / "store")
    for folder in [tmp_path / "store", *(tmp_path / "store").iterdir()]:
        folder.chmod(0o555)
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    command = [sys.executable, "-c", READ_ONLY, KEY]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=give_up_writing_everywhere,
    )
    for folder in [tmp_path / "store", *(tmp_path / "store").iterdir()]:
        folder.chmod(0o755)
    assert done.stdout == f"{path.name} store\n", done.stderr


PUT = """
import os, sys
from pathlib import Path
from gpu_envs.building import store
folder = Path(sys.argv[1])
for k in range(60):
    with store.workplace(folder) as work:
        (work / "made.o").write_bytes(b"content %d" % (k % 3))
        store.put(folder, f"{k % 3:032x}", store.Record(work / "made.o"))
    found = store.find(folder, f"{k % 3:032x}")
    assert found is not None and found.object.read_bytes() == b"content %d" % (k % 3), k
    if k == 30 and len(sys.argv) > 2:
        os.kill(os.getpid(), 9)
"""


def test_several_builders_at_once_and_one_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PUT, str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(3)]
    running.append(subprocess.Popen([*command, "killed"]))
    assert [one.wait() for one in running] == [0, 0, 0, -9]
    assert store.sizes(tmp_path).objects == 3
    store.prune(tmp_path)
    assert all(store.find(tmp_path, f"{k:032x}") for k in range(3))


def test_what_a_killed_builder_left_goes_after_an_hour(tmp_path: Path) -> None:
    path = _put(tmp_path)
    for name, age in ((OLD, 2 * 3600), (NOW, 0)):
        folder = tmp_path / f".making-{name}"
        folder.mkdir()
        os.utime(folder, (time.time() - age,) * 2)
        alone = tmp_path / "objects" / f"{name}.o"  # put there, and killed before its record
        alone.write_bytes(b"")
        os.utime(alone, (time.time() - age,) * 2)
    store.prune(tmp_path)
    assert [path.name for path in tmp_path.glob(".making-*")] == [f".making-{NOW}"]
    assert {path.name for path in (tmp_path / "objects").iterdir()} == {path.name, f"{NOW}.o"}


def test_pruning_forgets_what_was_asked_for_longest_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [_put(tmp_path, f"{k:032x}", b"ten bytes%d" % k) for k in range(4)]
    ages = [3, 2, 1, -1000]  # [days]; the last was used before a clock was set back
    for k, age in enumerate(ages):
        then = time.time() - age * 24 * 3600
        os.utime(tmp_path / "made" / f"{k:032x}.json", (then, then))
        os.utime(paths[k], (0, 0))
    assert store.find(tmp_path, f"{0:032x}") is not None  # now it was used
    monkeypatch.setattr(store, "LIMIT", 25)
    store.prune(tmp_path)
    assert [store.find(tmp_path, f"{k:032x}") is not None for k in range(4)] == [
        True,
        False,
        True,
        False,
    ]
    assert [path.exists() for path in paths] == [True, False, True, False]


def test_pruning_comes_by_itself_once_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(store, "prune", calls.append)
    for _ in range(3):
        store.prune_now_and_then(tmp_path)
    assert calls == [tmp_path]
    os.utime(tmp_path / ".pruned", (0, 0))
    store.prune_now_and_then(tmp_path)
    assert len(calls) == 2


def test_a_command_shows_and_empties_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    _put(tmp_path / "store", content=bytes(3 << 20))
    assert program.main(["store"]) == 0
    said = capsys.readouterr().out
    assert said == f"{tmp_path}/store: 1 objects, 3 MiB of at most 6,144; 0 proofs\n"
    assert f"store of objects: {said.strip()}" in doctor.text()[0]
    assert program.main(["store", "--empty"]) == 0
    assert "0 objects, 0 MiB" in capsys.readouterr().out
    assert store.find(tmp_path / "store", KEY) is None


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="needs /dev/full")
def test_a_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        with open("/dev/full", "w", encoding="utf-8") as file:
            file.write(text)

    monkeypatch.setattr(places, "write", full)
    with (
        pytest.raises(OSError, match="No space left on device"),
        store.workplace(tmp_path) as work,
    ):
        (work / "made.o").write_bytes(b"an object")
        store.put(tmp_path, KEY, store.Record(work / "made.o"))
    assert store.find(tmp_path, KEY) is None
    assert list(tmp_path.glob(".making-*")) == []
