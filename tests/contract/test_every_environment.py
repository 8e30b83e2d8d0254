"""What holds for every registered environment without its author writing a test.

Equality is exact throughout. Order-freedom, executors and layouts have native tests of the same
kind (tests/kernels/engine/executors_*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import (
    CASES,
    Case,
    drawn,
    every_environment,
    flat_bytes,
    layers,
    rows_of,
)

STEPS = 60


def _arrays(outputs: gpu_envs.Outputs) -> dict[str, np.ndarray]:
    return {
        f"{name} {layer}": array
        for name, output in outputs._asdict().items()
        if output is not None
        for layer, array in layers(output).items()
    }


def _same(first: gpu_envs.Outputs, second: gpu_envs.Outputs, note: str = "") -> None:
    left, right = _arrays(first), _arrays(second)
    assert left and left.keys() == right.keys()
    for name in left:
        assert left[name].tobytes() == right[name].tobytes(), f"{name} {note}"


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.id}-{case.options['autoreset_mode']}-{case.seed}"
)
def test_threads_and_batches_change_no_bit(case: Case, make_simulator: Callable[..., Any]) -> None:
    """In every setting with a recorded hash: profiles, forms, sizes, modes."""
    options = {**case.options, **case.options["parameters"]}
    del options["parameters"]
    for name, (_, ends) in options.pop("changes", {}).items():
        options[name] = gpu_envs.uniform(*ends)
    if options["max_episode_steps"] not in range(1, 24):
        options["max_episode_steps"] = 23
    if options["dtype"] == "own":
        del options["dtype"]
    worlds = max(8, case.worlds)
    batch, *others = (make_simulator(case.id, worlds, threads=k, **options) for k in (1, 2, 5))
    alone = make_simulator(case.id, 1, first_world=7, **options)
    for simulator in (batch, alone, *others):
        simulator.reset(seed=case.seed)
    for step, action in enumerate(drawn(batch, min(STEPS, case.steps))):
        expected = batch.step(action)
        for other in others:
            _same(expected, other.step(action), f"at step {step}")
        single = alone.step(action[7:8])
        for key, value in _arrays(single).items():
            assert value.tobytes() == _arrays(expected)[key][7:8].tobytes(), f"{key} at step {step}"


@every_environment
def test_a_save_continues_as_the_run_it_was_taken_from(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    form = {**sizes(name, "varied"), **sizes(name, "few")}
    first, second = (make_simulator(name, 9, **form) for _ in range(2))
    first.reset(seed=5)
    actions = drawn(first, STEPS)
    for action in actions[: STEPS // 2]:
        first.step(action)
    second.load(first.save())
    _same(first.observe(), second.observe())
    for action in actions[STEPS // 2 :]:
        _same(first.step(action), second.step(action))
    assert first.save() == second.save()


@every_environment
def test_a_save_of_one_world_continues_in_any_worlds(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    form = {"max_episode_steps": 10, **sizes(name, "varied"), **sizes(name, "few")}
    alone, batch = make_simulator(name, 1, first_world=5, **form), make_simulator(name, 6, **form)
    alone.reset(seed=5)
    batch.reset(seed=6)
    first, *rest = (drawn(alone, count, seed=count) for count in (5, STEPS))
    for action in first:
        alone.step(action)
    before = batch.save(worlds=[0, 2, 3, 5])
    batch.load(alone.save(), worlds=[4, 1])
    assert batch.save(worlds=[0, 2, 3, 5]) == before
    for action in rest[0]:
        one, many = _arrays(alone.step(action)), _arrays(batch.step(np.repeat(action, 6, 0)))
        for key, value in one.items():
            for world in (4, 1):
                assert value.tobytes() == many[key][world : world + 1].tobytes(), key


@every_environment
def test_a_fork_has_its_sources_future_and_a_reseeded_one_its_own(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    form = {"max_episode_steps": 10, **sizes(name, "varied"), **sizes(name, "few")}
    simulator = make_simulator(name, 3, **form)
    simulator.reset(seed=5)
    for action in drawn(simulator, 5):
        simulator.step(action)
    simulator.copy_worlds([0], [1])
    simulator.copy_worlds([0], [2], reseed=True)
    apart = False
    for action in drawn(simulator, STEPS, seed=1):
        action[:] = action[:1]
        obs = simulator.step(action).obs
        source, fork, reseeded = (flat_bytes(rows_of(obs, world)) for world in range(3))
        assert source == fork
        apart = apart or source != reseeded
    assert apart


@every_environment
def test_a_column_can_be_read_and_written_back(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(name, 5, **sizes(name, "few"))
    simulator.reset(seed=1)
    saved = simulator.save()
    for column in simulator.instance["columns"]:
        values = simulator.get(column["name"])
        values_before = values.copy()
        values[...] = 0  # a copy: writing into it changes nothing
        assert simulator.save() == saved
        simulator.set(column["name"], values_before)
    assert simulator.save() == saved


@every_environment
def test_warm_steps_take_no_memory_from_the_system(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(name, 8, **sizes(name, "few"))
    outputs = simulator.reset(seed=1)
    actions = drawn(simulator, 20)
    for action in actions:
        outputs = simulator.step(action)
    taken = simulator._native.allocations
    for _ in range(10):
        for action in actions:
            outputs = simulator.step(action)
    assert outputs.obs is not None
    assert simulator._native.allocations == taken
