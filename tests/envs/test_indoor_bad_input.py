"""Indoor navigation: what is refused, with which words; columns that are set to anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from indoor_worlds import ALL, EXPLORE, FLEE, POINT_GOAL, SMALL
from voxel_games import check_saves_are_refused
from voxel_worlds import Pair

NAN, INFINITE = float("nan"), float("inf")

BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"house_count": 0}, "parameter 'house_count' must be in 1 to 4096, got 0"),
    ({"house_count": 4097}, "parameter 'house_count' must be in 1 to 4096, got 4097"),
    ({"first_house": -1}, "parameter 'first_house' must be in 0 to 999999, got -1"),
    ({"first_house": 1000000}, "parameter 'first_house' must be in 0 to 999999, got 1000000"),
    (
        {"first_house": 999999, "house_count": 2},
        "house_count=2 from first_house=999999 on: a split has 1000000",
    ),
    ({"split": "dev"}, "parameter 'split' must be one of 'train', 'validation', 'test', got 'dev'"),
    ({"split": 3}, "parameter 'split' must be"),
    ({"rooms_low": 0}, "parameter 'rooms_low' must be in 1 to 12, got 0"),
    ({"rooms_low": 13}, "parameter 'rooms_low' must be in 1 to 12, got 13"),
    ({"rooms_high": 0}, "parameter 'rooms_high' must be in 1 to 12, got 0"),
    ({"rooms_high": 13}, "parameter 'rooms_high' must be in 1 to 12, got 13"),
    ({"rooms_low": 9}, "rooms_low=9 is above rooms_high=2"),
    ({"clutter_low": -0.1}, "parameter 'clutter_low' must be in 0 to 0.5, got -0.1"),
    ({"clutter_low": 0.45}, "clutter_low=0.45 is above clutter_high=0.35"),
    ({"clutter_high": 0.6}, "parameter 'clutter_high' must be in 0 to 0.5, got 0.6"),
    ({"clutter_high": NAN}, "parameter 'clutter_high' must be a number, got nan"),
    ({"door_low": 0.7}, "parameter 'door_low' must be in 0.8 to 1.2, got 0.7"),
    ({"door_low": 1.15}, "door_low=1.15 is above door_high=1.1"),
    ({"door_high": 1.3}, "parameter 'door_high' must be in 0.8 to 1.2, got 1.3"),
    ({"door_high": INFINITE}, "parameter 'door_high' must be in 0.8 to 1.2, got inf"),
    ({"depth_limit": -1.0}, "parameter 'depth_limit' must be in 0 to 100, got -1"),
    ({"depth_limit": 101.0}, "parameter 'depth_limit' must be in 0 to 100, got 101"),
    ({"depth_limit": 0.001}, "depth_limit must be 0, or at least 0.01"),
    ({"hfov": 170.0}, "hfov and resolution: the picture reaches farther to a side than 83 degrees"),
    ({"resolution": "200x1"}, "hfov and resolution: the picture reaches farther to a side"),
    ({"normalize_depth": True}, "normalize_depth needs a depth_limit above 0"),
    ({"observation": "deep"}, "parameter 'observation' must be 'rgb', 'depth', 'segmentation', 'n"),
    ({"observation": ""}, "parameter 'observation' must be"),
    ({"observation": "depth+depth"}, "parameter 'observation' names 'depth' twice"),
    ({"resolution": "64"}, "parameter 'resolution' must be rows and columns"),
    ({"resolution": "0x64"}, "rows and columns must be from 1 to"),
    ({"hfov": 0.5}, "parameter 'hfov' must be in 1 to 170, got 0.5"),
    ({"supersample": 9}, "parameter 'supersample' must be in 1 to 8, got 9"),
]
OF_ONE: list[tuple[str, dict[str, Any], str]] = [
    (POINT_GOAL, {"success_distance": 0.0}, "'success_distance' must be in 0.01 to 10, got 0"),
    (POINT_GOAL, {"success_reward": 1001}, "'success_reward' must be in -1000 to 1000, got 1001"),
    (POINT_GOAL, {"step_reward": NAN}, "'step_reward' must be a number, got nan"),
    (POINT_GOAL, {"progress_reward": INFINITE}, "'progress_reward' must be in -1000 to 1000"),
    (EXPLORE, {"cell_reward": -1001}, "'cell_reward' must be in -1000 to 1000, got -1001"),
]
UNKNOWN: list[tuple[str, dict[str, Any], str]] = [
    (FLEE, {"success_distance": 1.0}, "unexpected keyword argument 'success_distance'"),
    (EXPLORE, {"step_reward": 1.0}, "unexpected keyword argument 'step_reward'"),
    (POINT_GOAL, {"cell_reward": 1.0}, "unexpected keyword argument 'cell_reward'"),
    (FLEE, {"house_count": 2.5}, "parameter 'house_count' must be an int, got 2.5"),
    (FLEE, {"layout": "house 0"}, "unexpected keyword argument 'layout'"),
]


@pytest.fixture(scope="module", params=ALL)
def pair(request: Any) -> Iterator[Pair]:
    """Two simulators that must be alike after all tests."""
    both = Pair(request.param, SMALL, (4,))
    yield both
    both.check()
    both.close()


@pytest.mark.parametrize("game", ALL)
@pytest.mark.parametrize(("parameters", "message"), BAD_VALUES)
def test_parameters_out_of_range_are_refused_by_name(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make_simulator(game, 2, **{**SMALL, **parameters})


@pytest.mark.parametrize(("game", "parameters", "message"), OF_ONE)
def test_parameters_of_one_task_are_refused_by_name(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator(game, 2, **SMALL, **parameters)


@pytest.mark.parametrize(("game", "parameters", "message"), UNKNOWN)
def test_parameters_that_do_not_exist_are_refused(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        make_simulator(game, 2, **{**SMALL, **parameters})


BAD_LAYOUTS: list[tuple[str, str]] = [
    ("room 0", "layout: line 1: a line begins with house.* start.*, not .room"),
    ("house", "layout: line 1: number is missing"),
    ("house one", "number must be a whole number, got .one"),
    ("house 2", "must be from 0 to 1, got .2"),
    ("house -1", "must be from 0 to 1, got .-1"),
    ("house 0 0", "one word too many"),
    ("house 0; house 1", "house is said twice"),
    ("start 1 1", "a line before it must say which house"),
    ("house 0; start", "x is missing"),
    ("house 0; start 1", "y is missing"),
    ("house 0; start nan 1", "x"),
    ("house 0; start inf 1", "x"),
    ("house 0; start -500 -500", "nobody can stand at -500 -500 in house 0"),
    ("house 0; start 0 0", "nobody can stand at 0 0 in house 0"),  # in a wall
    ("house 0; start 1e9 0", "must be from -1000 to 1000"),
]


@pytest.mark.parametrize(("layout", "message"), BAD_LAYOUTS)
def test_episodes_by_hand_that_are_refused_change_nothing(
    pair: Pair, layout: str, message: str
) -> None:
    pair.refuses(lambda s: s.reset(options={"layout": layout}), ValueError, message)


def test_goals_and_headings_that_are_refused(make_simulator) -> None:
    simulator = make_simulator(POINT_GOAL, 1, **SMALL)
    simulator.reset(seed=1)
    at = f"{float(simulator.get('walker.x')[0, 0])} {float(simulator.get('walker.y')[0, 0])}"
    house = f"house {int(simulator.get('task.house')[0, 0])}; "
    for layout, message in (
        (f"{house}goal -90 0", "nobody can stand at -90 0"),
        (f"{house}goal {at}; goal {at}", "goal is said twice"),
        (f"goal {at}; {house}", "a line before it must say which house"),
        (f"{house}start {at}; start {at}", "start is said twice"),
        (f"{house}start {at} 7", "yaw of .* must be from -3.14"),
        (f"{house}start {at} 1 2", "one word too many"),
    ):
        with pytest.raises(ValueError, match=message):
            simulator.reset(options={"layout": layout})
    flee = make_simulator(FLEE, 1, **SMALL)
    flee.reset(seed=1)
    with pytest.raises(ValueError, match="begins with house or start, not"):
        flee.reset(options={"layout": f"{house}goal {at}"})


BAD_COLUMNS: list[tuple[str, Any, str]] = [
    ("task.house", -1, "task.house must be from 0 to 4095, got -1"),
    ("task.house", 4096, "task.house must be from 0 to 4095, got 4096"),
    ("task.start_x", NAN, "'task.start_x' must be finite"),
    ("walker.x", INFINITE, "'walker.x' must be finite"),
    ("walker.yaw", NAN, "'walker.yaw' must be finite"),
    ("walker.yaw", 7.0, "walker.yaw must be from -6.28"),
    ("walker.x", 10001.0, "walker.x must be from -10000 to 10000, got 10001"),
    ("task.start_yaw", -7.0, "task.start_yaw must be from -6.28"),
    ("walker.stopped", 2, "walker.stopped must be from 0 to 1, got 2"),
    ("walker.way", 1, "unknown column of .* 'walker.way'"),
    ("field.metres", 1, "unknown column of .* 'field.metres'"),
    ("houses.corners", 1, "unknown column of .* 'houses.corners'"),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_COLUMNS)
def test_values_that_are_refused_set_nothing(
    pair: Pair, column: str, value: Any, message: str
) -> None:
    if column == "field.metres" and pair.name != EXPLORE:
        column, value, message = "field.metres", NAN, "'field.metres' must be finite"
    pair.refuses(lambda s: s.set(column, value), ValueError, message)


@pytest.mark.parametrize("game", ALL)
def test_saves_of_others_are_refused(make_simulator, game: str) -> None:
    pair = Pair(game, SMALL, (4,))
    others = [
        make_simulator(game, 2, **{**SMALL, "house_count": 3}),
        make_simulator(game, 2, **{**SMALL, "split": "test"}),
        make_simulator(game, 2, **{**SMALL, "first_house": 1}),
        make_simulator(game, 2, **{**SMALL, "clutter_high": 0.36}),
    ]
    check_saves_are_refused(pair, others)
    pair.close()


@pytest.mark.parametrize("game", ALL)
def test_worlds_go_on_whatever_their_columns_hold(make_simulator, game: str) -> None:
    options = {**SMALL, "observation": "rgb+depth+segmentation+numbers", "resolution": "4x6"}
    worlds = 16
    simulator = make_simulator(game, worlds, **options)
    fresh = make_simulator(game, worlds, **options)
    simulator.reset(seed=1)
    bounds = {
        column["name"]: (column["low"], column["high"])
        for column in simulator.instance["columns"]
        if column["name"].split(".")[0] in ("walker", "task", "field", "cells", "trail")
    }
    random = np.random.default_rng(5)
    for round_ in range(60):
        for column, (low, high) in bounds.items():
            shape = simulator.get(column).shape
            least, most = (-3e38 if low is None else low), (3e38 if high is None else high)
            ends = random.choice([least, most, 0.0 if least <= 0 else least], shape)
            inner = np.clip(random.normal(0, 10, shape), least, most)
            values = np.where(random.random(shape) < 0.5, ends, inner)
            simulator.set(column, values.astype(simulator.get(column).dtype))
        for _ in range(3):
            results = simulator.step(random.integers(0, 4, (worlds, 1)))
            for layer in (*results.obs.values(), results.reward, results.state, results.measures):
                assert np.isfinite(np.asarray(layer)).all()
        assert all(len(simulator.text(world, -1)) > 50 for world in range(2))
        simulator.render(0, size=(20, 30))
        fresh.load(simulator.save())  # what rules have written is within its bounds
        if round_ % 20 == 19:
            simulator.reset(seed=round_)
    simulator.reset(seed=9)
    fresh.reset(seed=9)
    assert simulator.save() == fresh.save()
