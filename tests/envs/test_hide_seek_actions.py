"""Hide-and-seek: moving, grabbing, locking.

Distances are those of the batch version: a cube has half an edge of 1 m, so that its face is 2.45 m
ahead of an agent's middle when its own middle is at 3.45 m.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hide_seek_worlds import (
    AHEAD,
    BACK,
    BOTH,
    GRAB,
    LEFT_TURN,
    LOCK,
    PF,
    Scene,
    in_frame,
    wrapped,
)

REACHABLE = "hider 0 0; cube 0 3"


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize("bucket", range(11))
def test_bucket_of_an_action_is_a_distance_per_step(profile, bucket):
    way = 0.666 * (bucket - 5)
    ahead = Scene(profile, "hider 0 0").step({0: (5, bucket, 5, 0, 0)}, 10).at(0)
    assert ahead[1] == pytest.approx(way, rel=0.01, abs=1e-6)
    assert abs(ahead[0]) < 0.01
    right = Scene(profile, "hider 0 0").step({0: (bucket, 5, 5, 0, 0)}, 10).at(0)
    assert right[0] == pytest.approx(way, rel=0.01, abs=1e-6)
    assert abs(right[1]) < 0.01
    scene, turned, last = Scene(profile, "hider 0 0"), 0.0, 0.0
    for _ in range(10):
        yaw = scene.step({0: (5, 5, bucket, 0, 0)}).yaw(0)
        turned, last = turned + float(wrapped(yaw - last)), yaw
    assert turned == pytest.approx(0.3328 * (bucket - 5), rel=0.01, abs=1e-6)
    assert np.abs(scene.at(0)[:2]).max() < 0.01


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize("yaw", [0.0, 0.7, 2.5, -1.9])
def test_diagonal_is_faster_and_follows_the_yaw(profile, yaw):
    scene = Scene(profile, f"hider 1 2 yaw {yaw}")
    for _ in range(5):
        before = scene.at(0)
        way = in_frame(scene.step({0: (10, 10, 5, 0, 0)}).at(0) - before, yaw)
        assert math.hypot(*way) == pytest.approx(0.471, rel=0.01)
        assert way[0] == pytest.approx(way[1], abs=1e-3)
    # The next step goes where the agent faces by then.
    scene.step({0: LEFT_TURN}, 4)
    before, facing = scene.at(0), scene.yaw(0)
    assert abs(wrapped(facing - yaw)) > 0.6
    way = in_frame(scene.step({0: AHEAD}).at(0) - before, facing)
    assert way == pytest.approx([0, 0.333], abs=0.004)


@pytest.mark.parametrize("profile", PF)
def test_agents_without_an_action_do_not_coast(profile):
    scene = Scene(profile, "hider 0 0; seeker 5 5 yaw 1").step({0: (10, 10, 10, 0, 0), 1: AHEAD}, 5)
    before = [(scene.at(agent), scene.yaw(agent)) for agent in (0, 1)]
    scene.step()
    for agent, (place, yaw) in enumerate(before):
        assert np.linalg.norm(scene.at(agent) - place) < 1e-4
        assert abs(wrapped(scene.yaw(agent) - yaw)) < 1e-4


@pytest.mark.parametrize("profile", PF)
def test_grabs_and_locks_reach_two_and_a_half_metres(profile):
    near = Scene(profile, "hider 0 0; cube 0 3.45").step({0: GRAB})
    assert near.held_by(0) == near.box()
    assert near.step(steps=3).held_by(0) == near.box()  # a press, not a hold
    assert near.step({0: GRAB}).held_by(0) is None
    far = Scene(profile, "hider 0 0; cube 0 3.55").step({0: GRAB})
    assert far.held_by(0) is None
    # Locks reach as far.
    assert Scene(profile, "hider 0 0; cube 0 3.45").step({0: LOCK}).get("bodies.owner", 2) == 2
    assert Scene(profile, "hider 0 0; cube 0 3.55").step({0: LOCK}).get("bodies.owner", 2) == 0


def grip(scene: Scene) -> tuple[float, float, float]:
    """Where the held object is to the right and ahead of the holder, and how it is turned."""
    row = scene.held_by(0)
    assert row is not None
    right, ahead = in_frame(scene.at(row) - scene.at(0), scene.yaw(0))
    return right, ahead, float(wrapped(scene.yaw(row) - scene.yaw(0)))


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize("thing", ["cube 0 3.2 yaw 0.3", "long 0 2.9", "long 0.5 2.9 yaw 0.1"])
@pytest.mark.parametrize("way", [BACK, AHEAD, (0, 5, 5, 0, 0), LEFT_TURN, (5, 5, 0, 0, 0)])
def test_held_object_stays_in_place_before_its_holder(profile, thing, way):
    scene = Scene(profile, f"hider 0 0; {thing}").step({0: GRAB})
    start, place, yaw = grip(scene), scene.at(0), scene.yaw(0)
    for _ in range(30):
        now = grip(scene.step({0: way}))
        assert math.hypot(now[0] - start[0], now[1] - start[1]) < 0.03
        assert abs(wrapped(now[2] - start[2])) < math.radians(2)
    moved = np.linalg.norm(scene.at(0) - place) + abs(wrapped(scene.yaw(0) - yaw))
    assert moved > 0.5  # it is held in motion


@pytest.mark.parametrize("profile", PF)
def test_lock_is_undone_by_the_team_that_made_it_alone(profile):
    scene = Scene(profile, "hider 0 0; hider 3 3 yaw 1.5708; seeker 0 6 yaw 3.14159; cube 0 3")
    row = scene.box()
    assert scene.lock_of(row) == ""
    assert scene.step({0: LOCK}).lock_of(row) == "hiders"
    assert scene.step({2: LOCK}).lock_of(row) == "hiders"
    assert scene.step({1: LOCK}).lock_of(row) == ""  # another of the team may unlock
    assert scene.step({2: LOCK}).lock_of(row) == "seekers"
    assert scene.step({0: LOCK}).lock_of(row) == "seekers"
    assert scene.step({1: LOCK}).lock_of(row) == "seekers"
    assert scene.step({2: LOCK}).lock_of(row) == ""


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize("thing", ["cube 0 3", "long 0 2.75", "ramp 0 2.7 yaw 3.14159"])
def test_locked_object_cannot_be_moved_or_grabbed(profile, thing):
    scene = Scene(profile, f"hider 0 0; seeker -2.9 3 yaw -1.5708; {thing} locked hiders")
    row = scene.ramp() if "ramp" in thing else scene.box()
    pose = scene.pose(row)
    scene.step({0: GRAB, 1: GRAB})
    assert scene.held_by(0) is None
    assert scene.held_by(1) is None
    for _ in range(60):
        scene.step({0: (6, 10, 7, 0, 0), 1: (5, 10, 5, 0, 0)})
        assert scene.pose(row) == pose
    assert not scene.get("bodies.velocity", row).any()
    assert scene.at(0)[1] > 0.5  # they did arrive at it
    free = Scene(profile, f"hider 0 0; {thing}")
    before = free.pose(row)
    assert free.step({0: AHEAD}, 20).pose(row) != before


@pytest.mark.parametrize("profile", PF)
def test_both_presses_lock_and_do_not_hold(profile):
    scene = Scene(profile, REACHABLE).step({0: BOTH})
    assert scene.lock_of(scene.box()) == "hiders"
    assert scene.held_by(0) is None
    # The lock comes first on the way back, too: unlocked, then held.
    scene.step({0: BOTH})
    assert scene.lock_of(scene.box()) == ""
    assert scene.held_by(0) == scene.box()


@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize(
    "ahead", ["wall -4 2 4 2", "", "hider 0 2.5", "seeker 0 2.5", "wall -4 2 4 2; cube 0 3.25"]
)
def test_walls_floor_and_agents_cannot_be_grabbed_or_locked(profile, ahead):
    scene = Scene(profile, f"hider 0 0; {ahead}")
    state = scene.simulator.get("bodies.state")
    for action in (GRAB, LOCK, BOTH):
        scene.step({0: action})
        assert scene.held_by(0) is None
        assert not scene.simulator.get("bodies.owner").any()
        # Nothing was locked (objects may fall asleep).
        assert np.array_equal(scene.simulator.get("bodies.state") & 3, state)


@pytest.mark.parametrize("profile", PF)
def test_object_locked_while_held_anchors_its_holders(profile):
    text = "hider 0 0; hider -3 3 yaw -1.5708; seeker 0 6 yaw 3.14159; cube 0 3"
    scene = Scene(profile, text).step({0: GRAB, 1: GRAB})
    row = scene.box()
    assert scene.held_by(0) == scene.held_by(1) == row
    scene.step({2: LOCK})
    assert scene.lock_of(row) == "seekers"
    assert scene.held_by(0) == scene.held_by(1) == row
    places, pose = [scene.at(agent) for agent in (0, 1)], scene.pose(row)
    for _ in range(30):
        scene.step({0: BACK, 1: (8, 0, 6, 0, 0)})
    for agent, place in enumerate(places):
        assert np.linalg.norm(scene.at(agent) - place) < 0.02
    assert scene.pose(row) == pose
    scene.step({2: LOCK})
    assert scene.lock_of(row) == ""
    before = scene.at(row)
    scene.step({0: (10, 5, 5, 0, 0), 1: (5, 10, 5, 0, 0)}, 20)
    assert np.linalg.norm(scene.at(row) - before) > 0.5
    assert scene.held_by(0) == scene.held_by(1) == row


@pytest.mark.parametrize("profile", PF)
def test_lock_pressed_all_the_time_flips_in_each_step(profile):
    scene = Scene(profile, REACHABLE)
    states = [scene.step({0: LOCK}).lock_of(scene.box()) for _ in range(4)]
    assert states == ["hiders", "", "hiders", ""]


def test_openai_holds_while_the_head_is_set():
    scene = Scene("openai", "hider 0 0; cube 0 0.45")
    held = [
        scene.step({0: (5, 5, 5, grab, 0)}).held_by(0) == scene.box() for grab in (1, 1, 1, 0, 0, 1)
    ]
    assert held == [True, True, True, False, False, True]


# A ramp's origin is its centre of mass: here the low edge is at y = -2 and the high face at y = 1.
@pytest.mark.parametrize("profile", PF)
@pytest.mark.parametrize(
    ("hider", "reaches"),
    [
        ("0 -3.05 yaw 0", False),  # at the low edge
        ("0 -2.4 1.4 yaw 0", False),  # nor on the slope, which is 3.25 m ahead of the ray
        ("0 3.4 yaw 3.14159", True),  # at the high face
        ("-2.2 0.7 yaw -1.5708", True),  # from both sides, near the high half
        ("2.2 0.7 yaw 1.5708", True),
        ("-2.2 -0.5 yaw -1.5708", False),  # over the low half
    ],
)
def test_ramp_is_grabbed_where_it_is_high(profile, hider, reaches):
    scene = Scene(profile, f"hider {hider}; ramp 0 0").step({0: GRAB})
    assert scene.held_by(0) == (scene.ramp() if reaches else None)


@pytest.mark.parametrize("profile", PF)
def test_agent_on_a_box_reaches_over_boxes(profile):
    text = "hider 0 0 3; cube 0 0; cube 0 {}"
    for ahead in (2.5, 3):
        scene = Scene(profile, text.format(ahead)).step(steps=5)
        assert scene.at(0)[2] == pytest.approx(3, abs=0.02)
        scene.step({0: GRAB})
        assert scene.held_by(0) is None
        scene.step({0: LOCK})
        assert not scene.simulator.get("bodies.owner").any()
    raised = Scene(profile, "hider 0 0 3; cube 0 0; cube 0 2.6; cube 0 2.6 3").step({0: GRAB})
    assert raised.held_by(0) == raised.box(2)
