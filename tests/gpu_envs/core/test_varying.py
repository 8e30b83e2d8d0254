"""What a simulator says of its parameters, which may differ by world and change."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_envs


def test_parameters_follow_every_change(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", 2, mass=[1, 2.0])
    made = simulator.parameters
    simulator.reset(seed=1)
    assert simulator.parameters == made
    simulator.set_parameters(force=5, gravity=9.7)
    now = simulator.parameters
    assert now == {**made, "force": 5, "gravity": 9.7}
    assert repr(now["force"]) == "5" and made["force"] == 10
    save, one = simulator.save(), simulator.save([0])
    simulator.reset(options={"force": 6, "length": 0.25})
    assert simulator.parameters == {**now, "force": 6, "length": 0.25}
    simulator.load(save)
    assert simulator.parameters == now
    simulator.set("world.force", 7)
    assert simulator.parameters["force"] == 7
    simulator.load(one, [1])
    assert simulator.parameters["force"] == 7  # of world 0
    simulator.copy_worlds(1, 0)
    assert simulator.parameters == now


def test_parameters_of_each_kind_follow_a_change(make_simulator) -> None:
    simulator = make_simulator("Flocking-v0", 2, varies=("max_speed",))
    simulator.set_parameters(reward_decay=0.1, reward_scale=2)
    shown = simulator.parameters
    assert (repr(shown["reward_decay"]), repr(shown["reward_scale"])) == ("0.1", "2")
    simulator = make_simulator("HideSeek-v0", 2, varies=("gravity",))
    simulator.set_parameters(division_count_high=1)
    assert repr(simulator.parameters["division_count_high"]) == "1"


def test_one_that_differs_shows_the_greatest_value_that_it_was_made_with(make_simulator) -> None:
    simulator = make_simulator(
        "CartPole-v0",
        2,
        mass=np.array([1, 2.5]),
        length=gpu_envs.uniform(0.3, 0.8),
        force=8,
        varies=("force",),
    )
    simulator.reset(seed=0)
    simulator.set_parameters(mass=3, length=1, force=9)
    shown = simulator.parameters
    assert (shown["mass"], shown["length"], shown["force"]) == (2.5, 0.8, 8)


def test_parameters_of_one_value_for_all_follow_a_change(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", 2)
    simulator.reset(seed=0)
    simulator.set_parameters(force=5)
    assert simulator.parameters["force"] == 5
    simulator.reset(options={"force": 6})
    assert simulator.parameters["force"] == 6


def test_a_step_reads_no_parameters(make_simulator, monkeypatch) -> None:
    simulator = make_simulator("CartPole-v0", 2, varies=("mass",))
    simulator.reset(seed=0)
    monkeypatch.setattr(simulator, "_read_own", lambda: pytest.fail("read"))
    simulator.set_parameters(force=5)
    simulator.step(np.zeros((2, 1), np.int32))
    simulator.reset(options={"force": 6})


@pytest.mark.parametrize("varies", [(), ("mass",)])
def test_a_closed_simulator_tells_no_parameter(make_simulator, varies) -> None:
    simulator = make_simulator("CartPole-v0", 2, varies=varies)
    simulator.close()
    with pytest.raises(RuntimeError, match="is closed: make a new one"):
        simulator.get("world.mass")
