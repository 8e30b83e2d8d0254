"""HideSeek: worlds of a batch do not know of each other; what random play looks like."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.envs.hide_seek_scenes import NEUTRAL, Array, random_actions

PROFILES = pytest.mark.parametrize("profile", ["fixed", "port", "openai"])
COLUMNS = (
    "bodies.position",
    "bodies.orientation",
    "bodies.velocity",
    "bodies.spin",
    "bodies.state",
    "bodies.owner",
    "joints.type",
    "joints.pull",
)
OUTPUTS = ("obs", "reward", "terminated", "truncated")


def made(worlds: int, profile: str, **options: Any) -> Simulator:
    return Simulator("HideSeek-v0", worlds, device="cpu", profile=profile, **options)


def assert_same(a: Array, b: Array) -> None:
    np.testing.assert_array_equal(
        np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8)
    )


@PROFILES
def test_world_of_a_batch_is_the_same_world_alone(profile: str) -> None:
    """A world of a batch is, to the bit, the same world alone."""
    worlds, chosen = 40, 17
    random = np.random.default_rng(0)
    many = made(worlds, profile)
    alone = made(1, profile, first_world=chosen, threads=1)
    assert_same(many.reset(seed=9).obs[chosen], alone.reset(seed=9).obs[0])
    for _ in range(260):  # into the second episode
        actions = random_actions(random, worlds, 5)
        a, b = many.step(actions), alone.step(actions[chosen : chosen + 1])
        for name in OUTPUTS:
            assert_same(getattr(a, name)[chosen], getattr(b, name)[0])
    for column in COLUMNS:
        assert_same(many.get(column)[chosen], alone.get(column)[0])


@PROFILES
@pytest.mark.parametrize("worlds", [1, 100])
def test_any_number_of_worlds_plays(profile: str, worlds: int) -> None:
    simulator = made(worlds, profile)
    out = simulator.reset(seed=1)
    for _ in range(5):
        out = simulator.step(random_actions(np.random.default_rng(1), worlds, 5))
    assert out.obs.shape[:2] == (worlds, 5) and np.isfinite(out.obs).all()


def test_memory_is_linear_in_worlds() -> None:
    sizes = {}
    for worlds in (100, 1000, 32768):
        simulator = made(worlds, "fixed", outputs=[], reuse=True)
        sizes[worlds] = simulator.memory_bytes / worlds
        if worlds == 32768:
            simulator.reset(seed=1)
            neutral = np.tile(np.array(NEUTRAL, np.int32), (worlds, 5, 1))
            out = simulator.step(neutral)
            assert np.isfinite(out.obs[::1000]).all() and out.obs.shape[0] == worlds
        simulator.close()
    assert sizes[32768] < 1.05 * sizes[1000] and sizes[1000] < 1.1 * sizes[100]
    assert sizes[32768] < 32 * 1024


@PROFILES
def test_reset_of_some_worlds_leaves_the_others_alone(profile: str) -> None:
    worlds, steps = 24, 120
    random = np.random.default_rng(2)
    disturbed, plain = made(worlds, profile), made(worlds, profile)
    disturbed.reset(seed=4), plain.reset(seed=4)
    touched = np.zeros(worlds, bool)
    for step in range(steps):
        if step % 10 == 7:
            mask = random.random(worlds) < 0.08
            touched |= mask
            if mask.any():
                out = disturbed.reset(mask=mask)
                assert_same(out.obs[~touched], plain.observe().obs[~touched])
        actions = random_actions(random, worlds, 5)
        a, b = disturbed.step(actions), plain.step(actions)
        for name in OUTPUTS:
            assert_same(getattr(a, name)[~touched], getattr(b, name)[~touched])
    assert 2 < touched.sum() < worlds - 2
    assert not np.array_equal(a.obs[touched], b.obs[touched])


class Play:
    """What happened to 300 worlds in one episode of random actions."""

    def __init__(self, profile: str, hands: bool = True, idle: bool = False) -> None:
        worlds, bound = 300, 18.0
        simulator = made(worlds, profile, autoreset_mode="Disabled", max_episode_steps=0)
        simulator.reset(seed=21)
        random = np.random.default_rng(22)
        seen, outside = [], []
        for step in range(240):
            actions = random_actions(random, worlds, 5)
            if idle:
                actions[:] = NEUTRAL
            if not hands:
                actions[..., 3:] = 0
            out = simulator.step(actions)
            if step < 95:
                assert (out.reward == 0).all()
                continue
            # A seeker's reward: +1 seeing, -1 not, less the penalty.
            seen.append((out.reward[:, 3] + 10 * (out.reward[:, 3] < -5)) > 0)
            at = simulator.get("bodies.position")[:, :5, :2]
            outside.append((np.abs(at) >= bound).any(-1).mean())
        self.seen = float(np.mean(seen))
        self.ever = float(np.any(seen, axis=0).mean())
        self.outside = float(np.mean(outside))


@pytest.mark.slow
def test_random_play_of_port_is_seen_as_often_as_in_the_source() -> None:
    with_hands, without = Play("port"), Play("port", hands=False)
    assert abs(with_hands.seen - 0.544) < 0.04 and abs(without.seen - 0.519) < 0.04
    assert abs(with_hands.ever - 0.835) < 0.05
    assert 0.002 < with_hands.outside < 0.02
    assert abs(Play("port", idle=True).seen - 0.51) < 0.04


def test_random_play_of_fixed_is_at_its_baseline() -> None:
    """The baseline of our own rules, recorded: what training has to beat."""
    play = Play("fixed")
    assert abs(play.seen - 0.48) < 0.04
    assert abs(play.ever - 0.83) < 0.05
    assert play.outside < 0.02


@pytest.mark.slow
def test_idle_play_of_fixed_is_at_its_baseline() -> None:
    assert abs(Play("fixed", idle=True).seen - 0.49) < 0.04


def test_benchmark_of_throughput_is_there() -> None:
    # Rates belong to `python -m gpu_envs benchmark`; here it is only there and knows its subject.
    assert importlib.util.find_spec("gpu_envs.benchmark.throughput") is not None
    for worlds in (1, 100):
        simulator = made(worlds, "fixed")
        simulator.reset(seed=0)
        assert np.isfinite(
            simulator.step(random_actions(np.random.default_rng(0), worlds, 5)).obs
        ).all()
