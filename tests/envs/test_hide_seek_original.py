"""HideSeek with the original's sizes and forces (profile openai): small bodies, strong gravity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.envs.hide_seek_scenes import Scene

STEP = 0.075  # [s]
BUCKETS = np.arange(6, 11)


def scene_of(layout: str, worlds: int = 1, **parameters: Any) -> Scene:
    return Scene(layout, worlds, profile="openai", **parameters)


def settle(scene: Scene, steps: int = 3) -> None:
    for _ in range(steps):
        scene.step(scene.drive())


def test_agents_reach_the_speed_of_force_over_damping() -> None:
    # Damping 10 N s/m against 18 N per bucket, less the floor's friction of 0.01 g.
    scene = scene_of("hider 0 0", 5)
    ways = np.diff(scene.track(30, 0, y=BUCKETS)[..., 1], axis=0)[-1]
    expected = (18 * (BUCKETS - 5) - 0.01 * 50) / 10
    np.testing.assert_allclose(ways / STEP, expected, atol=0.06)
    smooth = scene_of("hider 0 0", 1, agent_floor_friction=0)
    ways = np.diff(smooth.track(30, 0, y=10)[..., 1], axis=0)[-1]
    np.testing.assert_allclose(ways, 9 * STEP, rtol=0.005)
    both = np.diff(smooth.track(30, 0, x=10, y=10)[..., :2], axis=0)[-1]
    np.testing.assert_allclose(both, 9 * STEP, rtol=0.01)
    settle(smooth, 30)
    smooth.track(30, 0, turn=10)
    np.testing.assert_allclose(smooth.get("spin", 0)[0, 2], 9, rtol=0.01)


def test_forces_are_along_the_axes_of_the_world() -> None:
    yaws = np.linspace(-3, 3, 5)
    scene = scene_of("hider 0 0", 5)
    scene.place(0, yaw=yaws)
    end = scene.track(10, 0, x=10)[-1]
    assert (end[:, 0] > 4).all() and np.abs(end[:, 1]).max() < 1e-3
    np.testing.assert_allclose(scene.yaw(0), yaws, atol=1e-5)


@pytest.mark.parametrize("thing", ["cube", "long"])
def test_agent_on_a_box_that_grabs_it_drives_both(thing: str) -> None:
    """Who stands on a box and grabs it drives both."""
    scene = scene_of(f"hider 0 0 0.65; {thing} 0 0", 4)
    settle(scene)
    before, apart = scene.at(scene.box), scene.at(0) - scene.at(scene.box)
    buckets = np.array([7, 8, 9, 10])
    for _ in range(30):
        scene.step(scene.drive(y=buckets, grab=1))
        assert (scene.simulator.get("joints.type")[:, 0] != 0).all()
        error = np.linalg.norm(scene.at(0) - scene.at(scene.box) - apart, axis=-1)
        assert error.max() < 0.2 * 0.25 and scene.at(0)[:, 2].min() > 0.6
    assert (scene.at(scene.box) - before)[:, 1].min() > 2.5
    # Two bodies of 1 kg: the friction of both, and the agent's damping.
    speed = scene.get("velocity", scene.box)[:, 1]
    np.testing.assert_allclose(speed, (18 * (buckets - 5) - 0.2 * 2 * 50) / 10, atol=0.12)
    scene.step(scene.drive(y=buckets))
    assert (scene.simulator.get("joints.type")[:, 0] == 0).all()


def test_without_a_grip_nobody_surfs() -> None:
    scene = scene_of("hider 0 0 0.65; long 0 0 yaw 1.5707963", 1)
    settle(scene)
    box = scene.at(scene.box)
    scene.track(6, 0, x=10)
    assert scene.at(0)[0, 0] - box[0, 0] > 0.8
    assert np.abs(scene.at(scene.box) - box).max() < 0.5


@pytest.mark.parametrize("over", ["cube", "ramp", "floor"])
def test_low_walls_are_crossed_from_a_box_or_a_ramp_alone(over: str) -> None:
    wall = "wall -9 0.31 9 0.31 height 0.5"
    layout = {
        "cube": f"hider 0 0 0.65; cube 0 0 locked hiders; {wall}",
        "ramp": f"hider 0 -1.5; ramp 0 0.0866 locked hiders; {wall}",
        "floor": f"hider 0 -1.5; {wall}",
    }[over]
    scene = scene_of(layout, 2)
    end = scene.track(12, 0, y=np.array([9, 10]))[-1]
    if over == "floor":
        np.testing.assert_allclose(end[:, 1], 0.31 - 0.05 - 0.15, atol=0.01)
    else:
        assert (end[:, 1] > 1).all()
    np.testing.assert_allclose(end[:, 2], 0.15, atol=0.3)


def test_rider_who_lets_go_at_a_wall_walks_over_it() -> None:
    # A box is driven to a wall by its rider, who lets go there and walks over.
    scene = scene_of("hider 0 -3 0.65; cube 0 -3; wall -9 0 9 0 height 0.5")
    settle(scene)
    for _ in range(25):
        scene.step(scene.drive(y=10, grab=1))
    np.testing.assert_allclose(scene.at(scene.box)[0, 1], -0.05 - 0.25, atol=0.03)
    assert scene.at(0)[0, 2] > 0.6
    assert scene.track(10, 0, y=10)[-1, 0, 1] > 0.5


def test_rammed_boxes_and_ramps_never_tip() -> None:
    """Agents ram boxes and ramps at full speed, high and low, off centre."""
    worlds = 60
    random = np.random.default_rng(0)
    scene = scene_of("hider 0 -3; cube 0 0; long 0 1; ramp 0 2; cube 0 0 0.75", worlds)
    at = np.stack([random.uniform(-0.4, 0.4, worlds), np.full(worlds, -3), np.full(worlds, 0.15)])
    scene.place(0, at.T)
    for _ in range(40):
        scene.step(scene.drive(y=10))
        turn = scene.get("orientation")
        assert np.abs(turn[..., 1:3]).max() == 0
    assert (scene.at(scene.ramp)[:, 1] > 2.5).any()


@pytest.mark.parametrize("thing", ["cube", "long", "ramp"])
def test_pushed_things_stay_before_walls(thing: str) -> None:
    """Hit from any distance at full speed: they move further in a step than walls are thick."""
    worlds = 200
    half = {"cube": 0.25, "long": 0.075, "ramp": 0.5 / 3}[thing]
    scene = scene_of(f"hider 0 -3; {thing} 0 0; wall -30 10 30 10", worlds)
    row = scene.ramp if thing == "ramp" else scene.box
    front = 9.95 - np.linspace(0.02, 1.2, worlds)  # the thing's high or far face
    zero = np.zeros(worlds)
    scene.place(row, np.stack([zero, front - half, scene.at(row)[:, 2]], -1))
    run = np.random.default_rng(0).uniform(2, 2.7, worlds)
    scene.place(0, np.stack([zero, front - 3 * half - 0.15 - run, zero + 0.15], -1))
    for _ in range(12):
        scene.step(scene.drive(y=10))
        assert (scene.at(row)[:, 1] + half).max() < 9.95 + 0.012


def test_falls_end_on_walls() -> None:
    scene = scene_of("cube 0 0; wall -5 0 5 0 height 0.5", 30)
    heights = np.linspace(0.76, 1.5, 30)
    scene.place(scene.box, np.stack([0 * heights, 0 * heights, heights], -1))
    assert scene.track(20, scene.box)[..., 2].min() > 0.75 - 0.002


def test_agents_stay_before_walls() -> None:
    worlds = 200
    random = np.random.default_rng(1)
    scene = scene_of("hider 0 0; wall -40 0 40 0 height 0.5", worlds)
    away = random.uniform(0.25, 1, worlds)
    scene.place(0, np.stack([random.uniform(-2, 2, worlds), -away, np.full(worlds, 0.15)], -1))
    for _ in range(40):
        scene.step(scene.drive(x=random.integers(0, 11, worlds), y=random.integers(5, 11, worlds)))
        assert scene.at(0)[:, 1].max() < -0.2 + 0.01
        assert scene.at(0)[:, 2].max() < 0.2


def test_pushed_boxes_go_straight() -> None:
    # What cannot tilt rests on all of its corners alike: friction must not turn it.
    for thing in ("cube", "long"):
        scene = scene_of(f"hider 0 -0.7; {thing} 0 0")
        end = scene.track(20, scene.box, y=10)[-1, 0]
        assert end[1] > 8 and abs(end[0]) < 0.01 and abs(scene.yaw(scene.box)[0]) < 0.01
    scene = scene_of("cube 0 0 velocity 4 3 0; long 0 9 velocity 3 4 0; ramp 0 -9 velocity 0 5 0")
    settle(scene, 20)
    for row in (scene.box, scene.box + 1, scene.ramp):
        assert abs(scene.yaw(row)[0]) < 0.05


def test_stacks_off_centre_stand() -> None:
    scene = scene_of(
        "cube 0 0; cube 0.2 0 0.75; ramp 3 0; cube 3 3; cube 3.4 3 0.75", quiet_steps=0
    )
    settle(scene, 300)
    for row, expected in ((1, (0.2, 0, 0.75)), (3, (3.4, 3, 0.75))):
        np.testing.assert_allclose(scene.at(scene.box + row)[0], expected, atol=0.002)
