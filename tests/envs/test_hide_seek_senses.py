"""Hide-and-seek: what agents see and measure, for each profile."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hide_seek_worlds import (
    AHEAD,
    ALL,
    NEUTRAL,
    PF,
    Geometry,
    Scene,
    in_frame,
    random_actions,
    simulate,
    wrapped,
)

STEP = 1 / 30  # [s] of the batch version


@pytest.mark.parametrize("profile", PF)
def test_relative_positions_are_in_the_frame_of_the_agent(profile):
    random = np.random.default_rng(3)
    for _ in range(12):
        places = random.uniform(-15, 15, (6, 2))
        yaws = random.uniform(-math.pi, math.pi, 6)
        heights = random.uniform(1, 9, 6)
        names = ("hider", "seeker", "hider", "cube", "long", "ramp")
        text = "; ".join(
            f"{name} {x} {y} {z} yaw {yaw}"
            for name, (x, y), z, yaw in zip(names, places, heights, yaws, strict=True)
        )
        scene = Scene(profile, text, observation_mode="full")
        rows = {0: 0, 2: 1, 1: 2}  # agents: hiders first, as in the text
        order = [0, 2, 1]
        for agent in (0, 1, 2):
            me = order[agent]
            expected = [in_frame(place - places[me], yaws[me]) for place in places]
            others = [expected[k] for k in order if k != me]
            assert rows[me] == agent
            assert scene.observed("others", agent)[:, :2] == pytest.approx(
                np.array(others), abs=1e-4
            )
            boxes = scene.observed("boxes", agent)[:2, :2]
            assert boxes == pytest.approx(np.array(expected[3:5]), abs=1e-4)
            ramp = scene.observed("ramps", agent)[0, :2]
            assert ramp == pytest.approx(expected[5], abs=1e-4)


@pytest.mark.parametrize("profile", PF)
def test_rotations_are_own_yaw_less_that_of_the_object(profile):
    cases = [(0.5, 0.3, 0.2), (0.3, 0.5, -0.2), (3.0, -3.0, 6.0 - 2 * math.pi), (-1, 2.1, -3.1)]
    for own, its, expected in cases:
        text = f"hider 0 0 yaw {own}; cube 5 5 yaw {its}; ramp -5 5 yaw {its}"
        scene = Scene(profile, text, observation_mode="full")
        assert scene.observed("boxes", 0)[0, 6] == pytest.approx(expected, abs=1e-4)
        assert scene.observed("ramps", 0)[0, 4] == pytest.approx(expected, abs=1e-4)
    sizes = Scene(profile, "hider 0 0; cube 0 5; long 0 9 5", observation_mode="full")
    assert sizes.observed("boxes", 0)[:2, 4:6].tolist() == [[2, 2], [8, 1.5]]


@pytest.mark.parametrize("profile", PF)
def test_velocities_are_those_of_the_world_turned(profile):
    text = (
        "hider 0 0 yaw 0.8; hider -8 -8 yaw 0.5; "
        "cube 5 8 yaw 0.2 velocity 3 -2 0; ramp -5 8 velocity -1 4 0"
    )
    scene = Scene(profile, text, observation_mode="full")
    for _ in range(4):
        before = scene.at(1)
        scene.step({0: (5, 5, 7, 0, 0), 1: (9, 10, 5, 0, 0)})
        yaw = scene.yaw(0)
        for field, row in (("boxes", scene.box()), ("ramps", scene.ramp())):
            velocity = scene.get("bodies.velocity", row)
            assert np.linalg.norm(velocity[:2]) > 1
            expected = in_frame(velocity, yaw)
            assert scene.observed(field, 0)[0, 2:4] == pytest.approx(expected, abs=1e-4)
        moved = in_frame((scene.at(1) - before) / STEP, yaw)
        assert np.linalg.norm(moved) > 8
        others = scene.observed("others", 0)[0, 2:4]
        if profile == "fixed":  # in the batch version agents seem to stand still
            assert others == pytest.approx(moved, abs=1e-3)


@pytest.mark.parametrize("profile", PF)
def test_lidar_begins_ahead_and_runs_counter_clockwise(profile):
    for yaw in (0.0, 1.3, -2.0):
        ahead = (-4 * math.sin(yaw), 4 * math.cos(yaw))
        right = (5 * math.cos(yaw), 5 * math.sin(yaw))
        text = f"hider 0 0 yaw {yaw}; cube {ahead[0]} {ahead[1]} yaw {yaw}; "
        text += f"cube {right[0]} {right[1]} yaw {yaw}"
        lidar = Scene(profile, text).observed("lidar", 0)
        ranges = np.where(lidar == 0, np.inf, lidar)
        assert ranges[0] == pytest.approx(3, abs=1e-3)
        assert int(np.argmin(ranges)) == 0
        others = list(range(3, 28))
        assert set(np.argsort(ranges[others])[:2] + 3) == {22, 23}
        assert ranges[22:24] == pytest.approx(4 / math.cos(math.radians(6)), abs=1e-3)
    lidar = Scene(profile, "hider 0 0; long 0 6").observed("lidar", 0)
    assert lidar[0] == pytest.approx(5.250, abs=5e-4)
    assert lidar[[1, 29]] == pytest.approx(5.367, abs=5e-4)


@pytest.mark.parametrize("profile", ALL)
def test_lidar_without_a_hit_shows_the_miss_of_its_profile(profile):
    lidar = Scene(profile, "hider 0 0").observed("lidar", 0)
    # Only the far seeker is there, to the right and behind: at most two rays meet it.
    missed = lidar == (6 if profile == "openai" else 0)
    assert missed.sum() >= 28
    # What is hit is not cut off at what a miss shows.
    far = "hider 0 0; wall -40 9 40 9; wall 9 -40 9 40"
    ranges = Scene(profile, far).observed("lidar", 0)
    assert ranges[0] == pytest.approx(8.95 if profile == "openai" else 8.8, abs=1e-4)


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("side", [-1, 1])
def test_cone_of_sight_ends_at_its_angle(profile, side):
    unit = 1 / 4 if profile == "openai" else 1
    for degrees, seen in ((67.4, True), (67.6, False), (0, True), (112.5, False), (180, False)):
        angle = math.radians(degrees) * side
        for yaw in (0.0, 2.1):
            x, y = -math.sin(yaw + angle) * 8 * unit, math.cos(yaw + angle) * 8 * unit
            for thing, field in (("hider", "others"), ("cube", "boxes"), ("ramp", "ramps")):
                text = f"hider 0 0 yaw {yaw}; {thing} {x} {y} {1 * unit}"
                visible = Scene(profile, text).observed(f"visible_{field}", 0)[0]
                assert visible == seen, (degrees, thing, yaw)


@pytest.mark.parametrize("profile", PF)
def test_heights_count_in_the_cone_of_the_batch_version(profile):
    """Ahead and 70 degrees up is outside; in `openai` the cone is flat."""
    up = 5 * math.tan(math.radians(70))
    assert not Scene(profile, f"hider 0 0; cube 0 5 {1 + up}").observed("visible_boxes", 0)[0]
    flat = Scene("openai", f"hider 0 0; cube 0 1 {0.25 + up / 5}")
    assert flat.observed("visible_boxes", 0)[0] == 1


@pytest.mark.parametrize("profile", ALL)
def test_whatever_is_between_blocks_the_view(profile):
    size = 4 if profile == "openai" else 1
    scene = Scene(profile, f"hider 0 0; hider 0 {10 / size}; cube 0 {16 / size} {4 / size}")
    base = scene.text
    assert scene.observed("visible_others", 0)[0] == 1
    low = 1 / size
    between = [
        f"wall {-3 / size} {5 / size} {3 / size} {5 / size}",
        f"cube 0 {5 / size}",
        f"long 0 {5 / size}",
        f"ramp 0 {5 / size}",
    ]
    for thing in between:
        scene.lay(f"{base}; {thing}")
        assert scene.observed("visible_others", 0)[0] == 0, thing
        if thing.startswith("wall"):
            scene.simulator.set("statics.count", 0)
        else:
            scene.set("bodies.state", scene.ramp() if "ramp" in thing else scene.box(1), 0)
        assert scene.observed("visible_others", 0)[0] == 1, thing
    # An agent between, and the same body taken away.
    blocked = Scene(profile, f"hider 0 0; hider 0 {5 / size}; hider 0 {10 / size}; ramp 9 9 {low}")
    assert blocked.observed("visible_others", 0)[:2].tolist() == [1, 0]
    blocked.set("bodies.position", 1, (5 / size, 2 / size, low))
    assert blocked.observed("visible_others", 0)[1] == 1
    # A box hides one of the same table.
    box = Scene(profile, f"hider 0 0; cube 0 {5 / size}; cube 0 {10 / size}")
    assert box.observed("visible_boxes", 0)[:2].tolist() == [1, 0]
    box.set("bodies.state", box.box(0), 0)
    assert box.observed("visible_boxes", 0)[:2].tolist() == [0, 1]


@pytest.mark.parametrize("profile", PF)
def test_agent_on_a_ramp_sees_over_a_wall(profile):
    # The ramp's high face is 0.7 m before the wall, the seeker stands on its edge.
    text = "wall -15 0 15 0 height 2.5; ramp 0 -1.9; seeker 0 -1.9 {}; hider 0 {}"
    for height, place, seen in ((3, 8, 1), (3, 5, 0), (1, 8, 0), (1, 5, 0), (1, 17, 0)):
        seeker = Scene(profile, text.format(height, place))
        if height == 1:
            seeker.set("bodies.state", seeker.ramp(), 0)  # or it would begin inside of it
        assert seeker.observed("visible_others", 1)[0] == seen, (height, place)


def compare_with_geometry(profile: str, worlds: int, steps: int) -> tuple[int, int]:
    """Sights and lidar of drawn levels in play; sights that were true, and all that were asked."""
    simulator = simulate(profile, worlds, observation_mode="full")
    outputs = simulator.reset(seed=17)
    random = np.random.default_rng(4)
    for _ in range(steps):
        outputs = simulator.step(random_actions(simulator, random))
    p, agents = simulator.parameters, simulator.agents_per_world
    bodies = agents + p["box_slots"] + p["ramp_count"]
    miss, true, asked, grazing = p["lidar_miss"], 0, 0, 0
    for world in range(worlds):
        geometry = Geometry(simulator, world)
        for agent in range(agents):
            others = [k for k in range(agents) if k != agent]
            if profile == "openai":
                others = [(agent + 1 + k) % agents for k in range(agents - 1)]
            rows = others + list(range(agents, bodies))
            names = ("visible_others", "visible_boxes", "visible_ramps")
            got = np.concatenate([outputs.obs[name][world, agent] for name in names])
            for row, value in zip(rows, got, strict=True):
                sure = {geometry.sees(agent, row, extra) for extra in (-1e-4, 1e-4)}
                assert value in sure, (world, agent, row)
                true, asked = true + int(value), asked + 1
            expected = geometry.lidar(agent)
            expected[expected >= 200] = miss
            lidar = outputs.obs["lidar"][world, agent]
            # A ray that just touches an edge may end on either side of it.
            wrong = np.abs(lidar - expected) > 1e-3 * np.maximum(1, expected)
            grazing += int(wrong.sum())
            assert wrong.sum() <= 1, (world, agent, lidar[wrong], expected[wrong])
    assert grazing <= worlds // 4
    return true, asked


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("steps", [0, 30])
def test_sights_and_lidar_agree_with_an_independent_geometry(profile, steps):
    true, asked = compare_with_geometry(profile, 10, steps)
    assert asked == 10 * 5 * 15
    assert 0.05 < true / asked < 0.4


@pytest.mark.gpu
@pytest.mark.parametrize("profile", ALL)
def test_gpu_sees_what_the_cpu_sees(profile, on_gpu):
    cpu = simulate(profile, 200)
    gpu = simulate(profile, 200, device="cuda", arrays=on_gpu.name)
    cpu.reset(seed=8)
    gpu.reset(seed=8)
    random = np.random.default_rng(5)
    for _ in range(40):
        cpu.step(random_actions(cpu, random))
    gpu.load(cpu.save())
    here, there = cpu.observe().obs, gpu.observe().obs
    for name in ("visible_others", "visible_boxes", "visible_ramps"):
        assert np.array_equal(here[name], on_gpu.to_host(there[name]))
    assert np.abs(here["lidar"] - on_gpu.to_host(there["lidar"])).max() <= 1e-3


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("mode", ["masked", "full"])
def test_absent_slots_are_zeros(profile, mode):
    simulator = simulate(profile, 30, observation_mode=mode)
    outputs = simulator.reset(seed=9)
    counts = set()
    for world in range(30):
        there = simulator.get("bodies.state")[world, 5:14] & 1
        counts.add(int(there.sum()))
        absent = there == 0
        assert not outputs.obs["boxes"][world][:, absent].any()
        assert not outputs.obs["visible_boxes"][world][:, absent].any()
        if mode == "full":
            assert np.all(outputs.obs["boxes"][world][:, ~absent].any(axis=-1))
    assert min(counts) < 6 < max(counts)
    scene = Scene(profile, "hider 0 0; seeker 0 1.5 yaw 3; cube 0 2.6; ramp 3 3")
    assert scene.observed("ramps", 0)[1].tolist() == [0] * scene.observed("ramps", 0).shape[1]
    assert scene.observed("visible_ramps", 0)[1] == 0


def play_to_the_end(profile: str, worlds: int) -> None:
    simulator = simulate(profile, worlds, autoreset_mode="SameStep", max_episode_steps=None)
    simulator.reset(seed=10)
    random = np.random.default_rng(6)
    names = ("position", "orientation", "velocity", "spin")
    for call in range(1, 241):
        outputs = simulator.step(random_actions(simulator, random))
        for field in outputs.obs.values():
            assert np.isfinite(field).all()
        assert np.isfinite(outputs.reward).all()
        assert np.isfinite(outputs.state).all()
        if call % 20 == 0:
            for name in names:
                assert np.isfinite(simulator.get(f"bodies.{name}")).all()
    assert outputs.truncated.all()
    assert all(np.isfinite(field).all() for field in outputs.final_obs.values())
    simulator.check()


@pytest.mark.parametrize("profile", ALL)
def test_everything_stays_finite_over_an_episode(profile):
    play_to_the_end(profile, 40)


@pytest.mark.slow
@pytest.mark.parametrize("profile", ALL)
def test_everything_stays_finite_over_a_thousand_episodes(profile):
    play_to_the_end(profile, 1000)


@pytest.mark.parametrize("profile", ALL)
def test_vector_of_the_first_trainer_can_be_built(profile):
    simulator = simulate(profile, 20, hider_count=3, seeker_count=3)
    outputs = simulator.reset(seed=12)
    obs = outputs.obs
    if profile == "openai":  # absolute: x, y, two velocities, two sizes, an angle
        columns = [0, 1, 4, 5], [0, 1, 5, 6, 9, 10, 3], [0, 1, 5, 6, 3]
        head = obs["self"][..., [9, 8]]
    else:
        columns = range(4), range(7), range(5)
        head = np.concatenate([obs["prep"], obs["team"]], axis=-1)
    parts = []
    for name, chosen in zip(("others", "boxes", "ramps"), columns, strict=True):
        rows, mask = obs[name], obs[f"visible_{name}"]
        assert not rows[mask == 0].any()  # hidden rows are zeros as they come
        assert rows[mask == 1].any(axis=-1).all()
        parts.append((rows[..., list(chosen)] * mask[..., None]).reshape(20, 6, -1))
    vector = np.concatenate([*parts, obs["lidar"], head], axis=-1)
    assert vector.shape == (20, 6, 125)
    assert obs["lidar"].shape[-1] == 30
    unmasked = simulate(profile, 20, hider_count=3, seeker_count=3, observation_mode="full")
    full = unmasked.reset(seed=12).obs
    for name in ("others", "boxes", "ramps"):
        mask = obs[f"visible_{name}"] == 1
        assert np.array_equal(full[f"visible_{name}"] == 1, mask)
        assert np.array_equal(full[name][mask], obs[name][mask])
        assert full[name][~mask].any()


@pytest.mark.parametrize("profile", PF)
def test_own_turning_shows_in_the_rates_of_fixed(profile):
    scene = Scene(profile, "hider 0 0 yaw 3.1; hider 0 -5").step({0: AHEAD}).step()
    before = scene.yaw(0)
    scene.step({0: (5, 5, 10, 0, 0), 1: NEUTRAL})
    if profile == "fixed":
        rate = float(wrapped(scene.yaw(0) - before)) / STEP
        assert scene.observed("self", 0)[8] == pytest.approx(rate, abs=1e-2)
    else:
        assert "self" not in scene.outputs.obs
