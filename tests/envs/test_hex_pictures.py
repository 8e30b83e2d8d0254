"""HexExplore and HexMemory: what agents see, and that leaving out walls never changes a picture."""

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
    FAR,
    INNER,
    MEMORY,
    MIDDLES,
    OUTSIDE,
    OUTWARD,
    PILLAR,
    REST,
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
from voxel_pictures import AGENTS, LAYERS, NAVY, is_shaded, layers, rgb_of, solids_of
from voxel_worlds import RADIUS, Array

from gpu_envs import Simulator

CENTRE = number_of(0, 0)
FLOOR = 1  # the first solid
VIOLET, DARK_BLUE = 0xD468EE, 0x3A7FA6
OBJECT_COLOURS = (
    0xFFDD3C, 0x3BB372, 0x50C878, 0x2EB5D0, 0xADD8E6, 0x3A7FA6, 0xFFB400, 0xB3B3B3, 0x555555,
    0xFFFFFF, 0xFF0000, 0xFFA770, 0xD468EE, 0xFFE6E6,
)  # fmt: skip
EYES = 1.315  # height of who stands [m]
SLOPE = math.tan(math.radians(50))  # of a picture's sides


# ---- walls that nobody can see are left out: no pixel may change by it

# Agent 1 stands behind agent 0 and looks away from all that agent 0 sees, so it adds no wall that
# matters. While it looks up steeply, gaze.hpp culls nothing in its world.
STEEP = 1.5  # [rad]

VIEWS: dict[str, tuple[str, dict[str, Any], float, float]] = {  # game, options, pitch, feet
    "dense": (EXPLORE, {"side_low": 7, "resolution": "36x64"}, 0.2, 0.0),
    "sparse": (MEMORY, {"side_low": 7, "thinned_low": 0.95, "resolution": "36x64"}, 0.2, 0.0),
    "wide": (EXPLORE, {"thinned_low": 0.6, "thinned_high": 0.6, "hfov": 140.0}, 0.2, 0.3),
    "wide and sparse": (MEMORY, {"thinned_low": 0.95, "hfov": 140.0}, 0.2, 0.0),
    "steep": (MEMORY, {"thinned_low": 0.5, "resolution": "40x24"}, 0.5, 0.3),
    "narrow": (EXPLORE, {"hfov": 20.0, "thinned_low": 0.3}, 0.2, 0.0),
    "of means": (EXPLORE, {"hfov": 120.0, "supersample": 2}, 0.2, 0.0),
}


def a_place(random: np.random.Generator, mazes: Mazes, world: int) -> tuple[Array, float]:
    """A point where a body may be, often near the end of a wall, and a heading.

    A metre behind it is the maze, too.
    """
    cells = np.flatnonzero(mazes.within[world])
    while True:
        at = MIDDLES[random.choice(cells)] + random.uniform(-SIDE, SIDE, 2)
        if random.random() < 0.5:
            angle = math.radians(60 * random.integers(6) + 30)
            corner = SIDE * np.array([math.cos(angle), math.sin(angle)])
            at = MIDDLES[random.choice(cells)] + corner + random.normal(0, 0.5, 2)
        yaw = random.uniform(-math.pi, math.pi)
        behind = at - np.array([-math.sin(yaw), math.cos(yaw)])
        both = cells_at(np.stack([at, behind]))
        is_free = distance_to_walls(mazes, world, at[np.newaxis]).min() > RADIUS - 0.041
        if is_free and mazes.within[world, both].all():
            return at, yaw


def stand_anywhere(
    simulator: Simulator, random: np.random.Generator, pitch: float, feet: float
) -> None:
    """Put agent 0 of each world anywhere, and agent 1 behind, looking the other way."""
    mazes = Mazes(simulator)
    columns = {name: simulator.get(f"agents.{name}") for name in ("position", "yaw", "pitch")}
    for world in range(simulator.num_worlds):
        at, yaw = a_place(random, mazes, world)
        height = REST + random.uniform(0, feet)
        behind = at - np.array([-math.sin(yaw), math.cos(yaw)])
        columns["position"][world, :2] = (*at, height), (*behind, height)
        columns["yaw"][world, :2] = yaw, math.remainder(yaw + math.pi, 2 * math.pi)
        columns["pitch"][world, 0] = pitch * random.choice([-1, 1, random.uniform(-1, 1)])
    for name, values in columns.items():
        simulator.set(f"agents.{name}", values)


def seen(simulator: Simulator, pitch: float) -> dict[str, Array]:
    """What the first agents see while the second ones have a pitch."""
    pitches = simulator.get("agents.pitch")
    pitches[:, 1] = pitch
    simulator.set("agents.pitch", pitches)
    obs: Any = simulator.observe().obs
    return {name: np.array(layer[:, 0]) for name, layer in obs.items()}


@pytest.mark.parametrize(("game", "options", "pitch", "feet"), VIEWS.values(), ids=VIEWS)
def test_walls_that_are_left_out_change_no_picture(
    make_simulator, game: str, options: dict[str, Any], pitch: float, feet: float
) -> None:
    options = {"resolution": "18x32", "thinned_high": 0.95, **options}
    simulator = make_simulator(
        game, 100, agent_count=2, observation="rgb+depth+segmentation", **options
    )
    random = np.random.default_rng(1)
    left_out = 0
    for _ in range(4):
        simulator.reset(seed=int(random.integers(1 << 30)))
        stand_anywhere(simulator, random, pitch, feet)
        some, every = seen(simulator, 0.0), seen(simulator, STEEP)
        for layer in ("rgb", "depth"):
            assert some[layer].tobytes() == every[layer].tobytes(), layer
        assert some["rgb"].std() > 20
        # Numbers of solids count those that are drawn.
        for few, all_of_them in zip(some["segmentation"], every["segmentation"], strict=True):
            parts = [np.unique(each, return_inverse=True)[1] for each in (few, all_of_them)]
            assert (parts[0] == parts[1]).all()
            left_out += int(few.max() < all_of_them.max())
    assert left_out > 80


# ---- walls, skirtings, patches


def before_a_wall(make: Any, cell: int, way: int, away: float = 2.0, **options: Any) -> Maze:
    """Agent 0 looks at the only wall, from the cell that names it."""
    maze = Maze(make, EXPLORE, resolution="72x128", **LAYERS, **options)
    maze.set_bare()
    maze.set_walls([(cell, way)])
    out = OUTWARD[way]
    maze.place(0, *(MIDDLES[cell] + (INNER - THICK - away) * out), yaw=heading(out))
    return maze


def look(maze: Maze) -> tuple[Array, Array]:
    maze.last = maze.simulator.observe()
    return layers(maze)


def row_of(height: float, away: float) -> float:
    """The row of a picture of 72 x 128 in which a height is seen."""
    return 36 - 64 * (height - EYES) / (away * SLOPE)


@pytest.mark.parametrize("way", range(WAYS))
def test_wall_has_its_height_and_a_skirting(make_simulator, way: int) -> None:
    maze = before_a_wall(make_simulator, CENTRE, way)
    maze.simulator.set("task.skirt_colour", 0xFF0000)
    maze.simulator.set("task.floor_colour", 0xFFFFFF)
    rgb, solids = look(maze)
    wall, skirt = sorted(set(solids.ravel().tolist()))[-2:]
    assert is_shaded(rgb[solids == wall], rgb_of(DARK_BLUE))
    assert is_shaded(rgb[solids == skirt], rgb_of(0xFF0000))
    middle = solids[:, 64]
    assert np.argmax(middle == wall) == pytest.approx(row_of(2.0, 2.0), abs=1)
    assert np.argmax(middle == skirt) == pytest.approx(row_of(0.24, 1.95), abs=1)
    columns = np.flatnonzero(solids[30] == wall)
    half = 64 * SIDE / 2 / (2.0 * SLOPE)
    assert (columns[0], columns[-1] + 1) == pytest.approx((64 - half, 64 + half), abs=1)
    assert not solids[:10].any()  # a black sky


@pytest.mark.parametrize("way", range(WAYS))
@pytest.mark.parametrize("patch", range(4))
def test_patches_stand_on_both_faces_where_they_belong(make_simulator, way, patch) -> None:
    """Aside to the same end of a wall, from whichever cell it is named."""
    for cell, seen_from in ((CENTRE, way), (int(BESIDE[CENTRE, way]), (way + 3) % WAYS)):
        maze = before_a_wall(make_simulator, cell, seen_from)
        colours = np.zeros((1, 294, 4), int)
        colours[0, 0, patch] = 13  # red
        maze.simulator.set("walls.patch_colours", colours)
        maze.simulator.set("walls.patch_depths", 0)
        rgb, solids = look(maze)
        front = 2.0 + THICK - THICK * 1.5
        number = int(solids.max())
        assert is_shaded(rgb[solids == number], rgb_of(0xFF0000))
        # Walls of ways 0 to 2 have their odd patches to the right of who looks at them.
        to_the_right = 0.525 * (patch % 2) * (1 if seen_from < 3 else -1)
        height = 0.8 + 0.525 * (patch // 2)
        places = np.argwhere(solids == number) + 0.5
        # The face in front; of its sides some pixels may be seen.
        assert places[:, 0].min() == pytest.approx(row_of(height + 0.2625, front), abs=1.5)
        assert places[:, 0].max() == pytest.approx(row_of(height - 0.2625, front), abs=2.5)
        sides = 64 + 64 * (to_the_right + np.array([-0.2625, 0.2625])) / (front * SLOPE)
        assert places[:, 1].min() == pytest.approx(sides[0], abs=2.5)
        assert places[:, 1].max() == pytest.approx(sides[1], abs=2.5)


def test_deeper_patches_come_nearer(make_simulator) -> None:
    maze = before_a_wall(make_simulator, CENTRE, 1)
    colours = np.zeros((1, 294, 4), int)
    colours[0, 0, 0] = 13
    maze.simulator.set("walls.patch_colours", colours)
    sizes = []
    for depth in (0, 128, 255):
        maze.simulator.set("walls.patch_depths", depth)
        solids = look(maze)[1]
        sizes.append(int((solids == solids.max()).sum()))
    assert sizes == sorted(set(sizes))


# ---- what is looked for


@pytest.mark.parametrize("cell", [CENTRE, number_of(-2, 3)])
def test_diamond_is_violet_and_disappears_when_it_is_found(make_simulator, cell: int) -> None:
    maze = Maze(make_simulator, EXPLORE, resolution="36x64", autoreset_mode="Disabled", **LAYERS)
    maze.set_bare()
    maze.simulator.set("task.target", cell)
    maze.place(0, *(MIDDLES[cell] - (0, 2.0)))
    rgb, solids = look(maze)
    assert set(solids.ravel().tolist()) == {0, FLOOR, 2, 3}
    diamond = np.isin(solids, (2, 3))
    assert is_shaded(rgb[diamond], rgb_of(VIOLET))
    places = np.argwhere(diamond)
    assert places[:, 1].mean() == pytest.approx(31.5, abs=0.6)
    # From 1.2 - 1.5 b to 1.2 + 0.5 b, b = 0.665 m, two metres away.
    for height, row in ((1.5325, places[:, 0].min()), (0.2025, places[:, 0].max() + 1)):
        assert row == pytest.approx(18 - 32 * (height - EYES) / (2.0 * SLOPE), abs=1.2)
    maze.act("f", 8)
    assert maze.total.tolist() == [[5.0]]
    maze.place(0, *(MIDDLES[cell] - (0, 2.0)))
    assert set(look(maze)[1].ravel().tolist()) == {0, FLOOR}


@pytest.mark.parametrize("agents", [1, 2, 4])
def test_what_is_to_be_remembered_is_seen_in_the_middle_from_the_start(
    make_simulator, agents: int
) -> None:
    forms = set()
    for seed in range(12):
        options = {"resolution": "36x64", "agent_count": agents, **LAYERS}
        maze = Maze(make_simulator, MEMORY, **options)
        maze.reset(seed)
        form, colour = maze.get("task.good_form"), maze.get("task.good_colour")
        forms.add(int(form))
        parts = 2 + np.arange({PILLAR: 3, DIAMOND: 2, BALL: 1}[form])
        for steps in (0, 12):  # in the air, and after they have landed
            if steps:
                maze.act("-", steps)
            for agent in range(agents):
                rgb, solids = layers(maze, agent)
                there = np.isin(solids, parts)
                assert there.any()
                columns = np.argwhere(there)[:, 1]
                middle = (columns.min() + columns.max()) / 2
                assert middle == pytest.approx(31.5, abs=1), (form, steps)
                if steps:
                    assert there[17:19, 31:33].all(), form
                    assert is_shaded(rgb[there], rgb_of(OBJECT_COLOURS[colour]))
    assert forms == {PILLAR, DIAMOND, BALL}


@pytest.mark.parametrize("form", [PILLAR, DIAMOND, BALL])
def test_things_have_the_colours_of_their_kinds_and_the_taken_is_gone(make_simulator, form) -> None:
    maze = Maze(make_simulator, MEMORY, resolution="36x64", autoreset_mode="Disabled", **LAYERS)
    maze.set_bare()
    maze.set_things((8.0, 3.0, True), (10.5, 3.0, False), (*FAR, True), form=form)
    maze.place(0, 9.25, 0.0)
    for column, value in (("good_colour", 10), ("bad_colour", 6)):
        maze.simulator.set(f"task.{column}", value)
    rgb, solids = look(maze)
    left, right = solids[:, :32], solids[:, 32:]
    for half, pixels, colour in ((left, rgb[:, :32], 10), (right, rgb[:, 32:], 6)):
        thing = half > FLOOR
        assert thing.sum() > 20
        assert is_shaded(pixels[thing], rgb_of(OBJECT_COLOURS[colour]))
    before = set(solids.ravel().tolist())
    maze.place(0, 8.0, 3.0)
    maze.act("-")
    assert maze.total[0].tolist() == [1, 0]
    maze.place(0, 9.25, 0.0)
    after = look(maze)[1]
    assert not (after[:, :32] > FLOOR).any() and (after[:, 32:] > FLOOR).any()
    assert len(set(after.ravel().tolist())) < len(before)


# ---- agents


@pytest.mark.parametrize("game", BOTH)
def test_alone_one_sees_the_floor_and_nothing_else(make_simulator, game: str) -> None:
    options = {"resolution": "36x64", "look_limit": 1.5, **LAYERS}
    maze = Maze(make_simulator, game, **options)
    maze.set_bare()
    maze.place(0, 3.0, -6.0, yaw=math.pi)
    for letters in ["d"] * 15 + ["l"] * 5 + ["ul"] * 20:
        maze.act(letters)
        assert solids_of(maze) <= {0, FLOOR}


@pytest.mark.parametrize("game", BOTH)
def test_bodies_of_others_have_the_colour_of_their_index_and_dark_eyes(
    make_simulator, game: str
) -> None:
    maze = Maze(make_simulator, game, agent_count=3, resolution="72x128", **LAYERS)
    maze.set_bare()
    maze.place(0, 3.0, -9.0, yaw=math.pi)
    maze.place(1, 4.0, -12.0)
    maze.place(2, 2.0, -12.0)
    rgb, solids = look(maze)
    numbers = sorted(set(solids.ravel().tolist()) - {0, FLOOR})
    assert len(numbers) == 4  # of two agents: body and eyes
    for agent, (body, eyes) in ((1, numbers[:2]), (2, numbers[2:])):
        assert is_shaded(rgb[solids == body], rgb_of(AGENTS[agent]))
        assert is_shaded(rgb[solids == eyes], np.array(NAVY, float))
    # Who looks along -y has +x to the left.
    columns = [np.argwhere(solids == body)[:, 1].mean() for body in (numbers[0], numbers[2])]
    assert columns[0] < 64 < columns[1]


def test_wall_hides_who_stands_behind_it(make_simulator) -> None:
    maze = before_a_wall(make_simulator, CENTRE, 0, agent_count=2)
    maze.simulator.set("task.target", OUTSIDE)
    maze.place(1, INNER + 2, 0)
    hidden = solids_of_now(maze)
    maze.set_walls([(CENTRE, 3)])
    assert len(solids_of_now(maze) - {0, FLOOR}) in (1, 2)
    assert len(hidden - {0, FLOOR}) == 2  # the wall and its skirting


def solids_of_now(maze: Maze) -> set[int]:
    look(maze)
    return solids_of(maze)
