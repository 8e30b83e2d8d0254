"""Ranges and arrays as parameters: what they draw, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gpu_envs

WORLDS = 4000


def drawn(make_simulator, law, name="mass", worlds=WORLDS):
    simulator = make_simulator("CartPole-v0", worlds, **{name: law})
    simulator.reset(seed=11)
    return simulator.get(f"world.{name}")[:, 0].astype(float)


def test_uniform_covers_its_range_evenly(make_simulator) -> None:
    values = drawn(make_simulator, gpu_envs.uniform(0.5, 2.0))
    assert values.min() >= 0.5
    assert values.max() <= 2.0
    shares = np.histogram(values, 5, (0.5, 2.0))[0] / WORLDS
    assert np.abs(shares - 0.2).max() < 0.03


def test_log_uniform_is_even_in_its_logarithm(make_simulator) -> None:
    values = drawn(make_simulator, gpu_envs.log_uniform(0.1, 10))
    assert values.min() >= 0.1 * (1 - 1e-6)
    assert values.max() <= 10 * (1 + 1e-6)
    shares = np.histogram(np.log(values), 4, (math.log(0.1), math.log(10)))[0] / WORLDS
    assert np.abs(shares - 0.25).max() < 0.03


def test_whole_numbers_are_rounded_and_ends_of_log_uniform_have_half_a_share(
    make_simulator,
) -> None:
    log = np.log([2, 2.5, 3.5, 4.5, 5])
    bell = [math.erf((x - 3) / math.sqrt(2)) for x in (1.5, 2.5, 3.5, 4.5, 5.5)]
    for law, below in (
        (gpu_envs.uniform(2, 5), np.arange(5)),
        (gpu_envs.log_uniform(2, 5), log),
        (gpu_envs.normal(3, 1, 2, 5), np.array(bell)),
    ):
        given = {"object_count_low": 2, "object_count_high": law}
        simulator = make_simulator("Rearrange-v0", WORLDS, **given)
        simulator.reset(seed=11)
        found, counts = np.unique(simulator.get("world.object_count_high"), return_counts=True)
        assert found.tolist() == [2, 3, 4, 5]
        wanted = np.diff(below) / (below[-1] - below[0])
        assert np.abs(counts / WORLDS - wanted).max() < 0.03, law


def test_before_the_first_reset_a_range_shows_its_greatest_value(make_simulator) -> None:
    for law, greatest in (
        (gpu_envs.uniform(0.5, 2), 2),
        (gpu_envs.log_uniform(0.5, 4), 4),
        (gpu_envs.choice([3, 1, 2]), 3),
        (gpu_envs.normal(1, 0.1, 0.5, 1.5), 1.5),
        ([1, 2], [1, 2]),
    ):
        simulator = make_simulator("CartPole-v0", 2, mass=law)
        assert (simulator.get("world.mass")[:, 0] == greatest).all()


def test_choice_takes_each_value_as_often(make_simulator) -> None:
    values = drawn(make_simulator, gpu_envs.choice([1, 4, 2]))
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == [1, 2, 4]
    assert np.abs(counts / WORLDS - 1 / 3).max() < 0.03


def test_normal_keeps_to_its_bounds_and_its_shape(make_simulator) -> None:
    values = drawn(make_simulator, gpu_envs.normal(1.0, 0.25, 0.5, 1.5))
    assert values.min() >= 0.5
    assert values.max() <= 1.5
    assert abs(values.mean() - 1.0) < 0.02
    assert abs(values.std() - 0.22) < 0.02  # cut at two deviations
    fixed = drawn(make_simulator, gpu_envs.normal(1.0, 0.0, 0.5, 1.5), worlds=4)
    assert (fixed == 1.0).all()


def test_values_far_outside_a_normal_range_stay_within_its_bounds(make_simulator) -> None:
    values = drawn(make_simulator, gpu_envs.normal(5.0, 0.001, 0.5, 1.5), worlds=50)
    assert ((values >= 0.5) & (values <= 1.5)).all()


def test_ranges_show_the_call_that_makes_them() -> None:
    shown = [
        gpu_envs.uniform(0.5, 2),
        gpu_envs.log_uniform(1, 8.5),
        gpu_envs.choice([1, 2.5]),
        gpu_envs.normal(1, 0.1, 0.5, 2),
    ]
    assert [repr(one) for one in shown] == [
        "uniform(0.5, 2)",
        "log_uniform(1, 8.5)",
        "choice([1, 2.5])",
        "normal(1, 0.1, 0.5, 2)",
    ]
    assert all(eval(repr(one), vars(gpu_envs.core.ranges)) == one for one in shown)


BAD_RANGES = [
    (gpu_envs.uniform, (2, 1), "low must not be above high"),
    (gpu_envs.uniform, ("a", 1), "low must be a number"),
    (gpu_envs.uniform, (math.nan, 1), "low must be finite"),
    (gpu_envs.uniform, (0, math.inf), "high must be finite"),
    (gpu_envs.log_uniform, (0, 1), "low must be above 0"),
    (gpu_envs.log_uniform, (-1, 1), "low must be above 0"),
    (gpu_envs.choice, ([],), "1 to 8 numbers"),
    (gpu_envs.choice, (range(9),), "1 to 8 numbers"),
    (gpu_envs.choice, (["x"],), "must be a number"),
    (gpu_envs.choice, (5,), r"choice: values must be a list of 1 to 8 numbers, .*, got 5$"),
    (gpu_envs.choice, (None,), "must be a list of 1 to 8 numbers, .*, got None$"),
    (gpu_envs.choice, ("12",), "must be a list of 1 to 8 numbers, .*, got '12'$"),
    (gpu_envs.choice, (np.array(3.0),), "choice: values must be a list of 1 to 8 numbers"),
    (gpu_envs.normal, (1, -1, 0, 2), "deviation must be at least 0"),
    (gpu_envs.normal, (math.inf, 1, 0, 2), "mean must be finite"),
    (gpu_envs.normal, (1, 1, 3, 2), "low must not be above high"),
]


@pytest.mark.parametrize(("make", "given", "message"), BAD_RANGES)
def test_a_range_that_makes_no_sense_is_refused(make, given, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(*given)


# What make_vec and Simulator refuse, for four worlds.
BAD_PARAMETERS = [
    ({"mass": [1, 2, 3]}, "one for each of 4 worlds"),
    ({"mass": [1, 2, 3, 4, 5]}, "one for each of 4 worlds"),
    ({"mass": []}, "one number for each world"),
    ({"mass": np.ones((4, 1))}, "one for each of 4 worlds"),
    ({"mass": [[1, 2], [3]]}, "must be a number, an array or a range"),
    ({"mass": ["a", "b", "c", "d"]}, "must be a number, an array or a range"),
    ({"mass": [1, None, 2, 3]}, "must be a number, an array or a range"),
    ({"mass": [1, 2, 3, -1]}, "from 0.01 to 10000, got -1 for world 3"),
    ({"mass": [1, math.nan, 3, 1]}, "got nan for world 1"),
    ({"mass": [1, 1, math.inf, 1]}, "got inf for world 2"),
    ({"mass": [1e9, 1, 1, 1]}, "'mass' must be"),
    ({"mass": gpu_envs.uniform(0.0, 1)}, "'mass' must be"),
    ({"mass": gpu_envs.uniform(1, 1e5)}, "in a range"),
    ({"mass": gpu_envs.choice([1, -3])}, "got -3 in a range"),
    ({"mass": gpu_envs.normal(1, 0.1, 0.5, 1e7)}, "in a range"),
    ({"velocities": [True] * 4}, "'velocities' must be a bool"),
    ({"velocities": gpu_envs.choice([0, 1])}, "'velocities' cannot differ by world"),
    ({"masse": [1, 2, 3, 4]}, "did you mean 'mass'"),
    ({"varies": ("masse",)}, "'masse'"),
    ({"varies": ("velocities",)}, "'velocities' has one value for all worlds"),
    ({"varies": "mass"}, "varies must be a list"),
    ({"varies": (3,)}, "varies must have names"),
    ({"varies": 7}, "varies must be a list"),
]


@pytest.mark.parametrize(("given", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(make_simulator, given, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make_simulator("CartPole-v0", 4, **given)


# What set_parameters refuses, where the mass varies and nothing else.
BAD_CHANGES = [
    ({"mass": [1, 2]}, "one for each of 4 worlds"),
    ({"mass": [1, 2], "worlds": [0, 1, 2]}, "one for each of 3 worlds"),
    ({"mass": 0}, "'mass' must be a number from"),
    ({"mass": math.nan}, "got nan"),
    ({"mass": "heavy"}, "must be a number, an array or a range"),
    ({"mass": None}, "must be a number, an array or a range"),
    ({"mass": 1, "worlds": [4]}, "worlds"),
    ({"mass": 1, "worlds": [-1]}, "worlds"),
    ({"mass": 1, "worlds": [0.5]}, "worlds"),
    ({"mass": 1, "worlds": "all"}, "worlds"),
    ({"mass": gpu_envs.uniform(1, 1e9)}, "in a range"),
    ({"mass": 2, "force": [1, 2, 3, 4]}, r"varies=\('force',\)"),
    ({"mass": 2, "force": gpu_envs.uniform(1, 2)}, r"varies=\('force',\)"),
    ({"mass": 2, "force": 1, "worlds": [2]}, r"varies=\('force',\)"),
    ({"mass": 2, "velocities": False}, "cannot change in a simulator"),
    ({"mass": 2, "speed": 1}, "unknown parameter of CartPole-v0 'speed'"),
    ({"mass": 2, "mas": 1}, "did you mean 'mass'"),
]


@pytest.mark.parametrize(("given", "message"), BAD_CHANGES)
def test_a_bad_change_is_refused_and_changes_nothing(make_simulator, given, message) -> None:
    simulator = make_simulator("CartPole-v0", 4, mass=[1, 2, 3, 4])
    simulator.reset(seed=0)
    before = simulator.save()
    with pytest.raises((ValueError, TypeError), match=message):
        simulator.set_parameters(**given)
    assert simulator.save() == before


BAD_RESETS = [
    ({"mass": [1, 2]}, "one for each of 4 worlds"),
    ({"mass": -1}, "'mass' must be"),
    ({"mass": 1, "low": 2, "high": 1}, "low must not be above high"),
    ({"mass": 1, "lo": 2}, "unknown reset option 'lo'"),
    ({"mass": 1, "reset_mask": [True]}, "reset_mask must have shape"),
    ({"force": [1, 2, 3, 4]}, r"varies=\('force',\)"),
]


@pytest.mark.parametrize(("options", "message"), BAD_RESETS)
def test_a_reset_with_bad_parameters_resets_nothing(make_simulator, options, message) -> None:
    simulator = make_simulator("CartPole-v0", 4, mass=[1, 2, 3, 4])
    simulator.reset(seed=0)
    before = simulator.save()
    with pytest.raises(ValueError, match=message):
        simulator.reset(options=options)
    assert simulator.save() == before


def test_columns_and_saves_hold_to_the_ranges_of_parameters(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", 2, mass=[1, 2])
    simulator.reset(seed=0)
    before = simulator.save()
    for column, value in (("world.mass", -1), ("ranges.law", 9), ("ranges.count", 99)):
        with pytest.raises(ValueError, match=column.rpartition(".")[2]):
            simulator.set(column, value)
    assert simulator.save() == before
    simulator.set("world.mass", 0.01)  # the lowest, as a float32 holds it
    simulator.load(before)
    simulator.set("world.mass", [[3.0], [4.0]])  # what follows from it is computed again
    simulator.step(np.zeros((2, 1), int))
    other = make_simulator("CartPole-v0", 2, mass=[3, 4])
    other.reset(seed=0)
    other.step(np.zeros((2, 1), int))
    assert np.array_equal(simulator.observe().obs, other.observe().obs)


def test_ranges_of_any_numbers_draw_values_within_the_parameters_own(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", 8, mass=gpu_envs.uniform(1, 2))
    random = np.random.default_rng(0)
    for law in range(5):
        simulator.set("ranges.law", law)
        numbers = random.choice([0, -1, 1e300, -1e300, 5e-324, 0.5], (8, 1, 8))
        simulator.set("ranges.number", numbers)
        simulator.set("ranges.count", law)
        outputs = simulator.reset(seed=law)
        values = simulator.get("world.mass")
        assert ((values >= 0.009999) & (values <= 10000)).all()
        assert np.isfinite(outputs.obs).all()


# A column that is set breaks a relation with what another range may draw, then or later.
BROKEN_RELATIONS = [
    (
        "HideSeek-v0",
        {"division_count_low": gpu_envs.uniform(1, 5), "varies": ("division_count_high",)},
        [("world.division_count_high", 1)],
    ),
    (
        "HideSeek-v0",
        {"varies": ("division_count_low", "placement_tries")},
        [("ranges.number", 7), ("ranges.count", 1), ("ranges.law", 3)],
    ),
    (
        "Flocking-v0",
        {"min_speed": gpu_envs.uniform(0, 0.02), "max_speed": [0.03, 0.03]},
        [("world.max_speed", 0.01)],
    ),
    (
        "Collect-v0",
        {"varies": ("diamond_share",)},
        [("ranges.number", 1), ("ranges.count", 1), ("ranges.law", 3)],
    ),
]


@pytest.mark.parametrize(("name", "given", "columns"), BROKEN_RELATIONS)
def test_a_column_is_not_set_to_what_no_episode_could_begin_with(
    make_simulator, name, given, columns
) -> None:
    simulator = make_simulator(name, 2, **given)
    simulator.reset(seed=1)
    if "division_count_low" in given:  # so that only the range breaks it
        while simulator.get("world.division_count_low")[:, 0].max() > 1:
            simulator.reset()
    for column, value in columns[:-1]:
        simulator.set(column, value)
    before = simulator.save()
    with pytest.raises(ValueError, match="parameters: "):
        simulator.set(*columns[-1])
    assert simulator.save() == before
    for _ in range(5):
        simulator.reset()
        simulator.load(simulator.save())


NORMALS = [  # mean, deviation, lowest, highest: in the middle, wide, narrow, in either tail
    (1, 0.3, 0.5, 3),
    (2, 0.5, 0.01, 1000),
    (1, 1000, 0.5, 1.5),
    (0, 1, 1.5, 4),
    (0, 1, 2.5, 4),
    (0.2, 1, 0.5, 50),
    (5, 1, 0.5, 1.5),
    (50, 1, 0.5, 20),
    (100, 0.5, 0.5, 99),
]


@pytest.mark.parametrize("numbers", NORMALS)
def test_normal_numbers_are_distributed_as_within_their_bounds(make_simulator, numbers) -> None:
    mean, deviation, low, high = numbers
    count = 4000
    simulator = make_simulator("CartPole-v0", count, mass=gpu_envs.normal(*numbers))
    simulator.reset(seed=3)
    values = np.sort(simulator.get("world.mass")[:, 0].astype(float))
    assert low <= values[0] and values[-1] <= high

    def above(x: float) -> float:  # by the nearer tail, of which no digits are lost
        return math.erfc(x / math.sqrt(2)) / 2

    ends = [(low - mean) / deviation, (high - mean) / deviation]
    sign = -1 if ends[1] < 0 else 1
    scaled = [sign * (x - mean) / deviation for x in values]
    first, last = sorted(sign * end for end in ends)
    whole = above(first) - above(last)
    expected = np.array([(above(first) - above(x)) / whole for x in scaled])
    expected = expected if sign > 0 else 1 - expected
    distance = np.abs(expected - (np.arange(count) + 0.5) / count).max()
    assert distance < 1.95 / math.sqrt(count)  # Kolmogorov's, once in a thousand


def test_a_parameter_of_all_worlds_is_a_column_too(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", 3, force=4)
    simulator.reset(seed=0)
    assert simulator.get("world.force").tolist() == [[4.0]] * 3
    with pytest.raises(ValueError, match=r"world\.forc"):
        simulator.get("world.forc")
