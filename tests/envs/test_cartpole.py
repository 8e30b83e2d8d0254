"""CartPole against Gymnasium's CartPole-v1 and two scripted policies.

Single steps with the specification's numbers are in tests/kernels/envs/cartpole_test.cpp.

Both number types run every check. Tolerances hold against the outside oracle only, and state their
cause beside their value; everything that compares the engine with itself is exact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import pytest

from gpu_envs import Simulator
from gpu_envs.players import scripted

stabilise = scripted.beside("CartPole-v0").stabilise

COLUMNS = ("cart.x", "cart.velocity", "cart.angle", "cart.spin")
ANGLE_LIMIT = float.fromhex("0x1.acee9f37bebd5p-3")


# Where Gymnasium's seed 0 begins.
START_OF_SEED_0 = (
    0.013696168732145436,
    -0.02302132862361297,
    -0.045902647606380534,
    -0.04834723644714709,
)


@dataclass(frozen=True)
class Number:
    """One build of CartPole and how far it may be from the float64 reference."""

    name: str
    real: Any
    one_step: float  # absolute, per component: rounding of one step
    ulps: int  # or this many units in the last place of the component
    fifteen_steps: float  # absolute, after 15 steps
    edge: float  # flags may differ this close to a limit

    def accepts(self, got: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Which components are within the bounds of one step."""
        error = np.abs(got.astype(np.float64) - expected)
        spacing = np.spacing(np.abs(expected).astype(self.real)).astype(np.float64)
        return error <= np.maximum(self.one_step, self.ulps * spacing)


NUMBERS = (
    Number("CartPole-v0", np.float32, 4e-7, 2, 5e-6, 1e-6),
    Number("CartPole64-v0", np.float64, 1e-15, 0, 1e-14, 1e-12),
)
both_numbers = pytest.mark.parametrize(
    "number", NUMBERS, ids=[np.dtype(number.real).name for number in NUMBERS]
)
Make = Callable[..., Simulator]


def state_of(simulator: Simulator) -> np.ndarray:
    return np.concatenate([simulator.get(column) for column in COLUMNS], axis=1)


def put(simulator: Simulator, states: Any) -> np.ndarray:
    """Write states (worlds, 4), or one for all worlds; returns them as the record holds them."""
    states = np.broadcast_to(np.asarray(states, np.float64), (simulator.num_worlds, 4))
    for k, column in enumerate(COLUMNS):
        simulator.set(column, states[:, k : k + 1])
    return state_of(simulator)


def pushes(actions: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(actions, np.int64))


def one_step(make: Make, number: Number, states: Any, actions: Any) -> tuple[np.ndarray, Any]:
    """States after one step from `states` (a row per world), and the outputs; nothing is reset."""
    states = np.atleast_2d(np.asarray(states, np.float64))
    simulator = make(number.name, len(states), autoreset_mode="Disabled")
    simulator.reset(seed=0)
    put(simulator, states)
    outputs = simulator.step(np.broadcast_to(pushes(actions), len(states)).copy())
    return state_of(simulator), outputs


# ---- one step and whole episodes against the reference


def random_states(count: int, seed: int) -> np.ndarray:
    reach = np.array([2.4, 4, 0.2095, 4])
    return np.random.default_rng(seed).uniform(-reach, reach, (count, 4))


@both_numbers
def test_alternating_pushes_follow_the_path_of_the_reference(
    make_simulator: Make, number: Number
) -> None:
    expected = {
        1: (
            0.013235742159673177,
            -0.2174560418364429,
            -0.04686959233532348,
            0.22950698447811793,
        ),
        5: (
            0.0037195809308123665,
            -0.21499700312941344,
            -0.0418961374793866,
            0.17514910504381595,
        ),
        15: (
            -0.01925359857395163,
            -0.20916791400051882,
            -0.047509189692904734,
            0.04644603457767607,
        ),
    }
    simulator = make_simulator(number.name, 1)
    simulator.reset(seed=0)
    put(simulator, START_OF_SEED_0)
    for step in range(1, 16):
        simulator.step(pushes((step - 1) % 2))
        if step in expected:
            error = np.abs(state_of(simulator)[0] - np.array(expected[step]))
            assert error.max() <= number.fifteen_steps


POLICIES: dict[str, tuple[Callable[[int, np.ndarray], Any], list[int]]] = {
    "alternate": (lambda step, state: np.full(len(state), step % 2), [39, 48, 27, 24, 23, 34]),
    "follow the pole": (lambda _, state: state[:, 2] > 0, [41, 51, 35, 36, 25, 39]),
    "stabilise": (lambda _, state: stabilise(state), [500] * 6),
    "always left": (lambda _, state: np.zeros(len(state)), [11]),
    "always right": (lambda _, state: np.ones(len(state)), [8]),
}


def gymnasium_starts(count: int) -> np.ndarray:
    env = gymnasium.make("CartPole-v1").unwrapped
    return np.array([(env.reset(seed=seed), env.state)[1] for seed in range(count)], np.float64)


@both_numbers
@pytest.mark.parametrize("policy", POLICIES)
def test_policies_last_as_long_as_in_the_reference(
    make_simulator: Make,
    number: Number,
    policy: str,
    record_property: Callable[[str, object], None],
) -> None:
    act, expected = POLICIES[policy]
    simulator = make_simulator(number.name, len(expected))
    simulator.reset(seed=0)
    starts = put(simulator, gymnasium_starts(len(expected)))
    assert tuple(starts[0]) == tuple(np.array(START_OF_SEED_0, number.real))
    lengths = np.zeros(len(expected), int)
    for step in range(500):
        action = act(step, state_of(simulator))
        outputs = simulator.step(np.asarray(action).astype(np.int64))
        first = outputs.ended[:, 0] & (lengths == 0)
        lengths[first] = outputs.episode_length[first, 0]
        assert (outputs.episode_return[first, 0] == lengths[first]).all()
        assert (lengths[first] == step + 1).all()
        assert (outputs.truncated[first, 0] == (lengths[first] == 500)).all()
        assert (outputs.terminated[first, 0] == (lengths[first] < 500)).all()
    record_property("episode_lengths", lengths.tolist())
    if number.real is np.float64 or policy == "stabilise":
        assert lengths.tolist() == expected


@both_numbers
def test_starts_are_uniform_and_independent(make_simulator: Make, number: Number) -> None:
    simulator = make_simulator(number.name, 250_000)
    parts = []
    for seed in (11, None, None, None):  # later episodes draw as the first one does
        simulator.reset(seed=seed)
        parts.append(state_of(simulator))
    states = np.concatenate(parts).astype(np.float64)
    assert states.min() >= number.real(-0.05) and states.max() < number.real(0.05)
    assert np.abs(states.mean(axis=0)).max() <= 1e-4
    assert np.abs(states.var(axis=0) * 1200 - 1).max() <= 0.01
    correlation = np.corrcoef(states.T) - np.eye(4)
    assert np.abs(correlation).max() <= 5e-3  # five standard errors of 10^6 pairs
    across = np.corrcoef(parts[0][:, 0], parts[1][:, 0])[0, 1]
    assert abs(across) <= 1e-2  # five standard errors: episodes of a world


def gymnasium_steps(states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gymnasium's states and flags after one step from each state."""
    env = gymnasium.make("CartPole-v1").unwrapped
    env.reset(seed=0)
    after, terminated = np.empty_like(states), np.empty(len(states), bool)
    for i, action in enumerate(actions.tolist()):
        env.state = states[i]
        env.steps_beyond_terminated = None
        terminated[i] = env.step(action)[2]
        after[i] = env.state
    return after, terminated


def near_a_limit(states: np.ndarray, edge: float) -> np.ndarray:
    close_x = np.abs(np.abs(states[:, 0]) - 2.4) <= edge
    return close_x | (np.abs(np.abs(states[:, 2]) - ANGLE_LIMIT) <= edge)


@both_numbers
@pytest.mark.parametrize("action", [0, 1])
def test_one_step_equals_that_of_gymnasium(
    make_simulator: Make, number: Number, action: int
) -> None:
    states = random_states(100_000, seed=12).astype(number.real).astype(np.float64)
    expected, terminated = gymnasium_steps(states, np.full(len(states), action))
    got, outputs = one_step(make_simulator, number, states, action)
    accepted = number.accepts(got, expected)
    assert accepted.all(), np.abs(got - expected).max(axis=0)
    clear = ~near_a_limit(expected, number.edge)
    assert (outputs.terminated[clear, 0] == terminated[clear]).all()
    assert clear.mean() > 0.999 and 0.05 < terminated.mean() < 0.95


@both_numbers
def test_observation_is_the_state_rounded_to_float32(make_simulator: Make, number: Number) -> None:
    states = random_states(4096, seed=13)
    actions = np.random.default_rng(13).integers(0, 2, len(states))
    ends, outputs = one_step(make_simulator, number, states, actions)
    assert outputs.obs.dtype == np.float32
    assert (outputs.obs[:, 0] == ends.astype(np.float32)).all()

    simulator = make_simulator(number.name, len(states), autoreset_mode="SameStep")
    simulator.reset(seed=0)
    put(simulator, states)
    same_step = simulator.step(actions)
    ended = same_step.ended[:, 0]
    assert 0 < ended.sum() < len(ended)
    assert (same_step.final_obs[ended, 0] == ends[ended].astype(np.float32)).all()
    beyond = np.abs(same_step.final_obs[ended, 0][:, [0, 2]]) > np.float32([2.4, ANGLE_LIMIT])
    assert beyond.any(axis=1).all()
    assert (same_step.final_obs[~ended] == 0).all()
    assert (same_step.obs[:, 0] == state_of(simulator).astype(np.float32)).all()


def actions_at(step: int, worlds: np.ndarray) -> np.ndarray:
    """Actions that depend on step and world alone."""
    mixed = (worlds.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(step % 40)
    return ((mixed >> np.uint64(20)) & np.uint64(1)).astype(np.int64)


def world_hashes(make: Make, number: Number, worlds: range, **options: Any) -> list[str]:
    """A hash of every column of each world after 1,000 steps."""
    simulator = make(number.name, len(worlds), first_world=worlds.start, **options)
    simulator.reset(seed=15)
    numbers = np.arange(worlds.start, worlds.stop)
    for step in range(1000):
        simulator.step(actions_at(step, numbers))
    columns = [field["name"] for field in simulator.instance["columns"]]
    cells = [simulator.get(column).reshape(len(worlds), -1) for column in columns]
    rows = np.concatenate([np.ascontiguousarray(cell).view(np.uint8) for cell in cells], axis=1)
    return [hashlib.blake2b(row.tobytes(), digest_size=8).hexdigest() for row in rows]


@both_numbers
@pytest.mark.slow
def test_world_among_a_million_has_the_bits_of_the_world_alone(
    make_simulator: Make, number: Number
) -> None:
    batch = world_hashes(make_simulator, number, range(1_048_576))
    small = world_hashes(make_simulator, number, range(300))
    assert batch[:300] == small
    for world in (65_535, 524_288, 1_048_575):
        assert world_hashes(make_simulator, number, range(world, world + 1)) == [batch[world]]


# ---- policies, rewards, options


@both_numbers
def test_policy_that_stabilises_is_cut_short_at_step_500(
    make_simulator: Make, number: Number
) -> None:
    simulator = make_simulator(number.name, 64)
    obs = simulator.reset(seed=1).obs
    for step in range(1, 501):
        outputs = simulator.step(stabilise(obs[:, 0]))
        obs = outputs.obs
        assert (outputs.reward == 1.0).all() and not outputs.terminated.any()
        assert (outputs.truncated == (step == 500)).all()
    assert (outputs.episode_return == 500).all() and (outputs.episode_length == 500).all()


@both_numbers
@pytest.mark.parametrize("sutton_barto_reward", [False, True])
def test_policy_that_only_pushes_left_fails(
    make_simulator: Make, number: Number, sutton_barto_reward: bool
) -> None:
    simulator = make_simulator(number.name, 64, sutton_barto_reward=sutton_barto_reward)
    simulator.reset(seed=2)
    running, ended = (0.0, -1.0) if sutton_barto_reward else (1.0, 1.0)
    total, steps, episodes = np.zeros(64), np.zeros(64, int), 0
    for _ in range(60):
        outputs = simulator.step(np.zeros(64, np.int64))
        fell = outputs.terminated[:, 0]
        assert (outputs.reward[:, 0] == np.where(fell, ended, running)).all()
        total, steps = total + outputs.reward[:, 0], steps + 1
        assert (outputs.episode_return[:, 0] == np.where(fell, total, 0)).all()
        assert (outputs.episode_length[:, 0] == np.where(fell, steps, 0)).all()
        assert ((steps[fell] >= 7) & (steps[fell] <= 13)).all()
        total[fell], steps[fell], episodes = 0, 0, episodes + int(fell.sum())
    assert episodes >= 64 * 4 and not outputs.truncated.any()


@both_numbers
def test_sutton_barto_reward_of_a_truncated_episode_is_zero(
    make_simulator: Make, number: Number
) -> None:
    simulator = make_simulator(number.name, 2, sutton_barto_reward=True, max_episode_steps=3)
    simulator.reset(seed=0)
    put(simulator, (0, 0, 0, 0))
    for _ in range(2):
        assert (simulator.step(pushes([0, 1])).reward == 0).all()
    simulator.set("cart.angle", 1.0, worlds=[1])
    outputs = simulator.step(pushes([0, 1]))
    assert outputs.truncated[:, 0].tolist() == [True, True]
    assert outputs.terminated[:, 0].tolist() == [False, True]
    assert outputs.reward[:, 0].tolist() == [0.0, -1.0]


@both_numbers
def test_reset_options_move_the_start_interval(make_simulator: Make, number: Number) -> None:
    simulator = make_simulator(number.name, 10_000)
    simulator.reset(seed=3, options={"low": 0.125, "high": 0.25})
    states = state_of(simulator)
    assert states.min() >= 0.125 and states.max() < 0.25
    assert abs(states.mean() - 0.1875) < 1e-3


@both_numbers
def test_reset_options_keep_the_precision_of_the_state(
    make_simulator: Make, number: Number
) -> None:
    simulator = make_simulator(number.name, 16)
    simulator.reset(seed=3, options={"low": 0.1, "high": 0.1})
    assert (state_of(simulator) == number.real(0.1)).all()


@both_numbers
def test_gymnasium_make_vec_agrees_with_the_simulator(
    make_vec: Callable[..., Any], make_simulator: Make, number: Number
) -> None:
    env, simulator = make_vec(number.name, 8), make_simulator(number.name, 8)
    obs, _ = env.reset(seed=4, options={"low": -0.01, "high": 0.01})
    expected = simulator.reset(seed=4, options={"low": -0.01, "high": 0.01})
    assert (obs == expected.obs[:, 0]).all() and np.abs(obs).max() <= 0.01
    for step in range(40):
        actions = actions_at(step, np.arange(8))
        obs, reward, terminated, truncated, _ = env.step(actions)
        outputs = simulator.step(actions)
        assert (obs == outputs.obs[:, 0]).all() and (reward == outputs.reward[:, 0]).all()
        assert (terminated == outputs.terminated[:, 0]).all() and not truncated.any()
