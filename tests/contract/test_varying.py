"""Parameters that differ by world, for every environment that has some.

The measure is a simulator of one world whose parameters have these values: a batch of worlds with
values of their own has its steps, to the bit.
"""

from __future__ import annotations

from contextlib import closing
from functools import cache
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import MODES, REGISTERED, drawn, rows_of, same, short

WORLDS = 5
STEPS = 40
VARYING = {
    name: [field for field in description["parameters"] if field.get("by_world")]
    for name, description in REGISTERED.items()
}
MARKED = [name for name, fields in VARYING.items() if fields]

every_marked = pytest.mark.parametrize("name", MARKED)
every_mode = pytest.mark.parametrize("mode", MODES)


@cache
def _usual(name: str) -> dict[str, Any]:
    """Return the parameters that the tests play with."""
    with closing(gpu_envs.Simulator(name, 1, device="cpu", **short(name))) as simulator:
        return dict(simulator.parameters)


def _ends(name: str, field: dict[str, Any]) -> tuple[float, float]:
    """Return two values of a parameter, near the one that the tests play with."""
    usual = _usual(name)[field["name"]]
    # Where -1 stands for another number, the lowest is above it.
    low = max(field["low"], 0) if field["default"] == field["low"] == -1 else field["low"]
    most = max(abs(low), abs(field["high"]))
    step = 1 if field["type"] == "int32" else 0.2 * abs(usual) or 0.05 * min(1, most)
    return max(usual - step, low), min(usual + step, field["high"])


def _ranges(name: str, settings: dict[str, Any]) -> dict[str, gpu_envs.core.ranges.Range]:
    """Return a range for as many parameters as can have one together."""
    chosen: dict[str, Any] = {}
    for field in VARYING[name]:
        trial = {**chosen, field["name"]: gpu_envs.uniform(*_ends(name, field))}
        try:
            gpu_envs.Simulator(name, 1, device="cpu", **{**settings, **trial}).close()
        except ValueError:  # beyond a relation to another parameter
            continue
        chosen = trial
    return chosen


def _values(simulator: gpu_envs.Simulator, ranges: dict[str, Any]) -> list[dict[str, float]]:
    """Return the parameters that each world has."""
    columns = {name: simulator.get(f"world.{name}")[:, 0] for name in ranges}
    return [
        {name: column[world].item() for name, column in columns.items()}
        for world in range(simulator.num_worlds)
    ]


def _equal(batch: Any, alone: Any, world: int) -> None:
    """Compare all outputs of a world with those of a simulator of one."""
    for name, ours, theirs in zip(batch._fields, batch, alone, strict=True):
        if ours is not None and (name != "state" or ours[world].shape == theirs[0].shape):
            one, other = rows_of(ours, world), rows_of(theirs, 0)
            assert same(one, other, equal_nan=True), (name, world)


@every_mode
@every_marked
def test_worlds_with_own_values_equal_simulators_of_one_world(make_simulator, name, mode) -> None:
    settings = short(name)
    ranges = _ranges(name, settings)
    assert len(ranges) >= 0.5 * len(VARYING[name]), "hardly any parameter was tried"
    drawn_from = make_simulator(name, WORLDS, **{**settings, **ranges})
    drawn_from.reset(seed=3)
    values = _values(drawn_from, ranges)
    arrays = {key: [own[key] for own in values] for key in ranges}
    given = {**settings, **arrays}
    batch = make_simulator(name, WORLDS, autoreset_mode=mode, **given)
    assert batch.varies == drawn_from.varies
    alone = [
        make_simulator(
            name, 1, autoreset_mode=mode, first_world=world, **{**settings, **values[world]}
        )
        for world in range(WORLDS)
    ]
    outputs = batch.reset(seed=8)
    for world, simulator in enumerate(alone):
        _equal(outputs, simulator.reset(seed=8), world)
    mask = np.arange(WORLDS) % 2 == 0
    for step, actions in enumerate(drawn(batch, STEPS)):
        outputs = batch.step(actions)
        for world, simulator in enumerate(alone):
            _equal(outputs, simulator.step(actions[world : world + 1]), world)
        if step % 10 == 9:  # resets of some, which keep the values
            outputs = batch.reset(mask=mask)
            for world in np.flatnonzero(mask):
                _equal(outputs, alone[world].reset(), int(world))
    assert _values(batch, ranges) == values


@every_marked
def test_draws_depend_on_seed_world_and_episode_alone(make_simulator, name) -> None:
    settings = short(name)
    ranges = _ranges(name, settings)
    batch = make_simulator(name, WORLDS, **{**settings, **ranges})
    again = make_simulator(name, 1, first_world=2, **{**settings, **ranges})
    seen: dict[int, list[dict[str, float]]] = {}
    for simulator in (batch, again):
        simulator.reset(seed=5)
    for actions in drawn(batch, 80):
        own = _values(batch, ranges)
        assert _values(again, ranges) == own[2:3]
        for world, episode in enumerate(batch.get("world.episode")[:, 0]):
            seen.setdefault(world, [])
            if len(seen[world]) == episode:
                seen[world].append(own[world])
            assert seen[world][episode] == own[world]  # as long as the episode lasts
        batch.step(actions)
        again.step(actions[2:3])
    drawn_values = [tuple(own.values()) for episodes in seen.values() for own in episodes]
    assert len(drawn_values) > WORLDS
    assert len(set(drawn_values)) == len(drawn_values)
    for field in VARYING[name]:
        if field["name"] in ranges:
            low, high = (np.dtype(field["type"]).type(end) for end in _ends(name, field))
            column = [own[field["name"]] for episodes in seen.values() for own in episodes]
            assert low <= min(column) <= max(column) <= high
            assert len(set(column)) > 1


@every_marked
def test_values_are_saved_forked_and_reset_with_their_worlds(make_simulator, name) -> None:
    settings = short(name)
    ranges = _ranges(name, settings)
    make = {**settings, **ranges}
    simulator = make_simulator(name, WORLDS, **make)
    simulator.reset(seed=1)
    actions = drawn(simulator, 30)
    for some in actions[:10]:
        simulator.step(some)
    data = simulator.save()
    own = _values(simulator, ranges)
    other = make_simulator(name, WORLDS, **make)
    other.load(data)
    assert _values(other, ranges) == own
    for some in actions[10:]:
        assert same(simulator.step(some).obs, other.step(some).obs)
    other.load(data)
    other.copy_worlds([4], [1])
    assert _values(other, ranges)[1] == own[4]
    plain = make_simulator(name, WORLDS, **settings)
    with pytest.raises(ValueError, match="differs in varying"):
        plain.load(data)


@every_marked
def test_a_value_that_is_set_acts_as_described_and_stays(make_simulator, name) -> None:
    settings = short(name)
    field = next(f for f in VARYING[name] if f["name"] in _ranges(name, settings))
    parameter = field["name"]
    low, high = _ends(name, field)
    options = {**settings, "autoreset_mode": "Disabled"}
    simulator = make_simulator(name, WORLDS, varies=(parameter,), **options)
    simulator.reset(seed=1)
    simulator.set_parameters(**{parameter: high}, worlds=[1, 3])
    simulator.reset(options={parameter: [low] * WORLDS, "reset_mask": np.arange(WORLDS) == 2})
    simulator.reset()
    kind = np.dtype(field["type"]).type
    usual = _usual(name)[parameter]
    wanted = [kind(usual), kind(high), kind(low), kind(high), kind(usual)]
    assert simulator.get(f"world.{parameter}")[:, 0].tolist() == [x.item() for x in wanted]
    alone = make_simulator(name, 1, first_world=1, **{**options, parameter: high})
    alone.reset(seed=1)
    _equal(simulator.reset(seed=1), alone.reset(seed=1), 1)
    common = make_simulator(name, WORLDS, **options)
    common.reset(seed=1)
    common.set_parameters(**{parameter: high})
    assert common.parameters[parameter] == pytest.approx(high)
    _equal(common.reset(seed=1), alone.reset(seed=1), 1)


@every_marked
def test_the_output_of_parameters_has_what_each_world_has(make_simulator, name) -> None:
    settings = short(name)
    ranges = _ranges(name, settings)
    names = [field["name"] for field in VARYING[name]]
    for given in ({**settings, **ranges}, settings):
        simulator = make_simulator(name, WORLDS, outputs=("parameters",), **given)
        outputs = simulator.reset(seed=2)
        for actions in drawn(simulator, 30):
            columns = [simulator.get(f"world.{own}")[:, 0] for own in names]
            assert np.array_equal(outputs.parameters, np.stack(columns, 1).astype(np.float32))
            outputs = simulator.step(actions)
    assert make_simulator(name, WORLDS, **settings).reset(seed=0).parameters is None


@every_marked
def test_equal_values_in_all_worlds_are_the_common_ones(make_simulator, name) -> None:
    settings = sizes(name, "small")
    plain = make_simulator(name, WORLDS, **settings)
    names = [field["name"] for field in VARYING[name]]
    own = make_simulator(name, WORLDS, varies=names, **settings)
    for outputs in zip(plain.reset(seed=2), own.reset(seed=2), strict=True):
        assert outputs[0] is None or same(*outputs)
    for actions in drawn(plain, STEPS):
        for outputs in zip(plain.step(actions), own.step(actions), strict=True):
            assert outputs[0] is None or same(*outputs)


@every_mode
@every_marked
def test_a_step_leaves_the_values_of_other_worlds_alone(make_simulator, name, mode) -> None:
    worlds = 33  # two blocks where worlds are interleaved, and one world more
    settings = {**short(name), "max_episode_steps": 4, "autoreset_mode": mode}
    ranges = _ranges(name, short(name))
    whole, parts = (make_simulator(name, worlds, **{**settings, **ranges}) for _ in range(2))
    whole.reset(seed=6)
    parts.reset(seed=6)
    half = np.random.default_rng(2).random(worlds) < 0.5
    for actions in drawn(whole, 12):
        for mask in (half, ~half):
            before = _values(parts, ranges)
            parts.step(actions, worlds=mask)
            after = _values(parts, ranges)
            for world in np.flatnonzero(~mask):
                assert after[world] == before[world]
        whole.step(actions)
        assert _values(parts, ranges) == _values(whole, ranges)
    assert parts.save() == whole.save()
