"""Obstacle courses: what agents see, by colours, by solids and by the bar of the time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from obstacles_courses import PAD, SHORT, Course
from voxel_worlds import GROUND, Array

LAYERS = {"observation": "rgb+segmentation"}
BAR = (0x1A, 0x65, 0x74)
NAVY = (0x2C, 0x3E, 0x50)
AGENTS = (0xFFDD3C, 0x3BB372, 0x2EB5D0, 0xFFB400, 0xD468EE, 0x222222, 0xFF0000)
FLOOR = 1  # the first solid of GROUND


def rgb_of(colour: int) -> Array:
    return np.array([colour >> 16, colour >> 8 & 255, colour & 255], float)


def layers(course: Course, agent: int = 0) -> tuple[Array, Array]:
    """Colours (rows, columns, 3) and solids of a picture, without the row of the bar."""
    obs = course.last.obs
    return np.moveaxis(obs["rgb"][0, agent], 0, -1)[:-1], obs["segmentation"][0, agent, 0, :-1]


def is_shaded(pixels: Array, colour: Array) -> bool:
    """Whether nearly all pixels are multiples of a colour: the rest may have a highlight."""
    pixels = pixels.reshape(-1, 3).astype(float)
    light = pixels @ colour / (colour @ colour)
    off = np.abs(pixels - light[:, np.newaxis] * colour).max(axis=1)
    return bool(len(pixels) > 0 and (off <= 1.5).mean() > 0.9 and (light > 0.3).all())


# ---- agents


def test_own_body_and_eyes_are_never_seen_and_those_of_another_are(make_simulator) -> None:
    layout = GROUND + "agent 5.5 3.5 1; agent 5.5 6 1 yaw 3.1415926"
    options = {"resolution": "36x64", "look_limit": 1.5, **LAYERS}
    course = Course(make_simulator, layout, **options)
    # Behind the floor: body and eyes of agent 0, then of agent 1.
    own, other = {0: {2, 3}, 1: {4, 5}}, {0: {4, 5}, 1: {2, 3}}
    seen: dict[int, set[int]] = {0: set(), 1: set()}
    for letters in ["-"] * 2 + ["d"] * 15 + ["u"] * 30 + ["-", "j", "fL", "bR", "lu"] * 4:
        course.act(letters)
        for agent in (0, 1):
            solids = set(layers(course, agent)[1].ravel().tolist())
            assert not solids & own[agent]
            seen[agent] |= solids
    assert seen == {k: {0, FLOOR} | other[k] for k in (0, 1)}


def test_alone_one_sees_the_floor_and_nothing_else(make_simulator) -> None:
    options = {"resolution": "36x64", "look_limit": 1.5, **LAYERS}
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1", **options)
    for letters in ["d"] * 15 + ["L"] * 5 + ["uR"] * 20:
        course.act(letters)
        assert set(layers(course)[1].ravel().tolist()) <= {0, FLOOR}


def test_bodies_have_the_colour_of_their_index_and_dark_eyes(make_simulator) -> None:
    layout = GROUND + "agent 10 8 1"
    for angle in np.radians(np.linspace(-42, 42, 7)):  # an arc of seven who look at agent 0
        x, y = 10 + 5 * math.sin(angle), 8 + 5 * math.cos(angle)
        yaw = math.remainder(math.pi - angle, 2 * math.pi)
        layout += f"; agent {x:.3f} {y:.3f} 1 yaw {yaw:.4f}"
    course = Course(make_simulator, layout, resolution="144x256", **LAYERS)
    colours, solids = layers(course)
    for agent in range(1, 8):
        body, eyes = FLOOR + 1 + 2 * agent, FLOOR + 2 + 2 * agent
        assert is_shaded(colours[solids == body], rgb_of(AGENTS[agent % 7]))
        assert not is_shaded(colours[solids == body], rgb_of(AGENTS[(agent + 1) % 7]))
        assert is_shaded(colours[solids == eyes], np.array(NAVY, float))
        place = np.argwhere(solids == eyes).mean(axis=0)
        # The first stands to the left.
        assert place[1] < np.argwhere(solids == eyes + 2).mean(axis=0)[1] if agent < 7 else True


def test_agent_who_looks_away_shows_no_eyes(make_simulator) -> None:
    layout = GROUND + "agent 5.5 3.5 1; agent 5.5 6 1 yaw 0"
    solids = layers(Course(make_simulator, layout, resolution="36x64", **LAYERS))[1]
    assert (solids == 4).any()
    assert not (solids == 5).any()


# ---- time


@pytest.mark.parametrize("resolution", ["72x128", "18x32", "9x17"])
def test_bar_is_the_lowest_row_as_wide_as_the_time_that_is_left(
    make_simulator, resolution: str
) -> None:
    width = int(resolution.split("x")[1])
    options = {**SHORT, "resolution": resolution, "episode_seconds": 3}
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1; seconds 3", **options)
    pictures = [course.last.obs] + [course.act("fL").obs for _ in range(44)]
    pictures.append(course.act("-").final_obs)
    assert course.is_over
    widths = []
    for passed, picture in enumerate(pictures):
        is_bar = (np.moveaxis(picture[0, 0], 0, -1) == BAR).all(axis=-1)
        columns = np.flatnonzero(is_bar[-1])
        assert abs(len(columns) - width * (1 - passed / 45)) <= 1
        if len(columns):
            assert columns[-1] - columns[0] + 1 == len(columns)
            assert abs(columns[0] - (width - 1 - columns[-1])) <= 1
        assert not is_bar[:-1].any()
        widths.append(len(columns))
    assert (widths[0], widths[-1]) == (width, 0)
    assert widths == sorted(widths, reverse=True)
    assert (np.moveaxis(course.last.obs[0, 0], 0, -1)[-1] == BAR).all()  # the next episode's


# ---- colours, background


def test_background_is_black_exactly_where_nothing_is(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1", resolution="72x128", **LAYERS)
    colours, solids = layers(course)
    assert not solids[:36].any()  # above the horizon
    assert (solids[-10:] == FLOOR).all()
    assert not colours[solids == 0].any()
    assert colours[solids == FLOOR].min() > 0


def test_wall_seen_head_on_has_the_shading_of_the_formula(make_simulator) -> None:
    """In floating point of 64 bits, the camera's frame: x to the right, y up, z back."""
    layout = GROUND + "wall 0 6 0 20 6 20; agent 10 4 1"
    rgb = layers(Course(make_simulator, layout, resolution="72x128", **LAYERS))[0]
    slope = 2 * math.tan(math.radians(50)) / 128
    row, column = np.mgrid[0:71, 0:128]
    x, y = (column + 0.5 - 64) * slope, (36 - row - 0.5) * slope
    point = 2 * np.stack([x, y, -np.ones_like(x)], axis=-1)
    normal = np.array([0.0, 0.0, 1.0])

    def unit(v: Array) -> Array:
        return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))

    light = unit(np.array([0.0, 4.0, 2.0]) - point)
    facing = light @ normal
    mirrored = 2 * facing[..., np.newaxis] * normal - light
    highlight = np.maximum((unit(-point) * mirrored).sum(axis=-1), 0) ** 300
    colour = 0xB3 / 255
    wanted = 0.33 * colour + 0.73 * 0.66 * colour * np.maximum(facing, 0) + highlight
    bytes_wanted = 255 * np.clip(wanted, 0, 1)
    assert np.abs(rgb - bytes_wanted[..., np.newaxis]).max() <= 1
    assert bytes_wanted.max() - bytes_wanted.min() > 20


def test_posts_appear_at_the_columns_and_rows_of_their_angles(make_simulator) -> None:
    posts = [(2, 14, 3), (7, 9, 2), (10, 16, 5), (14, 11, 4), (18, 15, 3)]  # x, y, highest cell
    layout = GROUND + "".join(f"wall {x} {y} 1 {x} {y} {z}; " for x, y, z in posts)
    course = Course(make_simulator, layout + "agent 10.5 2.5 1", resolution="72x128", **LAYERS)
    solids = layers(course)[1]
    focus = 64 / math.tan(math.radians(50))
    eye = np.array([10.5, 2.5, 1 + 1.315])
    for k, (x, y, z) in enumerate(posts):
        corners = np.stack(np.meshgrid([x, x + 1], [y, y + 1], [1, z + 1]), -1).reshape(-1, 3) - eye
        columns = 64 + focus * corners[:, 0] / corners[:, 1]
        rows = 36 - focus * corners[:, 2] / corners[:, 1]
        seen = np.argwhere(solids == FLOOR + 1 + k)
        assert np.abs(seen.min(axis=0) - [rows.min(), columns.min()]).max() <= 1
        assert np.abs(seen.max(axis=0) + 1 - [rows.max(), columns.max()]).max() <= 1


def test_lava_pad_box_and_diamond_have_their_colours(make_simulator) -> None:
    things = "lava 2 6 1 3 7 1; pad 5 6 1 6 7 2; box 8 6 1; diamond 10 6 1; agent 6.5 2.5 1"
    options = {"resolution": "72x128", **LAYERS}
    course = Course(make_simulator, GROUND + things, **options)
    colours, solids = layers(course)
    wanted = {2: 0xFF0000, 3: 0x50C878, 4: 0xADD8E6, 5: 0x3BB372, 6: 0x3BB372}
    for solid, colour in wanted.items():
        assert is_shaded(colours[solids == solid], rgb_of(colour))
    assert set(solids.ravel().tolist()) == {0, FLOOR, *wanted}


def test_diamond_that_was_taken_is_gone(make_simulator) -> None:
    course = Course(
        make_simulator,
        GROUND + "diamond 5 6 1; agent 5.5 4.5 1; seconds 9",
        **LAYERS,
        resolution="36x64",
    )
    assert {2, 3} <= set(layers(course)[1].ravel().tolist())
    course.act("f", 7)
    assert course.total[0, 2] == 0.5
    course.act("b", 12)
    assert set(layers(course)[1].ravel().tolist()) == {0, FLOOR}


def test_carried_box_is_seen_by_who_carries_it_and_by_others(make_simulator) -> None:
    layout = GROUND + "box 5 4 1; agent 5.5 3.5 1; agent 9.5 4.5 1 yaw 1.5708"
    course = Course(make_simulator, layout, resolution="36x64", **LAYERS)
    before = [int((layers(course, k)[1] == 2).sum()) for k in (0, 1)]
    course.act("i -")
    course.act("f -", 3)
    after = [int((layers(course, k)[1] == 2).sum()) for k in (0, 1)]
    assert min(before + after) > 0
    assert after[0] != before[0]
    assert after[1] < before[1]  # smaller by a fifth while it is carried


@pytest.mark.parametrize("walls", ["hidden", "shown"])
def test_hidden_walls_stop_a_body_and_cannot_be_seen(make_simulator, walls: str) -> None:
    layout = PAD + f"wall 0 9 1 20 9 4; walls {walls}; agent 10.5 5.5 1"
    course = Course(make_simulator, layout, resolution="36x64", **LAYERS)
    colours, solids = layers(course)
    assert solids[:18].any() == colours[:18].any() == (walls == "shown")
    course.act("f", 20)
    assert course.at()[1] == pytest.approx(9 - 0.33, abs=1e-3)


# ---- layers, sizes


def test_layers_agree_and_do_not_depend_on_one_another(make_simulator) -> None:
    layout = PAD + "box 10 9 1; agent 10.5 5.5 1; agent 9.5 8 1"

    def played(observation: str) -> Course:
        course = Course(make_simulator, layout, resolution="18x32", observation=observation)
        for words in ("-", "f j", "Li r"):
            course.act(words)
        return course

    every = played("rgb+depth+segmentation")
    for layer in ("rgb", "depth", "segmentation"):
        assert played(layer).last.obs.tobytes() == every.last.obs[layer].tobytes()
    depth, solids = (every.last.obs[k][0, :, 0, :-1] for k in ("depth", "segmentation"))
    assert (np.isfinite(depth) & (depth > 0))[solids > 0].all()
    assert len(np.unique(depth[solids == 0])) == 1


def test_channels_last_holds_the_same_picture(make_simulator) -> None:
    layout = PAD + "agent 10.5 5.5 1"
    first, last = (
        Course(make_simulator, layout, resolution="18x32", channels=channels)
        for channels in ("first", "last")
    )
    assert last.last.obs.shape == (1, 1, 18, 32, 3)
    assert (np.moveaxis(first.last.obs, 2, -1) == last.last.obs).all()
