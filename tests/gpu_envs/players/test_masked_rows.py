"""Steps of some worlds with `role=`: the players of other roles wait where their world does."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_envs.players import scripted

WORLDS = 5
STEPS = 16


def _actions(step: int) -> np.ndarray:
    return np.random.default_rng(step).integers(0, 5, 2 * WORLDS)


def _compare_halves(make_vec: Any, mode: str, others: Any) -> None:
    """Play whole steps, and the same steps in halves that differ from step to step."""
    options = {"num_taggers": 2, "autoreset_mode": mode, "max_episode_steps": 5, "others": others}
    whole, some = (make_vec("TagGrid-v0", WORLDS, role="tagger", **options) for _ in range(2))
    random = np.random.default_rng(0)
    for env in (whole, some):
        env.reset(seed=4)
    for step in range(STEPS):
        actions = _actions(step)
        expected = whole.step(actions)
        first = random.random(WORLDS) < 0.5
        for stepped in (first, ~first):
            rows = stepped.repeat(2)
            found = some.step(np.where(rows, actions, -1), worlds=rows if step % 2 else stepped)
            for mine, yours in zip(found[:4], expected[:4], strict=True):
                assert np.array_equal(mine[rows], yours[rows])
    assert whole.save() == some.save()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("others", ["random", "noop", ["random", "noop"]])
def test_halves_are_whole_steps_against_chance(make_vec, others, mode) -> None:
    _compare_halves(make_vec, mode, others)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("memory", [0, 4])
def test_halves_are_whole_steps_against_a_policy(make_vec, tmp_path, memory, mode) -> None:
    pytest.importorskip("torch")
    from tests.gpu_envs.players.test_other_players import _loosen
    from tests.gpu_envs.train import fresh

    path = fresh.write(tmp_path / "tag.ckpt", "TagGrid-v0", {"num_taggers": 2}, memory=memory)
    _loosen(path)
    _compare_halves(make_vec, mode, path)


class Counter:
    """A scripted player whose moves count up in each world, from the world's number."""

    def __init__(self, game: scripted.Game) -> None:
        self.steps = np.zeros(game.worlds, np.int64)
        self.agents = len(game.agents)

    def begin(self, worlds: list[int]) -> None:
        self.steps[worlds] = worlds

    def __call__(self, seen: scripted.Seen) -> np.ndarray:
        self.steps += 1
        return np.repeat(self.steps[:, None] % 5, self.agents, 1)

    def save_worlds(self, worlds: list[int]) -> dict[str, np.ndarray]:
        return {"steps": self.steps[worlds]}

    def load_worlds(self, worlds: list[int], rows: dict[str, np.ndarray]) -> None:
        self.steps[worlds] = rows["steps"]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("others", ["scripted", ["scripted", "random", "scripted"]])
def test_halves_are_whole_steps_against_a_scripted_player(
    make_vec, monkeypatch, others, mode
) -> None:
    monkeypatch.setattr(scripted, "required", lambda *_: Path("nowhere_player.py"))
    monkeypatch.setattr(scripted, "module_of", lambda _: SimpleNamespace(Player=Counter))
    _compare_halves(make_vec, mode, others)


def test_answers_of_a_callable_count_where_a_world_steps(make_vec) -> None:
    asked = []

    def others(role: str, obs: Any, mask: Any) -> np.ndarray:
        asked.append(role)
        answer = np.zeros(obs.shape[:2], int)
        answer[3] = 77
        return answer

    env = make_vec("TagGrid-v0", WORLDS, role="tagger", others=others)
    env.reset(seed=1)
    stepped = np.arange(WORLDS) != 3
    env.step(np.zeros(env.num_envs, int), worlds=stepped)
    assert env.simulator.get("world.step")[:, 0].tolist() == stepped.astype(int).tolist()
    before = env.simulator.save()
    with pytest.raises(ValueError, match="returned 77 for runner_0 in world 3"):
        env.step(np.zeros(env.num_envs, int))
    with pytest.raises(ValueError, match="worlds must have shape"):
        env.step(np.zeros(env.num_envs, int), worlds=[True])
    assert env.simulator.save() == before


def test_a_refused_step_of_some_worlds_moves_nobody(make_vec) -> None:
    env, twin = (make_vec("TagGrid-v0", WORLDS, role="tagger") for _ in range(2))
    for one in (env, twin):
        one.reset(seed=1)
    stepped = np.arange(WORLDS) < 2
    bad = np.full(env.num_envs, 99)
    with pytest.raises(ValueError, match="99"):
        env.step(bad, worlds=stepped)
    for one in (env, twin):
        one.step(np.zeros(env.num_envs, int), worlds=stepped)
        one.step(np.zeros(env.num_envs, int))
    assert env.simulator.save() == twin.simulator.save()
