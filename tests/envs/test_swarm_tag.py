"""SwarmTag against all pairs; rules on worlds by hand are in
tests/kernels/envs/swarm_tag_test.cpp, floxs is in tests/oracles/test_floxs.py."""

from __future__ import annotations

import numpy as np
import pytest
import swarm_worlds as swarms

from gpu_envs.players import scripted

PLAYER = scripted.beside("SwarmTag-v0")

ID = "SwarmTag-v0"
STILL = {"max_episode_steps": 0, "chaser_max_rotate": 0, "runner_max_rotate": 0}


def still(make_simulator, swarm: swarms.Swarm, chasers: int, **options):
    swarm.speed = np.zeros_like(swarm.speed)
    counts = {"chaser_count": chasers, "runner_count": len(swarm.x) - chasers}
    simulator = make_simulator(ID, 1, **counts, **STILL, **options)
    simulator.reset(seed=0)
    swarms.place(simulator, swarm)
    outputs = simulator.step(swarms.stand(simulator))
    return np.array(outputs.reward[0]), np.array(outputs.obs[0])


def test_channels_show_one_kind_each(make_simulator) -> None:
    chasers, agents = 60, 260
    swarm = swarms.uniform(15, agents)
    _, rows = still(make_simulator, swarm, chasers, agent_radius=0.01)
    sight = {"reach": 0.1, "radius": 0.01, "n": 128, "angle": 0.5}
    for viewer in (0, 17, 59, 60, 200, 259):
        own = np.arange(agents) < chasers
        own = own if viewer < chasers else ~own
        for channel, kind in enumerate((own, ~own)):
            kept = np.flatnonzero(kind | (np.arange(agents) == viewer))
            part = swarms.Swarm(*(getattr(swarm, name)[kept] for name in swarms.NAMES))
            place = np.flatnonzero(kept == viewer)
            theirs = swarms.views(part, place, **sight)[0]
            ours = rows[viewer, 128 * channel : 128 * (channel + 1)]
            assert (np.abs(ours - theirs) > 1e-5).sum() <= 1


@pytest.mark.parametrize("profile", ["vogue", "floxs"])
def test_rewards_are_those_of_all_pairs(make_simulator, profile: str) -> None:
    chasers, agents, touch = 50, 350, 0.03
    swarm = swarms.uniform(16, agents)
    rewards, _ = still(make_simulator, swarm, chasers, profile=profile, touch_distance=touch,
                       **({"chaser_min_speed": 0, "runner_min_speed": 0}))  # fmt: skip
    distance, within = swarms.near(swarm, np.arange(agents), touch)
    caught = within[:chasers, chasers:].any(1)
    np.testing.assert_allclose(rewards[:chasers], 0.1 * caught, atol=1e-6)
    wanted = -0.1 * within[chasers:, :chasers].sum(1)
    if profile == "vogue":
        company = swarms.near(swarm, np.arange(agents), 0.1)[1][chasers:, chasers:]
        worth = (np.exp(-5 * distance[chasers:, chasers:] / 0.1) * company).sum(1)
        wanted = wanted + 0.01 * np.minimum(1, worth)
    np.testing.assert_allclose(rewards[chasers:], wanted, atol=1e-5)
    assert caught.any()
    assert (wanted < -0.15).any()


def test_agents_are_named_by_their_kinds(make_simulator) -> None:
    simulator = make_simulator(ID, 1, profile="floxs")
    assert simulator.agent_names[:3] == ["chaser_0", "chaser_1", "runner_0"]
    assert len(simulator.agent_names) == 22


@pytest.mark.slow
def test_memory_follows_the_number_of_agents_not_their_crowding(make_simulator) -> None:
    counts = {"runner_count": 16000, "chaser_count": 1600}
    simulator = make_simulator(ID, 1, **counts)
    simulator.reset(seed=20)
    one = np.full(17600, 0.5, np.float32)
    for _ in range(2):
        simulator.step(swarms.stand(simulator))
    assert np.isfinite(simulator.step(swarms.stand(simulator)).reward).all()
    half = make_simulator(ID, 1, runner_count=8000, chaser_count=800)
    assert simulator.memory_bytes < 2.2 * half.memory_bytes
    small = make_simulator(ID, 1, runner_count=1600, chaser_count=160)
    small.reset(seed=0)
    swarms.place(small, swarms.Swarm(one[:1760], one[:1760], one[:1760], 0 * one[:1760]))
    outputs = small.step(swarms.stand(small))
    np.testing.assert_allclose(outputs.reward[0, :160], 0.1)


@pytest.mark.parametrize("counts", [(0, 5), (5, 0), (1, 1)])
def test_one_kind_alone_and_one_of_each_play(make_simulator, counts: tuple[int, int]) -> None:
    simulator = make_simulator(ID, 2, chaser_count=counts[0], runner_count=counts[1])
    simulator.reset(seed=22)
    outputs = simulator.step(swarms.stand(simulator))
    assert outputs.obs.shape == (2, sum(counts), 256)


def test_chasers_who_hunt_touch_more_than_chasers_at_random(make_simulator) -> None:
    """A policy that solves the task: turn to the nearest runner in view, and run."""
    counts = {"runner_count": 40, "chaser_count": 8, "touch_distance": 0.02, "agent_radius": 0.01}
    paid = {}
    for hunt in (True, False):
        simulator = make_simulator(ID, 8, max_episode_steps=0, **counts)
        obs, rng, paid[hunt] = simulator.reset(seed=5).obs, np.random.default_rng(5), 0.0
        for _ in range(150):
            actions = swarms.random_actions(rng, simulator)
            if hunt:
                actions[:, :8] = PLAYER.hunt(obs[:, :8], 128)
            outputs = simulator.step(actions)
            obs = outputs.obs
            paid[hunt] += float(outputs.reward[:, :8].mean())
    assert paid[True] > 2 * paid[False] > 0
