"""scripts/learning.py measures what the data beside the headers names, and that is learned."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import learning
import torch

from gpu_envs.train import command, config, curves, told

TASKS = learning.tasks()


def played(returns: list[list[float]], lengths: list[list[int]]) -> learning.Played:
    return learning.Played(torch.tensor(returns), torch.tensor(lengths), *torch.ones(2, 2, 2))


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_trained_and_has_one_bar(task: str) -> None:
    name, choices = command.parse(learning.words(TASKS[task]))
    assert config.make(name, **choices).env == TASKS[task]["id"]
    assert TASKS[task]["measure"] in learning.MEASURES
    assert len({"times", "least", "most"} & set(TASKS[task])) == 1


def test_a_return_is_that_of_all_agents_of_an_episode() -> None:
    found = played([[1.0, 2], [0, 3]], [[1, 1], [1, 1]])
    assert learning.MEASURES["return"](found).tolist() == [3, 3]


def test_the_reward_of_a_step_is_the_mean_over_agents_and_steps() -> None:
    found = played([[4.0, 8], [2, 0]], [[4, 4], [2, 2]])
    assert learning.MEASURES["reward per step"](found).tolist() == [1.5, 0.5]


def test_rewards_are_positive_once_their_penalty_is_added_back() -> None:
    signs = learning.Signs(3, 10)
    for rewards in ([0.0, 0, 0], [-1, -11, 1], [-9, -9, 1], [1, -1, -1]):
        signs(torch.tensor(rewards))
    rewarded, positive, penalised = signs.counts
    assert rewarded.tolist() == [3, 3, 3]
    assert positive.tolist() == [2, 1, 2] and penalised.tolist() == [1, 2, 0]
    found = learning.Played(signs.counts, signs.counts, rewarded[None], positive[None])
    assert learning.MEASURES["share of positive rewards"](found).tolist() == pytest.approx([5 / 9])


def test_a_swarm_at_random_has_the_company_of_an_even_one() -> None:
    # 1,023 others, each worth the integral of exp(-5 D / R) over the disc of R = 0.1, which is
    # 2 pi (R / 5)^2 (1 - 6 exp(-5)) = 0.002412; those that touch, in pi 0.005^2, cost 1 instead.
    even = 1023 * (0.002412 - 2 * 3.1416 * 0.005**2)
    found = learning.measured(TASKS["flocking"], None, 2, 5)["mean"]
    assert found == pytest.approx(even, rel=0.05)


def test_hiders_at_random_are_seen_in_about_half_of_the_steps() -> None:
    found = learning.measured(TASKS["hiders"], None, 64, 5)
    assert 0.35 < found["mean"] < 0.70 and 0.01 < found["error"] < 0.1
    assert 0 <= found["penalised"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("task", ["flocking", "seekers"])
def test_what_is_trained_reaches_its_bar(task: str, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path), "--results", str(tmp_path)]
    assert learning.main([task, "--seeds", "1", *out, "--time-limit", "300"]) == 0
    assert list(tmp_path.glob("*-learning_*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["port", "fixed", "openai"])
def test_seekers_learn_in_every_profile(profile: str, tmp_path: Path) -> None:
    few = ["--total-steps", "1500000", "--time-limit", "120", "--evaluation-every", "10"]
    learning.train(TASKS["seekers"], 1, tmp_path, ["--profile", profile, *few])
    rows = curves.measured(curves.read(tmp_path / "curve.csv"), "steps", told.TRAINING)[1]
    assert max(rows) > rows[0] + 20  # of 145 paid steps; the first episodes are still at random
