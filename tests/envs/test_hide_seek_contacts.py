"""HideSeek: what agents meet on their way: seams, corners, slopes at an angle, squeezes, crowds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.envs.hide_seek_scenes import Array, Scene, overlap_depth

BUCKETS = np.arange(6, 11)
WAY = 0.0666 * (BUCKETS - 5)  # per step on even ground [m]


def shares(path: Array, axis: int) -> Array:
    """Way per step as a share of that on free ground, (steps, buckets)."""
    return np.asarray(np.diff(path[..., axis], axis=0) / WAY)


def slides_along(walls: str, press: int, yaw: float = 0.0) -> Array:
    """Return the ways of agents that drive along walls at y = 0 (to x = 20), pressing on them."""
    reach = np.abs(np.cos(yaw)) + np.abs(np.sin(yaw))
    scene = Scene(f"hider -15 {-reach - 0.21} yaw {yaw}; {walls}", 5)
    return shares(scene.track(60, 0, x=BUCKETS, y=press), 0)


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("press", [5, 6, 8, 10])
def test_walls_in_a_row_are_like_one(press: int, length: int) -> None:
    one = slides_along("wall -30 0 30 0", press)
    row = ";".join(f"wall {x} 0 {x + length} 0" for x in range(-16, 14, length))
    many = slides_along(row, press)
    in_reach = np.cumsum(one, axis=0) * WAY < 24
    loss = (one - many)[in_reach]
    assert loss.max() < 0.05
    # Pressing costs what friction 0.05 takes.
    expected = 1 - 0.05 * (press - 5) / (BUCKETS - 5)
    np.testing.assert_allclose(one.mean(0), expected, atol=0.01)


def test_locked_boxes_in_a_row_are_like_one_wall() -> None:
    row = ";".join(f"cube {x} 1 locked hiders" for x in range(-8, 10, 2))
    scene = Scene(f"hider -8 -1.01; {row}", 5)
    path = scene.track(30, 0, x=BUCKETS, y=8)
    expected = 1 - 0.05 * 3 / (BUCKETS - 5)
    inside = path[1:, :, 0] < 9
    assert (shares(path, 0) - expected)[inside].min() > -0.05


@pytest.mark.parametrize("lock", ["", " locked hiders"])
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_seams_of_boxes_are_walked_over(lock: str, gap: float) -> None:
    boxes = ";".join(f"cube 0 {k * (2 + gap)}{lock}" for k in range(3))
    scene = Scene(f"hider 0 0 3; {boxes}", 5)
    path = scene.track(70, 0, y=BUCKETS)
    on_top = path[1:, :, 1] < 4.8
    assert shares(path, 1)[on_top].min() > 0.95
    assert path[1:, :, 2][on_top].min() > 2.99


def test_seam_from_a_ramp_to_a_box_is_walked_over() -> None:
    scene = Scene("hider 0 -3.5; ramp 0 0 locked hiders; cube 0 2 locked hiders", 5)
    path = scene.track(130, 0, y=BUCKETS)
    share, y, z = shares(path, 1), path[1:, :, 1], path[1:, :, 2]
    # Uphill the force is at an angle to the way, and nothing else is lost: cos^2 of 33.7 degrees.
    climbing = (z > 1.3) & (z < 2.9)
    assert share[climbing].min() > 0.95 * 9 / 13 - 0.1
    over = (y > 0.2) & (y < 2.8)
    assert (z[over] > 2.95).all() and share[over].min() > 0.95
    assert (y.max(0) > 2.5).all()


@pytest.mark.parametrize("lead", ["face", "corner"])
def test_agent_who_misses_a_wall_end_goes_on_straight(lead: str) -> None:
    # 5 mm beside the end of a wall: neither slowed nor turned.
    yaw, reach = (0.0, 1.0) if lead == "face" else (np.pi / 4, np.sqrt(2))
    scene = Scene(f"hider {-reach - 0.005} -6 yaw {yaw}; wall 0 0 8 0", 5)
    heads = {"y": BUCKETS} if lead == "face" else {"x": BUCKETS, "y": BUCKETS}
    path = scene.track(60, 0, **heads)
    share = shares(path, 1) / (1 if lead == "face" else np.sqrt(2))
    assert share.min() > 0.99
    assert np.abs(path[..., 0] - path[0, :, 0]).max() < 0.005
    assert np.abs(scene.yaw(0) - yaw).max() < 1e-3


@pytest.mark.parametrize("overlap", [0.01, 0.1, 0.5, 1.0])
def test_the_end_of_a_wall_stops(overlap: float) -> None:
    scene = Scene(f"hider {-1 + overlap} -6; wall 0 0 8 0", 5)
    wall = np.tile([4.0, 0.0], (5, 1)), np.zeros(5), np.tile([4.0, 0.2], (5, 1))
    for _ in range(80):
        scene.step(scene.drive(y=BUCKETS))
        depth = overlap_depth(scene.at(0)[:, :2], scene.yaw(0), np.ones((5, 2)), *wall)
        assert depth.max() < 0.035
    y = scene.at(0)[:, 1]
    if overlap > 0.9:
        np.testing.assert_allclose(y, -1.2, atol=0.01)
    elif overlap > 0.05:  # it turns around the end
        assert (y < -6 + 79 * WAY).all() and (np.abs(scene.yaw(0))[1:] > 0.1).all()
    else:
        assert (y > -6 + 79 * WAY).all()


@pytest.mark.parametrize("offset", [-0.8, 0.0, 0.8])
def test_ramps_are_climbed_at_an_angle(offset: float) -> None:
    """The rule for walkers at the foot of a slope, from many directions."""
    angles = np.linspace(-0.6, 0.6, 13)
    ahead = np.stack([-np.sin(angles), np.cos(angles), 0 * angles], -1)
    scene = Scene("hider 0 0; ramp 0 0 locked hiders", 13)
    scene.place(0, np.array([0.3 * offset, -2, 1]) - 4 * ahead, angles)
    height = scene.track(60, 0, y=10)[..., 2]
    assert abs(height.max(0) - 3).max() < 0.05
    # Moving askew with the faces along the ramp.
    sideways = np.array([3, 4, 6, 7])
    scene = Scene("hider 0 0; ramp 0 0 locked hiders", 4)
    x = (sideways - 5) * 0.0666
    scene.place(0, np.stack([0.3 * offset - 7 * x, np.full(4, -2 - 7 * 0.333), np.ones(4)], -1))
    path = scene.track(60, 0, x=sideways, y=10)
    assert abs(path[..., 2].max(0) - 3).max() < 0.06
    climbing = path[1:, :, 2] < 2.9
    assert shares_of_ten(path)[climbing].min() > 0.6


def shares_of_ten(path: Array) -> Array:
    return np.asarray(np.diff(path[..., 1], axis=0) / 0.333)


def test_a_ramp_is_no_way_up_from_its_side() -> None:
    ys = np.linspace(-1.5, 0.5, 5)
    scene = Scene("hider 0 0 yaw 1.5707963; ramp 0 0 locked hiders", 5)
    scene.place(0, np.stack([np.full(5, 4.0), ys, np.ones(5)], -1))
    path = scene.track(40, 0, y=10)
    assert path[..., 2].max() < 1.01
    assert path[..., 0].min() > 1.85  # it may turn a little


@pytest.mark.parametrize("count", [1, 2, 3])
def test_squeezes_are_stable(count: int) -> None:
    """Agents in a row, or a fan of them, press a cube against a wall."""
    for fan in (False, True):
        xs = np.arange(count) * 2.1 - 1.05 * (count - 1) if fan else np.zeros(count)
        ys = np.full(count, -1.1) if fan else -1.1 - 2.1 * np.arange(count)
        hiders = ";".join(f"hider {x} {y}" for x, y in zip(xs, ys, strict=True))
        scene = Scene(f"{hiders}; cube 0 1; wall -20 2.25 20 2.25")
        actions = scene.drive(y=10)
        actions[:, :count, 1] = 10
        fastest, deepest = 0.0, -np.inf
        for _ in range(120):
            scene.step(actions)
            assert np.isfinite(scene.get("velocity")).all()
            fastest = max(fastest, float(np.linalg.norm(scene.get("velocity", scene.box))))
            cube, agents = scene.at(scene.box)[0], scene.get("position", slice(0, count))[0]
            deepest = max(deepest, cube[1] + 1 - 2.05, (agents[:, 1] + 1 - 2.05).max())
            if not fan:
                gaps = -np.diff(np.concatenate([[cube[1]], agents[:, 1]])) - 2
                deepest = max(deepest, float(-gaps.min()))
            assert min(cube[2], agents[:, 2].min()) > 0.9
        assert fastest < 5
        assert deepest < 0.08
        if not fan:  # not squirted out
            assert abs(cube[0]) < 0.1


CROWD = (
    "; ".join(f"hider {x} -3.5; seeker {x} 3.5" for x in (-3.5, 0, 3.5))
    + "; "
    + "; ".join(f"cube {x} {y}" for x in (-3.7, -1.2, 1.3, 3.8) for y in (-1.0, 1.2))
    + "; cube 0 0 4; ramp -2.5 0 4; ramp 2.5 0 4"
    + "".join(f"; wall -5.2 {y} 5.2 {y} height 40" for y in (-5.2, 5.2))
    + "".join(f"; wall {x} -5.2 {x} 5.2 height 40" for x in (-5.2, 5.2))
)


def test_crowd_in_a_small_room_stays_in_it() -> None:
    """17 bodies in 10 m by 10 m, six of them at full action for 1000 steps."""
    worlds = 2
    scene = Scene(CROWD, worlds)
    random = np.random.default_rng(3)
    actions = scene.drive()
    fastest, lowest, farthest = 0.0, 9.0, 0.0
    for step in range(1000):
        if step % 5 == 0:
            actions[:, :, :3] = random.choice([0, 10], (worlds, 6, 3))
        scene.step(actions)
        if step % 3 == 0:
            at, velocity = scene.get("position"), scene.get("velocity")
            assert np.isfinite(at).all() and np.isfinite(velocity).all()
            fastest = max(fastest, float(np.linalg.norm(velocity, axis=-1).max()))
            lowest = min(lowest, float(at[..., 2].min()))
            farthest = max(farthest, float(np.abs(at[..., :2]).max()))
    assert fastest < 30
    assert lowest > 0.3
    assert farthest < 5.0  # nobody left
    before = energy(scene)
    for _ in range(60):
        scene.step(scene.drive())
    assert (energy(scene) <= before + 1e-3).all()
    assert np.linalg.norm(scene.get("velocity"), axis=-1).max() < 4


def energy(scene: Scene) -> Array:
    """Kinetic and potential, of bodies of 2 kg (agents: 1 kg)."""
    mass = np.where(np.arange(scene.bodies) < 6, 1.0, 2.0)
    speed = (scene.get("velocity") ** 2).sum(-1)
    return np.asarray((mass * (0.5 * speed + 9.8 * scene.get("position")[..., 2])).sum(-1))
