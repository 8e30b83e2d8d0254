"""What the `openai` profile has for itself: absolute rows, locks by vote, holding, world frames."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hide_seek_worlds import GRAB, LOCK, Scene, in_frame, random_actions, simulate, yaw_of

HOLD = GRAB


def test_rows_are_absolute_and_begin_with_oneself():
    simulator = simulate("openai", 6, observation_mode="full", preparation_steps=40)
    simulator.reset(seed=1)
    random = np.random.default_rng(0)
    for _ in range(10):
        outputs = simulator.step(random_actions(simulator, random))
    position, orientation, velocity, spin = (
        simulator.get(f"bodies.{name}") for name in ("position", "orientation", "velocity", "spin")
    )
    yaw = yaw_of(orientation)
    hiders = np.tile([1, 1, 1, 0, 0], (6, 1))
    agents = np.concatenate(
        [position, yaw[..., None], velocity, spin[..., 2:]], axis=-1, dtype=np.float32
    )[:, :5]
    share = np.full((6, 5, 1), 10 / 40)
    expected = np.concatenate([agents, hiders[..., None], share], axis=-1)
    assert outputs.obs["self"] == pytest.approx(expected, abs=1e-5)
    for me in range(5):
        order = [(me + k) % 5 for k in range(1, 5)]
        assert outputs.obs["others"][:, me] == pytest.approx(expected[:, order], abs=1e-5)
    there = (simulator.get("bodies.state") & 1) == 1
    sizes = {2: (0.5, 0.5, 0.5), 3: (1.65, 0.15, 0.5), 4: (0, 0, 0)}
    kind = simulator.get("bodies.kind")
    rows = np.concatenate([outputs.obs["boxes"], outputs.obs["ramps"]], axis=2)
    assert rows.shape == (6, 5, 11, 15)
    for world, body in np.argwhere(there):
        if body < 5:
            continue
        turn = [math.cos(yaw[world, body]), math.sin(yaw[world, body])]
        parts = (
            position[world, body],
            turn,
            velocity[world, body],
            spin[world, body, 2:],
            sizes[kind[world, body]],
        )
        for me in range(5):
            got = rows[world, me, body - 5]
            assert got[:12] == pytest.approx(np.concatenate(parts), abs=1e-5)


def test_which_boxes_exist_is_known_of_those_that_are_hidden():
    simulator = simulate("openai", 20)
    obs = simulator.reset(seed=2).obs
    there = simulator.get("bodies.state")[:, 5:14] & 1
    assert np.array_equal(obs["box_exists"], np.repeat(there[:, None], 5, axis=1))
    assert np.any((obs["box_exists"] == 1) & (obs["visible_boxes"] == 0))
    assert not np.any((obs["box_exists"] == 0) & (obs["visible_boxes"] == 1))


def test_the_share_of_the_preparation_ends_at_one():
    scene = Scene("openai", "hider 0 0", preparation_steps=-1)
    shares = [scene.observed("self", 0)[9]]
    shares += [scene.step().observed("self", 0)[9] for _ in range(100)]
    assert shares == pytest.approx([min(1, t / 96) for t in range(101)])


def test_locks_in_the_rows_are_mine_my_teams_anybodys():
    text = "hider 0 0; hider 2 2 yaw 2.4; seeker -2 2 yaw -2.4; cube 0 0.45"
    scene = Scene("openai", text, observation_mode="full").step({0: LOCK})
    flags = [scene.observed("boxes", agent)[0, 12:].tolist() for agent in range(3)]
    assert flags == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    scene.step()
    assert scene.observed("boxes", 0)[0, 12:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
def test_lidar_looks_in_directions_of_the_world(yaw):
    text = f"hider 0 0 yaw {yaw}; seeker 2.5 -2.5; wall 1.05 -1 1.05 1; wall -1 2.05 1 2.05"
    lidar = Scene("openai", text).observed("lidar", 0)
    assert lidar[0] == pytest.approx(1.0, abs=1e-4)  # +x
    assert lidar[1] == pytest.approx(1.0 / math.cos(math.radians(12)), abs=1e-4)
    assert lidar[[7, 8]] == pytest.approx(2.0 / math.cos(math.radians(6)), abs=1e-4)  # +y
    assert np.all(lidar[[15, 22, 23]] == 6.0)


def test_a_hit_beyond_six_metres_is_not_cut_off():
    lidar = Scene("openai", "hider -4 0; wall 4.05 -1 4.05 1").observed("lidar", 0)
    assert lidar[0] == pytest.approx(8.0, abs=1e-4)


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
def test_forces_act_along_the_axes_of_the_world(yaw):
    for action, way in (((10, 5), (1, 0)), ((5, 0), (0, -1)), ((8, 8), (0.7071, 0.7071))):
        scene = Scene("openai", f"hider 0 0 yaw {yaw}").step({0: (*action, 5, 0, 0)}, 3)
        moved = scene.at(0)[:2]
        assert np.linalg.norm(moved) > 0.2
        assert moved / np.linalg.norm(moved) == pytest.approx(way, abs=1e-3)
        assert scene.yaw(0) == pytest.approx(yaw, abs=1e-4)


def test_agents_keep_their_velocity_and_tend_to_nine_metres_a_second():
    scene = Scene("openai", "hider -9 0").step({0: (10, 5, 10, 0, 0)}, 20)
    before, yaw = scene.at(0), scene.yaw(0)
    scene.step({0: (10, 5, 10, 0, 0)})
    assert scene.at(0)[0] - before[0] == pytest.approx(0.675, rel=0.01)
    turned = (scene.yaw(0) - yaw) % (2 * math.pi)
    assert turned == pytest.approx(0.675, rel=0.01)
    before = scene.at(0)
    assert scene.step().at(0)[0] - before[0] > 0.2  # it coasts


# ---- locks by vote: a cube at (0, 0); places from which it is near, and one from which it is not

SOUTH, WEST, EAST = "0 -0.45 yaw 0", "-0.45 0 yaw -1.5708", "0.45 0 yaw 1.5708"
AWAY, BEHIND = "0 -2 yaw 0", "0 -0.45 yaw 3.14159"


def votes(*agents: str, things: str = "cube 0 0") -> Scene:
    return Scene("openai", "; ".join([*agents, things]))


def test_lock_holds_while_the_head_is_set():
    scene = votes(f"hider {SOUTH}")
    states = [scene.step({0: (5, 5, 5, 0, lock)}).lock_of(scene.box()) for lock in (1, 1, 0, 0, 1)]
    assert states == ["hiders", "hiders", "", "", "hiders"]


def test_a_lock_needs_to_be_near_and_seen():
    for place, locked in ((SOUTH, True), (AWAY, False), (BEHIND, False)):
        scene = votes(f"hider {place}").step({0: LOCK})
        assert bool(scene.lock_of(scene.box())) == locked
    # 0.25 m from the middle to the surface.
    for gap, locked in ((0.24, True), (0.26, False)):
        scene = votes(f"hider 0 {-0.25 - gap}").step({0: LOCK})
        assert bool(scene.lock_of(scene.box())) == locked


def test_one_head_locks_everything_in_reach():
    scene = votes("hider 0 0", things="cube -0.3 0.35; cube 0.3 0.35; ramp 2 2").step({0: LOCK})
    assert [scene.lock_of(scene.box(k)) for k in (0, 1)] == ["hiders", "hiders"]
    assert scene.lock_of(scene.ramp()) == ""


def test_what_was_never_locked_is_the_hiders_to_decline():
    scene = votes(f"hider {SOUTH}", f"seeker {WEST}").step({1: LOCK})
    assert scene.lock_of(scene.box()) == ""
    scene = votes(f"hider {SOUTH}", f"hider {EAST}", f"seeker {WEST}")
    assert scene.step({0: LOCK, 2: LOCK}).lock_of(scene.box()) == ""
    assert scene.step({0: LOCK, 1: LOCK}).lock_of(scene.box()) == "hiders"
    scene = votes(f"hider {AWAY}", f"seeker {WEST}").step({1: LOCK})
    assert scene.lock_of(scene.box()) == "seekers"


def test_the_lowest_of_those_who_want_a_lock_owns_it():
    scene = votes(f"hider {SOUTH}", f"seeker {WEST}").step({0: LOCK, 1: LOCK})
    assert scene.lock_of(scene.box()) == "hiders"
    assert scene.observed("boxes", 0)[0, 12:].tolist() == [1, 1, 1]
    assert scene.observed("boxes", 1)[0, 12:].tolist() == [0, 0, 1]


def test_only_the_owners_team_unlocks():
    text = f"hider {AWAY}; seeker {WEST}; seeker {EAST}; cube 0 0"
    scene = Scene("openai", text)
    row = scene.box()
    assert scene.step({1: LOCK, 2: LOCK}).lock_of(row) == "seekers"
    scene.set("bodies.position", 0, (0, -0.45, 0.15))  # a hider arrives
    assert scene.step({1: LOCK, 2: LOCK}).lock_of(row) == "seekers"
    assert scene.step({0: LOCK, 1: LOCK, 2: LOCK}).lock_of(row) == "seekers"
    # One of the team declines: unlocked, whatever the others want.
    assert scene.step({0: LOCK, 1: LOCK}).lock_of(row) == ""
    # It is still the seekers' to decline, no longer the hiders'.
    assert scene.step({1: LOCK, 2: LOCK}).lock_of(row) == "seekers"
    for agent, x in ((1, -2.0), (2, 2.0)):  # the owners leave
        scene.set("bodies.position", agent, (x, 2, 0.15))
    assert scene.step().lock_of(row) == "seekers"
    assert scene.step({0: LOCK}).lock_of(row) == "seekers"
    scene.set("bodies.position", 1, (-0.45, 0, 0.15))
    assert scene.step().lock_of(row) == ""
    scene.set("bodies.position", 1, (-2, 2, 0.15))
    assert scene.step({0: LOCK}).lock_of(row) == "hiders"


@pytest.mark.parametrize(("team", "stays"), [("seekers", True), ("hiders", False)])
def test_a_laid_lock_is_of_its_team(team, stays):
    scene = votes(f"hider {SOUTH}", things=f"cube 0 0 locked {team}")
    assert scene.step().lock_of(scene.box()) == (team if stays else "")


# ---- holding


def test_the_nearest_that_is_seen_is_held():
    near, far = "cube 0 0.42", "cube 0.45 0"
    for things, held in (
        (f"{near}; {far}", 0),
        (f"{far}; {near}", 1),
        ("cube 0 -0.42; cube 0.3 0.36", 1),  # the nearer one is behind
        ("cube 0 -0.42; cube 0 2", None),
    ):
        # Facing between +x and +y, so that both are in the cone.
        yaw = -0.785 if far in things else 0
        scene = votes(f"hider 0 0 yaw {yaw}", things=things).step({0: HOLD})
        assert scene.held_by(0) == (None if held is None else scene.box(held)), things


def test_a_locked_object_is_nearest_but_a_wall_in_between_hides_it():
    scene = votes("hider 0 0", things="cube 0 0.48; wall -1 0.2 1 0.2 height 0.5").step({0: HOLD})
    assert scene.held_by(0) is None


def test_who_stands_on_a_box_can_hold_it():
    scene = votes("hider 0 -0.05 0.65", things="cube 0 0").step({0: HOLD})
    assert scene.held_by(0) == scene.box()
    # The batch version reaches ahead only.
    batch = Scene("fixed", "hider 0 -0.2 3; cube 0 0").step({0: HOLD})
    assert batch.held_by(0) is None


def test_a_held_box_is_carried_and_let_go():
    scene = votes("hider 0 0", things="cube 0 0.45").step({0: HOLD})
    start = in_frame(scene.at(scene.box()) - scene.at(0), scene.yaw(0))
    scene.step({0: (5, 0, 5, 1, 0)}, 10)
    assert scene.at(0)[1] < -1
    now = in_frame(scene.at(scene.box()) - scene.at(0), scene.yaw(0))
    assert now == pytest.approx(start, abs=0.02)
    scene.step({0: (5, 0, 5, 0, 0)}, 10)
    assert scene.at(scene.box())[1] - scene.at(0)[1] > 2


def test_objects_only_turn_about_the_vertical():
    scene = votes(f"hider {SOUTH}", "hider 0.6 -0.4", things="cube 0 0; ramp 1 0.3; wall -1 1 1 1")
    random = np.random.default_rng(1)
    for _ in range(60):
        scene.step({k: (*random.integers(0, 11, 3), 1, 0) for k in (0, 1)})
        orientation = scene.simulator.get("bodies.orientation")
        assert not orientation[..., 1:3].any()
