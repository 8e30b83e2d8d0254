"""`worlds=` of a step: what a mask may be, which actions count, and where outputs go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import errors

WORLDS = 5
HALF = np.array([True, False, True, True, False])
NAMES = ["CartPole-v0", "Overcooked-v0"]  # of one agent, and of two


def _begun(make_simulator: Any, name: str = NAMES[0], **options: Any) -> gpu_envs.Simulator:
    simulator: gpu_envs.Simulator = make_simulator(name, WORLDS, **options)
    simulator.reset(seed=2)
    return simulator


def _actions(simulator: gpu_envs.Simulator, step: int = 0) -> np.ndarray:
    random = np.random.default_rng(step)
    return random.integers(0, 2, (WORLDS, simulator.agents_per_world))


def _arrays(outputs: gpu_envs.Outputs) -> dict[str, np.ndarray]:
    return {n: np.asarray(a).copy() for n, a in outputs._asdict().items() if a is not None}


def _assert_same(left: gpu_envs.Outputs, right: gpu_envs.Outputs) -> None:
    mine, yours = _arrays(left), _arrays(right)
    assert list(mine) == list(yours)
    for name, array in mine.items():
        assert array.tobytes() == yours[name].tobytes(), name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form", ["list", "uint8", "rows", "strided", "torch", "torch uint8", "jax"]
)
def test_masks_of_any_form_are_those_of_bools(make_simulator, name, form) -> None:
    one, other = _begun(make_simulator, name), _begun(make_simulator, name)
    mask: Any = HALF
    if form == "list":
        mask = HALF.tolist()
    elif form == "uint8":
        mask = HALF.astype(np.uint8) * 3
    elif form == "rows":
        mask = HALF.repeat(one.agents_per_world)
    elif form == "strided":
        mask = np.stack([HALF, ~HALF], 1)[:, 0]
    else:
        library = pytest.importorskip(form.split()[0])
        mask = library.numpy.asarray(HALF) if form == "jax" else library.from_numpy(HALF.copy())
        if form.endswith("uint8"):
            mask = mask.to(library.uint8)
    for step in range(3):
        actions = _actions(one, step)
        _assert_same(one.step(actions, worlds=HALF), other.step(actions, worlds=mask))
    assert one.save() == other.save()


@pytest.mark.parametrize(
    ("mask", "error", "said"),
    [
        (np.ones(WORLDS + 1, bool), ValueError, r"worlds must have shape \(5,\).*got \(6,\)"),
        (np.ones((WORLDS, 1), bool), ValueError, r"got \(5, 1\)"),
        (np.ones(WORLDS), TypeError, "worlds must be a bool or uint8 array, got float64"),
        (np.ones(WORLDS, int), TypeError, "worlds must be a bool or uint8 array, got int64"),
        ([0, 2], TypeError, "bool or uint8 array, got int64"),
        (True, TypeError, "worlds must be an array or a list, got bool"),
        ("all", TypeError, "worlds must be an array or a list, got str"),
        ([True, [False]], ValueError, "worlds must have one entry per world or row"),
        ([True, False] * WORLDS, ValueError, "equal for the 2 rows of a world"),
    ],
)
def test_bad_masks_are_refused_and_nothing_changes(make_simulator, mask, error, said) -> None:
    simulator = _begun(make_simulator, "Overcooked-v0")
    before = simulator.save()
    with pytest.raises(error, match=said):
        simulator.step(_actions(simulator), worlds=mask)
    assert simulator.save() == before


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_actions_count_where_a_world_steps(make_simulator, kind) -> None:
    simulator = _begun(make_simulator)
    actions = _actions(simulator).astype(kind)
    actions[~HALF] = 99
    simulator.step(actions, worlds=HALF)
    before = simulator.save()
    actions[2] = 7
    with pytest.raises(ValueError, match="world 2, agent 0: 7 is not one of 0 to 1"):
        simulator.step(actions, worlds=HALF)
    with pytest.raises(ValueError, match="world 1, agent 0: 99 is not one of 0 to 1"):
        simulator.step(actions)
    assert simulator.save() == before
    with pytest.raises(ValueError, match="actions must have shape"):  # of all worlds
        simulator.step(actions[HALF], worlds=HALF)


def test_numbers_of_others_may_be_nan(make_simulator) -> None:
    simulator = _begun(make_simulator, "Flocking-v0", agent_count=3)
    space = simulator.single_action_space
    actions = np.full((WORLDS, 3, *space.shape), np.nan, np.float32)
    with pytest.raises(ValueError, match="world 0"):
        simulator.step(actions, worlds=HALF)
    actions[HALF] = 0
    for kind in (np.float32, np.float64):
        assert np.isfinite(simulator.step(actions.astype(kind), worlds=HALF).obs).all()


@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("way", ["fresh", "reuse", "out"])
def test_outputs_go_where_those_of_whole_steps_go(make_simulator, arrays, way) -> None:
    pytest.importorskip(arrays)
    if (arrays, way) == ("jax", "out"):
        pytest.skip("immutable")
    plain = _begun(make_simulator, max_episode_steps=3)
    options = {"arrays": arrays, "max_episode_steps": 3}
    if way == "reuse" and arrays != "jax":
        options["reuse"] = True
    simulator = _begun(make_simulator, **options)
    out: Any = None
    if way == "out":
        out = simulator.step(_actions(simulator))._asdict()
        plain.step(_actions(plain))
        out = {name: array for name, array in out.items() if array is not None}
    for step in range(12):
        actions, mask = _actions(plain, step), np.roll(HALF, step)
        found = simulator.step(actions, worlds=mask, out=out)
        _assert_same(plain.step(actions, worlds=mask), found)
        if out is not None:
            assert all(getattr(found, name) is array for name, array in out.items())


def test_nobody_steps_or_everybody(make_simulator) -> None:
    simulator, other = _begun(make_simulator), _begun(make_simulator)
    before = simulator.save()
    outputs = simulator.step(_actions(simulator), worlds=np.zeros(WORLDS, bool))
    assert simulator.save() == before
    assert not outputs.reward.any()
    _assert_same(
        simulator.step(_actions(simulator), worlds=np.ones(WORLDS, bool)),
        other.step(_actions(other)),
    )


def test_a_reset_of_next_step_waits_until_the_mask_names_its_world(make_simulator) -> None:
    simulator = _begun(make_simulator, autoreset_mode="NextStep", max_episode_steps=2)
    for _ in range(2):
        ended = simulator.step(_actions(simulator))
    assert ended.truncated.all()
    for steps in (0, 1):
        outputs = simulator.step(_actions(simulator), worlds=HALF)
        assert outputs.truncated[:, 0].tolist() == (~HALF).tolist()
        assert np.array_equal(outputs.obs[~HALF], ended.obs[~HALF])
        assert not outputs.ended.any()
        assert simulator.get("world.step")[:, 0].tolist() == np.where(HALF, steps, 2).tolist()
    assert simulator.get("world.episode")[:, 0].tolist() == HALF.astype(int).tolist()


def test_a_step_of_some_needs_a_reset_and_an_open_simulator(make_simulator) -> None:
    simulator = make_simulator("CartPole-v0", WORLDS)
    with pytest.raises(errors.ResetNeeded, match=r"reset\(\) before step"):
        simulator.step(_actions(simulator), worlds=HALF)
    simulator.reset(seed=1)
    simulator.close()
    with pytest.raises(RuntimeError, match="is closed"):
        simulator.step(np.zeros((WORLDS, 1), int), worlds=HALF)


def test_strict_steps_judge_those_that_step(make_simulator) -> None:
    simulator = _begun(make_simulator, autoreset_mode="Disabled", max_episode_steps=1, strict=True)
    simulator.step(_actions(simulator), worlds=HALF)
    for _ in range(3):  # nothing is wrong where a finished world does not step
        simulator.step(_actions(simulator), worlds=np.zeros(WORLDS, bool))
    with pytest.raises(errors.ResetNeeded, match="3 steps of worlds"):
        simulator.step(_actions(simulator), worlds=HALF)


def test_rows_of_the_vector_interface(make_vec) -> None:
    env, plain = (make_vec("Overcooked-v0", WORLDS) for _ in range(2))
    for one in (env, plain):
        one.reset(seed=1)
    rows = HALF.repeat(env.agents_per_world)
    actions = env.action_space.sample()
    expected = plain.step(actions)
    actions[~rows] = -5
    for mask in (HALF, np.zeros(WORLDS, bool)):
        before = env.simulator.save()
        obs, reward, terminated, _, infos = env.step(actions, worlds=mask)
        assert np.array_equal(obs[rows], expected[0][rows])
        assert not reward[~rows].any() and not terminated.any()
        assert not infos["_episode_stats"].any()
    assert env.simulator.save() == before
    assert env.simulator.get("world.step")[:, 0].tolist() == HALF.astype(int).tolist()


@pytest.mark.parametrize("group", ["agent", "role"])
def test_batches_by_agent_and_by_role(group) -> None:
    env = gpu_envs.batched_parallel_env("TagContinuous-v0", WORLDS, group=group, device="cpu")
    env.reset(seed=1)
    actions = {}
    for key, agents in env.groups.items():
        shape = (WORLDS, len(agents)) if group == "role" else (WORLDS,)
        space = env.action_space(key)
        actions[key] = np.full((*shape, *(space.shape or ())), 0)
        actions[key][~HALF] = 10_000
    env.step(actions, worlds=HALF)
    assert env.simulator.get("world.step")[:, 0].tolist() == HALF.astype(int).tolist()
    with pytest.raises(ValueError, match="is not one of"):
        env.step(actions)
