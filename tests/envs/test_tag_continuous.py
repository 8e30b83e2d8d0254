"""TagContinuous: its rules one by one, on starts laid by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.envs.tag_continuous_worlds import TWO_PI, actions, column, drawn, features, made, put

# ---- motion

TWO = "tagger 1 1 0.5; runner 9 9 0.5"


def test_levels_of_actions_divide_their_range_evenly() -> None:
    """Level k of A is min + (k - 1) (max - min) / (A - 1); level 0 changes nothing."""
    simulator = made(TWO, worlds=11, max_speed=100.0, grid_length=1000.0, max_turn=0.25)
    put(simulator, "speed", 50.0)
    rows = actions(simulator)
    rows[:, 0] = np.arange(11)[:, None]
    simulator.step(rows)
    wanted = np.concatenate([[0], np.linspace(-1, 1, 10)])
    np.testing.assert_allclose(column(simulator, "acceleration")[:, 0], wanted, atol=1e-7)
    turns = np.concatenate([[0], np.linspace(-math.pi / 2, 0.25, 10)])
    np.testing.assert_allclose(
        column(simulator, "heading")[:, 0], (0.5 + turns) % TWO_PI, atol=1e-6
    )
    assert list(simulator.single_action_space.nvec) == [11, 11]  # type: ignore[attr-defined]
    one = made(TWO, num_acceleration_levels=1, num_turn_levels=0)
    assert list(one.single_action_space.nvec) == [2, 1]  # type: ignore[attr-defined]


def test_coasting_is_straight_and_acceleration_lasts() -> None:
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
            (
                float(column(simulator, "speed")[0, 1]),
                float(column(simulator, "acceleration")[0, 1]),
            )
        )
    assert speeds == [(0.75, 0.5), (1.25, 0.5), (1.75, 0.5), (2.0, 0.0), (2.0, 0.0)]


def test_walls_stop_and_cost_in_every_step() -> None:
    simulator = made("tagger 0.25 5 3.14159; runner 9 9 0", edge_hit_penalty=-0.5)
    put(simulator, "speed", [[1.0, 0.0]])
    for _ in range(3):
        out = simulator.step(actions(simulator))
        assert out.reward[0].tolist() == [-0.5, 0.0]
        assert column(simulator, "x")[0, 0] == 0 and column(simulator, "speed")[0, 0] == 1


# ---- observations


@pytest.mark.parametrize(("taggers", "runners"), [(1, 1), (1, 4), (4, 9), (12, 30)])
def test_rows_have_their_length_and_are_antisymmetric(taggers: int, runners: int) -> None:
    random, n = np.random.default_rng(1), taggers + runners
    simulator = made(None, 2, num_taggers=taggers, num_runners=runners, tagging_distance=0.0)
    for _ in range(5):
        out = simulator.step(drawn(simulator, random))
    assert out.obs.shape == (2, n, 7 * (n - 1) + 1)
    seen = np.zeros((2, n, n, 7))
    others = ~np.eye(n, dtype=bool)
    seen[:, others] = features(out.obs).swapaxes(2, 3).reshape(2, -1, 7)
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
    shown = features(simulator.observe().obs)
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
def test_tagged_runner_shows_a_step_later(full: bool) -> None:
    simulator = made(CLOSE, use_full_observation=full)
    out = simulator.step(actions(simulator))
    assert out.reward[0].tolist() == [1.0, -1.0, 0.0]
    assert out.terminated[0].tolist() == [False, True, False]
    assert out.agent_active[0].tolist() == [True, False, True]
    shown = features(out.obs[0])
    assert (shown[:, 6] == 1).all() and out.obs[0, 1].any()  # as if nothing had happened
    place = column(simulator, "x")[0, 1]
    put(simulator, "speed", [[0.5, 0.5, 0.5]])
    out = simulator.step(actions(simulator, (10, 10), (10, 10), (0, 0)))
    shown = features(out.obs[0])
    assert shown[0, 6].tolist() == ([0.0, 1.0] if full else [1.0, 0.0])
    assert not out.obs[0, 1].any() and not out.terminated[0].any() and out.reward[0, 1] == 0
    assert column(simulator, "x")[0, 1] == place and column(simulator, "speed")[0, 1] == 0


# ---- tags


def test_distance_of_exactly_the_margin_is_no_tag() -> None:
    simulator = made("tagger 0 5 0; runner 2 5 0", worlds=2, grid_length=8.0, tagging_distance=0.25)
    put(simulator, "x", [[0, 2], [0, np.nextafter(np.float32(2), np.float32(0))]])
    out = simulator.step(actions(simulator))
    assert out.reward.tolist() == [[0, 0], [1, -1]]
    assert out.terminated.tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("crowd", [0, 30])
def test_tagger_is_paid_per_runner_and_of_equally_near_ones_the_first(crowd: int) -> None:
    """One tagger collects two runners; of taggers equally near the lower index is paid."""
    far = "".join(f"; runner 9 {0.25 * k} 0" for k in range(crowd))
    simulator = made("runner 5.05 5 0; tagger 5 5 0; runner 4.95 5 0; runner 9 9 0" + far)
    assert simulator.step(actions(simulator)).reward[0, :4].tolist() == [-1, 2, -1, 0]
    simulator = made("tagger 5.5 5 0; tagger 4.5 5 0; runner 5 5 0; runner 9 9 0" + far,
                     tagging_distance=0.06)  # fmt: skip
    assert simulator.step(actions(simulator)).reward[0, :4].tolist() == [1, 0, -1, 0]


def test_runners_left_at_the_end_earn_the_bonus() -> None:
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


def test_places_of_missing_agents_are_zero() -> None:
    simulator = made(None, num_taggers=1, num_runners=11, use_full_observation=False,
                     num_other_agents_observed=10)  # fmt: skip
    tagger = int(column(simulator, "tagger")[0].argmax())
    for name in ("x", "y"):
        place = np.full((1, 12), 5.0)
        place[0, (tagger + 1) % 12] = 1.0
        put(simulator, name, place)
    simulator.step(actions(simulator))  # all but one are caught
    out = simulator.step(actions(simulator))
    shown = features(out.obs[0])
    for agent in range(12):
        in_game = agent in (tagger, (tagger + 1) % 12)
        assert shown[agent, 6].tolist() == [float(in_game)] + [0.0] * 9
        assert not shown[agent, :, 1:].any()


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
        ({"num_taggers": 10**6, "num_runners": 10**6}, "at most 1000000 agents"),
        (
            {"use_full_observation": False, "num_other_agents_observed": 12},
            "num_other.*at most.*11",
        ),
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
