"""The scripted player of the obstacle courses: it carries its boxes by hand and solves levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from obstacles_courses import BOTH, Course

from gpu_envs import Simulator
from gpu_envs.players import scripted

Array = np.ndarray[Any, Any]

OPTIONS = {
    "resolution": "1x1",
    "autoreset_mode": "Disabled",
    "outputs": ["state", "true_objective"],
}
KINDS = ("walls", "lava", "steps", "gaps")
SIZES = {"walls": (1, 2, 3, 4, 5), "steps": (1, 2, 3, 4, 5), "lava": tuple(range(1, 10))}
SIZES["gaps"] = (1, 2, 3, 4)
ONE = [(kind, size) for kind, sizes in SIZES.items() for size in sizes]


def play(simulator: Simulator, steps: int = 5000, **choices: Any) -> Array:
    """Play one episode in each world; return which were solved. The first reset is the caller's."""
    player = scripted.Scripted(simulator, simulator.roles[0], **choices)
    outputs = simulator.observe()
    solved = np.zeros(simulator.num_worlds, bool)
    over = np.zeros(simulator.num_worlds, bool)
    for _ in range(steps):
        outputs = simulator.step(player.see(outputs))
        ended = np.asarray(outputs.terminated)[:, 0]
        solved |= ended & (np.asarray(outputs.true_objective)[:, 0] == 1)
        over |= ended
        if over.all():
            break
    return solved


def one_obstacle(kind: str, size: int) -> dict[str, Any]:
    """Return parameters of levels with a single obstacle of a size, and no box too many."""
    name = {"walls": "height", "steps": "height", "lava": "lava", "gaps": "gap"}[kind]
    return {
        **{other: other == kind for other in KINDS},
        **{"platform_count_low": 1, "platform_count_high": 1, "extra_boxes": 0, "stray_boxes": 0},
        **{f"{name}_low": size, f"{name}_high": size},
    }


@pytest.mark.parametrize(("kind", "size"), ONE)
def test_every_obstacle_is_crossed_with_the_boxes_of_its_level(
    make_simulator, kind: str, size: int
) -> None:
    simulator = make_simulator("ObstaclesHard-v0", 3, **OPTIONS, **one_obstacle(kind, size))
    simulator.reset(seed=size)
    assert play(simulator).all()


STRAIGHT = "floor 0 0 0 6 20 0; wall 0 0 0 0 20 5; wall 6 0 0 6 20 5; wall 0 0 0 6 0 5; "
STRAIGHT += "wall 0 20 0 6 20 5; pad 1 18 1 5 19 2; agent 3.5 2.5 1; seconds 30; "
FAILS = {
    "wall 2": "wall 1 10 1 5 11 2; box 2 4 1",
    "wall 3": "wall 1 10 1 5 11 3; box 2 4 1; box 4 4 1; box 2 6 1",
    "step 2": "floor 1 10 1 5 20 2; box 2 4 1",
    "lava 5": "lava 1 10 1 5 14 1; box 2 4 1; box 4 4 1; box 2 6 1; box 4 6 1",
}


@pytest.mark.parametrize("name", FAILS)
def test_without_boxes_it_fails_where_with_them_it_does_not(make_simulator, name: str) -> None:
    layout = STRAIGHT + FAILS[name]
    if name == "step 2":
        layout = layout.replace("pad 1 18 1 5 19 2", "pad 1 18 3 5 19 4")
    for builds in (True, False):
        course = Course(make_simulator, layout, autoreset_mode="Disabled")
        assert play(course.simulator, builds=builds).tolist() == [builds]
        assert (course.get("agents.reached_exit") == 1) == builds


@BOTH
def test_it_solves_levels_as_they_are_by_default(make_simulator, name: str) -> None:
    worlds = 20 if name == "ObstaclesEasy-v0" else 4
    simulator = make_simulator(name, worlds, **OPTIONS)
    simulator.reset(seed=6)
    assert play(simulator).mean() >= 0.95


@pytest.mark.parametrize("agents", [2, 4])
def test_several_agents_reach_the_pad_together(make_simulator, agents: int) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 8, agent_count=agents, **OPTIONS)
    simulator.reset(seed=6)
    assert play(simulator).mean() >= 0.85


def test_it_takes_the_diamonds_on_its_way(make_simulator) -> None:
    layout = STRAIGHT + "diamond 1 8 1; diamond 5 12 1"
    course = Course(make_simulator, layout, autoreset_mode="Disabled")
    assert play(course.simulator).all()
    assert course.simulator.get("diamonds.left")[0, :2].tolist() == [0, 0]


def test_it_plays_a_world_alone_as_in_a_batch(make_simulator) -> None:
    def records(worlds: int, first: int) -> Array:
        simulator = make_simulator("ObstaclesHard-v0", worlds, first_world=first, **OPTIONS)
        simulator.reset(seed=3)
        play(simulator, steps=120)
        return simulator.get("agents.position")[:, 0]

    batch = records(4, 0)
    assert np.array_equal(batch[2:3], records(1, 2))
