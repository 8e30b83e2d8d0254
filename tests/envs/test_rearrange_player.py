"""The scripted player of Rearrange: it carries objects by hand, in an order that works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rearrange_rooms import ALL_REWARD, GAME, PARTS
from voxel_worlds import TINY, Array, Make

from gpu_envs import Simulator
from gpu_envs.players.scripted import Scripted

OPTIONS = {**TINY, "autoreset_mode": "Disabled"}


def play(simulator: Simulator, steps: int = 900) -> tuple[Array, Array]:
    """Play an episode in each world; return which are solved, and what teams were paid by parts."""
    player = Scripted(simulator, simulator.roles[0])
    last = simulator.observe()
    worlds = simulator.num_worlds
    solved, is_over = np.zeros((2, worlds), bool)
    paid = np.zeros((worlds, len(PARTS)))
    for _ in range(steps):
        last = simulator.step(player.see(last))
        paid[~is_over] += last.reward_parts[~is_over].sum(axis=1)
        ends = last.terminated[:, 0] & ~is_over
        solved[ends] = last.true_objective[ends, 0] == 1
        is_over |= ends
        if is_over.all():
            break
    return solved, paid


def check_solved(simulator: Simulator) -> None:
    """Check that every world is solved and each object that was out of place is paid once."""
    moved = simulator.get("task.object_count") - simulator.get("task.best")
    solved, paid = play(simulator)
    assert solved.all(), np.flatnonzero(~solved)
    assert (paid == np.hstack([moved, np.tile([ALL_REWARD, 0.0], (len(paid), 1))])).all()


LEVELS = {
    "default": {},
    "easiest": {"object_count_high": 2, "misplaced_high": 1},
    "hardest": {"object_count_low": 9, "object_count_high": 9, "misplaced_low": 9},
}


@pytest.mark.parametrize("name", LEVELS)
def test_it_solves_drawn_levels_and_is_paid_for_each_object(
    make_simulator: Make, name: str
) -> None:
    simulator = make_simulator(GAME, 6, **OPTIONS, **LEVELS[name])
    simulator.reset(seed=4)
    check_solved(simulator)


@pytest.mark.parametrize("agents", [2, 4, 8])
def test_several_agents_do_not_keep_each_other_from_it(make_simulator: Make, agents: int) -> None:
    simulator = make_simulator(GAME, 4, agent_count=agents, object_count_low=5, **OPTIONS)
    simulator.reset(seed=4)
    check_solved(simulator)


SQUARE = "object ball green 0 0 0 at {}; object drum red 1 0 0 at {}; "
RING = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
COLOURS = ("yellow", "green", "blue", "orange", "grey", "white", "violet", "light_pink")
AROUND = [f"object block {colour} {x} {y} 0" for (x, y), colour in zip(RING, COLOURS, strict=True)]
ROOMS = {
    "two in each other's place": SQUARE.format("1 0 0", "0 0 0"),
    "one below another that belongs under it": (
        "object ball green 0 0 0 at 0 0 1; object drum red 0 0 1 at 0 0 0; "
    ),
    "one in place on a wrong one": (
        "object ball green 0 0 0 at 2 2 0; object drum red 0 0 1; "
        "object block blue 1 0 0 at 0 0 0; "
    ),
    "wrong ones beneath what is loose": (
        SQUARE.format("2 2 1", "-2 -2 1")
        + "object block blue -1 0 0 at 2 2 0; object pill grey 0 1 0 at -2 -2 0; "
    ),
    "the middle last, with all around in place": "; ".join(
        ["object ball red 0 0 0 at 2 2 0", *AROUND, ""]
    ),
    "a wrong one walled in": "; ".join(
        [
            "object ball red 0 0 0 at -1 -1 0",
            "object block yellow -1 -1 0 at 0 0 0",
            *AROUND[1:],
            "",
        ]
    ),
}


@pytest.mark.parametrize("agents", [1, 2])
@pytest.mark.parametrize("name", ROOMS)
def test_it_finds_an_order_in_which_objects_can_be_carried(
    make_simulator: Make, name: str, agents: int
) -> None:
    places = "; ".join(f"agent {9.5 + k} 3.5 1.5" for k in range(agents))
    simulator = make_simulator(GAME, 1, agent_count=agents, **OPTIONS)
    simulator.reset(seed=1, options={"layout": ROOMS[name] + places})
    check_solved(simulator)


@pytest.mark.parametrize("place", ["17.3 8.5 1.5", "13.5 12.3 1.5", "1.6 8.5 1.5", "5.5 12.3 1.5"])
def test_it_jumps_onto_a_pedestal_whose_side_has_no_steps(make_simulator: Make, place: str) -> None:
    simulator = make_simulator(GAME, 1, **OPTIONS)
    layout = SQUARE.format("2 2 0", "2 0 0") + f"agent {place}"
    simulator.reset(seed=1, options={"layout": layout})
    check_solved(simulator)


def test_it_plays_a_world_alone_as_in_a_batch(make_simulator: Make) -> None:
    def records(worlds: int, first: int) -> Any:
        simulator = make_simulator(GAME, worlds, first_world=first, agent_count=2, **OPTIONS)
        simulator.reset(seed=3)
        play(simulator, steps=120)
        return simulator.get("agents.position")[:, :2]

    batch = records(4, 0)
    assert np.array_equal(batch[2:3], records(1, 2))
