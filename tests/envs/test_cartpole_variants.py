"""CartPole with a force of any size, and CartPole whose velocities are hidden.

The oracle of forces is Gymnasium's CartPole-v1, its push set to as many newtons. Tolerances hold
against it alone; what compares the engine with itself is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from gpu_envs import Simulator
from gpu_envs.players import scripted

PLAYER = scripted.beside("CartPole-v0")

CONTINUOUS = "CartPoleContinuous-v0"
IDS = ("CartPole-v0", "CartPole64-v0", CONTINUOUS)
COLUMNS = ("cart.x", "cart.velocity", "cart.angle", "cart.spin")
LIMITS = np.array([2.4, 0.20943951023931953])  # of x and of the angle
# Rounding of one step in float32: absolute, or in units of the last place.
ONE_STEP, ULPS = 4e-7, 2
EDGE = 1e-6  # flags may differ this close to a limit

Make = Callable[..., Simulator]


def state_of(simulator: Simulator) -> np.ndarray:
    return np.concatenate([simulator.get(column) for column in COLUMNS], axis=1)


def put(simulator: Simulator, states: np.ndarray) -> None:
    for k, column in enumerate(COLUMNS):
        simulator.set(column, states[:, k : k + 1])


def random_states(count: int, seed: int) -> np.ndarray:
    reach = np.array([2.4, 4, 0.2095, 4])
    return np.random.default_rng(seed).uniform(-reach, reach, (count, 4)).astype(np.float32)


# ---- a force of any size


def gymnasium_steps(states: np.ndarray, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gymnasium's states and flags after one step with 10 N times each force."""
    env: Any = gymnasium.make("CartPole-v1").unwrapped
    env.reset(seed=0)
    after, terminated = np.empty((len(states), 4)), np.empty(len(states), bool)
    for i, force in enumerate(forces.astype(np.float64)):
        env.state, env.steps_beyond_terminated = states[i].astype(np.float64), None
        env.force_mag = 10.0 * force
        terminated[i] = env.step(1)[2]
        after[i] = env.state
    return after, terminated


def test_action_is_a_box_of_one_force(make_vec: Callable[..., Any]) -> None:
    env = make_vec(CONTINUOUS, 3)
    assert env.single_action_space == gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    assert env.action_space == gymnasium.spaces.Box(-1, 1, (3, 1), np.float32)
    assert env.spec.reward_threshold == 475 and env.spec.max_episode_steps == 500


def test_steps_agree_with_gymnasium_pushing_as_hard(make_simulator: Make) -> None:
    states = random_states(20_000, seed=1)
    forces = np.random.default_rng(2).uniform(-1, 1, len(states)).astype(np.float32)
    forces[:4] = (-1, 1, 0, -0.0)
    expected, terminated = gymnasium_steps(states, forces)

    simulator = make_simulator(CONTINUOUS, len(states), autoreset_mode="Disabled")
    simulator.reset(seed=0)
    put(simulator, states)
    outputs = simulator.step(forces[:, np.newaxis])

    found = state_of(simulator)
    error = np.abs(found - expected)
    spacing = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
    assert (error <= np.maximum(ONE_STEP, ULPS * spacing)).all(), error.max(axis=0)
    clear = (np.abs(np.abs(expected[:, [0, 2]]) - LIMITS) > EDGE).all(axis=1)
    assert (outputs.terminated[clear, 0] == terminated[clear]).all()
    assert clear.mean() > 0.999 and 0.05 < terminated.mean() < 0.95
    assert (outputs.reward == 1.0).all()
    assert (outputs.obs[:, 0] == found).all()


def test_full_force_is_cartpole_bit_for_bit(make_simulator: Make) -> None:
    pushed, forced = (make_simulator(name, 32) for name in ("CartPole-v0", CONTINUOUS))
    left, right = pushed.reset(seed=3), forced.reset(seed=3)
    random, ends = np.random.default_rng(3), 0
    for _ in range(200):
        assert left.obs.tobytes() == right.obs.tobytes()
        directions = random.integers(0, 2, 32)
        left = pushed.step(directions)
        right = forced.step(2 * directions[:, np.newaxis].astype(np.float32) - 1)
        assert left.final_obs.tobytes() == right.final_obs.tobytes()
        assert (left.reward == right.reward).all() and (left.ended == right.ended).all()
        ends += int(left.ended.sum())
    assert ends > 100
    assert (state_of(pushed) == state_of(forced)).all()


def test_policy_of_measured_pushes_solves_the_task(make_simulator: Make) -> None:
    simulator = make_simulator(CONTINUOUS, 64)
    obs, total, hardest = simulator.reset(seed=1).obs, np.zeros(64), 0.0
    for _ in range(500):
        forces = PLAYER.stabilise_gently(obs[:, 0])
        outputs = simulator.step(forces)
        obs, total = outputs.obs, total + outputs.reward[:, 0]
        hardest = float(np.abs(forces).max())
    assert (total == 500).all() and outputs.truncated.all() and not outputs.terminated.any()
    assert (outputs.episode_return == 500).all()
    assert hardest < 0.5  # at rest it needs no full push, as the two of CartPole-v0 are


def test_policy_that_does_not_push_fails(make_simulator: Make) -> None:
    simulator = make_simulator(CONTINUOUS, 64, sutton_barto_reward=True)
    simulator.reset(seed=2)
    steps, returns = np.zeros(64, int), []
    for _ in range(600):
        outputs = simulator.step(np.zeros((64, 1), np.float32))
        steps += 1
        fell = outputs.terminated[:, 0]
        assert (outputs.reward[:, 0] == np.where(fell, -1, 0)).all()
        assert (outputs.episode_length[fell, 0] == steps[fell]).all()
        returns += outputs.episode_return[fell, 0].tolist()
        steps[fell] = 0
    assert not outputs.truncated.any() and steps.max() < 200
    assert len(returns) > 64 * 4 and set(returns) == {-1.0}


@pytest.mark.parametrize(
    ("forces", "error", "message"),
    [
        ([0.0, 0.0], ValueError, r"actions must have shape \(2, 1\) or \(2, 1, 1\) .*, got \(2,\)"),
        (
            np.zeros(2, np.float32),
            ValueError,
            r"actions must have shape \(2, 1\) or .*, got \(2,\)",
        ),
        (np.zeros((2, 1), np.int64), TypeError, "actions must be floats such as float32"),
    ],
)
def test_what_is_no_force_is_refused_and_moves_nothing(
    make_simulator: Make, forces: Any, error: type[Exception], message: str
) -> None:
    simulator = make_simulator(CONTINUOUS, 2)
    simulator.reset(seed=0)
    before = simulator.save()
    with pytest.raises(error, match=message):
        simulator.step(forces)
    assert simulator.save() == before


def test_forces_of_every_float_type_give_the_same_step(make_simulator: Make, torch: Any) -> None:
    values = np.array([[-1.0], [0.25], [1.0]])
    forms = [values.astype(t) for t in (np.float64, np.float32, np.float16)]
    forms += [values.tolist(), values.astype(np.float32)[:, np.newaxis]]
    forms += [torch.as_tensor(values, dtype=t) for t in (torch.float32, torch.float64)]
    states = []
    for forces in forms:
        simulator = make_simulator(CONTINUOUS, 3)
        simulator.reset(seed=0)
        simulator.step(forces)
        states.append(state_of(simulator))
    assert all((state == states[0]).all() for state in states)


def test_drawn_forces_are_floats_within_the_bounds(make_simulator: Make) -> None:
    forces = make_simulator(CONTINUOUS, 2).sample_actions(seed=1)
    assert forces.shape == (2, 1, 1) and forces.dtype == np.float32
    assert (abs(forces) <= 1).all()


@pytest.mark.gpu
def test_gpu_replaces_and_counts_what_is_no_force(make_simulator: Make, on_gpu: Any) -> None:
    states = []
    for forces in ([-1.0, 1.0, -1.0, 0.5], [np.nan, np.inf, -3.0, 0.5]):
        simulator = make_simulator(CONTINUOUS, 4, device="cuda", arrays=on_gpu.name)
        simulator.reset(seed=0)
        simulator.step(on_gpu.to_gpu(np.array(forces, np.float32)[:, None]))
        states.append(state_of(simulator))
    assert (states[0] == states[1]).all()
    with pytest.raises(ValueError, match="3 actions were out of range and replaced, first"):
        simulator.check()


# ---- hidden velocities


def random_actions(simulator: Simulator, seed: int) -> np.ndarray:
    space = simulator.single_action_space
    space.seed(seed)
    return np.stack([space.sample() for _ in range(simulator.num_worlds)])


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_hidden_velocities_are_zero_and_nothing_else_changes(
    make_simulator: Make, name: str, mode: str
) -> None:
    options = {"autoreset_mode": mode, "max_episode_steps": 20}
    shown = make_simulator(name, 16, **options)
    hidden = make_simulator(name, 16, velocities=False, **options)
    assert hidden.single_observation_space == shown.single_observation_space
    pairs = [(shown.reset(seed=5), hidden.reset(seed=5))]
    for step in range(60):
        actions = random_actions(shown, step)
        pairs.append((shown.step(actions), hidden.step(actions)))
        assert (state_of(shown) == state_of(hidden)).all()
    ends = 0
    for full, part in pairs:
        assert (part.obs[:, 0, [0, 2]] == full.obs[:, 0, [0, 2]]).all()
        assert not part.obs[:, 0, [1, 3]].view(np.uint32).any()  # and no negative zeros
        if full.final_obs is not None:
            assert (part.final_obs[:, 0, [0, 2]] == full.final_obs[:, 0, [0, 2]]).all()
            assert not part.final_obs[:, 0, [1, 3]].view(np.uint32).any()
        for field in ("reward", "terminated", "truncated", "ended", "episode_return"):
            left, right = getattr(full, field), getattr(part, field)
            assert (left is None and right is None) or (left == right).all(), field
        ends += int((full.terminated | full.truncated).sum())
    assert ends > 16


@pytest.mark.parametrize("name", IDS)
def test_dictionary_of_observations_keeps_its_names(
    make_vec: Callable[..., Any], name: str
) -> None:
    env = make_vec(name, 3, observation="dict", velocities=False)
    obs, _ = env.reset(seed=0)
    assert list(obs) == ["x", "velocity", "angle", "spin"]
    assert obs["x"].any() and obs["angle"].any()
    assert not obs["velocity"].any() and not obs["spin"].any()


def act(name: str, wanted: np.ndarray) -> np.ndarray:
    """Push where `wanted` says, with all force."""
    if name == CONTINUOUS:
        return np.sign(wanted)[:, np.newaxis].astype(np.float32)
    return (wanted > 0).astype(np.int64)


def play_hidden(simulator: Simulator, name: str, *, remembers: bool) -> np.ndarray:
    """Lengths of first episodes, by observations alone: with or without the one before."""
    obs = simulator.reset(seed=1).obs[:, 0]
    before, lengths = obs, np.zeros(len(obs), int)
    for _ in range(500):
        speed = (obs - before) / 0.02 if remembers else obs * 0
        before = obs
        wanted = PLAYER.lean(obs[:, 0], speed[:, 0], obs[:, 2], speed[:, 2])
        outputs = simulator.step(act(name, wanted))
        obs, over = outputs.obs[:, 0], outputs.ended[:, 0] & (lengths == 0)
        lengths[over] = outputs.episode_length[over, 0]
    return lengths


@pytest.mark.parametrize("name", IDS)
def test_hidden_velocities_ask_for_memory(make_simulator: Make, name: str) -> None:
    for remembers in (True, False):
        simulator = make_simulator(name, 64, velocities=False)
        lengths = play_hidden(simulator, name, remembers=remembers)
        assert (lengths == 500).all() if remembers else lengths.max() < 200
