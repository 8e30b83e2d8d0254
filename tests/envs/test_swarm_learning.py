"""Large worlds are learned: trained agents reach twice what agents at random do."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import swarm_learning as learning
import torch


def test_tags_are_those_of_all_taggers_of_an_episode() -> None:
    names, returns = ["tagger_0", "tagger_1", "runner_0"], torch.tensor([[1.0, 2, -1], [0, 3, -1]])
    assert learning.tags(names, returns, torch.ones(2, 3)).tolist() == [3, 3]


def test_the_reward_of_a_step_is_the_mean_over_agents_and_steps() -> None:
    returns, lengths = torch.tensor([[4.0, 8], [2, 0]]), torch.tensor([[4, 4], [2, 2]])
    assert learning.reward_of_step(["agent_0", "agent_1"], returns, lengths).tolist() == [1.5, 0.5]


def test_agents_at_random_have_the_company_of_an_even_swarm() -> None:
    # 1,023 others, each worth the integral of exp(-5 D / R) over the disc of R = 0.1, which is
    # 2 pi (R / 5)^2 (1 - 6 exp(-5)) = 0.002412; those that touch, in pi 0.005^2, cost 1 instead.
    even = 1023 * (0.002412 - 2 * 3.1416 * 0.005**2)
    assert learning.measured(learning.TASKS["flocking"], None, 2, 5)[0] == pytest.approx(
        even, rel=0.05
    )


@pytest.mark.slow
def test_a_trained_swarm_has_twice_the_reward_of_one_at_random(tmp_path: Path) -> None:
    task = learning.TASKS["flocking"]
    learning.train(task, 1, tmp_path, ["--time-limit", "300"])
    found = learning.measured(task, tmp_path / "best.ckpt", 2, 99)[0]
    assert found >= learning.BAR * learning.measured(task, None, 2, 99)[0]
