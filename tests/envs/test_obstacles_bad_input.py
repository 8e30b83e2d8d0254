"""Obstacle courses: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from obstacles_courses import SHORT
from voxel_games import (
    check_agents_in_one_another_are_refused,
    check_saves_are_refused,
    pair_fixture,
    played_layouts_test,
    refused_layouts_test,
    refused_parameters_test,
)
from voxel_worlds import GROUND, Make, Pair

AGENT = "; agent 1.5 1.5 1"
OPTIONS = {**SHORT, "resolution": "5x9", "episode_seconds": 2}

# Parameters that do not go together, what the message says. What one alone cannot be:
# tests/contract/test_described_numbers.py; sizes and layers of pictures:
# tests/gpu_envs/core/test_pictures_bad_input.py.
BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    (
        {"platform_count_low": 3, "platform_count_high": 2},
        "platform_count_low=3 is above platform_count_high=2",
    ),
    ({"gap_low": 3, "gap_high": 2}, "gap_low=3 is above gap_high=2"),
    ({"lava_low": 5, "lava_high": 4}, "lava_low=5 is above lava_high=4"),
    ({"height_low": 4, "height_high": 3}, "height_low=4 is above height_high=3"),
    (
        {"walls": False, "lava": False, "steps": False, "gaps": False},
        "one of walls, lava, steps and gaps must be true",
    ),
    (
        {"platform_count_high": 7, "height_high": 5},
        "platform_count_high=7 obstacles of these sizes can need .* boxes, at most 112 are",
    ),
    ({"dtype": "float32"}, "dtype must be None, got 'float32': each layer of ObstaclesEasy-v0's"),
    ({"actions": "many"}, "actions must be .*'flat'.*, got 'many'"),
]

# Layouts, what the message says.
BAD_LAYOUTS: list[tuple[str, str]] = [
    (" ", "there is no floor"),
    ("# nothing", "there is no floor"),
    ("agent 1.5 1.5 1", "there is no floor"),
    (GROUND, "0 agents, but agent_count=1: every agent needs a place"),
    (GROUND + AGENT + AGENT, "line 1: one agent more than agent_count=1"),
    ("cow 1 2 3", "line 1: unknown thing 'cow'; known are floor, wall, walls, lava, pad, box"),
    ("floor 0 0 0 9 9 0\n\n# x\ncow", "line 4: unknown thing 'cow'"),
    ("Floor 0 0 0 9 9 0", "line 1: unknown thing 'Floor'"),
    ("flöör 0 0 0 9 9 0", r"line 1: unknown thing 'fl\?\?\?\?r'"),
    ("floor\0 0", r"line 1: unknown thing 'floor\?'"),
    ("floor 0 0 0 9 9", "line 1: z is missing"),
    ("floor", "line 1: x is missing"),
    ("floor 0 0 0 9 9 0 0", "line 1: one word too many: '0'"),
    ("floor 0 0 0 9 9 x", "line 1: z must be a whole number, got 'x'"),
    ("floor 0 0 0 9.5 9 0", "line 1: x must be a whole number, got '9.5'"),
    ("floor -1 0 0 9 9 0", "line 1: x of '.*' must be from 0 to 95, got '-1'"),
    ("floor 0 0 0 9 96 0", "line 1: y of '.*' must be from 0 to 95, got '96'"),
    ("floor 0 0 0 9 9 48", "line 1: z of '.*' must be from 0 to 47, got '48'"),
    (
        "floor 0 0 0 9 99999999 0",
        "line 1: y of 'floor 0 0 0 9 99999999' must be from 0 to 95, got '99999999'",
    ),
    ("wall 0 0 0 1", "line 1: y is missing"),
    ("walls", "line 1: hidden or shown is missing"),
    ("walls gone", "line 1: walls are hidden or shown, got 'gone'"),
    ("walls hidden now", "line 1: one word too many: 'now'"),
    ("lava 0 0 1 2 2", "line 1: z is missing"),
    ("pad 0 0 one 2 2 1", "line 1: z must be a whole number, got 'one'"),
    ("box 1 1", "line 1: z is missing"),
    (GROUND + "box 5 5 0" + AGENT, "line 1: the box is inside of a floor or a wall"),
    (GROUND + "\nbox 5 5 2" + AGENT, "line 2: the box has nothing beneath it"),
    (GROUND + "box 5 5 1\nbox 5 5 1" + AGENT, "line [12]: there is a box in this cell already"),
    (GROUND + "box 25 5 1" + AGENT, "line 1: the box has nothing beneath it"),
    (GROUND + "box 1 1 1" + AGENT, "agent 0 is inside of a box"),
    (GROUND + "agent 1.5 1.5 0.5", "agent 0 is inside of a floor or a wall"),
    (GROUND + "wall 2 0 1 2 9 3; agent 1.8 1.5 1", "agent 0 is inside of a floor or a wall"),
    ("agent 1.5 1.5", "line 1: z is missing"),
    ("agent nan 1.5 1", "line 1: x of '.*' must be from 0 to 96, got 'nan'"),
    ("agent 1.5 inf 1", "line 1: y of '.*' must be from 0 to 96, got 'inf'"),
    ("agent 1.5 -0.1 1", "line 1: y of '.*' must be from 0 to 96, got '-0.1'"),
    ("agent 1.5 1.5 1 yaw", "line 1: yaw is missing"),
    ("agent 1.5 1.5 1 yaw left", "line 1: yaw must be a number, got 'left'"),
    ("agent 1.5 1.5 1 yaw 4", "line 1: yaw of '.*' must be from -3.2 to 3.2, got '4'"),
    ("agent 1.5 1.5 1 pitch 1", "line 1: unknown word 'pitch'; known is yaw"),
    ("agent 1.5 1.5 1 1.57", "line 1: unknown word '1.57'; known is yaw"),
    ("seconds", "line 1: seconds is missing"),
    ("seconds 0", "line 1: seconds of '.*' must be from 0.0625 to 3600, got '0'"),
    ("seconds -3", "line 1: seconds of '.*' must be from 0.0625 to 3600, got '-3'"),
    ("seconds nan", "line 1: seconds of '.*' must be from 0.0625 to 3600, got 'nan'"),
    ("floor 0 0 0 9 9 0; " * 25, "line 1: a layout has at most 24 floors and walls"),
    (GROUND + "diamond 5 5 1; " * 9, "line 1: a layout has at most 8 diamonds"),
    (GROUND + "lava 5 5 1 6 6 1; " * 9, "line 1: a layout has at most 8 fields of lava and pads"),
    (GROUND + "box 5 5 1; " * 25, "line 1: a layout has at most 24 boxes"),
    ("#" * 20_000, "a text of 20000 bytes, at most 16384 are read"),
]


pair = pair_fixture("ObstaclesEasy-v0", OPTIONS)
test_parameters_that_do_not_go_together_are_refused_by_name = refused_parameters_test(
    "ObstaclesEasy-v0", BAD_VALUES
)
test_impossible_layouts_are_refused_with_their_line = refused_layouts_test(BAD_LAYOUTS)


def test_agents_of_a_layout_that_stand_in_one_another_are_refused(make_simulator: Make) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 1, agent_count=2, **OPTIONS)
    others = ("1.5 1.5 1", "1.9 1.9 1", "1.5 1.5 2.5")
    check_agents_in_one_another_are_refused(simulator, GROUND, "1.5 1.5 1", others)
    simulator.reset(options={"layout": GROUND + "agent 1.5 1.5 1; agent 2.2 1.5 1"})
    simulator.reset(options={"layout": GROUND + "agent 1.5 1.5 1; agent 1.5 1.5 3"})


@pytest.mark.parametrize("number", [-1, 324, 2**31 - 1])
def test_flat_actions_out_of_range_are_refused(make_simulator: Make, number: int) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 1, actions="flat", **OPTIONS)
    simulator.reset(seed=1)
    with pytest.raises(ValueError, match=r"world 0, agent 0: .* is not one of 0 to 323"):
        simulator.step(np.array([[number]]))
    assert simulator.get("world.step")[0, 0] == 0


def test_save_of_other_parameters_or_of_the_other_task_is_refused(
    pair: Pair, make_simulator: Make
) -> None:
    hard = make_simulator("ObstaclesHard-v0", 2, **OPTIONS)
    two = make_simulator("ObstaclesEasy-v0", 2, **{**OPTIONS, "agent_count": 2})
    other = make_simulator("ObstaclesEasy-v0", 2, **{**OPTIONS, "team_spirit": 0.5})
    check_saves_are_refused(pair, (hard, two, other))


# ---- what is allowed at the edges

GOOD_LAYOUTS = {
    "comments, commas, empty lines": "# a course\n\nfloor 0,0,0,9,9,0;;\tagent 1.5 1.5 1 # here",
    "corners the other way around": "floor 9 9 0 0 0 0; agent 1.5 1.5 1",
    "carriage returns": "floor 0 0 0 9 9 0\r\nagent 1.5 1.5 1\r\n",
    "an agent in the air": "floor 0 0 0 9 9 0; agent 1.5 1.5 30",
    "an agent beside its floor": "floor 0 0 0 9 9 0; agent 50 50 5",
    "the largest": "floor 95 95 47 0 0 47; agent 48 48 9; walls shown; walls hidden",
    "a stack": GROUND + "box 5 5 2; box 5 5 1; box 5 5 3" + AGENT,
    "one step": GROUND + AGENT + "; seconds 0.0625",
}


test_layouts_at_the_edge_of_what_is_allowed_are_played = played_layouts_test(
    "ObstaclesEasy-v0", GOOD_LAYOUTS, OPTIONS
)


def test_levels_at_the_limits_of_all_parameters_are_played(make_simulator: Make) -> None:
    most = {
        "agent_count": 8, "platform_count_low": 7, "platform_count_high": 7, "gap_high": 4,
        "lava_high": 10, "height_low": 1, "height_high": 4, "hardest_count": 7, "diamonds": 1,
        "hidden_walls": 1, "extra_boxes": 0.5, "stray_boxes": 1, "look_limit": 1.5, "hfov": 170,
    }  # fmt: skip
    least = {
        "platform_count_low": 1, "platform_count_high": 1, "gap_low": 1, "gap_high": 1,
        "lava_low": 1, "lava_high": 1, "height_low": 1, "height_high": 1, "hardest_count": 0,
        "hidden_walls": 0, "extra_boxes": 0, "stray_boxes": 0, "diamonds": 0, "look_limit": 0,
        "hfov": 1, "resolution": "1x1",
    }  # fmt: skip
    for name in ("ObstaclesEasy-v0", "ObstaclesHard-v0"):
        for parameters in (most, least):
            simulator = make_simulator(name, 4, strict=True, **{**OPTIONS, **parameters})
            simulator.reset(seed=1)
            for actions in np.random.default_rng(1).integers(0, 2, (60, 4, 1, 6)):
                agents = simulator.agents_per_world
                state = simulator.step(np.repeat(actions, agents, axis=1)).state
                assert np.isfinite(state).all()
