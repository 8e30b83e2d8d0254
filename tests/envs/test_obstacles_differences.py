"""What docs/obstacles.md and docs/voxel_games.md say of the differences from Megaverse: our side is
played, the other side computed from the numbers of its source, and the figures are held to both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from obstacles_courses import Course
from voxel_worlds import GROUND, RESTING, TINY, Array, action

DOCS = Path(__file__).parents[2] / "docs"
SECTION = "".join(
    (DOCS / page).read_text(encoding="utf-8").split("## What differs from the reference")[1]
    for page in ("voxel_games.md", "obstacles.md")
)
TURN = 3.5 / 15  # of one step [rad]


def play_until(course: Course, letters: str, done: Callable[[], bool]) -> None:
    """Play the same action until something holds, for at most 60 steps."""
    for _ in range(60):
        if done():
            return
        course.act(letters)
    raise AssertionError("60 steps were not enough")


def first_step(make_simulator, letters: str) -> tuple[Array, Array, Array]:
    """Play the first step of drawn levels; return positions before and after it, and climbs."""
    simulator = make_simulator("ObstaclesEasy-v0", 8, **TINY)
    simulator.reset(seed=1)
    before = simulator.get("agents.position")[:, 0].copy()
    simulator.step(np.tile(action(letters), (8, 1, 1)))
    return before, simulator.get("agents.position")[:, 0], simulator.get("agents.climb")[:, 0]


# ---- bodies


def test_nobody_jumps_or_runs_in_the_first_step_of_a_drawn_level(make_simulator) -> None:
    before, after, climb = first_step(make_simulator, "fj")
    assert climb == pytest.approx(-13.72 / 15)
    moved = np.linalg.norm((after - before)[:, :2], axis=1)
    assert moved == pytest.approx(3 / 15 / 15, abs=1e-6)
    assert before[:, 2] == pytest.approx(RESTING + 0.895)
    assert "0.9 m above" in SECTION and "3 m/s^2" in SECTION


def test_a_body_lands_in_step_5_and_jumps_from_then_on(make_simulator) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 8, **TINY)
    simulator.reset(seed=1)
    jumps = np.tile(action("j"), (8, 1, 1))
    grounded = []
    for _ in range(5):
        simulator.step(jumps)
        grounded.append(simulator.get("agents.grounded")[:, 0].tolist())
    assert grounded == [[0] * 8] * 4 + [[1] * 8]
    simulator.step(jumps)
    assert (simulator.get("agents.climb")[:, 0] > 5).all()
    assert "in step 5" in SECTION


def test_a_step_that_turns_pushes_along_the_new_heading(make_simulator) -> None:
    course = Course(make_simulator, GROUND + "agent 5.5 3.5 1 yaw 0")
    course.act("fL")
    moved = course.at() - [5.5, 3.5, RESTING]
    assert math.atan2(-moved[0], moved[1]) == pytest.approx(TURN, abs=1e-4)
    assert f"{math.degrees(TURN):.1f} degrees" in SECTION


ROOM = "floor 0 0 0 9 9 0; lava 4 6 1 6 6 1; agent 5.2 5.8 1 yaw 1.2; "


def test_lava_sends_an_agent_to_the_middle_of_its_cell_with_yaw_0(make_simulator) -> None:
    course = Course(make_simulator, ROOM)
    course.act("u")
    play_until(course, "R", lambda: course.get("agents.yaw") < -0.1)
    play_until(course, "f", lambda: course.at()[1] == 5.5)
    assert course.at() == pytest.approx([5.5, 5.5, RESTING], abs=1e-6)
    assert (course.get("agents.yaw"), course.get("agents.climb")) == (0, 0)
    assert course.get("agents.pitch") == pytest.approx(0.1)
    assert not course.get("agents.velocity").any()
    course.act("j")  # it counts as in the air
    assert course.get("agents.climb") == 0 and course.at()[2] == pytest.approx(RESTING, abs=1e-4)
    course.act("j")
    assert course.get("agents.climb") > 5


def test_a_fall_ends_on_top_of_a_box_that_fills_the_cell_by_now(make_simulator) -> None:
    course = Course(make_simulator, "floor 0 0 0 3 3 0; agent 1.5 2.6 1; box 0 0 1")
    play_until(course, "f", lambda: course.at()[1] > 5)
    cells = course.simulator.get("crates.cell").copy()
    cells[0, 0] = [1, 2, 1]
    course.simulator.set("crates.cell", cells)
    play_until(course, "-", lambda: course.at()[1] == 2.5)
    assert course.at() == pytest.approx([1.5, 2.5, RESTING + 1], abs=1e-6)


# ---- levels


def share_on_the_edge(low: int, high: int) -> float:
    """Return the share of single boxes of a step platform that Megaverse puts into the step.

    It draws one of the inner columns until the cell is not stacked to 2, at most ten times. Cells
    beyond the edge count as stacked to the step's height, the edge's own as empty.
    """
    found = []
    for rise in range(low, high + 1):
        for length in range(4, 10):
            for edge in range(1, length):
                inner = length - 2
                full = max(0, inner - edge) if rise >= 2 else 0
                tries = sum((full / inner) ** k for k in range(10))
                found.append(tries / inner if edge <= inner else 0.0)
    return float(np.mean(found))


def test_share_of_boxes_inside_a_step_is_what_the_page_says() -> None:
    easy, hard = share_on_the_edge(1, 3), share_on_the_edge(2, 4)
    assert f"probability {easy:.2f} in ObstaclesEasy and {hard:.2f} in ObstaclesHard" in SECTION


@pytest.mark.parametrize("name", ["ObstaclesEasy-v0", "ObstaclesHard-v0"])
def test_no_box_or_diamond_is_drawn_into_a_step(make_simulator, name: str) -> None:
    only = {"walls": False, "lava": False, "gaps": False, "diamonds": 1.0}
    simulator = make_simulator(name, 500, **TINY, **only)
    simulator.reset(seed=4)
    low, high = simulator.get("statics.low"), simulator.get("statics.high")
    for table, count in (("crates", "box"), ("diamonds", "diamond")):
        cells = simulator.get(f"{table}.cell") + 0.5
        rows = np.arange(cells.shape[1]) < simulator.get(f"course.{count}_count")
        pieces = np.arange(low.shape[1]) < simulator.get("course.piece_count")
        inside = (low[:, None] < cells[:, :, None]) & (cells[:, :, None] < high[:, None])
        assert rows.sum() > 500
        assert not (inside.all(-1) & rows[:, :, None] & pieces[:, None]).any()


HARDEST = {"lava": False, "gaps": False, "height_low": 3, "height_high": 3}


@pytest.mark.parametrize(
    ("options", "fewest", "most"),
    [
        ({}, 0, 1),
        ({"hardest_count": 0}, 0, 0),
        ({"hardest_count": 2, "platform_count_low": 7}, 0, 2),
        (HARDEST | {"platform_count_low": 3, "platform_count_high": 3}, 3, 3),
        (HARDEST | {"hardest_count": 0, "platform_count_high": 4}, 2, 4),
    ],
)
def test_hardest_count_holds_where_something_smaller_can_be_drawn(
    make_simulator, options: dict[str, object], fewest: int, most: int
) -> None:
    simulator = make_simulator("ObstaclesHard-v0", 200, **TINY, **options)
    simulator.reset(seed=1)
    hardest = simulator.get("course.hardest")
    assert (hardest.min(), hardest.max()) == (fewest, most)


# ---- time


def steps_of_megaverse(seconds: int) -> int:
    """Count additions of 1/15 s in float32 until `seconds` are reached."""
    step, clock, count = np.float32(1) / np.float32(15), np.float32(0), 0
    while clock < np.float32(seconds):
        clock, count = clock + step, count + 1
    return count


def test_some_whole_lengths_are_a_step_longer_in_megaverse(make_simulator) -> None:
    longest = 7 * 35 + 112
    longer = [s for s in range(60, longest + 1) if steps_of_megaverse(s) != 15 * s]
    assert longer == list(range(60, 272))
    assert all(steps_of_megaverse(seconds) == 15 * seconds + 1 for seconds in longer)
    assert "60 to 271 s" in SECTION and "901 steps for 60 s" in SECTION
    for seconds in (60, 61, 271, 272, longest):
        options = {"episode_seconds": seconds, "platform_seconds": 0, "box_seconds": 0}
        course = Course(make_simulator, **options)
        assert course.get("course.length") == 15 * seconds


def test_the_bar_is_shorter_than_megaverses_by_what_the_page_says() -> None:
    """Megaverse's is 0.24 m wide to each side, its face 0.199 m before eyes that see 100 degrees.

    Ours is as wide as the share of time left: tests/envs/test_obstacles_pictures.py.
    """
    ratio = 0.24 / (0.199 * math.tan(math.radians(50)))
    assert f"{100 * (ratio - 1):.1f} % wider" in SECTION
