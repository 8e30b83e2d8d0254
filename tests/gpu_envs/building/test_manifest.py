"""The list of what was shipped: what differs from it is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_envs.building import manifest, places
from gpu_envs.building.places import Damaged


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package of two files."""
    root = tmp_path / "gpu_envs"
    (root / "kernels" / "engine").mkdir(parents=True)
    (root / "kernels" / "engine" / "a.hpp").write_text("int a;")
    (root / "catalogue").mkdir()
    (root / "catalogue" / "one.json").write_text("[]")
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "x.pyc").touch()
    manifest.write(root)
    monkeypatch.setattr(places, "PACKAGE", root)
    monkeypatch.setattr(places, "is_source_tree", lambda: False)
    manifest._held.cache_clear()
    yield root
    manifest._held.cache_clear()


def test_a_package_as_it_was_shipped_has_no_problems(package: Path) -> None:
    assert list(manifest.problems()) == []
    assert manifest.under(package / "catalogue") == [package / "catalogue" / "one.json"]
    assert manifest.read(package / "catalogue" / "one.json") == b"[]"
    assert manifest.lists(package / "kernels" / "engine" / "a.hpp")
    assert not manifest.lists(package / "__pycache__" / "x.pyc")


def test_what_differs_is_missing_or_was_added_is_named(package: Path) -> None:
    file = package / "catalogue" / "one.json"
    file.write_text("{}")
    (package / "kernels" / "engine" / "b.hpp").touch()
    (package / "kernels" / "engine" / "a.hpp").unlink()
    differs, missing, added = sorted(manifest.problems())
    assert added.endswith("b.hpp is not a file of this release of gpu_envs: delete it")
    assert missing.endswith("a.hpp is missing: install gpu_envs again")
    assert differs.startswith(f"{file} is damaged: ")
    with pytest.raises(Damaged, match=r"one\.json is damaged: .*: install gpu_envs again"):
        manifest.read(file)
    with pytest.raises(Damaged, match="is missing"):
        manifest.check("kernels/")


DAMAGES = [
    "",
    "{",
    "[]",
    "{}",
    '{"hash": "", "files": {}}',
    '{"hash": "", "files": 3}',
    "[" * 10**5,
]


@pytest.mark.parametrize("text", DAMAGES)
def test_a_damaged_manifest_is_named(package: Path, text: str) -> None:
    (package / manifest.NAME).write_text(text)
    with pytest.raises(Damaged, match=r"manifest\.json is damaged \(.*: install gpu_envs again"):
        manifest.read(package / "catalogue" / "one.json")
    (problem,) = manifest.problems()
    assert "manifest.json is damaged" in problem


def test_every_changed_hash_in_a_manifest_is_noticed(package: Path) -> None:
    file = package / manifest.NAME
    held = json.loads(file.read_text())
    for name in held["files"]:
        changed = held | {"files": held["files"] | {name: "0" * 32}}
        file.write_text(json.dumps(changed))
        with pytest.raises(Damaged, match=r"manifest\.json is damaged"):
            manifest.lists(package / name)


def test_what_lies_elsewhere_is_read_as_it_is(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "mine.json"
    other.write_text("{}")
    assert manifest.read(other) == b"{}"
    assert not manifest.lists(other)
