"""What a task is measured by beside the return, and where it is told."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

import torch as t

from gpu_envs import VectorEnv, environments
from gpu_envs.known import measures
from gpu_envs.policies import teams
from gpu_envs.train import evaluate
from gpu_envs.train.columns import EVALUATION, column, measure_column
from gpu_envs.train.config import make
from gpu_envs.train.evaluations import Trials
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.task_measures import MEASURES, Measure, Played, Signs, own
from gpu_envs.train.worlds import for_evaluation


def played(returns: list[list[float]], lengths: list[list[int]]) -> Played:
    return Played(t.tensor(returns), t.tensor(lengths), *t.ones(4, 2, 2))


def test_a_return_is_that_of_all_agents_or_their_mean() -> None:
    found = played([[1.0, 2], [0, 3]], [[1, 1], [1, 1]])
    assert MEASURES["return"](found).tolist() == [3, 3]
    assert MEASURES["mean return"](found).tolist() == [1.5, 1.5]


def test_the_reward_of_a_step_is_the_mean_over_agents_and_steps() -> None:
    found = played([[4.0, 8], [2, 0]], [[4, 4], [2, 2]])
    assert MEASURES["reward per step"](found).tolist() == [1.5, 0.5]


def test_rewards_are_positive_once_their_penalty_is_added_back() -> None:
    signs = Signs(3, 10)
    for rewards in ([0.0, 0, 0], [-1, -11, 1], [-9, -9, 1], [1, -1, -1]):
        signs(t.tensor(rewards))
    rewarded, positive, penalised = signs.counts
    assert rewarded.tolist() == [3, 3, 3]
    assert positive.tolist() == [2, 1, 2] and penalised.tolist() == [1, 2, 0]
    counts = [part[None] for part in signs.counts]
    found = Played(signs.counts, signs.counts, *counts, signs.last[None])
    assert MEASURES["share of positive rewards"](found).tolist() == pytest.approx([5 / 9])
    assert MEASURES["share penalised"](found).tolist() == pytest.approx([2 / 3])


def test_an_objective_is_that_of_the_step_in_which_an_episode_ends() -> None:
    signs = Signs(4, 1)
    for objective, over in (([1.0, 0, 0, 0], [1, 0, 0, 0]), ([0, 0.5, 1, 1], [0, 1, 1, 0])):
        infos = {"true_objective": t.tensor(objective), "spl": t.full((4,), 0.25)}
        signs.note(infos, t.tensor(over, dtype=t.bool))
    assert signs.last.tolist() == [1, 0.5, 1, 0]
    measure = Measure({"what": "solved", "measure": "objective"}, ["one", "two"])
    assert measure.of(t.zeros(2, 2), t.ones(2, 2), signs).tolist() == [0.75, 0.5]


def test_a_measure_of_the_environment_is_an_info_of_its_name() -> None:
    measure = Measure({"what": "SPL", "measure": "spl"}, ["one", "two"])
    signs = measure.signs(2, "cpu")
    signs.note({"spl": t.tensor([0.5, 1, 0, 1]), "success": t.ones(4)}, t.tensor([1, 0, 1, 1]) > 0)
    signs.note({"success": t.ones(4)}, t.tensor([1, 1, 1, 1]) > 0)
    assert measure.of(t.zeros(2, 2), t.ones(2, 2), signs).tolist() == [0.25, 0.5]


def test_a_measure_is_of_its_role_and_divided() -> None:
    names = ["hider_0", "seeker_0", "seeker_1"]
    returns = t.tensor([[9.0, 1, 2], [9, 3, 4]])
    facts = {"what": "x", "measure": "return", "role": "seeker", "per": 2}
    measure = Measure(facts, names)
    found = measure.of(returns, returns, measure.signs(2, "cpu"))
    assert found.tolist() == [1.5, 3.5]


# ---- of environments


@pytest.mark.parametrize("name", environments())
def test_every_measure_is_known_and_has_its_role_and_parameters(name: str) -> None:
    described = measures.measures_of(name)["training"].get("measures", [])
    config = make(name)
    env = for_evaluation(config, "cpu", 1)
    assert [measure.facts for measure in own(config, env.agent_names)] == described
    known = {*MEASURES, *(field["name"] for field in environments()[name].get("measures", ()))}
    assert all(facts["measure"] in known for facts in described)
    assert len({facts["what"] for facts in described}) == len(described)
    env.close()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Overcooked-v0", {"delivery_reward": 7}),
        ("TagGrid-v0", {"tag_penalty_for_runner": 0.5}),
        ("HideSeek-v0", {"penalty": 2.0}),
        ("HideSeek-v0", {"payment": "own"}),
    ],
)
def test_with_other_rewards_nothing_is_told(name: str, parameters: dict[str, Any]) -> None:
    names = ["runner_0", "seeker_0"]
    assert own(make(name), names)
    assert not own(make(name, parameters=parameters), names)
    assert not own(make(name, evaluation_parameters=parameters), names)


def test_roles_that_are_not_there_are_not_measured() -> None:
    assert not own(make("HideSeek-v0"), ["hider_0"])


def test_runners_are_tagged_where_their_episode_ends_early() -> None:
    config = make("TagGrid-v0")
    env = for_evaluation(config, "cpu", 64)
    (measure,) = own(config, env.agent_names)
    signs, of_row = measure.signs(64, "cpu"), evaluate.rows_of([-1] * 11, 64, "cpu")
    of_row[:] = teams.NOBODY
    returns, lengths = evaluate.play(env, [], of_row, seed=1, watch=signs)
    tagged = (lengths[:, 0] < env.simulator.max_episode_steps).double()
    assert 0 < float(tagged.mean()) < 1
    assert measure.of(returns, lengths, signs).tolist() == tagged.tolist()
    env.close()


def test_rewards_behind_an_episode_do_not_count() -> None:
    env = VectorEnv("CartPole-v0", 8, device="cpu", arrays="torch", max_episode_steps=50)
    total = t.zeros(8)
    of_row = evaluate.rows_of([teams.NOBODY], 8, "cpu")
    returns, _ = evaluate.play(env, [], of_row, seed=1, watch=total.add_)
    assert total.tolist() == returns.flatten().tolist()
    env.close()


def test_an_evaluation_tells_the_measure() -> None:
    config = make("Overcooked-v0", evaluation_episodes=2, hidden="4")
    trials = Trials(config, "cpu", Ranks("cpu"))
    trials.of_agent = [teams.NOBODY] * len(trials.of_agent)
    assert trials.env.simulator.parameters["shaping_factor"] == 0
    found = trials([], 1)
    assert found["evaluation/soups"] == pytest.approx(found["evaluation/return"] / 20)
    trials.env.close()


def test_an_evaluation_reports_a_measure_of_each_role() -> None:
    config = make(
        "CovidEconomy-v0",
        evaluation_episodes=2,
        hidden="4",
        policies="role",
        parameters={"max_episode_steps": 20},
    )
    trials = Trials(config, "cpu", Ranks("cpu"))
    trials.of_agent = [teams.NOBODY] * len(trials.of_agent)
    found = trials([], 1)
    totals = [found[measure_column(f"{who} total")] for who in ("governors'", "planner's")]
    assert totals[0] == pytest.approx(51 * found[column(EVALUATION, "governor")], rel=1e-4)
    assert totals[1] == pytest.approx(found[column(EVALUATION, "planner")], rel=1e-4)
    trials.env.close()
