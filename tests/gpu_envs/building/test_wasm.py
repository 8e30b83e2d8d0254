"""Modules for web pages: the compiler that makes them, their labels, and where they lie."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_envs.building import labels, outside, places, shipping, store, toolchain, wasm
from gpu_envs.commands import build

EMPTY = bytes([0, 97, 115, 109, 1, 0, 0, 0])  # a module without sections


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    wasm.zig.cache_clear()
    yield
    wasm.zig.cache_clear()


def _installed(folder: Path, version: str, without: str = "") -> None:
    """A zig that only says its version, and the sources that are looked for beside it."""
    package = folder / "ziglang"
    package.mkdir()
    program = package / "zig"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    for name in wasm._EXCEPTIONS:
        if name != without:
            (package / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
            (package / "lib" / name).touch()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Python's packages, which has none; no zig is on PATH."""
    monkeypatch.setattr(wasm.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path / "store"))
    if shutil.which("zig"):
        pytest.skip("zig is in a folder of every PATH")
    return tmp_path


def test_without_zig_the_extra_is_named(site: Path) -> None:
    with pytest.raises(toolchain.CannotBuild, match=r"pip install 'gpu_envs\[wasm\]'"):
        wasm.zig()


def test_another_zig_is_refused(site: Path) -> None:
    _installed(site, "0.13.0")
    with pytest.raises(
        toolchain.CannotBuild, match=rf"need zig {wasm.VERSION}, .*/zig is 0\.13\.0"
    ):
        wasm.zig()


@pytest.mark.parametrize("name", wasm._EXCEPTIONS)
def test_without_the_sources_of_exceptions_nothing_is_built(site: Path, name: str) -> None:
    _installed(site, wasm.VERSION, without=name)
    with pytest.raises(toolchain.CannotBuild, match=f"lacks {name}"):
        wasm.zig()


def test_zig_of_the_package_is_taken(site: Path) -> None:
    _installed(site, wasm.VERSION)
    found = wasm.zig()
    assert (found.path, found.lib) == (str(site / "ziglang/zig"), site / "ziglang/lib")


def test_the_pinned_release_is_the_one_that_the_builder_wants() -> None:
    root = places.kernels().parent
    assert f'"ziglang=={wasm.VERSION}"' in (root / "pyproject.toml").read_text()
    assert f"ziglang=={wasm.VERSION}" in (root / "constraints.txt").read_text().splitlines()


def test_one_source_stands_for_each_of_its_name() -> None:
    names = [path.name for path in wasm.sources()]
    assert len(set(names)) == len(names)
    own = places.kernels() / "engine" / "web"
    assert {path.name for path in own.glob("*.cpp")} <= {
        path.name for path in wasm.sources() if path.parent == own
    }


def _leb(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def test_a_label_is_a_section_of_the_module(tmp_path: Path) -> None:
    """Engines refuse a module with anything but sections behind its header."""
    file = tmp_path / "x.wasm"
    file.write_bytes(EMPTY)
    source = tmp_path / "source.hpp"
    source.write_text("one")
    sources = {f"source{k}.hpp": labels.seen(source) for k in range(40)}
    labels.attach(file, labels.Label("page", places.WASM, "abc", sources))
    label = labels.verify(file)
    assert (label.kind, label.target, label.engine) == ("page", places.WASM, "abc")
    data = file.read_bytes()
    assert data.startswith(EMPTY) and data[len(EMPTY)] == 0
    size, at = _leb(data, len(EMPTY) + 1)
    assert at + size == len(data)
    length, at = _leb(data, at)
    assert data[at : at + length] == b"gpu_envs"
    for k in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[k] ^= 0x10
        file.write_bytes(damaged)
        with pytest.raises(labels.Damaged):
            labels.verify(file)


def test_a_header_of_ones_own_is_forgotten_with_its_module_for_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    file = outside.module_file(tmp_path / "mine.hpp", places.WASM)
    assert file.suffix == ".wasm"
    file.parent.mkdir(parents=True)
    file.write_bytes(EMPTY)
    assert outside.forget(tmp_path / "mine.hpp")
    assert not file.exists()


def test_only_the_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--engine", "--target", places.WASM]) == 1
    assert "each of its modules contains the engine" in capsys.readouterr().err


def test_zigs_own_libraries_stay_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ENVS_STORE", str(tmp_path))
    assert not wasm.has_libraries()
    for name, value in wasm.variables():
        assert name.startswith("ZIG_")
        assert Path(value) == tmp_path / store.ZIG
    (tmp_path / store.ZIG / "o").mkdir(parents=True)
    assert wasm.has_libraries()


def test_a_package_has_the_sources_of_such_a_module(tmp_path: Path) -> None:
    shipping.add_headers(tmp_path)
    root = places.kernels()
    for source in wasm.sources():
        assert (tmp_path / "kernels" / source.relative_to(root)).is_file(), source
    assert (tmp_path / "kernels/views/world.hpp").is_file()
    assert not list((tmp_path / "kernels").rglob("*.cu"))


@pytest.mark.web
def test_a_header_elsewhere_becomes_a_module_for_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        wasm.zig()
    except toolchain.CannotBuild as problem:
        pytest.skip(str(problem))
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    header = tmp_path / "counter.hpp"
    shutil.copyfile(Path(__file__).parent / "counter.hpp", header)
    assert build.main(["--target", places.WASM, str(header)]) == 0
    file = outside.module_file(header, places.WASM)
    assert f"the module for web pages is {file}" in capsys.readouterr().out
    assert file.read_bytes().startswith(EMPTY)
    assert labels.verify(file).target == places.WASM
    entries = [json.loads(path.read_text()) for path in places.kept_headers().glob("*.json")]
    assert [entry["header"] for entry in entries] == [str(header)]


@pytest.mark.web
def test_an_installed_package_makes_a_module_for_pages(package: Any, tmp_path: Path) -> None:
    try:
        wasm.zig()
    except toolchain.CannotBuild as problem:
        pytest.skip(str(problem))
    header = tmp_path / "counter.hpp"
    shutil.copyfile(Path(__file__).parent / "counter.hpp", header)
    done = package.command("build", "--target", places.WASM, str(header))
    assert done.returncode == 0, done.stderr
    file = Path(done.stdout.partition("the module for web pages is ")[2].splitlines()[0])
    assert file.is_relative_to(package.cache) and file.read_bytes().startswith(EMPTY)
    mine = package.command("build", "--target", places.WASM, "CartPole-v0")
    assert "pass a header of your own" in mine.stderr
