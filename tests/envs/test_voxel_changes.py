"""Voxel games: parameters of each world, what is refused of them, and when they act."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxel_worlds import Make

SMALL = {"resolution": "5x9"}
# What does not go together, and what the message says.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("Collect-v0", {"side_low": [8, 42]}, "'side_low' must be a whole number from 5 to 41"),
    ("Collect-v0", {"side_high": 7}, "side_low is above side_high"),
    ("Collect-v0", {"frequency_low": 11}, "frequency_low is above frequency_high"),
    ("Collect-v0", {"ground_high": [0.5, 0.1]}, "ground_low is above ground_high.*world 1"),
    ("Collect-v0", {"diamond_share": 0.06}, "more diamonds than are possible"),
    ("Collect-v0", {"box_share": 0.05}, "more boxes than are possible"),
    ("TowerBuilding-v0", {"zone_low": 9}, "zone_low is above zone_high"),
    ("TowerBuilding-v0", {"spare_boxes_low": 25}, "spare_boxes_low is above spare_boxes_high"),
    ("TowerBuilding-v0", {"materials_high": [7, 9]}, "more boxes than are possible.*world 1"),
    ("Rearrange-v0", {"object_count_low": 8}, "object_count_low is above object_count_high"),
    ("Rearrange-v0", {"misplaced_low": 9, "misplaced_high": 3}, "misplaced_low is above"),
    ("ObstaclesEasy-v0", {"platform_count_low": 3}, "platform_count_low is above platform_count"),
    ("ObstaclesEasy-v0", {"height_high": [3, 5]}, "more boxes than the simulator.*world 1"),
    ("ObstaclesHard-v0", {"height_high": 5}, "more boxes than the simulator has room for"),
    ("ObstaclesHard-v0", {"lava_low": 10, "lava_high": 9}, "lava_low is above lava_high"),
    ("HexExplore-v0", {"side_high": [2, 8]}, "'side_high' must be a whole number from 2 to 7"),
    ("HexExplore-v0", {"side_low": [7, 3], "side_high": 4}, "side_low is above side_high"),
    ("HexExplore-v0", {"thinned_low": 0.5}, "thinned_low is above thinned_high"),
    ("HexExplore-v0", {"wall_low": 3.0}, "wall_low is above wall_high"),
    ("HexMemory-v0", {"landmark_low": [0.1, 0.4]}, "landmark_low is above.*world 1"),
    ("HexMemory-v0", {"thing_low": 0.46}, "thing_low is above thing_high"),
    ("HexMemory-v0", {"thing_high": [0.3, 0.6]}, "'thing_high' must be"),
]


@pytest.mark.parametrize(("name", "change", "message"), REFUSED)
def test_changes_that_do_not_fit_are_refused(
    make_simulator: Make, name: str, change: dict[str, Any], message: str
) -> None:
    for varies in (list(change), []):
        if not varies and any(isinstance(value, list) for value in change.values()):
            continue
        simulator = make_simulator(name, 2, varies=varies, **SMALL)
        simulator.reset(seed=1)
        before = simulator.save()
        with pytest.raises(ValueError, match=message):
            simulator.set_parameters(**change)
        assert simulator.save() == before


def test_a_course_becomes_harder_from_the_next_episode_on(make_simulator: Make) -> None:
    simulator = make_simulator(
        "ObstaclesEasy-v0",
        16,
        varies=("height_low", "height_high"),
        walls=True,
        lava=False,
        steps=False,
        gaps=False,
        hardest_count=7,
        height_low=1,
        height_high=1,
        **SMALL,
    )
    simulator.reset(seed=3)
    low = simulator.get("crates.cell").copy()
    count = simulator.get("course.box_count")[:, 0].copy()
    simulator.set_parameters(height_low=3, height_high=3, worlds=range(8))
    assert np.array_equal(simulator.get("crates.cell"), low)
    simulator.reset(seed=3)
    harder = simulator.get("course.box_count")[:, 0]
    assert (harder[:8] > count[:8]).all()
    assert np.array_equal(harder[8:], count[8:])
