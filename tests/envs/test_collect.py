"""Collect: diamonds, falls, hills under feet, boxes, what is paid, time, teams."""

from __future__ import annotations

import numpy as np
import pytest
from collect_lands import FAR_GREEN, GAME, GROUND, PARTS, SHORT, Land, heights_of
from voxel_games import (
    check_agents_never_pass_through,
    check_success,
    check_success_in_the_last_step,
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

# ---- the clock


def test_undisturbed_episode_has_the_steps_of_its_diamonds(make_simulator) -> None:
    seconds = {"episode_seconds": 1.1, "diamond_seconds": 0.07}
    options = {"side_low": 20, **TINY, **seconds}
    simulator = make_simulator(GAME, 40, autoreset_mode="Disabled", **options)
    simulator.reset(seed=3)
    # Off the diamonds' cells, on which an agent may land.
    place = simulator.get("agents.position")
    place[:, 0] = (-9, -9, 3000)
    simulator.set("agents.position", place)
    diamonds = simulator.get("land.diamond_count")[:, 0]
    length = np.ceil(15 * (1.1 + 0.07 * diamonds) - 1e-3).astype(int)
    assert len(np.unique(length)) > 10
    for step in range(1, length.max() + 1):
        results = simulator.step(np.zeros((40, 1, 6), int))
        assert (results.ended[:, 0] == (length == step)).all()
        assert not results.truncated.any() and not results.reward.any()


def test_default_episode_has_60_seconds_and_2_for_each_diamond(make_simulator) -> None:
    simulator = make_simulator(GAME, 200, **TINY)
    simulator.reset(seed=2)
    diamonds = simulator.get("land.diamond_count")[:, 0]
    assert (simulator.get("land.length")[:, 0] == 15 * (60 + 2 * diamonds)).all()
    assert (simulator.get("diamonds.count")[:, 0] == diamonds).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_success_is_followed_by_four_steps_and_its_reward_is_seen(make_simulator, mode) -> None:
    layout = GROUND + "diamond 5 5 1; agent 5.5 4.5 1"
    check_success(Land(make_simulator, layout, autoreset_mode=mode))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_reward_of_the_very_last_step_comes_with_the_end(make_simulator, mode: str) -> None:
    layout = GROUND + "diamond 5 5 1; agent 5.5 4.4 1; seconds 0.2"
    check_success_in_the_last_step(Land(make_simulator, layout, autoreset_mode=mode))


def test_everybody_ends_in_the_same_step(make_simulator) -> None:
    options = {**TINY, **SHORT, "agent_count": 4, "episode_seconds": 1, "side_low": 30}
    simulator = make_simulator(GAME, 8, good_share=1, diamond_share=0.03, **options)
    simulator.reset(seed=1)
    random = np.random.default_rng(1)
    for _ in range(45):
        ended = simulator.step(random_actions(random, 8, 4)).terminated
        assert (ended == ended[:, :1]).all()
    assert ended.all()


# ---- diamonds


def test_green_and_red_diamonds_pay_once_and_the_last_green_one_all(make_simulator) -> None:
    things = "diamond 5 5 1; diamond 5 7 1 red; diamond 5 9 1; agent 5.5 3.5 1"
    land = Land(make_simulator, GROUND + things, autoreset_mode="Disabled")
    assert land.good_left == 2
    assert land.last.state[0, 2] == 2
    order = []
    for _ in range(24):
        land.act("f")
        if land.paid[0]:
            order.append((*land.parts[0].tolist(), land.good_left))
    assert order == [(1, 0, 0, 0, 1), (0, -1, 0, 0, 1), (1, 0, 5, 0, 0)]
    assert not land.get("diamonds.left", 0) and not land.get("diamonds.left", 2)


def test_red_diamonds_do_not_solve_a_level(make_simulator) -> None:
    """In the reference the first red one does, where no diamond is green."""
    land = Land(make_simulator, GROUND + "diamond 5 5 1 red; agent 5.5 4.5 1; seconds 1")
    for step in range(1, 16):
        land.act("f" if step < 6 else "-")
        assert land.is_over == (step == 15)
    assert land.total[0].tolist() == [0, -1, 0, 0]
    assert land.last.true_objective.tolist() == [[0.0]]


def test_red_diamond_after_success_is_still_paid(make_simulator) -> None:
    things = "diamond 5 5 1; diamond 5 6 1 red; agent 5.5 4.5 1"
    land = Land(make_simulator, GROUND + things, autoreset_mode="Disabled")
    land.act("f", 12)
    assert land.total[0].tolist() == [1, -1, 5, 0]


@pytest.mark.parametrize(("x", "y", "z"), [(4.99, 4.5, 1), (6.01, 4.5, 1), (5.5, 3.9, 1)])
def test_diamond_is_not_taken_from_beside_its_cell(make_simulator, x, y, z) -> None:
    land = Land(make_simulator, GROUND + f"diamond 5 4 1; agent {x} {y} {z}")
    land.act("-", 5)
    assert not land.total.any()


def test_diamond_is_taken_in_its_own_cell_of_height_alone(make_simulator) -> None:
    """An agent's place is 0.905 m above its feet."""
    for feet, takes in ((1.0, True), (1.07, True), (1.2, False), (2.0, False)):
        land = Land(make_simulator, GROUND + FAR_GREEN + f"diamond 5 4 1; agent 5.5 4.5 {feet}")
        land.act("-")
        assert bool(land.total.any()) == takes, feet


def test_agent_jumps_over_a_diamond(make_simulator) -> None:
    land = Land(make_simulator, GROUND + FAR_GREEN + "diamond 5 5 1; agent 5.5 3.3 1")
    land.act("f", 4)
    land.act("fj")
    while land.get("agents.climb"):
        land.act("f")
    assert land.at()[1] > 6
    assert not land.total.any()


def test_diamond_under_a_box_waits_until_it_is_lifted(make_simulator) -> None:
    land = Land(make_simulator, GROUND + FAR_GREEN + "diamond 5 6 1; box 5 4 1; agent 5.5 3.5 1")
    land.act("i")
    land.stand(5.5, 5.5)
    land.act("i")
    assert land.box() == (5, 6, 1)
    land.stand(5.5, 6.5, feet=1.8985)
    land.act("-", 3)
    assert not land.total.any()
    land.stand(5.5, 5.5)
    land.act("i")
    land.act("f", 4)
    assert land.total[0].tolist() == [1, 0, 0, 0]


def test_first_agent_in_a_cell_takes_its_diamond(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "diamond 5 5 1; agent 5.45 4.9 1; agent 5.55 6.1 1 yaw 3.1415926"
    land = Land(make_simulator, layout, team_spirit=0)
    land.act("f f", 2)
    assert land.total[:, 0].tolist() == [1, 0]


# ---- falls


def test_fall_off_the_land_pays_once_and_returns_the_agent_home(make_simulator) -> None:
    land = Land(make_simulator, "floor 0 0 0 5 5 0; diamond 1 1 1; agent 4.2 4.2 1 yaw 0.3")
    steps = 0
    while not land.paid[0]:
        land.act("f")
        steps += 1
        assert steps < 60
    assert land.parts[0].tolist() == [0, 0, 0, -1]
    assert land.at() == pytest.approx([4.5, 4.5, RESTING])
    assert land.get("agents.yaw") == 0
    land.act("-", 10)
    assert land.total[0].tolist() == [0, 0, 0, -1]
    assert not land.is_over
    land.put("agents.position", 0, (9, 9, -19.9))
    land.act("-", 3)
    assert land.total[0].tolist() == [0, 0, 0, -2]


@pytest.mark.parametrize("spirit", [0.0, 1.0])
def test_a_fall_is_ones_own_whatever_the_team_spirit(make_simulator, spirit: float) -> None:
    layout = GROUND + FAR_GREEN + "agent 2.5 2.5 1; agent 6.5 6.5 1"
    land = Land(make_simulator, layout, team_spirit=spirit, fall_reward=-0.5)
    land.put("agents.position", 1, (30, 30, -19.9))
    land.act("-", 3)
    assert land.total.tolist() == [[0, 0, 0, 0], [0, 0, 0, -0.5]]


def test_home_on_a_hill_is_its_top_and_a_box_there_is_stood_on(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "hill 4 4 6 6 3; box 5 4 4; agent 5.5 5.5 4 yaw 3.1415926"
    land = Land(make_simulator, layout)
    assert land.get("agents.home").tolist() == [5, 5, 4]
    land.put("agents.position", 0, (30, 30, -19.9))
    land.act("-", 2)
    assert land.at() == pytest.approx([5.5, 5.5, RESTING + 3])
    cells = land.simulator.get("crates.cell")
    cells[0, 0] = (5, 5, 4)
    land.simulator.set("crates.cell", cells)
    land.put("agents.position", 0, (30, 30, -19.9))
    land.act("-", 20)
    assert land.at()[2] == pytest.approx(RESTING + 3 + 0.8985, abs=PRESS)


# ---- rewards


@pytest.mark.parametrize("rewards", [(1.0, -1.0, 5.0), (2.0, 3.0, -4.0)])
@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_every_reward_is_paid_once_and_divided_by_team_spirit(
    make_simulator, agents: int, spirit: float, rewards: tuple[float, float, float]
) -> None:
    options = {f"{key}_reward": pay for key, pay in zip(PARTS[:3], rewards, strict=True)}
    places = "".join(f"agent {5.5 + 2 * k} 3.5 1; " for k in range(agents))
    layout = GROUND + "diamond 5 5 1; diamond 5 6 1 red; " + places
    options["autoreset_mode"] = "Disabled"
    land = Land(make_simulator, layout, team_spirit=spirit, **options)
    land.act("f" + " -" * (agents - 1), 12)
    share = np.full(agents, spirit / agents)
    share[0] += 1 - spirit
    assert land.total[:, :3] == pytest.approx(np.outer(share, rewards), abs=1e-6)
    assert land.total[:, :3].sum(axis=0) == pytest.approx(rewards, abs=1e-5)
    assert not land.total[:, 3].any()


def test_rewards_of_zero_pay_nothing_and_success_stays_success(make_simulator) -> None:
    none = {f"{key}_reward": 0 for key in PARTS}
    land = Land(make_simulator, GROUND + "diamond 5 5 1; agent 5.5 4.5 1", **none)
    while not land.is_over:
        land.act("f")
    assert not land.total.any()
    assert land.last.true_objective.tolist() == [[1.0]]


# ---- hills


@pytest.mark.parametrize(("height", "climbs"), [(1, True), (2, False)])
def test_hill_of_one_cell_is_climbed_and_of_two_never(make_simulator, height, climbs) -> None:
    layout = GROUND + FAR_GREEN + f"hill 0 8 20 12 {height}; agent 5.5 6.5 1"
    land = Land(make_simulator, layout)
    for _ in range(60):
        land.act("fj")
        if land.at()[1] > 9:
            break
    assert (land.at()[1] > 9) == climbs
    if not climbs:
        assert land.at()[1] == pytest.approx(8 - RADIUS, abs=1e-3)


@pytest.mark.parametrize("height", [0, 1, 5, 20])
def test_agent_stands_on_the_column_of_its_cell(make_simulator, height: int) -> None:
    layout = GROUND + FAR_GREEN + f"hill 3 3 9 9 20; hill 6 6 6 6 {height}; agent 1.5 1.5 1"
    land = Land(make_simulator, layout)
    land.stand(6.5, 6.5, feet=height + 1.5)
    land.act("-", 12)
    assert land.get("agents.grounded")
    assert land.at()[2] == pytest.approx(RESTING + height, abs=1e-3)
    assert heights_of(land.simulator)[0, 5:8, 6].tolist() == [20, height, 20]


def test_columns_stop_a_body_at_its_radius_and_at_the_lands_corner(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "hill 8 0 8 20 5; hill 0 8 20 8 5; agent 6.5 6.5 1"
    land = Land(make_simulator, layout)
    land.act("fd", 3)
    land.act("fr", 40)
    assert land.at()[:2] == pytest.approx([8 - RADIUS, 8 - RADIUS], abs=2e-3)


def test_later_hills_replace_earlier_ones(make_simulator) -> None:
    layout = GROUND + "hill 2 2 5 5 4; hill 4 4 8 8 1; hill 5 5 5 5 0; agent 10.5 10.5 1"
    height = heights_of(Land(make_simulator, layout).simulator)[0]
    wanted = np.zeros((41, 41), int)
    wanted[2:6, 2:6] = 4
    wanted[4:9, 4:9] = 1
    wanted[5, 5] = 0
    assert (height == wanted).all()


# ---- boxes


def test_boxes_are_put_down_anywhere_but_in_hills(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "hill 5 8 5 8 1; box 5 4 1; agent 5.5 3.5 1"
    land = Land(make_simulator, layout)
    land.act("i")
    land.stand(5.5, 7.5)
    land.act("i")
    assert land.box() is None  # a hill
    land.stand(5.5, 7.5, feet=2.1)
    land.act("i")
    assert land.box() == (5, 8, 2)  # on it
    land.act("-", 8)
    land.stand(5.5, 7.5, feet=2.1)
    land.act("i")
    assert land.box() is None
    land.stand(12.5, 12.5)
    land.act("i")
    assert land.box() == (12, 13, 1)


def test_box_falls_onto_a_hill_below_and_off_the_land_to_the_deepest_cell(make_simulator) -> None:
    land = Land(make_simulator, GROUND + FAR_GREEN + "hill 5 8 5 8 3; box 5 4 1; agent 5.5 3.5 1")
    land.act("i")
    land.stand(5.5, 7.5, feet=7)
    land.act("i")
    assert land.box() == (5, 8, 4)
    land.stand(5.5, 7.5, feet=4.1)
    land.act("i")
    assert land.box() is None
    land.stand(5.5, 20.4)
    land.act("i")
    assert land.box() == (5, 21, -30)
    assert not land.total.any()


def test_box_before_a_hill_of_two_cells_is_its_step(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "hill 0 8 20 12 2; box 5 7 1; agent 5.5 5.5 1"
    land = Land(make_simulator, layout)
    for _ in range(60):
        land.act("fj")
        if land.at()[1] > 9:
            break
    assert land.at()[1] > 9


def test_box_is_not_put_onto_another_agent(make_simulator) -> None:
    layout = GROUND + FAR_GREEN + "box 5 4 1; agent 5.5 3.5 1; agent 5.5 6.2 1"
    land = Land(make_simulator, layout)
    land.act("i -")
    land.stand(5.5, 5.2)
    land.act("i -")
    assert land.box() is None
    land.act("- r", 6)
    land.act("i -")
    assert land.box() == (5, 6, 1)


# ---- teams, bodies


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_apart_and_never_pass_through_one_another(make_simulator, agents: int) -> None:
    options = {"side_high": 9, "ground_low": 0.7, "fall_reward": 0}
    check_agents_never_pass_through(make_simulator, GAME, agents, 100, **options)


def test_random_play_keeps_boxes_apart_and_bodies_out_of_hills(make_simulator) -> None:
    options = {"look_limit": 1, "side_high": 14, "relief_low": 10, **TINY}
    simulator = make_simulator(GAME, 24, agent_count=4, autoreset_mode="Disabled", **options)
    simulator.reset(seed=2)
    random = np.random.default_rng(3)
    height = heights_of(simulator)
    lifted: set[tuple[int, int, int]] = set()
    fell, good = 0, simulator.get("land.good_left")[:, 0].copy()
    for step in range(150):
        results = simulator.step(random_actions(random, 24, 4))
        fell += int((results.reward_parts[..., 3] < 0).sum())
        if step % 5 == 0:
            lifted |= carried_pairs(simulator)
            check_boxes_stand_apart(simulator)
        at = simulator.get("agents.position")[:, :4]
        cell = np.floor(at[..., :2]).astype(int)
        inside = ((cell >= 0) & (cell < 41)).all(axis=-1)
        x, y = np.where(inside[..., None], cell, 0).transpose(2, 0, 1)
        top = np.where(inside, height[np.arange(24)[:, None], x, y], 0)
        buried = inside & (top > 0) & (at[..., 2] < 1 + top + 0.855 - 0.15)
        assert not buried.any()
    assert (simulator.get("land.good_left")[:, 0] <= good).all()
    assert len(lifted) > 10 and fell > 10
