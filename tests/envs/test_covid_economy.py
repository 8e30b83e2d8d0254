"""CovidEconomy against what is known of it: golden rows, published totals, the plain oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covid_economy_oracle import JSON, SCALARS, Oracle, array
from covid_economy_worlds import (
    CALIFORNIA,
    MISSOURI,
    NOOP,
    WYOMING,
    Play,
    Recorded,
    actions,
    column,
    made,
    masks,
    of_oracle,
    play,
    recorded,
    rows,
    state,
    total_of_planner,
)

RUNS = ("noop", "open", "closed", "lcg")
# Run, day, then sums over the states and rewards of the planner, California and Wyoming.
NONE = (None,) * 3
GOLDEN: list[tuple[str, int, dict[str, float], tuple[float | None, ...]]] = [
    ("noop", 0, {"S": 328194944, "I": 372476.3, "R": 170500.66, "V": 0, "D": 3410.013,
                 "U": 13590655, "Y": 0}, NONE),
    ("noop", 1, {"S": 328141888, "I": 398928.31, "R": 197106.1, "V": 0, "D": 3942.12,
                 "U": 26294530, "Y": 5.483281e10}, (0.872530, 0.876852, 1.019940)),
    ("noop", 30, {"S": 324921824, "I": 1510347.1, "R": 2305758.5, "V": 0, "D": 46115.17,
                  "U": 34417580, "Y": 5.219737e10}, (0.704807, 0.670447, 0.953188)),
    ("noop", 296, {"S": 286123840, "I": 2481338, "R": 40132724, "V": 986190, "D": 782930.8,
                   "U": 24653412, "Y": 5.516926e10}, (0.771841, 0.796019, 0.887470)),
    ("noop", 540, {"S": 43820368, "I": 824.27, "R": 284916672, "V": 233639552, "D": 1025541.8,
                   "U": 18933914, "Y": 5.700516e10}, (0.972433, 0.918290, 0.989748)),
    ("open", 1, {"U": 18814262, "Y": 5.723253e10}, (0.960504, 0.920606, 0.972325)),
    ("open", 30, {"S": 324785472, "I": 1646663.9, "R": 2305758.5, "V": 0, "D": 46115.17,
                  "U": 14892704, "Y": 5.845845e10}, (0.940871, 0.992718, 1.009654)),
    ("open", 100, {"S": 249139680, "I": 20259914, "R": 59338292, "V": 0, "D": 1186765.9,
                   "U": 13573774, "Y": 5.830374e10}, (-0.061442, 0.328984, 0.983927)),
    ("open", 540, {"S": 14304.1, "I": 24.03, "R": 328723392, "V": 95597048, "D": 4662527.5,
                   "U": 13780036, "Y": 5.795851e10}, (1.005676, 1.000469, 0.982997)),
    ("closed", 1, {"U": 34738876, "Y": 7.013684e10}, (0.740362, 1.364677, 1.622588)),
    ("closed", 100, {"S": 324327680, "I": 66551.2, "R": 4343683.5, "V": 0, "D": 86873.67,
                     "U": 53876908, "Y": 6.398768e10}, (0.454810, 1.144188, 1.458382)),
    ("closed", 540, {"S": 82473304, "I": 12.69, "R": 246264704, "V": 241616576, "D": 92961.61,
                     "U": 24161166, "Y": 7.352078e10}, (0.897659, 1.373198, 1.562272)),
    ("lcg", 1, {"U": 26807548, "Y": 6.997931e10}, (0.848382, 1.337060, 1.531428)),
    ("lcg", 30, {"S": 324880736, "I": 1551413.8, "R": 2305758.5, "V": 0, "D": 46115.17,
                 "U": 29793082, "Y": 6.899123e10}, (0.747192, 1.356186, 1.513469)),
    ("lcg", 100, {"S": 301688416, "I": 5596568, "R": 21452908, "V": 0, "D": 429058.1,
                  "U": 32221722, "Y": 5.815337e10}, (0.502347, 0.830217, 1.041382)),
    ("lcg", 540, {"S": 34766520, "I": 843.27, "R": 293970528, "V": 204424992, "D": 1790909.8,
                  "U": 21434536, "Y": 6.506214e10}, (0.928306, 1.141471, 1.318495)),
]  # fmt: skip
TOTALS = {
    "noop": (437.982, 415.585, 500.587, 22011.07), "open": (369.775, 381.086, 293.629, 19378.46),
    "closed": (371.089, 682.469, 818.818, 40032.42), "lcg": (403.040, 492.110, 665.870, 30322.26),
}  # fmt: skip
# A dozen infected people in the country: the golden row was made with float32 differences of
# numbers of 1e8; in float64 there are 12.375.
ROUNDED = {("closed", 540, "I"): 0.03}
TOLERANCE = 1e-4
# Share of a population. Its rest, when vaccines run out of people, is the difference of float32
# numbers exact to a person or so, taken hundreds of times.
OF_PEOPLE = 1e-5


PEOPLE = array("state_population")


def close(got: Any, wanted: Any, most: float) -> bool:
    return bool((np.abs(got - wanted) <= most * (1 + np.abs(wanted))).all())


def within(name: str, got: Any, wanted: Any) -> None:
    """Relative to the value; people who may still fall ill to the whole population too."""
    slack = OF_PEOPLE * PEOPLE if name == "S" else 1e-2
    assert (np.abs(got - wanted) <= TOLERANCE * np.abs(wanted) + slack).all(), name


@pytest.mark.parametrize(("run", "day", "sums", "rewards"), GOLDEN)
def test_states_and_rewards_are_those_of_the_golden_rows(
    run: str, day: int, sums: dict[str, float], rewards: tuple[float | None, ...]
) -> None:
    played = recorded(run)
    for name, wanted in sums.items():
        late = 1e-3 if name == "I" and day > 296 else TOLERANCE
        tolerance = ROUNDED.get((run, day, name), late)
        assert played.states[name][day].sum() == pytest.approx(wanted, rel=tolerance), name
    for agent, reward in zip((51, CALIFORNIA, WYOMING), rewards, strict=True):
        assert reward is None or played.rewards[day, agent] == pytest.approx(reward, abs=5e-4)


@pytest.mark.parametrize("run", RUNS)
def test_totals_of_540_days_are_the_golden_ones(run: str) -> None:
    sums = recorded(run).rewards.sum(axis=0)
    got = (sums[51], sums[CALIFORNIA], sums[WYOMING], sums[:51].sum())
    assert got == pytest.approx(TOTALS[run], abs=0.05)
    simulator_total = np.asarray(recorded(run).last.episode_return)[0]
    assert simulator_total == pytest.approx(sums, abs=2e-3)


PAGE = (Path(__file__).parents[2] / "docs" / "covid_economy.md").read_text(encoding="utf-8")
CLOSED_FOR_180_DAYS = "level 10 on days 1 to 180, then level 1, no subsidy"
# What all choose, day by day, and parameters.
PUBLISHED: dict[str, tuple[Callable[[int], Play], dict[str, Any]]] = {
    "level 1 on every day, no subsidy": (lambda day: (np.full(51, 1), 0), {}),
    "level 10 on every day, subsidy at 20": (lambda day: (np.full(51, 10), 20), {}),
    CLOSED_FOR_180_DAYS: (lambda day: (np.full(51, 10 if day <= 180 else 1), 0), {}),
    "the real policies and payments (`real_policies=True`)": (
        lambda day: (NOOP, 0),
        {"real_policies": True},
    ),
}


@pytest.mark.parametrize("policy", PUBLISHED)
def test_totals_of_405_days_are_those_of_the_page(policy: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {policy} |"))
    published, free, enforced = map(float, row.strip("| ").split(" | ")[1:])
    plays, options = PUBLISHED[policy]
    assert published == free
    assert total_of_planner(plays, **options) == pytest.approx(free, abs=0.1)
    total = total_of_planner(plays, enforce_masks=True, **options)
    assert total == pytest.approx(enforced, abs=0.05)


def test_a_governor_that_waits_for_its_chance_opens_on_day_181_with_masks_too() -> None:
    plays = PUBLISHED[CLOSED_FOR_180_DAYS][0]
    last = {1: 10, 169: 10, 197: 1}  # the chances that are used where all choose on every day
    waits = {1: 10, 181: 1}
    totals = [
        total_of_planner(lambda day, of=of: (np.full(51, of.get(day, 0)), 0), enforce_masks=True)
        for of in (last, waits)
    ]
    assert totals[0] == pytest.approx(total_of_planner(plays, enforce_masks=True), abs=1e-3)
    assert totals[1] == pytest.approx(total_of_planner(plays), abs=1e-3)


def test_the_normalisers_are_the_mean_indices_of_284_days_at_either_end() -> None:
    """Recomputed from states: rewards hold them already. Missouri's health is known to differ."""
    norm = Oracle().norm
    means: dict[int, list[Any]] = {}
    for level in (1, 10):
        played = Recorded(((np.full(51, level), 0) for _ in range(284)), max_episode_steps=284)
        died = np.diff(played.states["D"], axis=0)
        product = played.states["Y"][1:]
        crra = (2 - 1 / np.clip(365 * product / norm, 0.1, 3)) / 365
        whole = (2 - 1 / np.clip(365 * product.sum(1) / norm.sum(), 0.1, 3)) / 365
        means[level] = [
            (-died * 1e7 / norm).mean(0), crra.mean(0),
            (-died.sum(1) * 1e7 / norm.sum()).mean(), whole.mean(),
        ]  # fmt: skip
    usual = np.arange(51) != MISSOURI
    for level, health, economic in ((1, "min", "max"), (10, "max", "min")):
        h, e, planner_h, planner_e = means[level]
        ratio = h / array(f"{health}_marginal_agent_health_index")
        assert ratio[usual] == pytest.approx(1, abs=TOLERANCE)
        assert ratio[MISSOURI] == pytest.approx(0.9262, abs=1e-4)
        fitted = array(f"{economic}_marginal_agent_economic_index")
        assert (e / fitted)[usual] == pytest.approx(1, abs=TOLERANCE)
        planner = SCALARS[f"{health}_marginal_planner_health_index"]
        assert planner_h == pytest.approx(planner, rel=2e-3)  # Missouri is in it
        planner = SCALARS[f"{economic}_marginal_planner_economic_index"]
        assert planner_e == pytest.approx(planner, rel=TOLERANCE)


def test_product_of_a_worker_and_of_days_without_closures_is_as_computed() -> None:
    oracle = Oracle()
    assert oracle.worth == pytest.approx(320.806, abs=1e-3)
    assert oracle.most.sum() == pytest.approx(5.88126e10, rel=1e-5)
    assert oracle.norm.sum() == pytest.approx(2.14666e13, rel=1e-5)
    simulator = made()
    outputs = play(simulator, 1, 7)
    product = state(simulator)["Y"][0]
    shown = rows(outputs, simulator)[0][0, :, 56]
    assert product / shown == pytest.approx(oracle.most, rel=1e-6)
    absent = 0.6 * (0.1 * state(simulator)["I"] + state(simulator)["D"]) + state(simulator)["U"]
    paid = 7 / 20 * oracle.people * 20000 / 365
    workers = 0.6 * oracle.people - absent[0]
    assert (product - paid) / workers == pytest.approx(320.806, rel=1e-5)


@pytest.mark.parametrize("run", RUNS)
def test_people_are_susceptible_infected_or_recovered(run: str) -> None:
    states = recorded(run).states
    total = states["S"] + states["I"] + states["R"]
    assert total == pytest.approx(np.tile(array("state_population"), (541, 1)), rel=1e-5)
    assert states["V"][-1].sum() > 9e7


@pytest.mark.parametrize("run", RUNS)
def test_deaths_of_a_day_are_a_share_of_yesterdays_infected(run: str) -> None:
    states = recorded(run).states
    died = np.diff(states["D"], axis=0)
    wanted = 0.02 / 14 * states["I"][:-1]
    # Differences of totals, which float32 holds to 6e-8 of them.
    slack = np.maximum(np.maximum(1e-5 * wanted, 0.01), 1.2e-7 * states["D"][1:])
    assert (np.abs(died - wanted) <= slack).all()
    assert died[0].sum() == pytest.approx(532.109, abs=0.01)


def test_actions_reach_the_epidemic_after_thirty_days_and_not_before() -> None:
    states = [recorded(run).states for run in RUNS]
    for name in "SIRD":
        for other in states[1:]:
            np.testing.assert_array_equal(other[name][:30], states[0][name][:30])
    for k in range(4):
        for other in states[k + 1 :]:
            assert (other["I"][30] != states[k]["I"][30]).any()


def test_actions_reach_unemployment_on_the_same_day() -> None:
    first = [recorded(run).states["U"][1] for run in RUNS]
    for k in range(4):
        for other in first[k + 1 :]:
            assert (other != first[k]).any()


def drawn_plays(random: np.random.Generator, worlds: int) -> tuple[Any, Any]:
    asks = random.random((worlds, 51)) < 0.3
    return np.where(asks, random.integers(1, 11, (worlds, 51)), 0), random.integers(0, 21, worlds)


def test_responses_equal_the_window_of_600_days_on_a_hundred_random_policies() -> None:
    """Worlds of the oracle's formula alone: levels as played, the whole window, every 20 days."""
    worlds, random = 100, np.random.default_rng(9)
    simulator, oracle = made(worlds), Oracle()
    levels = np.ones((worlds, 1141, 51), np.int8)
    levels[:, :601] = oracle.policy[None]
    checked = {*range(20, 541, 20), *range(519, 541)}
    for day in range(1, 541):
        play(simulator, *drawn_plays(random, worlds))
        levels[:, 600 + day] = column(simulator, "governors.level")
        if day in checked:
            changes = np.diff(levels[:, day : day + 601].astype(np.float64), axis=1)[:, ::-1]
            z = np.einsum("wds,ds->ws", changes, oracle.response)
            wanted = (np.logaddexp(0, z) + oracle.bias) * oracle.people / 100
            assert state(simulator)["U"] == pytest.approx(wanted, rel=TOLERANCE)


CASES: list[dict[str, Any]] = [
    {},
    {"enforce_masks": False},
    {"action_cooldown": 1, "subsidy_interval": 7, "subsidy_levels": 5},
    {"vaccine_interval": 3, "vaccine_start": "2020-06-01", "vaccines_per_million": 9000.0},
    {"crra_eta": 0.5, "interest_rate": 0.2, "working_age_share": 0.5, "sick_share": 0.7},
    {"crra_eta": 7.0, "max_annual_subsidy": 90000.0, "health_priority_governors": 4.0},
    {"beta_intercept_factor": 1.5, "beta_slope_factor": 0.5, "unemployment_factor": 1.25},
    {"vaccine_start": "2020-03-22", "vaccines_per_million": 50000.0, "action_cooldown": 3},
    {"max_episode_steps": 700, "action_cooldown": 5},
    {"max_episode_steps": 97, "health_priority_planner": 2.5},
]


@pytest.mark.parametrize("seed", range(20))
def test_random_runs_follow_the_plain_oracle_step_by_step(seed: int) -> None:
    options = CASES[seed % len(CASES)]
    random, simulator, oracle = np.random.default_rng(seed), made(**options), Oracle(**options)
    chance = random.choice([0.02, 0.2, 0.9])
    for day in range(1, oracle.horizon + 1):
        asks = random.random(51) < chance
        governors = np.where(asks, random.integers(1, 11, 51), 0)
        planner = int(random.integers(0, oracle.levels + 1))
        outputs = play(simulator, governors, planner)
        wanted, reward = oracle.step(governors, planner)
        got = state(simulator)
        for name, value in of_oracle(oracle).items():
            within(name, got[name][0], value)
        assert (column(simulator, "governors.level")[0] == oracle.level(day)).all()
        for mask, legal in zip(masks(simulator), oracle.masks(), strict=True):
            legal = legal[..., : oracle.levels + 1] if mask.ndim == 2 else legal
            assert (mask[0][..., : legal.shape[-1]] == legal).all()
            assert not mask[0][..., legal.shape[-1] :].any()
        assert close(outputs.reward[0, :51], wanted, 5e-4)
        assert outputs.reward[0, 51] == pytest.approx(reward, abs=5e-4)
        seen, by_planner = rows(outputs, simulator)
        own, whole = oracle.rows()
        assert close(seen[0], own, 1e-5) and close(by_planner[0], whole, 1e-5)


def test_real_policies_are_replayed_whatever_is_chosen() -> None:
    simulator, oracle = made(real_policies=True, max_episode_steps=437), Oracle()
    random = np.random.default_rng(3)
    for _ in range(437):
        outputs = play(simulator, random.integers(0, 11, 51), 20)
        oracle.replay()
        assert (column(simulator, "governors.level")[0] == oracle.level(oracle.t)).all()
        assert int(column(simulator, "planners.subsidy").item()) == oracle.subsidy
        for name, value in of_oracle(oracle).items():
            within(name, state(simulator)[name][0], value)
        assert np.asarray(outputs.action_mask).all()
    subsidies = [(t, int(k)) for t, k in ((25, 3), (115, 0), (281, 2), (355, 7), (371, 5))]
    fresh = made(real_policies=True, max_episode_steps=437)
    levels = [int(column(fresh, "planners.subsidy").item())]
    for _ in range(437):
        play(fresh, 0)
        levels.append(int(column(fresh, "planners.subsidy").item()))
    changes = [(t, levels[t]) for t in range(1, 438) if levels[t] != levels[t - 1]]
    assert changes == subsidies
    assert len(JSON["real_world_subsidy_events"]) == 3


def test_real_payments_end_however_long_each_is_spread() -> None:
    options = {"subsidy_interval": 700, "max_annual_subsidy": 2000}
    simulator, levels = made(real_policies=True, max_episode_steps=1100, **options), []
    for _ in range(1100):
        play(simulator, 0)
        levels.append(int(column(simulator, "planners.subsidy").item()))
    assert min(levels[371:700]) > 0
    assert levels[-1] == 0


def test_the_divisor_divides_every_reward() -> None:
    simulator, oracle = made(reward_divisor=4.0), Oracle()
    for governors, planner in actions("lcg", 120):
        outputs = play(simulator, governors, planner)
        wanted, reward = oracle.step(governors, planner)
        np.testing.assert_allclose(4 * outputs.reward[0, :51], wanted, atol=5e-5)
        assert 4 * outputs.reward[0, 51] == pytest.approx(reward, abs=5e-5)
