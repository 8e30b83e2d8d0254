"""Pictures on interpreted kernels: what is counted of them, and that drawing waits for nothing."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from scripts.ptx import interpreter

NAME = "ObstaclesEasy-v0"
SMALL = {"resolution": "4x8", "agent_count": 2}


@pytest.fixture
def pictures(interpreted: None) -> Any:
    """The script; to import it chooses the interpreter for the whole process."""
    return importlib.import_module("scripts.ptx.pictures")


def test_a_step_launches_kernels_and_nothing_else_and_its_replays_are_steps(pictures: Any) -> None:
    found = pictures.calls(NAME, 2, 5, **SMALL)
    assert found.launches >= 2
    assert (found.harmful, found.replays, found.differing) == ({}, 5, "")


def test_a_step_that_waits_is_found(pictures: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    step = pictures.worlds.Run.step

    def waiting(run: Any, *arguments: Any) -> None:
        step(run, *arguments)
        interpreter.library().cudaStreamSynchronize(None)

    monkeypatch.setattr(pictures.worlds.Run, "step", waiting)
    assert pictures.calls(NAME, 1, 3, **SMALL).harmful == {"cudaStreamSynchronize": 3}


def test_a_replay_that_draws_nothing_is_found(
    pictures: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "_step", lambda *_: None)
    found = pictures.calls(NAME, 1, 3, **SMALL)
    assert found.replays == 0
    assert "obs" in found.differing


def test_instructions_are_those_of_the_phase_that_draws(pictures: Any) -> None:
    small, large = (
        pictures.rays(NAME, 1, 2, resolution=size, observation="depth") for size in ("8x16", "8x32")
    )
    assert (small.form, small.pixels, large.pixels) == ("depth 8 x 16", 128, 256)
    assert 0 < small.lanes <= 32 and 0 < small.share < 1
    assert small.machine >= small.of_ray > large.of_ray > 32
    first, _ = pictures.tables([small], [])
    assert first.rows[0][:2] == [NAME, "depth 8 x 16"]
