"""HideSeek: statistics of 20,000 drawn levels of each profile, and that levels are reproducible."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.envs.hide_seek_scenes import Array, overlap_depth

pytestmark = pytest.mark.xdist_group("hide_seek_levels")  # they are drawn once
WORLDS = 20000
AGENTS, BOXES, RAMPS = slice(0, 5), slice(5, 14), slice(14, 16)
LONG, CUBE, RAMP, AGENT = "long", "cube", "ramp", "agent"
KINDS = ("wall", "plane", CUBE, LONG, RAMP, AGENT)
SEEN = ("visible_others", "visible_boxes", "visible_ramps")


class Levels:
    """What was drawn, as arrays over worlds and rows."""

    def __init__(self, profile: str) -> None:
        simulator = Simulator("HideSeek-v0", WORLDS, device="cpu", profile=profile)
        outputs = simulator.reset(seed=11)
        self.profile = profile
        self.obs = self.fields(simulator, outputs.obs)
        self.parameters = simulator.parameters
        self.at = simulator.get("bodies.position")[:, :16].astype(np.float64)
        turn = simulator.get("bodies.orientation")[:, :16].astype(np.float64)
        self.yaw = 2 * np.arctan2(turn[..., 3], turn[..., 0])
        self.is_there = simulator.get("bodies.state")[:, :16] & 1 != 0
        self.kind = simulator.get("bodies.kind")[:, :16]
        self.segments = simulator.get("match.segment_count").reshape(-1)
        self.walls = simulator.get("match.wall_count").reshape(-1)
        self.dropped = simulator.get("match.dropped").reshape(-1)
        self.centre = simulator.get("statics.centre").astype(np.float64)
        self.half = simulator.get("statics.half").astype(np.float64)
        self.is_wall = np.arange(self.centre.shape[1]) < self.walls[:, None]
        simulator.close()

    @staticmethod
    def fields(simulator: Simulator, obs: Array) -> dict[str, Array]:
        found, first = {}, 0
        for field in simulator.observation_fields:
            found[field.name] = obs[..., first : first + field.size].reshape(
                *obs.shape[:2], *field.shape
            )
            first += field.size
        return found

    def boxes(self) -> Array:
        return self.is_there[:, BOXES].sum(1)

    def long_boxes(self) -> Array:
        # The first box is long in every level.
        return (self.is_there & (self.kind == self.kind[0, BOXES.start]))[:, BOXES].sum(1)

    def halves(self) -> Array:
        """Half extents of each row on the floor; of a ramp, of its footprint."""
        p = self.parameters
        half = np.full((*self.kind.shape, 2), 0.5 * p["agent_size"])
        half[:, BOXES] = 0.5 * p["box_size"]
        is_long = self.kind == self.kind[0, BOXES.start]
        half[is_long] = 0.5 * p["long_length"], 0.5 * p["long_width"]
        half[:, RAMPS] = 0.5 * p["ramp_width"], 0.5 * p["ramp_run"]
        return half

    def middles(self) -> Array:
        """Centres of footprints: a ramp's origin is a sixth of its run ahead of its middle."""
        middle = self.at[..., :2].copy()
        back = self.parameters["ramp_run"] / 6
        yaw = self.yaw[:, RAMPS]
        middle[:, RAMPS] -= back * np.stack([-np.sin(yaw), np.cos(yaw)], -1)
        return middle


@pytest.fixture(scope="module")
def drawn() -> Iterator[dict[str, Levels]]:
    yield {profile: Levels(profile) for profile in ("fixed", "port", "openai")}


BOTH = pytest.mark.parametrize("profile", ["fixed", "port"])
ALL = pytest.mark.parametrize("profile", ["fixed", "port", "openai"])


def overlapping(levels: Levels, rows: list[tuple[int, int]], walls: bool) -> Array:
    """Worlds in which two of these rows, or (with `walls`) a row and a wall, overlap by 1 mm."""
    at, half, yaw = levels.middles(), levels.halves(), levels.yaw.copy()
    if levels.profile == "openai":  # agents are round
        yaw[:, AGENTS] = 0
    is_there = levels.is_there
    found = np.zeros(WORLDS, bool)

    def check(row: int, near: Array, other: tuple[Array, Array, Array]) -> None:
        mine = at[near, row], yaw[near, row], half[near, row]
        found[near] |= overlap_depth(*mine, *other) > 1e-3

    for a, b in rows:
        reach = np.hypot(*half[:, a].T) + np.hypot(*half[:, b].T)
        apart = np.hypot(*(at[:, a] - at[:, b]).T)
        near = np.flatnonzero((apart < reach) & is_there[:, a] & is_there[:, b])
        check(a, near, (at[near, b], yaw[near, b], half[near, b]))
    for k in range(levels.walls.max() if walls else 0):
        centre, size = levels.centre[:, k, :2], levels.half[:, k, :2]
        for row in sorted({row for pair in rows for row in pair}):
            reach = np.hypot(*half[:, row].T)[:, None]
            meets = (np.abs(at[:, row] - centre) < size + reach).all(1)
            near = np.flatnonzero(meets & is_there[:, row] & levels.is_wall[:, k])
            check(row, near, (centre[near], np.zeros(len(near)), size[near]))
    return found


def pairs_of(first: slice, second: slice) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a in range(first.start, first.stop)
        for b in range(second.start, second.stop)
        if a < b
    ]


def chi_square(counts: Array, shares: Array) -> float:
    expected = counts.sum() * shares
    return float(np.sum((counts - expected) ** 2 / expected))


@BOTH
def test_counts_of_drawn_objects_are_uniform(drawn: dict[str, Levels], profile: str) -> None:
    levels = drawn[profile]
    if profile == "fixed":  # objects without a place are left out: in few levels
        assert (levels.dropped > 0).mean() < 0.005
    whole = levels.dropped == 0
    boxes, long_boxes = levels.boxes()[whole], levels.long_boxes()[whole]
    counts = np.bincount(boxes, minlength=9)
    assert counts[:3].sum() == 0 and len(counts) == 9
    assert chi_square(counts[3:], np.full(6, 1 / 6)) < 20.5  # p = 1e-3 with 5 degrees of freedom
    assert (long_boxes[boxes == 3] == 3).all()
    for n in range(4, 9):
        long_counts = np.bincount(long_boxes[boxes == n], minlength=n)
        assert long_counts[:3].sum() == 0 and len(long_counts) == n
        if n > 4:
            limit = {2: 13.8, 3: 16.3, 4: 18.5, 5: 20.5}[n - 3]
            assert chi_square(long_counts[3:], np.full(n - 3, 1 / (n - 3))) < limit
    assert (levels.is_there[whole][:, RAMPS]).all()
    assert levels.is_there[:, AGENTS].all()


def test_counts_of_objects_of_the_original_are_uniform(drawn: dict[str, Levels]) -> None:
    levels = drawn["openai"]
    whole = levels.dropped == 0
    assert whole.mean() > 0.99
    boxes, long_boxes = levels.boxes()[whole], levels.long_boxes()[whole]
    assert chi_square(np.bincount(boxes, minlength=10)[3:], np.full(7, 1 / 7)) < 22.5
    assert (long_boxes >= 3).all() and (long_boxes == boxes).any()
    assert levels.is_there[whole][:, RAMPS].all()


@BOTH
def test_wall_segments_are_as_many_as_in_the_source(drawn: dict[str, Levels], profile: str) -> None:
    segments = drawn[profile].segments
    assert segments.min() >= 4 and segments.max() <= 30
    assert abs(segments.mean() - 14.9) < 0.15


def sides_with_a_gap(levels: Levels) -> Array:
    """Return how many of the four outer sides of each world are not closed."""
    edge = 0.5 * levels.parameters["arena_size"]
    open_sides = np.zeros(WORLDS, int)
    for axis in (0, 1):
        for side in (-edge, edge):
            on = levels.is_wall & (np.abs(levels.centre[..., axis] - side) < 1e-3)
            on &= levels.half[..., axis] < levels.half[..., 1 - axis]
            length = 2 * (levels.half[..., 1 - axis] * on).sum(1)
            open_sides += length < 2 * edge - 1e-2
    return open_sides


@BOTH
def test_perimeters_have_gaps_as_often_as_in_the_source(
    drawn: dict[str, Levels], profile: str
) -> None:
    open_sides = sides_with_a_gap(drawn[profile])
    assert abs((open_sides > 0).mean() - 0.805) < 0.015
    shares = np.bincount(open_sides, minlength=5) / WORLDS
    np.testing.assert_allclose(shares, [0.195, 0.437, 0.278, 0.080, 0.010], atol=0.015)


def test_objects_of_port_overlap_as_often_as_in_the_source(drawn: dict[str, Levels]) -> None:
    levels = drawn["port"]
    agents = overlapping(levels, pairs_of(AGENTS, AGENTS), walls=False)
    assert abs(agents.mean() - 0.20) < 0.012
    everything = overlapping(levels, pairs_of(slice(0, 16), slice(0, 16)), walls=True)
    assert abs(everything.mean() - 0.2185) < 0.0145


@pytest.mark.parametrize("profile", ["fixed", "openai"])
def test_objects_of_fixed_and_openai_never_overlap(drawn: dict[str, Levels], profile: str) -> None:
    found = overlapping(drawn[profile], pairs_of(slice(0, 16), slice(0, 16)), walls=True)
    assert not found.any(), np.flatnonzero(found)[:10]


def test_yaws_of_fixed_cover_the_whole_circle(drawn: dict[str, Levels]) -> None:
    levels = drawn["fixed"]
    for rows in (AGENTS, BOXES, RAMPS):
        yaw = levels.yaw[:, rows][levels.is_there[:, rows]] % (2 * np.pi)
        counts, _ = np.histogram(yaw, bins=8, range=(0, 2 * np.pi))
        assert counts.sum() == yaw.size
        # Lengthwise boxes fit a little better along the walls; agents show no direction.
        tolerance = 0.03 if rows == AGENTS else 0.12
        np.testing.assert_allclose(counts / yaw.size, 1 / 8, rtol=tolerance)
    half_turns = drawn["port"].yaw[:, AGENTS] % (2 * np.pi)
    assert half_turns.max() < np.pi + 1e-5 and abs(half_turns.mean() - np.pi / 2) < 0.02


@BOTH
def test_positions_are_uniform_over_the_arena(drawn: dict[str, Levels], profile: str) -> None:
    levels = drawn[profile]
    # A ramp's centre of mass is not its middle; where all ramps face one way, that side has more.
    for rows in (AGENTS, BOXES, RAMPS) if profile == "fixed" else (AGENTS, BOXES):
        at = levels.at[:, rows, :2][levels.is_there[:, rows]]
        assert np.abs(at.mean(0)).max() < 0.1
        assert at.min() >= -18 and at.max() < 18
    assert (levels.at[:, AGENTS, 2] == 1).all()  # on the floor
    agents = levels.at[:, AGENTS, :2].reshape(-1, 2)
    counts, _ = np.histogram(agents[:, 0], bins=6, range=(-18, 18))
    np.testing.assert_allclose(counts / counts.sum(), 1 / 6, rtol=0.15)


def test_first_sights_of_port_are_as_frequent_as_in_the_source(drawn: dict[str, Levels]) -> None:
    levels = drawn["port"]
    others, boxes, ramps = (levels.obs[name] != 0 for name in SEEN)
    # Seekers are agents 3 and 4; their others begin with the three hiders. The tolerances are a
    # half wider than sampling asks: the figures are of another program's levels.
    assert abs(others[:, 3:, :3].any((1, 2)).mean() - 0.52) < 0.02
    assert abs(others.mean() - 0.125) < 0.006
    there = np.broadcast_to(levels.is_there[:, None, BOXES], boxes.shape)
    assert abs(boxes[there].mean() - 0.133) < 0.006
    assert not boxes[~there].any()
    assert abs(ramps.mean() - 0.121) < 0.005


def test_first_lidar_of_port_measures_as_in_the_source(drawn: dict[str, Levels]) -> None:
    lidar = drawn["port"].obs["lidar"]
    hits = lidar[lidar > 0]
    assert abs((lidar == 0).mean() - 0.033) < 0.003
    assert 6.0 < np.median(hits) < 6.7 and 7.9 < hits.mean() < 8.5
    expected = [1.81, 3.70, 6.45, 11.1, 20.9]
    np.testing.assert_allclose(np.percentile(hits, [5, 25, 50, 75, 95]), expected, rtol=0.04)


def gaps_of(levels: Levels, world: int) -> list[float]:
    """Widths of the openings between walls of one line."""
    count = levels.walls[world]
    centre, half = levels.centre[world, :count, :2], levels.half[world, :count, :2]
    gaps: list[float] = []
    for axis in (0, 1):
        along = 1 - axis
        mine = half[:, axis] < half[:, along]
        for line in np.unique(np.round(centre[mine, axis], 3)):
            on = mine & (np.abs(centre[:, axis] - line) < 2e-3)
            ends = sorted(
                (c - h, c + h) for c, h in zip(centre[on, along], half[on, along], strict=True)
            )
            gaps += [b[0] - a[1] for a, b in itertools.pairwise(ends)]
    return gaps


@ALL
def test_walls_have_the_sizes_and_doors_of_their_profile(
    drawn: dict[str, Levels], profile: str
) -> None:
    levels = drawn[profile]
    height, thickness = {"fixed": (2.0, 0.4), "port": (2.5, 0.4), "openai": (0.5, 0.1)}[profile]
    doors = {"openai": [0.4]}.get(profile, [3.6, 7.2])
    half, centre = levels.half[levels.is_wall], levels.centre[levels.is_wall]
    across = half[:, :2].min(1)
    is_short = half[:, :2].max(1) < 0.51 * thickness  # stubs shorter than they are thick
    np.testing.assert_allclose(across[~is_short], 0.5 * thickness, rtol=1e-6)
    edge = 0.5 * levels.parameters["arena_size"]
    is_outer = np.abs(np.abs(centre[:, :2]).max(1) - edge) < 1e-3
    outer_height = 4.0 if profile == "openai" else height
    heights = np.where(is_outer, outer_height, height)
    np.testing.assert_allclose(2 * half[:, 2], heights, rtol=1e-6)
    np.testing.assert_allclose(centre[:, 2], half[:, 2], rtol=1e-6)  # from the floor up
    gaps = np.concatenate([gaps_of(levels, world) for world in range(2000)])
    is_door = np.min(np.abs(gaps[:, None] - np.array(doors)), axis=1) < 1e-3
    assert is_door.mean() > 0.97
    assert gaps.min() > min(doors) - 1e-3  # and no two walls continue each other


@ALL
def test_levels_depend_on_seed_world_and_episode_alone(profile: str) -> None:
    columns = ("bodies.position", "bodies.orientation", "bodies.state", "statics.centre")

    def drawn_by(worlds: int, first: int, seed: int, resets: int, **how: Any) -> list[Array]:
        simulator = Simulator(
            "HideSeek-v0", worlds, device="cpu", profile=profile, first_world=first, **how
        )
        simulator.reset(seed=seed)
        for _ in range(resets):
            simulator.reset()
        found = [simulator.get(column) for column in columns]
        simulator.close()
        return found

    for resets in (0, 2):
        many = drawn_by(300, 0, 5, resets)
        for few in (drawn_by(40, 100, 5, resets, threads=1), drawn_by(40, 100, 5, resets)):
            for a, b in zip(many, few, strict=True):
                np.testing.assert_array_equal(a[100:140].view(np.uint8), b.view(np.uint8))
        assert not np.array_equal(many[0], drawn_by(300, 0, 6, resets)[0])
    assert not np.array_equal(many[0], drawn_by(300, 0, 5, 1)[0])
    assert len(np.unique(many[0][:, 0, 0])) > 290
