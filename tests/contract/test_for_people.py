"""What every shipped environment describes for people: a picture, a rate, a text, names, keys."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gpu_envs.building import places
from gpu_envs.commands.action_keys import REST

SHIPPED = {
    described["id"]: described
    for file in sorted(places.CATALOGUE.glob("*.json"))
    for described in json.loads(file.read_text(encoding="utf-8"))
}

MOST_LETTERS = 8_000  # of a text, in a world of its usual size
WITHOUT_KEYS = {
    "CovidEconomy-v0": "52 players choose levels from a list",
    "Hanabi-v0": "moves are chosen from a list of legal ones",
}


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_drawn_at_a_rate_of_its_own(name: str, make_simulator: Any) -> None:
    assert SHIPPED[name]["scene"]
    assert 1 <= SHIPPED[name]["render_fps"] <= 60
    simulator = make_simulator(name, 2)
    simulator.reset(seed=5)
    before = simulator.render(1, size=(90, 160))
    for k in range(8):
        simulator.step(simulator.sample_actions(seed=k))
    assert not np.array_equal(simulator.render(1, size=(90, 160)), before)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.filterwarnings("ignore:.*actions were illegal")
def test_its_text_follows_the_world_and_stays_small(name: str, make_simulator: Any) -> None:
    assert SHIPPED[name]["text"]
    simulator = make_simulator(name, 2)
    simulator.reset(seed=5)
    viewers = (-1, 0, simulator.agents_per_world - 1)
    before = [simulator.text(1, viewer) for viewer in viewers]
    for k in range(8):
        simulator.step(simulator.sample_actions(seed=k))
    after = [simulator.text(1, viewer) for viewer in viewers]
    for earlier, later in zip(before, after, strict=True):
        assert earlier != later
        assert 50 < len(later) < MOST_LETTERS
        assert later.endswith("\n")


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.filterwarnings("ignore:.*actions were illegal")
def test_its_choices_have_names(name: str, make_simulator: Any) -> None:
    simulator = make_simulator(name, 1)
    names, keys = simulator.action_names(), simulator.action_keys()
    # A number has them for its lowest value, its rest and its highest.
    counts = [f.choices or 3 for f in simulator.action_fields for _ in range(f.size)]
    assert len(names) == sum(counts) and all(names)
    assert [one for one, times in Counter(names).items() if times > 1] == []
    if name in WITHOUT_KEYS:
        assert keys == []
        return
    assert len(keys) == sum(counts)
    pressed = Counter(key for key in keys if key and key != REST)
    assert pressed and set(pressed.values()) == {1}
    ends = np.cumsum(counts)
    for begin, end in zip(ends - counts, ends, strict=True):
        assert any(keys[begin:end]), names[begin:end]
        assert keys[begin:end].count(REST) <= 1
