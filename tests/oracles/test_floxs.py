"""Flocking and SwarmTag in the floxs profile against floxs 0.1.1, as recorded in swarms/floxs.npz.

float32 on both sides: rays that meet the very edge of a disc may differ by rounding, everything
else is equal to a few units in the last place. swarms/record.py makes the recording, with jax.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.oracles.swarms import states

# Tolerances of distances in ranges of vision, and of rewards: rounding of float32.
CELL, REWARD = 1e-5, 1e-5
# Tolerances of positions, headings and speeds, by the number of steps.
DRIFT = {1: 2e-5, 2: 2e-5, 10: 2e-5, 50: 2e-4, 300: 1e-3}
# Rays on the edge of a disc, of all rays.
KNIFE_EDGES = 1e-5

# By the recording's name of a game.
LAID = {"flock": states.flock_states, "tag": states.tag_states}
STANDING = {"flock": {"min_speed": 0}, "tag": {"runner_min_speed": 0, "chaser_min_speed": 0}}
each_game = pytest.mark.parametrize(
    ("name", "kind"), [("Flocking-v0", "flock"), ("SwarmTag-v0", "tag")]
)

Make = Callable[..., gpu_envs.Simulator]


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(states.RECORDING) as arrays:
        return dict(arrays)


def place(simulator: gpu_envs.Simulator, laid: list[states.State]) -> None:
    """World k gets state k."""
    simulator.reset(seed=0)
    simulator.set("agents.x", np.stack([s.position[:, 0] for s in laid]))
    simulator.set("agents.y", np.stack([s.position[:, 1] for s in laid]))
    simulator.set("agents.heading", np.stack([s.heading for s in laid]))
    simulator.set("agents.speed", np.stack([s.speed for s in laid]))


def columns(simulator: gpu_envs.Simulator) -> np.ndarray:
    """x, y, heading, speed of the agents of world 0."""
    names = ("x", "y", "heading", "speed")
    return np.stack([simulator.get(f"agents.{name}")[0] for name in names], axis=-1)


def stand_still(make: Make, name: str, laid: list[states.State], **options: Any) -> Any:
    """One step in which nobody moves: rewards and views of the states themselves."""
    still = [states.State(s.position, s.heading, np.zeros_like(s.speed)) for s in laid]
    simulator = make(name, len(laid), profile="floxs", **options)
    place(simulator, still)
    shape = (len(laid), simulator.agents_per_world, 2)
    return simulator.step(np.zeros(shape, np.float32))


def check_views(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert ours.shape == theirs.shape
    differs = (ours < 0) != (theirs < 0)
    both = ~differs & (ours >= 0)
    # Where a ray just meets one disc or just misses it, another may be behind.
    differs |= both & (np.abs(ours - theirs) > CELL)
    assert differs.sum() <= max(1, KNIFE_EDGES * differs.size), f"{differs.sum()} of {differs.size}"


def check_path(simulator: gpu_envs.Simulator, recorded: dict[str, np.ndarray], kind: str) -> None:
    agents = simulator.agents_per_world
    for t in range(1, states.STEPS + 1):
        result = simulator.step(states.actions(t, agents)[None])
        if t not in states.SAMPLES:
            continue
        k = states.SAMPLES.index(t)
        ours, theirs = columns(simulator), recorded[f"{kind}_path"][k]
        off = np.abs(ours - theirs)
        off[:, :2] = np.minimum(off[:, :2], 1 - off[:, :2])
        off[:, 2] = np.minimum(off[:, 2], np.abs(2 * np.pi - off[:, 2]))
        assert off.max() <= DRIFT[t], (t, off.max())
        # The slope of exp(-5 D / R) is 25 at most, and neighbours add up.
        paid = np.abs(result.reward[0] - recorded[f"{kind}_path_rewards"][k])
        assert paid.max() <= 100 * DRIFT[t], (t, paid.max())
        cells = (result.obs[0] >= 0).reshape(*recorded[f"{kind}_path_filled"][k].shape, -1).sum(-1)
        filled = recorded[f"{kind}_path_filled"][k]
        if t <= 10:
            np.testing.assert_array_equal(cells, filled)
        else:
            assert (cells != filled).mean() <= 0.1


@each_game
def test_random_states_look_and_pay_as_in_floxs(
    make_simulator: Make, recorded: dict[str, np.ndarray], name: str, kind: str
) -> None:
    laid = LAID[kind]()
    result = stand_still(make_simulator, name, laid, **STANDING[kind])
    theirs = recorded[f"{kind}_views"]
    check_views(np.asarray(result.obs).reshape(theirs.shape), theirs)
    np.testing.assert_allclose(result.reward, recorded[f"{kind}_rewards"], rtol=0, atol=REWARD)


@each_game
def test_trajectory_is_that_of_floxs(
    make_simulator: Make, recorded: dict[str, np.ndarray], name: str, kind: str
) -> None:
    simulator = make_simulator(name, 1, profile="floxs")
    place(simulator, LAID[kind]()[:1])
    check_path(simulator, recorded, kind)


@pytest.mark.slow
def test_floxs_still_computes_what_is_recorded(
    recorded: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("floxs", reason="needs floxs (pip install floxs==0.1.1)")
    monkeypatch.syspath_prepend(str(Path(states.__file__).parent))
    import record

    for name, array in (record.record_flock() | record.record_tag()).items():
        np.testing.assert_allclose(array, recorded[name], rtol=0, atol=1e-5)
