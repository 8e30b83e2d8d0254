"""The data file of CovidEconomy: it says what the JSON beside it says, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

SCRIPT = "kernels/envs/covid_economy/covid_data.py"
SPEC = importlib.util.spec_from_file_location("covid_data", Path(__file__).parents[3] / SCRIPT)
assert SPEC is not None and SPEC.loader is not None
covid_data: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(covid_data)

JSON: dict[str, Any] = json.loads(covid_data.SOURCE.read_text())
DATA = covid_data.TARGET.read_bytes()


@pytest.fixture(scope="module")
def numbers() -> list[float]:
    count = struct.unpack_from("<4I", DATA, 8)[3]
    return list(struct.unpack_from(f"<{count}d", DATA, 24))


def test_the_script_makes_the_committed_file_byte_for_byte() -> None:
    assert covid_data.packed(JSON) == DATA


def test_numbers_of_the_file_are_those_of_the_json(numbers: list[float]) -> None:
    assert struct.unpack_from("<3I", DATA, 8) == (51, 518, 81)
    at = iter(numbers)

    def take(count: int) -> list[float]:
        return [next(at) for _ in range(count)]

    assert take(9) == [JSON["scalars"][name] for name in covid_data.SCALARS]
    scales = JSON["conv_lambdas"]
    assert take(5) == pytest.approx([math.exp(-1 / scale) for scale in scales], rel=1e-15)
    assert take(5) == pytest.approx([math.exp(-600 / scale) for scale in scales], rel=1e-13)
    events = [[e["row"], e["usd"]] for e in JSON["real_world_subsidy_events"]]
    assert take(6) == [number for event in events for number in event]
    for name in covid_data.COLUMNS:
        assert take(51) == JSON[name], name
    for name in covid_data.FIRST_DAY:
        assert take(51) == JSON["initial_state_2020_03_22"][name], name
    assert take(255) == [w for row in JSON["unemployment_filter_weights"] for w in row]
    california = take(255)[20:25]
    assert california == pytest.approx([4.82888, 5.81095, 6.35650, 6.66750, 6.83313], abs=1e-5)
    assert next(at, None) is None
    assert not any(JSON["initial_state_2020_03_22"]["vaccinated"])


def test_levels_of_the_file_are_those_of_the_json(numbers: list[float]) -> None:
    packed = DATA[24 + 8 * len(numbers) :]
    levels = [half for byte in packed for half in (byte & 15, byte >> 4)]
    wanted = [int(level) for day in JSON["policy_history_by_day"] for level in day]
    assert levels[: len(wanted)] == wanted and len(packed) == len(wanted) // 2
    assert {len(day) for day in JSON["policy_history_by_day"]} == {51}
    assert set(wanted) <= set(range(1, 10))


def test_the_attribution_lies_beside_the_data() -> None:
    text = (covid_data.FOLDER / "covid_attribution.md").read_text()
    for who in (
        "OxCGRT",
        "Johns Hopkins",
        "Our World in Data",
        "Bureau of Labor",
        "Salesforce.com",
    ):
        assert who in text
    assert text.count("CC BY 4.0") >= 3 and "Redistributions in binary form" in text
