"""What holds for every registered environment without its author writing a test.

Equality is exact throughout. Order-freedom, executors and layouts have native tests of the same
kind (tests/kernels/engine/executors_*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from sizes import ALONE, FEW, TOGETHER, VARIED

import gpu_envs
from gpu_envs import registration

IDS = sorted(registration.environments())
MODES = ("SameStep", "NextStep", "Disabled")
STEPS = 60
SINGLES = [name for name in IDS if name not in TOGETHER]

every = pytest.mark.parametrize("name", IDS)


def _actions(simulator: gpu_envs.Simulator, steps: int, seed: int = 0) -> list[np.ndarray]:
    space = simulator.single_action_space
    space.seed(seed)
    shape = (simulator.num_worlds, simulator.agents_per_world, *(space.shape or ()))
    rows = simulator.num_worlds * simulator.agents_per_world
    return [
        np.array([space.sample() for _ in range(rows)]).reshape(shape).astype(space.dtype)
        for _ in range(steps)
    ]


def _arrays(outputs: Any) -> dict[str, np.ndarray]:
    fields = outputs.__slots__ if hasattr(outputs, "__slots__") else vars(outputs)
    return {name: value for name in fields if (value := getattr(outputs, name)) is not None}


def _same(first: Any, second: Any, note: str = "") -> None:
    left, right = _arrays(first), _arrays(second)
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].tobytes() == right[name].tobytes(), f"{name} {note}"


@every
def test_observations_are_within_their_space(name: str, make_simulator: Callable[..., Any]) -> None:
    simulator = make_simulator(name, 16, **FEW.get(name, {}))
    space = simulator.single_observation_space
    observed = [simulator.reset(seed=1)]
    observed += [simulator.step(action) for action in _actions(simulator, 4 * STEPS)]
    for outputs in observed:
        rows = outputs.obs.reshape(-1, *space.shape)
        assert rows.dtype == space.dtype
        assert (rows >= space.low).all() and (rows <= space.high).all()


@every
@pytest.mark.parametrize("mode", MODES)
def test_threads_and_batches_change_no_bit(
    name: str, mode: str, make_simulator: Callable[..., Any]
) -> None:
    make = {"autoreset_mode": mode, "max_episode_steps": 23}
    batch = make_simulator(name, 40, threads=1, **make, **FEW.get(name, {}))
    others = [
        make_simulator(name, 40, threads=threads, **make, **FEW.get(name, {})) for threads in (2, 5)
    ]
    alone = make_simulator(name, 1, first_world=7, **make, **FEW.get(name, {}))
    for simulator in (batch, alone, *others):
        simulator.reset(seed=9)
    for step, action in enumerate(_actions(batch, STEPS)):
        expected = batch.step(action)
        for other in others:
            _same(expected, other.step(action), f"at step {step}")
        single = alone.step(action[7:8])
        for key, value in _arrays(single).items():
            assert value.tobytes() == _arrays(expected)[key][7:8].tobytes(), f"{key} at step {step}"


@every
def test_a_save_continues_as_the_run_it_was_taken_from(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    first, second = (
        make_simulator(name, 9, **VARIED.get(name, {}), **FEW.get(name, {})) for _ in range(2)
    )
    first.reset(seed=5)
    actions = _actions(first, STEPS)
    for action in actions[: STEPS // 2]:
        first.step(action)
    second.load(first.save())
    _same(first.observe(), second.observe())
    for action in actions[STEPS // 2 :]:
        _same(first.step(action), second.step(action))
    assert first.save() == second.save()


@every
def test_a_fork_has_its_sources_future_and_a_reseeded_one_its_own(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(
        name, 3, max_episode_steps=10, **VARIED.get(name, {}), **FEW.get(name, {})
    )
    simulator.reset(seed=5)
    for action in _actions(simulator, 5):
        simulator.step(action)
    simulator.copy_worlds([0], [1])
    simulator.copy_worlds([0], [2], reseed=True)
    apart = False
    for action in _actions(simulator, STEPS, seed=1):
        action[:] = action[:1]
        outputs = simulator.step(action)
        assert outputs.obs[0].tobytes() == outputs.obs[1].tobytes()
        apart = apart or outputs.obs[0].tobytes() != outputs.obs[2].tobytes()
    assert apart


@every
def test_masked_reset_leaves_other_worlds_as_they_were(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(name, 6, **FEW.get(name, {}))
    simulator.reset(seed=2)
    for action in _actions(simulator, 7):
        simulator.step(action)
    columns = [column["name"] for column in simulator.instance["columns"]]
    before = {column: simulator.get(column) for column in columns}
    shown = simulator.observe().obs
    mask = np.array([True, False, False, True, False, False])
    after = simulator.reset(mask=mask).obs
    assert after[~mask].tobytes() == shown[~mask].tobytes()
    assert after[mask].tobytes() != shown[mask].tobytes()
    for column in columns:
        assert simulator.get(column)[~mask].tobytes() == before[column][~mask].tobytes(), column


@every
def test_trajectories_of_the_modes_agree_without_their_filler(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    """One world: the k-th real step of NextStep and of Disabled with resets is SameStep's."""
    same, after, manual = (
        make_simulator(name, 1, autoreset_mode=mode, max_episode_steps=11, **FEW.get(name, {}))
        for mode in MODES
    )
    for simulator in (same, after, manual):
        simulator.reset(seed=3)
    for action in _actions(same, STEPS):
        expected = same.step(action)
        for simulator in (after, manual):
            found = simulator.step(action)
            for key in ("reward", "terminated", "truncated", "ended", "episode_return"):
                assert getattr(found, key).tobytes() == getattr(expected, key).tobytes(), key
            over = (found.terminated | found.truncated).all()
            if not over:
                assert found.obs.tobytes() == expected.obs.tobytes()
                continue
            assert found.obs.tobytes() == expected.final_obs.tobytes()
            renewed = simulator.step(action) if simulator is after else simulator.reset()
            assert renewed.obs.tobytes() == expected.obs.tobytes()
            assert not renewed.reward.any() and not renewed.terminated.any()


@every
def test_a_column_can_be_read_and_written_back(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(name, 5, **FEW.get(name, {}))
    simulator.reset(seed=1)
    saved = simulator.save()
    for column in simulator.instance["columns"]:
        values = simulator.get(column["name"])
        values_before = values.copy()
        values[...] = 0  # a copy: writing into it changes nothing
        assert simulator.save() == saved
        simulator.set(column["name"], values_before)
    assert simulator.save() == saved


@every
def test_warm_steps_take_no_memory_from_the_system(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator(name, 8, **FEW.get(name, {}))
    outputs = simulator.reset(seed=1)
    actions = _actions(simulator, 20)
    for action in actions:
        outputs = simulator.step(action)
    taken = simulator._native.allocations
    for _ in range(10):
        for action in actions:
            outputs = simulator.step(action)
    assert outputs.obs is not None
    assert simulator._native.allocations == taken


@every
@pytest.mark.parametrize("prefix", ["gpu_envs/", "gpu_envs:gpu_envs/"])
def test_make_vec_knows_the_id(name: str, prefix: str) -> None:
    env = gymnasium.make_vec(prefix + name, num_envs=3, device="cpu", **FEW.get(name, {}))
    env.reset(seed=1)
    env.step(env.action_space.sample())
    env.close()


@pytest.mark.parametrize("name", SINGLES)
@pytest.mark.parametrize("prefix", ["gpu_envs/", "gpu_envs:gpu_envs/"])
def test_make_knows_the_id(name: str, prefix: str) -> None:
    single = gymnasium.make(prefix + name, **ALONE.get(name, {}))
    single.reset(seed=1)
    single.close()
