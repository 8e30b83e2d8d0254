"""TowerBuilding: boxes and the zone, what is paid, and the clock."""

from __future__ import annotations

import numpy as np
import pytest
from tower_rooms import GAME, GROUND, PARTS, SHORT, Room, value
from voxel_games import (
    check_everybody_ends_at_once,
)
from voxel_worlds import (
    PRESS,
    RADIUS,
    RESTING,
    TINY,
    carried_pairs,
)

# ---- the clock


def test_undisturbed_episode_has_the_steps_of_its_boxes(make_simulator) -> None:
    seconds = {"episode_seconds": 1.1, "box_seconds": 0.05}
    simulator = make_simulator(GAME, 40, autoreset_mode="Disabled", **TINY, **seconds)
    simulator.reset(seed=3)
    boxes = simulator.get("site.box_count")[:, 0]
    length = np.ceil(15 * (1.1 + 0.05 * boxes) - 1e-3).astype(int)
    assert len(np.unique(length)) > 10
    idle = np.zeros((40, 1, 6), int)
    for step in range(1, length.max() + 1):
        results = simulator.step(idle)
        assert (results.ended[:, 0] == (length == step)).all()
        assert not results.truncated.any()
        assert not results.reward.any()


def test_default_episode_has_60_seconds_and_4_for_each_box(make_simulator) -> None:
    simulator = make_simulator(GAME, 200, **TINY)
    simulator.reset(seed=2)
    boxes = simulator.get("site.box_count")[:, 0]
    assert (simulator.get("site.length")[:, 0] == 15 * (60 + 4 * boxes)).all()
    assert (simulator.get("crates.count")[:, 0] == boxes).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_a_tower_ends_nothing_and_the_last_step_is_paid(make_simulator, mode: str) -> None:
    """Put down in the very last step: paid with the end, and part of the objective."""
    layout = GROUND + "zone 5 4 1 6 5 1; box 5 4 1; agent 5.5 3.5 1; seconds 0.2"
    room = Room(make_simulator, layout, autoreset_mode=mode, tower_reward=2)
    room.put("crates.cell", 0, (12, 12, 1))  # what lay in the zone is paid for when it comes back
    room.put("site.worth", 0, 0)
    room.put("crates.cell", 0, (5, 4, 1))
    room.act("i")
    room.act("-")
    assert not room.is_over
    room.act("i")
    assert room.paid.tolist() == pytest.approx([2 * value(1)])
    assert room.is_over
    assert room.last.true_objective.tolist() == [[1.0]]
    assert room.last.episode_return.tolist()[0] == pytest.approx([0.1 + 2 * value(1)])


def test_everybody_ends_in_the_same_step(make_simulator) -> None:
    check_everybody_ends_at_once(make_simulator, GAME, **SHORT)


# ---- towers

# The agent stands on a step of one cell, in the middle of a zone of three cells. To its left wait
# two boxes on such a step, to its right one; behind it is floor.
STACK = """
    floor 0 0 0 20 20 0; floor 5 3 1 5 3 1; floor 4 3 1 4 3 1; floor 6 3 1 6 3 1
    zone 5 2 1 5 4 1
    box 4 3 2; box 4 3 3; box 6 3 2
    agent 5.5 3.5 2
"""


def deliver(room: Room, side: str, jump: bool = False) -> float:
    """Turn to a side, take the upper box, turn back, put it ahead; return what is paid for it."""
    back = {"L": "R", "R": "L"}[side]
    room.act(side, 7)
    room.act("i")
    assert room.get("agents.carries") >= 0
    room.act(back, 7)
    if jump:
        room.act("j")
        room.act("-")
    room.act("i")
    assert room.get("agents.carries") == -1
    paid = float(room.parts[0, 2])
    room.act("-", 12)
    return paid


def test_stack_of_three_pays_by_height_and_its_top_is_charged_when_it_comes_down(
    make_simulator,
) -> None:
    room = Room(make_simulator, STACK)
    assert [deliver(room, "L"), deliver(room, "L")] == pytest.approx([0.15, 0.30])
    assert sorted((room.box(0), room.box(1))) == [(5, 4, 1), (5, 4, 2)]
    assert room.height == 2
    assert deliver(room, "R", jump=True) == pytest.approx(0.55)
    assert room.box(2) == (5, 4, 3)
    assert room.height == 3
    before = room.total.copy()
    room.act("i")
    assert room.get("agents.carries") == 2
    assert not room.paid.any()  # lifting costs nothing yet
    room.act("L", 13)
    room.act("i")
    assert room.box(2) == (5, 2, 1)  # it falls to the floor behind the step
    assert (room.total - before)[0].tolist() == pytest.approx([0, 0, 0.15 - 0.55])
    assert room.height == 3
    assert room.last.state[0, 2:4].tolist() == pytest.approx([3, 0.15 + 0.30 + 0.15])
    assert room.total[0, :2].tolist() == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 8, 9, 10, 11])
def test_box_is_worth_what_its_height_says(make_simulator, height: int) -> None:
    """On `height` - 1 others, from a step as high, in one placement."""
    feet = "" if height == 1 else f"floor 5 3 1 5 3 {height - 1}; floor 4 3 1 4 3 {height - 1}; "
    tower = "".join(f"box 5 4 {z}; " for z in range(1, height))
    layout = f"{GROUND}{feet}zone 5 4 1 5 4 1; {tower}box 4 3 {height}; agent 5.5 3.5 {height}"
    room = Room(make_simulator, layout)
    room.stand(5.5, 3.5, np.pi / 2, height)
    room.act("i")
    room.stand(5.5, 3.5, 0, height)
    room.act("i")
    assert room.box(height - 1) == (5, 4, height)
    assert room.parts[0, 2] == pytest.approx(value(height), abs=1e-5)
    assert room.height == height
    told = {1: 0.15, 2: 0.30, 3: 0.55, 4: 1.0, 5: 1.85, 8: 13.2, 9: 20.45, 10: 20.5, 11: 20.55}
    assert value(height) == pytest.approx(told[height])


def test_boxes_that_lie_in_the_zone_at_the_start_pay_nothing(make_simulator) -> None:
    layout = GROUND + "zone 4 4 1 8 8 1; box 5 4 1; box 6 6 1; box 6 6 2; agent 5.5 3.5 1"
    room = Room(make_simulator, layout)
    assert room.last.state[0, 2:4].tolist() == pytest.approx([0, 0.15 + 0.15 + 0.30])
    room.act("i")
    room.act("-")
    room.act("i")  # where it was
    assert room.total[0].tolist() == pytest.approx([0.1, 0, 0])
    assert room.height == 1  # a placement, if one without a gain
    room.act("i")
    room.act("f", 3)
    room.act("-", 5)
    room.act("i")
    assert room.total[0].tolist() == pytest.approx([0.1, 0.1, 0])


def test_drawn_room_whose_rectangles_overlap_pays_nothing_for_them(make_simulator) -> None:
    """A box of the materials that lies in the zone, lifted and put back, in drawn levels."""
    options = {"zone_low": 8, "materials_low": 7, **TINY}
    simulator = make_simulator(GAME, 30, **options)
    simulator.reset(seed=6)
    worth = simulator.get("site.worth")[:, 0]
    low, high = (simulator.get(f"marks.{end}")[:, 0] for end in ("low", "high"))
    cells = simulator.get("crates.cell")
    there = np.arange(cells.shape[1]) < simulator.get("crates.count")
    inside = (cells[..., :2] >= low[:, None, :2]) & (cells[..., :2] < high[:, None, :2])
    inside = inside.all(-1) & there
    height = np.where(inside, cells[..., 2], 0)
    wanted = np.where(inside, height + 2**height, 0).sum(axis=1)
    assert (worth == wanted).all()
    assert (worth > 0).sum() > 5 and set(np.unique(height)) == {0, 1, 2}
    for _ in range(20):
        assert not simulator.step(np.zeros((30, 1, 6), int)).reward.any()
    assert not simulator.get("site.highest").any()


def test_box_taken_out_of_the_zone_is_charged_at_the_next_placement(make_simulator) -> None:
    """To whoever puts a box down next."""
    boxes = "box 5 4 1; box 5 4 2; box 9 4 1; "
    layout = GROUND + f"zone 4 4 1 12 8 1; {boxes}agent 5.5 3.5 1; agent 9.5 3.5 1"
    room = Room(make_simulator, layout, team_spirit=0)
    room.act("i i")  # the upper one, of worth 0.30; and one on the floor
    assert room.box(1) is None and room.box(2) is None
    room.act("- i")
    assert room.parts[:, 2].tolist() == pytest.approx([0, -0.30])
    for words in ("j -", "- -", "i -"):  # back on the lower one
        room.act(words)
    assert room.box(1) == (5, 4, 2)
    assert room.parts[:, 2].tolist() == pytest.approx([0.30, 0])


def test_who_places_and_who_lifts_in_one_step_are_paid_in_the_order_of_agents(
    make_simulator,
) -> None:
    layout = GROUND + "zone 4 4 1 12 8 1; box 5 4 1; box 9 4 1; agent 5.5 3.5 1; agent 9.5 3.5 1"
    first = Room(make_simulator, layout, team_spirit=0)
    first.act("i -")
    first.act("i i")  # agent 0 puts its box back, then agent 1 lifts
    assert first.parts[:, 2].tolist() == pytest.approx([0, 0])
    first.act("- i")
    assert first.parts[:, 2].tolist() == pytest.approx([0, 0])
    second = Room(make_simulator, layout, team_spirit=0)
    second.act("- i")
    second.act("i i")  # agent 0 lifts, then agent 1 puts its box back, and is charged
    assert second.parts[:, 2].tolist() == pytest.approx([0, -0.15])
    second.act("i -")
    assert second.parts[:, 2].tolist() == pytest.approx([0.15, 0])


def test_two_who_place_in_one_step_are_paid_for_what_each_adds(make_simulator) -> None:
    steps = "floor 4 4 1 4 4 1; floor 6 4 1 6 4 1; "  # both reach into the cell between them
    boxes = "floor 4 3 1 4 3 1; floor 6 3 1 6 3 1; box 4 3 2; box 6 3 2; "
    places = "agent 4.4 4.5 2 yaw 3.1415926; agent 6.6 4.5 2 yaw 3.1415926"
    layout = GROUND + steps + boxes + f"zone 5 4 1 5 4 1; {places}"
    room = Room(make_simulator, layout, team_spirit=0)
    room.act("i i")
    assert room.box(0) is None and room.box(1) is None
    room.put("agents.yaw", 0, -np.pi / 2)
    room.put("agents.yaw", 1, np.pi / 2)
    room.act("i i")
    assert [room.box(0), room.box(1)] == [(5, 4, 1), (5, 4, 2)]
    assert room.parts[:, 2].tolist() == pytest.approx([0.15, 0.30])
    assert room.height == 2


# ---- boxes


def test_box_is_put_down_in_the_zone_alone_and_lifted_anywhere(make_simulator) -> None:
    layout = GROUND + "zone 5 7 1 6 8 1; box 5 4 1; agent 5.5 3.5 1"
    room = Room(make_simulator, layout)
    room.act("i")
    for _ in range(12):  # refused outside of it, from whatever place
        room.act("fi")
        if room.box() is not None:
            break
        assert not room.parts[0, 2]
        assert np.floor(room.at()[1] + 1) < 7
    assert room.box() == (5, 7, 1)
    assert room.at()[1] < 7  # from outside: one reaches into it
    assert room.total[0].tolist() == pytest.approx([0.1, 0, 0.15])


@pytest.mark.parametrize(("x", "y"), [(4, 8), (7, 8), (5, 6), (5, 9)])
def test_cells_beside_the_zone_refuse_boxes(make_simulator, x: int, y: int) -> None:
    """The zone holds x from 5 to 6, y from 7 to 8."""
    layout = GROUND + "zone 6 8 1 5 7 1; box 10 10 1; agent 10.5 9.5 1"
    room = Room(make_simulator, layout)
    room.act("i")
    room.stand(x + 0.5, y - 0.5)
    room.act("i")
    assert room.box() is None
    assert not room.parts[0, 2]
    assert room.height == 0


@pytest.mark.parametrize(("x", "y"), [(5, 7), (6, 7), (5, 8), (6, 8)])
def test_cells_at_the_edge_of_the_zone_take_boxes(make_simulator, x: int, y: int) -> None:
    layout = GROUND + "zone 6 8 1 5 7 1; box 10 10 1; agent 10.5 9.5 1"
    room = Room(make_simulator, layout)
    room.act("i")
    room.stand(x + 0.5, y - 0.5)
    room.act("i")
    assert room.box() == (x, y, 1)


def test_permission_is_for_columns_whatever_their_height(make_simulator) -> None:
    """From five cells above the zone a box falls to its floor."""
    layout = GROUND + "floor 5 3 1 5 3 5; floor 4 3 1 4 3 5; zone 5 4 1 5 4 1; box 4 3 6;"
    room = Room(make_simulator, layout + "agent 5.5 3.5 6")
    room.stand(5.5, 3.5, np.pi / 2, 6)
    room.act("i")
    room.stand(5.5, 3.5, 0, 6)
    room.act("i")
    assert room.box() == (5, 4, 1)
    assert room.parts[0, 2] == pytest.approx(0.15)
    assert room.height == 1


def test_box_that_falls_through_a_hole_in_the_zone_is_worth_nothing(make_simulator) -> None:
    layout = "floor 0 0 0 20 3 0; zone 5 4 1 5 6 1; box 4 3 1; agent 5.5 3.5 1"
    room = Room(make_simulator, layout)
    room.stand(5.5, 3.5, np.pi / 2)
    room.act("i")
    room.stand(5.5, 3.5)
    room.act("i")
    assert room.box() == (5, 4, -30)
    assert not room.parts[0, 2] and room.height == 0


def test_box_is_not_put_into_a_wall_a_box_or_another_agent(make_simulator) -> None:
    zone = GROUND + "zone 4 4 1 6 9 1; box 5 4 1; agent 5.5 3.5 1; "
    wall = Room(make_simulator, zone + "wall 5 5 1 5 5 4")
    box = Room(make_simulator, zone + "box 5 5 1")
    for room in (wall, box):
        room.act("i")
        room.stand(5.5, 4.5)
        room.act("i")
        assert room.box() is None
    two = Room(make_simulator, zone + "agent 5.5 6.2 1")
    two.act("i -")
    two.stand(5.5, 5.2)
    two.act("i -")
    assert two.box() is None
    two.act("- r", 6)
    two.act("i -")
    assert two.box() == (5, 6, 1)


def test_box_on_a_box_is_lifted_first(make_simulator) -> None:
    layout = GROUND + "zone 4 4 1 6 9 1; box 5 4 1; box 5 4 2; box 5 4 3; agent 5.5 3.5 1"
    room = Room(make_simulator, layout)
    room.act("i")
    assert not carried_pairs(room.simulator)  # the third is out of reach, the others bear it
    room.act("j")
    room.act("-")
    room.act("i")
    assert carried_pairs(room.simulator) == {(0, 2, 0)}


def test_box_is_kept_in_a_fall_and_pays_no_visit_on_the_way(make_simulator) -> None:
    layout = "floor 0 0 0 9 9 0; zone 20 4 1 30 8 1; zone 2 2 1 4 4 1; box 8 4 1; agent 8.5 3.5 1"
    room = Room(make_simulator, layout)
    room.act("i")
    room.put("agents.position", 0, (12.5, 5.5, -19.5))
    for _ in range(8):
        room.act("-")
    assert room.at() == pytest.approx([8.5, 3.5, RESTING], abs=1e-3)
    assert room.get("agents.carries") == 0
    assert room.total[0].tolist() == pytest.approx([0.1, 0, 0])
    assert room.box() is None


def test_box_that_is_let_fall_onto_somebody_pushes_him_aside(make_simulator) -> None:
    """The cell of the carried box is free; it falls to where somebody stands in the zone."""
    steps = "floor 5 3 1 5 3 3; floor 4 3 1 4 3 3; "
    layout = GROUND + steps + "zone 5 4 1 5 4 1; box 4 3 4; agent 5.5 3.5 4; agent 5.5 4.8 1"
    room = Room(make_simulator, layout)
    room.stand(5.5, 3.5, np.pi / 2, 4)
    room.act("i -")
    room.stand(5.5, 3.5, 0, 4)
    room.act("i -")
    assert room.box() == (5, 4, 1)
    room.act("-", 15)
    x, y, z = room.at(1)
    beside = max(abs(x - 5.5), abs(y - 4.5)) > 0.4485 + RADIUS - PRESS
    assert (beside and z == pytest.approx(RESTING, abs=PRESS)) or z > 1.8985 + 0.855 - PRESS


# ---- rewards


@pytest.mark.parametrize("rewards", [(0.1, 0.1, 1.0), (3.0, -2.0, 7.0)])
@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_every_reward_is_paid_once_and_all_but_the_first_are_divided(
    make_simulator, agents: int, spirit: float, rewards: tuple[float, float, float]
) -> None:
    pick, visit, tower = rewards
    options = {f"{key}_reward": pay for key, pay in zip(PARTS, rewards, strict=True)}
    places = "".join(f"agent {5.5 + 2 * k} 3.5 1; " for k in range(agents))
    layout = GROUND + "zone 4 6 1 16 9 1; box 5 4 1; " + places
    room = Room(make_simulator, layout, team_spirit=spirit, **options)
    share = np.full(agents, spirit / agents)
    share[0] += 1 - spirit
    others = " -" * (agents - 1)

    room.act("i" + others)
    own = np.zeros((agents, 3))
    own[0, 0] = pick
    assert room.total == pytest.approx(own)
    room.act("f" + others, 9)
    visits = room.total - own
    assert visits[:, 1] == pytest.approx(visit * share, abs=1e-6)
    assert visits[:, 1].sum() == pytest.approx(visit, abs=1e-5)
    assert visits[:, [0, 2]] == pytest.approx(0, abs=1e-6)
    room.act("-", 6)
    before = room.total.copy()
    room.act("i" + others)
    assert room.box() is not None
    gains = room.total - before
    assert gains[:, 2] == pytest.approx(tower * 0.15 * share, abs=1e-5)
    assert gains[:, 2].sum() == pytest.approx(tower * 0.15, abs=1e-5)
    assert gains[:, :2] == pytest.approx(0, abs=1e-6)
    assert room.paid == pytest.approx(room.parts.sum(axis=1))
    before = room.total.copy()
    room.act("i" + others)  # a second time, out of the zone, and in again: nothing
    room.act("b" + others, 9)
    room.act("f" + others, 14)
    assert room.at()[1] > 6
    assert room.total == pytest.approx(before)


def test_reward_of_default_spirit_is_a_tenth_shared(make_simulator) -> None:
    layout = GROUND + "zone 5 4 1 8 9 1; box 4 3 1; agent 5.5 3.5 1; agent 12.5 3.5 1"
    room = Room(make_simulator, layout)
    room.stand(5.5, 3.5, np.pi / 2)
    room.act("i -")
    room.stand(5.5, 3.5)
    room.act("i -")
    assert room.parts[:, 2].tolist() == pytest.approx([0.15 * 0.95, 0.15 * 0.05])
    assert room.total[:, 0].tolist() == pytest.approx([0.1, 0])


def test_visit_needs_a_box_in_hands_and_no_placement(make_simulator) -> None:
    layout = GROUND + "zone 5 3 1 8 9 1; box 5 4 1; agent 5.5 2.5 1"
    room = Room(make_simulator, layout)
    room.act("f", 4)  # without a box
    assert 3 < room.at()[1] < 4
    assert not room.total.any()
    room.act("i")  # already in the zone: visits at once
    assert room.parts[0].tolist() == pytest.approx([0.1, 0.1, 0])
    assert room.get("agents.visited") == room.get("agents.picked") == 1


def test_each_agent_is_paid_for_its_own_first_box_and_visit(make_simulator) -> None:
    layout = GROUND + "zone 4 3 1 10 9 1; box 5 4 1; box 9 4 1; agent 5.5 3.5 1; agent 9.5 3.5 1"
    room = Room(make_simulator, layout, team_spirit=0.5)
    room.act("i i")
    assert room.parts.tolist() == [pytest.approx([0.1, 0.1, 0])] * 2
    room.act("i i", 6)
    assert room.total[:, :2].tolist() == [pytest.approx([0.1, 0.1])] * 2
    assert room.total[:, 2].sum() == pytest.approx(0, abs=1e-6)


def test_rewards_of_zero_pay_nothing_and_the_height_stays(make_simulator) -> None:
    room = Room(make_simulator, STACK, **{f"{key}_reward": 0 for key in PARTS})
    assert [deliver(room, "L"), deliver(room, "L")] == [0, 0]
    assert not room.total.any()
    assert room.height == 2
