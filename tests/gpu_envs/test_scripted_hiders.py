"""The hiders of the example hide, and stay in the arena."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[2] / "examples" / "scripted_hiders.py"


def test_they_are_seen_far_less_than_by_chance() -> None:
    spec = importlib.util.spec_from_file_location("scripted_hiders", FILE)
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    seen, outside = script.measure(worlds=40, seed=7)
    assert seen < 0.4  # at random: 0.52; over 1,000 worlds the script: 0.27
    assert outside == 0
    still, _ = script.measure(worlds=40, seed=7, turn=script.REST)
    assert still > seen + 0.05  # over 1,000 worlds 0.41
