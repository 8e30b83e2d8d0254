"""TagContinuous: its specification's golden run, and its rules one by one on starts laid by hand.

Functions carry the number of the acceptance check that they are (13 to 25; 26 is the oracle's).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_envs import Simulator

Array = NDArray[Any]
TWO_PI = 2 * math.pi


def made(start: str | None = None, worlds: int = 1, **parameters: Any) -> Simulator:
    """Make a simulator and reset it; a start by hand says how many taggers and runners there are."""
    if start is not None:
        parameters["num_taggers"], parameters["num_runners"] = (
            start.count(role) for role in ("tagger", "runner")
        )
        parameters["start"] = start
    parameters = {"device": "cpu", "autoreset_mode": "Disabled"} | parameters
    simulator = Simulator("TagContinuous-v0", worlds, **parameters)
    simulator.reset(seed=1)
    return simulator


def column(simulator: Simulator, name: str) -> Array:
    """Return a column of the agents, without rows that have none: (worlds, agents)."""
    return simulator.get(f"agents.{name}")[:, : simulator.agents_per_world]


def put(simulator: Simulator, name: str, values: object) -> None:
    whole = simulator.get(f"agents.{name}")
    whole[:, : simulator.agents_per_world] = values
    simulator.set(f"agents.{name}", whole)


def actions(simulator: Simulator, *pairs: tuple[int, int]) -> Array:
    """Return one action per agent, the same in all worlds; none: nobody changes anything."""
    rows = np.zeros((simulator.num_worlds, simulator.agents_per_world, 2), np.int32)
    if pairs:
        rows[:] = np.array(pairs, np.int32)
    return rows


def drawn(simulator: Simulator, random: np.random.Generator) -> Array:
    most = np.array(simulator.single_action_space.nvec)  # type: ignore[attr-defined]
    shape = (simulator.num_worlds, simulator.agents_per_world, 2)
    return random.integers(0, most[None, None], shape).astype(np.int32)


def features(simulator: Simulator, obs: Array) -> Array:
    """Split rows into seven features by others: (..., 7, others)."""
    return obs[..., :-1].reshape(*obs.shape[:-1], 7, -1)


# ---- the golden run: a congruential generator draws the actions of ten agents

START = "; ".join(
    f"{'tagger' if k in (0, 9) else 'runner'} {0.5 + 0.75 * k} {7 * k % 8 + 0.5 * (k % 2) + 0.25} "
    f"{0.375 + 0.625 * k}"
    for k in range(10)
)
GOLDEN = {
    "grid_length": 8.0,
    "skill_level_tagger": 1.5,
    "max_acceleration": 0.125,
    "min_acceleration": -0.125,
    "num_acceleration_levels": 5,
    "max_turn": 0.75,
    "min_turn": -0.75,
    "num_turn_levels": 4,
    "tagging_distance": 0.0625,
    "tag_reward_for_tagger": 10.0,
    "tag_penalty_for_runner": -10.0,
    "edge_hit_penalty": -0.25,
    "step_penalty_for_tagger": -0.0625,
    "step_reward_for_runner": 0.0625,
    "num_other_agents_observed": 4,
}
AT_10 = {
    "x": "1.90812 2.50961 0.14994 2.75 4.12403 4.12573 6.53111 5.22373 8 8",
    "y": "0.66836 8 8 5.75 6.36139 3.73648 0.62146 0 0 6.47277",
    "speed": ".3125 .375 1 0 .25 0 .75 .625 .3125 .8125",
    "heading": ".625 .25 2.125 1.5 1.625 2.25 6.125 3.25 5.125 5.25",
    "acceleration": "0 .125 0 0 0 0 .125 -.25 0 .375",
}
REWARD_AT_10 = "-.0625 -.1875 -.1875 .0625 .0625 .0625 .0625 -.1875 -.1875 -.3125"
AT_100 = {
    "x": "3.38475 0 0 0 8 7.92049 7.73229 6.36344 7.98909 5.97461",
    "y": "1.86444 4.33952 .3238 1.54709 8 0 8 0 0 4.52236",
}
LEAVING = "16.5 -11 -9.75 -10 -11.6875 -9.3125 -10 -13.6875 -11.6875 -1.25"
STAYING = "146.5 -11 -9.75 -10 -43.25 -33.75 -19.75 -112.5 -88 68.75"
TAGS = [(17, 8), (24, 6), (25, 4), (25, 7), (39, 5)]


def numbers(text: str) -> Array:
    return np.array(text.split(), np.float64)


class Draws:
    """The golden run's generator of actions."""

    state = 1

    def below(self, count: int) -> int:
        self.state = (1103515245 * self.state + 12345) % 2**31
        return self.state // 65536 % count


def golden_run(**more: Any) -> tuple[Array, float, list[tuple[int, int]], dict[int, Any]]:
    """Return the returns, the sum of absolute observations, the tags, and steps 10 and 100.

    The sum has what the reference shows to who has left, and we do not: who is a tagger and in the
    game, in a full observation.
    """
    simulator, draws = made(START, **(GOLDEN | more)), Draws()
    returns, total, tags, kept = np.zeros(10), 0.0, [], {}
    tagger = column(simulator, "tagger")[0].astype(float)
    for step in range(1, 101):
        rows = [(draws.below(6), draws.below(5)) for _ in range(10)]
        before = column(simulator, "in_game")[0].astype(float)
        out = simulator.step(np.array([rows], np.int32))
        left = before != column(simulator, "in_game")[0]
        tags += [(step, int(agent)) for agent in np.flatnonzero(left)]
        returns += out.reward[0]
        total += np.abs(out.obs[0].astype(np.float64)).sum()
        if more.get("use_full_observation", True):
            for agent in np.flatnonzero(before == 0):
                total += (tagger + before).sum() - tagger[agent]
        if step in (10, 100):
            kept[step] = ({name: column(simulator, name)[0] for name in AT_10}, out)
    return returns, total, tags, kept


@pytest.mark.parametrize(
    ("more", "returns", "total"),
    [
        ({}, LEAVING, 17046.629),
        ({"runner_exits_game_after_tagged": False}, STAYING, 24897.501),
        ({"use_full_observation": False}, LEAVING, 6893.584),
    ],
    ids=["full", "staying", "partial"],
)
def test_13_golden_run(more: dict[str, Any], returns: str, total: float) -> None:
    found, seen, tags, kept = golden_run(**more)
    columns, out = kept[10]
    for name, values in AT_10.items():
        np.testing.assert_allclose(columns[name], numbers(values), atol=1e-4)
    np.testing.assert_allclose(out.reward[0], numbers(REWARD_AT_10), atol=1e-5)
    np.testing.assert_allclose(found, numbers(returns), atol=1e-5)
    assert seen == pytest.approx(total, abs=0.01)
    assert out.obs[0, 0, -1] == pytest.approx(0.1)
    if returns == LEAVING:
        assert tags == TAGS
        for name, values in AT_100.items():
            np.testing.assert_allclose(kept[100][0][name], numbers(values), atol=1e-4)
    shown = features(made(START, **(GOLDEN | more)), out.obs[0])[0]
    if more.get("use_full_observation", True):
        block_0 = ".05316 -.1554 .07441 .19586 .19601 .40862 .29306 .53845 .53845"
        block_4 = "-.05968 .23873 .13926 .15915 .25863 .87535 .41778 .7162 .73609"
        np.testing.assert_allclose(shown[[0, 4]], [numbers(block_0), numbers(block_4)], atol=1e-4)
    else:
        blocks = (
            ".29306 .19601 .40862 .07441 -.05908 .27119 -.00415 .44916 .3125 -.3125 .4375 -.3125 "
            "-.25 0 .125 0 .41778 .25863 .87535 .13926 0 0 0 0 1 1 1 1"
        )
        np.testing.assert_allclose(shown.ravel(), numbers(blocks), atol=1e-4)


# ---- motion

TWO = "tagger 1 1 0.5; runner 9 9 0.5"


def test_14_levels_of_actions() -> None:
    """Level k of A is min + (k - 1) (max - min) / (A - 1); level 0 changes nothing."""
    simulator = made(TWO, worlds=11, max_speed=100.0, grid_length=1000.0, max_turn=0.25)
    put(simulator, "speed", 50.0)
    rows = actions(simulator)
    rows[:, 0] = np.arange(11)[:, None]
    simulator.step(rows)
    wanted = np.concatenate([[0], np.linspace(-1, 1, 10)])
    np.testing.assert_allclose(column(simulator, "acceleration")[:, 0], wanted, atol=1e-7)
    turns = np.concatenate([[0], np.linspace(-math.pi / 2, 0.25, 10)])
    np.testing.assert_allclose(column(simulator, "heading")[:, 0], (0.5 + turns) % TWO_PI, atol=1e-6)
    assert list(simulator.single_action_space.nvec) == [11, 11]  # type: ignore[attr-defined]
    one = made(TWO, num_acceleration_levels=1, num_turn_levels=0)
    assert list(one.single_action_space.nvec) == [2, 1]  # type: ignore[attr-defined]


def test_15_coasting_is_straight_and_acceleration_lasts() -> None:
    simulator = made(TWO, grid_length=100.0, max_speed=2.0)
    put(simulator, "speed", [[0.5, 0.25]])
    put(simulator, "acceleration", [[0.0, 0.5]])
    speeds = []
    for step in range(1, 6):
        simulator.step(actions(simulator))
        x, y = column(simulator, "x")[0, 0], column(simulator, "y")[0, 0]
        assert (x, y) == pytest.approx(
            (1 + 0.5 * step * math.cos(0.5), 1 + 0.5 * step * math.sin(0.5)), abs=1e-5
        )
        speeds.append(
            (float(column(simulator, "speed")[0, 1]), float(column(simulator, "acceleration")[0, 1]))
        )
    assert speeds == [(0.75, 0.5), (1.25, 0.5), (1.75, 0.5), (2.0, 0.0), (2.0, 0.0)]


def test_16_braking_at_rest_leaves_no_acceleration() -> None:
    simulator = made(TWO)
    simulator.step(actions(simulator, (1, 0), (1, 0)))  # the lowest level, -1
    assert not column(simulator, "speed").any() and not column(simulator, "acceleration").any()
    simulator.step(actions(simulator, (10, 0), (0, 0)))
    assert column(simulator, "speed")[0].tolist() == [1.0, 0.0]


def test_17_skill_bounds_the_speed() -> None:
    random = np.random.default_rng(0)
    simulator = made(None, 4, num_taggers=3, num_runners=4, skill_level_tagger=2.0,
                     tagging_distance=0.0, max_episode_steps=0)  # fmt: skip
    tagger, most = column(simulator, "tagger") == 1, np.zeros(2)
    for _ in range(1000):
        simulator.step(drawn(simulator, random))
        speed = column(simulator, "speed")
        most = np.maximum(most, [speed[~tagger].max(), speed[tagger].max()])
    assert most.tolist() == [1.0, 2.0]


def test_walls_stop_and_cost_in_every_step() -> None:
    simulator = made("tagger 0.25 5 3.14159; runner 9 9 0", edge_hit_penalty=-0.5)
    put(simulator, "speed", [[1.0, 0.0]])
    for _ in range(3):
        out = simulator.step(actions(simulator))
        assert out.reward[0].tolist() == [-0.5, 0.0]
        assert column(simulator, "x")[0, 0] == 0 and column(simulator, "speed")[0, 0] == 1


# ---- observations


@pytest.mark.parametrize(("taggers", "runners"), [(1, 1), (1, 4), (4, 9), (12, 30)])
def test_18_length_and_antisymmetry(taggers: int, runners: int) -> None:
    random, n = np.random.default_rng(1), taggers + runners
    simulator = made(None, 2, num_taggers=taggers, num_runners=runners, tagging_distance=0.0)
    for _ in range(5):
        out = simulator.step(drawn(simulator, random))
    assert out.obs.shape == (2, n, 7 * (n - 1) + 1)
    seen = np.zeros((2, n, n, 7))
    others = ~np.eye(n, dtype=bool)
    seen[:, others] = features(simulator, out.obs).swapaxes(2, 3).reshape(2, -1, 7)
    np.testing.assert_array_equal(seen[..., :5], -seen.swapaxes(1, 2)[..., :5])
    tagger = column(simulator, "tagger")[:, None]
    np.testing.assert_array_equal(seen[..., 5], np.broadcast_to(tagger, (2, n, n)) * others)
    assert (seen[..., 6] == others).all()
    k = min(n, 3)
    partial = made(None, 2, num_taggers=taggers, num_runners=runners, use_full_observation=False,
                   num_other_agents_observed=k)  # fmt: skip
    assert partial.reset(seed=1).obs.shape == (2, n, 7 * k + 1)


@pytest.mark.parametrize("others", [1, 7, 16, 17, 40, 60])
def test_the_nearest_equal_a_plain_sort(others: int) -> None:
    """Sixty agents on few places, so that many are equally far, also at the last one shown."""
    random = np.random.default_rng(others)
    simulator = made(None, 3, num_taggers=20, num_runners=40, use_full_observation=False,
                     num_other_agents_observed=others)  # fmt: skip
    put(simulator, "x", random.integers(0, 4, (3, 60)))
    put(simulator, "y", random.integers(0, 4, (3, 60)))
    gone = random.random((3, 60)) < 0.25
    put(simulator, "seen", (~gone).astype(np.uint32))
    x, y = (column(simulator, name).astype(np.float64) for name in ("x", "y"))
    shown = features(simulator, simulator.observe().obs)
    for world in range(3):
        for me in range(60):
            square = (x[world] - x[world, me]) ** 2 + (y[world] - y[world, me]) ** 2
            square[gone[world]] = square[me] = np.inf
            order = np.argsort(square, kind="stable")[: int(np.isfinite(square).sum())][:others]
            wanted = np.zeros((7, others))
            wanted[0, : len(order)] = (x[world, order] - x[world, me]) / (10 * math.sqrt(2))
            wanted[1, : len(order)] = (y[world, order] - y[world, me]) / (10 * math.sqrt(2))
            wanted[4, : len(order)] = (
                column(simulator, "heading")[world, order] - column(simulator, "heading")[world, me]
            ) / TWO_PI
            wanted[5, : len(order)] = column(simulator, "tagger")[world, order]
            wanted[6, : len(order)] = 1
            np.testing.assert_allclose(shown[world, me], wanted, atol=1e-6)


CLOSE = "tagger 5 5 0; runner 5.05 5 0.5; runner 1 1 0.5"  # the first runner is within 0.1


@pytest.mark.parametrize("full", [True, False])
def test_19_a_tagged_runner_shows_a_step_later(full: bool) -> None:
    simulator = made(CLOSE, use_full_observation=full)
    out = simulator.step(actions(simulator))
    assert out.reward[0].tolist() == [1.0, -1.0, 0.0]
    assert out.terminated[0].tolist() == [False, True, False]
    assert out.agent_active[0].tolist() == [True, False, True]
    shown = features(simulator, out.obs[0])
    assert (shown[:, 6] == 1).all() and out.obs[0, 1].any()  # as if nothing had happened
    place = column(simulator, "x")[0, 1]
    put(simulator, "speed", [[0.5, 0.5, 0.5]])
    out = simulator.step(actions(simulator, (10, 10), (10, 10), (0, 0)))
    shown = features(simulator, out.obs[0])
    assert shown[0, 6].tolist() == ([0.0, 1.0] if full else [1.0, 0.0])
    assert not out.obs[0, 1].any() and not out.terminated[0].any() and out.reward[0, 1] == 0
    assert column(simulator, "x")[0, 1] == place and column(simulator, "speed")[0, 1] == 0


# ---- tags


def test_20_exactly_the_margin_is_no_tag() -> None:
    simulator = made("tagger 0 5 0; runner 2 5 0", worlds=2, grid_length=8.0, tagging_distance=0.25)
    put(simulator, "x", [[0, 2], [0, np.nextafter(np.float32(2), np.float32(0))]])
    out = simulator.step(actions(simulator))
    assert out.reward.tolist() == [[0, 0], [1, -1]]
    assert out.terminated.tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("crowd", [0, 30])
def test_21_who_is_paid(crowd: int) -> None:
    """One tagger collects two runners; of taggers equally near the lower index is paid."""
    far = "".join(f"; runner 9 {0.25 * k} 0" for k in range(crowd))
    simulator = made("runner 5.05 5 0; tagger 5 5 0; runner 4.95 5 0; runner 9 9 0" + far)
    assert simulator.step(actions(simulator)).reward[0, :4].tolist() == [-1, 2, -1, 0]
    simulator = made("tagger 5.5 5 0; tagger 4.5 5 0; runner 5 5 0; runner 9 9 0" + far,
                     tagging_distance=0.06)  # fmt: skip
    assert simulator.step(actions(simulator)).reward[0, :4].tolist() == [1, 0, -1, 0]


def test_22_the_bonus_at_the_end() -> None:
    end: dict[str, Any] = {"max_episode_steps": 2, "end_of_game_reward_for_runner": 4.0}
    simulator = made("tagger 1 1 0; runner 5 5 0; runner 9 9 0", **end)
    simulator.step(actions(simulator))
    put(simulator, "x", [[5.0, 5.0, 9.0]])
    put(simulator, "y", [[5.0, 5.0, 9.0]])
    out = simulator.step(actions(simulator))
    assert out.reward[0].tolist() == [1.0, -1.0, 4.0]  # caught at the end: no bonus
    assert out.terminated[0].tolist() == [False, True, False]
    assert out.truncated[0].tolist() == [True, True, True]
    staying = made(CLOSE, runner_exits_game_after_tagged=False, **end)
    assert staying.step(actions(staying)).reward[0].tolist() == [1.0, -1.0, 0.0]
    assert staying.step(actions(staying)).reward[0].tolist() == [1.0, 3.0, 4.0]


def test_23_missing_places_are_zero() -> None:
    simulator = made(None, num_taggers=1, num_runners=11, use_full_observation=False,
                     num_other_agents_observed=10)  # fmt: skip
    tagger = int(column(simulator, "tagger")[0].argmax())
    for name in ("x", "y"):
        place = np.full((1, 12), 5.0)
        place[0, (tagger + 1) % 12] = 1.0
        put(simulator, name, place)
    simulator.step(actions(simulator))  # all but one are caught
    out = simulator.step(actions(simulator))
    shown = features(simulator, out.obs[0])
    for agent in range(12):
        in_game = agent in (tagger, (tagger + 1) % 12)
        assert shown[agent, 6].tolist() == [float(in_game)] + [0.0] * 9
        assert not shown[agent, :, 1:].any()


def test_24_worlds_end_with_the_last_runner_or_with_time() -> None:
    simulator = made("tagger 5 5 0; runner 5.05 5 0; runner 9 9 0")
    out = simulator.step(actions(simulator))
    assert out.terminated[0].tolist() == [False, True, False]
    put(simulator, "x", [[9.0, 5.05, 9.0]])
    put(simulator, "y", [[9.0, 5.0, 9.0]])
    out = simulator.step(actions(simulator))
    assert out.terminated[0].tolist() == [True, False, True] and not out.truncated.any()
    random = np.random.default_rng(2)
    free = made(None, 8, tagging_distance=0.0, autoreset_mode="SameStep")
    for step in range(1, 301):
        out = free.step(drawn(free, random))
        assert not out.terminated.any() and out.truncated.all() == (step % 100 == 0)


def test_25_worlds_of_a_batch_equal_worlds_alone() -> None:
    """Rows in any order are the shuffled executor's: tests/golden."""
    for more in ({}, {"num_runners": 40}, {"num_runners": 40, "use_full_observation": False}):
        random = np.random.default_rng(3)
        common: dict[str, Any] = {"autoreset_mode": "NextStep", "tagging_distance": 0.1,
                                  "resample_start": True} | more  # fmt: skip
        many, alone = made(None, 20, **common), made(None, first_world=17, threads=1, **common)
        np.testing.assert_array_equal(many.reset(seed=9).obs[17], alone.reset(seed=9).obs[0])
        for _ in range(130):
            rows = drawn(many, random)
            a, b = many.step(rows), alone.step(rows[17:18])
            for name in ("obs", "reward", "terminated", "truncated"):
                np.testing.assert_array_equal(getattr(a, name)[17], getattr(b, name)[0])


# ---- starts


def test_one_start_for_all_worlds_and_episodes_unless_resampled() -> None:
    fixed, other = made(None, 5), made(None, 5, start_seed=1)
    first = column(fixed, "x")
    assert (first == first[0]).all() and len(set(first[0].tolist())) == 11
    fixed.reset(seed=2)
    np.testing.assert_array_equal(column(fixed, "x"), first)
    assert (column(other, "x") != first).all()
    drawn_again = made(None, 5, resample_start=True)
    before = column(drawn_again, "x")
    drawn_again.reset()
    assert (before[0] != before[1]).all() and (column(drawn_again, "x") != before).all()
    np.testing.assert_array_equal(column(drawn_again, "tagger"), column(fixed, "tagger"))
    quarters = column(drawn_again, "heading") / (math.pi / 2)
    np.testing.assert_allclose(quarters, np.round(quarters), atol=1e-6)
    assert set(np.round(quarters).ravel().astype(int)) == {0, 1, 2, 3}


def test_names_tell_roles() -> None:
    simulator = made(None, num_taggers=3, num_runners=5)
    roles = [name.rsplit("_", 1)[0] for name in simulator.agent_names]
    assert roles == ["tagger" if t else "runner" for t in column(simulator, "tagger")[0]]
    assert roles.count("tagger") == 3


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"num_taggers": 0}, "num_taggers.*from 1"),
        ({"num_taggers": 10**9}, "num_taggers.*1048576"),
        ({"num_taggers": 2**20, "num_runners": 2**20}, "at most 1048576 agents"),
        ({"use_full_observation": False, "num_other_agents_observed": 12}, "num_other.*at most.*11"),
        ({"edge_hit_penalty": 1.0}, "edge_hit_penalty"),
        ({"grid_length": float("nan")}, "grid_length"),
        ({"num_turn_levels": 65}, "num_turn_levels"),
        ({"start": "tagger 1 1 0"}, "start: it has 1 taggers and 0 runners"),
        ({"start": "tagger 1 1"}, "start: agent 0 must be"),
        ({"start": "tagger 1 1 0; runner 11 1 0"}, "start: agent 1: 11 is not from 0"),
        ({"start": "tagger 1 one 0"}, "start: agent 0: a number was expected, got 'one'"),
        ({"start": TWO, "num_runners": 1, "resample_start": True}, "exclude each other"),
    ],
)
def test_refusals_name_what_is_wrong(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Simulator("TagContinuous-v0", 1, device="cpu", **parameters)
    with pytest.raises(ValueError, match="action"):
        simulator = made(TWO)
        simulator.step(actions(simulator, (11, 0), (0, 0)))
