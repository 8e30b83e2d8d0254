"""HexExplore and HexMemory: drawn levels by their statistics, and room in tables.

The other side of a statistic is counted out here from the numbers of Megaverse's source; spanning
trees are held to a second Kruskal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hex_mazes import (
    BESIDE,
    BOTH,
    EXPLORE,
    INNER,
    MEMORY,
    MIDDLES,
    NONE,
    NUMBERS,
    SIDE,
    WAYS,
    Mazes,
    cell_count,
    cells_at,
    cells_within,
    number_of,
)
from voxel_games import check_random_play, check_seeds_and_episodes_differ, most_rows
from voxel_worlds import TINY, Array, Make, check_mean, check_shares, check_uniform

from gpu_envs import Simulator

WORLDS = 2500
TABLE = {  # side: cells, outer edges, inner edges, opened by the tree
    2: (7, 18, 12, 6),
    3: (19, 30, 42, 18),
    4: (37, 42, 90, 36),
    5: (61, 54, 156, 60),
    6: (91, 66, 240, 90),
    7: (127, 78, 342, 126),
}
SIDES = range(2, 8)
CENTRE = number_of(0, 0)
FLOORS = {
    **dict.fromkeys((0xFFFFFF, 0xFFFFE6, 0xCCFFCC, 0xE6ECFF, 0xD9D9D9, 0xFFEBCC), 1.0),
    0xB3B3B3: 4.0,
    0x555555: 4.0,
}
ANY_COLOURS = 22
FORMS, OBJECT_COLOURS = 3, 14


def made(make: Make, game: str, worlds: int = WORLDS, seed: int = 1, **options: Any) -> Simulator:
    """Drawn levels, without pictures."""
    simulator = make(game, worlds, resolution="1x1", outputs=[], **options)
    simulator.reset(seed=seed)
    simulator.check()
    return simulator


def of_side(side: int, thinned: float | None = None) -> dict[str, float]:
    options: dict[str, float] = {"side_low": side, "side_high": side}
    if thinned is not None:
        options |= {"thinned_low": thinned, "thinned_high": thinned}
    return options


# ---- walls


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("side", SIDES)
def test_mazes_have_the_cells_and_edges_of_the_table(make_simulator, game: str, side: int) -> None:
    cells, outer, inner, tree = TABLE[side]
    mazes = Mazes(made(make_simulator, game, 100, **of_side(side, 0.0)))
    assert (mazes.within.sum(axis=1) == cells).all() and cell_count(side) == cells
    edges = mazes.is_inner.sum(axis=(1, 2)) // 2
    assert (edges == inner).all()
    rim = mazes.within[:, :, np.newaxis] & ~mazes.is_inner
    assert (rim.sum(axis=(1, 2)) == outer).all() and outer == 6 * (2 * side - 1)
    assert (mazes.walls[rim] == 1).all()
    # The tree alone is open, and no wall stands twice, or outside.
    assert mazes.walls.max() == 1
    assert (mazes.wall_count == outer + inner - tree).all()
    on_edges = (mazes.walls * mazes.is_inner).sum(axis=(1, 2)) // 2
    assert (on_edges == inner - tree).all()


@pytest.mark.parametrize("game", BOTH)
def test_every_cell_of_every_maze_is_reached(make_simulator, game: str) -> None:
    for seed in (1, 2):
        mazes = Mazes(made(make_simulator, game, seed=seed))
        assert (mazes.reached(np.full(WORLDS, CENTRE)) == mazes.within).all()
        assert mazes.walls.max() == 1
        rim = mazes.within[:, :, np.newaxis] & ~mazes.is_inner
        assert (mazes.walls[rim] == 1).all()
        on_edges = (mazes.walls * mazes.is_inner).sum(axis=(1, 2)) // 2
        assert (on_edges + rim.sum(axis=(1, 2)) == mazes.wall_count).all()


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("thinned", [0.0, 0.4, 0.95, 1.0])
def test_walls_beside_the_tree_survive_with_one_less_the_square(
    make_simulator, game: str, thinned: float
) -> None:
    mazes = Mazes(made(make_simulator, game, 500, **of_side(7, thinned)))
    _, outer, inner, tree = TABLE[7]
    left = (mazes.wall_count - outer) / (inner - tree)
    wanted = 1 - thinned**2
    assert left.mean() == pytest.approx(wanted, abs=0.01)
    if thinned in (0.0, 1.0):
        assert (left == wanted).all()
    else:  # walls go one by one
        spread = math.sqrt(wanted * (1 - wanted) / (inner - tree))
        assert left.std() == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize(("game", "low", "high"), [(EXPLORE, 0.1, 0.4), (MEMORY, 0.1, 0.95)])
def test_thinning_is_drawn_by_episode_from_the_range_of_the_game(
    make_simulator, game: str, low: float, high: float
) -> None:
    mazes = Mazes(made(make_simulator, game, **of_side(7)))
    _, outer, inner, tree = TABLE[7]
    gone = 1 - (mazes.wall_count - outer) / (inner - tree)
    thinned = np.sqrt(gone)
    check_mean(gone, (high**3 - low**3) / (3 * (high - low)), float(gone.std()))
    # Quartiles of a uniform draw, and a little that walls add.
    quartiles = low + (high - low) * np.array([0.25, 0.5, 0.75])
    assert np.quantile(thinned, [0.25, 0.5, 0.75]) == pytest.approx(quartiles, abs=0.03)


def kruskal(random: np.random.Generator, side: int) -> Array:
    """Whether an edge is open in a spanning tree, (cells, ways)."""
    within = cells_within(side)[0]
    edges = [
        (cell, way)
        for cell in np.flatnonzero(within)
        for way in range(3)
        if BESIDE[cell, way] != NONE and within[BESIDE[cell, way]]
    ]
    group = np.arange(NUMBERS)
    is_open = np.zeros((NUMBERS, WAYS), bool)
    for k in random.permutation(len(edges)):
        cell, way = edges[k]
        other = BESIDE[cell, way]
        if group[cell] != group[other]:
            group[group == group[other]] = group[cell]
            is_open[cell, way] = is_open[other, way + 3] = True
    return is_open


def facts_of_trees(is_open: Array) -> Array:
    """Dead ends, forks, straight passages and exits of the middle cell, by tree."""
    degree = is_open.sum(axis=2)
    straight = is_open[:, :, :3] & is_open[:, :, 3:] & (degree == 2)[..., np.newaxis]
    counts = [(degree == 1).sum(axis=1), (degree >= 3).sum(axis=1), straight.sum(axis=(1, 2))]
    return np.stack([*counts, degree[:, CENTRE]], axis=1)


def test_trees_are_those_of_a_kruskal_on_edges_in_random_order(make_simulator) -> None:
    mazes = Mazes(made(make_simulator, EXPLORE, **of_side(4, 0.0)))
    is_open = mazes.is_inner & (mazes.walls == 0)
    random = np.random.default_rng(1)
    ours = facts_of_trees(is_open)
    other = facts_of_trees(np.stack([kruskal(random, 4) for _ in range(500)]))
    error = np.sqrt(ours.var(axis=0) / len(ours) + other.var(axis=0) / len(other))
    assert (np.abs(ours.mean(axis=0) - other.mean(axis=0)) < 5 * error).all()
    # No way is preferred: the maze looks the same from all six sides.
    by_way = is_open.sum(axis=1)
    deviation = float(by_way.std())
    for way in range(WAYS):
        check_mean(by_way[:, way], 6 * 2, deviation)
    # Nor is any cell of one ring.
    corners = [number_of(3 * u, 3 * v) for u, v in ((0, 1), (1, 0), (1, -1), (0, -1))]
    degrees = is_open.sum(axis=2)[:, corners]
    for k in range(len(corners)):
        check_mean(degrees[:, k], float(degrees.mean()), float(degrees.std()))


# ---- landmarks, colours, sizes


@pytest.mark.parametrize("game", BOTH)
def test_share_of_walls_with_landmarks_is_drawn_by_episode(make_simulator, game: str) -> None:
    simulator = made(make_simulator, game, **of_side(7, 0.0))
    patched = (simulator.get("walls.patch_colours") > 0).any(axis=2)
    share = patched.mean(axis=1)
    assert patched.shape[1] == 294
    check_mean(share, 0.225, float(share.std()))
    # A uniform draw from 0.15 to 0.3, and walls one by one.
    spread = math.sqrt(0.15**2 / 12 + 0.225 * 0.775 / 294)
    assert share.std() == pytest.approx(spread, rel=0.06)
    within = np.quantile(share, [0.05, 0.95])
    assert 0.14 < within[0] < 0.17 and 0.28 < within[1] < 0.31


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_walls_have_landmarks_with_the_probability_that_is_set(
    make_simulator, game: str, share: float
) -> None:
    options = {"landmark_low": share, "landmark_high": share}
    simulator = made(make_simulator, game, 500, **of_side(7, 0.0), **options)
    patched = (simulator.get("walls.patch_colours") > 0).any(axis=2)
    assert patched.mean() == pytest.approx(share, abs=0.01)
    assert share not in (0.0, 1.0) or patched.mean() == share


def test_patches_are_two_to_four_of_any_colour_and_depth(make_simulator) -> None:
    simulator = made(make_simulator, EXPLORE, 1000)
    mazes = Mazes(simulator)
    colours = simulator.get("walls.patch_colours").astype(int)[mazes.there]
    depths = simulator.get("walls.patch_depths").astype(int)[mazes.there]
    count = (colours > 0).sum(axis=1)
    assert ((colours > 0) == (np.arange(4) < count[:, np.newaxis])).all()  # the first ones
    check_uniform(count[count > 0], (2, 3, 4))
    check_uniform(colours[colours > 0], range(1, ANY_COLOURS + 1))
    check_uniform(depths[colours > 0], range(256))
    assert not depths[colours == 0].any()


@pytest.mark.parametrize("game", BOTH)
def test_sides_heights_and_colours_have_the_weights_of_the_reference(
    make_simulator, game: str
) -> None:
    simulator = made(make_simulator, game)
    mazes = Mazes(simulator)
    check_uniform(mazes.side, SIDES)
    assert 1.7 <= mazes.height.min() < 1.71 and 2.79 < mazes.height.max() < 2.8
    check_mean(mazes.height, 2.25, 1.1 / math.sqrt(12))
    check_uniform(np.floor((mazes.height - 1.7) / 0.11).astype(int).clip(0, 9), range(10))
    for side in SIDES:  # heights do not follow sides
        check_mean(mazes.height[mazes.side == side], 2.25, 1.1 / math.sqrt(12))
    floors = simulator.get("task.floor_colour")[:, 0]
    check_shares(floors, FLOORS)
    skirts = simulator.get("task.skirt_colour")[:, 0]
    assert len(np.unique(skirts)) == ANY_COLOURS
    check_uniform(skirts, np.unique(skirts).tolist())


@pytest.mark.parametrize("game", BOTH)
def test_floor_is_twice_as_large_as_the_maze(make_simulator, game: str) -> None:
    simulator = made(make_simulator, game, 100)
    side = simulator.get("task.side")[:, 0]
    low, high = (simulator.get(f"statics.{end}")[:, 0] for end in ("low", "high"))
    half = np.stack([SIDE * math.sqrt(3) * (2 * side - 1), SIDE * (3 * side - 1)], axis=1)
    assert np.allclose(high[:, :2], half) and np.allclose(low[:, :2], -half)
    assert not high[:, 2].any() and (low[:, 2] < 0).all()
    colours = simulator.get("statics.colour")[:, 0]
    assert (colours == simulator.get("task.floor_colour")[:, 0]).all()
    assert (simulator.get("statics.count") == 1).all()


@pytest.mark.parametrize("game", BOTH)
def test_ranges_that_are_set_are_kept(make_simulator, game: str) -> None:
    ranges = {"side_low": 3, "side_high": 5, "wall_low": 1.6, "wall_high": 5.0}
    mazes = Mazes(made(make_simulator, game, 500, **ranges))
    check_uniform(mazes.side, (3, 4, 5))
    assert 1.6 <= mazes.height.min() < 1.65 and 4.95 < mazes.height.max() < 5.0


@pytest.mark.parametrize("game", BOTH)
def test_seeds_and_episodes_differ(make_simulator, game: str) -> None:
    check_seeds_and_episodes_differ(make_simulator, game)
    simulator = made(make_simulator, game, 500, **of_side(4))
    mazes = Mazes(simulator)
    assert len({walls.tobytes() for walls in mazes.walls}) == 500


def test_numbers_of_walls_are_those_of_the_reference(make_simulator) -> None:
    simulator = made(make_simulator, EXPLORE)
    mazes = Mazes(simulator)
    patches = (simulator.get("walls.patch_colours") > 0).sum(axis=2)
    pieces = (mazes.there * (2 + patches)).sum(axis=1) + 3
    assert mazes.wall_count.mean() == pytest.approx(132, abs=6)
    assert pieces.mean() == pytest.approx(360, rel=0.05)
    assert np.quantile(pieces, 0.95) == pytest.approx(780, rel=0.06)
    assert mazes.wall_count.max() <= 294 and pieces.max() <= 950


# ---- HexExplore: where agents and the diamond are


class Starts:
    """The diamond's cell, and the cell around whose middle agents begin."""

    def __init__(self, simulator: Simulator) -> None:
        agents = simulator.agents_per_world
        self.mazes = Mazes(simulator)
        self.target = simulator.get("task.target")[:, 0]
        self.at = simulator.get("agents.position")[:, :agents].astype(float)
        self.yaw = simulator.get("agents.yaw")[:, :agents]
        first = self.at[:, 0, :2] - (0.5, 1.5)
        away = np.linalg.norm(MIDDLES - first[:, np.newaxis], axis=2)
        self.cell = away.argmin(axis=1)
        assert away.min(axis=1).max() < 1e-4
        # From the diamond to each cell; 0 out of the maze.
        far = np.linalg.norm(MIDDLES - MIDDLES[self.target][:, np.newaxis], axis=2)
        self.distances = np.where(self.mazes.within, far, 0)


def test_agents_begin_farther_than_the_side_from_the_diamond_where_they_can(make_simulator) -> None:
    starts = Starts(made(make_simulator, EXPLORE))
    worlds = np.arange(WORLDS)
    assert starts.mazes.within[worlds, starts.target].all()
    assert starts.mazes.within[worlds, starts.cell].all()
    chosen = starts.distances[worlds, starts.cell]
    enough = SIDE * starts.mazes.side
    can = starts.distances.max(axis=1) > enough
    assert (chosen[can] > enough[can]).all()
    assert chosen[~can] == pytest.approx(starts.distances.max(axis=1)[~can], abs=1e-4)
    assert 0 < (~can).sum() < WORLDS / 2
    # Any cell that is far enough is as likely as another.
    far = starts.distances > enough[:, np.newaxis]
    rank = (np.cumsum(far, axis=1)[worlds, starts.cell] - 0.5) / far.sum(axis=1).clip(1)
    check_mean(rank[can], 0.5, 1 / math.sqrt(12))
    check_uniform(np.floor(rank[can & (far.sum(axis=1) > 30)] * 5).astype(int), range(5))


@pytest.mark.parametrize("side", [2, 4])
def test_diamond_is_in_any_cell(make_simulator, side: int) -> None:
    starts = Starts(made(make_simulator, EXPLORE, **of_side(side)))
    check_uniform(starts.target, np.flatnonzero(cells_within(side)[0]))


@pytest.mark.parametrize("agents", [1, 2, 3, 4, 8])
def test_agents_of_hex_explore_begin_on_a_circle_of_a_metre(make_simulator, agents: int) -> None:
    starts = Starts(made(make_simulator, EXPLORE, 500, agent_count=agents))
    angle = 2 * math.pi * np.arange(agents) / agents
    circle = 0.5 + np.stack([np.sin(angle), np.cos(angle)], axis=1)
    at = MIDDLES[starts.cell][:, np.newaxis] + circle
    assert np.abs(starts.at[..., :2] - at).max() < 1e-4
    assert starts.at[..., 2] == pytest.approx(1.85)
    check_mean(starts.yaw.ravel(), 0, 2 * math.pi / math.sqrt(12))
    turns = np.floor((starts.yaw / (2 * math.pi) + 0.5) * 12).astype(int)
    check_uniform(turns.ravel().clip(0, 11), range(12))


# ---- HexMemory: looks, things, agents


class Things:
    """The things of drawn levels, and what matches."""

    def __init__(self, simulator: Simulator) -> None:
        get = simulator.get
        self.mazes = Mazes(simulator)
        self.count = get("things.count")[:, 0].astype(int)
        self.there = np.arange(get("things.good").shape[1]) < self.count[:, np.newaxis]
        self.at, self.is_good = get("things.at").astype(float), get("things.good") == 1
        self.good = (self.is_good & self.there).sum(axis=1)
        self.cell = cells_at(self.at)
        self.looks = [
            get(f"task.{kind}_form")[:, 0] * OBJECT_COLOURS + get(f"task.{kind}_colour")[:, 0]
            for kind in ("good", "bad")
        ]


def test_what_matches_and_what_does_not_always_look_different(make_simulator) -> None:
    good, bad = (np.concatenate(rows) for rows in zip(
        *(Things(made(make_simulator, MEMORY, 2000, seed=k)).looks for k in (1, 2, 3)),
        strict=True,
    ))  # fmt: skip
    assert (good != bad).all()
    looks = FORMS * OBJECT_COLOURS
    check_uniform(good, range(looks))
    check_uniform(bad, range(looks))
    check_uniform((bad - good) % looks, range(1, looks))
    same_form = good // OBJECT_COLOURS == bad // OBJECT_COLOURS
    same_colour = good % OBJECT_COLOURS == bad % OBJECT_COLOURS
    check_mean(same_form, 13 / 41, math.sqrt(13 * 28) / 41)
    check_mean(same_colour, 2 / 41, math.sqrt(2 * 39) / 41)
    # Each of 1,722 pairs is drawn 3.5 times on average: few are missing, by Poisson.
    pairs = len(np.unique(good * looks + bad))
    assert pairs == pytest.approx(1722 * (1 - math.exp(-6000 / 1722)), abs=40)


def test_as_many_things_match_as_do_not_each_in_a_cell_of_its_own(make_simulator) -> None:
    things = Things(made(make_simulator, MEMORY))
    others = cell_count(things.mazes.side) - 1
    assert (things.count == 2 * things.good).all()
    for low, share in ((True, 0.2), (False, 0.45)):
        bound = np.ceil(share * others - 1e-6).astype(int)
        assert ((things.good >= bound) if low else (things.good <= bound)).all()
    large = things.mazes.side == 7
    assert {26, 57} <= set(things.good[large].tolist())
    check_mean((things.good[large] - 0.5) / 126, 0.325, 0.25 / math.sqrt(12))
    assert things.good.mean() == pytest.approx(19, abs=1) and things.good.max() == 57
    assert (things.cell[things.there] != CENTRE).all()
    for world in range(WORLDS):
        cells = things.cell[world, things.there[world]]
        assert len(np.unique(cells)) == len(cells)
        assert things.mazes.within[world, cells].all()


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5])
def test_share_of_things_that_is_set_is_rounded_up(make_simulator, share: float) -> None:
    simulator = made(make_simulator, MEMORY, 200, thing_low=share, thing_high=share)
    things = Things(simulator)
    others = cell_count(things.mazes.side) - 1
    assert (things.good == np.ceil(np.float32(share) * others.astype(np.float32))).all()
    assert (simulator.get("task.good_left")[:, 0] == things.good).all()
    assert (simulator.get("task.thing_count")[:, 0] == things.count).all()


def test_things_lie_anywhere_around_the_middle_of_any_cell(make_simulator) -> None:
    things = Things(made(make_simulator, MEMORY, **of_side(3)))
    off = (things.at - MIDDLES[things.cell])[things.there] / SIDE
    assert np.abs(off).max() < 0.5 + 1e-5
    for axis in (0, 1):
        check_mean(off[:, axis], 0, 1 / math.sqrt(12))
        check_uniform(np.floor((off[:, axis] + 0.5) * 8).astype(int).clip(0, 7), range(8))
    cells = np.flatnonzero(cells_within(3)[0]).tolist()
    cells.remove(CENTRE)
    for kind in (things.is_good, ~things.is_good):
        check_uniform(things.cell[things.there & kind], cells)
    first = things.cell[:, 0]
    check_uniform(first, cells)


def test_episodes_of_hex_memory_have_the_steps_of_their_things(make_simulator) -> None:
    simulator = made(make_simulator, MEMORY)
    length = simulator.get("task.length")[:, 0]
    assert (length == 15 * (60 + 3 * simulator.get("task.good_left")[:, 0])).all()
    assert np.percentile(length, [5, 50, 95]) == pytest.approx([990, 1575, 3060], rel=0.1)
    assert length.max() == 3465


@pytest.mark.parametrize("agents", [1, 2, 3, 4, 8])
def test_agents_of_hex_memory_begin_around_what_they_look_at(make_simulator, agents: int) -> None:
    simulator = made(make_simulator, MEMORY, 50, agent_count=agents)
    at = simulator.get("agents.position")[:, :agents].astype(float)
    angle = 2 * math.pi * np.arange(agents) / agents
    circle = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    assert np.abs(at[..., :2] - (0.5 + 1.5 * circle)).max() < 1e-5
    assert at[..., 2] == pytest.approx(2.2)
    yaw = simulator.get("agents.yaw")[:, :agents]
    ahead = np.stack([-np.sin(yaw), np.cos(yaw)], axis=-1)
    assert np.abs(ahead + circle).max() < 1e-5
    assert not simulator.get("agents.pitch")[:, :agents].any()


# ---- room in tables


@pytest.mark.parametrize("game", BOTH)
def test_six_thousand_resets_need_no_more_room_than_there_is(make_simulator, game: str) -> None:
    tables = ["walls"] if game == EXPLORE else ["walls", "things"]
    most = most_rows(make_simulator, game, 2000, 3, tables, agent_count=2)
    assert 270 < most[0] <= 294
    assert game == EXPLORE or most[1] == 114


@pytest.mark.slow
@pytest.mark.parametrize("game", BOTH)
def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator, game: str) -> None:
    assert most_rows(make_simulator, game, 2000, 50, ["walls"])[0] <= 294


LARGEST = {
    "agent_count": 8, **of_side(7, 0.0), "landmark_low": 1, "landmark_high": 1, "wall_low": 5,
    "wall_high": 5, "look_limit": 1.5,
}  # fmt: skip
SMALLEST = {
    "agent_count": 8, **of_side(2, 1.0), "landmark_low": 0, "landmark_high": 0, "wall_low": 1.6,
    "wall_high": 1.6, "look_limit": 0,
}  # fmt: skip


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("parameters", [LARGEST, SMALLEST], ids=["large", "small"])
def test_maze_at_the_limits_of_all_parameters_is_played(
    make_simulator, game: str, parameters: dict[str, Any]
) -> None:
    options = {**TINY, "episode_seconds": 2, **parameters}
    if game == MEMORY:
        share = 0.5 if parameters is LARGEST else 0.01
        options |= {"thing_low": share, "thing_high": share, "thing_seconds": 0}
    simulator = make_simulator(game, 4, strict=True, **options)
    simulator.reset(seed=1)
    wanted = 294 if parameters is LARGEST else 18
    assert (simulator.get("walls.count") == wanted).all()
    if game == MEMORY:
        assert (simulator.get("things.count") == (126 if parameters is LARGEST else 2)).all()
    check_random_play(simulator)


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_soon_stand_on_the_floor(make_simulator, game: str, agents: int) -> None:
    simulator = make_simulator(game, 100, agent_count=agents, **TINY)
    simulator.reset(seed=agents)
    begin = simulator.get("agents.position")[:, :agents]
    for _ in range(15):
        simulator.step(np.zeros((100, agents, 6), int))
    at = simulator.get("agents.position")[:, :agents]
    assert simulator.get("agents.grounded")[:, :agents].all()
    assert at[..., 2] == pytest.approx(0.855, abs=1e-3)
    assert at[..., :2] == pytest.approx(begin[..., :2], abs=1e-5)
    assert INNER > 1.5 + math.hypot(0.5, 0.5) + 0.48  # no start is inside of a wall
