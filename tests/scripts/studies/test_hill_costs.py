"""What Collect's hills cost a camera: `scripts/studies/hill_costs.py`."""

from __future__ import annotations

import os

import numpy as np
import pytest

from gpu_envs.known import registration
from scripts.studies import hill_costs as costs


def test_levels_are_those_of_the_game_with_its_numbers_of_boxes() -> None:
    values, counts = costs.levels(seed=1, worlds=5)
    assert values["columns.height"].shape == (5, 41 * 41)
    assert np.isfinite(values["agents.position"]).all()
    assert 0 < counts["boxes"] <= counts["columns"] <= counts["voxels"]


def test_table_has_the_paper_beside_what_was_measured() -> None:
    rates = {way: costs.Rates([50.0, 150.0], [40.0, 60.0]) for way in costs.COUNTED}
    table = costs.table_of(rates, {"boxes": 68.7, "columns": 200.0, "voxels": 546.0}, 128)
    boxes, columns, voxels = table.rows
    assert boxes == ["merged boxes", "69", "10 k", "20 k", "29.6 k", "210 k"]
    assert columns[4:] == ["", ""]
    assert voxels[4:] == ["20.7 k", "45.7 k"]
    assert "128 levels" in table.note


@pytest.mark.slow
def test_ways_are_measured_on_the_levels_that_were_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", os.environ["GPU_ENVS_CACHE"])
    values, counts = costs.levels(seed=1, worlds=3)
    with costs.built(costs.VIEWS):
        found = costs.measure(values, seconds=0.001, repeats=1)
        views = costs.Views("boxes", values, slice(0, 3))
        read = views.run.simulator.get_column
        assert (read("columns.height") == values["columns.height"]).all()
        assert read("land.hill_count").mean() == counts["boxes"]
    registration.refresh()
    assert set(found) == set(costs.COUNTED)
    assert all(time > 0 for times in found.values() for time in times)
