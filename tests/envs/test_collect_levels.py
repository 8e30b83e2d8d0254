"""Collect: drawn land by its statistics, room in tables, columns that are set to anything.

The other side of a statistic is counted out here from the numbers of Megaverse's source. Hills are
held to a second noise, in 64 bits and with a permutation of its own.
"""

from __future__ import annotations

import numpy as np
import pytest
from collect_lands import GAME, GREEN, GROUND, RED, SHORT, SIDE, Land, heights_of
from voxel_games import (
    LATTICE,
    check_lost_pieces_are_reported,
    check_random_play,
    check_seeds_and_episodes_differ,
    hostile_columns_test,
    most_rows,
    refused_values_test,
)
from voxel_worlds import (
    TINY,
    Array,
    Make,
    check_mean,
    check_shares,
    check_uniform,
)

WORLDS = 2000
GREY, DARK_GREY = 0xB3B3B3, 0x555555
HILLS = (0xFFFFFF, 0xCCFFCC, 0xE6ECFF, 0xD9D9D9, 0xFFEBCC, GREY, DARK_GREY)


class Lands:
    """What a batch of drawn levels says of itself."""

    def __init__(self, make: Make, worlds: int = WORLDS, seed: int = 1, **options: object) -> None:
        self.simulator = make(GAME, worlds, resolution="1x1", outputs=[], **options)
        self.simulator.reset(seed=seed)
        get = self.simulator.get
        self.sides = np.concatenate([get("land.side_x"), get("land.side_y")], axis=1)
        self.cells = self.sides.prod(axis=1)
        self.heights = heights_of(self.simulator)
        self.diamonds, self.boxes = get("diamonds.count")[:, 0], get("crates.count")[:, 0]
        self.there = np.arange(96) < get("diamonds.count")
        self.green = (get("diamonds.colour") == GREEN) & self.there


# ---- the second noise


def gradient(hashes: Array, x: Array, y: Array) -> Array:
    """One of the 12 gradients of Perlin's noise of 2002, at z = 0."""
    h = hashes & 15
    u = np.where(h < 8, x, y)
    v = np.where(h < 4, y, np.where((h == 12) | (h == 14), x, 0.0))
    return np.where(h & 1, -u, u) + np.where(h & 2, -v, v)


def noise(numbers: Array, x: Array, y: Array) -> Array:
    """From -1 to 1; `numbers` is a permutation of 256, twice."""
    i, j = np.floor(x).astype(int) & 255, np.floor(y).astype(int) & 255
    x, y = x - np.floor(x), y - np.floor(y)
    u, v = (t**3 * (t * (t * 6 - 15) + 10) for t in (x, y))
    a, b = numbers[i] + j, numbers[i + 1] + j
    corners = [
        gradient(numbers[numbers[at]], x - dx, y - dy)
        for at, dx, dy in ((a, 0, 0), (b, 1, 0), (a + 1, 0, 1), (b + 1, 1, 1))
    ]
    near, far = (corners[k] + u * (corners[k + 1] - corners[k]) for k in (0, 2))
    return np.asarray(near + v * (far - near))


def land_of_the_reference(random: np.random.Generator, **chosen: float) -> Array:
    """Heights of one drawn land, (length, width); of chosen numbers, or all drawn."""
    width, length = random.integers(8, 42, 2)
    frequency, octaves = random.integers(1, 100) / 10, random.integers(1, 10)
    intensity, ground = random.integers(5, 18), 0.2 + 0.5 * random.random()
    if chosen:
        width = length = SIDE
        frequency, octaves = chosen["frequency"], int(chosen["octaves"])
        intensity, ground = chosen["relief"], chosen["ground"]
    numbers = np.concatenate([random.permutation(256)] * 2 + [[0]])
    numbers[512] = numbers[0]
    x, y = np.meshgrid(np.arange(length), np.arange(width), indexing="ij")
    total = sum(
        noise(numbers, 2.0**k * x * frequency / 42, 2.0**k * y * frequency / 42) / 2**k
        for k in range(octaves)
    )
    height = intensity * (np.clip(0.5 + 0.5 * np.asarray(total), 0, 1) - ground)
    height = np.where(height >= 1, np.floor(height + 0.5), 0)
    height[[0, -1]] = 0
    height[:, [0, -1]] = 0
    return np.asarray(height.astype(int))


# ---- statistics


def test_sides_are_uniform_and_the_border_is_flat(make_simulator) -> None:
    lands = Lands(make_simulator)
    for axis in (0, 1):
        check_uniform(lands.sides[:, axis], range(8, 42))
    x, y = np.arange(SIDE)[:, None], np.arange(SIDE)
    length, width = lands.sides[:, 0, None, None], lands.sides[:, 1, None, None]
    inner = (x >= 1) & (x < length - 1) & (y >= 1) & (y < width - 1)
    assert not lands.heights[~inner].any()
    low, high = (lands.simulator.get(f"statics.{end}")[:, 0] for end in ("low", "high"))
    assert not low.any() and (high[:, :2] == lands.sides).all() and (high[:, 2] == 1).all()
    assert (lands.simulator.get("statics.count") == 1).all()


FACTS = (
    lambda h: h.sum(),  # cells
    lambda h: (h > 0).mean(),
    lambda h: h.max(),
    lambda h: h.std(),
    lambda h: np.abs(np.diff(h, axis=0)).mean(),  # how rough
    lambda h: np.abs(np.diff(h, axis=1)).mean(),
    lambda h: (h == 1).mean(),
)


def check_alike(ours: list[Array], other: list[Array]) -> None:
    """Check facts of lands by their means and quantiles, at five standard deviations."""
    for fact in FACTS:
        found, wanted = (np.array([fact(h) for h in lands]) for lands in (ours, other))
        error = np.sqrt(found.var() / len(found) + wanted.var() / len(wanted))
        assert abs(found.mean() - wanted.mean()) <= 5 * error
        for share in (0.25, 0.5, 0.75, 0.95):
            below = (found <= np.quantile(wanted, share)).mean()
            exact = (wanted <= np.quantile(wanted, share)).mean()
            assert abs(below - exact) < 5 * np.sqrt(0.25 / len(found) + 0.25 / len(wanted))


def test_hills_are_as_high_and_as_many_as_those_of_the_reference(make_simulator) -> None:
    lands = Lands(make_simulator)
    assert lands.heights.max() <= 14
    random = np.random.default_rng(3)
    ours = [h[:x, :y] for h, (x, y) in zip(lands.heights, lands.sides, strict=True)]
    check_alike(ours, [land_of_the_reference(random) for _ in range(500)])
    # Cells with those of the floor: a mean that another generator had.
    assert np.mean([h.sum() + h.size for h in ours]) == pytest.approx(1228, rel=0.12)


@pytest.mark.parametrize(("frequency", "octaves"), [(3.0, 1), (6.0, 5)])
def test_hills_of_chosen_numbers_are_those_of_the_reference(
    make_simulator, frequency: float, octaves: int
) -> None:
    """Narrow distributions: a weight or a fade that is a little off would show."""
    chosen = {"frequency": frequency, "octaves": octaves, "relief": 17, "ground": 0.4}
    both = {f"{key}_{end}": value for key, value in chosen.items() for end in ("low", "high")}
    lands = Lands(make_simulator, 1000, side_low=SIDE, **both)
    random = np.random.default_rng(4)
    check_alike(list(lands.heights), [land_of_the_reference(random, **chosen) for _ in range(250)])


def test_numbers_of_diamonds_and_boxes_are_those_of_the_reference(make_simulator) -> None:
    lands = Lands(make_simulator)
    most = np.floor(0.05 * lands.cells + 0.5 + 1e-9).astype(int) + 1
    assert (lands.diamonds >= 1).all() and (lands.diamonds <= most).all()
    assert lands.diamonds.mean() == pytest.approx(15, abs=1)
    share = (lands.diamonds - 0.5) / most
    check_mean(share, 0.5, np.sqrt(1 / 12))
    assert (lands.diamonds == most).any() and (lands.diamonds == 1).any()
    assert (lands.boxes == np.maximum(3, lands.cells // 25)).all()
    assert lands.boxes.mean() == pytest.approx(24, abs=1)
    assert lands.boxes.max() <= 67 and lands.diamonds.max() <= 85
    assert (lands.simulator.get("land.good_left")[:, 0] == lands.green.sum(axis=1)).all()
    # Steps of an episode: 60 s and 2 s a diamond.
    steps = np.percentile(lands.simulator.get("land.length"), [5, 50, 95])
    assert steps == pytest.approx([945, 1260, 2190], rel=0.06)


def test_diamonds_are_green_with_their_probability_and_one_always_is(make_simulator) -> None:
    lands = Lands(make_simulator)
    green = lands.green.sum(axis=1)
    assert (green >= 1).all()
    colours = lands.simulator.get("diamonds.colour")[lands.there]
    assert set(np.unique(colours)) == {GREEN, RED}
    many = lands.diamonds > 5  # colours of few are drawn again where none is green
    total = int(lands.diamonds[many].sum())
    assert green[many].sum() / total == pytest.approx(0.7, abs=0.01)
    for share in (0, 1):
        some = Lands(make_simulator, 300, good_share=share)
        assert (some.green.sum(axis=1) == (1 if share == 0 else some.diamonds)).all()


def test_half_of_the_diamonds_lie_on_the_highest_places_left(make_simulator) -> None:
    lands = Lands(make_simulator, 300, agent_count=2)
    get = lands.simulator.get
    homes, cells = get("agents.home"), get("diamonds.cell")
    raised = 0
    for world in range(300):
        count = int(lands.diamonds[world])
        anywhere = max(count // 2, 1)
        at = cells[world, :count]
        height = lands.heights[world]
        assert (at[:, 2] == 1 + height[at[:, 0], at[:, 1]]).all()
        taken = np.concatenate([homes[world, :2, :2], at[:, :2]])
        assert len(np.unique(taken, axis=0)) == len(taken)
        x, y = lands.sides[world]
        free = height[1 : x - 1, 1 : y - 1].astype(float)
        free[tuple(taken.T - 1)] = -1
        highest = at[anywhere:, 2] - 1
        assert len(highest) == 0 or highest.min() >= free.max()
        raised += int(highest.sum())
    assert raised > 1000


def test_everything_begins_in_a_cell_of_its_own_on_its_column(make_simulator) -> None:
    lands = Lands(make_simulator, 500, agent_count=4)
    columns = ("agents.home", "diamonds.cell", "crates.cell")
    homes, diamonds, boxes = (lands.simulator.get(column) for column in columns)
    for world in range(500):
        cells = np.concatenate(
            [
                homes[world, :4],
                diamonds[world, : lands.diamonds[world]],
                boxes[world, : lands.boxes[world]],
            ]
        )
        assert len(np.unique(cells[:, :2], axis=0)) == len(cells)
        assert (cells[:, :2] >= 1).all() and (cells[:, :2] < lands.sides[world] - 1).all()
        assert (cells[:, 2] == 1 + lands.heights[world][cells[:, 0], cells[:, 1]]).all()


def test_places_of_boxes_and_agents_are_uniform(make_simulator) -> None:
    lands = Lands(make_simulator, side_low=10, side_high=10, relief_low=0, relief_high=0)
    inner = range(64)
    homes = lands.simulator.get("agents.home")[:, 0]
    check_uniform((homes[:, 0] - 1) * 8 + homes[:, 1] - 1, inner)
    boxes = lands.simulator.get("crates.cell")[:, :4]
    assert (lands.boxes == 4).all()
    check_uniform(((boxes[..., 0] - 1) * 8 + boxes[..., 1] - 1).ravel(), inner)
    first = lands.simulator.get("diamonds.cell")[:, 0]
    check_uniform((first[:, 0] - 1) * 8 + first[:, 1] - 1, inner)
    check_mean(lands.simulator.get("agents.yaw")[:, 0], 0, 2 * np.pi / np.sqrt(12))


def test_colours_of_hills_and_floors_have_the_weights_of_the_reference(make_simulator) -> None:
    lands = Lands(make_simulator)
    check_uniform(lands.simulator.get("land.hill_colour")[:, 0], HILLS)
    floors = lands.simulator.get("land.floor_colour")[:, 0]
    check_shares(floors, {GREY: 1.0, DARK_GREY: 2.0})
    assert (lands.simulator.get("statics.colour")[:, 0] == floors).all()


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_agents_soon_stand_on_the_land(make_simulator, agents: int) -> None:
    lands = Lands(make_simulator, 200, seed=agents, agent_count=agents)
    simulator = lands.simulator
    homes = simulator.get("agents.home")[:, :agents]
    for _ in range(12):
        simulator.step(np.zeros((200, agents, 6), int))
    at = simulator.get("agents.position")[:, :agents]
    assert simulator.get("agents.grounded")[:, :agents].all()
    assert at[..., :2] == pytest.approx(homes[..., :2] + 0.5, abs=1e-5)
    assert at[..., 2] == pytest.approx(homes[..., 2] + 0.855, abs=1e-3)


def test_seeds_and_episodes_differ(make_simulator) -> None:
    check_seeds_and_episodes_differ(make_simulator, GAME)


# ---- room in tables


def resets(make: Make, worlds: int, times: int) -> None:
    tables = ("diamonds", "crates")
    diamonds, boxes = most_rows(make, GAME, worlds, times, tables, agent_count=2)
    assert 70 < diamonds <= 85 and 60 < boxes <= 67


def test_two_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 1000, 2)


@pytest.mark.slow
def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator) -> None:
    resets(make_simulator, 2000, 50)


LARGEST = {
    "agent_count": 8, "side_low": 41, "frequency_low": 20, "frequency_high": 20, "octaves_low": 9,
    "relief_low": 20, "relief_high": 20, "ground_low": 0, "ground_high": 0, "look_limit": 1.5,
    "box_share": 0.047, "diamond_share": 0.056,
}  # fmt: skip
SMALLEST = {
    "agent_count": 8, "side_low": 5, "side_high": 5, "diamond_share": 1, "box_share": 1,
    "look_limit": 0, "relief_low": 0, "relief_high": 0,
}  # fmt: skip
BARE = {"side_high": 9, "diamond_share": 0, "box_share": 0, "box_count_low": 0, "good_share": 0}


@pytest.mark.parametrize("parameters", [LARGEST, SMALLEST, BARE], ids=["large", "small", "bare"])
def test_land_at_the_limits_of_all_parameters_is_played(
    make_simulator, parameters: dict[str, object]
) -> None:
    """On the smallest land 8 agents and one diamond fill the nine cells: no box has room."""
    options = {**TINY, **SHORT, "episode_seconds": 2, **parameters}
    simulator = make_simulator(GAME, 4, strict=True, **options)
    simulator.reset(seed=1)
    if parameters is SMALLEST:
        assert (simulator.get("diamonds.count") == 1).all()
        assert not simulator.get("crates.count").any()
    if parameters is BARE:
        assert (simulator.get("land.good_left") == 1).all()
        assert not simulator.get("crates.count").any()
    check_random_play(simulator)


def test_level_with_too_many_pieces_is_reported_with_its_table_and_stays_playable(
    make_simulator,
) -> None:
    layout = LATTICE + "; diamond 1 2 1; agent 1.5 1.5 1"
    land = Land(make_simulator, layout, autoreset_mode="Disabled")
    check_lost_pieces_are_reported(land, 24)
    land.act("f", 5)
    assert land.total[0].tolist() == [1, 0, 5, 0]
    assert np.isfinite(land.last.state).all()
    land.simulator.reset()
    land.simulator.check()


# ---- columns that are set to anything

FAR = 1 << 20
HOSTILE = [
    {"columns.height": 255},
    {"hills.height": 255, "hills.low": 0, "hills.high": 255},
    {"hills.low": 255, "hills.high": 0},
    {"crates.cell": FAR},
    {"crates.cell": -FAR},
    {"crates.cell": 5},
    {"crates.carrier": 1},
    {"agents.carries": 2},
    {"agents.carries": 79},
    {"agents.home": FAR, "agents.position": -30.0},
    {"agents.home": -FAR, "agents.position": -30.0},
    {"agents.position": 3e30},
    {"agents.position": -3e30, "agents.velocity": 3e30},
    {"agents.yaw": 1e30, "agents.pitch": -1e30},
    {"diamonds.cell": FAR},
    {"diamonds.cell": 6, "diamonds.left": 1},
    {"diamonds.colour": 0xFFFFFFFF},
    {"land.good_left": 0},
    {"land.good_left": 96},
    {"land.side_x": 0, "land.side_y": 41, "land.ground": 3e30},
    {"land.passed": 0x7FFFFFFF, "land.length": 0},
    {"land.hill_count": 65536, "land.diamond_count": 65536},
    {"statics.low": -3e30, "statics.high": 3e30},
]


TEAM = (
    GROUND + "hill 9 9 12 12 3; diamond 5 6 1; diamond 6 6 1 red; diamond 15 15 1; "
    "box 5 4 1; box 6 4 1; agent 5.5 3.5 1; agent 6.5 3.5 1; seconds 3"
)
test_columns_of_one_world_that_are_set_to_anything_reach_no_other = hostile_columns_test(
    GAME, HOSTILE, TEAM, head=0
)


OUT_OF_RANGE = [
    ("land.good_left", 97), ("land.side_x", 42), ("land.octaves", -1), ("land.tenths", 201),
    ("diamonds.left", 2), ("diamonds.cell", FAR + 1), ("agents.carries", 80),
    ("crates.carrier", 8), ("land.solved", 2), ("land.hill_count", 65537),
]  # fmt: skip
test_values_out_of_range_are_refused_and_set_nothing = refused_values_test(GAME, OUT_OF_RANGE)
