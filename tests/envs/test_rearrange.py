"""Rearrange: objects and the working area, what is paid, time, teams, who solves a level."""

from __future__ import annotations

import numpy as np
import pytest
from rearrange_rooms import ALL_REWARD, GAME, MODEL, PARTS, WORK, Room
from voxel_games import (
    check_agents_never_pass_through,
    check_everybody_ends_at_once,
)
from voxel_worlds import (
    PRESS,
    RADIUS,
    TINY,
    carried_pairs,
    check_boxes_stand_apart,
    random_actions,
)

# One object out of place, to the right of a drum that is in place.
ONE = "object drum red 0 0 0; object ball green 1 0 0 at 2 2 0; agent 13.5 5.2 2; "
TWO = "object drum red 0 0 0 at -2 -2 0; object ball green 1 0 0 at 2 -2 0; agent 13.5 5.2 2; "

# ---- the clock


@pytest.mark.parametrize("seconds", [1.0, 1.33, 3.0])
def test_undisturbed_episode_has_its_steps(make_simulator, seconds: float) -> None:
    simulator = make_simulator(GAME, 5, episode_seconds=seconds, **TINY)
    simulator.reset(seed=3)
    steps = int(np.ceil(15 * seconds - 1e-3))
    for step in range(1, 2 * steps + 1):
        results = simulator.step(np.zeros((5, 1, 6), int))
        assert (results.terminated == (step % steps == 0)).all()
        assert not results.truncated.any() and not results.reward.any()


def test_default_episode_has_900_steps(make_simulator) -> None:
    simulator = make_simulator(GAME, 50, **TINY)
    simulator.reset(seed=2)
    assert (simulator.get("task.length") == 900).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_success_is_followed_by_four_steps_and_its_reward_is_seen(make_simulator, mode) -> None:
    room = Room(make_simulator, ONE, autoreset_mode=mode)
    assert room.take(1)
    room.give(room.model(1))
    assert room.paid.tolist() == [1 + ALL_REWARD]
    for left in (3, 2, 1, 0):
        assert not room.is_over
        room.act("-")
        assert room.is_over == (left == 0)
        assert not room.paid.any()
    assert room.last.true_objective.tolist() == [[1.0]]
    assert room.last.episode_return.tolist() == [[1 + ALL_REWARD]]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_success_in_the_last_step_is_paid_with_the_end(make_simulator, mode: str) -> None:
    room = Room(make_simulator, ONE + "seconds 0.2", autoreset_mode=mode)
    room.act("-")
    assert room.take(1)
    room.give(room.model(1))
    assert room.paid.tolist() == [1 + ALL_REWARD]
    assert room.is_over
    assert room.last.true_objective.tolist() == [[1.0]]


# ---- objects


@pytest.mark.parametrize("x", range(-4, 5))
def test_objects_are_put_down_in_the_working_area_alone(make_simulator, x: int) -> None:
    grey = "object block grey 0 -1 0 at -2 -2 0; "  # never in place
    room = Room(make_simulator, grey + ONE)
    assert room.take(2)
    for y in range(-4, 5):
        room.give(np.array((x, y, 0)))
        inside = max(abs(x), abs(y)) <= 2
        assert room.is_held(2) != inside
        if inside:
            height = 1 if (x, y) in ((0, 0), (-2, -2)) else 0
            assert room.copy(2).tolist() == [x, y, height]
            assert room.take(2)


def test_objects_of_the_model_cannot_be_lifted_but_stand_in_the_way(make_simulator) -> None:
    layout = "object drum red 0 0 0; object ball green 1 0 0 at 2 2 0; agent 5.5 5.2 2"
    room = Room(make_simulator, layout)
    room.stand(5.5, 7.5, feet=2.06)
    for _ in range(5):
        room.act("i")
        assert not carried_pairs(room.simulator)
    room.stand(5.5, 6.5, feet=2.06)
    room.act("f", 12)
    assert room.at()[1] == pytest.approx(8.5 - 0.405 - RADIUS, abs=1e-3)
    assert not room.total.any()


def test_object_under_another_is_not_lifted(make_simulator) -> None:
    layout = """
        object drum red 0 0 0; object ball green 0 0 1; object block blue 1 0 0 at 2 2 0
        agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    room.stand(13.5, 7.5, feet=2.06)
    room.act("i")
    assert room.is_held(1) and not room.is_held(0)
    assert room.best == 2 and room.in_place() == 1


def test_object_is_not_put_into_another_or_onto_another_agent(make_simulator) -> None:
    room = Room(make_simulator, TWO + "agent 12.2 7.5 2.1")
    assert room.take(1, " -")
    room.stand(13.5, 7.5, yaw=np.pi / 2, feet=2.0)  # towards the other, a metre away
    room.act("i -")
    assert room.is_held(1)
    room.stand(11.5, 7.5, yaw=np.pi, feet=2.0)  # towards the drum, in the next cell
    room.act("i -")
    assert room.is_held(1)


@pytest.mark.parametrize(
    ("shape", "half"), [("block", 0.45), ("ball", 0.45), ("pill", 0.36), ("drum", 0.405)]
)
def test_objects_collide_as_boxes_of_their_widths(make_simulator, shape: str, half: float) -> None:
    layout = f"object {shape} red 0 0 0; object ball green 1 0 0 at 2 2 0; agent 13.5 5.2 2"
    room = Room(make_simulator, layout)
    room.stand(13.5, 6.5, feet=2.06)
    room.act("f", 12)
    assert room.at()[1] == pytest.approx(8.5 - half - RADIUS, abs=1e-3)
    side = Room(make_simulator, layout)  # beside its corner: a box, not a cylinder
    side.stand(13.5 + half + RADIUS - 0.05, 8.5, feet=2.06)
    side.act("-", 3)
    assert side.at()[0] == pytest.approx(13.5 + half + RADIUS, abs=PRESS)


# ---- rewards


def test_first_objects_in_place_are_not_paid_for_and_none_twice(make_simulator) -> None:
    layout = """
        object drum red 0 0 0; object ball green 1 0 0 at 2 2 0; object block blue -1 0 0 at -2 2 0
        agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    assert (room.best, room.in_place()) == (1, 1)
    assert room.take(0)
    room.give(np.array((0, 0, 0)))
    assert not room.total.any()
    assert room.take(1)
    room.give(room.model(1))
    assert room.total[0].tolist() == [1, 0, 0]
    assert room.take(1)  # one fewer in place costs nothing
    room.give(np.array((2, 2, 0)))
    assert room.take(1)
    room.give(room.model(1))
    assert room.total[0].tolist() == [1, 0, 0]
    assert room.take(2)
    room.give(room.model(2))
    assert room.total[0].tolist() == [2, ALL_REWARD, 0]
    assert room.take(2)  # after success
    room.give(room.model(2))
    assert room.total[0].tolist() == [2, ALL_REWARD, 0]


def test_lifting_what_is_in_the_way_never_pays_by_itself(make_simulator) -> None:
    """An object lies on another one that is in place: lifting it changes no match."""
    layout = """
        object drum red 0 0 0; object ball green 1 0 0 at 0 0 1; agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    assert (room.best, room.in_place()) == (1, 1)
    assert room.take(1)
    assert not room.total.any()
    room.give(room.model(1))
    assert room.total[0].tolist() == [1, ALL_REWARD, 0]


def test_first_lift_of_an_object_out_of_place_is_paid(make_simulator) -> None:
    layout = """
        object drum red 0 0 0; object ball green 1 0 0 at 2 2 0; object block blue -1 0 0 at -2 2 0
        agent 13.5 5.2 2; seconds 2
    """
    room = Room(make_simulator, layout, lift_reward=0.5, autoreset_mode="SameStep")
    for k, place, paid in (
        (0, (0, 0, 0), 0.0),  # it was in place
        (1, (2, -2, 0), 0.5),
        (1, (2, 2, 0), 0.5),  # once
        (0, (0, -2, 0), 0.5),
        (0, (0, 0, 0), 0.5),  # it was lifted before, in place
        (2, (-2, 2, 0), 1.0),
    ):
        assert room.take(k)
        room.give(np.array(place))
        assert room.total[0].tolist() == [0, 0, paid]
    while not room.is_over:
        room.act("-")
    assert room.take(1)  # in a new episode
    assert room.paid.tolist() == [0.5]


@pytest.mark.parametrize("rewards", [(1.0, 10.0, 0.5), (-3.0, 0.25, 2.0)])
@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_every_reward_is_paid_once_and_divided_by_team_spirit(
    make_simulator, agents: int, spirit: float, rewards: tuple[float, float, float]
) -> None:
    options = {f"{key}_reward": pay for key, pay in zip(PARTS, rewards, strict=True)}
    places = "".join(f"agent {9.5 + k} 2.5 1.5; " for k in range(1, agents))
    room = Room(make_simulator, TWO + places, team_spirit=spirit, **options)
    others = " -" * (agents - 1)
    share = np.full(agents, spirit / agents)
    share[0] += 1 - spirit
    match, all_in_place, lift = rewards
    for k in (0, 1):
        assert room.take(k, others)
        wanted = np.outer(share, (k * match, 0, (k + 1) * lift))
        assert room.total == pytest.approx(wanted, abs=1e-5)
        room.give(room.model(k), others)
        wanted = np.outer(share, ((k + 1) * match, k * all_in_place, (k + 1) * lift))
        assert room.total == pytest.approx(wanted, abs=1e-5)
    total = (2 * match, all_in_place, 2 * lift)
    assert room.total.sum(axis=0) == pytest.approx(total, abs=1e-4)
    assert room.paid == pytest.approx(room.parts.sum(axis=1), abs=1e-5)


# ---- matches


def test_twins_may_stand_for_each_other(make_simulator) -> None:
    layout = """
        object ball green 0 0 0 at -2 0 0; object ball green 1 0 0 at 2 0 0; agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    assert room.take(0)
    room.give(room.model(1))
    assert room.total[0].tolist() == [1, 0, 0]
    assert room.take(1)
    room.give(room.model(0))
    assert room.total[0].tolist() == [2, ALL_REWARD, 0]
    assert room.is_solved


@pytest.mark.parametrize("other", ["ball red", "block green"])
def test_objects_of_another_shape_or_colour_are_not_twins(make_simulator, other: str) -> None:
    layout = f"""
        object ball green 0 0 0 at -2 0 0; object {other} 1 0 0 at 2 0 0; agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    assert room.take(0)
    room.give(room.model(1))
    assert room.take(1)
    room.give(room.model(0))
    assert not room.total.any()
    assert room.best == room.in_place() == 0


@pytest.mark.parametrize("place", [(1, 0, 1), (0, 1, 0), (-1, 0, 0), (2, 0, 0)])
def test_an_object_one_cell_off_is_not_in_place(make_simulator, place: tuple[int, ...]) -> None:
    layout = """
        object drum red 0 0 0 at -2 -2 0; object ball green 1 0 0 at 2 2 0
        object block grey -1 1 0 at 1 0 0
        agent 13.5 5.2 2
    """
    room = Room(make_simulator, layout)
    assert room.take(1)
    room.give(np.array(place))
    assert room.copy(1).tolist() == list(place)
    assert not room.total.any()


# ---- who solves a level, and who does not


def solve(room: Room) -> int:
    """Put every object in its place, in the order of the model; count how many had to be moved."""
    moved = 0
    for k in range(room.size):
        if np.array_equal(room.copy(k), room.model(k)):
            continue
        assert room.take(k)
        assert room.total[0, 0] == moved
        room.give(room.model(k))
        assert np.array_equal(room.copy(k), room.model(k))
        moved += 1
    return moved


def test_oracle_solves_drawn_levels_and_is_paid_for_each_object(make_simulator) -> None:
    room = Room(make_simulator, autoreset_mode="Disabled")
    sizes = set()
    for seed in range(60):
        room.reset(seed)
        start = room.best
        assert start == room.in_place() < room.size
        moved = solve(room)
        assert moved == room.size - start
        assert room.total[0].tolist() == [moved, ALL_REWARD, 0]
        room.act("-", 4)
        assert room.is_over
        assert room.last.true_objective.tolist() == [[1.0]]
        assert room.last.episode_return.tolist() == [[moved + ALL_REWARD]]
        sizes.add(room.size)
    assert sizes == set(range(2, 8))


def test_largest_arrangements_are_solved_too(make_simulator) -> None:
    most = {"object_count_low": 9, "object_count_high": 9, "misplaced_low": 9}
    room = Room(make_simulator, autoreset_mode="Disabled", **most)
    for seed in range(20):
        room.reset(seed)
        assert room.best == 0
        assert solve(room) == room.size


@pytest.mark.parametrize("letters", ["-", "f", "fj", "i", "fi"])
def test_policy_that_puts_nothing_in_place_earns_nothing(make_simulator, letters: str) -> None:
    room = Room(make_simulator, ONE + "seconds 6")
    for step in range(1, 91):
        room.act(letters)
        assert room.is_over == (step == 90)
    assert not room.total.any()
    assert room.last.true_objective.tolist() == [[0.0]]


# ---- teams, bodies


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_apart_and_never_pass_through_one_another(make_simulator, agents: int) -> None:
    check_agents_never_pass_through(make_simulator, GAME, agents)


def test_everybody_ends_in_the_same_step(make_simulator) -> None:
    check_everybody_ends_at_once(make_simulator, GAME)


def test_random_play_keeps_objects_apart_and_the_model_as_it_was(make_simulator) -> None:
    options = {"look_limit": 1, "object_count_low": 7, **TINY}
    simulator = make_simulator(GAME, 20, agent_count=8, **options)
    simulator.reset(seed=2)
    random = np.random.default_rng(3)
    fixed = simulator.get("crates.fixed") != 0
    model = simulator.get("crates.cell")[fixed].copy()
    lifted: set[tuple[int, int, int]] = set()
    best = simulator.get("task.best").copy()
    for step in range(100):
        simulator.step(random_actions(random, 20, 8))
        if step % 4:
            continue
        lifted |= carried_pairs(simulator)
        check_boxes_stand_apart(simulator)
        assert (simulator.get("crates.cell")[fixed] == model).all()
        standing = ~fixed & (simulator.get("crates.carrier") < 0)
        standing &= np.arange(fixed.shape[1]) < simulator.get("crates.count")
        off = simulator.get("crates.cell")[standing] - WORK
        assert (np.abs(off[:, :2]) <= 2).all() and (off[:, 2] >= 0).all()
        assert (simulator.get("task.best") >= best).all()
        best = simulator.get("task.best").copy()
    assert len(lifted) > 10
    assert (MODEL != WORK).any()
