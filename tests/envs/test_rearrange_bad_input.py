"""Rearrange: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from typing import Any

import pytest
from rearrange_rooms import GAME
from voxel_games import (
    check_agents_in_one_another_are_refused,
    check_saves_are_refused,
    pair_fixture,
    played_layouts_test,
    refused_layouts_test,
    refused_parameters_test,
)
from voxel_worlds import TINY, Make, Pair

AGENT = "; agent 9.5 2.5 1.5"
BALL = "object ball green 0 0 0"
GOOD = BALL + " at 2 2 0; object drum red 1 0 0"
OPTIONS = {"resolution": "5x9", "episode_seconds": 2}

BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    (
        {"object_count_low": 5, "object_count_high": 4},
        "object_count_low=5 is above object_count_high=4",
    ),
    ({"object_count_low": 8}, "object_count_low=8 is above object_count_high=7"),
    ({"misplaced_low": 3, "misplaced_high": 2}, "misplaced_low=3 is above misplaced_high=2"),
    ({"wall_low": 7}, "wall_low=7 is above wall_high=6"),
    ({"object_count_high": 10}, "parameter 'object_count_high' must be in 2 to 9, got 10"),
    ({"misplaced_low": 0}, "parameter 'misplaced_low' must be in 1 to 9, got 0"),
    ({"match_reward": float("nan")}, "parameter 'match_reward' must be a number, got nan"),
    ({"dtype": "float32"}, "dtype must be None, got 'float32': each layer of Rearrange-v0's"),
]

# Layouts, what the message says.
BAD_LAYOUTS: list[tuple[str, str]] = [
    (" ", "0 agents, but agent_count=1"),
    (GOOD, "0 agents, but agent_count=1: every agent needs a place"),
    ("agent 9.5 2.5 1.5", "there are fewer than 2 objects"),
    (BALL + " at 1 1 0" + AGENT, "there are fewer than 2 objects"),
    (BALL + "; object drum red 1 0 0" + AGENT, "every object is in its place already"),
    (GOOD + AGENT + AGENT, "line 1: one agent more than agent_count=1"),
    (
        GOOD + "\ncow 1 2 3" + AGENT,
        "line 2: unknown thing 'cow'; known are object, walls, agent, seconds$",
    ),
    (GOOD + "\nfloor 0 0 0 9 9 0" + AGENT, "line 2: unknown thing 'floor'"),
    (GOOD + "\nbox 4 4 1" + AGENT, "line 2: unknown thing 'box'"),
    (GOOD + "\nwall 4 4 1 5 5 1" + AGENT, "line 2: unknown thing 'wall'"),
    ("object" + AGENT, "line 1: a shape is missing"),
    ("object ball" + AGENT, "line 1: a colour is missing"),
    ("object ball green" + AGENT, "line 1: x is missing"),
    ("object ball green 0 0" + AGENT, "line 1: z is missing"),
    (
        "object cone green 0 0 0" + AGENT,
        "line 1: 'cone' is not a shape; known are block, ball, pill, drum$",
    ),
    (
        "object ball pink 0 0 0" + AGENT,
        "line 1: 'pink' is not a colour; known are yellow, green, .*, violet, light_pink$",
    ),
    ("object green ball 0 0 0" + AGENT, "line 1: 'green' is not a shape"),
    ("object Ball green 0 0 0" + AGENT, "line 1: 'Ball' is not a shape"),
    ("object ball green 2 0 0" + AGENT, "line 1: x of '.*' must be from -1 to 1, got '2'"),
    ("object ball green 0 -2 0" + AGENT, "line 1: y of '.*' must be from -1 to 1, got '-2'"),
    ("object ball green 0 0 2" + AGENT, "line 1: z of '.*' must be from 0 to 1, got '2'"),
    ("object ball green 0 0 -1" + AGENT, "line 1: z of '.*' must be from 0 to 1, got '-1'"),
    ("object ball green 0 0 0.5" + AGENT, "line 1: z must be a whole number, got '0.5'"),
    (BALL + " at 3 0 0" + AGENT, "line 1: x of '.*' must be from -2 to 2, got '3'"),
    (BALL + " at 0 0" + AGENT, "line 1: z is missing"),
    (BALL + " at" + AGENT, "line 1: x is missing"),
    (BALL + " on 0 0 0" + AGENT, "line 1: unknown word 'on'; known is at"),
    (BALL + " at 1 1 0 0" + AGENT, "line 1: one word too many: '0'"),
    (GOOD + "\n" + (BALL + "; ") * 8 + AGENT, "line 2: .*at most 9 objects"),
    (GOOD + "; object pill blue 0 0 0 at 1 1 0" + AGENT, "object 0 is where another one is in the"),
    (GOOD + "; object pill blue 0 1 0 at 2 2 0" + AGENT, "object 0 is where another one is in the"),
    (
        GOOD + "; object pill blue -1 0 1 at 1 1 0" + AGENT,
        "object 2 has nothing beneath it in the model",
    ),
    (
        GOOD + "; object pill blue -1 0 0 at 1 1 1" + AGENT,
        "object 2 has nothing beneath it in the copy",
    ),
    (GOOD + "; agent 9.5 2.5 1", "agent 0 is inside of the floor or a pedestal"),
    (GOOD + "; agent 13.5 8.5 1.8", "agent 0 is inside of the floor or a pedestal"),
    (GOOD + AGENT + "; walls gone", "line 1: walls are hidden or shown, got 'gone'"),
    (GOOD + AGENT + "; seconds 0", "line 1: seconds of '.*' must be from 0.0625 to 3600, got '0'"),
    (GOOD + "; agent nan 1.5 2", "line 1: x of '.*' must be from 0 to 96, got 'nan'"),
]


pair = pair_fixture(GAME, OPTIONS)
test_parameters_that_do_not_go_together_are_refused_by_name = refused_parameters_test(
    GAME, BAD_VALUES
)
test_impossible_layouts_are_refused_with_their_line = refused_layouts_test(BAD_LAYOUTS)


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("13.5 8.5 2.06", "an object of the copy"),
        ("5.5 8.5 2.06", "an object of the model"),
        ("0.9 5 3", "a wall"),
        ("18.1 5 3", "a wall"),
        ("9.5 0.9 3", "a wall"),
        ("9.5 13.2 3", "a wall"),
    ],
)  # fmt: skip
def test_agents_of_a_layout_stand_in_no_object_and_no_wall(
    make_simulator: Make, place: str, what: str
) -> None:
    """The room's walls are in every level, so no line names them."""
    simulator = make_simulator(GAME, 1, **TINY)
    before = simulator.reset(seed=1).obs.tobytes()
    layout = f"object ball green 0 0 0; object drum red 1 0 0 at -2 -2 0; agent {place}"
    with pytest.raises(ValueError, match=f"agent 0 is inside of {what}"):
        simulator.reset(options={"layout": layout})
    assert simulator.observe().obs.tobytes() == before


def test_agents_of_a_layout_that_stand_in_one_another_are_refused(make_simulator: Make) -> None:
    simulator = make_simulator(GAME, 1, agent_count=2, **OPTIONS)
    check_agents_in_one_another_are_refused(simulator, GOOD + "; ", "9.5 2.5 1.5", ["9.9 2.5 1.5"])


def test_save_of_other_parameters_is_refused(pair: Pair, make_simulator: Make) -> None:
    changes = ({"agent_count": 2}, {"team_spirit": 0.5}, {"misplaced_high": 3})
    made = [make_simulator(GAME, 2, **{**OPTIONS, **changed}) for changed in changes]
    check_saves_are_refused(pair, made)


# ---- what is allowed at the edges

NINE = "; ".join(
    f"object block white {x} {y} 0 at {2 * x} {2 * y} 0" for x in (-1, 0, 1) for y in (-1, 0, 1)
)
GOOD_LAYOUTS = {
    "two": GOOD + AGENT,
    "nine": NINE + AGENT,
    "comments, commas, empty lines": "# x\n\n" + GOOD.replace(" 0 ", ", 0 ") + ";;" + AGENT,
    "a stack in the copy": BALL + " at 2 2 1; object drum red 1 0 0 at 2 2 0" + AGENT,
    "an agent in the air": GOOD + "; agent 9.5 7 9",
    "walls, seconds": GOOD + AGENT + "; walls hidden; walls shown; seconds 0.0625",
}


test_layouts_at_the_edge_of_what_is_allowed_are_played = played_layouts_test(
    GAME, GOOD_LAYOUTS, OPTIONS
)
