"""What is measured of hiders and seekers: who is shut off, and what random play gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

from scripts.studies import behaviour

WORLD = behaviour.World(hiders=2, seekers=1, boxes=1, half=18.0, step_seconds=1 / 30)


def last(box_state: int, yaw: float = 0.0) -> dict[str, Any]:
    """A hider in the room at the top, another one and the seeker below, a box in the door."""
    position = np.array([[[0, 15, 1], [-10, 0, 1], [10, -5, 1], [0, 10, 1]]], np.float32)
    orientation = np.zeros((1, 4, 4), np.float32)
    orientation[..., 0], orientation[..., 3] = np.cos(yaw / 2), np.sin(yaw / 2)
    state = np.array([[1, 1, 1, box_state]])
    return {"position": position, "orientation": orientation, "state": state}


def walls(*ends: tuple[float, float]) -> tuple[Any, Any]:
    """Walls along x at y = 10, each from one end to the other."""
    centre = np.array([[((a + b) / 2, 10, 1) for a, b in ends]])
    half = np.array([[((b - a) / 2, 0.1, 1) for a, b in ends]])
    return centre, half


@pytest.mark.parametrize(
    ("ends", "state", "size", "expected"),
    [
        ([(-18, 18)], 0, 4, True),  # no door
        ([(-18, -2), (2, 18)], 0, 4, False),  # a door and no box
        ([(-18, -2), (2, 18)], 1, 4, False),  # one that can be pushed away
        ([(-18, -2), (2, 18)], 3, 4, True),
        ([(-18, -4), (4, 18)], 3, 0.2, False),  # one with room beside it
    ],
)
def test_who_is_behind_walls_and_locks_is_shut_off(
    ends: list[tuple[float, float]], state: int, size: float, expected: bool
) -> None:
    sizes = np.array([[[size, 1.0, 2.0]]])
    found = behaviour.shut_off(WORLD, last(state), sizes, walls(*ends))
    assert found.tolist() == [[expected, False]]


def test_a_turned_box_is_as_wide_as_it_lies() -> None:
    sizes = np.array([[[4.0, 0.2, 2.0]]])
    ends = (-18.0, -2.0), (2.0, 18.0)
    assert behaviour.shut_off(WORLD, last(3), sizes, walls(*ends))[0, 0]
    turned = last(3, np.pi / 2)
    wide = walls((-18.0, -3.0), (3.0, 18.0))
    assert not behaviour.shut_off(WORLD, turned, sizes, wide)[0, 0]


def test_agents_at_random_are_measured() -> None:
    found = behaviour.play(None, 24, seed=3, sampled=False)
    assert 0.2 < found["seen"].mean() < 0.9
    assert 5 < found["distance"].mean() < 30
    assert abs(found["fled"].mean()) < 0.5 and abs(found["chased"].mean()) < 0.5
    for name, values in found.items():
        if name not in ("fled", "chased", "distance"):
            assert ((values >= 0) & (values <= 1)).all()
