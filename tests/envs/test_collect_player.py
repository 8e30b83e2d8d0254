"""The scripted player of Collect: what it gathers, and that it keeps to the land."""

from __future__ import annotations

import numpy as np
import pytest
from voxel_worlds import TINY, Make

from gpu_envs.players.scripted import Scripted


@pytest.mark.parametrize("agents", [1, 2])
def test_player_gathers_diamonds_and_does_not_fall(make_simulator: Make, agents: int) -> None:
    land = {"side_low": 8, "side_high": 12, "agent_count": agents}
    simulator = make_simulator("Collect-v0", 12, **TINY, **land)
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.reset(seed=5)
    total, is_over = np.zeros(4), np.zeros(12, bool)
    for _ in range(600):
        last = simulator.step(player.see(last))
        total += last.reward_parts[~is_over].sum(axis=(0, 1))
        is_over |= last.terminated[:, 0]
    good, bad, _, fall = total / 12
    assert good > 1.3 and bad > -0.2 and fall == 0
    assert is_over.mean() > 0.5


def test_player_goes_around_red_diamonds_and_off_no_edge(make_simulator: Make) -> None:
    layout = """
        floor 0 0 0 6 6 0; hill 2 0 4 3 1
        diamond 5 0 1; diamond 3 1 2; diamond 3 5 1 red; diamond 0 6 1
        agent 0.5 0.5 1
        seconds 40
    """
    simulator = make_simulator("Collect-v0", 1, **TINY)
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.reset(seed=1, options={"layout": layout})
    total = np.zeros(4)
    while not last.terminated.any():
        last = simulator.step(player.see(last))
        total += last.reward_parts[0, 0]
    assert total.tolist() == [3, 0, 5, 0]
