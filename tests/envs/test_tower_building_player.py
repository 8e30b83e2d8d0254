"""The scripted player of TowerBuilding: how high it builds, and what that pays."""

from __future__ import annotations

import numpy as np
import pytest
from voxel_worlds import TINY, Array, Make

from gpu_envs.players.scripted import Scripted

ROOM = """
    floor 0 0 0 12 12 0
    wall 0 0 0 12 0 4; wall 0 12 0 12 12 4; wall 0 0 0 0 12 4; wall 12 0 0 12 12 4
    zone 5 7 1 7 9 1; agent 6.5 2.5 1
    seconds 90
"""


ROOMS = {"length_high": 16, "width_high": 16}


def heights_of(make_simulator: Make, worlds: int, seed: int, **options: int) -> Array:
    """Play an episode in each world; return how high the towers are."""
    simulator = make_simulator("TowerBuilding-v0", worlds, **TINY, **options)
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.reset(seed=seed)
    heights = np.full(worlds, -1.0)
    while (heights < 0).any():
        last = simulator.step(player.see(last))
        ended = last.terminated[:, 0] & (heights < 0)
        heights[ended] = last.true_objective[ended, 0]
    return heights


def test_player_builds_towers_of_six_boxes_in_small_rooms(make_simulator: Make) -> None:
    heights = heights_of(make_simulator, 6, 3, **ROOMS)
    assert heights.min() >= 4 and heights.mean() >= 6, heights


@pytest.mark.parametrize("agents", [2, 4])
def test_several_agents_build_as_high_as_one(make_simulator: Make, agents: int) -> None:
    """Eight boxes are soon placed: agents without work leave the stair to the others."""
    heights = heights_of(make_simulator, 1, 1, **ROOMS, first_world=14, agent_count=agents)
    assert heights.tolist() == [4]


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
