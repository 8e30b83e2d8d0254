"""Which environments nvcc compiles though they do not ship, and with which settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_envs.commands import build
from scripts.checks import compile_for_cuda


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each build, which does nothing; variables are restored."""
    found: list[list[str]] = []
    monkeypatch.setattr(build, "main", lambda words: found.append(words) or 0)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return found


def test_every_environment_of_the_tests_and_examples_is_compiled(asked) -> None:
    assert compile_for_cuda.main([]) == 0
    ((option, target, *headers),) = asked
    assert (option, target) == ("--target", "cuda")
    stems = {Path(header).stem for header in headers}
    assert {"arena", "crowd", "herd", "troupe", "gather", "reach", "hail"} <= stems
    assert not stems & {"arena_tables", "maze", "faulty"}


def test_warnings_are_errors_and_the_users_cache_stays_as_it_is(
    asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "CXXFLAGS", "-g")
    before = os.environ["GPU_ENVS_STORE"]
    assert compile_for_cuda.main(["crowd"]) == 0
    assert [Path(word).name for word in asked[0][2:]] == ["crowd.hpp"]
    assert os.environ["CXXFLAGS"] == "-g -Werror"
    assert os.environ["GPU_ENVS_CACHE"].endswith("compiled_for_cuda")
    assert os.environ["GPU_ENVS_STORE"] == before
    assert os.environ["GPU_ENVS_CUDA_ARCHS"] == "ptx"


def test_an_unknown_name_is_answered_with_all(asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_for_cuda.main(["crwod"]) == 2 and not asked
    assert "crwod: there are " in capsys.readouterr().err
