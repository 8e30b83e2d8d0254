"""CovidEconomy rule by rule: choices, subsidies, vaccines, rewards, what is seen, episodes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from covid_economy_oracle import HISTORY, Oracle, array
from covid_economy_worlds import (
    CALIFORNIA,
    ID,
    NOOP,
    WYOMING,
    actions,
    column,
    made,
    masks,
    play,
    rows,
    state,
)

from gpu_envs import Simulator

# ---- choices


def open_days(simulator: Simulator, plays: dict[int, int], days: int) -> list[int]:
    """Return the days after which California may choose, if it plays levels on some days."""
    found = [0] if masks(simulator)[0][0, CALIFORNIA, 1:].all() else []
    for day in range(1, days + 1):
        levels = NOOP.copy()
        levels[CALIFORNIA] = plays.get(day, 0)
        play(simulator, levels)
        mask = masks(simulator)[0][0]
        assert mask[:, 0].all() and (mask[:, 1:] == mask[:, 1:2]).all()
        assert mask[np.arange(51) != CALIFORNIA].all()
        found += [day] if mask[CALIFORNIA, 1] else []
    return found


def test_a_choice_closes_the_mask_for_27_days() -> None:
    assert open_days(made(), {1: 4}, 40) == [0, *range(28, 41)]
    assert open_days(made(), {}, 40) == list(range(41))
    assert open_days(made(), {5: 10}, 40) == [*range(5), *range(32, 41)]
    assert open_days(made(), {1: 4, 29: 4}, 60) == [0, 28, *range(56, 61)]
    assert open_days(made(action_cooldown=1), {1: 4, 2: 5, 7: 1}, 9) == list(range(10))


def test_the_planner_may_choose_every_90_days() -> None:
    simulator, found = made(), []
    for day in range(541):
        mask = masks(simulator)[1][0]
        assert mask[0] and (mask[1:] == mask[1]).all()
        found += [day] if mask[1] else []
        if day < 540:
            play(simulator, 0)
    assert found == [0, 90, 180, 270, 360, 450, 540]


@pytest.mark.parametrize("enforce", [True, False])
def test_subsidy_levels_that_do_not_exist_count_as_none(enforce: bool) -> None:
    simulator = made(subsidy_levels=5, enforce_masks=enforce)
    assert masks(simulator)[1][0].tolist() == [True] * 6 + [False] * 15
    play(simulator, 0, 6)
    assert column(simulator, "planners.subsidy").item() == 0
    with pytest.raises(ValueError, match="1 action was illegal") if enforce else nullcontext():
        simulator.check()
    simulator.reset(seed=1)
    outputs = play(simulator, 0, 5)
    assert rows(outputs, simulator)[1][0, 51] == 1.0


def test_a_level_chosen_too_early_counts_as_none() -> None:
    simulator = made()
    play(simulator, 4)
    play(simulator, 7)
    assert (column(simulator, "governors.level") == 4).all()
    with pytest.raises(ValueError, match="51 actions were illegal"):
        simulator.check()


def test_a_level_chosen_too_early_holds_where_masks_are_not_enforced() -> None:
    """The cooldown goes on as if nothing had been chosen."""
    simulator, days = made(enforce_masks=False), []
    for day in range(1, 33):
        play(simulator, {1: 4, 2: 7, 28: 2}.get(day, 0), 20 if day == 3 else 0)
        days += [day] if masks(simulator)[0][0, 0, 1] else []
        wanted = 4 if day < 2 else 7 if day < 28 else 2
        assert (column(simulator, "governors.level") == wanted).all()
    assert days == [28, 29, 30, 31, 32]
    assert column(simulator, "planners.subsidy").item() == 0
    simulator.check()


def test_choices_that_masks_forbid_are_named_with_their_agent() -> None:
    simulator = made(strict=True)
    levels = NOOP.copy()
    levels[7] = 3
    play(simulator, levels)
    with pytest.raises(ValueError, match=r"agent 7"):
        play(simulator, levels)
    planner = made(strict=True)
    play(planner, 0, 2)
    with pytest.raises(ValueError, match=r"agent 51"):
        play(planner, 0, 2)


# ---- subsidies


def test_the_subsidy_is_paid_per_person_and_until_the_next_decision() -> None:
    """Days 1 to 90 at the highest level, whatever is chosen between; then none."""
    plain, paid = made(enforce_masks=False), made(enforce_masks=False)
    for day in range(1, 182):
        play(plain, 0)
        play(paid, 0, 20 if day == 1 else 7 if day < 91 else 0)
        extra = state(paid)["Y"][0] - state(plain)["Y"][0]
        if day <= 90:
            assert extra.sum() == pytest.approx(1.801304e10, rel=1e-5)
            assert extra[CALIFORNIA] == pytest.approx(2.165053e9, rel=1e-5)
        else:
            assert (extra == 0).all()


def test_an_action_on_another_day_changes_nothing() -> None:
    a, b = made(enforce_masks=False), made(enforce_masks=False)
    for day in range(1, 100):
        x = play(a, 0, 9 if day in (1, 91) else 0)
        y = play(b, 0, 9 if day in (1, 91) else 1 + day % 20)
        assert np.array_equal(x.obs, y.obs) and np.array_equal(x.reward, y.reward)


# ---- vaccines


def test_vaccines_come_from_day_296_on() -> None:
    simulator, clock = made(), {}
    for day in range(1, 541):
        outputs = play(simulator, 1)
        clock[day] = float(rows(outputs, simulator)[0][0, 0, 3])
        if day in (295, 296):
            assert state(simulator)["V"].sum() == (0 if day == 295 else 986190)
    assert [clock[day] for day in (1, 294, 295, 296, 400)] == [1, 1, 0, 1, 1]


def test_vaccines_end_where_nobody_is_left_to_get_them() -> None:
    simulator = made(vaccines_per_million=60000.0, vaccine_start="2020-03-22")
    before = state(simulator)
    ended = np.zeros(51, bool)
    for _ in range(60):
        play(simulator, 0)
        now = state(simulator)
        ended |= now["S"][0] == 0
        assert ((now["V"] > before["V"]) == (before["S"] > 0)).all()
        before = now
    assert ended.all()
    assert (before["V"] <= array("state_population") * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("interval", "start"),
    [(1, "2020-04-01"), (3, "2020-04-10"), (7, "2020-05-02"), (30, "2020-06-01")],
)
def test_deliveries_and_their_clock_follow_the_interval(interval: int, start: str) -> None:
    options: dict[str, Any] = {"vaccine_interval": interval, "vaccine_start": start}
    simulator, oracle = made(**options), Oracle(**options)
    previous = 0.0
    for day in range(1, 120):
        outputs = play(simulator, 0)
        oracle.step(NOOP, 0)
        vaccinated = state(simulator)["V"].sum()
        due = day >= oracle.vaccine_start and day % interval == 0
        assert vaccinated - previous == pytest.approx(oracle.vaccines.sum() if due else 0, rel=1e-6)
        assert rows(outputs, simulator)[1][0, 53] == pytest.approx(oracle.vaccine_clock(), abs=1e-6)
        previous = vaccinated


# ---- rewards


def test_the_use_of_product_is_crra_within_its_bounds() -> None:
    """First in the plain oracle; then in rewards, with the product raised by a subsidy."""
    oracle = Oracle()
    x = np.array([0.5, 1, 2.9, 0.05, 5]) / 365
    assert 365 * oracle.crra(x) == pytest.approx([0, 1, 1.655172, -8, 1.666667], abs=1e-6)
    for eta in (0.0, 0.5, 2.0, 5.0):
        options: dict[str, Any] = {"crra_eta": eta, "health_priority_governors": 0.0,
                                   "health_priority_planner": 0.0,
                                   "max_annual_subsidy": 150000.0}  # fmt: skip
        simulator, plain = made(20, **options), Oracle(**options)
        outputs = play(simulator, 0, np.arange(1, 21))
        product = state(simulator)["Y"]
        for world in range(20):
            economy = plain.crra(product[world] / plain.norm)
            low, high = plain.ends[1]
            wanted = (economy - low) / (high - low + 1e-10)
            assert outputs.reward[world, :51] == pytest.approx(wanted, abs=5e-4, rel=1e-4)
        assert (product / plain.most).max() > 3
        del options["max_annual_subsidy"]
        options["unemployment_factor"] = 10.0
        poor, plain, least = made(**options), Oracle(**options), 1.0
        for day in range(6):
            outputs = play(poor, 10 if day == 0 else 0, 0)
            product = state(poor)["Y"][0]
            low, high = plain.ends[1]
            wanted = (plain.crra(product / plain.norm) - low) / (high - low + 1e-10)
            assert outputs.reward[0, :51] == pytest.approx(wanted, abs=5e-4, rel=1e-4)
            least = min(least, (product / plain.most).min())
        assert least < 0.1


def weight_of(priority: float) -> np.ndarray[Any, Any]:
    """Read the weights of health off rewards: of a day with nobody infected, and of one with."""
    simulator = made(2, health_priority_governors=priority)
    infected = np.asarray(simulator.get("governors.infected")).copy()
    infected[1] = 0
    simulator.set("governors.infected", infected)
    outputs = play(simulator, 0)
    now, oracle = state(simulator), Oracle()
    died = now["D"][0] - now["D"][1]
    low, high = oracle.ends[0]
    lost = died * 1e7 / oracle.norm / (high - low + 1e-10)
    economy = oracle.crra(now["Y"] / oracle.norm)
    gained = (economy[1] - economy[0]) / (oracle.ends[1, 1] - oracle.ends[1, 0] + 1e-10)
    difference = (outputs.reward[1] - outputs.reward[0])[:51]
    return np.asarray((difference - gained) / (lost - gained))


def test_the_priority_of_health_multiplies_the_odds_of_its_weight() -> None:
    fitted = array("agent_health_weight")
    z = fitted / (1 - fitted)
    for factor in (0.0, 0.3, 0.6, 1.0, 2.0):
        wanted = factor * z / (1 + factor * z)
        assert weight_of(factor) == pytest.approx(wanted, abs=3e-3)
    assert Oracle().alpha[[CALIFORNIA, WYOMING]] == pytest.approx([0.55960, 0.81945], abs=1e-5)
    assert Oracle().planner_alpha == pytest.approx(0.583655, abs=1e-6)


# ---- what is seen


def test_rows_have_their_length_and_show_the_first_day() -> None:
    simulator = made()
    governors, planner = rows(simulator.observe(), simulator)
    assert governors.shape == (1, 51, 64) and planner.shape == (1, 463)
    california = governors[0, CALIFORNIA]
    assert california[57:63] == pytest.approx(
        [0.9996214, 0.00025008, 0.00012855, 2.571e-6, 0, 0.045], rel=1e-4
    )
    assert california[[0, 63, 56]] == pytest.approx([0.8, 0.2, 0])
    assert california[1:5].tolist() == [0, 1, 1, 0]
    outputs = play(simulator, 3, 7)
    california = rows(outputs, simulator)[0][0, CALIFORNIA]
    assert california[57:63] == pytest.approx(
        [0.99958982, 0.00026379, 0.00014641, 2.92826e-6, 0, 0.08399331], rel=1e-4
    )
    assert california[[0, 63, 56, 1]] == pytest.approx([0.3, 0.2, 1.04808, 0.35], rel=1e-5)


def test_every_element_is_finite_and_clocks_run() -> None:
    simulator = made()
    clock = {0: rows(simulator.observe(), simulator)[0][0, 0, 2]}
    for day, (governors, planner) in enumerate(actions("lcg", 540), 1):
        outputs = play(simulator, governors, planner)
        seen, whole = rows(outputs, simulator)
        assert np.isfinite(seen).all() and np.isfinite(whole).all()
        assert np.array_equal(seen[0, :, 5:56], np.eye(51))
        clock[day] = seen[0, 0, 2]
        assert seen[0, 0, 4] == pytest.approx(day / 540)
        assert whole[0, [51, 52, 53, 54]].tolist() == seen[0, 0, [1, 2, 3, 4]].tolist()
    assert [clock[day] for day in (0, 1, 89, 90)] == pytest.approx([1, 89 / 90, 1 / 90, 1])


def test_the_planner_sees_what_governors_see() -> None:
    simulator = made()
    for governors, planner in actions("lcg", 40):
        seen, whole = rows(play(simulator, governors, planner), simulator)
    assert np.array_equal(whole[0, :51], seen[0, :, 0])
    assert np.array_equal(whole[0, 55:106], seen[0, :, 56])
    assert np.array_equal(whole[0, 106:412].reshape(6, 51), seen[0, :, 57:63].T)
    assert np.array_equal(whole[0, 412:], seen[0, :, 63])


def test_padded_rows_hold_the_same_and_zeros_behind() -> None:
    split = made(3)
    padded = Simulator(ID, 3, autoreset_mode="Disabled")
    padded.reset(seed=1)
    for governors, planner in actions("lcg", 30):
        a = play(split, governors, planner)
        b = padded.step(np.tile(np.append(governors, planner), (3, 1)))
        seen, whole = rows(a, split)
        obs, mask = np.asarray(b.obs), np.asarray(b.action_mask)
        assert obs.shape == (3, 52, 463) and mask.shape == (3, 52, 21)
        assert np.array_equal(obs[:, :51, :64], seen) and not obs[:, :51, 64:].any()
        assert np.array_equal(obs[:, 51], whole)
        assert not mask[:, :51, 11:].any()
        assert np.array_equal(np.asarray(a.reward), np.asarray(b.reward))


# ---- worlds and episodes


def test_worlds_with_the_same_actions_are_the_same_alone_and_in_a_batch() -> None:
    alone, batch = made(), made(37, threads=2)
    for governors, planner in actions("lcg", 60):
        a, b = play(alone, governors, planner), play(batch, governors, planner)
        assert (np.asarray(b.reward) == np.asarray(a.reward)).all()
        for one, all_ in zip(rows(a, alone), rows(b, batch), strict=True):
            assert (np.asarray(all_) == np.asarray(one)).all()


def test_a_reset_gives_exactly_the_first_day_again() -> None:
    simulator = made(2)
    first = np.asarray(simulator.observe().obs).copy(), np.asarray(simulator.observe().action_mask)
    for governors, planner in actions("lcg", 50):
        last = np.asarray(play(simulator, governors, planner).reward).copy()
    again = simulator.reset()
    assert np.array_equal(again.obs, first[0]) and np.asarray(again.action_mask).all()
    assert first[1].any()
    for governors, planner in actions("lcg", 50):
        outputs = play(simulator, governors, planner)
    assert np.array_equal(outputs.reward, last)


@pytest.mark.parametrize("days", [1, 2, 540, 600, 601, 1000])
def test_episodes_are_cut_short_after_their_days_and_not_before(days: int) -> None:
    simulator = made(max_episode_steps=days)
    for day in range(1, days + 1):
        outputs = play(simulator, 0)
        assert not np.asarray(outputs.terminated).any()
        assert (np.asarray(outputs.truncated) == (day == days)).all()
    assert rows(outputs, simulator)[1][0, 54] == 1.0


def test_unemployment_equals_the_window_beyond_600_days() -> None:
    """Changes of 600 days ago leave: of the history first, then of the episode itself."""
    options: dict[str, Any] = {"max_episode_steps": 1000, "action_cooldown": 9}
    random, simulator, oracle = np.random.default_rng(4), made(2, **options), Oracle(**options)
    for day in range(1, 1001):
        levels = np.where(random.random(51) < 0.3, random.integers(1, 11, 51), 0)
        play(simulator, levels)
        oracle.step(levels, 0)
        if day % 9 == 0 or day > 590:
            assert state(simulator)["U"][1] == pytest.approx(oracle.U, rel=1e-4)
    simulator.reset(seed=1)
    fresh = made(2, **options)
    for _ in range(30):
        a, b = play(simulator, 0), play(fresh, 0)
    assert np.array_equal(a.reward, b.reward)


def test_short_and_endless_episodes_go_the_same_way_for_600_days() -> None:
    short, endless = made(max_episode_steps=600), made(max_episode_steps=0)
    for governors, planner in actions("lcg", 600):
        a, b = play(short, governors, planner), play(endless, governors, planner)
        assert np.array_equal(a.reward, b.reward)
    assert not np.asarray(b.truncated).any() and rows(b, endless)[1][0, 54] == 0
    assert np.asarray(endless.get("window.changes")).shape == (1, 600, 51)
    with pytest.raises(ValueError, match="window"):
        short.get("window.changes")


def test_the_first_levels_are_those_of_history() -> None:
    past = np.asarray(made().get("governors.past"))[0].astype(np.uint64)
    for ago in range(32):
        levels = past[:, ago // 8] >> np.uint64(4 * (ago % 8)) & np.uint64(15)
        np.testing.assert_array_equal(levels, HISTORY[81 - ago])


# ---- factors


def test_factors_are_drawn_for_each_world_and_episode_within_their_spread() -> None:
    options: dict[str, Any] = {
        "beta_intercept_factor": 1.2, "beta_intercept_spread": 0.2, "beta_slope_spread": 0.5,
        "unemployment_factor": 0.8,
    }  # fmt: skip
    simulator = made(500, **options)

    def drawn() -> np.ndarray[Any, Any]:
        names = ("beta_intercept", "beta_slope", "unemployment")
        return np.stack([column(simulator, f"country.{name}").ravel() for name in names])

    first = drawn()
    assert (np.abs(first[0] - 1.2) <= 0.2 + 1e-6).all() and np.ptp(first[0]) > 0.38
    assert (np.abs(first[1] - 1.0) <= 0.5 + 1e-6).all() and np.ptp(first[1]) > 0.95
    assert first[2] == pytest.approx(np.full(500, 0.8))
    assert abs(np.corrcoef(first[0], first[1])[0, 1]) < 0.2
    simulator.reset()
    assert (drawn()[:2] != first[:2]).all()
    simulator.reset(seed=1)
    assert np.array_equal(drawn(), first)
    assert len(np.unique(first[0])) == 500


def test_drawn_factors_act_as_given_ones() -> None:
    simulator = made(4, beta_intercept_spread=0.3, beta_slope_spread=0.3, unemployment_spread=0.3)
    oracles = [
        Oracle(**{f"{name}_factor": float(column(simulator, f"country.{name}").ravel()[world])
                  for name in ("beta_intercept", "beta_slope", "unemployment")})
        for world in range(4)
    ]  # fmt: skip
    for governors, planner in actions("lcg", 60):
        play(simulator, governors, planner)
        for oracle in oracles:
            oracle.step(governors, planner)
    now = state(simulator)
    for world, oracle in enumerate(oracles):
        assert now["U"][world] == pytest.approx(oracle.U, rel=1e-4)
        assert now["I"][world] == pytest.approx(oracle.I, rel=1e-4)


# ---- for people


def test_the_text_is_a_map_with_the_countrys_numbers() -> None:
    simulator = made()
    for governors, planner in actions("lcg", 3):
        play(simulator, governors, planner)
    text = simulator.text(0, CALIFORNIA)
    assert "2020-03-25, day 3 of 540" in text and ">CA" in text and "subsidy" in text
    level = int(column(simulator, "governors.level")[0, 42])
    assert f"TN {level}".replace(" 10", "10") in text
    assert text.count("\n") == 11
