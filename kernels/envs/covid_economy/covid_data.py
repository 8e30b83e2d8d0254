"""Makes the data file that CovidEconomy reads, from the JSON of its parameters beside it.

Usage: kernels/envs/covid_economy/covid_data.py [--check]

Numbers of the JSON become float64 as they are. What needs an exponential is worked out here, in
decimal arithmetic, so that the file has the same bytes wherever it is made.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from collections.abc import Iterable
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "data"
SOURCE, TARGET = FOLDER / "covid_parameters.json", FOLDER / "covid_economy.bin"
MAGIC = b"GECOVID1"
DIGITS = 40

SCALARS = (
    "death_rate", "gamma", "gdp_per_capita", "value_of_life", "planner_health_weight",
    "min_marginal_planner_health_index", "max_marginal_planner_health_index",
    "min_marginal_planner_economic_index", "max_marginal_planner_economic_index",
)  # fmt: skip
COLUMNS = (
    "state_population", "beta_slopes", "beta_intercepts", "unemployment_bias_percent",
    "agent_health_weight", "min_marginal_agent_health_index", "max_marginal_agent_health_index",
    "min_marginal_agent_economic_index", "max_marginal_agent_economic_index",
)  # fmt: skip
FIRST_DAY = ("susceptible", "infected", "recovered", "unemployed")


def decays(source: dict[str, Any], days: int) -> list[float]:
    """Return the share of each response to a change that is left after `days` days."""
    with localcontext() as context:
        context.prec = DIGITS
        return [float((-days / Decimal(scale)).exp()) for scale in source["conv_lambdas"]]


def first_responses(source: dict[str, Any]) -> list[float]:
    """Return each state's five responses on the first day to all changes before it."""
    levels = [[int(level) for level in day] for day in source["policy_history_by_day"]]
    first = source["scalars"]["start_date_index"]
    responses = []
    with localcontext() as context:
        context.prec = DIGITS
        scales = [Decimal(scale) for scale in source["conv_lambdas"]]
        left = [[(-age / scale).exp() for scale in scales] for age in range(first)]
        for state in range(len(levels[0])):
            changes = [
                levels[first - age][state] - levels[first - age - 1][state] for age in range(first)
            ]
            for k in range(len(scales)):
                terms = (left[age][k] * change for age, change in enumerate(changes))
                responses.append(float(sum(terms, Decimal(0))))
    return responses


def pairs(digits: Iterable[int]) -> bytes:
    """Pack two levels into a byte, the first into its lower half."""
    row = list(digits)
    row += [0] * (len(row) % 2)
    return bytes(low | high << 4 for low, high in zip(row[::2], row[1::2], strict=True))


def packed(source: dict[str, Any]) -> bytes:
    """Return the bytes of the data file; `presets.hpp` reads them in this order."""
    scalars, history = source["scalars"], source["policy_history_by_day"]
    numbers: list[float] = [scalars[name] for name in SCALARS]
    numbers += decays(source, 1) + decays(source, scalars["filter_len"])
    for event in source["real_world_subsidy_events"]:
        numbers += [event["row"], event["usd"]]
    for name in COLUMNS:
        numbers += source[name]
    for name in FIRST_DAY:
        numbers += source["initial_state_2020_03_22"][name]
    for weights in source["unemployment_filter_weights"]:
        numbers += weights
    numbers += first_responses(source)
    counts = (scalars["n_states"], len(history), scalars["start_date_index"], len(numbers))
    return (
        MAGIC
        + struct.pack("<4I", *counts)
        + struct.pack(f"<{len(numbers)}d", *numbers)
        + pairs(int(level) for day in history for level in day)
    )


def main() -> int:
    """Write the file, or say whether it is what the JSON gives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    data = packed(json.loads(SOURCE.read_text(encoding="utf-8")))
    if check:
        same = TARGET.exists() and TARGET.read_bytes() == data
        print(f"{TARGET.name}: {'as the JSON says' if same else 'differs from the JSON'}")
        return 0 if same else 1
    TARGET.write_bytes(data)
    print(f"{TARGET.name}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
