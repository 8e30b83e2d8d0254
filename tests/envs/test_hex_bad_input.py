"""HexExplore and HexMemory: what is refused, with which words; columns that are set to anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hex_mazes import BOTH, EXPLORE, MEMORY
from voxel_games import check_saves_are_refused
from voxel_worlds import TINY, Pair, outputs_of, random_actions

OPTIONS: dict[str, dict[str, Any]] = {
    EXPLORE: {"resolution": "5x9", "episode_seconds": 2},
    MEMORY: {"resolution": "5x9", "episode_seconds": 2, "thing_seconds": 0},
}
NAN, INFINITE = float("nan"), float("inf")

BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"side_low": 1}, "parameter 'side_low' must be in 2 to 7, got 1"),
    ({"side_high": 8}, "parameter 'side_high' must be in 2 to 7, got 8"),
    ({"side_low": [3, 9]}, "side_low.* must be a whole number from 2 to 7, got 9 for world 1"),
    ({"thinned_low": -0.1}, "parameter 'thinned_low' must be in 0 to 1, got -0.1"),
    ({"thinned_high": 1.1}, "parameter 'thinned_high' must be in 0 to 1, got 1.1"),
    ({"thinned_high": NAN}, "parameter 'thinned_high' must be a number, got nan"),
    ({"wall_low": 1.4}, "parameter 'wall_low' must be in 1.5 to 5, got 1.4"),
    ({"wall_high": 5.1}, "parameter 'wall_high' must be in 1.5 to 5, got 5.1"),
    ({"wall_high": NAN}, "parameter 'wall_high' must be a number, got nan"),
    ({"landmark_low": -0.1}, "parameter 'landmark_low' must be in 0 to 1, got -0.1"),
    ({"landmark_high": 1.01}, "parameter 'landmark_high' must be in 0 to 1, got 1.01"),
    ({"agent_count": 9}, "parameter 'agent_count' must be in 1 to 8, got 9"),
    ({"agent_count": 0}, "parameter 'agent_count' must be in 1 to 8, got 0"),
    ({"team_spirit": 1.5}, "parameter 'team_spirit' must be in 0 to 1, got 1.5"),
    ({"episode_seconds": 0}, "parameter 'episode_seconds' must be in 1 to 3600, got 0"),
    ({"look_limit": 1.6}, "parameter 'look_limit' must be in 0 to 1.5, got 1.6"),
    ({"dtype": "float32"}, "dtype must be None, got 'float32': each layer of Hex"),
    ({"side_low": [5, 2], "side_high": [4, 3]}, "side_low is above side_high"),
    ({"wall_low": [2.0, 2.9]}, "wall_low is above wall_high"),
    ({"landmark_low": [0.1, 0.4]}, "landmark_low is above landmark_high"),
]
OF_ONE: list[tuple[str, dict[str, Any], str]] = [
    (EXPLORE, {"thinned_low": [0.5, 0.1]}, "thinned_low is above thinned_high"),
    (EXPLORE, {"solve_reward": 1001}, "'solve_reward' must be in -1000 to 1000, got 1001"),
    (EXPLORE, {"solve_reward": INFINITE}, "'solve_reward' must be in -1000 to 1000, got inf"),
    (MEMORY, {"thing_low": [0.46, 0.2]}, "thing_low is above thing_high"),
    (MEMORY, {"thing_low": 0.0}, "parameter 'thing_low' must be in 0.01 to 0.5, got 0"),
    (MEMORY, {"thing_high": 0.51}, "parameter 'thing_high' must be in 0.01 to 0.5, got 0.51"),
    (MEMORY, {"thing_seconds": -1}, "parameter 'thing_seconds' must be in 0 to 60, got -1"),
    (MEMORY, {"good_reward": NAN}, "parameter 'good_reward' must be a number, got nan"),
    (MEMORY, {"bad_reward": -1001}, "'bad_reward' must be in -1000 to 1000, got -1001"),
]
PAIRS: list[tuple[str, dict[str, Any]]] = [
    *((game, {"side_low": 5, "side_high": 4}) for game in BOTH),
    *((game, {"wall_low": 2.9}) for game in BOTH),
    *((game, {"landmark_low": 0.4}) for game in BOTH),
    (EXPLORE, {"thinned_low": 0.5}),
    (MEMORY, {"thinned_low": 0.96}),
    (MEMORY, {"thing_low": 0.46}),
]
UNKNOWN: list[tuple[str, dict[str, Any], str]] = [
    (EXPLORE, {"good_reward": 1}, "unexpected keyword argument 'good_reward'"),
    (MEMORY, {"solve_reward": 1}, "unexpected keyword argument 'solve_reward'"),
    (EXPLORE, {"side_low": 2.5}, "parameter 'side_low' must be an int, got 2.5"),
    (MEMORY, {"side_high": NAN}, "parameter 'side_high' must be an int, got nan"),
    (MEMORY, {"layout": "floor"}, "unexpected keyword argument 'layout'"),
]


@pytest.fixture(scope="module", params=BOTH)
def pair(request: Any) -> Iterator[Pair]:
    """Two simulators that must be alike after all tests."""
    both = Pair(request.param, OPTIONS[request.param])
    yield both
    both.check()
    both.close()


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize(("parameters", "message"), BAD_VALUES)
def test_parameters_out_of_range_are_refused_by_name(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator(game, 2, **parameters)


@pytest.mark.parametrize(("game", "parameters", "message"), OF_ONE)
def test_parameters_of_one_game_are_refused_by_name(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator(game, 2, **parameters)


@pytest.mark.parametrize(("game", "parameters", "message"), UNKNOWN)
def test_parameters_that_do_not_exist_or_are_no_whole_numbers_are_refused(
    make_simulator, game: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        make_simulator(game, 2, **parameters)


@pytest.mark.parametrize(("game", "parameters"), PAIRS)
def test_least_values_above_the_greatest_are_refused(
    make_simulator, game: str, parameters: dict[str, Any]
) -> None:
    low = next(iter(parameters))
    with pytest.raises(ValueError, match=f"{low}.* is above {low.replace('low', 'high')}"):
        make_simulator(game, 2, **parameters)


BAD_CALLS: list[tuple[dict[str, Any], str]] = [
    ({"layout": "floor"}, "unknown reset option 'layout'"),
    ({"level": 3}, "unknown reset option 'level'"),
    ({"side_low": 9}, "side_low.* must be a whole number from 2 to 7, got 9"),
    ({"side_low": 5, "side_high": 4}, "side_low is above side_high"),
    ({"wall_low": NAN}, "wall_low.* must be a number from 1.5 to 5, got nan"),
]


@pytest.mark.parametrize(("options", "message"), BAD_CALLS, ids=str)
def test_resets_that_are_refused_change_nothing(
    pair: Pair, options: dict[str, Any], message: str
) -> None:
    pair.refuses(lambda s: s.reset(options=options), ValueError, message)


BAD_COLUMNS: list[tuple[str, Any, str]] = [
    ("walls.cell", 169, "walls.cell must be from 0 to 168, got 169"),
    ("walls.cell", -1, "'walls.cell' must be whole, 0 to 255 .uint8., got -1"),
    ("walls.way", 6, "walls.way must be from 0 to 5, got 6"),
    ("walls.patch_colours", 23, "walls.patch_colours must be from 0 to 22, got 23"),
    ("walls.patch_depths", 256, "'walls.patch_depths' must be whole, 0 to 255"),
    ("walls.count", 295, "walls.count must be from 0 to 294, got 295"),
    ("task.side", 8, "task.side must be from 0 to 7, got 8"),
    ("task.wall_count", 421, "task.wall_count must be from 0 to 420, got 421"),
    ("task.wall_height", NAN, "'task.wall_height' must be finite .float32., got nan"),
    ("task.wall_height", INFINITE, "'task.wall_height' must be finite"),
    ("task.solved", 2, "task.solved must be from 0 to 1, got 2"),
    ("statics.count", 2, "statics.count must be from 0 to 1, got 2"),
    ("agents.grounded", 2, "agents.grounded must be from 0 to 1, got 2"),
    ("agents.position", NAN, "'agents.position' must be finite"),
    ("agents.home", (1 << 20) + 1, "agents.home must be from -1048576 to 1048576"),
    ("raw_walls.cell", 1, "unknown column of Hex.* 'raw_walls.cell'"),
    ("seen.word", 1, "unknown column of Hex.* 'seen.word'"),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_COLUMNS)
def test_values_that_are_refused_set_nothing(
    pair: Pair, column: str, value: Any, message: str
) -> None:
    pair.refuses(lambda s: s.set(column, value), ValueError, message)


OWN_COLUMNS: list[tuple[str, str, Any, str]] = [
    (EXPLORE, "task.target", 169, "task.target must be from 0 to 168, got 169"),
    (EXPLORE, "task.target", -1, "task.target must be from 0 to 168, got -1"),
    (EXPLORE, "task.good_left", 1, "unknown column of HexExplore-v0 'task.good_left'"),
    (MEMORY, "task.good_form", 3, "task.good_form must be from 0 to 2, got 3"),
    (MEMORY, "task.bad_colour", 14, "task.bad_colour must be from 0 to 13, got 14"),
    (MEMORY, "task.good_left", 127, "task.good_left must be from 0 to 126, got 127"),
    (MEMORY, "things.good", 2, "things.good must be from 0 to 1, got 2"),
    (MEMORY, "things.left", -1, "things.left must be from 0 to 1, got -1"),
    (MEMORY, "things.count", 127, "things.count must be from 0 to 126, got 127"),
    (MEMORY, "things.at", NAN, "'things.at' must be finite"),
]


@pytest.mark.parametrize(("game", "column", "value", "message"), OWN_COLUMNS)
def test_values_of_one_game_that_are_refused_set_nothing(
    make_simulator, game: str, column: str, value: Any, message: str
) -> None:
    simulator = make_simulator(game, 2, **TINY)
    simulator.reset(seed=1)
    before = simulator.save()
    with pytest.raises(ValueError, match=message):
        simulator.set(column, value)
    assert simulator.save() == before


def test_saves_of_other_simulators_are_refused(pair: Pair, make_simulator) -> None:
    game = pair.tried.name
    changes: list[dict[str, Any]] = [{"agent_count": 2}, {"team_spirit": 0.5}, {"side_high": 6}]
    made = [make_simulator(game, 2, **{**OPTIONS[game], **changed}) for changed in changes]
    other = MEMORY if game == EXPLORE else EXPLORE
    check_saves_are_refused(pair, [*made, make_simulator(other, 2, **OPTIONS[other])])


# ---- columns that are set to anything

FAR = 1 << 20
HOSTILE: list[dict[str, float]] = [
    {"walls.cell": 0, "walls.way": 0},
    {"walls.cell": 168, "walls.way": 5, "walls.count": 294},
    {"walls.cell": 84},
    {"walls.count": 0},
    {"walls.count": 294, "walls.patch_colours": 22, "walls.patch_depths": 255},
    {"task.wall_height": 0.0},
    {"task.wall_height": -3.0},
    {"task.wall_height": 1.3},
    {"task.wall_height": 3e38},
    {"task.wall_height": -3e38},
    {"task.side": 0, "task.wall_count": 420},
    {"task.side": 1, "task.floor_colour": 0xFFFFFFFF, "task.skirt_colour": 0xFFFFFFFF},
    {"task.passed": 0x7FFFFFFF, "task.length": 0},
    {"task.passed": 0, "task.length": 0x7FFFFFFF, "task.solved": 1},
    {"agents.home": FAR, "agents.position": -30.0},
    {"agents.home": -FAR, "agents.position": -30.0},
    {"agents.position": 3e30},
    {"agents.position": -3e30, "agents.velocity": 3e30},
    {"agents.position": 0.9, "agents.climb": 3e38},
    {"agents.position": 0.9},  # everybody in one place
    {"agents.yaw": 1e30, "agents.pitch": -1e30},
    {"agents.pitch": 3e38},
    {"statics.low": -3e30, "statics.high": 3e30},
    {"statics.count": 0},
]
OF_GAME: dict[str, list[dict[str, float]]] = {
    EXPLORE: [{"task.target": 0}, {"task.target": 168}, {"task.target": 84, "agents.position": 1}],
    MEMORY: [
        {"things.at": 1e30},
        {"things.at": -3e38},
        {"things.at": 0.0, "things.left": 1, "things.count": 126, "task.good_left": 0},
        {"things.count": 0},
        {"task.good_left": 0},
        {"task.good_left": 126, "task.thing_count": 126},
        {"task.good_form": 1, "task.bad_form": 1, "task.good_colour": 3, "task.bad_colour": 3},
    ],
}


@pytest.mark.parametrize(
    ("game", "columns"),
    [(game, case) for game in BOTH for case in HOSTILE + OF_GAME[game]],
    ids=str,
)
def test_columns_of_one_world_that_are_set_to_anything_reach_no_other(
    make_simulator, game: str, columns: dict[str, float]
) -> None:
    """Worlds beside it do not change by a bit, and its save loads."""
    options = {**OPTIONS[game], "agent_count": 2, "autoreset_mode": "Disabled"}
    touched, plain = (make_simulator(game, 3, **options) for _ in range(2))
    for simulator in (touched, plain):
        simulator.reset(seed=1)
    for column, value in columns.items():
        touched.set(column, value, worlds=[1])
    for actions in random_actions(np.random.default_rng(1), 12, 3, 2):
        actions[..., 0] = 1
        first, second = touched.step(actions), plain.step(actions)
        for world in (0, 2):
            assert outputs_of(first, world) == outputs_of(second, world)
        assert not np.isnan(first.reward).any()
    again = make_simulator(game, 3, **options)
    again.load(touched.save())
    assert again.save() == touched.save()
    touched.reset(seed=1)
    plain.reset(seed=1)
    assert touched.observe().state.tobytes() == plain.observe().state.tobytes()
