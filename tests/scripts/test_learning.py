"""scripts/learning.py measures what the data beside the headers names, and that is learned."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("matplotlib", reason="needs gpu_envs[train]")
pytest.importorskip("rich", reason="needs gpu_envs[train]")

import learning

from gpu_envs.train import command, config, curves, measured, told

TASKS = learning.tasks()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_trained_and_has_one_bar(task: str) -> None:
    name, choices = command.parse(learning.words(TASKS[task]))
    assert config.make(name, **choices).env == TASKS[task]["id"]
    assert TASKS[task]["measure"] in measured.MEASURES and TASKS[task]["what"]
    assert len({"times", "least", "most"} & set(TASKS[task])) == 1


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
