"""TowerBuilding: who builds and who does not, teams, random play, rooms full of agents."""

from __future__ import annotations

import numpy as np
import pytest
from tower_rooms import GAME, Room
from voxel_games import (
    check_agents_never_pass_through,
)
from voxel_worlds import (
    PRESS,
    RADIUS,
    RESTING,
    TINY,
    carried_pairs,
    check_boxes_stand_apart,
    random_actions,
)

# ---- who builds, and who does not

ROOM = """
    floor 0 0 0 12 12 0
    wall 0 0 0 12 0 4; wall 0 12 0 12 12 4; wall 0 0 0 0 12 4; wall 12 0 0 12 12 4
    zone 5 7 1 7 9 1
    box 6 4 1
    agent 6.5 2.5 1
    seconds 12
"""


def test_policy_that_walks_with_its_box_builds_and_is_paid_all(make_simulator) -> None:
    room = Room(make_simulator, ROOM)
    assert room.get("site.length") == 180
    room.act("f", 4)
    room.act("-", 4)
    room.act("i")
    for _ in range(40):
        if room.at()[1] > 7.2:
            break
        room.act("f")
    room.act("-", 5)
    room.act("i")
    assert room.box() == (6, 8, 1)
    while not room.is_over:
        room.act("-")
    assert room.total[0].tolist() == pytest.approx([0.1, 0.1, 0.15])
    assert room.last.true_objective.tolist() == [[1.0]]
    assert room.last.episode_return.tolist()[0] == pytest.approx([0.35])


@pytest.mark.parametrize("letters", ["-", "f", "fj", "u"])
def test_policy_without_hands_earns_nothing(make_simulator, letters: str) -> None:
    room = Room(make_simulator, ROOM)
    for step in range(1, 181):
        room.act(letters)
        assert room.is_over == (step == 180)
    assert not room.total.any()
    assert room.last.true_objective.tolist() == [[0.0]]


# ---- teams, bodies


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_apart_and_never_pass_through_one_another(make_simulator, agents: int) -> None:
    room = {"length_high": 14, "width_high": 14}
    check_agents_never_pass_through(make_simulator, GAME, agents, **room)


def test_random_play_keeps_boxes_apart_and_pays_what_the_zone_gains(make_simulator) -> None:
    options = {"length_high": 12, "width_high": 12, "look_limit": 1, **TINY}
    simulator = make_simulator(GAME, 20, agent_count=4, team_spirit=0.3, **options)
    simulator.reset(seed=2)
    random = np.random.default_rng(3)
    lifted: set[tuple[int, int, int]] = set()
    paid, begin = np.zeros(20), simulator.get("site.worth")[:, 0].copy()
    highest = simulator.get("site.highest")[:, 0].copy()
    for step in range(120):
        results = simulator.step(random_actions(random, 20, 4))
        paid += results.reward_parts[..., 2].sum(axis=1)
        if step % 4 == 0:
            lifted |= carried_pairs(simulator)
            check_boxes_stand_apart(simulator)
        now = simulator.get("site.highest")[:, 0]
        assert (now >= highest).all()  # it never falls
        highest = now.copy()
    gained = 0.05 * (simulator.get("site.worth")[:, 0] - begin)
    assert paid == pytest.approx(gained, abs=1e-4)
    assert len(lifted) > 10 and (highest > 0).sum() > 3


def test_crowd_that_plays_with_boxes_stays_in_its_room(make_simulator) -> None:
    walls = "wall 0 0 0 9 0 9; wall 0 9 0 9 9 9; wall 0 0 0 0 9 9; wall 9 0 0 9 9 9; "
    boxes = "".join(f"box {x} {y} 1; " for x in range(2, 8, 2) for y in range(2, 9, 2))
    places = "".join(f"agent {1.5 + 2 * k} {y}.5 1; " for k in range(4) for y in (1, 3))
    layout = f"floor 0 0 0 9 9 0; {walls}zone 1 1 1 8 8 1; {boxes}{places}"
    simulator = make_simulator(GAME, 24, agent_count=8, autoreset_mode="Disabled", **TINY)
    simulator.reset(seed=1, options={"layout": layout})
    dice = np.random.default_rng(2)
    for _ in range(300):
        simulator.step(random_actions(dice, 24, 8))
        at = simulator.get("agents.position")
        assert (at[..., 2] > RESTING - PRESS).all()
        assert (at[..., :2] > 1 + RADIUS - PRESS).all()
        assert (at[..., :2] < 9 - RADIUS + PRESS).all()
