"""TowerBuilding: drawn rooms by their statistics, room in tables, columns that are set to anything.

The other side of a statistic is counted out here from the numbers of Megaverse's source, by plain
loops over all sizes.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from tower_rooms import DARK_GREY, GAME, GROUND, SHORT, Room
from voxel_games import (
    LATTICE,
    check_lost_pieces_are_reported,
    check_random_play,
    check_seeds_and_episodes_differ,
    check_strict_step_reports_lost_pieces,
    hostile_columns_test,
    most_rows,
    refused_values_test,
)
from voxel_worlds import (
    TINY,
    Make,
    check_mean,
    check_shares,
    check_uniform,
)

BRIGHT = (0xFFFFFF, 0xFFFFE6, 0xCCFFCC, 0xE6ECFF, 0xD9D9D9, 0xFFEBCC)
GREY = 0xB3B3B3
WORLDS = 4000


class Rooms:
    """What a batch of drawn levels says of itself."""

    def __init__(self, make: Make, worlds: int = WORLDS, seed: int = 1, **options: object) -> None:
        simulator = make(GAME, worlds, resolution="1x1", outputs=[], **options)
        simulator.reset(seed=seed)
        get = simulator.get
        self.simulator = simulator
        pieces = np.arange(get("statics.low").shape[1]) < get("statics.count")
        self.high = np.where(pieces[..., None], get("statics.high"), 0)
        self.length, self.width, self.wall = self.high.max(axis=1).astype(int).T
        self.zone_low = get("marks.low")[:, 0, :]
        self.zone_high = get("marks.high")[:, 0, :]
        self.zone = (self.zone_high - self.zone_low)[:, :2]
        self.boxes = get("crates.count")[:, 0]
        self.cells = get("crates.cell")
        self.there = np.arange(self.cells.shape[1]) < get("crates.count")
        # The walls' lowest piece reaches above the floor; pieces of a wall share their look.
        is_wall = pieces & (self.high[..., 2] > 1)
        self.shown = (get("statics.shown") & is_wall).any(axis=1)
        assert (self.shown == (get("statics.shown").astype(bool) | ~is_wall).all(axis=1)).all()
        self.wall_colour = np.where(is_wall, get("statics.colour"), 0).max(axis=1)
        self.floor_colour = np.where(pieces & ~is_wall, get("statics.colour"), 0).max(axis=1)
        # Materials are laid last, and end with the rectangle's last cell.
        rows = np.arange(worlds)
        self.materials_high = self.cells[rows, self.boxes - 1, :2] + 1


def side_weights(low: int, high: int) -> dict[int, float]:
    """How often a room has a side, U{low..high} but at least zone + materials + 3."""
    weights: dict[int, float] = {}
    sizes = itertools.product(range(low, high + 1), range(3, 9), range(2, 8))
    for drawn, zone, materials in sizes:
        side = max(drawn, zone + materials + 3)
        weights[side] = weights.get(side, 0) + 1
    return weights


@cache
def overlap_along(low: int, high: int) -> float:
    """The probability that zone and materials share a row along one side of a room."""
    found = []
    sizes = itertools.product(range(low, high + 1), range(3, 9), range(2, 8))
    for drawn, zone, materials in sizes:
        side = max(drawn, zone + materials + 3)
        pairs = itertools.product(range(1, side - zone - 1), range(1, side - materials - 1))
        shared = [a < b + materials and b < a + zone for a, b in pairs]
        found.append(sum(shared) / len(shared))
    return float(np.mean(found))


# ---- statistics


def test_numbers_of_boxes_are_those_of_the_reference(make_simulator) -> None:
    rooms = Rooms(make_simulator)
    deviation = np.sqrt(np.var(np.outer(range(2, 8), range(2, 8))) + (25**2 - 1) / 12)
    check_mean(rooms.boxes, 4.5**2 + 12, deviation)
    assert rooms.boxes.mean() == pytest.approx(32, abs=1)
    assert np.percentile(rooms.boxes, 95) == pytest.approx(56, abs=2)
    assert rooms.boxes.max() <= 73
    assert rooms.boxes.min() >= 4
    # Steps of an episode: 60 s and 4 s a box.
    steps = np.percentile(rooms.simulator.get("site.length"), [5, 50, 95])
    assert steps == pytest.approx([1620, 2760, 4260], rel=0.05)


def test_sides_of_rooms_zones_and_walls_are_uniform(make_simulator) -> None:
    rooms = Rooms(make_simulator)
    check_uniform(rooms.wall, [5, 6])
    for axis in (0, 1):
        check_uniform(rooms.zone[:, axis], range(3, 9))
    check_shares(rooms.length, side_weights(12, 29))
    check_shares(rooms.width, side_weights(12, 24))


def test_zones_lie_anywhere_in_their_rooms(make_simulator) -> None:
    rooms = Rooms(make_simulator)
    sides = np.stack([rooms.length, rooms.width], axis=-1)
    free = sides - rooms.zone - 2  # places along a side
    at = rooms.zone_low[:, :2] - 1
    assert (at >= 0).all() and (at < free).all()
    for axis in (0, 1):
        share = (at[:, axis] + 0.5) / free[:, axis]
        check_mean(share, 0.5, np.sqrt(1 / 12))
        assert (at[:, axis] == 0).any() and (at[:, axis] == free[:, axis] - 1).any()
    assert (rooms.zone_low[:, 2] == 1).all() and (rooms.zone_high[:, 2] == 2).all()
    # Its place and the materials' are drawn apart.
    end = rooms.materials_high[:, 0] / sides[:, 0]
    assert abs(np.corrcoef(at[:, 0] / free[:, 0], end)[0, 1]) < 5 / np.sqrt(WORLDS)


def test_zone_and_materials_overlap_in_38_of_100_rooms(make_simulator) -> None:
    rooms = Rooms(make_simulator, spare_boxes_high=0)
    inside = (rooms.cells[..., :2] >= rooms.zone_low[:, None, :2]).all(-1)
    inside &= (rooms.cells[..., :2] < rooms.zone_high[:, None, :2]).all(-1) & rooms.there
    overlap = inside.any(axis=1)
    wanted = overlap_along(12, 29) * overlap_along(12, 24)
    assert wanted == pytest.approx(0.38, abs=0.01)
    check_mean(overlap, wanted, np.sqrt(wanted * (1 - wanted)))
    assert ((rooms.simulator.get("site.worth")[:, 0] > 0) == overlap).all()


def test_materials_are_a_full_rectangle_and_spare_boxes_lie_on_or_beside_it(
    make_simulator,
) -> None:
    rooms = Rooms(make_simulator, 600)
    spare_counts = []
    sides: list[tuple[int, int]] = []
    for world, count in enumerate(rooms.boxes):
        cells = rooms.cells[world, :count]
        assert len(np.unique(cells, axis=0)) == count
        assert (cells[:, :2] >= 1).all()
        assert (cells[:, :2] < (rooms.length[world] - 1, rooms.width[world] - 1)).all()
        # The last box is the rectangle's far corner; the first of it, its near one.
        x_end, y_end = cells[-1, :2] + 1
        column = 1
        while column < count and cells[-1 - column, 0] == x_end - 1:
            if cells[-1 - column, 1] != y_end - 1 - column or cells[-1 - column, 2] != 1:
                break
            column += 1
        row = 1
        while (row + 1) * column <= count:
            block = cells[count - (row + 1) * column : count - row * column]
            if (block[:, 0] != x_end - 1 - row).any() or (block[:, 2] != 1).any():
                break
            if (block[:, 1] != np.arange(y_end - column, y_end)).any():
                break
            row += 1
        spare = cells[: count - row * column]
        within = (spare[:, 0] >= x_end - row) & (spare[:, 0] < x_end)
        within &= (spare[:, 1] >= y_end - column) & (spare[:, 1] < y_end)
        assert (spare[:, 2] == np.where(within, 2, 1)).all()
        assert len(np.unique(spare[:, :2], axis=0)) == len(spare)
        sides.append((row, column))
        spare_counts.append(len(spare))
    check_uniform(np.array(spare_counts), range(25))
    # A spare box beside a column may look like its continuation: so nearly.
    found = np.array(sides)
    assert found.min() == 2 and found.max() == 7
    assert found.mean(axis=0) == pytest.approx([4.5, 4.5], abs=0.35)


def test_walls_are_hidden_in_half_of_the_rooms(make_simulator) -> None:
    assert Rooms(make_simulator).shown.mean() == pytest.approx(0.5, abs=0.04)
    assert Rooms(make_simulator, 500, hidden_walls=0).shown.all()
    assert not Rooms(make_simulator, 500, hidden_walls=1).shown.any()


def test_colours_of_floors_and_walls_have_the_weights_of_the_reference(make_simulator) -> None:
    rooms = Rooms(make_simulator)
    bright = dict.fromkeys(BRIGHT, 1.0)
    # Never dark grey, as the zone is: one tells it from the floor.
    check_shares(rooms.floor_colour, {**bright, GREY: 4.0})
    check_shares(rooms.wall_colour, {**bright, GREY: 4.0, DARK_GREY: 4.0})


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_begin_in_cells_of_their_own_and_soon_stand(make_simulator, agents: int) -> None:
    rooms = Rooms(make_simulator, 400, seed=agents, agent_count=agents)
    simulator = rooms.simulator
    homes = simulator.get("agents.home")[:, :agents]
    assert (homes[..., 2] == 2).all()
    assert (homes[..., :2] >= 1).all()
    inner = np.stack([rooms.length, rooms.width], axis=-1)[:, None] - 1
    assert (homes[..., :2] < inner).all()
    yaw = simulator.get("agents.yaw")[:, :agents].ravel()
    check_mean(yaw, 0, 2 * np.pi / np.sqrt(12))
    at = simulator.get("agents.position")[:, :agents]
    assert (at[..., 2] == 2 + 1.75).all()
    assert (at[..., :2] == homes[..., :2] + 0.5).all()
    on_box = np.zeros((400, agents), bool)
    for world in range(400):
        assert len(np.unique(homes[world], axis=0)) == agents
        boxes = rooms.cells[world, : rooms.boxes[world]]
        same = (boxes[:, None, :2] == homes[world, None, :, :2]).all(-1)
        assert not (same & (boxes[:, None, 2] == 2)).any()
        on_box[world] = same.any(axis=0)
    for _ in range(15):
        simulator.step(np.zeros((400, agents, 6), int))
    assert simulator.get("agents.grounded")[:, :agents].all()
    z = simulator.get("agents.position")[:, :agents, 2]
    assert z == pytest.approx(np.where(on_box, 1.8985, 1) + 0.855, abs=2e-3)
    assert on_box.any() and not on_box.all()


def test_seeds_and_episodes_differ(make_simulator) -> None:
    check_seeds_and_episodes_differ(make_simulator, GAME)


# ---- room


def resets(make: Make, worlds: int, times: int) -> None:
    """A room has at most 73 boxes."""
    (boxes,) = most_rows(make, GAME, worlds, times, ["crates"], agent_count=2)
    assert 65 < boxes <= 73


def test_ten_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 2000, 5)


@pytest.mark.slow
def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 2000, 50)


LARGEST = {
    "agent_count": 8, "length_low": 48, "length_high": 48, "width_low": 48, "width_high": 48,
    "wall_low": 10, "wall_high": 10, "zone_low": 16, "zone_high": 16, "materials_low": 6,
    "materials_high": 6, "spare_boxes_low": 48, "spare_boxes_high": 48, "look_limit": 1.5,
}  # fmt: skip
WIDEST = {"materials_low": 9, "materials_high": 9, "spare_boxes_low": 15, "spare_boxes_high": 15}
SMALLEST = {
    "agent_count": 8, "length_low": 5, "length_high": 5, "width_low": 5, "width_high": 5,
    "wall_low": 2, "wall_high": 2, "zone_low": 1, "zone_high": 1, "materials_low": 1,
    "materials_high": 1, "spare_boxes_low": 48, "spare_boxes_high": 48, "look_limit": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "boxes"),
    [(LARGEST, 84), (WIDEST, 96), (SMALLEST, 2)],
    ids=["large", "wide", "small"],
)
def test_rooms_at_the_limits_of_all_parameters_are_played(
    make_simulator, parameters: dict[str, object], boxes: int
) -> None:
    """In the smallest room 8 agents and one spare box fill the nine cells."""
    options = {**TINY, **SHORT, "episode_seconds": 2, **parameters}
    simulator = make_simulator(GAME, 4, strict=True, **options)
    simulator.reset(seed=1)
    assert (simulator.get("crates.count") == boxes).all()
    check_random_play(simulator)


def test_level_with_too_many_pieces_is_reported_with_its_table_and_stays_playable(
    make_simulator,
) -> None:
    layout = LATTICE + "; zone 1 1 1 2 2 1; box 1 1 1; agent 1.5 2.5 1 yaw 3.14"
    room = Room(make_simulator, layout)
    check_lost_pieces_are_reported(room, 24)
    room.act("i")
    room.act("i")
    assert room.total[0, 0] == pytest.approx(0.1)
    assert room.height == 1
    room.act("fj", 30)
    assert np.isfinite(room.last.state).all()
    room.simulator.reset()
    room.simulator.check()
    check_strict_step_reports_lost_pieces(make_simulator, GAME, layout)


# ---- columns that are set to anything

FAR = 1 << 20
HOSTILE = [
    {"marks.low": -FAR, "marks.high": FAR},
    {"marks.low": FAR, "marks.high": -FAR},
    {"marks.kind": 0},
    {"crates.cell": FAR},
    {"crates.cell": -FAR},
    {"crates.cell": 5},  # all in one cell
    {"crates.carrier": 1},  # whose hands are empty
    {"agents.carries": 2},  # a box that stands, in the hands of all
    {"agents.carries": 3, "crates.carrier": 0},
    {"agents.home": FAR},
    {"agents.home": -FAR, "agents.position": -30.0},
    {"agents.position": 3e30},
    {"agents.position": -3e30, "agents.velocity": 3e30},
    {"agents.yaw": 1e30, "agents.pitch": -1e30},
    {"site.worth": 1 << 28, "site.highest": 1 << 22},
    {"site.worth": -(1 << 28)},
    {"site.passed": 0x7FFFFFFF, "site.length": 0},
    {"site.length": 0x7FFFFFFF, "site.passed": 0},
    {"statics.low": -3e30, "statics.high": 3e30},
    {"statics.high": -3e30},
    {"agents.picked": 1, "agents.visited": 1},
    {"marks.low": -FAR, "marks.high": FAR, "crates.cell": FAR, "site.worth": -(1 << 28)},
]


TEAM = (
    GROUND
    + "zone 4 4 1 9 9 1; "
    + "".join(f"box {x} 4 1; " for x in range(4, 9))
    + "agent 5.5 3.5 1; agent 6.5 3.5 1; seconds 3"
)
test_columns_of_one_world_that_are_set_to_anything_reach_no_other = hostile_columns_test(
    GAME, HOSTILE, TEAM, head=5
)


OUT_OF_RANGE = [
    ("site.worth", (1 << 28) + 1), ("site.highest", -1), ("agents.picked", 2),
    ("agents.visited", -1), ("agents.carries", 96), ("crates.carrier", 8), ("marks.kind", 3),
    ("crates.cell", FAR + 1), ("marks.low", -FAR - 1), ("site.passed", -1),
]  # fmt: skip
test_values_out_of_range_are_refused_and_set_nothing = refused_values_test(GAME, OUT_OF_RANGE)
