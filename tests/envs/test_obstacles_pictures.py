"""Obstacle courses: what agents see, by colours and by solids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from obstacles_courses import PAD, Course
from voxel_pictures import AGENTS, LAYERS, NAVY, is_shaded, layers, rgb_of, solids_of
from voxel_worlds import GROUND, Array

FLOOR = 1  # the first solid of GROUND


# ---- agents


def test_alone_one_sees_the_floor_and_nothing_else(make_simulator) -> None:
    options = {"resolution": "36x64", "look_limit": 1.5, **LAYERS}
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1", **options)
    for letters in ["d"] * 15 + ["L"] * 5 + ["uR"] * 20:
        course.act(letters)
        assert solids_of(course) <= {0, FLOOR}


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


# ---- colours


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
