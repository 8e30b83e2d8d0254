"""Obstacle courses: time, rewards, boxes, who solves a level and who does not, teams, room."""

from __future__ import annotations

import numpy as np
import pytest
from obstacles_courses import BOTH, PAD, PARTS, SHORT, Course
from voxel_games import (
    LATTICE,
    check_agents_never_pass_through,
    check_everybody_ends_at_once,
    check_lost_pieces_are_reported,
    check_strict_step_reports_lost_pieces,
    check_success,
    check_success_in_the_last_step,
    most_rows,
)
from voxel_worlds import (
    GROUND,
    PRESS,
    RADIUS,
    TINY,
    carried_pairs,
    check_boxes_stand_apart,
    random_actions,
)

# ---- the clock


@BOTH
def test_undisturbed_episode_has_the_steps_of_its_obstacles_and_boxes(
    make_simulator, name: str
) -> None:
    seconds = {"episode_seconds": 2, "platform_seconds": 0.7, "box_seconds": 0.1}
    simulator = make_simulator(name, 40, autoreset_mode="Disabled", **TINY, **seconds)
    simulator.reset(seed=3)
    boxes, obstacles = (simulator.get(f"course.{k}_count")[:, 0] for k in ("box", "obstacle"))
    length = np.ceil(15 * np.maximum(2, 0.7 * obstacles + 0.1 * boxes) - 1e-3).astype(int)
    assert len(np.unique(length)) > 1
    idle = np.zeros((40, 1, 6), int)
    for step in range(1, length.max() + 1):
        ended = simulator.step(idle).ended
        assert (ended[:, 0] == (length == step)).all()


def test_default_episode_has_the_seconds_of_the_specification(make_simulator) -> None:
    for name in ("ObstaclesEasy-v0", "ObstaclesHard-v0"):
        simulator = make_simulator(name, 200, **TINY)
        simulator.reset(seed=2)
        boxes, obstacles = (simulator.get(f"course.{k}_count")[:, 0] for k in ("box", "obstacle"))
        wanted = 15 * np.maximum(60, 35 * obstacles + boxes)
        assert (simulator.get("course.length")[:, 0] == wanted).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_success_is_followed_by_four_steps_and_its_reward_is_seen(make_simulator, mode) -> None:
    check_success(Course(make_simulator, PAD + "agent 10.5 11.2 1", autoreset_mode=mode))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_reward_of_the_very_last_step_comes_with_the_end(make_simulator, mode: str) -> None:
    layout = PAD + "agent 10.5 11.4 1; seconds 0.2"
    check_success_in_the_last_step(Course(make_simulator, layout, autoreset_mode=mode))


# ---- rewards


@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_every_reward_is_paid_once_and_divided_by_team_spirit(
    make_simulator, agents: int, spirit: float
) -> None:
    """All stand next to the pad; agent 0 has a box, and a diamond on its way."""
    places = "".join(f"agent {10.5 - 1.5 * k} 10.5 1; " for k in range(agents))
    layout = PAD.replace("pad 8", "pad 4") + "box 10 11 1; diamond 10 11 1; " + places
    options = {"box_reward": 2, "diamond_reward": 0.25, "exit_reward": 3, "all_exit_reward": 7}
    options["autoreset_mode"] = "Disabled"
    course = Course(make_simulator, layout, team_spirit=spirit, **options)
    others = " -" * (agents - 1)
    course.act("i" + others)
    assert course.get("agents.carries") == 0
    share = np.full(agents, spirit / agents)
    share[0] += 1 - spirit
    rest = share.copy() if agents == 1 else np.roll(share, 1)

    course.act("f" + others, 8)
    one = course.total.copy()
    assert np.allclose(one[:, 0], 3 * share, atol=1e-6)
    assert np.allclose(one[:, 2], 0.25 * share, atol=1e-6)
    assert np.allclose(one[:, 3], 2 * share, atol=1e-6)
    if agents == 1:
        assert one[0, 1] == 7
        return
    assert not one[:, 1].any()
    course.act("- f" + " -" * (agents - 2), 8)
    assert np.allclose((course.total - one)[:, 0], 3 * rest, atol=1e-6)
    course.act("- -" + " f" * (agents - 2), 8)
    assert course.total[:, 1].tolist() == [7] * agents
    assert course.get("course.solved") == 1
    sums = course.total.sum(axis=0)
    assert np.allclose(sums, [3 * agents, 7 * agents, 0.25, 2], atol=1e-5)


def test_rewards_of_zero_pay_nothing_and_success_stays_success(make_simulator) -> None:
    none = {**{f"{key}_reward": 0 for key in PARTS}, "autoreset_mode": "Disabled"}
    course = Course(make_simulator, PAD + "diamond 10 12 1; agent 10.5 11.2 1", **none)
    while not course.is_over:
        course.act("f")
        assert course.paid.tolist() == [0.0]
    assert course.get("diamonds.left") == 0
    assert course.last.true_objective.tolist() == [[1.0]]


# ---- boxes


def test_box_is_lifted_carried_and_put_down(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "box 5 4 1; agent 5.5 3.5 1")
    blocked = Course(make_simulator, GROUND + "box 5 4 1; agent 5.5 3.5 1")
    blocked.act("f", 10)
    assert blocked.at()[1] == pytest.approx(4.5 - 0.4485 - 0.33, abs=1e-3)
    course.act("i")
    assert course.box() is None
    course.act("f", 8)
    assert course.at()[1] > 5.5  # where it stood nothing is in the way
    course.act("-", 5)
    cell = (5, int(course.at()[1] + 1), 1)
    course.act("i")
    assert course.box() == cell


def test_box_is_put_on_a_box_and_the_lower_one_cannot_be_lifted(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "box 5 4 1; box 5 6 1; agent 5.5 3.5 1")
    course.act("i")
    course.act("f", 20)
    course.act("-", 5)
    course.act("i")
    assert course.box() is None  # the cell is that of the other box
    course.act("j")
    course.act("-", 2)
    course.act("i")
    assert course.box() == (5, 6, 2)
    course.act("-", 15)
    course.act("i")
    assert (course.box(0), course.box(1)) == (None, (5, 6, 1))  # the upper one


@pytest.mark.parametrize(("below", "rest"), [("floor 0 4 2 12 5 2; ", 3), ("", -30)])
def test_box_over_a_pit_falls_to_what_holds_it(make_simulator, below: str, rest: int) -> None:
    layout = "floor 0 0 8 12 3 8; " + below + "box 5 3 9; agent 5.5 2.5 9"
    course = Course(make_simulator, layout)
    course.act("i")
    course.act("f", 2)
    course.act("-", 4)
    course.act("i")
    assert course.box() == (5, 4, rest)


def test_box_is_not_put_into_a_wall_or_another_agent(make_simulator) -> None:
    wall = Course(make_simulator, GROUND + "box 5 4 1; wall 5 5 1 5 5 4; agent 5.5 3.5 1")
    wall.act("i")
    wall.act("f", 4)
    wall.act("i")
    assert wall.box() is None
    two = Course(make_simulator, GROUND + "box 5 4 1; agent 5.5 3.5 1; agent 5.5 6.5 1")
    two.act("i -")
    two.act("f -", 7)
    two.act("- -", 5)
    two.act("i -")
    assert two.box() is None
    two.act("- r", 6)
    two.act("i -")
    assert two.box() == (5, 6, 1)


@BOTH
def test_random_play_keeps_boxes_apart_and_in_the_hands_of_their_carriers(
    make_simulator, name: str
) -> None:
    simulator = make_simulator(name, 20, agent_count=4, look_limit=1, **TINY)
    simulator.reset(seed=2)
    random = np.random.default_rng(3)
    lifted = set()
    for _ in range(150):
        simulator.step(random_actions(random, 20, 4))
        lifted |= carried_pairs(simulator)
        check_boxes_stand_apart(simulator)
    assert len(lifted) > 10


# ---- who solves a level, and who does not

CLIMB = """
    floor 0 0 0 8 16 0
    wall 0 8 1 8 9 2                # two cells high: more than a body climbs
    wall 0 0 0 0 16 5; wall 8 0 0 8 16 5; wall 0 0 0 8 0 5; wall 0 16 0 8 16 5
    pad 1 13 1 7 14 2
    box 4 4 1; diamond 4 5 1
    agent 4.5 2.5 1
    seconds 20
"""


def test_policy_that_builds_a_step_solves_the_course_and_is_paid_all(make_simulator) -> None:
    course = Course(make_simulator, CLIMB)
    assert course.get("course.length") == 300
    course.act("f", 4)
    course.act("-", 4)
    course.act("i")
    assert course.box() is None
    for _ in range(40):  # to the wall, until the box would be in the cell before it
        if course.at()[1] > 6.2:
            break
        course.act("f")
    course.act("-", 5)
    course.act("i")
    assert course.box() == (4, 7, 1)
    for _ in range(80):  # onto the box, onto the wall, over it
        course.act("fj" if course.at()[1] < 8 else "f")
        if course.paid[0] > 5:
            break
    assert course.total.tolist() == [[1.0, 5.0, 0.5, 0.0]]
    course.act("-", 3)
    assert not course.is_over
    course.act("-")
    assert course.is_over
    assert course.last.true_objective.tolist() == [[1.0]]
    assert course.last.episode_return.tolist() == [[6.5]]


@pytest.mark.parametrize("letters", ["f", "fj", "fi"])
def test_policy_without_a_step_fails_and_is_paid_nothing(make_simulator, letters: str) -> None:
    # Beside the box, so that the box does not serve as a step by chance.
    course = Course(make_simulator, CLIMB.replace("agent 4.5", "agent 2.5"))
    for step in range(1, 301):
        course.act(letters)
        assert course.at()[1] < 8
        assert course.is_over == (step == 300)
    assert not course.total.any()
    assert course.last.true_objective.tolist() == [[0.0]]
    assert course.last.episode_return.tolist() == [[0.0]]


# ---- teams


@BOTH
@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_apart_and_never_pass_through_one_another(
    make_simulator, name: str, agents: int
) -> None:
    check_agents_never_pass_through(make_simulator, name, agents)


def test_agents_who_walk_at_each_other_stop(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1; agent 5.5 8.5 1 yaw 3.1415926")
    course.act("f f", 40)
    assert course.at(1)[1] - course.at(0)[1] == pytest.approx(0.66, abs=0.05)


def test_everybody_ends_in_the_same_step(make_simulator) -> None:
    check_everybody_ends_at_once(make_simulator, "ObstaclesEasy-v0", **SHORT)


# ---- room


@BOTH
def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator, name) -> None:
    most_rows(make_simulator, name, 2000, 50, [], agent_count=2)


def test_level_with_too_many_pieces_is_reported_with_its_table_and_stays_playable(
    make_simulator,
) -> None:
    layout = LATTICE + "; agent 0.5 0.5 1"
    course = Course(make_simulator, layout)
    check_lost_pieces_are_reported(course, 32)
    course.act("fj", 30)
    course.simulator.reset()
    course.simulator.check()
    check_strict_step_reports_lost_pieces(make_simulator, "ObstaclesEasy-v0", layout)


def test_box_put_into_ones_own_cell_leaves_the_body_outside_of_walls(make_simulator) -> None:
    course = Course(
        make_simulator,
        GROUND + "wall 0 0 0 0 9 4; wall 0 0 0 9 0 4; box 2 2 1; agent 1.4 1.4 1 yaw -0.7854",
    )
    course.act("i")
    course.act("bd", 6)
    course.act("i")
    course.act("-", 6)
    x, y, z = course.simulator.get("agents.position")[0, 0]
    assert x >= 1.32 and y >= 1.32 and z >= 1.85  # walls end at 1, the floor too


# ---- bodies, boxes and walls at once

ROOM = "floor 0 0 0 9 9 0; wall 0 0 0 9 0 9; wall 0 9 0 9 9 9; wall 0 0 0 0 9 9; wall 9 0 0 9 9 9; "


def test_box_put_between_two_at_a_wall_lets_nobody_through_the_floor(make_simulator) -> None:
    layout = "floor 0 0 0 4 8 0; wall 5 0 0 5 8 4; box 1 1 1; agent 4.01 3.5 1; agent 4.67 3.5 1"
    course = Course(make_simulator, layout, autoreset_mode="Disabled")
    cells = course.simulator.get("crates.cell")
    cells[0, 0] = (3, 3, 1)  # half of it in the first of them
    course.simulator.set("crates.cell", cells)
    for step in range(60):
        course.act("- j" if 5 <= step < 8 else "-")
        for agent in range(2):
            x, _, z = course.at(agent)
            assert z > 1.855 - PRESS, step
            assert x < 5 - RADIUS + PRESS, step
    assert course.get("agents.grounded", 0) == course.get("agents.grounded", 1) == 1


def test_who_is_sent_home_to_where_others_stand_ends_in_no_wall(make_simulator) -> None:
    layout = "floor 0 0 0 4 8 0; wall 5 0 0 5 8 4; agent 4.5 3.5 1; agent 2.5 3.5 1; agent 2.5 5 1"
    course = Course(make_simulator, layout, autoreset_mode="Disabled")
    places = course.simulator.get("agents.position")
    places[0, :3] = (2, 2, -25), (4.5, 3.5, 1.855), (4.5, 4.2, 1.855)
    course.simulator.set("agents.position", places)
    course.act("-")
    for _ in range(40):
        course.act("-")
        for agent in range(3):
            assert course.at(agent)[0] < 5 - RADIUS + PRESS
            assert course.at(agent)[2] > 1.855 - PRESS


def test_crowd_that_plays_with_boxes_stays_in_its_room(make_simulator) -> None:
    boxes = "".join(f"box {x} {y} 1; " for x in range(2, 8, 2) for y in range(2, 9, 2))
    places = "".join(f"agent {1.5 + 2 * k} {y}.5 1; " for k in range(4) for y in (1, 3))
    worlds = 24
    simulator = make_simulator(
        "ObstaclesEasy-v0", worlds, agent_count=8, autoreset_mode="Disabled", **TINY
    )
    simulator.reset(seed=1, options={"layout": ROOM + boxes + places})
    dice = np.random.default_rng(2)
    for _ in range(700):
        simulator.step(random_actions(dice, worlds, 8))
        at = simulator.get("agents.position")
        assert (at[..., 2] > 1.855 - PRESS).all()
        assert (at[..., :2] > 1 + RADIUS - PRESS).all()
        assert (at[..., :2] < 9 - RADIUS + PRESS).all()
