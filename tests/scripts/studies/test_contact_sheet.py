"""scripts/studies/contact_sheet.py: 30 worlds side by side, as agents see them and from outside."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_envs import Simulator
from scripts.studies import contact_sheet


def test_sheets_have_a_picture_of_each_world_in_its_place() -> None:
    found = contact_sheet.sheets("ObstaclesEasy-v0", 3, resolution=(9, 16))
    rows, columns = contact_sheet.SIZE
    assert found["outside"].shape == (5 * rows, 6 * columns, 3)
    assert found["eyes"].shape == (5 * 9, 6 * 16, 3)
    simulator = Simulator("ObstaclesEasy-v0", 30, resolution=(9, 16), channels="last")
    simulator.reset(seed=3)
    for _ in range(contact_sheet.SETTLES):
        seen = simulator.step(np.zeros((30, 1, 6), np.int32)).obs
    assert np.array_equal(found["eyes"][9:18, 16:32], seen[7, 0])


def test_environments_without_pictures_are_refused() -> None:
    with pytest.raises(SystemExit, match="observations of CartPole-v0 are no pictures"):
        contact_sheet.sheets("CartPole-v0", 1)
