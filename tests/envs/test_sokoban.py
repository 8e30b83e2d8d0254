"""Sokoban-v0: levels of the bank solved by walking and pushing, pictures, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.envs.sokoban_levels import GRADES, WAYS, bank, part, solutions, walk

TINY = {"resolution": "1x1"}
WORDS = {"n": 0.0, "s": math.pi, "w": math.pi / 2, "e": -math.pi / 2}  # headings
STAND = (0, 0, 0, 0, 0, 0)


def place(row: int, column: int) -> tuple[float, float]:
    """Return the middle of a cell of the board [m]."""
    return 2.0 * column + 1.0, 2.0 * (9 - row) + 1.0


class Walker:
    """Walks to the cell beside each box of a solution and pushes it.

    Args:
        cells: The board at the beginning.
        pushes: A solution.
    """

    def __init__(self, cells: np.ndarray, pushes: list[Any]) -> None:
        self.cells, self.pushes = cells.copy(), list(pushes)
        self.way: list[tuple[int, int]] | None = None
        self.done = 0

    def act(self, x: float, y: float, yaw: float, speed: float, stands: bool) -> Any:
        """Return the action of a step."""
        if not stands or self.done == len(self.pushes):
            return STAND
        box, letter = self.pushes[self.done]
        beside = (box[0] - WAYS[letter][0], box[1] - WAYS[letter][1])
        here = (9 - int(y // 2), int(x // 2))
        if self.way is None:
            self.way = []
            at = here
            for action in walk(self._free(), here, beside):
                rows, columns = list(WAYS.values())[action]
                at = (at[0] + rows, at[1] + columns)
                self.way.append(at)
        if self.way:
            point = place(*self.way[0])
            if math.hypot(point[0] - x, point[1] - y) < 0.4:
                self.way.pop(0)
                return STAND
            return self._towards(x, y, yaw, speed, point)
        turn = self._turn(yaw, WORDS[letter])
        if turn:
            return (0, 0, turn, 0, 0, 0)
        middle, (rows, columns) = place(*beside), WAYS[letter]
        ahead = (x - middle[0]) * columns - (y - middle[1]) * rows
        if ahead < 0.1:
            return (1, 0, 0, 0, 0, 0)
        if speed > 0.1:
            return STAND
        self._push(box, letter)
        return (0, 0, 0, 0, 0, 1)

    def _free(self) -> np.ndarray:
        return np.where(self.cells >= 5, self.cells - 4, self.cells)

    def _push(self, box: tuple[int, int], letter: str) -> None:
        to = (box[0] + WAYS[letter][0], box[1] + WAYS[letter][1])
        self.cells[box] = {4: 1, 3: 2}[self.cells[box]]
        self.cells[to] = {1: 4, 2: 3, 5: 4, 6: 3}[self.cells[to]]
        self.way, self.done = None, self.done + 1

    def _turn(self, yaw: float, wanted: float) -> int:
        error = math.remainder(wanted - yaw, 2 * math.pi)
        return 0 if abs(error) < 0.12 else 1 if error > 0 else 2

    def _towards(
        self, x: float, y: float, yaw: float, speed: float, point: tuple[float, float]
    ) -> Any:
        wanted = math.atan2(x - point[0], point[1] - y)
        turn = self._turn(yaw, wanted)
        is_along = abs(math.remainder(wanted - yaw, 2 * math.pi)) < 0.3
        is_near = math.hypot(point[0] - x, point[1] - y) < 0.7
        return (int(is_along and not (is_near and speed > 2.0)), 0, turn, 0, 0, 0)


def test_200_levels_are_solved_by_a_walker_to_the_last_digit(make_simulator: Any) -> None:
    for grade in GRADES:
        levels = range(len(bank()[0]))[part("test", grade)][:: 3 if grade == "easy" else 4][:67]
        cells = bank()[0][list(levels)]
        walkers = [Walker(*pair) for pair in zip(cells, solutions(cells), strict=True)]
        options = {"split": "test", "difficulty": grade, "episode_seconds": 600.0, **TINY}
        first = part("test", grade).start
        simulators = [make_simulator("Sokoban-v0", 1, **options) for _ in walkers]
        totals = np.zeros(len(walkers))
        for k, (simulator, walker) in enumerate(zip(simulators, walkers, strict=True)):
            simulator.reset(seed=k, options={"level": levels[k] - first, "symmetry": 0})
            totals[k] = _play(simulator, walker)
            simulator.close()
        assert (totals == 14).all(), (grade, np.flatnonzero(totals != 14))


def _play(simulator: gpu_envs.Simulator, walker: Walker) -> float:
    """Play an episode; return what it paid, 0 where it was not solved."""
    total = 0.0
    for _ in range(9000):
        x, y, _ = simulator.get("agents.position")[0, 0].tolist()
        speed = math.hypot(*simulator.get("agents.velocity")[0, 0].tolist())
        yaw, stands = simulator.get("agents.yaw")[0, 0], simulator.get("agents.grounded")[0, 0]
        action = walker.act(x, y, float(yaw), speed, bool(stands))
        outputs = simulator.step(np.array([[action]]))
        total += float(outputs.reward[0, 0])
        if outputs.terminated.any():
            return total if outputs.true_objective[0, 0] == 1 else 0.0
    return 0.0


def test_levels_are_those_of_the_board(make_simulator: Any) -> None:
    options = {"split": "test", "difficulty": "medium", "symmetries": True}
    flat = make_simulator("SokobanGrid-v0", 40, **options)
    deep = make_simulator("Sokoban-v0", 40, **options, **TINY)
    flat.reset(seed=3), deep.reset(seed=3)
    assert np.array_equal(flat.get("player.level"), deep.get("task.level"))
    assert np.array_equal(flat.get("player.walls"), deep.get("task.walls"))
    assert np.array_equal(flat.get("player.goals"), deep.get("task.goals"))
    boxes = np.zeros(40, np.uint64)
    for x, y, z in np.moveaxis(deep.get("crates.cell"), (0, 1), (1, 0)).transpose(0, 2, 1):
        assert (z == 1).all()
        boxes |= np.uint64(1) << (8 * (8 - y) + x - 1).astype(np.uint64)
    assert np.array_equal(flat.get("player.boxes")[:, 0], boxes)


@pytest.mark.parametrize("agents", [1, 2, 4, 8])
def test_teams_play_many_levels_within_their_tables(make_simulator: Any, agents: int) -> None:
    simulator = make_simulator(
        "Sokoban-v0", 64, agent_count=agents, episode_seconds=1.0, resolution="2x2"
    )
    simulator.reset(seed=1)
    random = np.random.default_rng(1)
    for _ in range(90):
        outputs = simulator.step(random.integers(0, 2, (64, agents, 6)))
    assert outputs.obs.any()
    simulator.check()
    places = simulator.get("agents.position")[:, :agents, :2]
    assert places.min() > 2.3  # within the walls
    assert places.max() < 17.7


def test_hundred_thousand_resets_need_no_more_room_than_there_is(make_simulator: Any) -> None:
    simulator = make_simulator("Sokoban-v0", 2000, strict=True, outputs=(), **TINY)
    most = 0
    for seed in range(50):
        simulator.reset(seed=seed)
        most = max(most, simulator.get("task.part_count").max())
    simulator.check()
    assert most <= 37


def test_state_counts_the_goals_that_are_left(make_simulator: Any) -> None:
    simulator = make_simulator("Sokoban-v0", 3, outputs=("state",), difficulty="easy", **TINY)
    outputs = simulator.reset(seed=1)
    assert outputs.state.shape[0] == 3
    assert (np.asarray(outputs.state)[:, 2] == 4).all()


def test_pictures_show_kerbs_boxes_and_goals(make_simulator: Any) -> None:
    simulator = make_simulator("Sokoban-v0", 200, channels="last", resolution="36x64")
    outputs = simulator.reset(seed=1)
    pixels = np.asarray(outputs.obs).reshape(200, -1, 3).astype(int)
    # The lamp keeps the hue: orange, blue and green stand out by their strongest channel.
    orange = (pixels[..., 0] > 1.3 * pixels[..., 2]) & (pixels[..., 0] > 60)
    blue = (pixels[..., 2] > 1.5 * pixels[..., 0]) & (pixels[..., 2] > 60)
    green = (pixels[..., 1] > 1.4 * pixels[..., 0]) & (pixels[..., 1] > 1.3 * pixels[..., 2])
    assert orange.any(axis=1).mean() > 0.95
    assert blue.any(axis=1).all()  # boxes, and the bar of the time
    assert green.any(axis=1).mean() > 0.2
    black = (pixels == 0).all(axis=2).mean()
    assert 0.3 < black < 0.8  # above the walls there is nothing


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent_count": 9}, "agent_count"),
        ({"agent_count": 0}, "agent_count"),
        ({"team_spirit": 1.5}, "team_spirit"),
        ({"episode_seconds": 0}, "episode_seconds"),
        ({"levels": "nowhere.txt"}, "is missing"),
        ({"levels": "##\n"}, "line 1"),
        ({"difficulty": "hardest"}, "difficulty"),
        ({"split": 7}, "split"),
        ({"goal_reward": float("inf")}, "goal_reward"),
        ({"resolution": "0x4"}, "resolution"),
        ({"layout": "wall 0 0 0 1 1 1"}, "layout"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        gpu_envs.Simulator("Sokoban-v0", 1, device="cpu", **options)
