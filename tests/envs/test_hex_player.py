"""The scripted players of HexExplore and HexMemory: what they find and take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hex_mazes import EXPLORE, MEMORY, MIDDLES, Maze, number_of
from voxel_worlds import TINY, Array, Make

from gpu_envs import Simulator
from gpu_envs.players.scripted import Scripted


def play(simulator: Simulator, seed: int | None = 5, **choices: Any) -> tuple[Array, Array, Array]:
    """Play an episode in each world: which are solved, what teams were paid by parts, steps."""
    player = Scripted(simulator, simulator.roles[0], **choices)
    last = simulator.observe() if seed is None else simulator.reset(seed=seed)
    worlds = simulator.num_worlds
    solved, steps = np.zeros(worlds, bool), np.zeros(worlds, int)
    paid = np.zeros((worlds, 1 if simulator.name == EXPLORE else 2))
    while not steps.all():
        last = simulator.step(player.see(last))
        runs = steps == 0
        paid[runs] += last.reward_parts[runs].sum(axis=1)
        ends = last.terminated[:, 0] & runs
        solved[ends] = last.true_objective[ends, 0] == 1
        steps[ends] = last.episode_length[ends, 0]
    return solved, paid, steps


def made(make: Make, game: str, worlds: int, **options: Any) -> Simulator:
    return make(game, worlds, autoreset_mode="Disabled", **TINY, **options)


# ---- HexExplore


@pytest.mark.parametrize("agents", [1, 2, 4])
def test_player_finds_the_diamond(make_simulator, agents: int) -> None:
    worlds = 100 if agents == 1 else 30
    solved, paid, steps = play(made(make_simulator, EXPLORE, worlds, agent_count=agents))
    assert solved.mean() >= 0.99
    assert (paid[:, 0] == 5 * solved).all()
    assert np.median(steps) < 200


def test_player_finds_the_diamond_in_large_mazes_with_one_way_through(make_simulator) -> None:
    only = {"side_low": 7, "thinned_low": 0, "thinned_high": 0}
    solved, _, steps = play(made(make_simulator, EXPLORE, 30, **only))
    assert solved.all()
    assert steps.max() < 900


def test_player_goes_around_by_the_only_opening(make_simulator) -> None:
    """The diamond is beside it, behind a wall: the way leads through a third cell."""
    maze = Maze(make_simulator, EXPLORE, autoreset_mode="Disabled", side_low=2, side_high=2)
    start, end = number_of(0, -1), number_of(0, 0)
    walls = [(start, way) for way in (0, 2, 3, 4, 5)] + [(end, way) for way in (0, 1, 4, 5)]
    maze.set_walls(walls)
    maze.simulator.set("task.target", end)
    maze.place(0, *MIDDLES[start])
    solved, _, steps = play(maze.simulator, seed=None)
    assert solved.all()
    assert 25 < steps[0] < 60


# ---- HexMemory


@pytest.mark.parametrize(("worlds", "agents"), [(30, 1), (12, 2)])
def test_player_takes_all_that_match_and_hardly_any_other(make_simulator, worlds, agents) -> None:
    simulator = made(make_simulator, MEMORY, worlds, agent_count=agents, side_high=4)
    simulator.reset(seed=5)
    good = simulator.get("task.good_left")[:, 0].copy()
    solved, paid, _ = play(simulator)
    assert solved.mean() >= 0.95
    assert (paid[solved, 0] == good[solved]).all()
    assert (paid[:, 1] == 0).mean() >= 0.9
    assert paid.sum() > 0.95 * good.sum()


def test_player_jumps_over_what_it_cannot_walk_around(make_simulator) -> None:
    """Between two cells whose only opening is closed by things that do not match."""
    maze = Maze(make_simulator, MEMORY, autoreset_mode="Disabled", side_low=2, side_high=2)
    cells = [number_of(0, k) for k in (0, 1)]
    walls = [(cells[0], way) for way in range(1, 6)]
    walls += [(cells[1], way) for way in (0, 1, 2, 4, 5)]
    maze.set_walls(walls)
    middle = (MIDDLES[cells[0]] + MIDDLES[cells[1]]) / 2
    x, y = MIDDLES[cells[1]]
    maze.set_things((x + 1, y, True), *((middle[0], middle[1] + k, False) for k in (-0.8, 0.8)))
    maze.place(0, *MIDDLES[cells[0]])
    solved, paid, _ = play(maze.simulator, seed=None)
    assert solved.all()
    assert paid.tolist() == [[1, 0]]


def test_player_that_takes_all_things_gains_nothing(make_simulator) -> None:
    simulator = made(make_simulator, MEMORY, 20, side_high=3)
    simulator.reset(seed=5)
    good = simulator.get("task.good_left")[:, 0].copy()
    solved, paid, _ = play(simulator, takes_all=True)
    assert solved.mean() >= 0.95
    # An episode ends when the last that matches is taken: some others are left.
    net = paid.sum(axis=1) / good
    assert 0 <= net.mean() < 0.25
    assert paid[:, 1].sum() < -0.75 * good.sum()
