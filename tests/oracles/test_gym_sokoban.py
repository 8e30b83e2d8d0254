"""SokobanGrid in lock-step with gym-sokoban's own rules, PyPI gym-sokoban 0.0.6.

Its class gets the levels, plays the same actions and is compared after each step: every cell, the
reward, the end. What it draws pictures with is replaced, since only its rules are asked for.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

WORLDS, STEPS = 200, 130
WALL, FLOOR, GOAL, BOX_ON_GOAL, BOX, PLAYER, PLAYER_ON_GOAL = range(7)


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the class, imported beside modules of its own age."""
    found = importlib.util.find_spec("gym_sokoban")
    if found is None or found.origin is None:
        pytest.skip("needs gym-sokoban==0.0.6 (pip install --no-deps gym-sokoban==0.0.6 gym)")
    resources, folder = ModuleType("pkg_resources"), Path(found.origin).parent
    resources.resource_filename = lambda package, path: str(folder / path)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pkg_resources", resources)
    monkeypatch.setitem(sys.modules, "imageio", ModuleType("imageio"))
    module = pytest.importorskip("gym_sokoban.envs.sokoban_env")
    monkeypatch.setattr(module.SokobanEnv, "render", lambda self, mode: None)
    return module.SokobanEnv


def place(env: Any, cells: np.ndarray) -> None:
    """Lay a level out."""
    fixed = np.choose(cells, [WALL, FLOOR, GOAL, GOAL, FLOOR, FLOOR, GOAL])
    env.room_fixed, env.room_state = fixed, np.choose(cells, [0, 1, 2, 3, 4, 5, 5])
    env.player_position = np.argwhere(env.room_state == 5)[0]
    env.num_env_steps = env.boxes_on_target = 0


def shown(env: Any) -> np.ndarray:
    """Return its cells as SokobanGrid numbers them."""
    on_goal = (env.room_state == 5) & (env.room_fixed == GOAL)
    return np.where(on_goal, PLAYER_ON_GOAL, env.room_state)


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_games_are_equal(reference: Any, make_simulator: Any, difficulty: str) -> None:
    simulator: Simulator = make_simulator(
        "SokobanGrid-v0", WORLDS, difficulty=difficulty, autoreset_mode="Disabled"
    )
    outputs = simulator.reset(seed=5)
    games = [reference(reset=False) for _ in range(WORLDS)]
    for game, cells in zip(games, np.asarray(outputs.obs)[:, 0], strict=True):
        place(game, cells)
    random, over = np.random.default_rng(5), np.zeros(WORLDS, bool)
    solved = pushed = 0
    for _ in range(STEPS):
        actions = random.integers(0, 4, (WORLDS, 1))
        boxes = simulator.get("player.boxes").copy()
        outputs = simulator.step(actions)
        pushed += int((simulator.get("player.boxes") != boxes).sum())
        for world in np.flatnonzero(~over):
            _, reward, done, info = games[world].step(int(actions[world, 0]) + 1)
            assert np.array_equal(shown(games[world]), np.asarray(outputs.obs)[world, 0])
            assert outputs.reward[world, 0] == pytest.approx(reward, abs=1e-6)
            won = bool(info.get("all_boxes_on_target", False))
            assert bool(outputs.terminated[world, 0]) == (done and won)
            assert bool(outputs.truncated[world, 0]) == (done and not won)
            over[world], solved = done, solved + won
    assert over.all()
    assert pushed > 20 * WORLDS / 10
    assert solved > 0 or difficulty == "hard"
