"""Hide-and-seek: time, preparation, rewards, resets, for each profile."""

from __future__ import annotations

import numpy as np
import pytest
from hide_seek_worlds import (
    AHEAD,
    ALL,
    BOTH,
    GRAB,
    LEFT_TURN,
    LOCK,
    NEUTRAL,
    PF,
    Scene,
    random_actions,
    simulate,
    yaw_quaternion,
)

BATCH_VALUES = {1.0, -1.0, -9.0, -11.0}


@pytest.mark.parametrize("profile", ALL)
def test_counters_and_teams_begin_as_their_profile_says(profile):
    simulator = simulate(profile, 3)
    outputs = simulator.reset(seed=7)
    assert simulator.agent_names == ["hider_0", "hider_1", "hider_2", "seeker_0", "seeker_1"]
    assert not simulator.get("world.over").any()
    assert not simulator.get("world.step").any()
    if profile == "openai":
        own = outputs.obs["self"]
        assert np.array_equal(own[..., 8], np.tile([1, 1, 1, 0, 0], (3, 1)))
        assert not own[..., 9].any()  # share of the preparation
    else:
        assert np.array_equal(outputs.obs["team"][..., 0], np.tile([1, 1, 1, 0, 0], (3, 1)))
        assert np.all(outputs.obs["prep"] == 96)


@pytest.mark.parametrize("profile", PF)
def test_episodes_end_on_call_240_and_the_counter_runs_down(profile):
    simulator = simulate(profile, 2, autoreset_mode="SameStep", max_episode_steps=None)
    simulator.reset(seed=3)
    idle = np.tile(np.array(NEUTRAL, np.int32), (2, 5, 1))
    for call in range(1, 481):
        outputs = simulator.step(idle)
        assert not outputs.terminated.any()
        assert np.all(outputs.truncated == (call in (240, 480)))
        passed = call % 240
        assert np.all(outputs.obs["prep"] == max(0, 96 - passed)), call
        last = outputs.final_obs["prep"] if call in (240, 480) else 0
        assert np.all(last == 0)
    assert np.all(simulator.get("world.episode") == 2)


def frozen_yaws(profile: str) -> tuple[list[float], list[float]]:
    """Yaws of a hider and a seeker who turn all the time, by call; row 0 is the start."""
    scene = Scene(profile, "hider -1 -1 yaw 0.2; seeker 1 1 yaw 0.3", preparation_steps=-1)
    yaws = [(scene.yaw(0), scene.yaw(1))]
    for _ in range(98):
        scene.step({0: LEFT_TURN, 1: LEFT_TURN})
        yaws.append((scene.yaw(0), scene.yaw(1)))
    hider, seeker = zip(*yaws, strict=True)
    return list(hider), list(seeker)


@pytest.mark.parametrize("profile", PF)
def test_seekers_cannot_turn_during_the_preparation(profile):
    hider, seeker = frozen_yaws(profile)
    assert len(set(seeker[:96])) == 1
    assert seeker[96] == pytest.approx(seeker[95] + 0.1665, abs=0.004)
    assert hider[1] > hider[0] + 0.1


def test_openai_freezes_seekers_and_pays_nobody_during_the_preparation():
    hider, seeker = frozen_yaws("openai")
    assert len(set(seeker[:97])) == 1
    assert seeker[97] > seeker[96] + 0.1
    assert hider[1] > hider[0] + 0.1
    scene = Scene("openai", "hider 0 0; seeker 1 1", preparation_steps=-1)
    for call in range(1, 99):
        scene.step()
        paid = [scene.reward(0), scene.reward(1)]
        assert all(value == 0 for value in paid) if call <= 96 else sorted(paid) == [-1, 1], call


@pytest.mark.parametrize("profile", PF)
def test_random_play_pays_the_teams_opposite_rewards(profile):
    simulator = simulate(profile, 24)
    simulator.reset(seed=11)
    random = np.random.default_rng(0)
    values = set()
    for call in range(1, 241):
        reward = simulator.step(random_actions(simulator, random)).reward
        if call <= 95:
            assert not reward.any()
            continue
        outside = np.any(np.abs(simulator.get("bodies.position")[:, :5, :2]) >= 18, axis=-1)
        team = reward + 10 * outside
        assert np.all(team[:, :3] == team[:, :1])
        assert np.all(team[:, 3:] == -team[:, :1])
        assert set(np.unique(team)) <= {1.0, -1.0}
        values |= set(np.unique(reward[:, :3]).tolist())
    assert {1.0, -1.0} <= values <= BATCH_VALUES


@pytest.mark.parametrize("profile", ALL)
def test_hiders_pay_exactly_when_a_seeker_sees_one(profile):
    simulator = simulate(profile, 64, preparation_steps=0, penalty_bound=1000)
    simulator.reset(seed=5)
    random = np.random.default_rng(1)
    seen_share = []
    for call in range(40):
        actions = random_actions(simulator, random)
        if call < 3:
            actions[:] = NEUTRAL
        outputs = simulator.step(actions)
        # In both orders of `others` (skipping oneself, or from the next agent on) a seeker of
        # 3 + 2 has the hiders in three slots that are known.
        masks = outputs.obs["visible_others"]
        by_seeker = masks[:, 3, :3], masks[:, 4, :3]
        if profile == "openai":
            by_seeker = masks[:, 3, 1:4], masks[:, 4, 0:3]
        seen = np.any(np.stack(by_seeker) == 1, axis=(0, 2))
        assert np.array_equal(outputs.reward[:, 0], np.where(seen, -1.0, 1.0))
        seen_share.append(seen.mean())
    assert 0.1 < np.mean(seen_share) < 0.95


def test_seeker_who_turns_away_is_not_paid_again():
    scene = Scene("fixed", "hider 0 6; seeker 0 0 yaw 0")
    scene.step()
    assert (scene.reward(0), scene.reward(1)) == (-1, 1)
    scene.set("bodies.orientation", 1, yaw_quaternion(np.pi))
    scene.step()
    assert (scene.reward(0), scene.reward(1)) == (1, -1)


@pytest.mark.parametrize("profile", PF)
def test_agent_outside_the_arena_loses_ten(profile):
    text = "hider 0 0; hider {} 3; seeker 10 -10 yaw 3.14159"
    for place, loss in ((18.5, 10), (-18.5, 10), (18.0, 10), (17.9, 0)):
        rewards = Scene(profile, text.format(place)).step().outputs.reward[0]
        assert rewards.tolist() == [1, 1 - loss, -1], place
    sideways = Scene(profile, "hider 0 -18.2; seeker 10 18.2 yaw 0").step().outputs.reward[0]
    assert sideways.tolist() == [1 - 10, -1 - 10]
    scene = Scene(profile, text.format(18.5), preparation_steps=-1)
    for call in range(1, 97):
        expected = [0, 0, 0] if call <= 95 else [1, -9, -1]
        assert scene.step().outputs.reward[0].tolist() == expected, call


def test_openai_sets_the_reward_outside_to_minus_ten():
    for place, expected in ((9.1, [1, -10, -1]), (8.9, [1, 1, -1])):
        text = f"hider 0 0; hider {place} 3; seeker 1 -2 yaw 3.14159"
        scene = Scene("openai", text).step()
        assert scene.outputs.reward[0].tolist() == expected
    # Instead of either team's value, not on top of it.
    text = "hider 0 9.2; seeker 0 9.8 yaw 3.14159"
    assert Scene("openai", text).step().outputs.reward[0].tolist() == [-10, -10]
    scene = Scene("openai", text, preparation_steps=-1).step(steps=96)
    assert scene.outputs.reward[0].tolist() == [0, 0]


@pytest.mark.parametrize("profile", PF)
def test_clock_without_a_time_limit_goes_on_until_a_reset(profile):
    simulator = simulate(profile, 2)
    simulator.reset(seed=2)
    idle = np.tile(np.array(NEUTRAL, np.int32), (2, 5, 1))
    for _ in range(250):
        outputs = simulator.step(idle)
    assert np.all(simulator.get("world.step") == 250)
    assert np.all(outputs.obs["prep"] == 0)
    assert np.all(outputs.reward != 0)
    outputs = simulator.reset(mask=[True, False])
    assert simulator.get("world.step").ravel().tolist() == [0, 250]
    assert outputs.obs["prep"][:, 0, 0].tolist() == [96, 0]
    outputs = simulator.step(idle)  # the request is not repeated
    assert simulator.get("world.step").ravel().tolist() == [1, 251]
    assert outputs.obs["prep"][:, 0, 0].tolist() == [95, 0]


@pytest.mark.parametrize("profile", ALL)
def test_action_counts_for_one_step_only(profile):
    simulator = simulate(profile, 2)
    simulator.reset(seed=4)
    random = np.random.default_rng(2)
    actions = random_actions(simulator, random)
    handed_in = actions.copy()
    start = simulator.save()
    simulator.step(actions)
    assert np.array_equal(actions, handed_in)  # consumed without being written to
    # A world that acted and was put back is one that never acted.
    simulator.load(start)
    idle = np.tile(np.array(NEUTRAL, np.int32), (2, 5, 1))
    after = simulator.step(idle).state.copy()
    fresh = simulate(profile, 2)
    fresh.reset(seed=4)
    assert np.array_equal(fresh.step(idle).state, after)
    # And neutral is the action that does nothing.
    scene = Scene(profile, "hider 0 0 yaw 0.4; seeker 2.5 2 yaw 1; cube 0 3")
    poses = [(scene.at(agent), scene.yaw(agent)) for agent in (0, 1)]
    scene.step(steps=10)
    for agent, (place, yaw) in enumerate(poses):
        assert np.abs(scene.at(agent)[:2] - place[:2]).max() < 1e-6
        assert scene.yaw(agent) == pytest.approx(yaw, abs=1e-6)
    assert scene.held_by(0) is None
    assert scene.lock_of(scene.box()) == ""


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize(("hiders", "seekers"), [(1, 3), (3, 1), (2, 2)])
def test_teams_of_other_sizes_have_their_rows_and_names(profile, hiders, seekers):
    agents = hiders + seekers
    simulator = simulate(profile, 2, hider_count=hiders, seeker_count=seekers)
    outputs = simulator.reset(seed=6)
    teams = [1] * hiders + [0] * seekers
    assert outputs.obs["team"][..., 0].tolist() == [teams, teams]
    assert outputs.obs["others"].shape[2] == outputs.obs["visible_others"].shape[2] == agents - 1
    states = simulator.get("bodies.state")
    assert np.all(states[:, :agents] & 1)
    kinds = simulator.get("bodies.kind")
    assert np.all(kinds[:, :agents] == 5)
    # Nobody beyond them: in any row of the bodies, or in what the critic sees.
    assert not np.any((kinds[:, agents:] == 5) & ((states[:, agents:] & 1) == 1))
    names = [f"hider_{k}" for k in range(hiders)] + [f"seeker_{k}" for k in range(seekers)]
    assert simulator.agent_names == names


@pytest.mark.parametrize("profile", ["fixed", "openai"])
def test_hands_of_seekers_are_tied_during_the_preparation(profile):
    text = {"fixed": "seeker 0 0; cube 0 3", "openai": "seeker 0 0; cube 0 0.45"}[profile]
    for action in (GRAB, LOCK, BOTH):
        scene = Scene(profile, text, preparation_steps=2)
        for _ in range(2):
            scene.step({1: action})
            assert scene.held_by(1) is None
            assert scene.lock_of(scene.box()) == ""
        scene.step({1: action})
        if action is not GRAB:
            assert scene.lock_of(scene.box()) == "seekers"
        else:
            assert scene.held_by(1) == scene.box()


def test_freeze_of_movement_leaves_the_hands_free():
    """What the batch version did; `port` keeps it as a setting of its own."""
    for options in ({"profile": "port"}, {"profile": "fixed", "freeze": "movement"}):
        scene = Scene(text="seeker 0 0; cube 0 3", preparation_steps=50, **options)
        scene.step({1: AHEAD}, 3)
        assert np.abs(scene.at(1)[:2]).max() < 1e-6
        scene.step({1: LOCK})
        assert scene.lock_of(scene.box()) == "seekers"
        scene.step({1: LOCK}).step({1: GRAB})
        assert scene.held_by(1) == scene.box()
