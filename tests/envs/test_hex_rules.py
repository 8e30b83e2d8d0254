"""HexExplore and HexMemory: time, what is found and taken, what is paid, walls, bodies, falls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hex_mazes import (
    BALL,
    BESIDE,
    BOTH,
    DIAMOND,
    EXPLORE,
    INNER,
    MEMORY,
    MIDDLE_OF_FORM,
    MIDDLES,
    OUTWARD,
    PILLAR,
    REST,
    SHIFT,
    SIDE,
    THICK,
    WAYS,
    Maze,
    Mazes,
    cells_at,
    distance_to_walls,
    heading,
    number_of,
)
from voxel_games import check_everybody_ends_at_once, check_truncation
from voxel_worlds import PRESS, RADIUS, TINY, Meetings, random_actions

CENTRE = number_of(0, 0)
FIND, TAKE = 1.2, 1.0  # distances at which things are found, and taken [m]
PLACE = REST + 0.05  # height of who stands, as rules have it [m]
MODES = ["SameStep", "NextStep", "Disabled"]
SHORT = {MEMORY: {"thing_seconds": 0}, EXPLORE: {}}


def bare(make: Any, game: str, **options: Any) -> Maze:
    """A floor with nothing on it, agent 0 in its middle."""
    maze = Maze(make, game, **options)
    maze.set_bare()
    for agent in range(maze.simulator.agents_per_world):
        maze.place(agent, 3.0 * agent, 0)
    return maze


# ---- the clock


@pytest.mark.parametrize("game", BOTH)
def test_undisturbed_episode_has_the_steps_of_its_time(make_simulator, game: str) -> None:
    options = {"episode_seconds": 1.1, "autoreset_mode": "Disabled", **TINY}
    if game == MEMORY:
        options["thing_seconds"] = 0.07
    simulator = make_simulator(game, 40, **options)
    simulator.reset(seed=3)
    length = np.full(40, 17)
    if game == MEMORY:
        good = simulator.get("task.good_left")[:, 0]
        length = np.ceil(15 * (1.1 + 0.07 * good) - 1e-3).astype(int)
        assert len(np.unique(length)) > 5
    assert (simulator.get("task.length")[:, 0] == length).all()
    for step in range(1, length.max() + 1):
        results = simulator.step(np.zeros((40, 1, 6), int))
        assert (results.ended[:, 0] == (length == step)).all()
        assert not results.truncated.any() and not results.reward.any()
    assert not results.true_objective.any()


def test_default_episode_has_900_steps(make_simulator) -> None:
    simulator = make_simulator(EXPLORE, 2, **TINY)
    simulator.reset(seed=2)
    for step in range(1, 901):
        ended = simulator.step(np.zeros((2, 1, 6), int)).terminated
        assert (ended == (step == 900)).all()


def walk_into_success(make: Any, game: str, mode: str, **options: Any) -> Maze:
    """Agent 0 walks ahead to what it wants, which it reaches in the second step."""
    maze = bare(make, game, autoreset_mode=mode, **options)
    if game == EXPLORE:
        maze.simulator.set("task.target", CENTRE)
        maze.place(0, 0, -1.1)
    else:
        maze.set_things((0.0, 0.0, True))
        maze.place(0, 0, -1.3)
    return maze


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("game", "more", "pay"), [(EXPLORE, 4, 5.0), (MEMORY, 5, 1.0)])
def test_success_is_followed_by_a_few_steps_and_its_reward_is_seen(
    make_simulator, game: str, more: int, pay: float, mode: str
) -> None:
    maze = walk_into_success(make_simulator, game, mode)
    rewards = []
    while not maze.is_over:
        maze.act("f")
        rewards.append(float(maze.paid[0]))
        assert len(rewards) < 20
    assert rewards == [0.0, pay] + [0.0] * more
    assert maze.last.true_objective.tolist() == [[1.0]]
    assert maze.last.episode_return.tolist() == [[pay]]
    assert not maze.last.truncated.any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("game", "pay"), [(EXPLORE, 5.0), (MEMORY, 1.0)])
@pytest.mark.parametrize("left", [2, 3, 4])
def test_success_near_the_end_is_paid_and_does_not_lengthen_the_episode(
    make_simulator, game: str, pay: float, mode: str, left: int
) -> None:
    maze = walk_into_success(make_simulator, game, mode)
    maze.put("task.passed", 0, maze.get("task.length") - left)
    for step in range(1, left + 1):
        maze.act("f")
        assert maze.paid.tolist() == [pay if step == 2 else 0.0]
        assert maze.is_over == (step == left)
    assert maze.last.true_objective.tolist() == [[1.0]]
    assert maze.last.episode_return.tolist() == [[pay]]


@pytest.mark.parametrize("game", BOTH)
def test_success_is_in_the_state_and_in_the_text(make_simulator, game: str) -> None:
    maze = walk_into_success(make_simulator, game, "Disabled")
    maze.act("f")
    assert maze.last.state[0, 1] == 0 and "solved" not in maze.simulator.text(0)
    maze.act("f", 2)
    assert maze.last.state[0, 1] == 1 and "solved" in maze.simulator.text(0)


@pytest.mark.parametrize("game", BOTH)
def test_everybody_ends_in_the_same_step(make_simulator, game: str) -> None:
    check_everybody_ends_at_once(make_simulator, game, **SHORT[game])


@pytest.mark.parametrize("game", BOTH)
def test_max_episode_steps_cuts_before_the_clock(make_simulator, game: str) -> None:
    check_truncation(make_simulator, game, **SHORT[game])


# ---- HexExplore: what is found


@pytest.mark.parametrize("cell", [CENTRE, number_of(2, -3), number_of(-6, 3)])
@pytest.mark.parametrize("angle", [0.0, 0.9, 2.2, 4.0, 5.5])
def test_diamond_is_found_at_78_centimetres_and_not_at_80(make_simulator, cell, angle) -> None:
    maze = bare(make_simulator, EXPLORE, side_low=7, autoreset_mode="Disabled")
    maze.simulator.set("task.target", cell)
    direction = np.array([math.cos(angle), math.sin(angle)])
    maze.place(0, *(MIDDLES[cell] + 0.80 * direction))
    maze.act("-", 3)
    assert not maze.total.any()
    maze.place(0, *(MIDDLES[cell] + 0.78 * direction))
    maze.act("-")
    assert maze.paid.tolist() == [5.0]
    exact = math.sqrt(FIND**2 - PLACE**2)
    assert 0.78 < exact < 0.80


def test_diamond_is_not_found_in_the_air_above_it(make_simulator) -> None:
    maze = bare(make_simulator, EXPLORE, autoreset_mode="Disabled")
    maze.simulator.set("task.target", CENTRE)
    for away in (0.0, 0.6):
        reach = math.sqrt(FIND**2 - away**2) - PLACE  # how high the feet may be
        for feet, finds in ((reach + 0.01, False), (reach - 0.01, True)):
            maze.place(0, away, 0, feet=feet)
            # A step's fall from rest, back up.
            maze.put("agents.climb", 0, 13.72 / 15)
            maze.put("task.solved", 0, 0)
            maze.act("-")
            assert maze.at()[2] == pytest.approx(feet + REST, abs=1e-5)
            assert bool(maze.paid[0]) == finds


def test_agent_jumps_over_the_diamonds_place_without_finding_it(make_simulator) -> None:
    maze = bare(make_simulator, EXPLORE, autoreset_mode="Disabled")
    maze.simulator.set("task.target", CENTRE)
    maze.place(0, 0, -3.2)
    maze.act("f", 5)
    maze.act("fj")
    while maze.get("agents.climb"):
        maze.act("f")
    assert maze.at()[1] > 1
    assert not maze.total.any()


def test_only_the_first_of_those_who_find_it_at_once_is_paid(make_simulator) -> None:
    maze = bare(make_simulator, EXPLORE, agent_count=3, autoreset_mode="Disabled")
    maze.simulator.set("task.target", CENTRE)
    maze.place(1, 0.4, 0)
    maze.place(2, -0.4, 0)
    maze.place(0, 5, 0)
    maze.act("-", 6)
    assert maze.total[:, 0].tolist() == [0, 5, 0]


# ---- HexMemory: what is taken


def across_of(form: int, distance: float) -> float:
    """How far aside an agent is that stands at a distance from the middle of a thing."""
    return math.sqrt(distance**2 - (PLACE - MIDDLE_OF_FORM[form]) ** 2)


@pytest.mark.parametrize("form", [PILLAR, DIAMOND, BALL])
@pytest.mark.parametrize("is_good", [True, False])
def test_thing_is_taken_at_99_centimetres_and_not_at_101(
    make_simulator, form: int, is_good: bool
) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    for x in (4.0, 4.37, 4.8, -3.6):
        maze.set_things((x, 2.5, is_good), (30, 0, True), form=form)
        maze.total[:] = 0
        maze.place(0, x - across_of(form, 1.01), 2.5)
        maze.act("-", 3)
        assert not maze.total.any()
        maze.place(0, x - across_of(form, 0.99), 2.5)
        maze.act("-", 2)
        assert maze.total[0].tolist() == ([1, 0] if is_good else [0, -1])
        assert maze.get("things.left") == 0
        assert maze.get("task.good_left") == 1


def test_thing_is_in_the_state_where_it_is_taken_from(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    for form in (PILLAR, DIAMOND, BALL):
        maze.set_things((4.0, 2.0, True), (-5.0, 3.0, False), form=form)
        maze.act("-")
        rows = maze.last.state[0, -126 * 4 :].reshape(126, 4)
        height = MIDDLE_OF_FORM[form]
        assert rows[0] == pytest.approx([1, 4.0, 2.0, height], abs=1e-5)
        assert rows[1] == pytest.approx([-1, -5.0, 3.0, height], abs=1e-5)
        assert not rows[2:].any()


@pytest.mark.parametrize(("x", "takes"), [(0.5, True), (0.9, False)])
def test_thing_that_was_put_two_cells_of_a_metre_away_is_not_taken(
    make_simulator, x: float, takes: bool
) -> None:
    """Cells count from where it was put: its middle is 0.3 m farther along x and y."""
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    maze.set_things((x + SHIFT, 0.5, True), (30, 0, True))
    maze.place(0, x + SHIFT + across_of(BALL, 0.99), 0.5)
    maze.act("-", 3)
    assert bool(maze.total.any()) == takes


def test_nothing_is_taken_in_the_air(make_simulator) -> None:
    """Agents are in the lowest cell of a metre up to a height of 9.5 cm."""
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    for feet, takes in ((0.09, True), (0.1, False), (0.3, False)):
        maze.set_things((0.0, 0.4, True), (30, 0, True))
        maze.place(0, 0, 0, feet=feet)
        maze.put("agents.climb", 0, 13.72 / 15)
        maze.act("-")
        assert maze.at()[2] == pytest.approx(feet + REST, abs=1e-5)
        assert bool(maze.paid[0]) == takes
    maze.set_things((0.0, 0.0, True), (30, 0, True))
    maze.place(0, 0, -3.2)
    maze.total[:] = 0
    maze.act("f", 5)
    maze.act("fj")
    while maze.get("agents.climb"):
        maze.act("f")
    assert maze.at()[1] > 1
    assert not maze.total.any()


def test_what_is_taken_is_gone(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    maze.set_things((0.0, 2.0, True), (0.0, 4.5, False), (30, 0, True))
    maze.act("f", 20)
    assert maze.total[0].tolist() == [1, -1]
    maze.act("b", 25)
    assert maze.total[0].tolist() == [1, -1]
    assert maze.simulator.get("things.left")[0, :3].tolist() == [0, 0, 1]
    assert maze.last.state[0, -126 * 4 :].reshape(126, 4)[:3, 0].tolist() == [0, 0, 1]
    assert maze.last.state[0, 4] == maze.get("task.good_left") == 1


def test_several_things_are_taken_in_one_step(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    near = [(0.5, 0.0, True), (-0.5, 0.0, True), (0.0, 0.5, False), (0.0, -0.5, True)]
    maze.set_things(*near, (30, 0, True))
    maze.act("-")
    assert maze.parts[0].tolist() == [3, -1]
    assert maze.paid.tolist() == [2.0]
    assert maze.get("task.good_left") == 1


def test_first_agent_near_a_thing_takes_it(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, agent_count=3, autoreset_mode="Disabled")
    maze.set_things((3.0, 0.2, True), (9.0, 9.0, False), (30, 0, True))
    maze.place(2, 2.4, 0)
    maze.place(1, 3.4, 0)
    maze.act("-", 3)
    assert maze.total[:, 0].tolist() == [0, 1, 0]


def test_what_does_not_match_is_paid_after_success(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    maze.set_things((0.0, 0.0, True), (0.0, 1.9, False))
    maze.act("f", 6)
    assert maze.total[0].tolist() == [1, -1]
    assert maze.is_over


def test_episode_is_not_solved_while_one_that_matches_is_left(make_simulator) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    maze.set_things((0.0, 0.0, True), (0.0, 2.0, False), (0.0, -3.0, True))
    maze.act("f", 30)
    assert maze.total[0].tolist() == [1, -1] and not maze.get("task.solved")
    maze.put("task.passed", 0, maze.get("task.length") - 1)
    maze.act("-")
    assert maze.is_over and maze.last.true_objective.tolist() == [[0.0]]


@pytest.mark.parametrize("form", [PILLAR, DIAMOND, BALL])
def test_what_is_to_be_remembered_is_never_taken_and_stops_nobody(make_simulator, form) -> None:
    maze = bare(make_simulator, MEMORY, autoreset_mode="Disabled")
    maze.set_things((30, 0, True), form=form)
    before = maze.simulator.get("things.left").copy()
    for angle in np.linspace(0, 2 * math.pi, 6):
        direction = np.array([math.sin(angle), -math.cos(angle)])
        maze.place(0, *(0.5 + 1.5 * direction), yaw=heading(-direction))
        maze.act("f", 10)
        assert maze.at()[:2] == pytest.approx(0.5 - (2.92 - 1.5) * direction, abs=0.01)
    assert not maze.total.any()
    assert (maze.simulator.get("things.left") == before).all()


# ---- rewards


@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
@pytest.mark.parametrize("pay", [5.0, -2.0])
def test_diamond_is_paid_once_and_divided_by_team_spirit(
    make_simulator, agents: int, spirit: float, pay: float
) -> None:
    options = {"agent_count": agents, "team_spirit": spirit, "solve_reward": pay}
    maze = bare(make_simulator, EXPLORE, autoreset_mode="Disabled", **options)
    maze.simulator.set("task.target", CENTRE)
    for agent in range(agents):
        maze.place(agent, 3.0 * agent, -1.6)
    maze.act("f " + "- " * (agents - 1), 12)
    share = np.full(agents, spirit / agents)
    share[0] += 1 - spirit
    assert maze.total[:, 0] == pytest.approx(share * pay, abs=1e-6)
    assert maze.total.sum() == pytest.approx(pay, abs=1e-5)


@pytest.mark.parametrize("spirit", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("agents", [1, 2, 4])
@pytest.mark.parametrize("rewards", [(1.0, -1.0), (-3.0, 0.5)])
def test_things_are_paid_once_and_divided_by_team_spirit(
    make_simulator, agents: int, spirit: float, rewards: tuple[float, float]
) -> None:
    good, bad = rewards
    options = {"agent_count": agents, "team_spirit": spirit, "autoreset_mode": "Disabled"}
    maze = bare(make_simulator, MEMORY, good_reward=good, bad_reward=bad, **options)
    things = [(0.0, 2.0, True), (0.0, 3.5, True), (0.0, 5.0, False)]
    last = 3.0 * (agents - 1)
    things += [(last, -2.0, False), (last, -3.0, True)]  # of the last agent
    maze.set_things(*things, (30, 0, True))
    words = ["f", *["-"] * (agents - 2), "b"] if agents > 1 else ["f"]
    for _ in range(20):
        maze.act(" ".join(words))
        assert maze.paid == pytest.approx(maze.parts.sum(axis=1), abs=1e-6)
    if agents == 1:
        maze.act("b", 40)
    taken = np.zeros((agents, 2))
    taken[0] += (2, 1)
    taken[-1] += (1, 1)
    share = (1 - spirit) * taken + spirit * taken.sum(axis=0) / agents
    assert maze.total == pytest.approx(share * rewards, abs=1e-5)
    assert maze.total.sum(axis=0) == pytest.approx([3 * good, 2 * bad], abs=1e-5)


@pytest.mark.parametrize("game", BOTH)
def test_rewards_of_zero_pay_nothing_and_success_stays_success(make_simulator, game: str) -> None:
    keys = ("solve",) if game == EXPLORE else ("good", "bad")
    none = {f"{key}_reward": 0 for key in keys}
    maze = walk_into_success(make_simulator, game, "SameStep", **none)
    while not maze.is_over:
        maze.act("f")
    assert not maze.total.any()
    assert maze.last.true_objective.tolist() == [[1.0]]


# ---- walls


def wall_of(cell: int, way: int) -> tuple[np.ndarray, np.ndarray]:
    """The middle of a wall, and the direction across it."""
    return MIDDLES[cell] + INNER * OUTWARD[way], OUTWARD[way]


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("way", range(WAYS))
@pytest.mark.parametrize("game", BOTH)
def test_wall_stops_a_body_at_its_face(make_simulator, game: str, way: int, side: int) -> None:
    maze = bare(make_simulator, game)
    cell = number_of(1, -1)
    maze.set_walls([(cell, way)])
    middle, out = wall_of(cell, way)
    along = np.array([-out[1], out[0]])
    for aside in (-1.5, 0.0, 0.8):
        maze.place(0, *(middle - side * 2 * out + aside * along), yaw=heading(side * out))
        maze.act("f", 20)
        from_wall = maze.at()[:2] - middle
        assert -side * (from_wall @ out) == pytest.approx(THICK + RADIUS + 1e-4, abs=3e-5)
        assert from_wall @ along == pytest.approx(aside, abs=1e-3)


@pytest.mark.parametrize("way", range(WAYS))
def test_body_slides_along_a_wall_alike_whatever_its_way(make_simulator, way: int) -> None:
    maze = bare(make_simulator, EXPLORE)
    maze.set_walls([(CENTRE, way)])
    middle, out = wall_of(CENTRE, way)
    along = np.array([-out[1], out[0]])
    start = middle - (THICK + RADIUS + 0.01) * out - 1.5 * along
    maze.place(0, *start, yaw=heading(out + along))
    gone = []
    for _ in range(8):
        maze.act("f")
        from_wall = maze.at()[:2] - middle
        assert -(from_wall @ out) == pytest.approx(THICK + RADIUS, abs=2e-4)
        gone.append(float(from_wall @ along) + 1.5)
    assert gone[0] > 0.1 and (np.diff(gone) > 0.1).all()
    # What a wall along y does, which is not turned.
    straight = bare(make_simulator, EXPLORE)
    straight.set_walls([(CENTRE, 0)])
    straight.place(0, INNER - THICK - RADIUS - 0.01, -1.5, yaw=heading(np.array([1.0, 1.0])))
    for step in range(8):
        straight.act("f")
        assert straight.at()[1] + 1.5 == pytest.approx(gone[step], abs=2e-4)


@pytest.mark.parametrize("way", range(WAYS))
def test_body_goes_around_the_end_of_a_wall(make_simulator, way: int) -> None:
    maze = bare(make_simulator, EXPLORE)
    maze.set_walls([(CENTRE, way)])
    mazes = Mazes(maze.simulator)
    middle, out = wall_of(CENTRE, way)
    along = np.array([-out[1], out[0]])
    for beyond, passes in ((-0.35, False), (0.05, True), (0.5, True)):
        start = middle - 2 * out + (SIDE / 2 + beyond) * along
        maze.place(0, *start, yaw=heading(out))
        nearest = 9.0
        for _ in range(25):
            maze.act("f")
            at = maze.at()[np.newaxis, :2]
            nearest = min(nearest, float(distance_to_walls(mazes, 0, at).min()))
        assert nearest > RADIUS - 1e-4
        assert ((maze.at()[:2] - middle) @ out > 1) == passes


def test_body_cannot_jump_onto_or_over_a_wall(make_simulator) -> None:
    maze = bare(make_simulator, EXPLORE)
    maze.set_walls([(CENTRE, 1)], height=1.7)
    middle, out = wall_of(CENTRE, 1)
    maze.place(0, *(middle - 2 * out), yaw=heading(out))
    for _ in range(60):
        maze.act("fj")
        assert -((maze.at()[:2] - middle) @ out) >= THICK + RADIUS - 1e-4


def test_corner_of_two_walls_holds_a_body(make_simulator) -> None:
    maze = bare(make_simulator, EXPLORE)
    maze.set_walls([(CENTRE, 0), (CENTRE, 1)])
    mazes = Mazes(maze.simulator)
    maze.place(0, 0, 0, yaw=heading(OUTWARD[0] + OUTWARD[1]))
    for letters in ("f", "fl", "fr", "f", "fj"):
        maze.act(letters, 15)
        assert distance_to_walls(mazes, 0, maze.at()[np.newaxis, :2]).min() > RADIUS - 2e-4


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("agents", [1, 4])
def test_random_play_leaves_no_body_inside_a_wall(make_simulator, game: str, agents: int) -> None:
    options = {"agent_count": agents, "side_high": 3, "autoreset_mode": "Disabled", **TINY}
    if agents > 1:  # nobody gets over the walls from another's head
        options |= {"wall_low": 5, "wall_high": 5}
    simulator = make_simulator(game, 30, **options)
    simulator.reset(seed=2)
    mazes = Mazes(simulator)
    random = np.random.default_rng(3)
    nearest = np.inf
    held = random_actions(random, 30, agents)
    for step in range(240):
        if step % 4 == 0:  # held, so that they get somewhere
            held = random_actions(random, 30, agents)
            held[..., 0] = np.where(random.random((30, agents)) < 0.7, 1, held[..., 0])
        simulator.step(held)
        at = simulator.get("agents.position")[:, :agents].astype(float)
        for world in range(30):
            low = at[world, :, 2] < 1.5
            away = distance_to_walls(mazes, world, at[world, low, :2])
            nearest = min(nearest, float(away.min(initial=np.inf)))
            assert mazes.within[world, cells_at(at[world, :, :2])].all()
    assert nearest > RADIUS - PRESS
    assert nearest < RADIUS + 0.01


def test_walls_are_named_from_either_cell(make_simulator) -> None:
    ends = []
    for cell, way in ((CENTRE, 2), (int(BESIDE[CENTRE, 2]), 5)):
        maze = bare(make_simulator, EXPLORE)
        maze.set_walls([(cell, way)])
        middle, out = wall_of(CENTRE, 2)
        maze.place(0, *(middle - 2 * out + 0.3), yaw=heading(out))
        maze.act("fl", 10)  # not as far as its end
        ends.append(maze.at().tolist())
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


# ---- bodies


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_apart_and_never_pass_through_one_another(
    make_simulator, game: str, agents: int
) -> None:
    options = {"agent_count": agents, "side_high": 3, **TINY}
    simulator = make_simulator(game, 40, **options)
    simulator.reset(seed=agents)
    at = simulator.get("agents.position")[:, :agents, :2].astype(float)
    apart = np.linalg.norm(at[:, :, np.newaxis] - at[:, np.newaxis], axis=3)
    apart[:, np.eye(agents, dtype=bool)] = 9
    assert apart.min() > 2 * RADIUS
    meetings = Meetings(simulator)
    meetings.play(150)
    meetings.check()


@pytest.mark.parametrize("game", BOTH)
def test_agents_walk_against_one_another_and_stop(make_simulator, game: str) -> None:
    maze = bare(make_simulator, game, agent_count=2)
    maze.place(0, 0, 0)
    maze.place(1, 0, 2, yaw=math.pi)
    maze.act("f", 15)
    gap = maze.at(1)[1] - maze.at(0)[1]
    assert gap == pytest.approx(2 * RADIUS, abs=2e-3)


# ---- falls


@pytest.mark.parametrize("game", BOTH)
def test_agent_that_has_fallen_off_the_floor_returns_to_its_start(
    make_simulator, game: str
) -> None:
    maze = Maze(make_simulator, game, autoreset_mode="Disabled", agent_count=2)
    home = np.floor(maze.at()[:2]) + 0.5
    other = maze.at(1).copy()
    assert maze.get("agents.home")[:2].tolist() == np.floor(maze.at()[:2]).tolist()
    maze.place(0, 150, 0, yaw=0.7, feet=3)
    steps = 0
    while maze.at()[0] > 100:
        maze.act("f -")
        steps += 1
        assert steps < 50
        assert maze.at()[2] > -23
    assert steps > 25
    assert maze.at() == pytest.approx([*home, REST], abs=1e-4)
    assert maze.get("agents.yaw") == 0 and not maze.get("agents.velocity").any()
    assert not maze.total.any() and not maze.is_over
    assert maze.at(1)[:2] == pytest.approx(other[:2], abs=0.5)
    maze.act("-")
    assert maze.at() == pytest.approx([*home, REST], abs=1e-3)
