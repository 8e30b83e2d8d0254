"""HideSeek is learned: a side that is trained beats the other one acting at random."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import hide_seek_learning as learning
import torch


def watch() -> Any:
    simulator = SimpleNamespace(parameters={"penalty": -1})
    names = ["hider_0", "hider_1", "seeker_0"]
    return learning.Watch(
        SimpleNamespace(simulator=simulator, num_worlds=2, agents_per_world=3, agent_names=names)
    )


def test_rewards_say_who_is_seen_and_who_is_outside() -> None:
    found = watch()
    found(torch.zeros(6))  # the preparation
    found(torch.tensor([-1.0, -11, 1, 1, 1, -11]))
    found(torch.tensor([-1.0, -1, -9, -9, 1, -1]))
    assert found.rewarded.tolist() == [2, 2]
    assert found.seen.tolist() == [2, 0]
    assert found.outside.tolist() == [[0, 1, 1], [1, 0, 1]]
    with pytest.raises(ValueError, match="rewards of another game"):
        found(torch.tensor([-1.0, -1, 0, 1, 1, -1]))


def test_at_random_hiders_are_seen_in_about_half_of_the_steps() -> None:
    seen, error, outside = learning.measured(None, 64, 5)
    assert 0.35 < seen < 0.70 and 0.01 < error < 0.1 and 0 <= outside < 0.05


@pytest.mark.slow
def test_trained_seekers_see_a_hider_in_most_steps(tmp_path: Path) -> None:
    learning.train("seeker", 1, tmp_path, ["--time-limit", "300"])
    seen, error, outside = learning.measured(tmp_path / "best.ckpt", 1000, 99)
    assert seen >= 0.70 and error < 0.02 and outside < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["port", "fixed", "openai"])
def test_seekers_learn_in_every_profile(profile: str, tmp_path: Path) -> None:
    few = ["--total-steps", "1500000", "--time-limit", "120", "--evaluation-every", "10"]
    learning.train("seeker", 1, tmp_path, ["--profile", profile, *few])
    name = "charts/episodic_return"
    with (tmp_path / "curve.csv").open() as file:
        found = [float(row[name]) for row in csv.DictReader(file) if row[name]]
    assert max(found) > found[0] + 20  # of 145 paid steps; the first episodes are still at random
