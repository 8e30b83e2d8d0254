"""HexExplore and HexMemory through the public interface: spaces, infos, states, same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hex_mazes import (
    BOTH,
    EXPLORE,
    MEMORY,
    MIDDLE_OF_FORM,
    MIDDLES,
    SHIFT,
    Maze,
    Mazes,
    number_of,
    wall_ends,
)
from voxel_games import (
    Vec,
    check_infos,
    check_petting_zoo,
    check_spaces,
    played_state,
)
from voxel_worlds import TINY, Array, check_same_bytes, random_actions

from gpu_envs import Simulator

PARTS = {EXPLORE: ("solve",), MEMORY: ("good", "bad")}
SHORT: dict[str, dict[str, Any]] = {EXPLORE: {}, MEMORY: {"thing_seconds": 0}}
SMALL = {"side_high": 3, "episode_seconds": 5}


@pytest.mark.parametrize("game", BOTH)
def test_spaces_are_those_of_megaverse(make_vec: Vec, game: str) -> None:
    check_spaces(make_vec, game)


@pytest.mark.parametrize("game", BOTH)
@pytest.mark.parametrize("agents", [1, 3])
def test_infos_have_the_parts_of_rewards_and_the_objective_of_ended_episodes(
    make_vec: Vec, game: str, agents: int
) -> None:
    options = {"agent_count": agents, "episode_seconds": 1, **TINY, **SHORT[game]}
    check_infos(make_vec(game, 2, **options), PARTS[game])


@pytest.mark.parametrize("game", BOTH)
def test_forms_of_petting_zoo_play_what_the_simulator_plays(make_simulator, game: str) -> None:
    check_petting_zoo(make_simulator, game, **SHORT[game])


def checked_agents(simulator: Simulator, state: Array, numbers: int) -> Array:
    """Check the time and the bodies of two agents; return what follows them in the state."""
    get = simulator.get
    left = 1 - get("task.passed")[:, 0] / get("task.length")[:, 0]
    assert np.allclose(state[:, 0], left, atol=1e-6)
    assert (state[:, 1] == get("task.solved")[:, 0]).all()
    assert (state[:, 2] == get("task.side")[:, 0]).all()
    assert (state[:, 3] == get("task.wall_height")[:, 0]).all()
    first = 2 + numbers
    agents = state[:, first : first + 20].reshape(-1, 2, 10)
    assert (agents[..., :3] == get("agents.position")[:, :2]).all()
    assert (agents[..., 3:5] == get("agents.velocity")[:, :2]).all()
    assert (agents[..., 5] == get("agents.climb")[:, :2]).all()
    yaw = get("agents.yaw")[:, :2]
    assert np.allclose(agents[..., 6], np.cos(yaw), atol=1e-6)
    assert np.allclose(agents[..., 7], np.sin(yaw), atol=1e-6)
    assert (agents[..., 8] == get("agents.pitch")[:, :2]).all()
    assert (agents[..., 9] == get("agents.grounded")[:, :2]).all()
    return state[:, first + 20 :]


def checked_walls(simulator: Simulator, rest: Array) -> Array:
    """Check the floor and the walls; return what follows them in the state."""
    low, high = (simulator.get(f"statics.{end}")[:, 0] for end in ("low", "high"))
    assert (rest[:, :3] == low).all() and (rest[:, 3:6] == high).all() and (rest[:, 6] == 1).all()
    walls = rest[:, 7 : 7 + 294 * 6].reshape(-1, 294, 6)
    mazes = Mazes(simulator)
    assert (walls[..., 0] == mazes.there).all()
    for world in range(simulator.num_worlds):
        own = walls[world, mazes.there[world]]
        assert np.abs(own[:, 1:5].reshape(-1, 2, 2) - wall_ends(mazes, world)).max() < 1e-5
        assert (own[:, 5] == mazes.height[world]).all()
        assert not walls[world, ~mazes.there[world]].any()
    return rest[:, 7 + 294 * 6 :]


def test_state_of_hex_explore_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(EXPLORE, 4, agent_count=2, **TINY)
    state = played_state(simulator, 60)
    target = simulator.get("task.target")[:, 0]
    assert np.abs(state[:, 4:6] - MIDDLES[target]).max() < 1e-5
    rest = checked_walls(simulator, checked_agents(simulator, state, 4))
    assert rest.shape[1] == 0


def test_state_of_hex_memory_is_what_the_columns_say(make_simulator) -> None:
    simulator = make_simulator(MEMORY, 4, agent_count=2, side_high=3, **TINY)
    state = played_state(simulator, 200)
    get = simulator.get
    assert (state[:, 4] == get("task.good_left")[:, 0]).all()
    rest = checked_walls(simulator, checked_agents(simulator, state, 3))
    things = rest.reshape(4, 126, 4)
    there = np.arange(126) < get("things.count")
    sign = np.where(get("things.good") == 1, 1, -1) * get("things.left")
    assert (things[..., 0][there] == sign[there]).all() and not things[~there].any()
    assert {-1, 0, 1} == set(sign[there].tolist())
    at = get("things.at")[there] + SHIFT
    assert np.abs(things[there][:, 1:3] - at).max() < 1e-5
    forms = np.where(get("things.good") == 1, get("task.good_form"), get("task.bad_form"))
    heights = np.array(MIDDLE_OF_FORM)[forms][there]
    assert np.abs(things[there][:, 3] - heights).max() < 1e-6


def test_text_shows_what_there_is(make_simulator) -> None:
    maze = Maze(make_simulator, EXPLORE, side_low=3, side_high=3)
    maze.set_walls([(number_of(0, 0), 0)])
    maze.simulator.set("task.target", number_of(0, 1))
    maze.place(0, 0, 0)
    lines = maze.simulator.text(0).splitlines()
    assert any("^ | *" in line for line in lines)
    assert "agent 0 (you) in cell 0 0" in maze.simulator.text(0, viewer=0)
    maze = Maze(make_simulator, MEMORY, side_low=3, side_high=3)
    good, bad = (MIDDLES[number_of(*cell)] for cell in ((0, 1), (0, -1)))
    maze.set_walls([])
    maze.set_things((*good, True), (*bad, False))
    maze.place(0, *MIDDLES[number_of(1, 0)])
    assert any("!   o   *" in line for line in maze.simulator.text(0).splitlines())


@pytest.mark.parametrize("game", BOTH)
def test_same_seed_gives_the_same_bytes_alone_in_a_batch_and_after_a_save(
    make_simulator, game: str
) -> None:
    steps = random_actions(np.random.default_rng(0), 1000, 6, 2)
    ends, pictures = check_same_bytes(make_simulator, game, steps, 400, **SMALL, **SHORT[game])
    assert ends >= 12
    assert pictures > 500
