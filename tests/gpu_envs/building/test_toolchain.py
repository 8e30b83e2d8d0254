"""The compilers that are found, and what they are called with."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_envs.building import toolchain


@pytest.fixture(autouse=True)
def fresh():
    """Nothing is remembered of the environment before or after."""
    caches = (toolchain.cxx, toolchain.known)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("named", "cause"),
    [
        ("no-such-g++", "the compiler that CXX names, no-such-g++, was not found"),
        ("", "none was found"),
    ],
)
def test_without_a_compiler_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str, cause: str
) -> None:
    monkeypatch.setenv("CXX", named)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(toolchain.CannotBuild, match="apt install g\\+\\+") as caught:
        toolchain.cxx()
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_compiler_that_is_too_old_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "g++"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "g++ 9.4.0" || echo 9\n')
    old.chmod(0o755)
    monkeypatch.setenv("CXX", str(old))
    with pytest.raises(toolchain.CannotBuild, match=r"needs g\+\+ 11 or newer; .* is 9"):
        toolchain.known(toolchain.cxx())


def test_the_compiler_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "ccache g++")
    with pytest.raises(
        toolchain.CannotBuild, match="CXX must name one program, got 'ccache g\\+\\+'"
    ):
        toolchain.cxx()


@pytest.mark.parametrize(
    "flag", ["-ffast-math", "-Ofast", "-ffp-contract=fast", "-ffinite-math-only"]
)
def test_flags_that_change_results_are_refused(monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    monkeypatch.setenv("CXXFLAGS", f"-g {flag}")
    with pytest.raises(toolchain.CannotBuild, match=f"CXXFLAGS has {flag}, which changes results"):
        toolchain.host_flags("cpu_v2")


@pytest.mark.parametrize(
    "flag", ["@more.txt", "-specs=my.specs", "-fplugin=x.so", "-B/elsewhere", "-march=native"]
)
def test_flags_that_bring_in_what_nobody_sees_are_refused(
    monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    monkeypatch.setenv("CXXFLAGS", f"-O2 {flag}")
    with pytest.raises(
        toolchain.CannotBuild, match="the object cache cannot see what that flag reads"
    ):
        toolchain.extra()


def test_a_quote_without_its_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "it's")
    with pytest.raises(toolchain.CannotBuild, match="CXX cannot be read"):
        toolchain.cxx()


def test_the_users_flags_come_last_so_their_effort_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", "-O1 -g")
    found = toolchain.host_flags("cpu_v2")
    assert found[0] == "-O3"
    assert found[-2:] == ["-O1", "-g"]
    assert [flag for flag in found if flag.startswith("-O")][-1] == "-O1"


@pytest.mark.parametrize("value", ["90;banana", "sm_90"])
def test_what_is_no_architecture_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA_ARCHS", value)
    with pytest.raises(toolchain.CannotBuild, match="is not a compute capability"):
        toolchain.architectures()
