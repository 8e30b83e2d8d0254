"""Flocking against all pairs, symmetries and bounds. Floxs itself is in
tests/oracles/test_floxs.py, rules on worlds by hand in tests/kernels/envs/flocking_test.cpp."""

from __future__ import annotations

import numpy as np
import pytest
import swarm_worlds as swarms

ID = "Flocking-v0"
STILL = {"max_episode_steps": 0, "max_rotate": 0, "max_accelerate": 0}


def still(make_simulator, *laid: swarms.Swarm, **options):
    """Rewards and rows of worlds in which everybody stands."""
    for swarm in laid:
        swarm.speed = np.zeros_like(swarm.speed)
    simulator = make_simulator(ID, len(laid), agent_count=len(laid[0].x), **STILL, **options)
    simulator.reset(seed=0)
    swarms.place(simulator, *laid)
    outputs = simulator.step(swarms.stand(simulator))
    return np.array(outputs.reward), np.array(outputs.obs)


@pytest.mark.parametrize("agents", [10, 63, 65, 1000])
def test_views_and_rewards_are_those_of_all_pairs(make_simulator, agents: int) -> None:
    swarm = swarms.uniform(agents, agents)
    reach, radius = (0.3, 0.02) if agents < 100 else (0.1, 0.0025)
    rewards, rows = still(make_simulator, swarm, vision_range=reach, agent_radius=radius)
    viewers = np.arange(min(agents, 120))
    worth, touches = swarms.company(swarm, viewers, reach, 2 * radius)
    np.testing.assert_allclose(rewards[0, viewers], worth - touches, rtol=0, atol=2e-5)
    theirs = swarms.views(swarm, viewers, reach, radius, 128, 0.5)
    off = np.abs(rows[0, viewers, :128] - theirs)
    assert (off > 1e-5).mean() <= 1e-4, "more than rays on the edge of a disc"


@pytest.mark.slow
def test_views_of_a_large_crowd_are_those_of_all_pairs(make_simulator) -> None:
    swarm = swarms.uniform(3, 16384)
    rewards, rows = still(make_simulator, swarm)
    viewers = np.arange(0, 16384, 256)
    worth, touches = swarms.company(swarm, viewers, 0.1, 0.005)
    np.testing.assert_allclose(rewards[0, viewers], worth - touches, rtol=0, atol=1e-4)
    theirs = swarms.views(swarm, viewers, 0.1, 0.0025, 128, 0.5)
    assert (np.abs(rows[0, viewers, :128] - theirs) > 1e-5).mean() <= 1e-3


def test_translation_and_quarter_turns_change_nothing(make_simulator) -> None:
    swarm = swarms.uniform(5, 200)
    x, y = (swarm.x + np.float32(0.4375)) % 1, (swarm.y + np.float32(0.8125)) % 1
    moved = swarms.Swarm(x, y, swarm.heading, swarm.speed)
    heading = (swarm.heading + np.float32(np.pi / 2)) % np.float32(2 * np.pi)
    turned = swarms.Swarm((1 - swarm.y) % 1, swarm.x, heading, swarm.speed)
    rewards, rows = still(make_simulator, swarm, moved, turned, agent_radius=0.01)
    for k in (1, 2):
        np.testing.assert_allclose(rewards[k], rewards[0], rtol=0, atol=1e-4)
        assert (np.abs(rows[k] - rows[0]) > 1e-4).mean() < 1e-3


def test_renumbering_agents_permutes_outputs(make_simulator) -> None:
    swarm = swarms.uniform(6, 300)
    order = np.random.default_rng(6).permutation(300)
    shuffled = swarms.Swarm(*(getattr(swarm, name)[order] for name in swarms.NAMES))
    rewards, rows = still(make_simulator, swarm, shuffled, agent_radius=0.01)
    np.testing.assert_array_equal(rewards[1], rewards[0][order])
    np.testing.assert_array_equal(rows[1], rows[0][order])


@pytest.mark.parametrize("profile", ["vogue", "floxs"])
def test_random_play_keeps_the_state_within_its_bounds(make_simulator, profile: str) -> None:
    simulator = make_simulator(ID, 4, profile=profile, agent_count=250)
    simulator.reset(seed=7)
    rng = np.random.default_rng(7)
    low, high = np.float32(simulator.parameters["min_speed"]), np.float32(0.025)
    for _ in range(100):
        outputs = simulator.step(swarms.random_actions(rng, simulator))
        swarm = swarms.state(simulator)
        assert ((swarm.x >= 0) & (swarm.x < 1) & (swarm.y >= 0) & (swarm.y < 1)).all()
        assert ((swarm.heading >= 0) & (swarm.heading < np.float32(2 * np.pi))).all()
        assert ((swarm.speed >= low) & (swarm.speed <= high)).all()
        assert np.isfinite(outputs.reward).all()
        assert ((outputs.obs >= -1) & (outputs.obs <= 1)).all()


def test_agents_at_one_place_touch_each_other_and_are_seen(make_simulator) -> None:
    one = np.full(150, 0.25, np.float32)
    rewards, rows = still(make_simulator, swarms.Swarm(one, one, one, one))
    np.testing.assert_array_equal(rewards, -149)
    assert set(np.unique(rows[..., :128])) == {-1.0, 0.0}


def test_flight_straight_ahead_leads_back_to_the_start(make_simulator) -> None:
    simulator = make_simulator(ID, 1, agent_count=4, max_episode_steps=0)
    simulator.reset(seed=8)
    laid = swarms.uniform(8, 4)
    laid.heading = np.array([0, np.pi / 2, np.pi, 3 * np.pi / 2], np.float32)
    laid.speed = np.full(4, 0.02, np.float32)
    swarms.place(simulator, laid)
    for _ in range(50):
        simulator.step(swarms.stand(simulator))
    now = swarms.state(simulator)
    for ours, start in ((now.x, laid.x), (now.y, laid.y)):
        off = np.abs(ours - start)
        assert np.minimum(off, 1 - off).max() < 2e-5


@pytest.mark.parametrize(
    ("agents", "worlds"),
    [(1024, 16), (4096, 4), pytest.param(16384, 1, marks=pytest.mark.slow)],
)
def test_uniform_crowd_earns_the_integral(make_simulator, agents: int, worlds: int) -> None:
    laid = [swarms.uniform(10 + k, agents) for k in range(worlds)]
    rewards, _ = still(make_simulator, *laid, agent_radius=0, touch_distance=0)
    assert rewards.mean() == pytest.approx((agents - 1) * 0.0024117, rel=0.01)


def test_rows_end_with_the_own_speed_in_vogue_alone(make_simulator) -> None:
    vogue = make_simulator(ID, 2, agent_count=6)
    obs = vogue.reset(seed=11).obs
    assert obs.shape == (2, 6, 129)
    np.testing.assert_allclose(obs[0, :, 128], swarms.state(vogue).speed / 0.025, rtol=1e-6)
    floxs = make_simulator(ID, 2, agent_count=6, profile="floxs")
    assert floxs.reset(seed=11).obs.shape == (2, 6, 128)


def test_defaults_of_both_profiles_are_those_of_the_sources(make_simulator) -> None:
    vogue = make_simulator(ID, 1).parameters
    assert (vogue["agent_count"], vogue["vision_range"], vogue["reward_mode"]) == (1024, 0.1, "sum")
    floxs = make_simulator(ID, 1, profile="floxs").parameters
    assert (floxs["agent_count"], floxs["agent_radius"], floxs["touch_penalty"]) == (50, 0.01, 0.1)
    mixed = make_simulator(ID, 1, profile="floxs", touch_penalty=3, agent_count=4).parameters
    assert (mixed["touch_penalty"], mixed["reward_range"]) == (3, 0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent_count": 0}, "agent_count"),
        ({"min_speed": 0.03}, "is above max_speed"),
        ({"vision_range": 0}, "vision_range"),
        ({"view_angle": 0}, "view_angle"),
    ],
)
def test_nonsense_is_refused(make_simulator, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator(ID, 1, **options)


def test_threads_share_one_large_world_without_a_trace(make_simulator) -> None:
    ends = []
    for threads in (1, 2):
        simulator = make_simulator(ID, 1, agent_count=3000, threads=threads)
        simulator.reset(seed=13)
        rng = np.random.default_rng(13)
        for _ in range(3):
            outputs = simulator.step(swarms.random_actions(rng, simulator))
        ends.append((outputs.obs.copy(), outputs.reward.copy()))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])
