"""What every voxel game draws alike: bodies, the bar of the time, the background, perspective."""

from __future__ import annotations

import math

import numpy as np
import pytest
from collect_lands import SHORT as LAND_SHORT
from obstacles_courses import SHORT as COURSE_SHORT
from tower_rooms import GROUND
from tower_rooms import SHORT as TOWER_SHORT
from voxel_pictures import AGENTS, BAR, LAYERS, NAVY, bounds, is_shaded, layers, rgb_of, solids_of
from voxel_worlds import RESTING, Array, Make, Playground

EASY, TOWER, LAND, ROOM = "ObstaclesEasy-v0", "TowerBuilding-v0", "Collect-v0", "Rearrange-v0"
# Two agents on the ground who face each other.
FACING = "agent 8.5 2.5 {0} yaw -1.5707963; agent 11 2.5 {0} yaw 1.5707963"
FEET = {ROOM: 1.5}  # of agents [m], else 1
# By game, without agents.
LEVELS = {
    EASY: GROUND,
    TOWER: GROUND + "zone 18 18 1 19 19 1; box 18 18 1; ",
    LAND: GROUND + "diamond 18 18 1; ",
    ROOM: "object ball green 0 0 0 at 2 2 0; object pill red 1 0 0; ",
}
GAMES = pytest.mark.parametrize("game", LEVELS)
# Nothing but `seconds` of a level ends an episode.
SHORT = {EASY: COURSE_SHORT, TOWER: TOWER_SHORT, LAND: LAND_SHORT, ROOM: {}}


def facing(game: str) -> str:
    return LEVELS[game] + FACING.format(FEET.get(game, 1))


@GAMES
def test_own_body_and_eyes_are_never_seen_and_those_of_another_are(
    make_simulator: Make, game: str
) -> None:
    options = {"resolution": "36x64", "look_limit": 1.5, **LAYERS}
    place = Playground(make_simulator, game, facing(game), **options)
    # Solids end with the body and the eyes of agent 0, then of agent 1.
    last = max(solids_of(place))
    bodies = [{last - 3, last - 2}, {last - 1, last}]
    for agent, colour in enumerate(AGENTS[:2]):
        pixels, solids = layers(place, 1 - agent)
        assert is_shaded(pixels[solids == min(bodies[agent])], rgb_of(colour))
        assert is_shaded(pixels[solids == max(bodies[agent])], np.array(NAVY, float))
    seen: list[set[int]] = [set(), set()]
    for letters in ["-"] * 2 + ["d"] * 15 + ["u"] * 30 + ["-", "j", "fL", "bR", "lu"] * 4:
        place.act(letters)
        for agent in (0, 1):
            solids = solids_of(place, agent)
            assert not solids & bodies[agent]
            seen[agent] |= solids
    assert bodies[1] < seen[0] and bodies[0] < seen[1]


@GAMES
@pytest.mark.parametrize("resolution", ["72x128", "18x32", "9x17"])
def test_bar_is_the_lowest_row_as_wide_as_the_time_that_is_left(
    make_simulator: Make, game: str, resolution: str
) -> None:
    width = int(resolution.split("x")[1])
    options = {**SHORT[game], "resolution": resolution, "episode_seconds": 3}
    layout = f"{LEVELS[game]}agent 9.5 3.5 {FEET.get(game, 1)}; seconds 3"
    place = Playground(make_simulator, game, layout, **options)
    pictures = [place.last.obs] + [place.act("fL").obs for _ in range(44)]
    pictures.append(place.act("-").final_obs)
    assert place.is_over
    widths = []
    for passed, picture in enumerate(pictures):
        is_bar = (np.moveaxis(picture[0, 0], 0, -1) == BAR).all(axis=-1)
        columns = np.flatnonzero(is_bar[-1])
        assert abs(len(columns) - width * (1 - passed / 45)) <= 1
        if len(columns):
            assert columns[-1] - columns[0] + 1 == len(columns)
            assert abs(columns[0] - (width - 1 - columns[-1])) <= 1
        if game != ROOM:  # whose pedestals are of the same blue in some light
            assert not is_bar[:-1].any()
        widths.append(len(columns))
    assert (widths[0], widths[-1]) == (width, 0)
    assert widths == sorted(widths, reverse=True)
    assert (np.moveaxis(place.last.obs[0, 0], 0, -1)[-1] == BAR).all()  # the next episode's


@GAMES
def test_background_is_black_exactly_where_nothing_is(make_simulator: Make, game: str) -> None:
    layout = facing(game) + "; walls hidden"
    place = Playground(make_simulator, game, layout, resolution="72x128", **LAYERS)
    colours, solids = layers(place)
    assert 0.2 < (solids == 0).mean() < 0.8
    assert not colours[solids == 0].any()
    assert colours[solids != 0].max(axis=-1).min() > 0


def seen_at(corners: Array) -> Array:
    """Highest row, first column, lowest row, last column of points, from the eye, ahead of it."""
    focus = 64 / math.tan(math.radians(50))
    columns = 64 + focus * corners[:, 0] / corners[:, 1]
    rows = 36 - focus * corners[:, 2] / corners[:, 1]
    return np.array([rows.min(), columns.min(), rows.max() - 1, columns.max() - 1])


POSTS = [(2, 14, 3), (7, 9, 2), (10, 16, 5), (14, 11, 4), (18, 15, 3)]  # x, y, highest cell
POST = {EASY: "wall {0} {1} 1 {0} {1} {2}", TOWER: "wall {0} {1} 1 {0} {1} {2}",
        LAND: "hill {0} {1} {0} {1} {2}"}  # fmt: skip


@pytest.mark.parametrize("game", POST)
def test_posts_are_seen_in_the_columns_and_rows_of_their_angles(
    make_simulator: Make, game: str
) -> None:
    posts = "".join(POST[game].format(*post) + "; " for post in POSTS)
    layout = LEVELS[game] + posts + "agent 10.5 2.5 1"
    place = Playground(make_simulator, game, layout, resolution="72x128", **LAYERS)
    solids = layers(place)[1]
    found = [bounds(solids, solid) for solid in solids_of(place) - {0}]
    eye = np.array([10.5, 2.5, 1 + 1.315])
    for x, y, z in POSTS:
        corners = np.stack(np.meshgrid([x, x + 1], [y, y + 1], [1, z + 1]), -1).reshape(-1, 3)
        wanted = seen_at(corners - eye)
        assert min(np.abs(one - wanted).max() for one in found) <= 1, (x, y, z)


def test_an_object_is_seen_in_the_columns_and_rows_of_its_angles(make_simulator: Make) -> None:
    # The blocks of the model stand on a pedestal: cells (5 to 6, 8, 2), seen along +y.
    layout = "object block red 0 0 0 at 2 2 0; object block white 1 0 0; agent 6.5 2.5 1.5"
    place = Playground(make_simulator, ROOM, layout, resolution="72x128", **LAYERS)
    place.act("-", 15)
    solids = layers(place)[1]
    found = [bounds(solids, solid) for solid in solids_of(place) - {0}]
    eye, half = place.at() + np.array([0, 0, 1.315 - (RESTING - 1)]), 0.45
    for x in (5, 6):
        middle = np.array([x + 0.5, 8.5, 2.5])
        signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), -1).reshape(-1, 3)
        wanted = seen_at(middle + half * signs - eye)
        assert min(np.abs(one - wanted).max() for one in found) <= 1, x
