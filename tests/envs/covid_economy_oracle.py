"""CovidEconomy written plainly in NumPy: float64, levels kept day by day, a window of 600 days.

It shares no code and no shortcut with the environment: deaths are differences of totals, the
response of unemployment is a sum over the whole window. It reads the JSON of parameters.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parents[2] / "kernels/envs/covid_economy/data/covid_parameters.json"
JSON: dict[str, Any] = json.loads(DATA.read_text())
SCALARS: dict[str, Any] = JSON["scalars"]
FIRST, DELAY, WINDOW = 81, 29, 600
HISTORY = np.array([[int(level) for level in day] for day in JSON["policy_history_by_day"]])

Array = NDArray[np.float64]


def array(name: str) -> Array:
    return np.asarray(JSON[name], np.float64)


def day_of(text: str) -> int:
    return (date.fromisoformat(text) - date(2020, 3, 22)).days


class Oracle:
    """One world. Keyword arguments are named as the environment's parameters."""

    def __init__(
        self, *, max_episode_steps: int = 540, health_priority_governors: float = 0.3,
        health_priority_planner: float = 0.45, vaccines_per_million: float = 3000,
        vaccine_start: str = "2021-01-12", vaccine_interval: int = 1, action_cooldown: int = 28,
        subsidy_interval: int = 90, subsidy_levels: int = 20, max_annual_subsidy: float = 20000,
        working_age_share: float = 0.6, sick_share: float = 0.1, interest_rate: float = 0.03,
        crra_eta: float = 2.0, beta_intercept_factor: float = 1.0, beta_slope_factor: float = 1.0,
        unemployment_factor: float = 1.0, enforce_masks: bool = True, raw: bool = False,
    ) -> None:  # fmt: skip
        self.horizon, self.enforce, self.eta = max_episode_steps, enforce_masks, crra_eta
        self.cooldown, self.interval, self.levels = (
            action_cooldown,
            subsidy_interval,
            subsidy_levels,
        )
        self.annual, self.share, self.sick = max_annual_subsidy, working_age_share, sick_share
        self.rate = interest_rate
        self.people = array("state_population")
        self.mu, self.gamma = SCALARS["death_rate"], SCALARS["gamma"]
        self.slope, self.intercept = array("beta_slopes"), array("beta_intercepts")
        self.bias = array("unemployment_bias_percent")
        self.beta_by, self.slope_by, self.work_by = (
            beta_intercept_factor,
            beta_slope_factor,
            unemployment_factor,
        )
        weights, decays = array("unemployment_filter_weights"), array("conv_lambdas")
        # Row a: what a change a days ago adds to the percentage of each state, per level.
        self.response = np.exp(-np.arange(WINDOW)[:, None] / decays) @ weights.T
        self.delivery, self.vaccine_start = vaccine_interval, day_of(vaccine_start)
        self.vaccines = np.floor(vaccine_interval * (self.people / 1e6) * vaccines_per_million)
        at_one = (np.log(2) + self.bias) * self.people / 100
        total = self.people.sum()
        workforce = np.trunc(self.share * total - at_one.sum())
        self.worth = SCALARS["gdp_per_capita"] / (workforce / total) / 365
        self.most = np.maximum(0, self.share * self.people - at_one) * self.worth
        self.norm = 365 * self.most
        self._weigh(health_priority_governors, health_priority_planner, raw)
        self.reset()

    def _weigh(self, governors: float, planner: float, raw: bool) -> None:
        fits = [
            [[f"{end}_marginal_agent_{kind}_index" for end in ("min", "max")]
             for kind in ("health", "economic")],
            [[f"{end}_marginal_planner_{kind}_index" for end in ("min", "max")]
             for kind in ("health", "economic")],
        ]  # fmt: skip
        self.ends = np.array([[array(name) for name in kind] for kind in fits[0]])
        self.planner_ends = np.array([[SCALARS[name] for name in kind] for kind in fits[1]])
        if raw:
            self.ends = np.array([[np.zeros(51), np.ones(51)]] * 2)
            self.planner_ends = np.array([[0.0, 1.0]] * 2)
        z = array("agent_health_weight") / (1 - array("agent_health_weight")) * governors
        self.alpha = z / (1 + z)
        fitted = SCALARS["planner_health_weight"]
        z = fitted / (1 - fitted) * planner
        self.planner_alpha = z / (1 + z)

    def reset(self) -> None:
        first = JSON["initial_state_2020_03_22"]
        self.S, self.I, self.R, self.V, self.U = (
            np.asarray(first[name], np.float64)
            for name in ("susceptible", "infected", "recovered", "vaccinated", "unemployed")
        )
        self.D, self.Y = self.mu * self.R, np.zeros(51)
        self.t, self.subsidy, self.until = 0, 0, np.zeros(51, int)
        # Level of day s at index s + WINDOW: real ones, before 2020 open.
        self.policy = np.ones((WINDOW + 1, 51), int)
        self.policy[WINDOW - FIRST :] = HISTORY[: FIRST + 1]

    def level(self, day: int) -> NDArray[np.int64]:
        return self.policy[day + WINDOW]

    def crra(self, x: Array) -> Array:
        clipped = np.clip(365 * x, 0.1, 3)
        return (1 + (clipped ** (1 - self.eta) - 1) / (1 - self.eta)) / 365

    def step(self, governors: Any, planner: int) -> tuple[Array, float]:
        """Play a day; return the governors' rewards and the planner's."""
        self.t, actions, t = self.t + 1, np.asarray(governors), self.t + 1
        open_ = self.until <= t - 1
        if self.enforce:
            actions = np.where(open_, actions, 0)
        level = np.where(actions > 0, actions, self.level(t - 1))
        self.until = np.where(
            self.until + 1 == t, self.until + np.where(actions > 0, self.cooldown, 1), self.until
        )
        if (t - 1) % self.interval == 0:
            self.subsidy = planner
        return self.live(level)

    def replay(self) -> tuple[Array, float]:
        """Play a day as it was: yesterday's real levels, and the real payments."""
        self.t += 1
        per_level = self.people.sum() * self.annual / self.levels * self.interval / 365
        began = [
            (event["row"] - FIRST + 1, event["usd"]) for event in JSON["real_world_subsidy_events"]
        ]
        self.subsidy = sum(
            round(dollars / per_level)
            for day, dollars in began
            if day <= self.t < day + self.interval
        )
        return self.live(HISTORY[FIRST + self.t - 1])

    def live(self, level: Any) -> tuple[Array, float]:
        """The rest of a day with these levels and the subsidy level that holds."""
        t, P = self.t, self.people
        self.policy = np.concatenate([self.policy, np.asarray(level)[None]])
        paid = self.subsidy / self.levels * P * self.annual / 365
        due = t >= self.vaccine_start and t % self.delivery == 0
        doses = self.vaccines if due else np.zeros(51)
        beta = self.intercept * self.beta_by + self.slope * self.slope_by * self.level(t - DELAY)
        phi, given = np.minimum(1, doses / (self.S + 1e-10)), np.minimum(doses, self.S)
        fewer = -beta * (self.S / P * self.I) * (1 - phi) - given
        more = self.gamma * self.I + given
        self.I = np.maximum(0, self.I - fewer - more)
        self.S, self.R = np.maximum(0, self.S + fewer), np.maximum(0, self.R + more)
        self.V = self.V + given
        before, self.D = self.D, self.mu * (self.R - self.V)
        changes = np.diff(self.policy[t : t + WINDOW + 1], axis=0)[::-1]
        z = self.work_by * (self.response * changes).sum(axis=0)
        percent = np.where(z > 20, z, np.log1p(np.exp(np.minimum(z, 20)))) + self.bias
        self.U = percent * P / 100
        absent = self.share * (self.sick * self.I + self.D) + self.U
        self.Y = np.maximum(0, self.share * P - absent) * self.worth + paid
        return self.rewards(self.D - before, paid)

    def rewards(self, died: Array, paid: Array) -> tuple[Array, float]:
        value = SCALARS["value_of_life"]
        health, economy = -died * value / self.norm, self.crra(self.Y / self.norm)
        self.indices = np.stack([health, economy])
        h, e = (self.indices - self.ends[:, 0]) / (self.ends[:, 1] - self.ends[:, 0] + 1e-10)
        whole = self.norm.sum()
        both = np.array([
            -died.sum() * value / whole,
            self.crra((self.Y.sum() - (1 + self.rate) * paid.sum()) / whole),
        ])  # fmt: skip
        ends = self.planner_ends
        a, b = (both - ends[:, 0]) / (ends[:, 1] - ends[:, 0] + 1e-10)
        planner = self.planner_alpha * a + (1 - self.planner_alpha) * b
        return self.alpha * h + (1 - self.alpha) * e, float(planner)

    def masks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what the governors and the planner may choose."""
        governors = np.ones((51, 11), bool)
        governors[:, 1:] = (self.t >= self.until)[:, None]
        planner = np.full(21, self.t % self.interval == 0)
        planner[0] = True
        return governors, planner

    def vaccine_clock(self) -> float:
        n = self.delivery
        first, following = -(-self.vaccine_start // n) * n, self.t + 1
        if following <= first:
            return min(1, (first - following) / n) / n
        return (n - following % n) / n

    def rows(self) -> tuple[Array, Array]:
        """Return the governors' observations and the planner's."""
        level, lagged = self.level(self.t) / 10, self.level(self.t - DELAY + 1) / 10
        common = np.array([
            self.subsidy / self.levels, (self.interval - self.t % self.interval) / self.interval,
            self.vaccine_clock(), self.t / self.horizon,
        ])  # fmt: skip
        shares = np.stack([self.S, self.I, self.R, self.D, self.V, self.U]) / self.people
        product = self.Y / self.most
        governors = np.column_stack(
            [level, np.tile(common, (51, 1)), np.eye(51), product, shares.T, lagged]
        )
        return governors, np.concatenate([level, common, product, shares.ravel(), lagged])
