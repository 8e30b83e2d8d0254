"""The scripted player of TowerBuilding: how high it builds, and what that pays."""

from __future__ import annotations

import numpy as np
import pytest
from voxel_worlds import TINY, Make

from gpu_envs.players.scripted import Scripted

ROOM = """
    floor 0 0 0 12 12 0
    wall 0 0 0 12 0 4; wall 0 12 0 12 12 4; wall 0 0 0 0 12 4; wall 12 0 0 12 12 4
    zone 5 7 1 7 9 1; agent 6.5 2.5 1
    seconds 90
"""


def test_player_builds_towers_of_six_boxes_in_small_rooms(make_simulator: Make) -> None:
    rooms = {"length_high": 16, "width_high": 16}
    simulator = make_simulator("TowerBuilding-v0", 6, **TINY, **rooms)
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.reset(seed=3)
    heights = np.full(6, -1.0)
    while (heights < 0).any():
        last = simulator.step(player.see(last))
        ended = last.terminated[:, 0] & (heights < 0)
        heights[ended] = last.true_objective[ended, 0]
    assert heights.min() >= 4 and heights.mean() >= 6, heights


@pytest.mark.parametrize("boxes, paid", [(1, [0.15]), (4, [0.15, 0.15, 0.3, 0.55])])
def test_stack_pays_what_its_boxes_are_worth(
    make_simulator: Make, boxes: int, paid: list[float]
) -> None:
    layout = ROOM + "; ".join(f"box {2 + 2 * k} 4 1" for k in range(boxes))
    simulator = make_simulator("TowerBuilding-v0", 1, **TINY)
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.reset(seed=1, options={"layout": layout})
    rewards = []
    while not last.terminated.any() and len(rewards) < boxes:
        last = simulator.step(player.see(last))
        if last.reward_parts[0, 0, 2]:
            rewards.append(float(last.reward_parts[0, 0, 2]))
    assert sorted(rewards) == pytest.approx(paid)
