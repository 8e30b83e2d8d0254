"""TowerBuilding: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from typing import Any

import pytest
from tower_rooms import GAME, GROUND, SHORT
from voxel_games import (
    check_agents_in_one_another_are_refused,
    check_saves_are_refused,
    pair_fixture,
    played_layouts_test,
    refused_layouts_test,
    refused_parameters_test,
)
from voxel_worlds import Make, Pair

AGENT = "; agent 1.5 1.5 1"
ZONE = "zone 4 4 1 8 8 1; "
OPTIONS = {**SHORT, "resolution": "5x9", "episode_seconds": 2}

# Parameters that do not go together, what the message says. What one alone cannot be:
# tests/contract/test_described_numbers.py; sizes and layers of pictures:
# tests/gpu_envs/core/test_pictures_bad_input.py.
BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"length_low": 20, "length_high": 19}, "length_low=20 is above length_high=19"),
    ({"length_low": 30}, "length_low=30 is above length_high=29"),
    ({"width_high": 11}, "width_low=12 is above width_high=11"),
    ({"wall_low": 7}, "wall_low=7 is above wall_high=6"),
    ({"zone_high": 2}, "zone_low=3 is above zone_high=2"),
    ({"materials_low": 8}, "materials_low=8 is above materials_high=7"),
    (
        {"spare_boxes_low": 5, "spare_boxes_high": 4},
        "spare_boxes_low=5 is above spare_boxes_high=4",
    ),
    (
        {"spare_boxes_high": 48},
        "materials_high=7 and spare_boxes_high=48 can have 97 boxes, at most 96 are possible; "
        "lower one of them",
    ),
    (
        {"materials_high": 9},
        "materials_high=9 and spare_boxes_high=24 can have 105 boxes, at most 96 are possible",
    ),
    ({"length_low": 4}, "parameter 'length_low' must be in 5 to 48, got 4"),
    ({"zone_high": 17}, "parameter 'zone_high' must be in 1 to 16, got 17"),
    ({"team_spirit": 1.5}, "parameter 'team_spirit' must be in 0 to 1, got 1.5"),
    ({"tower_reward": float("nan")}, "parameter 'tower_reward' must be a number, got nan"),
    ({"dtype": "float32"}, "dtype must be None, got 'float32': each layer of TowerBuilding-v0's"),
    ({"actions": "many"}, "actions must be .*'flat'.*, got 'many'"),
]

# Layouts, what the message says. The words that all voxel games share are refused by the same code:
# tests/envs/test_obstacles_bad_input.py.
BAD_LAYOUTS: list[tuple[str, str]] = [
    (" ", "there is no floor"),
    (ZONE + "agent 1.5 1.5 1", "there is no floor"),
    (GROUND + ZONE, "0 agents, but agent_count=1: every agent needs a place"),
    (GROUND + AGENT + AGENT, "line 1: one agent more than agent_count=1"),
    (
        GROUND + "\ncow 1 2 3" + AGENT,
        "line 2: unknown thing 'cow'; known are floor, wall, walls, zone, box, agent, seconds$",
    ),
    (GROUND + "\n\npad 4 4 1 8 8 1" + AGENT, "line 3: unknown thing 'pad'"),
    (GROUND + "\nlava 4 4 1 8 8 1" + AGENT, "line 2: unknown thing 'lava'"),
    (GROUND + "diamond 4 4 1" + AGENT, "line 1: unknown thing 'diamond'"),
    (GROUND + "hill 4 4 8 8 3" + AGENT, "line 1: unknown thing 'hill'"),
    (GROUND + "Zone 4 4 1 8 8 1" + AGENT, "line 1: unknown thing 'Zone'"),
    (GROUND + "zone" + AGENT, "line 1: x is missing"),
    (GROUND + "zone 4 4 1 8 8" + AGENT, "line 1: z is missing"),
    (GROUND + "zone 4 4 1 8 8 1 1" + AGENT, "line 1: one word too many: '1'"),
    (GROUND + "zone 4 4 1 8 8 one" + AGENT, "line 1: z must be a whole number, got 'one'"),
    (GROUND + "zone 4.5 4 1 8 8 1" + AGENT, "line 1: x must be a whole number, got '4.5'"),
    (GROUND + "zone 4 4 1 96 8 1" + AGENT, "line 1: x of '.*' must be from 0 to 95, got '96'"),
    (GROUND + "zone 4 4 1 8 -8 1" + AGENT, "line 1: y of '.*' must be from 0 to 95, got '-8'"),
    (GROUND + "zone 4 4 48 8 8 1" + AGENT, "line 1: z of '.*' must be from 0 to 47, got '48'"),
    (GROUND + "\n" + "zone 5 5 1 6 6 1; " * 9 + AGENT, "line 2: a layout has at most 8 zones"),
    (GROUND + "\n" + "box 5 5 1; " * 65 + AGENT, "line 2: a layout has at most 64 boxes"),
    (GROUND + "box 5 5 0" + AGENT, "line 1: the box is inside of a floor or a wall"),
    (GROUND + ZONE + "\nbox 5 5 2" + AGENT, "line 2: the box has nothing beneath it"),
    (GROUND + "\nbox 5 5 1\nbox 5 5 1" + AGENT, "line [23]: there is a box in this cell already"),
    (GROUND + "box 25 5 1" + AGENT, "line 1: the box has nothing beneath it"),
    (GROUND + "box 1 1 1" + AGENT, "agent 0 is inside of a box"),
    (GROUND + "wall 1 1 1 1 9 3" + AGENT, "agent 0 is inside of a floor or a wall"),
    (GROUND + "walls gone" + AGENT, "line 1: walls are hidden or shown, got 'gone'"),
    (GROUND + "seconds 0" + AGENT, "line 1: seconds of '.*' must be from 0.0625 to 3600, got '0'"),
    (GROUND + "agent nan 1.5 1", "line 1: x of '.*' must be from 0 to 96, got 'nan'"),
]


pair = pair_fixture(GAME, OPTIONS)
test_parameters_that_do_not_go_together_are_refused_by_name = refused_parameters_test(
    GAME, BAD_VALUES
)
test_impossible_layouts_are_refused_with_their_line = refused_layouts_test(BAD_LAYOUTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layuot": GROUND}, "layuot"),
        ({"layout": 3}, "layout"),
        ({"layout": None}, "layout"),
        ({"layout": ["floor 0 0 0 9 9 0"]}, "layout"),
    ],
)
def test_options_that_are_no_layout_are_refused(
    pair: Pair, options: dict[str, Any], message: str
) -> None:
    pair.refuses(lambda s: s.reset(options=options), (ValueError, TypeError), message)


def test_agents_of_a_layout_that_stand_in_one_another_are_refused(make_simulator: Make) -> None:
    simulator = make_simulator(GAME, 1, agent_count=2, **OPTIONS)
    others = ("1.5 1.5 1", "1.9 1.9 1", "1.5 1.5 2.5")
    check_agents_in_one_another_are_refused(simulator, GROUND, "1.5 1.5 1", others)


def test_save_of_other_parameters_or_of_another_game_is_refused(
    pair: Pair, make_simulator: Make
) -> None:
    course = make_simulator("ObstaclesEasy-v0", 2, resolution="5x9")
    two = make_simulator(GAME, 2, **{**OPTIONS, "agent_count": 2})
    other = make_simulator(GAME, 2, **{**OPTIONS, "team_spirit": 0.5})
    check_saves_are_refused(pair, (course, two, other))


# ---- what is allowed at the edges

FIELD = "".join(f"box {4 + k % 8} {4 + k // 8} 1; " for k in range(64))
TALL = "".join(f"box 5 5 {z}; " for z in range(1, 48))
GOOD_LAYOUTS = {
    "no zone, no box": GROUND + AGENT,
    "zones over one another": GROUND + ZONE + "zone 6 6 1 9 9 1; zone 0 0 3 1 1 3" + AGENT,
    "a zone with nothing beneath it": GROUND + "zone 40 40 9 95 95 47" + AGENT,
    "corners the other way around": GROUND + "zone 8 8 1 4 4 1" + AGENT,
    "64 boxes": GROUND + ZONE + FIELD + AGENT,
    "a tower to the sky": GROUND + ZONE + TALL + AGENT,
    "one step": GROUND + ZONE + AGENT + "; seconds 0.0625",
}


test_layouts_at_the_edge_of_what_is_allowed_are_played = played_layouts_test(
    GAME, GOOD_LAYOUTS, OPTIONS
)


def test_a_tower_to_the_sky_has_its_worth(make_simulator: Make) -> None:
    simulator = make_simulator(GAME, 1, **OPTIONS)
    layout = GOOD_LAYOUTS["a tower to the sky"]
    state = simulator.reset(seed=1, options={"layout": layout}).state
    wanted = sum(0.05 * h + min(0.05 * 2.0**h, 20) for h in range(1, 48))
    assert state[0, 2:4].tolist() == pytest.approx([0, wanted])
