"""The suite of environments with many agents: its sizes exist, its figures agree."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from gpu_envs import benchmark
from gpu_envs.benchmark import peers, swarms
from gpu_envs.benchmark.herds import HERDS, Form
from gpu_envs.simulator import Simulator

FORMS = [(name, form) for name in HERDS for form in HERDS[name]]


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda x: getattr(x, "label", x))
def test_every_size_is_one_that_the_environment_can_have(name: str, form: Form) -> None:
    simulator = Simulator(name, 1, device="cpu", **form.parameters)
    said = form.label.replace(",", "").split()
    if said[0] == "2000":
        assert simulator.agents_per_world == 5
    else:
        counts = [int(word) for word in said if word.isdecimal() and word != "10"]
        assert simulator.agents_per_world == sum(counts)
    load = swarms.load_of(simulator, form)
    assert load.moved > 4 * simulator.agents_per_world
    assert (load.pairs > 0) == bool(form.ranges)
    simulator.close()


def test_pairs_in_range_are_those_of_an_even_spread() -> None:
    form = HERDS["Flocking-v0"][0]
    simulator = Simulator("Flocking-v0", 1, device="cpu", **form.parameters)
    expected = 1024 * 1023 * math.pi * 0.1**2
    assert swarms.load_of(simulator, form).pairs == pytest.approx(expected)
    simulator.close()


@pytest.mark.parametrize("name", HERDS)
def test_peers_are_called_like_the_sizes_they_play(name: str) -> None:
    labels = [form.label for form in HERDS[name]]
    for peer in peers.PEERS.get(name, ()):
        assert sum(peer.name.endswith(label) for label in labels) == 1


@pytest.mark.parametrize("name", [name for name in HERDS if "Tag" in name and "Swarm" not in name])
def test_figures_agree(tmp_path, name: str) -> None:
    arguments = ["--quick", "--seconds", "0.0005", "--repeats", "1", "--device", "cpu"]
    benchmark.main([name, *arguments, "--no-peers", "--out", str(tmp_path)])
    report: dict[str, Any] = json.loads(next(tmp_path.glob("*.json")).read_text())
    for entry in report["forms"].values():
        rate = entry["world_steps"]["per_second"]
        assert entry["agent_steps_per_second"] == pytest.approx(rate * entry["agents"])
        work = rate * entry["bytes_per_world_step"]
        assert entry["share_of_limit"] == pytest.approx(work / entry["limit"])
    promised = sum(len(form.bars) + len(form.device_bars) for form in HERDS[name])
    assert [bar["verdict"] for bar in report["bars"]] == ["not measured"] * promised
