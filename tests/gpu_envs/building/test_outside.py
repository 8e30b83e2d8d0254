"""The cache of headers outside the tree, and whom it trusts."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_envs.building import kept, labels, manifest, outside, places, shipping, toolchain, upkeep

ENTRY = [
    {
        "id": "Elsewhere-v0",
        "doc": "Far away.",
        "agents": "1",
        "max_episode_steps": 0,
        "reward_threshold": None,
        "parameters": [],
        "reset_options": [],
    }
]


@pytest.fixture
def header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A header that the cache knows, with a module that is current."""
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "elsewhere.hpp"
    path.touch()
    file = outside.module_file(path, "cpu_v2")
    file.parent.mkdir(parents=True, mode=0o755)
    file.write_bytes(b"code")
    label = labels.Label("module", "cpu_v2", places.engine_hash(), {str(path): labels.seen(path)})
    labels.attach(file, label)
    outside.keep(path, ENTRY)
    assert upkeep.is_current(file, "cpu_v2")
    return path


def _entry(header: Path) -> kept.Entry:
    return kept.Entry(header, ENTRY, f"{outside.key_of(header)}.json")


def test_one_knows_what_was_kept(header: Path) -> None:
    assert kept.read()[0] == [_entry(header)]
    assert outside.module_of(header, "cpu_v2") == outside.module_file(header, "cpu_v2")


def test_forgetting_leaves_nothing(header: Path, tmp_path: Path) -> None:
    assert outside.forget(header)
    assert kept.read()[0] == []
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not outside.forget(header)


def test_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    keys = {outside.key_of(tmp_path / folder / "a.hpp") for folder in ("b", "c")}
    assert len(keys) == 2


def test_a_header_that_is_gone_leaves_its_module(header: Path) -> None:
    header.unlink()
    file = outside.module_of(header, "cpu_v2")
    file.unlink()
    with pytest.raises(ImportError, match="does not exist, and this engine has no module of it"):
        outside.module_of(header, "cpu_v2")


def _said(**other: object) -> str:
    return json.dumps({"header": "/x.hpp", "environments": [{**ENTRY[0], **other}]})


UNREADABLE = {
    "half of an object": "{",
    "nothing": "",
    "a list": "[]",
    "a header that is a number": '{"header": 3}',
    "a header without its folder": json.dumps({"header": "x.hpp", "environments": ENTRY}),
    "another release's form": '{"header": "/x.hpp", "environments": [{"id": "Other-v0"}]}',
    "a list of lists": '{"header": "/x.hpp", "environments": [[]]}',
    "deep": "[" * 100000,
    "deep within": '{"header": "/x.hpp", "environments": [' + '{"id":' * 100000,
    "bytes that are no text": b"\xff\xfe\xff",
    "an id that is a list": _said(id=["a"]),
    "an id that is an object": _said(id={}),
    "a limit that is a bool": _said(max_episode_steps=True),
    "a negative limit": _said(max_episode_steps=-1),
    "a threshold that is a text": _said(reward_threshold="much"),
    "half a character": _said(doc="\ud800"),
    "parameters that are nothing": _said(parameters=None),
    "a parameter whose name is a number": _said(parameters=[{"name": 3, "type": "int32"}]),
    "a parameter without a type": _said(parameters=[{"name": "a"}]),
    "a bound that is a text": _said(parameters=[{"name": "a", "type": "int32", "low": "b"}]),
    "choices without a text": _said(parameters=[{"name": "a", "type": "int32", "names": [1]}]),
    "reset options that are an object": _said(reset_options={}),
    "columns that are texts": _said(columns=["cart.x"]),
    "half a character in a parameter": _said(parameters=[{"name": "\ud800", "type": "int32"}]),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_entry_that_cannot_be_read_is_left_out_and_named(
    header: Path, text: str | bytes
) -> None:
    bad = places.kept_headers() / "x.json"
    bad.write_bytes(text.encode() if isinstance(text, str) else text)
    _check_left_out(header, bad)


def _check_left_out(header: Path, bad: Path) -> None:
    found, problems = kept.read()
    assert found == [_entry(header)]
    assert len(problems) == 1
    assert f"gpu_envs leaves out {bad}: " in problems[0]
    assert f"python -m gpu_envs build --forget {bad.name}`" in problems[0]
    assert outside.forget_key(bad.stem)
    assert not os.path.lexists(bad)
    assert kept.read() == ([_entry(header)], [])


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.mkdir(),
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to("/dev/zero"),
        os.mkfifo,
    ],
    ids=["folder", "link to itself", "link to nothing", "endless", "pipe"],
)
def test_what_is_no_file_is_left_out_and_named(
    header: Path, make: Callable[[Path], object]
) -> None:
    bad = places.kept_headers() / "x.json"
    make(bad)
    _check_left_out(header, bad)


def test_a_large_entry_is_not_read(header: Path) -> None:
    bad = places.kept_headers() / "x.json"
    with bad.open("wb") as file:
        file.truncate(1 << 40)
    _check_left_out(header, bad)


@pytest.mark.parametrize("part", ["entry", "folder"])
def test_what_may_not_be_read_is_named(
    header: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied")

    owner, name = {"entry": (Path, "read_bytes"), "folder": (os, "listdir")}[part]
    monkeypatch.setattr(owner, name, refuse)
    found, problems = kept.read()
    assert found == []
    assert len(problems) == 1
    assert str(places.kept_headers()) in problems[0]
    assert problems[0].partition("headers")[2].count("Permission denied") == 1


PLACES = ("", "headers", "{engine}", "headers/{key}.json", "{engine}/{key}.cpu_v2.so")


def _place(header: Path, name: str) -> Path:
    filled = name.format(engine=places.engine_hash(), key=outside.key_of(header))
    return places.cache_folder() / filled


def _check_refused(header: Path, name: str) -> None:
    if "{engine}" not in name:
        found, problems = kept.read()
        assert (found, len(problems)) == ([], 1)
        assert "write to it and put code there: change its owner or mode" in problems[0]
        assert "\n" not in problems[0]
    if "headers" not in name:
        with pytest.raises(ImportError, match="write to it and put code there") as caught:
            outside.module_of(header, "cpu_v2")
        assert "\n" not in str(caught.value)
        (header.parent / "elsewhere.hpp").write_text("changed, so it would be built")
        with pytest.raises(ImportError, match="write to it and put code there"):
            outside.module_of(header, "cpu_v2")


@pytest.mark.parametrize("name", PLACES)
def test_what_everybody_can_write_to_is_refused(header: Path, name: str) -> None:
    place = _place(header, name)
    place.chmod(place.stat().st_mode | 0o002)
    _check_refused(header, name)


@pytest.mark.parametrize("name", PLACES)
def test_what_another_group_can_write_to_is_refused_and_ones_own_is_no_stranger(
    header: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _place(header, name)
    place.chmod(place.stat().st_mode | 0o020)
    assert kept.read()[0] == [_entry(header)]
    outside.module_of(header, "cpu_v2")
    stranger = place.stat().st_gid + 1
    for asked in ("getgid", "getegid"):
        monkeypatch.setattr(os, asked, lambda: stranger)
    _check_refused(header, name)


@pytest.mark.parametrize("name", PLACES)
def test_what_belongs_to_somebody_else_is_refused(
    header: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _place(header, name)
    if os.geteuid() == 0:
        os.chown(place, 12345, -1)
    else:  # then all of it belongs to somebody else
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    _check_refused(header, name)


def test_a_folder_above_that_only_its_owners_may_empty_is_fine(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "cache").mkdir(parents=True)
    above.chmod(0o1777)  # as /tmp is
    kept.check_trust(above / "cache")
    (above / "cache").chmod(0o1777)  # but there strangers can put things
    with pytest.raises(toolchain.CannotBuild):
        kept.check_trust(above / "cache")
    with pytest.raises(toolchain.CannotBuild):
        kept.check_trust(above / "cache" / "file")


def test_a_link_is_trusted_as_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "open" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "inner")
    kept.check_trust(tmp_path / "link")
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(
        toolchain.CannotBuild, match="open belongs to another user, or others can write"
    ):
        kept.check_trust(tmp_path / "link")


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_what_is_made_is_for_its_owner_to_write_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int
) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "deep" / "cache"))
    held = os.umask(mask)
    try:
        outside.keep(tmp_path / "elsewhere.hpp", ENTRY)
    finally:
        os.umask(held)
    assert [entry.environments for entry in kept.read()[0]] == [ENTRY]
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o755


def test_units_that_others_can_write_are_not_compiled(
    header: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "is_source_tree", lambda: False)  # as installed
    monkeypatch.setattr(manifest, "problems", lambda *_: [])
    monkeypatch.setattr(places, "engine_hash", lambda: "abc")
    monkeypatch.setenv("GPU_ENVS_BUILD_DIR", str(header.parent / "build"))
    folder = header.parent / "build" / "units"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(
        toolchain.CannotBuild, match="units belongs to another user, or others can write"
    ):
        outside.build(header, "cpu_v2")


def test_a_module_that_never_was_is_not_called_old(
    header: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise toolchain.CannotBuild("nvcc was not found")

    monkeypatch.setattr(outside, "build", refuse)
    with pytest.raises(ImportError, match="has no module for cuda yet, and it cannot be built: nv"):
        outside.module_of(header, "cuda")


MANY_COPIES = """
import sys
from pathlib import Path
from gpu_envs.building import shipping
header, module = map(Path, sys.argv[1:])
for _ in range(100):
    shipping.renew_data(header, module)
"""


def test_processes_that_copy_the_same_data_files_do_not_meet(header: Path) -> None:
    (header.parent / "data").mkdir()
    for k in range(20):
        (header.parent / "data" / f"{k}.txt").write_text(str(k))
    module = outside.module_file(header, "cpu_v2")
    command = [sys.executable, "-c", MANY_COPIES, str(header), str(module)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    assert len(list(places.kept_data(module).iterdir())) == 20


def test_data_files_that_cannot_be_copied_are_an_error_of_the_build(header: Path) -> None:
    (header.parent / "data").mkdir()
    (header.parent / "data" / "one.txt").symlink_to("nowhere")
    with pytest.raises(toolchain.CannotBuild, match=r"the data files of .* cannot be copied"):
        shipping.renew_data(header, outside.module_file(header, "cpu_v2"))
