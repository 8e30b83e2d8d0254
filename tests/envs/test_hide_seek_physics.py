"""HideSeek: how bodies move, on scenes laid by hand.

One substep is h = 1/120 s; full action moves an agent by 0.333 m per step.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.envs.hide_seek_scenes import Array, Scene, random_actions

BUCKET = 0.0666  # what an agent travels per step and bucket of force [m]
BOTH = pytest.mark.parametrize("profile", ["fixed", "port"])
ALL = pytest.mark.parametrize("profile", ["fixed", "port", "openai"])
SUBSTEPS = {"fixed": (4, 1 / 120, 9.8), "port": (4, 1 / 120, 9.8), "openai": (15, 0.005, 50.0)}


@ALL
@pytest.mark.parametrize("thing", ["hider", "cube", "long", "ramp"])
def test_free_fall_follows_its_sum_over_substeps(profile: str, thing: str) -> None:
    substeps, h, gravity = SUBSTEPS[profile]
    damping = {"agent_lift_damping": 0, "box_damping": 0, "ramp_damping": 0}
    scene = Scene(f"{thing} 0 0 30", profile=profile, **damping)
    row = {"hider": 0, "ramp": scene.ramp}.get(thing, scene.box)
    steps = 20 if profile != "openai" else 3  # slower than its bound of 15 m/s
    n = substeps * np.arange(1, steps + 1)
    fallen = 30 - scene.track(steps, row)[:, 0, 2]
    np.testing.assert_allclose(fallen, gravity * h * h * n * (n + 1) / 2, rtol=0.005)
    assert scene.upright(row)[0] > 1 - 1e-6


@BOTH
def test_flat_cube_that_falls_rebounds_and_rests(profile: str) -> None:
    scene = Scene("cube 0 0 5", profile=profile)
    path = scene.track(240, scene.box)[:, 0]
    landed = int(np.argmax(path[:, 2] < 1.01))
    assert 0.25 < path[landed : landed + 30, 2].max() - 1 < 0.45
    assert abs(path[-1, 2] - 1) < 0.005 and scene.upright(scene.box)[0] > 0.9999
    assert abs(scene.yaw(scene.box)[0]) < 0.02
    assert np.abs(path[-60:] - path[-1]).max() < 1e-3


@BOTH
@pytest.mark.parametrize(("offset", "stands"), [(0.0, True), (0.4, True), (1.2, False)])
def test_cube_on_a_cube_stands_while_its_centre_is_above(
    profile: str, offset: float, stands: bool
) -> None:
    # quiet_steps=0: without sleep, which would hide a creep.
    scene = Scene(f"cube 0 0; cube {offset} 0 3", profile=profile, quiet_steps=0)
    end = scene.track(300, scene.box + 1)[-1, 0]
    if stands:
        np.testing.assert_allclose(end, [offset, 0, 3], atol=0.01)
        np.testing.assert_allclose(scene.at(scene.box)[0], [0, 0, 1], atol=0.01)
    else:
        assert end[2] < 2.0 and abs(end[0] - offset) > 0.5


def test_stack_of_three_cubes_stands() -> None:
    scene = Scene("cube 0 0; cube 0 0 3; cube 0 0 5", quiet_steps=0)
    end = scene.track(300, scene.box + 2)[-1, 0]
    np.testing.assert_allclose(end, [0, 0, 5], atol=0.02)


def test_angles_of_a_layout_roll_then_pitch_then_yaw() -> None:
    scene = Scene(
        "long 0 0 9 roll 0.3; long 9 0 9 pitch 0.4; long 18 0 9 yaw 0.5 pitch 0.4 roll 0.3"
    )

    def turned(row: int, axis: int) -> Array:
        """An axis of a body: 0 to its right, 1 ahead, 2 up."""
        w, *vector = scene.get("orientation", scene.box + row)[0]
        v, u = np.array(vector), np.eye(3)[axis]
        return u + 2 * np.cross(v, np.cross(v, u) + w * u)

    c, s = np.cos((0.3, 0.4, 0.5)), np.sin((0.3, 0.4, 0.5))
    np.testing.assert_allclose(turned(0, 2), (s[0], 0, c[0]), atol=1e-6)  # leans to the right
    np.testing.assert_allclose(turned(1, 1), (0, c[1], s[1]), atol=1e-6)  # its front rises
    pitched = np.array((s[0], -s[1] * c[0], c[1] * c[0]))  # what points up, rolled and pitched
    yawed = (c[2] * pitched[0] - s[2] * pitched[1], s[2] * pitched[0] + c[2] * pitched[1])
    np.testing.assert_allclose(turned(2, 2), (*yawed, pitched[2]), atol=1e-6)


PAGE = Path(__file__).parents[2] / "docs" / "physics.md"
SWAYS = re.findall(
    r"^\| `solver_sweeps` (\d), (\d+) substeps \| (.*) \|$", PAGE.read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("sweeps", "substeps", "speeds"), SWAYS)
def test_high_stacks_sway_or_rest_as_the_page_says(sweeps: str, substeps: str, speeds: str) -> None:
    for height, told in zip((4, 5, 6, 8), map(float, speeds.split(" | ")), strict=True):
        layout = "; ".join(f"cube 0 0 {1 + 2 * k}" for k in range(height))
        options = {"solver_sweeps": int(sweeps), "substeps": int(substeps)}
        scene = Scene(layout, quiet_steps=0, **options)
        cubes, highest = slice(scene.box, scene.box + height), 0.0
        for step in range(1, 271):
            scene.step(scene.drive())
            if step >= 240:
                speed = np.linalg.norm(scene.get("velocity", cubes), axis=-1).max()
                highest = max(highest, float(speed))
        assert highest == pytest.approx(told, abs=0.0051)
        if sweeps == "2":
            assert np.abs(scene.get("position", cubes)[0, :, :2]).max() < 0.01


def test_the_page_has_the_sways_of_four_settings() -> None:
    assert [row[:2] for row in SWAYS] == [("1", "4"), ("1", "8"), ("1", "16"), ("2", "4")]


@pytest.mark.parametrize("profile", ["fixed", "port", "openai"])
def test_resting_things_do_not_creep(profile: str) -> None:
    scene = Scene("cube 0 0; long 9 0; ramp 0 9", profile=profile, quiet_steps=0)
    scene.step(scene.drive())
    before = scene.get("position")
    path = [scene.track(1, 0)[0] for _ in range(240)]
    assert len(path) == 240
    drift = np.abs(scene.get("position") - before)
    assert drift[..., :2].max() < 0.005 and drift[..., 2].max() < 0.005
    assert np.abs(scene.get("velocity")).max() < 0.02


@pytest.mark.parametrize("thing", ["cube", "long", "ramp"])
def test_slides_do_not_depend_on_mass(thing: str) -> None:
    lengths = []
    for mass in (0.5, 2, 16):
        scene = Scene(f"{thing} 0 0 velocity 5 0 0", box_mass=mass, ramp_mass=mass)
        row = scene.ramp if thing == "ramp" else scene.box
        lengths.append(scene.track(90, row)[-1, 0, 0])
    np.testing.assert_allclose(lengths, lengths[1], rtol=0.01)


@pytest.mark.parametrize(("thing", "expected"), [("cube", 1.4), ("long", 1.4), ("ramp", 5.8)])
def test_slides_end_where_coulombs_law_says(thing: str, expected: float) -> None:
    # v^2 / (2 mu g) is 1.417 m for a box (0.9) and 5.797 m for a ramp (0.22). Long boxes slide
    # lengthwise here: across, with the centre 1.33 half widths up, that friction topples them.
    scene = Scene(f"{thing} 0 0 velocity 5 0 0")
    row = scene.ramp if thing == "ramp" else scene.box
    end = scene.track(90, row)[-1, 0]
    assert abs(end[0] - expected) < 0.03 * expected
    assert abs(end[1]) < 0.01 and abs(scene.yaw(row)[0]) < 0.01
    for heading in np.linspace(0.2, 3, 4) if thing == "cube" else ():
        velocity = 5 * np.array([np.cos(heading), np.sin(heading), 0])
        scene = Scene("cube 0 0")
        scene.push(scene.box, velocity)
        end = scene.track(90, scene.box)[-1, 0]
        assert abs(np.hypot(*end[:2]) - expected) < 0.03 * expected


def beyond(scene: Scene, face: float) -> Array:
    """How far the foremost corner of agent 0 is behind the plane y = face."""
    yaw = scene.yaw(0)
    corner = np.abs(np.cos(yaw)) + np.abs(np.sin(yaw))
    return scene.at(0)[:, 1] + corner - face


@BOTH
def test_agents_who_drive_at_a_wall_do_not_sink_into_it(profile: str) -> None:
    headings = np.linspace(-1.1, 1.1, 36)
    scene = Scene("hider 0 0; wall -60 10 60 10", 36, profile=profile)
    scene.place(0, yaw=headings)
    deepest = -np.inf
    for _ in range(80):
        scene.step(scene.drive(y=10))
        deepest = max(deepest, float(beyond(scene, 9.8).max()))
    assert -0.01 < deepest < 0.03


def run_at_walls(worlds: int, profile: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    scene = Scene("hider 0 0; wall -60 0 60 0", worlds, profile=profile)
    away = random.uniform(1.7, 4, worlds)
    at = np.stack([random.uniform(-9, 9, worlds), -away, np.ones(worlds)], -1)
    scene.place(0, at, random.uniform(-np.pi, np.pi, worlds))
    deepest, arrived = -np.inf, np.zeros(worlds, bool)
    for _ in range(15):
        # Full force towards the wall, whatever the heading; any torque.
        yaw = scene.yaw(0)
        x, y = np.rint(5 + 5 * np.stack([np.sin(yaw), np.cos(yaw)])).astype(np.int32)
        actions = scene.drive(x=x, y=y, turn=random.integers(0, 11, worlds))
        for _ in range(2):
            scene.step(actions)
            depth = beyond(scene, -0.2)
            deepest, arrived = max(deepest, float(depth.max())), arrived | (depth > -0.05)
    assert arrived.mean() > 0.95
    assert deepest < 0.035
    assert scene.at(0)[:, 1].max() < -1  # nobody crossed


@BOTH
def test_nobody_crosses_a_wall(profile: str) -> None:
    run_at_walls(1000, profile, 0)


@pytest.mark.slow
@BOTH
def test_nobody_crosses_a_wall_in_ten_thousand_runs(profile: str) -> None:
    run_at_walls(10000, profile, 1)


@BOTH
@pytest.mark.parametrize(
    ("thing", "yaw", "reach"),
    [("cube", 0, 1), ("long", 0, 0.75), ("long", np.pi / 2, 4), ("ramp", np.pi, 1), ("ramp", 0, 2)],
)
def test_pushed_things_keep_up_with_who_pushes(
    profile: str, thing: str, yaw: float, reach: float
) -> None:
    scene = Scene(f"hider 0 {-1.001 - reach}; {thing} 0 0 yaw {yaw}", profile=profile)
    row = scene.ramp if thing == "ramp" else scene.box
    before = scene.at(row)[0, 1], scene.at(0)[0, 1]
    thing_way = scene.track(30, row, y=10)[-1, 0, 1] - before[0]
    agent_way = scene.at(0)[0, 1] - before[1]
    assert abs(thing_way / agent_way - 1) < 0.05
    assert agent_way > 0.95 * 30 * 5 * BUCKET


@BOTH
def test_locked_ramp_is_climbed(profile: str) -> None:
    buckets = np.array([7, 8, 9, 10])
    scene = Scene("hider 0 -3.5; ramp 0 0 locked hiders", 4, profile=profile)
    height = scene.track(100, 0, y=buckets)[..., 2]
    assert abs(height.max(0) - 3).max() < 0.05
    reached = np.argmax(height > 2.95, axis=0)
    assert reached[3] < 40 and (reached > 0).all()


RAMP_AT_WALL = "hider 0 -3.5; ramp 0 0{lock}; wall -20 1.21 20 1.21 height {height}"


@BOTH
@pytest.mark.parametrize("lock", ["", " locked hiders"])
def test_high_wall_is_not_crossed_from_a_ramp(profile: str, lock: str) -> None:
    for height in (2.25, 2.5):
        layout = RAMP_AT_WALL.format(lock=lock, height=height)
        scene = Scene(layout, 11, profile=profile)
        path = scene.track(150, 0, y=np.arange(11))
        assert path[..., 1].max() < 0.05
        assert (path[-1, 6:, 2] > 2.9).all()  # who drives on stands before it


@BOTH
@pytest.mark.parametrize("lock", ["", " locked hiders"])
def test_low_wall_is_crossed_from_a_ramp(profile: str, lock: str) -> None:
    scene = Scene(RAMP_AT_WALL.format(lock=lock, height=2.0), 2, profile=profile)
    behind = scene.track(100, 0, y=np.array([7, 10]))[..., 1] > 2.41
    assert behind[44, 1]
    assert behind[99, 0] and not behind[44, 0]


@BOTH
def test_free_ramp_is_pushed_away_by_who_drives_at_it(profile: str) -> None:
    scene = Scene("hider 0 -3.5; ramp 0 0", 3, profile=profile)
    before = scene.at(scene.ramp)
    path = scene.track(80, 0, y=np.array([8, 9, 10]))
    assert path[..., 2].max() < 2.2
    assert (scene.at(scene.ramp) - before)[:, 1].min() > 10


@BOTH
def test_rider_of_a_pulled_box_is_not_carried(profile: str) -> None:
    scene = Scene("hider 0 -2; hider 0 0 3; long 0 0", profile=profile)
    scene.step(scene.drive(grab=1))
    box, rider = scene.at(scene.box)[0], scene.at(1)[0]
    assert scene.simulator.get("joints.type")[0, 0] != 0
    path = scene.track(10, 1, y=0)[:, 0]
    moved = scene.at(scene.box)[0] - box
    assert moved[1] < -3
    # While the rider stands on it.
    on_top = path[:, 2] > 2.9
    assert on_top.sum() > 3
    assert np.abs(path[on_top] - rider)[:, :2].max() < 0.2 * abs(moved[1])


@pytest.mark.parametrize(
    "profile", ["fixed", "openai", pytest.param("port", marks=pytest.mark.slow)]
)
def test_random_play_stays_finite_slow_and_upright(profile: str) -> None:
    worlds = 100
    simulator = Simulator(
        "HideSeek-v0",
        worlds,
        device="cpu",
        profile=profile,
        autoreset_mode="Disabled",
        outputs=[],
        max_episode_steps=0,
    )
    simulator.reset(seed=3)
    random = np.random.default_rng(4)
    objects = slice(5, 16)
    is_there = simulator.get("bodies.state")[:, objects] & 1 != 0
    tilted = fastest = 0.0
    for step in range(240):
        simulator.step(random_actions(random, worlds, 5))
        if step % 4 and step != 239:
            continue
        velocity = simulator.get("bodies.velocity")
        assert np.isfinite(velocity).all()
        fastest = max(fastest, float(np.linalg.norm(velocity, axis=-1).max()))
        x, y = np.moveaxis(simulator.get("bodies.orientation")[..., 1:3], -1, 0)
        upright = 1 - 2 * (x * x + y * y)
        tilted = max(tilted, float((upright[:, objects] < np.sqrt(0.5))[is_there].mean()))
        # Agents never tilt; nor does anything in the original's rules.
        rows = slice(0, 16) if profile == "openai" else slice(0, 5)
        assert 2 * np.hypot(x, y)[:, rows].max() < 1e-4
    at = simulator.get("bodies.position")
    assert np.isfinite(at).all()
    if profile != "port":  # where things may begin inside of walls
        assert at[:, :5, 2].min() > (0.14 if profile == "openai" else 0.98)
        assert at[:, objects, 2][is_there].min() > (0.16 if profile == "openai" else 0.63)
    assert fastest < 30
    assert tilted < 0.02


def test_overlapping_cubes_part_slowly() -> None:
    scene = Scene("cube 0 0; cube 1.5 0")
    fastest = 0.0
    for _ in range(30):
        scene.step(scene.drive())
        fastest = max(fastest, float(np.linalg.norm(scene.get("velocity"), axis=-1).max()))
    apart = scene.at(scene.box + 1) - scene.at(scene.box)
    assert abs(apart[0, 0] - 2) < 0.01
    assert fastest < 1


@pytest.mark.parametrize(("offset", "turn"), [(0.0, 0.0), (0.3, 0.0), (0.9, 0.4)])
def test_collisions_keep_momentum_and_gain_no_energy(offset: float, turn: float) -> None:
    scene = Scene(
        f"cube 0 0 20 velocity 3 0 0; cube 5 {offset} 20 yaw {turn} velocity -3 0 0", gravity=0
    )
    rows = slice(scene.box, scene.box + 2)
    mass, inertia = 2.0, 2 * 2.0**2 / 6
    energies = []
    for _ in range(60):
        scene.step(scene.drive())
        v, w = scene.get("velocity", rows)[0], scene.get("spin", rows)[0]
        energies.append(0.5 * mass * (v**2).sum() + 0.5 * inertia * (w**2).sum())
        assert np.abs(mass * v.sum(0)).max() < 0.01 * mass * 3
        at = scene.get("position", rows)[0]
        spin = mass * np.cross(at - at.mean(0), v).sum(0) + inertia * w.sum(0)
        np.testing.assert_allclose(spin, [0, 0, mass * 3 * offset], atol=0.03 * mass * 3)
    assert max(energies) < 18 * 1.02
    assert energies[-1] < 0.5 * 18  # they met, and most of it went
