"""Indoor navigation: motion, sliding, sensors, rewards, success, clocks and depths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from indoor_worlds import (
    ALL,
    EMPTY,
    EXPLORE,
    FLEE,
    FORWARD,
    LEFT,
    POINT_GOAL,
    RIGHT,
    SMALL,
    STEP,
    STOP,
    TURN,
    Make,
    Walk,
    ahead_of,
    line_of,
    measures_of,
    place,
)

from gpu_envs import Simulator
from gpu_envs.players.scripted import Scripted

# ---- motion


@pytest.fixture
def walk(make_simulator) -> Walk:
    """One agent of Flee in an empty room."""
    return Walk(make_simulator, FLEE)


def test_a_full_turn_restores_the_heading(walk: Walk) -> None:
    yaw = walk.yaw
    walk.act(LEFT, 36)
    assert abs(math.remainder(walk.yaw - yaw, 2 * math.pi)) < 1e-4
    walk.act(LEFT)
    walk.act(RIGHT)
    assert abs(math.remainder(walk.yaw - yaw, 2 * math.pi)) < 1e-4


def test_turns_do_not_move_and_are_ten_degrees_to_the_side_they_say(walk: Walk) -> None:
    at, yaw = walk.at, walk.yaw
    walk.act(LEFT)
    assert math.remainder(walk.yaw - yaw, 2 * math.pi) == pytest.approx(TURN, abs=1e-6)
    walk.act(RIGHT, 2)
    assert math.remainder(walk.yaw - yaw, 2 * math.pi) == pytest.approx(-TURN, abs=1e-6)
    assert np.array_equal(walk.at, at)


def test_eight_steps_are_two_metres(walk: Walk) -> None:
    start, yaw = line_of(walk, 2.0)
    walk.again(f"house 0; start {place(start)} {yaw}")
    walk.act(FORWARD, 8)
    assert np.abs(walk.at - ahead_of(start, yaw, 2.0)).max() < 1e-3


def facing_a_wall(walk: Walk) -> tuple[np.ndarray, float]:
    """Return a place at a wall across y, with at least half a metre of it to both sides."""
    for _ in range(100):
        walk.again("house 0")
        at = walk.at
        walk.again(f"house 0; start {place(at)} 0")
        walk.act(FORWARD, 60)
        wall = walk.at
        if wall[1] - at[1] < 0.3 or abs(wall[0] - at[0]) > 1e-4:
            continue
        walk.act(FORWARD)
        sides = []
        for yaw in (math.pi / 2, -math.pi / 2):
            walk.again(f"house 0; start {place(wall - (0, 0.01))} {yaw}")
            walk.act(FORWARD, 2)
            sides.append(abs(walk.at[0] - wall[0]))
        if min(sides) > 0.49:
            return wall, 0.0
    raise AssertionError("no wall")


def test_bodies_slide_along_walls(walk: Walk) -> None:
    wall, _ = facing_a_wall(walk)
    for degrees in (30, 60, -30, 80):
        walk.again(f"house 0; start {place(wall - (0, 0.0005))} {math.radians(degrees)}")
        before = walk.at
        walk.act(FORWARD)
        moved = walk.at - before
        along = -STEP * math.sin(math.radians(degrees))  # to the left is towards -x
        assert moved[0] == pytest.approx(along, abs=2e-4)
        assert abs(moved[1]) < 2e-3
    walk.again(f"house 0; start {place(wall - (0, 0.0005))} 0")
    before = walk.at
    walk.act(FORWARD)
    assert np.abs(walk.at - before).max() < 2e-3


def test_corners_stop_bodies(walk: Walk) -> None:
    walk.again("house 0")
    walk.again(f"house 0; start {place(walk.at)} {math.pi / 4}")
    walk.act(FORWARD, 200)
    corner = walk.at
    walk.act(FORWARD)
    assert np.array_equal(walk.at, corner)
    for action in (LEFT, RIGHT):
        walk.act(action)
        walk.act(FORWARD)
        assert np.array_equal(walk.at, corner)


# ---- PointGoalNav


def goal_walk(make: Make, ahead: float, left: float = 0.0, **options: Any) -> Walk:
    """An agent in the open, with a goal that far away."""
    room = Walk(make, POINT_GOAL, **options)
    start, yaw = line_of(room, 3.0)
    middle = ahead_of(start, yaw, 1.5)
    room.again(
        f"house 0; start {place(middle)} {yaw}; goal {place(ahead_of(middle, yaw, ahead, left))}"
    )
    return room


def sensors(walk: Walk) -> tuple[float, float]:
    row = np.asarray(walk.last.obs).ravel()
    return float(row[0]), float(row[1])


def test_goal_ahead_and_to_the_left(make_simulator) -> None:
    assert sensors(goal_walk(make_simulator, 1.25)) == pytest.approx((1.25, 0.0), abs=1e-4)
    assert sensors(goal_walk(make_simulator, 0.0, 0.25)) == pytest.approx(
        (0.25, math.pi / 2), abs=1e-3
    )
    walk = goal_walk(make_simulator, 1.0)
    walk.act(LEFT)
    assert sensors(walk)[1] == pytest.approx(-TURN, abs=1e-4)
    walk.act(RIGHT, 2)
    assert sensors(walk)[1] == pytest.approx(TURN, abs=1e-4)


def test_example_of_the_definition(make_simulator) -> None:
    """A walk of 6.25 m where 5 m would do, stopped at 0.15 m: SPL 0.8, and 1.99 is paid."""
    walk = goal_walk(make_simulator, 0.15)
    walk.simulator.set("task.walk", 5.0)
    walk.simulator.set("walker.walked", 6.25)
    walk.act(STOP)
    assert walk.reward == pytest.approx(1.99, abs=1e-6)
    found = {name: walk.measure(name) for name in ("success", "spl", "soft_spl")}
    assert found == pytest.approx(
        {"success": 1.0, "spl": 0.8, "soft_spl": (1 - 0.15 / 5) * 0.8}, abs=1e-5
    )
    assert walk.measure("distance_to_goal") == pytest.approx(0.15, abs=1e-5)


def test_an_episode_that_begins_at_its_goal_is_won_by_a_stop(make_simulator) -> None:
    walk = goal_walk(make_simulator, 0.0)
    walk.act(STOP)
    assert walk.measure("success") == walk.measure("spl") == 1
    assert walk.reward == pytest.approx(2.49, abs=1e-6)


@pytest.mark.parametrize(("away", "wins"), [(0.19, True), (0.21, False)])
def test_success_is_a_stop_nearer_than_a_fifth_of_a_metre(
    make_simulator, away: float, wins: bool
) -> None:
    walk = goal_walk(make_simulator, away)
    walk.act(STOP)
    assert walk.is_terminated and not walk.is_truncated
    assert walk.measure("success") == wins
    assert walk.measure("spl") == wins  # it did not walk
    assert walk.reward == pytest.approx(2.49 if wins else -0.01, abs=1e-6)


@pytest.mark.parametrize("bps", [False, True])
def test_who_is_there_as_time_runs_out_has_succeeded_in_bps_alone(
    make_simulator, bps: bool
) -> None:
    walk = goal_walk(make_simulator, 0.1, bps_compatible=bps)
    walk.act(LEFT, 499 if bps else 500)
    assert walk.is_truncated and not walk.is_terminated
    assert walk.measure("success") == walk.measure("spl") == bps
    assert walk.reward == pytest.approx(2.49 if bps else -0.01, abs=1e-6)


def test_who_stops_behind_a_wall_has_failed(make_simulator) -> None:
    options = {**SMALL, "rooms_low": 2, "success_distance": 0.45}
    many = make_simulator(POINT_GOAL, 4096, **{**options, "house_count": 1})
    many.reset(seed=1)
    points = np.stack([many.get("task.x").ravel(), many.get("task.y").ravel()], 1).astype(float)
    gap = np.hypot(*(points[:, np.newaxis] - points[np.newaxis]).transpose(2, 0, 1))
    walk = Walk(make_simulator, POINT_GOAL, **{**options, "house_count": 1})
    for k, other in np.argwhere((gap > 0.33) & (gap < 0.44))[::7]:
        walk.again(f"house 0; start {place(points[k])}; goal {place(points[other])}")
        if walk.get("task.walk") > 1.5:
            walk.act(STOP)
            assert sensors(walk)[0] < 0.45
            assert walk.measure("success") == 0
            return
    raise AssertionError("no two places on both sides of a wall")


def test_rewards_add_up_to_what_the_follower_came_nearer(make_simulator) -> None:
    worlds = 64
    simulator = make_simulator(POINT_GOAL, worlds, **SMALL, autoreset_mode="SameStep")
    results = simulator.reset(seed=3)
    walks = simulator.get("task.walk").ravel().astype(float)
    player = Scripted(simulator, simulator.roles[0])
    total, steps, done = np.zeros(worlds), np.zeros(worlds), np.zeros(worlds, bool)
    ends: dict[str, np.ndarray] = {}
    for _ in range(500):
        results = simulator.step(player.see(results))
        running = ~done
        total[running] += np.asarray(results.reward).ravel()[running]
        steps[running] += 1
        over = np.asarray(results.terminated).ravel().astype(bool) & running
        for name, values in measures_of(simulator, results).items():
            ends.setdefault(name, np.zeros(worlds))[over] = values.ravel()[over]
        done |= over
        if done.all():
            break
    assert done.all()
    assert ends["success"].mean() > 0.99
    meant = walks - ends["distance_to_goal"] - 0.01 * steps + 2.5 * ends["spl"]
    assert np.abs(total - meant).max() < 1e-3
    assert ends["spl"].mean() > 0.93


# ---- clocks, Flee, Explore


@pytest.mark.parametrize("game", ALL)
@pytest.mark.parametrize("bps", [False, True])
def test_episodes_are_cut_short(make_simulator, game: str, bps: bool) -> None:
    walk = Walk(make_simulator, game, bps_compatible=bps)
    steps = 499 if bps else 500
    walk.act(RIGHT, steps - 1)
    assert not walk.is_truncated and not walk.is_terminated
    walk.act(RIGHT)
    assert walk.is_truncated and not walk.is_terminated


@pytest.mark.parametrize("game", ALL)
@pytest.mark.parametrize("bps", [False, True])
def test_a_stop_in_the_last_step_is_both(make_simulator, game: str, bps: bool) -> None:
    walk = Walk(make_simulator, game, bps_compatible=bps)
    walk.act(RIGHT, (499 if bps else 500) - 1)
    walk.act(STOP)
    assert walk.is_truncated and walk.is_terminated


@pytest.mark.parametrize("game", ALL)
def test_stop_ends_the_episode(make_simulator, game: str) -> None:
    walk = Walk(make_simulator, game)
    walk.act(STOP)
    assert walk.is_terminated and not walk.is_truncated


def test_who_comes_back_has_not_fled(walk: Walk) -> None:
    start, yaw = line_of(walk, 2.0)
    walk.again(f"house 0; start {place(start)} {yaw}")
    walk.act(FORWARD, 4)
    assert walk.total == pytest.approx(1.0, abs=1e-4)
    walk.act(LEFT, 18)
    assert walk.total == pytest.approx(1.0, abs=1e-4)
    walk.act(FORWARD, 4)
    walk.act(STOP)
    assert walk.total == pytest.approx(0.0, abs=1e-3)
    assert walk.measure("distance_fled") == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("rooms", "clutter"), [(4, 0.35), (9, 0.0)])
def test_returns_are_the_last_distance_and_no_more_than_a_house_allows(
    make_simulator, rooms: int, clutter: float
) -> None:
    worlds = 96
    form = {**SMALL, "house_count": 6, "rooms_high": rooms, "clutter_high": clutter}
    form["clutter_low"] = min(clutter, 0.1)
    simulator = make_simulator(FLEE, worlds, **form, autoreset_mode="SameStep")
    results = simulator.reset(seed=2)
    farthest = simulator.get("task.walk").ravel()
    player = Scripted(simulator, simulator.roles[0])
    random = np.random.default_rng(1)
    total, done, away = np.zeros(worlds), np.zeros(worlds, bool), np.zeros(worlds)
    for _ in range(500):
        actions = np.asarray(player.see(results)).reshape(worlds, -1)
        strays = (random.random(worlds) < 0.1)[:, np.newaxis]
        actions = np.where(strays, random.integers(1, 4, (worlds, 1)), actions)
        results = simulator.step(actions)
        total[~done] += np.asarray(results.reward).ravel()[~done]
        over = np.asarray(results.terminated | results.truncated).ravel().astype(bool) & ~done
        ends = measures_of(simulator, results)
        away[over] = ends["distance_fled"].ravel()[over]
        assert np.array_equal(ends["farthest"].ravel()[over], farthest[over])
        done |= over
        # Ends along edges are half a metre apart.
        assert (np.asarray(results.state)[:, 8] <= farthest + 0.25)[~done].all()
        if done.all():
            break
    assert done.all()
    assert np.abs(total - away).max() < 1e-3
    assert (away[away > 0] / farthest[away > 0]).mean() > 0.9


def test_cells_of_a_walk_across_the_start(make_simulator) -> None:
    walk = Walk(make_simulator, EXPLORE)
    start, yaw = line_of(walk, 3.0)
    middle = ahead_of(start, yaw, 1.5)
    walk.again(f"house 0; start {place(middle)} {yaw}")
    counts = []

    def go(action: int, times: int) -> None:
        walk.act(action, times)
        counts.append((walk.get("walker.cells"), round(walk.total / 0.25, 6)))

    go(FORWARD, 3)  # 0.75
    go(FORWARD, 2)  # 1.25
    go(LEFT, 18)
    go(FORWARD, 8)  # -0.75
    go(FORWARD, 2)  # -1.25
    go(RIGHT, 18)
    go(FORWARD, 9)  # 1.0, which is as far as it has been
    assert counts == [(0, 0), (1, 1), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2)]
    walk.act(STOP)
    assert walk.measure("cells") == 2


def floor_of(simulator: Simulator, house: int) -> np.ndarray:
    """Return the ends of the rectangles of a house's floor: low_x, low_y, high_x, high_y."""
    assets = simulator.assets()
    row = assets["houses"][house]
    spots = assets["spots"][row["spots"] :][: row["spot_count"]]
    return np.stack([spots[n] for n in ("low_x", "low_y", "high_x", "high_y")], 1).astype(float)


def test_nobody_comes_to_more_cells_than_the_floor_has(make_simulator) -> None:
    worlds, steps = 64, 500
    form = {**SMALL, "house_count": 8, "rooms_high": 4, "autoreset_mode": "Disabled"}
    simulator = make_simulator(EXPLORE, worlds, **form)
    simulator.reset(seed=5)
    most = simulator.get("task.cells").ravel()
    floors = [floor_of(simulator, int(house)) for house in simulator.get("task.house").ravel()]
    # Points of a fine grid miss slivers of cells alone.
    names = ("task.start_x", "task.start_y", "task.start_yaw")
    for k, (x, y, yaw) in enumerate(zip(*(simulator.get(n).ravel() for n in names), strict=True)):
        cells = set()
        for low_x, low_y, high_x, high_y in floors[k]:
            along, across = np.linspace(low_x, high_x, 60), np.linspace(low_y, high_y, 60)
            dx, dy = np.meshgrid(along - x, across - y)
            u, v = dy * math.cos(yaw) - dx * math.sin(yaw), dx * math.cos(yaw) + dy * math.sin(yaw)
            cells |= set(zip(np.trunc(u).ravel(), np.trunc(v).ravel(), strict=True))
        assert 0 <= most[k] - (len(cells) - 1) <= 3
    # Agents that are put anywhere on the floor come to most of them, and to no more.
    random = np.random.default_rng(3)
    areas = [np.prod(floor[:, 2:] - floor[:, :2], axis=1) for floor in floors]
    spots = [random.choice(len(area), steps, p=area / area.sum()) for area in areas]
    for step in range(steps - 1):
        ends = np.stack([f[spots[k][step]] for k, f in enumerate(floors)])
        at = ends[:, :2] + (ends[:, 2:] - ends[:, :2]) * random.random((worlds, 2))
        for axis in range(2):
            simulator.set(f"walker.{'xy'[axis]}", at[:, axis : axis + 1].astype(np.float32))
        simulator.step(np.full((worlds, 1), LEFT))
    last = measures_of(simulator, simulator.step(np.full((worlds, 1), STOP)))
    assert np.array_equal(last["most"].ravel(), most)
    assert (last["cells"].ravel() <= most).all()
    assert (last["cells"].ravel() / most).mean() > 0.8


# ---- depths


def depths(walk: Walk) -> np.ndarray:
    return np.asarray(walk.last.obs).reshape(16, 16)


def test_depths_of_a_wall_are_alike_in_all_pixels(make_simulator) -> None:
    look = {"observation": "depth", "resolution": "16x16", "hfov": 20.0}
    walk = Walk(make_simulator, FLEE, **look)
    wall, _ = facing_a_wall(walk)
    walk.again(f"house 0; start {place(wall - (0, 0.2))} 0")
    seen = depths(walk)
    assert seen.max() - seen.min() < 1e-4
    far = float(seen[0, 0])
    # Bodies keep away from walls by 26 / 256 m; windows hang 16 mm before them.
    assert -0.0185 < far - (0.2 + 26 / 256) < 0.002
    shares = Walk(make_simulator, FLEE, **look, depth_limit=10.0, normalize_depth=True)
    shares.again(f"house 0; start {place(wall - (0, 0.2))} 0")
    assert np.abs(depths(shares) - far / 10).max() < 1e-6
    cut = Walk(make_simulator, FLEE, **look, depth_limit=0.25)
    cut.again(f"house 0; start {place(wall - (0, 0.2))} 0")
    assert np.all(depths(cut) == 0.25)


@pytest.mark.parametrize("game", ALL)
def test_pictures_show_nothing_but_the_house(make_simulator, game: str) -> None:
    options = {**EMPTY, "observation": "rgb+depth+segmentation", "resolution": "16x16"}
    results = make_simulator(game, 16, **options).reset(seed=1)
    depth, parts = (np.asarray(results.obs[name]) for name in ("depth", "segmentation"))
    assert (depth > 0.05).all() and (depth < 20).all()  # closed on all sides
    assert (parts > 0).all() and (parts <= 4).all()
    assert np.asarray(results.obs["rgb"]).max() > 60
