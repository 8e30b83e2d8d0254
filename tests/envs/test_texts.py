"""Texts of worlds laid out by hand, letter by letter, and what each agent's text leaves out.

Texts of games on a grid are tested beside those games; that a text stays small and tells steps, in
tests/contract/test_for_people.py, and that it bears any state, in tests/contract/test_columns.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import swarm_worlds as swarms
from hide_seek_worlds import AHEAD, ALL, GRAB, LOCK, Scene, random_actions, simulate

from gpu_envs import Simulator
from tests.envs.tag_continuous_worlds import made, put

Make = Callable[..., Simulator]
CARTS = ("CartPole-v0", "CartPole64-v0", "CartPoleContinuous-v0")
CART = r"""
                                         /
                                         /
                                         /
                                        /
                                        /
    |---------------------------------[===]---------|
cart: position 1.20 m, velocity -0.50 m/s
pole: angle 8.6 degrees, angular velocity 180.0 degrees/s
positive is to the right; limits are 2.4 m and 12 degrees
step 0 of 500
"""[1:]


def lay_cart(simulator: Simulator, *numbers: float) -> None:
    for column, number in zip(("x", "velocity", "angle", "spin"), numbers, strict=True):
        simulator.set(f"cart.{column}", number)


@pytest.mark.parametrize("name", CARTS)
def test_cart_and_pole_are_drawn_above_their_numbers(make_simulator: Make, name: str) -> None:
    simulator = make_simulator(name, 1)
    simulator.reset(seed=1)
    lay_cart(simulator, 1.2, -0.5, 0.15, math.pi)
    assert simulator.text(0) == CART


@pytest.mark.parametrize("name", CARTS)
def test_velocities_that_the_agent_is_not_shown_are_hidden_from_it(
    make_simulator: Make, name: str
) -> None:
    simulator = make_simulator(name, 1, velocities=False)
    simulator.reset(seed=1)
    lay_cart(simulator, 1.2, -0.5, 0.15, math.pi)
    assert simulator.text(0) == CART
    own = simulator.text(0, 0)
    assert "velocity" not in own
    assert own.splitlines() == [line.split(", ")[0] for line in CART.splitlines()]


def test_cart_and_pole_beyond_every_limit_are_drawn_at_the_edge(make_simulator: Make) -> None:
    simulator = make_simulator("CartPole64-v0", 1)
    simulator.reset(seed=1)
    for x in (-1e300, 1e300, -3.0, 3.0):
        lay_cart(simulator, x, 1e300, -x, 0)
        lines = simulator.text(0).splitlines()
        assert max(map(len, lines[:6])) <= 57
        assert lines[5].startswith("==]") if x < 0 else lines[5].endswith("[==")
        assert "velocity above 1000000000 m/s" in lines[6]


def test_a_flock_is_counted_by_cells(make_simulator: Make) -> None:
    simulator = make_simulator("Flocking-v0", 1, agent_count=5)
    simulator.reset(seed=1)
    places = np.array([[0, 0], [0.5, 0.5], [0.5, 0.5], [0.999, 0.999], [0.25, 0.75]], np.float32)
    heading = np.array([0, 0, 0, np.pi, np.pi / 2], np.float32)
    swarms.place(simulator, swarms.Swarm(*places.T, heading, np.full(5, 0.02, np.float32)))
    text = simulator.text(0, 4).splitlines()
    marks = {(x, y): mark for y, line in enumerate(text[:26]) for x, mark in enumerate(line)}
    assert {at: mark for at, mark in marks.items() if mark not in " +-|"} == {
        (1, 24): "1",
        (25, 12): "2",
        (48, 1): "1",
        (13, 6): "@",
    }
    assert text[26:] == [
        "1 to 9: agents of a cell, @ you",
        "5 agents, mean speed 0.0200 sides a step, order 0.45 (1: all head the same way)",
        "you: at 0.25 0.75, heading 90 degrees, speed 0.0200",
        "step 0 of 400",
    ]


@pytest.mark.parametrize("agents", [1000, 30000])
def test_digits_of_a_flock_add_up_and_a_crowd_is_divided(make_simulator: Make, agents: int) -> None:
    simulator = make_simulator("Flocking-v0", 1, agent_count=agents)
    simulator.reset(seed=2)
    text = simulator.text(0)
    digits = [int(mark) for mark in "".join(text.splitlines()[1:25]) if mark.isdigit()]
    divided = re.search(r"divided by (\d+) and rounded up", text)
    unit = int(divided[1]) if divided else 1
    assert (unit == 1) == (agents == 1000)
    assert agents <= unit * sum(digits) < agents + unit * len(digits)
    assert max(digits) <= 9
    swarms.place(simulator, swarms.Swarm(*np.full((4, agents), 0.5, np.float32)))
    text = simulator.text(0)
    assert [mark for mark in "".join(text.splitlines()[1:25]) if mark.isdigit()] == ["9"]
    assert "order 1.00" in text


def test_a_swarm_at_tag_marks_chasers_and_counts_touches(make_simulator: Make) -> None:
    simulator = make_simulator("SwarmTag-v0", 1, chaser_count=40, runner_count=300)
    simulator.reset(seed=3)
    counts = set()
    for seed in range(30):
        touching = int(
            (simulator.step(simulator.sample_actions(seed=seed)).reward[0, :40] > 0).sum()
        )
        text = simulator.text(0)
        assert "\n40 chasers, mean speed 0." in text and "\n300 runners, mean speed 0." in text
        assert f"\nchasers touching a runner: {touching}\n" in text
        assert 30 < text.count("C") <= 41  # one in the legend; some share a cell
        counts.add(touching)
    assert len(counts) > 2


@pytest.mark.parametrize(("x", "touching"), [(0.005, 1), (0.02, 0)])
def test_a_touch_over_the_edge_counts(make_simulator: Make, x: float, touching: int) -> None:
    simulator = make_simulator("SwarmTag-v0", 1, profile="floxs", chaser_count=1, runner_count=1)
    simulator.reset(seed=3)
    place, none = np.array([0.995, x], np.float32), np.zeros(2, np.float32)
    swarms.place(simulator, swarms.Swarm(place, none, none, none))
    assert f"\nchasers touching a runner: {touching}\n" in simulator.text(0)


def test_one_kind_alone_has_a_text(make_simulator: Make) -> None:
    simulator = make_simulator("SwarmTag-v0", 1, chaser_count=0, runner_count=2)
    simulator.reset(seed=3)
    assert "\n0 chasers\n2 runners, mean speed" in simulator.text(0)


def test_a_square_of_tag_shows_who_is_in_the_game() -> None:
    simulator = made("tagger 0 0 0; runner 10 10 1.5707964; runner 5 5 0; runner 2.5 7.5 0")
    put(simulator, "in_game", np.array([1, 1, 1, 0]))
    put(simulator, "speed", np.array([0.5, 0, 0.125, 0]))
    lines = simulator.text(0, 2).splitlines()
    assert [line.rstrip(" |") for line in (lines[1], lines[6], lines[12], lines[24])] == [
        "|" + " " * 47 + "r",
        "|" + " " * 12 + "x",
        "|" + " " * 24 + "@",
        "|T",
    ]
    assert lines[26:] == [
        "T tagger, r runner, x tagged and out, @ you",
        "tagger_0 at 0.00 0.00, heading 0 degrees, speed 0.500",
        "runner_1 at 10.00 10.00, heading 90 degrees, speed 0.000",
        "runner_2 (you) at 5.00 5.00, heading 0 degrees, speed 0.125",
        "runner_3 at 2.50 7.50, tagged and out",
        "taggers 1, runners in the game 2 of 3",
        "step 0 of 100",
    ]


def test_a_crowd_at_tag_has_a_line_for_the_viewer_alone() -> None:
    simulator = made(num_taggers=5, num_runners=95)
    assert simulator.text(0).count("heading") == 0
    assert simulator.text(0, 7).count("heading") == simulator.text(0, 7).count("(you)") == 1
    assert "taggers 5, runners in the game 95 of 95" in simulator.text(0)


def test_words_of_micro_are_a_table(make_simulator: Make) -> None:
    simulator = make_simulator("Micro-v0", 1, agent_count=2)
    simulator.reset(seed=1)
    words = simulator.get("agents.words")
    words[0, :2] = [[0.5, 0.25, 0, 1], [0.0625, 0.03125, 0.99999, 0.1]]
    simulator.set("agents.words", words)
    assert simulator.text(0, 1) == (
        "agent: word 0, which is the reward, words 1 to 3\n"
        "0: 0.5000 0.2500 0.0000 1.0000\n"
        "1 (you): 0.0625 0.0313 1.0000 0.1000\n"
        "step 0 of 200\n"
    )


def test_a_crowd_of_micro_is_cut_but_for_the_viewer(make_simulator: Make) -> None:
    simulator = make_simulator("Micro-v0", 1, agent_count=1000)
    simulator.reset(seed=1)
    lines = simulator.text(0, 999).splitlines()
    assert len(lines) == 24 and lines[21].startswith("999 (you): ")
    assert lines[22] == "and so on, 1000 agents"


# ---- hide and seek

YARD = (
    "wall -18 -18 18 -18; wall -18 18 18 18; wall -18 -18 -18 18; wall 18 -18 18 18; wall 4 0 4 10;"
    "hider -10 -10; hider 0 6 yaw -1.5707964; seeker 10 6 yaw 1.5707964; "
    "cube 1 12 locked hiders; long -10 -5 yaw 1.5707964; ramp 10 -10 locked seekers"
)
ARENA = """\
+------------------------------------------------+
|################################################|
|#                                              #|
|#                                              #|
|#                                              #|
|#                       ***                    #|
|#                           ##                 #|
|#                           ##                 #|
|#                           ##                 #|
|#                       B   ##       a         #|
|#                           ##                 #|
|#                           ##                 #|
|#                           ##                 #|
|#                                              #|
|#         ++                                   #|
|#         ++                                   #|
|#         ++                                   #|
|#         ++                                   #|
|#         ++                                   #|
|#         A                         %%         #|
|#                                   %%         #|
|#                                              #|
|#                                              #|
|#                                              #|
|################################################|
+------------------------------------------------+
A, B hiders, a, b seekers, # wall, + box, * locked box, / ramp, % locked ramp
A hider_0 at -10.0 -10.0, looks up, sees box 1
B hider_1 at 0.0 6.0, looks right, sees ramp 0
a seeker_0 at 10.0 6.0, looks left, sees nothing
locked: box 0 by hiders, ramp 0 by seekers
seekers see: no hider
step 0, seekers are on the hunt
"""


def test_a_yard_is_drawn_with_what_each_agent_does(make_simulator: Make) -> None:
    scene = Scene("fixed", YARD)
    assert scene.simulator.text(0) == ARENA


def names_of(line: str) -> list[str]:
    """Return what an agent sees, by its line."""
    found = re.search(r"sees ([^;]*)", line)
    assert found, line
    return [] if found[1] == "nothing" else found[1].split(", ")


def seen_by(simulator: Simulator, outputs: Any, agent: int) -> list[str]:
    """Return the same by its observation."""
    hiders, agents = simulator.parameters["hider_count"], simulator.agents_per_world
    letters = [chr(65 + k) if k < hiders else chr(97 + k - hiders) for k in range(agents)]
    others = [k for k in range(agents) if k != agent]
    if simulator.parameters["profile"] == "openai":
        others = [(agent + 1 + k) % agents for k in range(agents - 1)]
    row = {name: values[0, agent] for name, values in outputs.obs.items()}
    seen = sorted(
        letters[k] for k, shows in zip(others, row["visible_others"], strict=True) if shows
    )
    boxes = [f"box {k}" for k in np.flatnonzero(row["visible_boxes"])]
    return [*seen, *boxes, *(f"ramp {k}" for k in np.flatnonzero(row["visible_ramps"]))]


@pytest.mark.parametrize("profile", ALL)
def test_agents_see_in_the_text_what_their_observations_show(profile: str) -> None:
    simulator = simulate(profile, hider_count=3, seeker_count=3, preparation_steps=0)
    random, found, hidden = np.random.default_rng(4), 0, 0
    for seed in range(12):
        outputs = simulator.reset(seed=seed)
        for _ in range(6):
            outputs = simulator.step(random_actions(simulator, random))
        lines = [line for line in simulator.text(0).splitlines() if " sees " in line]
        assert len(lines) == 6
        for agent, line in enumerate(lines):
            seen = seen_by(simulator, outputs, agent)
            assert names_of(line) == seen, line
            own = simulator.text(0, agent)
            assert f"{line.split(' at')[0]} (you) at" in own
            assert own.count(" is not seen\n") == 5 - sum(len(name) == 1 for name in seen)
            found, hidden = found + len(seen), hidden + own.count(" is not seen")
        caught = "seekers see: no hider" not in simulator.text(0)
        assert caught == (outputs.reward[0, 3] > 0) or abs(outputs.reward[0, 3]) > 1
    assert found > 40 and hidden > 40


def test_what_an_agent_does_not_see_is_not_in_its_text_nor_on_its_map() -> None:
    hidden = "wall -8 4 8 4; hider 0 0; seeker 0 12; cube 3 12 locked seekers"
    scene, other = Scene("fixed", hidden), Scene("fixed", hidden.replace("12", "9"))
    assert scene.simulator.text(0, 0) == other.simulator.text(0, 0)
    assert scene.simulator.text(0) != other.simulator.text(0)
    assert "a seeker_0 is not seen" in scene.simulator.text(0, 0)
    everything = Scene("fixed", hidden, observation_mode="full").simulator
    assert "is not seen" not in everything.text(
        0, 0
    ) and "locked: box 0 by seekers" in everything.text(0, 0)


def test_grips_locks_and_the_preparation_are_told() -> None:
    scene = Scene("fixed", "hider 0 0; seeker 12 12; cube 0 3", preparation_steps=5)
    assert "step 0, preparation: seekers are frozen for 5 more steps" in scene.simulator.text(0)
    scene.step({0: GRAB})
    assert "; holds box 0\n" in scene.simulator.text(0)
    scene.step({0: LOCK})
    text = scene.simulator.text(0)
    assert "locked: box 0 by hiders\n" in text
    assert "frozen for 3 more steps" in text
    scene.step({0: AHEAD}, 3)
    assert "step 5, seekers are on the hunt" in scene.simulator.text(0)
