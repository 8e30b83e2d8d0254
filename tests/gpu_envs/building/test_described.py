"""The process in which a new module says what it has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpu_envs.building import limits, places, upkeep
from gpu_envs.commands import build
from gpu_envs.known import native


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is done, in order: targets whose engine is made ready, and words of the process."""
    done: list[Any] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        done.append(command[3:])
        Path(command[5]).write_text(json.dumps([]))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(upkeep, "ensure", lambda target, *_: done.append(target))
    monkeypatch.setattr(places, "is_source_tree", lambda: True)
    monkeypatch.setattr(native, "cpu_target", lambda: "cpu_v2")
    return done


def test_the_engine_that_it_opens_is_built_before_its_time_runs(asked: list[Any]) -> None:
    assert build._describe_apart("cuda", Path("x.so")) == []
    assert asked[0] == "cpu_v2"
    assert asked[1][:2] == ["cuda", "x.so"]


@pytest.mark.parametrize("flags", ["-O1 -fsanitize=address", "-O1"])
def test_addresses_are_not_limited_where_a_sanitizer_reserves_them(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch, flags: str
) -> None:
    monkeypatch.setenv("CXXFLAGS", flags)
    build._describe_apart("cpu_v2", Path("x.so"))
    assert asked[1][3] == ("0" if "sanitize" in flags else str(limits.memory()))
