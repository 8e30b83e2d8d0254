"""The policies in trained/: small files that can be loaded, and play better than chance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch

from gpu_envs.known import measures, registration
from gpu_envs.players import policy_files
from gpu_envs.policies import saved, teams
from gpu_envs.policies.sharing import groups
from gpu_envs.policies.teams import NOBODY
from gpu_envs.train import evaluate, worlds
from gpu_envs.train.config import Config

FILES = sorted(policy_files.folder().glob("*.ckpt"))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more than such networks."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_every_environment_with_something_to_learn_has_one() -> None:
    found = {path.stem for path in FILES}
    ours = set(registration.shipped())
    assert found == {name for name in ours if measures.measures_of(name)["learning"]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_trained_policy_is_small_and_better_than_chance(path: Path) -> None:
    assert path.stat().st_size < 1_000_000
    tree = saved.read(path)
    config, agents = Config(**tree["config"]), tree["outlook"]["agents"]
    assert not {"out", "init"} & set(tree["config"])  # nobody's folders
    own: dict[str, Any] = {**config.parameters, **config.evaluation_parameters}
    count = 16
    if agents > 100:  # a world is a crowd: a part of an episode of one is enough
        count, own["max_episode_steps"] = 1, 60
    env = worlds.Worlds(config.env, count, device="cpu", arrays="torch", threads=1, **own)
    with closing(env):
        team = teams.Team.load(path, env.simulator)
        sides = groups(config.policies, env.agent_names, config.learn)
        played = {}
        for side, members in {"": [], **sides}.items():  # one side learned at a time, at first none
            seats = [k if a in members else NOBODY for a, k in enumerate(team.of_agent)]
            rows = evaluate.rows_of(seats, count, "cpu")
            sampled = config.sampled_evaluation
            returns, _ = evaluate.play(env, team.policies, rows, seed=3, is_sampled=sampled)
            played[side] = returns.view(count, agents)
    for side, members in sides.items():
        assert played[side][:, members].mean() > played[""][:, members].mean(), side
