"""What the tests of CovidEconomy share: worlds, runs that are always the same, states by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from covid_economy_oracle import HISTORY, Array, Oracle
from numpy.typing import NDArray

from gpu_envs import Simulator

ID = "CovidEconomy-v0"
CALIFORNIA, MISSOURI, WYOMING = 4, 25, 50
Play = tuple[NDArray[np.int64], int]
NOOP = np.zeros(51, np.int64)


def made(worlds: int = 1, **options: Any) -> Simulator:
    """Worlds that wait where their episode is over, with rows by role, at the first day."""
    simulator = Simulator(ID, worlds, roles="split", autoreset_mode="Disabled", **options)
    simulator.reset(seed=1)
    return simulator


def play(simulator: Simulator, governors: Any, planner: Any = 0) -> Any:
    """Play a day: levels of all worlds, of the governors of all, or one for everybody."""
    n = simulator.num_worlds
    return simulator.step({
        "governor": np.array(np.broadcast_to(np.asarray(governors, np.int64), (n, 51))),
        "planner": np.array(np.broadcast_to(np.asarray(planner, np.int64).reshape(-1, 1), (n, 1))),
    })  # fmt: skip


def column(simulator: Simulator, name: str) -> Array:
    return np.asarray(simulator.get(name)).astype(np.float64)


def state(simulator: Simulator) -> dict[str, Array]:
    """Return the states' numbers, (worlds, 51) each, by the letters of the oracle."""
    names = "susceptible infected removed vaccinated unemployed product".split()
    S, infected, Q, V, U, Y = (column(simulator, f"governors.{name}") for name in names)
    return {"S": S, "I": infected, "R": Q + V, "V": V, "D": 0.02 * Q, "U": U, "Y": Y}


def of_oracle(oracle: Oracle) -> dict[str, Array]:
    return {name: getattr(oracle, name) for name in "SIRVDUY"}


def masks(simulator: Simulator) -> tuple[Any, Any]:
    """Return the governors' masks, (worlds, 51, 11), and the planner's, (worlds, 21)."""
    rows = simulator.by_role(np.asarray(simulator.observe().action_mask))
    return rows["governor"].astype(bool), rows["planner"][:, 0].astype(bool)


def rows(outputs: Any, simulator: Simulator) -> tuple[Any, Any]:
    """Return the governors' observations, (worlds, 51, 64), and the planner's, (worlds, 463)."""
    parts = simulator.by_role(np.asarray(outputs.obs))
    return parts["governor"], parts["planner"][:, 0]


# ---- runs whose results are known


def lcg() -> Iterator[int]:
    word = 1
    while True:
        word = (1103515245 * word + 12345) % 2**31
        yield word // 65536


def actions(run: str, days: int) -> Iterator[Play]:
    """Yield what all play, day by day: noop, open, closed, lcg."""
    always = {"noop": (0, 0), "open": (1, 0), "closed": (10, 20)}
    numbers = lcg()
    for day in range(days):
        if run in always:
            level, subsidy = always[run]
            yield np.full(51, level), subsidy
            continue
        levels = [1 + next(numbers) % 10 for _ in range(51)] if day % 28 == 0 else [0] * 51
        yield np.array(levels), next(numbers) % 21 if day % 90 == 0 else 0


class Recorded:
    """A run of one world: states and rewards by day, day 0 first."""

    def __init__(self, plays: Iterator[Play], **options: Any) -> None:
        simulator = made(**options)
        days, rewards = [state(simulator)], [np.zeros(52)]
        for governors, planner in plays:
            outputs = play(simulator, governors, planner)
            days.append(state(simulator))
            rewards.append(np.asarray(outputs.reward)[0].astype(np.float64))
        self.states = {name: np.stack([day[name][0] for day in days]) for name in days[0]}
        self.rewards = np.stack(rewards)
        self.last = outputs


@cache
def recorded(run: str) -> Recorded:
    return Recorded(actions(run, 540))


def total_of_planner(plays: Callable[[int], Play], days: int = 405, **options: Any) -> float:
    """Return the planner's total with all weights as fitted, as the published totals are.

    Masks are free unless `options` say otherwise: the original does not enforce them.
    """
    options = {"enforce_masks": False} | options
    simulator = made(
        max_episode_steps=days,
        health_priority_governors=1.0,
        health_priority_planner=1.0,
        **options,
    )
    total = 0.0
    for day in range(1, days + 1):
        total += float(np.asarray(play(simulator, *plays(day)).reward)[0, 51])
    return total


def real_level(day: int) -> NDArray[np.int64]:
    return np.asarray(HISTORY[81 + day])
