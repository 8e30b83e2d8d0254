"""CovidEconomy: what is refused, with which words, and that nothing happens to the worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covid_economy_worlds import ID, made, play, state

from gpu_envs import Simulator

DATE = "vaccine_start must be a date from 2020-03-22 to 2029-12-31, such as '2021-01-12', got "

# Dates and parameters that do not go together, what the message says. What one number cannot be:
# tests/contract/test_described_numbers.py.
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
    (
        {"beta_slope_spread": 1.5},
        "beta_slope_spread must be at most beta_slope_factor, or factors below 0 would be drawn",
    ),
    (
        {"unemployment_factor": 0.5, "unemployment_spread": 0.75},
        "unemployment_spread must be at most unemployment_factor, or factors below 0 would be",
    ),
    ({"roles": "governor"}, "roles must be 'padded' or 'split', got 'governor'"),
]


@pytest.mark.parametrize(("options", "message"), BAD_VALUES)
def test_a_bad_value_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(ID, 2, **options)


LEVELS, PLANS = np.zeros((2, 51), int), np.zeros((2, 1), int)


BAD_ACTIONS: list[tuple[Any, str]] = [
    ({"governor": LEVELS}, "role 'planner' of"),
    ({"governor": LEVELS, "plan": PLANS}, "unknown role in actions 'plan'"),
    ({"governor": LEVELS[:1], "planner": PLANS}, r"role 'governor': .*must have shape .*\(2, 51\)"),
    ({"governor": LEVELS, "planner": LEVELS}, r"role 'planner': .*must have shape .*\(2, 1\)"),
    (np.zeros(103, int), r"must have shape \(104,\)"),
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
    with pytest.raises(TypeError, match="role 'governor': actions must be integers"):
        made(2).step({"governor": LEVELS + 0.5, "planner": PLANS})


def test_what_is_no_column_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown column .*'window\.changes'"):
        made(2).set("window.changes", np.zeros((2, 600, 51)))
