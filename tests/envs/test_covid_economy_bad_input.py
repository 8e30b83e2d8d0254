"""CovidEconomy: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covid_economy_worlds import ID, made, play, state

from gpu_envs import Simulator

NAN, INF = float("nan"), float("inf")
DATE = "vaccine_start must be a date from 2020-03-22 to 2029-12-31, such as '2021-01-12', got "

# Parameters, what the message says.
BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"vaccine_start": "2020-03-21"}, DATE + "'2020-03-21'"),
    ({"vaccine_start": "2019-12-31"}, DATE + "'2019-12-31'"),
    ({"vaccine_start": "2030-01-01"}, DATE + "'2030-01-01'"),
    ({"vaccine_start": "2021-02-29"}, DATE + "'2021-02-29'"),
    ({"vaccine_start": "2021-13-01"}, DATE + "'2021-13-01'"),
    ({"vaccine_start": "2021-04-31"}, DATE + "'2021-04-31'"),
    ({"vaccine_start": "2021-00-10"}, DATE + "'2021-00-10'"),
    ({"vaccine_start": "12.01.2021"}, DATE + "'12.01.2021'"),
    ({"vaccine_start": "2021-1-12"}, DATE + "'2021-1-12'"),
    ({"vaccine_start": ""}, DATE + "''"),
    ({"crra_eta": 1.0}, r"crra_eta must be in \[0, 20\) and not within 0.01 of 1.*got 1.0"),
    ({"crra_eta": 1.005}, r"crra_eta must be in \[0, 20\) and not within 0.01 of 1.*got 1.005"),
    ({"crra_eta": 20.0}, r"crra_eta must be in \[0, 20\) .*got 20.0"),
    ({"crra_eta": -1.0}, "'crra_eta' must be in 0 to 20, got -1"),
    ({"crra_eta": NAN}, "'crra_eta' must be a number, got nan"),
    ({"action_cooldown": 0}, "'action_cooldown' must be in 1 to 10000, got 0"),
    ({"action_cooldown": -28}, "'action_cooldown' must be in 1 to 10000, got -28"),
    ({"subsidy_interval": 0}, "'subsidy_interval' must be in 1 to 10000, got 0"),
    ({"subsidy_levels": 0}, "'subsidy_levels' must be in 1 to 20, got 0"),
    ({"subsidy_levels": 21}, "'subsidy_levels' must be in 1 to 20, got 21"),
    ({"max_annual_subsidy": -1.0}, r"'max_annual_subsidy' must be in 0 to 1e\+06, got -1"),
    ({"vaccines_per_million": -3000.0}, "'vaccines_per_million' must be in 0 to .*, got -3000"),
    ({"vaccines_per_million": 2e6}, r"'vaccines_per_million' must be in 0 to 1e\+06, got 2000000"),
    ({"vaccine_interval": 0}, "'vaccine_interval' must be in 1 to 10000, got 0"),
    ({"working_age_share": 0.0}, "'working_age_share' must be in 0.1 to 1, got 0"),
    ({"working_age_share": 1.1}, "'working_age_share' must be in 0.1 to 1, got 1.1"),
    ({"sick_share": -0.1}, "'sick_share' must be in 0 to 1, got -0.1"),
    ({"interest_rate": 2.0}, "'interest_rate' must be in 0 to 1, got 2"),
    ({"health_priority_governors": -1.0}, "'health_priority_governors' must be in 0 to .*, got -1"),
    ({"health_priority_planner": INF}, "'health_priority_planner' must be in 0 to .*, got inf"),
    ({"reward_divisor": 0.0}, "'reward_divisor' must be in 1e-06 to .*, got 0"),
    ({"beta_slope_factor": -1.0}, "'beta_slope_factor' must be in 0 to 10, got -1"),
    ({"beta_intercept_factor": 11.0}, "'beta_intercept_factor' must be in 0 to 10, got 11"),
    (
        {"beta_slope_spread": 1.5},
        "beta_slope_spread must be at most beta_slope_factor, 1.0.*, or factors below 0 .*got 1.5",
    ),
    (
        {"unemployment_factor": 0.5, "unemployment_spread": 0.75},
        "unemployment_spread must be at most unemployment_factor, 0.5.*got 0.75",
    ),
    ({"max_episode_steps": -1}, "max_episode_steps must be between 0 and .*, got -1"),
    ({"roles": "governor"}, "roles must be 'padded' or 'split', got 'governor'"),
]
# Of a wrong kind, or of another program.
BAD_KINDS: list[tuple[dict[str, Any], str]] = [
    ({"vaccine_start": 20210112}, "'vaccine_start' must be a str such as '2021-01-12'"),
    ({"action_cooldown": 2.5}, "'action_cooldown' must be an int, got 2.5"),
    ({"enforce_masks": 2}, "'enforce_masks' must be a bool, got 2"),
    ({"real_policies": "yes"}, "'real_policies' must be a bool, got 'yes'"),
    ({"start_date": "2020-03-22"}, "unexpected keyword argument 'start_date'"),
    ({"n_stringency_levels": 5}, "unexpected keyword argument 'n_stringency_levels'"),
    ({"vacine_start": "2021-01-12"}, "did you mean 'vaccine_start'?"),
]


@pytest.mark.parametrize(("options", "message"), BAD_VALUES)
def test_a_bad_value_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(ID, 2, **options)


@pytest.mark.parametrize(("options", "message"), BAD_KINDS)
def test_a_bad_kind_of_value_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message.replace("?", r"\?")):
        Simulator(ID, 2, **options)


LEVELS, PLANS = np.zeros((2, 51), int), np.zeros((2, 1), int)


def one(row: int, level: int) -> Any:
    levels = LEVELS.copy()
    levels[1, row] = level
    return levels


BAD_ACTIONS: list[tuple[Any, str]] = [
    ({"governor": LEVELS}, r"must be of \['governor', 'planner'\], got \['governor'\]"),
    ({"governor": LEVELS, "plan": PLANS}, r"got \['governor', 'plan'\]"),
    ({"governor": LEVELS[:1], "planner": PLANS}, r"governor must have shape \(2, 51\)"),
    ({"governor": LEVELS, "planner": LEVELS}, r"planner must have shape \(2, 1\)"),
    ({"governor": one(4, 11), "planner": PLANS}, "world 1, governor_4: 11 is not one of 0 to 10"),
    ({"governor": one(50, -1), "planner": PLANS}, "world 1, governor_50: -1 is not one of 0 to"),
    ({"governor": LEVELS, "planner": PLANS + 21}, "world 0, planner_0: 21 is not one of 0 to 20"),
    (np.zeros(103, int), r"contiguous array of shape \(104,\)"),
]


@pytest.mark.parametrize(("actions", "message"), BAD_ACTIONS)
def test_bad_actions_are_refused_before_any_world_moves(actions: Any, message: str) -> None:
    simulator = made(2)
    play(simulator, 3, 2)
    before = state(simulator)
    with pytest.raises(ValueError, match=message):
        simulator.step(actions)
    after = state(simulator)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert (np.asarray(simulator.get("world.step")) == 1).all()


def test_numbers_between_levels_are_no_levels() -> None:
    with pytest.raises(TypeError, match="actions of governor must be integers, got float64"):
        made(2).step({"governor": LEVELS + 0.5, "planner": PLANS})


BAD_COLUMNS: list[tuple[str, Callable[[], Any], str]] = [
    ("governors.level", lambda: np.full((2, 51), 11), "governors.level must be from 1 to 10"),
    ("governors.wait", lambda: np.full((2, 51), -1), "governors.wait must be from 0 to 10000"),
    ("governors.susceptible", lambda: np.full((2, 51), -1.0), r"from 0 to 1e\+09, got -1"),
    ("window.changes", lambda: np.zeros((2, 600, 51)), "unknown column .*'window.changes'"),
]


@pytest.mark.parametrize(("name", "values", "message"), BAD_COLUMNS)
def test_columns_refuse_what_no_world_can_hold(
    name: str, values: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        made(2).set(name, values())
