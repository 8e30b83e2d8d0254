"""Where things are, and what holds for a tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_envs.building import places


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_ENVS_BUILD_DIR", str(tmp_path))
    monkeypatch.delenv("GPU_ENVS_CUDA", raising=False)
    return tmp_path


def _settle(monkeypatch: pytest.MonkeyPatch, value: str) -> str:
    with monkeypatch.context() as patch:
        patch.setenv("GPU_ENVS_CUDA", value)
        return places.settle_cuda()


def test_no_cuda_holds_until_it_is_taken_back(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places.settle_cuda() == "auto"
    assert _settle(monkeypatch, "0") == "0"
    assert places.settle_cuda() == "0"
    assert json.loads((build / "settings.json").read_text()) == {"cuda": "0"}
    assert _settle(monkeypatch, "1") == "1"  # for its command
    assert places.settle_cuda() == "0"
    assert _settle(monkeypatch, "auto") == "auto"
    assert places.settle_cuda() == "auto"
    assert _settle(monkeypatch, "on") == "1"
    assert places.settle_cuda() == "auto"


@pytest.mark.parametrize("value", ["2", "maybe", "cuda"])
def test_bad_values_are_refused_and_hold_nothing(
    build: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    with pytest.raises(ValueError, match=f"GPU_ENVS_CUDA must be auto, 1 or 0, got '{value}'"):
        _settle(monkeypatch, value)
    assert not (build / "settings.json").exists()


def test_settings_that_cannot_be_read_hold_nothing(build: Path) -> None:
    for text in ("{", "[]", "3"):
        (build / "settings.json").write_text(text)
        assert places.settle_cuda() == "auto"


def test_environments_are_headers_or_folders_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.hpp", "b/b.hpp", "b/rules.hpp"):
        (tmp_path / name).touch()
    assert list(places.environments(tmp_path)) == ["a", "b"]
    (tmp_path / "b.hpp").touch()
    with pytest.raises(ValueError, match="two environment headers are named b: "):
        places.environments(tmp_path)


def test_environments_of_a_family_are_its_tasks(tmp_path: Path) -> None:
    family = tmp_path / "maze"
    (family / "tasks").mkdir(parents=True)
    for name in ("maze.hpp", "walls.hpp", "tasks/flee.hpp", "tasks/seek.hpp"):
        (family / name).touch()
    (tmp_path / "a.hpp").touch()
    found = places.environments(tmp_path)
    assert list(found) == ["a", "flee", "seek"]
    assert list(places.environments(family)) == ["flee", "seek"]
    assert places.own_folders(found["flee"]) == [family / "tasks", family]
    assert places.data_folders(found["flee"]) == []
    for folder in (family / "data", family / "tasks" / "data"):
        folder.mkdir()
    assert places.data_folders(found["flee"]) == [family / "tasks" / "data", family / "data"]
    (family / "tasks" / "a.hpp").touch()
    with pytest.raises(ValueError, match="two environment headers are named a: "):
        places.environments(tmp_path)


def test_header_of_a_family_is_an_environment_where_it_has_builds(tmp_path: Path) -> None:
    family = tmp_path / "pole"
    (family / "tasks").mkdir(parents=True)
    (family / "tasks" / "forms.hpp").touch()
    (family / "pole.hpp").write_text("// Builds are elsewhere\nstruct Pole {};\n")
    assert list(places.environments(tmp_path)) == ["forms"]
    (family / "pole.hpp").write_text('using Builds = ge::Builds<Build<"Pole-v0", Pole>>;\n')
    assert list(places.environments(tmp_path)) == ["forms", "pole"]
    assert list(places.environments(family)) == ["forms", "pole"]


def test_a_header_says_how_many_units_it_is(tmp_path: Path) -> None:
    header = tmp_path / "a.hpp"
    header.write_text("int x;\n")
    assert places.unit_count(header) == 1
    header.write_text("constexpr int kUnits = 3;\n")
    assert places.unit_count(header) == 3


def test_the_engines_hash_is_of_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "kernels", lambda: tmp_path)
    (tmp_path / "engine" / "cpu").mkdir(parents=True)
    header = tmp_path / "engine" / "cpu" / "a.hpp"
    header.write_text("one")
    (tmp_path / "engine" / "a.cpp").write_text("none of it")
    (tmp_path / "flags.txt").write_text("-O3")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "scene.hpp").write_text("of both")
    first = places.engine_hash()
    header.touch()
    assert places.engine_hash() == first
    (tmp_path / "engine" / "a.cpp").write_text("nor this")
    assert places.engine_hash() == first
    header.write_text("two!")
    second = places.engine_hash()
    assert second != first
    (tmp_path / "flags.txt").write_text("-O2 ")
    assert places.engine_hash() not in (first, second)


def test_what_editors_and_systems_leave_is_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "envs" / "other").mkdir(parents=True)
    (tmp_path / "flags.txt").touch()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "scene.hpp").touch()
    (tmp_path / "envs" / "one.hpp").touch()
    monkeypatch.setattr(places, "kernels", lambda: tmp_path)
    before = places.engine_hash()
    (tmp_path / "engine" / ".#plan.hpp").symlink_to("user@machine.123")  # leads nowhere
    (tmp_path / "engine" / "._plan.hpp").touch()
    for name in (".#one.hpp", "._one.hpp", "other/._other.hpp"):
        (tmp_path / "envs" / name).touch()
    assert places.engine_hash() == before
    assert list(places.environments()) == ["one"]


def test_inputs_have_one_name_in_a_tree_and_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rule = places.kernels() / "flags.txt", places.RULES / "recipes.py"
    assert places.input_name(header) == "kernels/flags.txt"
    assert places.input_name(rule) == "building/recipes.py"
    assert places.input_name(tmp_path) == str(tmp_path)
    for path in (header, rule, tmp_path):
        assert places.input_path(places.input_name(path)) == str(path)
    monkeypatch.setattr(places, "is_source_tree", lambda: False)
    assert places.input_path("kernels/a.hpp") == str(places.PACKAGE / "kernels" / "a.hpp")
