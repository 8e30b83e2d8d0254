"""Indoor navigation: which episodes there are, in which houses, and that nothing else matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from indoor_worlds import ALL, EXPLORE, FLEE, POINT_GOAL, SMALL, Array, Walk, place

from gpu_envs import Simulator


def episodes(simulator: Simulator, seeds: range) -> dict[str, Array]:
    """Return starts, goals, walks and headings of the episodes of some seeds."""
    found: dict[str, list[Array]] = {name: [] for name in ("start", "goal", "walk", "yaw", "house")}
    for seed in seeds:
        simulator.reset(seed=seed)
        get = simulator.get
        found["start"].append(np.concatenate([get("walker.x"), get("walker.y")], 1))
        found["goal"].append(np.concatenate([get("task.x"), get("task.y")], 1))
        found["walk"].append(get("task.walk").ravel())
        found["yaw"].append(get("walker.yaw").ravel())
        found["house"].append(get("task.house").ravel())
    return {name: np.concatenate(parts).astype(float) for name, parts in found.items()}


def kept_share(ratio: Array) -> Array:
    """Return the probability with which an episode of a ratio of walk and flight is kept."""
    return np.where(ratio < 1.1, np.minimum(20 * (ratio - 0.98) ** 2, 1), 1.0)


def test_episodes_are_as_long_and_as_straight_as_habitat_draws_them(make_simulator) -> None:
    options = {"house_count": 4, "observation": "numbers", "rooms_low": 4, "rooms_high": 6}
    many = make_simulator(POINT_GOAL, 4096, **options)
    drawn = episodes(many, range(25))  # 1e5
    flight = np.hypot(*(drawn["start"] - drawn["goal"]).T)
    ratio = drawn["walk"] / flight
    assert (drawn["walk"] >= flight - 1e-4).all()
    assert (drawn["walk"] <= 30).all()
    assert (drawn["walk"] >= 1).mean() > 0.999  # ten tries may all fail
    # Headings and houses are drawn evenly.
    for values, bins in (
        ((drawn["yaw"] + np.pi) / (2 * np.pi), 16),
        (drawn["house"] / options["house_count"], 4),
    ):
        counts = np.bincount((values * bins).astype(int), minlength=bins)
        assert len(counts) == bins
        assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 45
    # Each goal has a start of its own: of all starts in its house, those that the filter keeps.
    walk = Walk(make_simulator, POINT_GOAL, **options)
    random = np.random.default_rng(2)
    edges = [0.99, 1.0002, 1.01, 1.03, 1.06, 1.1, 1.2, 1.4, 1.8, 2.5, 1e9]
    shares, before = [], []
    for house in np.repeat(range(options["house_count"]), 40):
        goals = drawn["goal"][drawn["house"] == house]
        goal = goals[random.integers(len(goals))]
        found = []
        for start in goals[random.integers(0, len(goals), 40)]:
            walk.again(f"house {house}; start {place(start)}; goal {place(goal)}")
            far = float(walk.get("task.walk"))
            if 1 <= far <= 30:
                found.append(far / float(np.hypot(*(start - goal))))
        kept = np.histogram(found, edges, weights=kept_share(np.array(found)))[0]
        shares.append(kept / kept.sum())
        before.append(np.histogram(found, edges)[0] / len(found))
    meant, error = np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(len(shares))
    got = np.histogram(ratio, edges)[0] / len(ratio)
    # The share of straight ones follows from few pairs; 1e-3 stands for what their error misses.
    assert (((got - meant) / (error + 1e-3)) ** 2).sum() < 40
    assert got[0] < 0.1 * np.mean(before, axis=0)[0]  # straight ones are rare


def test_no_episode_is_longer_than_it_may_be(make_simulator) -> None:
    options = {"house_count": 8, "observation": "numbers", "rooms_low": 12, "rooms_high": 12}
    drawn = episodes(make_simulator(POINT_GOAL, 4096, **options), range(12))
    assert ((drawn["walk"] >= 1) & (drawn["walk"] <= 30)).all()
    assert drawn["walk"].max() > 20


def run(simulator: Simulator, steps: int, worlds: Any) -> list[bytes]:
    """Return what some worlds have shown and hold, each step."""
    random = np.random.default_rng(4)
    moves = random.integers(0, 40, (steps, 64))
    moves = np.where(moves == 0, 0, 1 + moves % 3)  # few stops
    results = simulator.reset(seed=11)
    shown = []
    for step in range(steps):
        results = simulator.step(moves[step, : simulator.num_worlds, np.newaxis])
        pictures = results.obs["depth"], results.obs["rgb"]
        arrays = (*pictures, results.reward, results.terminated, results.state)
        shown.append(
            b"".join(np.ascontiguousarray(np.asarray(a)[worlds]).tobytes() for a in arrays)
        )
        if step % 50 == 49:
            names = ("walker.x", "walker.yaw", "task.house", "trail.x")
            shown.append(b"".join(simulator.get(name)[worlds].tobytes() for name in names))
    return shown


@pytest.mark.parametrize("game", ALL)
def test_worlds_are_the_same_alone_and_among_others(make_simulator, game: str) -> None:
    options = {
        **SMALL,
        "house_count": 3,
        "observation": "depth+rgb+numbers",
        "resolution": "7x11",
    }
    many = run(make_simulator(game, 64, **options), 1000, slice(0, 3))
    assert many == run(make_simulator(game, 3, **options), 1000, slice(0, 3))
    assert len(set(many)) > 900  # something happens


@pytest.mark.parametrize("game", ALL)
def test_no_house_changes_within_an_episode_and_all_are_drawn(make_simulator, game: str) -> None:
    simulator = make_simulator(game, 32, **{**SMALL, "house_count": 5}, max_episode_steps=20)
    simulator.reset(seed=1)
    seen: set[int] = set()
    last = simulator.get("task.house").ravel()
    random = np.random.default_rng(1)
    changes = 0
    for _ in range(200):
        results = simulator.step(random.integers(1, 4, (32, 1)))
        ended = np.asarray(results.truncated).ravel().astype(bool)
        now = simulator.get("task.house").ravel()
        assert np.array_equal(now[~ended], last[~ended])
        changes += int((now != last).sum())
        seen |= set(now.tolist())
        last = now
    assert seen == set(range(5)) and changes > 100


def triangles_of(simulator: Simulator, house: int) -> bytes:
    assets = simulator.assets()
    row = assets["houses"][house]
    return bytes(assets["triangles"][row["triangles"] :][: row["triangle_count"]].tobytes())


def test_houses_depend_on_their_number_alone_and_no_split_shares_one(make_simulator) -> None:
    first = make_simulator(FLEE, 1, **{**SMALL, "house_count": 6})
    later = make_simulator(FLEE, 1, **{**SMALL, "house_count": 2}, first_house=3)
    assert triangles_of(first, 3) == triangles_of(later, 0)
    assert triangles_of(first, 4) == triangles_of(later, 1)
    made = [triangles_of(first, house) for house in range(6)]
    for split in ("validation", "test"):
        other = make_simulator(FLEE, 1, **{**SMALL, "house_count": 6}, split=split)
        made += [triangles_of(other, house) for house in range(6)]
    assert len(set(made)) == 18


def test_assets_are_copies_and_other_environments_may_have_none(make_simulator) -> None:
    simulator = make_simulator(EXPLORE, 1, **SMALL)
    assets = simulator.assets()
    assets["triangles"]["a"] = 0
    assert np.abs(simulator.assets()["triangles"]["a"]).max() > 1
    assert assets["block_items"].dtype == np.uint16
    assert make_simulator("CartPole-v0", 1).assets() == {}
    simulator.close()
    with pytest.raises(RuntimeError, match="closed"):
        simulator.assets()


def test_an_episode_by_hand_is_what_it_says_and_the_next_is_drawn(make_simulator) -> None:
    options = {**SMALL, "house_count": 4, "autoreset_mode": "SameStep"}
    simulator = make_simulator(POINT_GOAL, 8, **options)
    simulator.reset(seed=1)
    at = [float(simulator.get(f"walker.{axis}")[2, 0]) for axis in "xy"]
    goal = [float(simulator.get(f"task.{axis}")[2, 0]) for axis in "xy"]
    house = int(simulator.get("task.house")[2, 0])
    text = (
        f"house {house}\nstart {at[0]!r} {at[1]!r} 0.5\n# a comment\ngoal {goal[0]!r} {goal[1]!r}"
    )
    mask = np.arange(8) % 2 == 0
    before = simulator.get("walker.x")
    simulator.reset(options={"layout": text, "reset_mask": mask})
    for name, value in (("walker.x", at[0]), ("walker.yaw", 0.5), ("task.x", goal[0])):
        assert (simulator.get(name).ravel()[mask] == np.float32(value)).all()
    assert (simulator.get("task.house").ravel()[mask] == house).all()
    assert np.array_equal(simulator.get("walker.x")[~mask], before[~mask])
    simulator.step(np.zeros((8, 1), int))  # all stop
    assert len(set(simulator.get("walker.x").ravel().tolist())) == 8
    simulator.reset(options={"layout": f"house {house}"})
    assert (simulator.get("task.house") == house).all()
    assert len(set(simulator.get("task.x").ravel().tolist())) == 8
