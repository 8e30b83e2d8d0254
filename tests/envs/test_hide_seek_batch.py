"""HideSeek: any number of worlds, their memory, and what random play looks like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator
from gpu_envs.known import measures
from tests.envs.hide_seek_scenes import NEUTRAL, random_actions

PROFILES = pytest.mark.parametrize("profile", ["fixed", "port", "openai"])


def made(worlds: int, profile: str, **options: Any) -> Simulator:
    return Simulator("HideSeek-v0", worlds, device="cpu", profile=profile, **options)


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
    # Rates belong to `python -m gpu_envs bench`; here it only knows its subject.
    assert measures.measures_of("HideSeek-v0")["benchmark"]["bars"]
