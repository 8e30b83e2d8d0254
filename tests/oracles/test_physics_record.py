"""The recording that the native physics tests read is what MuJoCo does in the scenes listed today.

tests/kernels/physics/oracle_test.cpp compares our solver with it, where there is no MuJoCo.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs mujoco (pip install mujoco)")

FOLDER = Path(__file__).parent / "physics"
# Six decimals are recorded; releases of MuJoCo differ in the rounding of its contact solver, which
# leaves a sliding box with jitter in its velocity.
PLACE, SPEED = 2e-4, 0.1  # [m], [m/s, rad/s]
QUICK = ("throw", "tumble", "slide_0.3", "ball_rolls")


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    import record

    yield record
    sys.modules.pop("record", None)


def split(lines: Iterable[str]) -> dict[str, tuple[list[str], list[list[float]]]]:
    """Layout and samples of each scene."""
    scenes: dict[str, tuple[list[str], list[list[float]]]] = {}
    for line in lines:
        word, *rest = line.split()
        if word == "scene":
            name = rest[0]
            scenes[name] = ([], [])
        elif word == "at":
            scenes[name][1].append([float(value) for value in rest])
        elif word != "#":
            scenes[name][0].append(line)
    return scenes


def compare(record: Any, names: Iterable[str]) -> None:
    committed = split(record.RECORDING.read_text().splitlines())
    for scene in record.scenes():
        if scene.name not in names:
            continue
        layout, samples = split(record.recording(scene))[scene.name]
        assert layout == committed[scene.name][0]
        now, then = np.array(samples), np.array(committed[scene.name][1])
        np.testing.assert_array_equal(now[:, :2], then[:, :2])
        np.testing.assert_allclose(now[:, 2:9], then[:, 2:9], rtol=0, atol=PLACE)
        np.testing.assert_allclose(now[:, 9:], then[:, 9:], rtol=0, atol=SPEED)


def test_every_scene_is_recorded_as_it_is_listed(record: Any) -> None:
    committed = split(record.RECORDING.read_text().splitlines())
    listed = {scene.name: list(record.layout(scene))[1:] for scene in record.scenes()}
    assert {name: layout for name, (layout, _) in committed.items()} == listed


def test_mujoco_still_moves_bodies_as_recorded(record: Any) -> None:
    compare(record, QUICK)


@pytest.mark.slow
def test_mujoco_still_moves_all_bodies_as_recorded(record: Any) -> None:
    compare(record, [scene.name for scene in record.scenes()])
