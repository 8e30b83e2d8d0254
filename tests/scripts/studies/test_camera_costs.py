"""Where the time of a picture goes: `scripts/studies/camera_costs.py`."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.studies import camera_costs as costs


def test_parts_of_a_picture_are_all_there_and_make_the_whole() -> None:
    scene = costs.Scene("tiny", "ObstaclesEasy-v0", {"resolution": (9, 16), "agent_count": 2})
    cost = costs.measure(scene, seconds=0.005, repeats=3)
    assert cost.rate > 0
    assert cost.simulation > 0
    assert min(cost.culling, cost.casting, cost.shading) >= 0
    assert sum(int(share.rstrip("%")) for share in cost.shares()) == pytest.approx(100, abs=2)


def test_in_a_gallery_they_turn_and_end_no_episode(gallery: str) -> None:
    scene = costs.gallery("boxes", 12, boxes=True)
    with_boxes = costs.opened(scene, {"resolution": (3, 4)})
    for action in costs.drawn_actions(with_boxes):
        assert set(action.tolist()) == {0, 1, 2}  # rest, turn left, turn right
        with_boxes.step(action)
    assert (with_boxes.simulator.get("world.step") == 20).all()
    shapes = with_boxes.simulator.get("things.shape")
    assert np.unique(shapes).tolist() == [2]  # geometry::kBox
    with_boxes.close()
    assert gallery == scene.id


@pytest.mark.parametrize(("level", "floor"), [("v4", 3000), ("v3", 1500), ("v2", 1000)])
def test_verdict_is_that_of_the_floor_of_this_processor(level: str, floor: int) -> None:
    assert costs.judged(floor, f"cpu_{level}").verdict == "ok"
    assert costs.judged(floor - 1, f"cpu_{level}").verdict == "short"
