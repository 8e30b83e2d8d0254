"""Worlds of voxel games, laid out by hand, and agents who are spoken to by letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

HEADS = ("fb", "lr", "LR", "ud", "j", "i")
HEAD_SIZES = (3, 3, 3, 3, 2, 2)
TINY = {"resolution": "3x4"}
GROUND = "floor 0 0 0 20 30 0; "
RESTING = 1.855  # height of a body's middle on the floor of cell z = 1 [m]
RADIUS = 0.33  # of a body [m]
PRESS = 0.042  # how deep bodies may be in what they touch [m]


def action(letters: str) -> list[int]:
    """What f, b (forward, backward), l, r (strafe), L, R (turn), u, d (look), j and i ask for."""
    return [next((k + 1 for k, v in enumerate(values) if v in letters), 0) for values in HEADS]


def random_actions(random: np.random.Generator, *shape: int) -> Array:
    return random.integers(0, HEAD_SIZES, (*shape, len(HEADS)))


class Playground:
    """One world of a game, laid out by hand, or drawn where there is no layout."""

    def __init__(self, make: Make, game: str, layout: str = "", **options: Any) -> None:
        agents = max(layout.count("agent "), 1)
        options = {**TINY, "agent_count": agents, **options}
        self.simulator = make(game, 1, **options)
        given = {"layout": layout} if layout else None
        self.last = self.simulator.reset(seed=1, options=given)
        self.total = np.zeros(self.last.reward_parts.shape[1:])

    def act(self, words: str, times: int = 1) -> Any:
        """Everybody by words between blanks, "-" for who does nothing; one word: all the same."""
        each = words.split()
        agents = self.simulator.agents_per_world
        actions = [action(each[k % len(each)]) for k in range(agents)]
        for _ in range(times):
            self.last = self.simulator.step(np.array([actions]))
            self.total += self.last.reward_parts[0]
        return self.last

    def get(self, column: str, row: int = 0) -> Any:
        return self.simulator.get(column)[0, row]

    def reset(self, seed: int) -> None:
        """Draw a level."""
        self.last = self.simulator.reset(seed=seed)
        self.total[:] = 0

    def put(self, column: str, row: int, value: Any) -> None:
        """Set one row of a column."""
        values = self.simulator.get(column)
        values[0, row] = value
        self.simulator.set(column, values)

    def at(self, agent: int = 0) -> Array:
        place: Array = self.get("agents.position", agent)
        return place

    def box(self, row: int = 0) -> tuple[int, ...] | None:
        """The cell of a box, None while it is carried."""
        if self.get("crates.carrier", row) >= 0:
            return None
        return tuple(self.get("crates.cell", row).tolist())

    def stand(self, x: float, y: float, yaw: float = 0.0, feet: float = 1.0) -> None:
        """Put agent 0 somewhere, at rest."""
        self.put("agents.position", 0, (x, y, feet + RESTING - 1))
        self.put("agents.velocity", 0, (0, 0))
        self.put("agents.climb", 0, 0)
        self.put("agents.yaw", 0, yaw)
        self.put("agents.grounded", 0, 1)

    @property
    def paid(self) -> Array:
        """The rewards of the last step, by agent."""
        rewards: Array = self.last.reward[0]
        return rewards

    @property
    def parts(self) -> Array:
        """Parts of the rewards of the last step, by agent."""
        return np.asarray(self.last.reward_parts[0])

    @property
    def is_over(self) -> bool:
        return bool(self.last.terminated.any())


# ---- what holds in every world


def distances(at: Array) -> Array:
    """Between the middle segments of bodies, (worlds, agents, agents); infinite to oneself."""
    gap = np.abs(at[:, :, np.newaxis].astype(np.float64) - at[:, np.newaxis])
    apart = np.hypot(np.hypot(gap[..., 0], gap[..., 1]), np.maximum(gap[..., 2] - 2 * 0.525, 0))
    apart[:, np.eye(at.shape[1], dtype=bool)] = np.inf
    return np.asarray(apart)


class Meetings:
    """How near agents come to one another while they move at random."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator, self.nearest = simulator, np.inf
        self.last = self.positions()
        self.since_home = np.full(self.last.shape[:2], 9)

    def positions(self) -> Array:
        agents = self.simulator.agents_per_world
        return np.asarray(self.simulator.get("agents.position")[:, :agents])

    def play(self, steps: int) -> None:
        moves = np.array([action(letters) for letters in ("f", "fj", "b", "l", "r", "fL", "fR")])
        random = np.random.default_rng(1)
        for _ in range(steps):
            self.simulator.step(moves[random.integers(0, len(moves), self.since_home.shape)])
            self.look()

    def look(self) -> None:
        at = self.positions()
        # Who comes home may meet somebody there, with walls beside, and is soon apart from him.
        far = np.linalg.norm(at - self.last, axis=-1) > 1
        self.since_home = np.where(far, 0, self.since_home + 1)
        came_home = self.since_home < 4
        apart = distances(at)
        apart[came_home] = np.inf
        apart = np.where(came_home[:, np.newaxis], np.inf, apart)
        self.nearest, self.last = min(self.nearest, float(apart.min())), at

    def check(self) -> None:
        # What the rules leave of a penetration is 0.041 m; more between walls and boxes.
        assert self.nearest > 2 * RADIUS - 0.15
        assert (self.nearest < 0.8) == (self.since_home.shape[1] > 1)  # they do meet


def carried_pairs(simulator: Simulator) -> set[tuple[int, int, int]]:
    """(world, box, carrier) of boxes in hands; checks that hands and boxes agree."""
    agents = simulator.agents_per_world
    hands, carriers = simulator.get("agents.carries")[:, :agents], simulator.get("crates.carrier")
    found = set()
    for world, count in enumerate(simulator.get("crates.count")[:, 0]):
        held = {(int(box), k) for k, box in enumerate(hands[world]) if box >= 0}
        by_box = {(box, int(k)) for box, k in enumerate(carriers[world, :count]) if k >= 0}
        assert held == by_box
        found |= {(world, *pair) for pair in held}
    return found


def check_boxes_stand_apart(simulator: Simulator) -> None:
    """No two boxes in one cell, and none in a floor or a wall."""
    get = simulator.get
    carriers = get("crates.carrier")
    for world, count in enumerate(get("crates.count")[:, 0]):
        standing = get("crates.cell")[world, :count][carriers[world, :count] < 0]
        assert len(np.unique(standing, axis=0)) == len(standing)
        rows = int(get("statics.count")[world, 0])
        low, high = (get(f"statics.{side}")[world, :rows] for side in ("low", "high"))
        middle = standing[:, np.newaxis] + 0.5
        assert not ((middle > low) & (middle < high)).all(axis=-1).any()


# ---- what is refused


class Pair:
    """A simulator to which bad things are done, and one to which nothing is."""

    def __init__(
        self, game: str, options: dict[str, Any], heads: tuple[int, ...] = HEAD_SIZES
    ) -> None:
        self.name, self.heads = game, heads
        made = [Simulator(game, 2, device="cpu", **options) for _ in range(2)]
        self.tried, self.plain = made
        self.idle = self.actions(np.zeros(len(heads), int))
        for simulator in (self.tried, self.plain):
            simulator.reset(seed=3)
            simulator.step(self.idle)

    def actions(self, each: Array) -> Array:
        """Return actions of all agents; without an axis of words where there is one word."""
        shape = (2, self.tried.agents_per_world, len(self.heads))
        actions = np.broadcast_to(each, shape)
        return actions if len(self.heads) > 1 else actions[..., 0]

    def refuses(self, what: Callable[[Simulator], Any], error: Any, message: str) -> None:
        with pytest.raises(error, match=message):
            what(self.tried)
        assert self.tried.save() == self.plain.save()

    def check(self) -> None:
        """Nothing has happened, and they go on alike, through an end."""
        assert self.tried.save() == self.plain.save()
        random = np.random.default_rng(1)
        for _ in range(35):
            shape = (2, self.tried.agents_per_world, len(self.heads))
            actions = self.actions(random.integers(0, self.heads, shape))
            first, second = self.tried.step(actions), self.plain.step(actions)
            for name in ("obs", "reward", "terminated", "final_obs", "state"):
                assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert self.tried.save() == self.plain.save()

    def close(self) -> None:
        self.tried.close()
        self.plain.close()


# ---- same bytes


def outputs_of(results: Any, world: int) -> list[bytes]:
    """All that a world shows: pictures, rewards, ends, state."""
    names = ("obs", "reward", "terminated", "final_obs", "state", "reward_parts", "episode_return")
    shown = [getattr(results, name) for name in names]
    return [np.ascontiguousarray(each[world]).tobytes() for each in shown if each is not None]


def check_same_bytes(
    make: Make, game: str, steps: Iterable[Array], midway: int, **options: Any
) -> tuple[int, int]:
    """Play six worlds by `steps`, actions of two agents: all in one batch, by one thread, and world
    4 alone; from `midway` on, a loaded save in place of one thread, and a fork in place of world 0.
    Return how many steps had an end, and how many pictures world 4 has shown.
    """
    options = {"agent_count": 2, "resolution": "5x9", **options}
    batch = make(game, 6, **options)
    again = make(game, 6, threads=1, **options)
    alone = make(game, 1, first_world=4, **options)
    later = make(game, 6, **options)
    for simulator in (batch, again, alone):
        simulator.reset(seed=11)
    others = [again]
    ends, pictures = 0, set()
    for step, actions in enumerate(steps):
        if step == midway:
            later.load(batch.save())
            batch.copy_worlds([4], [0])
            others = [later]
        forked = actions if step < midway else np.concatenate([actions[4:5], actions[1:]])
        results = batch.step(forked)
        wanted = [outputs_of(results, world) for world in range(6)]
        for other in others:
            found = other.step(actions)
            assert [outputs_of(found, world) for world in range(1, 6)] == wanted[1:], step
        assert outputs_of(alone.step(actions[4:5]), 0) == wanted[4], step
        if step >= midway:
            assert wanted[0] == wanted[4], step  # a fork
        ends += int(results.terminated.any())
        pictures.add(wanted[4][0])
    return ends, len(pictures)


# ---- statistics of drawn levels

ONE_IN_A_MILLION = 4.9  # standard deviations


def check_mean(values: Array, wanted: float, deviation: float) -> None:
    """Check that a mean is where one draw in a million is not."""
    assert abs(values.mean() - wanted) < ONE_IN_A_MILLION * deviation / np.sqrt(len(values))


def check_uniform(values: Array, options: Iterable[int]) -> None:
    check_shares(values, dict.fromkeys(options, 1.0))


def check_shares(values: Array, weights: dict[int, float]) -> None:
    """Check values against weights by chi-square, at five standard deviations of it."""
    assert set(np.unique(values).tolist()) <= set(weights)
    total = sum(weights.values())
    wanted = np.array([weights[k] for k in weights]) * len(values) / total
    found = np.array([(values == k).sum() for k in weights])
    few = wanted < 8  # in one bin together
    if few.any():
        wanted = np.append(wanted[~few], wanted[few].sum())
        found = np.append(found[~few], found[few].sum())
    chi_square = ((found - wanted) ** 2 / wanted).sum()
    freedom = len(wanted) - 1
    assert chi_square < freedom + 5 * np.sqrt(2 * max(freedom, 1)) + 8, (found, wanted)
