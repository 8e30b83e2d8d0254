"""Rearrange: drawn levels by their statistics, the room, tables, columns that are set to anything.

The other side of a statistic is counted out here from the numbers of Megaverse's source, in its
frame: y is up there, and its z is 13 less our y.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from rearrange_rooms import GAME, MODEL, WORK, Room
from voxel_games import (
    check_random_play,
    check_seeds_and_episodes_differ,
    hostile_columns_test,
    most_rows,
    refused_values_test,
)
from voxel_worlds import (
    PRESS,
    TINY,
    Array,
    Make,
    check_mean,
    check_shares,
    check_uniform,
)

WORLDS = 4000
COLOURS = (
    0xFFDD3C, 0x3BB372, 0x50C878, 0x2EB5D0, 0xADD8E6, 0x3A7FA6, 0xFFB400, 0xB3B3B3, 0x555555,
    0xFFFFFF, 0xFF0000, 0xFFA770, 0xD468EE, 0xFFE6E6,
)  # fmt: skip
BLOCK, BALL, PILL, DRUM = 1, 2, 3, 4


class Levels:
    """What a batch of drawn levels says of itself."""

    def __init__(self, make: Make, worlds: int = WORLDS, seed: int = 1, **options: object) -> None:
        self.simulator = make(GAME, worlds, resolution="1x1", outputs=[], **options)
        self.simulator.reset(seed=seed)
        get = self.simulator.get
        self.size = get("task.object_count")[:, 0]
        self.best = get("task.best")[:, 0]
        assert (get("crates.count")[:, 0] == 2 * self.size).all()
        self.cells, self.forms = get("crates.cell"), get("crates.form")
        self.colours, self.fixed = get("crates.colour"), get("crates.fixed")

    def places(self, world: int) -> tuple[Array, Array]:
        """Places of the model's objects and of their copies, from the middles."""
        size = int(self.size[world])
        cells = self.cells[world]
        return cells[:size] - MODEL, cells[size : 2 * size] - WORK


def size_of_an_arrangement(dice: random.Random) -> int:
    """Grow one as the reference does, breadth first."""
    wanted = dice.randint(2, 7)
    used, queue = [(0, 0, 0)], [(0, 0, 0)]
    while queue and len(used) < wanted:
        x, y, z = queue.pop(0)
        most = dice.randint(1, dice.randint(1, 5))
        ways = [(-1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
        dice.shuffle(ways)
        branches = 0
        for way in ways:
            at = (x + way[0], y + way[1], z + way[2])
            if abs(at[0]) > 1 or abs(at[2]) > 1 or at[1] > 1 or at in used:
                continue
            if at[1] > 0 and (at[0], at[1] - 1, at[2]) not in used:
                continue
            used.append(at)
            queue.append(at)
            branches += 1
            if branches >= most or len(used) >= wanted:
                break
    return len(used)


# ---- arrangements


def test_sizes_of_arrangements_are_those_of_the_reference(make_simulator) -> None:
    dice = random.Random(1)
    wanted = Counter(size_of_an_arrangement(dice) for _ in range(30_000))
    levels = Levels(make_simulator)
    assert set(np.unique(levels.size)) == set(wanted) == set(range(2, 8))
    check_shares(levels.size, {size: float(count) for size, count in wanted.items()})


def test_objects_of_a_model_lie_within_reach_on_something(make_simulator) -> None:
    levels = Levels(make_simulator, 1000)
    upper = 0
    for world in range(1000):
        model, copies = levels.places(world)
        for places, reach in ((model, 1), (copies, 2)):
            cells = [tuple(place) for place in places.tolist()]
            assert len(set(cells)) == len(cells)
            assert np.abs(places[:, :2]).max() <= reach
            assert set(places[:, 2].tolist()) <= {0, 1}
            for x, y, z in cells:
                assert z == 0 or (x, y, z - 1) in cells
            upper += sum(z for *_, z in cells)
        assert tuple(model[0]) == (0, 0, 0)
        gaps = np.abs(model[1:, np.newaxis] - model).sum(axis=-1)
        assert (gaps == 1).any(axis=1).all()  # each beside another
    assert upper > 500


def test_shapes_and_colours_are_uniform_and_those_of_the_model(make_simulator) -> None:
    levels = Levels(make_simulator)
    rows = np.arange(18)
    model = rows < levels.size[:, None]
    check_uniform(levels.forms[model], (BLOCK, BALL, PILL, DRUM))
    check_uniform(levels.colours[model], COLOURS)
    copies = (rows >= levels.size[:, None]) & (rows < 2 * levels.size[:, None])
    for column in (levels.forms, levels.colours):
        assert (column[model] == column[copies]).all()  # in the same order, world by world
    assert levels.fixed[model].all() and not levels.fixed[copies].any()


def test_first_objects_are_in_place_and_the_rest_anywhere_else(make_simulator) -> None:
    levels = Levels(make_simulator)
    shares, offsets = [], []
    for world in range(WORLDS):
        model, copies = levels.places(world)
        same = (model == copies).all(axis=1)
        kept = int(same.sum())
        assert same[:kept].all() and kept < len(model)
        assert levels.best[world] == kept
        taken = {tuple(place) for place in model.tolist()}
        moved = [tuple(place) for place in copies[kept:].tolist()]
        assert not taken & set(moved)
        assert all(z == 0 for *_, z in moved)
        if len(model) == 7:
            shares.append(kept)
        offsets += moved
    check_uniform(np.array(shares), range(7))
    found = Counter((x, y) for x, y, _ in offsets)
    assert len(found) == 25 - 1  # the middle is the model's first
    edge = np.array([found[cell] for cell in found if max(map(abs, cell)) == 2])
    check_uniform(np.repeat(np.arange(16), edge), range(16))


@pytest.mark.parametrize(
    ("options", "moved"),
    [
        ({"misplaced_high": 1}, {1}),
        ({"misplaced_low": 9}, {2, 3, 4, 5, 6, 7}),
        ({"object_count_low": 5, "misplaced_low": 2, "misplaced_high": 3}, {2, 3}),
        ({"object_count_low": 2, "object_count_high": 2}, {1, 2}),
    ],
)
def test_numbers_of_objects_out_of_place_can_be_chosen(
    make_simulator, options: dict[str, int], moved: set[int]
) -> None:
    levels = Levels(make_simulator, 400, **options)
    assert set((levels.size - levels.best).tolist()) == moved


# ---- the room


def test_room_and_pedestals_have_the_measures_of_the_reference(make_simulator) -> None:
    levels = Levels(make_simulator, 300)
    low, high = levels.simulator.get("statics.low"), levels.simulator.get("statics.high")
    left, right = (5, 2, 5), (13, 2, 5)
    wide, plate = (3, 0.5, 3), (1.5, 0.5, 1.5)
    boxes = [((0, 0, 0), (9.5, 1, 7), (8.35, 0.5, 5.65))]
    boxes += [(left, (0.5, -0.5, 0.5), wide), (left, (0.5, -0.45, 0.5), plate)]
    boxes += [(left, (1.0, -0.66, 1.0), wide), (left, (1.5, -0.82, 1.5), wide)]
    boxes += [(right, (0.5, -0.5, 0.5), wide), (right, (0.5, -0.45, 0.5), plate)]
    boxes += [(right, (0.0, -0.66, 1.0), wide), (right, (-0.5, -0.82, 1.5), wide)]
    white, blue, grey = 0xFFFFFF, 0x2EB5D0, 0x555555
    colours = [grey, white, grey, white, white, blue, grey, blue, blue]
    for k, (base, shift, (half_x, half_y, half_z)) in enumerate(boxes):
        x, y, z = np.add(base, shift)
        middle, half = np.array((x, 14 - z, y)), np.array((half_x, half_z, half_y))
        assert low[:, k] == pytest.approx(np.tile(middle - half, (300, 1)), abs=1e-5)
        assert high[:, k] == pytest.approx(np.tile(middle + half, (300, 1)), abs=1e-5)
        assert (levels.simulator.get("statics.colour")[:, k] == colours[k]).all()
        assert levels.simulator.get("statics.shown")[:, k].all()
    assert (high.max(axis=1)[:, :2] == (19, 14)).all()
    assert (MODEL == (5, 13 - 5, 2)).all() and (WORK == (13, 13 - 5, 2)).all()


def test_walls_are_four_to_six_high_and_hidden_in_half_of_the_levels(make_simulator) -> None:
    levels = Levels(make_simulator)
    high = levels.simulator.get("statics.high")[..., 2]
    rows = np.arange(16) < levels.simulator.get("statics.count")
    walls = (high > 2.5) & rows
    check_uniform(np.where(walls, high, 0).max(axis=1), (4, 5, 6))
    shown = (levels.simulator.get("statics.shown") != 0) & walls
    assert (shown.any(axis=1) == (shown | ~walls).all(axis=1)).all()
    check_mean(shown.any(axis=1), 0.5, 0.5)
    for probability in (0, 1):
        some = Levels(make_simulator, 200, hidden_walls=probability).simulator
        assert (some.get("statics.shown")[:, 10:14].any(axis=1) == (probability == 0)).all()


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_off_the_middles_in_cells_of_their_own(make_simulator, agents: int) -> None:
    levels = Levels(make_simulator, 600, seed=agents, agent_count=agents)
    simulator = levels.simulator
    homes = simulator.get("agents.home")[:, :agents]
    assert (homes[..., 2] == 2).all()
    for world in homes:
        assert len(np.unique(world, axis=0)) == agents
    free = {
        19 * x + y
        for x in range(2, 18)
        for y in range(1, 12)
        if not any(max(abs(x - m[0]), abs(y - m[1])) < 2 for m in (MODEL, WORK))
    }
    check_uniform((19 * homes[..., 0] + homes[..., 1]).ravel(), sorted(free))
    yaw = simulator.get("agents.yaw")[:, :agents].ravel()
    check_mean(yaw, 0, 2 * np.pi / np.sqrt(12))
    for _ in range(20):
        simulator.step(np.zeros((600, agents, 6), int))
    assert simulator.get("agents.grounded")[:, :agents].mean() > 0.99
    at = simulator.get("agents.position")[:, :agents]
    assert (at[..., 2] > 1.5 + 0.855 - PRESS).all()
    assert (at[..., 2] < 4.9 + 0.855).all()


def test_seeds_and_episodes_differ(make_simulator) -> None:
    check_seeds_and_episodes_differ(make_simulator, GAME)


# ---- room in tables


def resets(make: Make, worlds: int, times: int) -> None:
    """The largest levels."""
    options = {"object_count_low": 9, "object_count_high": 9, "agent_count": 8}
    assert most_rows(make, GAME, worlds, times, ["crates"], **options) == [18]


def test_ten_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 2000, 5)


@pytest.mark.slow
def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 2000, 50)


@pytest.mark.parametrize(
    "parameters",
    [
        {"agent_count": 8, "object_count_low": 9, "object_count_high": 9, "misplaced_low": 9,
         "wall_low": 10, "wall_high": 10, "look_limit": 1.5},
        {"object_count_high": 2, "misplaced_high": 1, "wall_low": 3, "wall_high": 3,
         "look_limit": 0},
    ],
)  # fmt: skip
def test_levels_at_the_limits_of_all_parameters_are_played(
    make_simulator, parameters: dict[str, object]
) -> None:
    simulator = make_simulator(GAME, 4, strict=True, episode_seconds=2, **TINY, **parameters)
    simulator.reset(seed=1)
    check_random_play(simulator)


# ---- columns that are set to anything

FAR = 1 << 20
HOSTILE = [
    {"crates.cell": FAR},
    {"crates.cell": -FAR},
    {"crates.cell": 8},  # all in one cell
    {"crates.fixed": 0},
    {"crates.fixed": 1},
    {"crates.form": 0},
    {"crates.form": 4, "crates.colour": 0xFFFFFFFF},
    {"crates.carrier": 1},  # whose hands are empty
    {"agents.carries": 0},  # an object of the model, in the hands of all
    {"agents.carries": 17},
    {"agents.carries": 3, "crates.carrier": 0},
    {"agents.home": FAR, "agents.position": -30.0},
    {"agents.position": 3e30},
    {"agents.position": -3e30, "agents.velocity": 3e30},
    {"agents.yaw": 1e30, "agents.pitch": -1e30},
    {"task.object_count": 0},
    {"task.object_count": 9, "task.best": 9},
    {"task.solved": 1},
    {"task.passed": 0x7FFFFFFF, "task.length": 0},
    {"task.length": 0x7FFFFFFF},
    {"statics.low": -3e30, "statics.high": 3e30},
    {"statics.high": -3e30},
]


TEAM = """
    object ball green 0 0 0 at 2 2 0; object drum red 1 0 0; object pill blue 0 1 0 at -2 1 0
    agent 15.5 9.5 2.1; agent 9.5 2.5 1.5; seconds 3
"""
test_columns_of_one_world_that_are_set_to_anything_reach_no_other = hostile_columns_test(
    GAME, HOSTILE, TEAM, head=5
)


OUT_OF_RANGE = [
    ("task.best", 10), ("task.object_count", -1), ("crates.form", 5), ("crates.fixed", 2),
    ("agents.carries", 18), ("crates.carrier", 8), ("crates.cell", FAR + 1),
    ("task.solved", -1), ("task.passed", -1), ("agents.home", -FAR - 1),
]  # fmt: skip
test_values_out_of_range_are_refused_and_set_nothing = refused_values_test(GAME, OUT_OF_RANGE)


def test_all_objects_in_one_place_are_in_place_once_each(make_simulator) -> None:
    """What the model has there counts for each: the column says whatever was set."""
    layout = "object ball green 0 0 0 at 2 2 0; object ball green 1 0 0 at -2 2 0; agent 13 5.2 2.1"
    room = Room(make_simulator, layout)
    assert room.in_place() == 0
    room.put("crates.cell", 2, WORK)
    assert room.in_place() == 1
    assert room.best == 0
