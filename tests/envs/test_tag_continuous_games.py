"""TagContinuous over whole episodes: a recorded game, limits, ends, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.envs.tag_continuous_worlds import Array, actions, column, drawn, features, made, put

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
def test_game_equals_the_recorded_one(more: dict[str, Any], returns: str, total: float) -> None:
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
    shown = features(out.obs[0])[0]
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


# ---- longer games


def test_skill_bounds_the_speed() -> None:
    random = np.random.default_rng(0)
    simulator = made(None, 4, num_taggers=3, num_runners=4, skill_level_tagger=2.0,
                     tagging_distance=0.0, max_episode_steps=0)  # fmt: skip
    tagger, most = column(simulator, "tagger") == 1, np.zeros(2)
    for _ in range(1000):
        simulator.step(drawn(simulator, random))
        speed = column(simulator, "speed")
        most = np.maximum(most, [speed[~tagger].max(), speed[tagger].max()])
    assert most.tolist() == [1.0, 2.0]


def test_worlds_end_with_the_last_runner_or_with_time() -> None:
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
