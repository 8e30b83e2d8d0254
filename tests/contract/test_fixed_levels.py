"""Episodes that begin as one of a few levels, in every environment.

The measure is a batch without `level_count`: level k is what world k begins with after
`reset(seed=0)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.contract.playing import (
    drawn,
    every_environment,
    every_mode,
    flat_bytes,
    rows_of,
    short,
)

FIRST, COUNT = 70, 3
WORLDS = 21  # a whole block of the CPU's, and some more
STEPS = 60


def _starts(outputs: gpu_envs.Outputs) -> list[bytes]:
    """Return all that each world shows at the beginning of an episode."""
    shown = (outputs.obs, outputs.action_mask, outputs.state)
    begun = [output for output in shown if output is not None]
    return [
        b"".join(flat_bytes(rows_of(output, world)) for output in begun)
        for world in range(len(outputs.reward))
    ]


def _levels(make_simulator: Any, name: str, **more: Any) -> list[bytes]:
    """Return how worlds FIRST to FIRST + COUNT - 1 begin with seed 0."""
    worlds = make_simulator(name, COUNT, first_world=FIRST, **short(name), **more)
    return _starts(worlds.reset(seed=0))


def _limited(make_simulator: Any, name: str, **more: Any) -> gpu_envs.Simulator:
    options = {**short(name), "level_count": COUNT, "first_level": FIRST, **more}
    return make_simulator(name, WORLDS, **options)


@every_environment
def test_first_episodes_begin_as_the_levels(make_simulator, name) -> None:
    levels = _levels(make_simulator, name)
    simulator = _limited(make_simulator, name)
    for seed in (0, 1, 2):
        starts = _starts(simulator.reset(seed=seed))
        assert set(starts) <= set(levels)
        assert len(set(starts)) == len(set(levels))  # 21 worlds draw each of three
    assert simulator.get("world.identity")[:, 0].tolist() == list(range(WORLDS))
    assert not simulator.get("world.episode").any()


@pytest.mark.filterwarnings("ignore:.*illegal")
@every_mode
@every_environment
def test_later_episodes_begin_as_the_levels(make_simulator, name, mode) -> None:
    levels = set(_levels(make_simulator, name))
    simulator = _limited(make_simulator, name, autoreset_mode=mode)
    simulator.reset(seed=3)
    begun = 0
    for step, actions in enumerate(drawn(simulator, STEPS)):
        outputs = simulator.step(actions)
        clock = simulator.get("world.step")[:, 0]
        starts = _starts(outputs)
        if mode == "Disabled" and step % 25 == 24:
            mask = np.arange(WORLDS) % 2 == 0
            starts = _starts(simulator.reset(mask=mask))
            clock = np.where(mask, 0, 1)
        for world in np.flatnonzero(clock == 0):
            assert starts[world] in levels
            begun += 1
    if simulator.max_episode_steps:
        assert begun > 0


def test_levels_are_drawn_by_seed_world_and_episode(make_simulator) -> None:
    one, again, other = (
        make_simulator("CartPole-v0", 64, level_count=1000, first_level=5) for _ in range(3)
    )
    starts = _starts(one.reset(seed=1))
    assert starts == _starts(again.reset(seed=1))
    assert starts != _starts(other.reset(seed=2))
    alone = make_simulator("CartPole-v0", 1, first_world=63, level_count=1000, first_level=5)
    assert _starts(alone.reset(seed=1)) == starts[63:]
    assert len(set(starts)) > 50


def test_values_of_each_world_are_no_part_of_a_level(make_simulator) -> None:
    simulator = make_simulator(
        "CartPole-v0", 64, level_count=1, first_level=9, mass=gpu_envs.uniform(0.5, 2)
    )
    free = make_simulator("CartPole-v0", 64, mass=gpu_envs.uniform(0.5, 2))
    starts = _starts(simulator.reset(seed=4))
    free.reset(seed=4)
    assert len(set(starts)) == 1
    assert np.array_equal(simulator.get("world.mass"), free.get("world.mass"))
    assert len(np.unique(simulator.get("world.mass"))) == 64


def test_a_fork_and_a_save_go_on_with_their_own_draws(make_simulator) -> None:
    simulator, free = (
        make_simulator("CartPole-v0", 8, level_count=50, max_episode_steps=7) for _ in range(2)
    )
    simulator.reset(seed=1), free.reset(seed=9)
    free.load(simulator.save())
    for actions in drawn(simulator, 30):
        ours, theirs = simulator.step(actions), free.step(actions)
        assert _starts(ours) == _starts(theirs)


def test_every_face_takes_the_limit() -> None:
    import gymnasium

    env = gymnasium.make("gpu_envs/CartPole-v0", device="cpu", level_count=2)
    starts = {env.reset(seed=seed)[0].tobytes() for seed in range(40)}
    assert len(starts) == 2
    batch = gymnasium.make_vec(
        "gpu_envs/CartPole-v0", num_envs=64, device="cpu", level_count=2, first_level=2
    )
    others = {row.tobytes() for row in batch.reset(seed=1)[0]}
    assert len(others) == 2
    assert not others & starts


@pytest.mark.parametrize("name", ["level_count", "first_level"])
@pytest.mark.parametrize("number", [-1, 2**32, 1.5, "3", True, None])
def test_numbers_that_are_none_are_refused(name, number) -> None:
    with pytest.raises((TypeError, ValueError), match=name):
        gpu_envs.Simulator("CartPole-v0", 2, device="cpu", **{name: number})


def test_levels_beyond_the_last_number_are_refused() -> None:
    with pytest.raises(ValueError, match="their sum below"):
        gpu_envs.Simulator("CartPole-v0", 2, device="cpu", level_count=2**31, first_level=2**31 + 5)
