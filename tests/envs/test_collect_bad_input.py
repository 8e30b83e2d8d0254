"""Collect: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from typing import Any

from collect_lands import GAME, GROUND, SHORT
from voxel_games import (
    check_saves_are_refused,
    pair_fixture,
    played_layouts_test,
    refused_layouts_test,
    refused_parameters_test,
)
from voxel_worlds import Make, Pair

AGENT = "; agent 1.5 1.5 1"
OPTIONS = {**SHORT, "resolution": "5x9", "episode_seconds": 2, "side_high": 12}

BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"side_low": 12, "side_high": 11}, "side_low=12 is above side_high=11"),
    ({"octaves_low": 5, "octaves_high": 4}, "octaves_low=5 is above octaves_high=4"),
    ({"relief_low": 18}, "relief_low=18 is above relief_high=17"),
    ({"frequency_low": 10}, "frequency_low.* is above frequency_high"),
    ({"frequency_high": 0.1, "frequency_low": 0.2}, "frequency_low.* is above frequency_high"),
    ({"ground_low": 0.8}, "ground_low.* is above ground_high"),
    (
        {"diamond_share": 0.06},
        "land with side_high=41 and this diamond_share can have 102 diamonds, at most 96 are "
        "possible; lower one of them",
    ),
    (
        {"box_share": 0.05},
        "land with side_high=41 and this box_share can have 84 boxes, at most 80",
    ),
    ({"side_high": 42}, "parameter 'side_high' must be in 5 to 41, got 42"),
    ({"side_low": 4}, "parameter 'side_low' must be in 5 to 41, got 4"),
    ({"good_share": 1.1}, "parameter 'good_share' must be in 0 to 1, got 1.1"),
    ({"fall_reward": float("nan")}, "parameter 'fall_reward' must be a number, got nan"),
    ({"dtype": "float32"}, "dtype must be None, got 'float32': each layer of Collect-v0's"),
]

# Layouts, what the message says. The words that all voxel games share are refused by the same code:
# tests/envs/test_obstacles_bad_input.py.
BAD_LAYOUTS: list[tuple[str, str]] = [
    (" ", "there is no floor"),
    ("hill 1 1 5 5 2; agent 1.5 1.5 3", "there is no floor"),
    (GROUND, "0 agents, but agent_count=1: every agent needs a place"),
    (
        GROUND + "\ncow 1 2 3" + AGENT,
        "line 2: unknown thing 'cow'; known are floor, wall, walls, hill, box, diamond, agent, "
        "seconds$",
    ),
    (GROUND + "lava 4 4 1 8 8 1" + AGENT, "line 1: unknown thing 'lava'"),
    (GROUND + "pad 4 4 1 8 8 1" + AGENT, "line 1: unknown thing 'pad'"),
    (GROUND + "zone 4 4 1 8 8 1" + AGENT, "line 1: unknown thing 'zone'"),
    (GROUND + "Hill 4 4 8 8 1" + AGENT, "line 1: unknown thing 'Hill'"),
    (GROUND + "hill" + AGENT, "line 1: x is missing"),
    (GROUND + "hill 4 4 8 8" + AGENT, "line 1: height is missing"),
    (GROUND + "hill 4 4 8 8 2 1" + AGENT, "line 1: one word too many: '1'"),
    (GROUND + "hill 4 4 8 8 two" + AGENT, "line 1: height must be a whole number, got 'two'"),
    (GROUND + "hill 4 4 8 8 1.5" + AGENT, "line 1: height must be a whole number, got '1.5'"),
    (GROUND + "hill 4 4 8 8 21" + AGENT, "line 1: height of '.*' must be from 0 to 20, got '21'"),
    (GROUND + "hill 4 4 8 8 -1" + AGENT, "line 1: height of '.*' must be from 0 to 20, got '-1'"),
    (GROUND + "hill 4 4 41 8 1" + AGENT, "line 1: x of '.*' must be from 0 to 40, got '41'"),
    (GROUND + "hill 4 -4 8 8 1" + AGENT, "line 1: y of '.*' must be from 0 to 40, got '-4'"),
    (GROUND + "\n" + "hill 4 4 8 8 1; " * 25 + AGENT, "line 2: a layout has at most 24 hills"),
    (GROUND + "diamond 5 5" + AGENT, "line 1: z is missing"),
    (GROUND + "diamond 5 5 1 blue" + AGENT, "line 1: unknown word 'blue'; known is red"),
    (GROUND + "diamond 5 5 1 red red" + AGENT, "line 1: one word too many: 'red'"),
    (GROUND + "\n" + "diamond 5 5 1; " * 17 + AGENT, "line 2: a layout has at most 16 diamonds"),
    (GROUND + "\n" + "box 5 5 1; " * 65 + AGENT, "line 2: a layout has at most 64 boxes"),
    (GROUND + "hill 5 5 5 5 2\nbox 5 5 2" + AGENT, "line 2: the box is inside of a floor or"),
    (GROUND + "hill 5 5 5 5 2\nbox 5 5 4" + AGENT, "line 2: the box has nothing beneath it"),
    (GROUND + "\nbox 5 5 1\nbox 5 5 1" + AGENT, "line [23]: there is a box in this cell already"),
    (GROUND + "hill 1 1 2 2 1" + AGENT, "agent 0 is inside of a hill"),
    (GROUND + "hill 2 1 2 1 5; agent 1.8 1.5 1", "agent 0 is inside of a hill"),
    (GROUND + "hill 2 2 2 2 5; agent 1.9 1.9 1", "agent 0 is inside of a hill"),
    (GROUND + "hill 1 1 2 2 3; agent 1.5 1.5 3.9", "agent 0 is inside of a hill"),
    (
        GROUND + AGENT + "; seconds 0",
        "line 1: seconds of '.*' must be from 0.0625 to 3600, got '0'",
    ),
]


pair = pair_fixture(GAME, OPTIONS)
test_parameters_that_do_not_go_together_are_refused_by_name = refused_parameters_test(
    GAME, BAD_VALUES
)
test_impossible_layouts_are_refused_with_their_line = refused_layouts_test(BAD_LAYOUTS)


def test_save_of_other_parameters_is_refused(pair: Pair, make_simulator: Make) -> None:
    changes = ({"agent_count": 2}, {"team_spirit": 0.5}, {"good_share": 0.5})
    made = [make_simulator(GAME, 2, **{**OPTIONS, **changed}) for changed in changes]
    check_saves_are_refused(pair, made)


# ---- what is allowed at the edges

GOOD_LAYOUTS = {
    "no diamond": GROUND + AGENT,
    "hills to the sky, all over": "floor 0 0 0 40 40 0; hill 0 0 40 40 20; agent 1.5 1.5 21",
    "corners the other way around": GROUND + "hill 8 8 4 4 3; diamond 5 5 4" + AGENT,
    "a pit": GROUND + "hill 0 0 9 9 5; hill 1 1 1 1 0" + AGENT,
    "24 hills": GROUND + "".join(f"hill {k} 5 {k} 9 {k % 20}; " for k in range(24)) + AGENT,
    "a hill beside the floor": GROUND + "hill 30 30 35 35 3; box 31 31 4; agent 33.5 33.5 4",
    "a diamond in a hill": GROUND + "hill 5 5 5 5 3; diamond 5 5 2" + AGENT,
    "16 diamonds in one cell": GROUND + "diamond 5 5 1; " * 16 + AGENT,
    "one step": GROUND + AGENT + "; seconds 0.0625",
}


test_layouts_at_the_edge_of_what_is_allowed_are_played = played_layouts_test(
    GAME, GOOD_LAYOUTS, OPTIONS
)
