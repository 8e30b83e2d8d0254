"""Bad input of every kind gets the promised error, by name, and everybody else goes on.

A witness simulator runs beside each case: it steps before and after, and must follow its course
bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.gpu_envs.witness import undisturbed, witness  # noqa: F401 - fixtures

GOOD = np.array([0, 1, 0, 1])
NAN = float("nan")


@pytest.fixture
def env(make_vec: Any) -> gpu_envs.VectorEnv:
    env: gpu_envs.VectorEnv = make_vec()
    env.reset(seed=1)
    return env


PAIR = np.array([0, 1])

CONSTRUCTION = [
    ({"num_envs": 0}, ValueError, "num_envs must be between 1 and"),
    ({"num_envs": -4}, ValueError, "num_envs must be between 1 and"),
    ({"num_envs": 2**40}, ValueError, "num_envs must be between 1 and"),
    ({"num_envs": 10**30}, ValueError, "num_envs must be between 1 and"),
    ({"num_envs": 2.5}, TypeError, "num_envs must be an int"),
    ({"final_rows": "clear"}, ValueError, "final_rows must be 'zero' or 'keep', got 'clear'"),
    ({"final_rows": None}, ValueError, "final_rows must be 'zero' or 'keep', got None"),
    ({"num_envs": True}, TypeError, "num_envs must be an int"),
    ({"num_envs": "4"}, TypeError, "num_envs must be an int"),
    ({"num_envs": None}, TypeError, "num_envs must be an int"),
    ({"num_envs": 2**32}, ValueError, "num_envs must be between 1 and"),
    ({"name": "Micro-v0", "num_envs": 2**30, "agent_count": 1000}, MemoryError, "bytes"),
    ({"name": "CartPol-v0"}, ValueError, "did you mean 'CartPole-v0'"),
    ({"name": "Chess-v9"}, ValueError, "unknown environment 'Chess-v9'"),
    ({"name": 7}, TypeError, "name must be a str"),
    ({"device": "gpu"}, ValueError, "device must be 'auto', 'cpu'"),
    ({"device": "cuda:77"}, ValueError, "device 'cuda"),
    ({"arrays": "tensorflow"}, ValueError, "unknown arrays 'tensorflow'"),
    ({"arrays": "cupy"}, ValueError, "arrays='cupy' needs device='cuda'"),
    ({"num_envs": np.array([4])}, TypeError, r"num_envs must be an int, got array\(\[4\]\)"),
    ({"autoreset_mode": PAIR}, ValueError, "autoreset_mode must be a member .*got array"),
    ({"observation": PAIR}, ValueError, "observation must be 'flat' or 'dict', got array"),
    ({"arrays": PAIR}, ValueError, "unknown arrays array"),
    ({"infos": PAIR}, ValueError, "infos must be 'nested' or 'rows', got array"),
    ({"render_mode": PAIR}, ValueError, "render_mode of CartPole-v0 must be one of.*got array"),
    ({"sutton_barto_reward": PAIR}, TypeError, "'sutton_barto_reward' must be a bool, got array"),
    ({"threads": 0}, ValueError, "threads must be between 1"),
    ({"threads": -2}, ValueError, "threads must be between 1"),
    ({"threads": "two"}, TypeError, "threads must be an int"),
    ({"first_world": -1}, ValueError, "first_world must be between 0"),
    ({"first_world": 2**32}, ValueError, "first_world must be between 0"),
    ({"autoreset_mode": "same_step"}, ValueError, r"'Disabled', .* did you mean 'SameStep'"),
    *[({"autoreset_mode": mode}, ValueError, "autoreset_mode must be") for mode in (1, None, True)],
    ({"max_episode_steps": -1}, ValueError, "max_episode_steps must be between 0"),
    ({"max_episode_steps": 1.5}, TypeError, "max_episode_steps must be an int"),
    ({"observation": "box"}, ValueError, "observation must be 'flat' or 'dict'"),
    ({"outputs": "obs"}, TypeError, "outputs must be a list"),
    ({"outputs": ["final_obz"]}, ValueError, "did you mean 'final_obs'"),
    ({"outputs": ["action_mask"]}, ValueError, "action_mask"),
    ({"render_mode": "human"}, ValueError, "render_mode of CartPole-v0 must be one of: None"),
    ({"autoreset_mod": "Disabled"}, TypeError, "did you mean 'autoreset_mode'"),
    ({"sutton_barto": True}, TypeError, "did you mean 'sutton_barto_reward'"),
    (
        {"zzz": 3.0},
        TypeError,
        r"CartPole-v0 got an unexpected keyword argument 'zzz' \(valid: sutton",
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), CONSTRUCTION)
def test_construction_is_refused(options, error, message) -> None:
    with pytest.raises(error, match=message):
        gpu_envs.VectorEnv(**({"name": "CartPole-v0", "num_envs": 4, "device": "cpu"} | options))


ACTIONS = [
    (np.zeros(3, np.int64), ValueError, r"actions must .*\(4,\).*got \(3,\)"),
    (np.zeros((1, 4), np.int64), ValueError, r"actions must .*got \(1, 4\)"),
    (np.zeros((4, 2), np.int64), ValueError, r"actions must .*got \(4, 2\)"),
    (np.int64(1), TypeError, "actions must be"),
    (1, TypeError, "actions must be"),
    ([], TypeError, "actions must be"),
    ([0, 1], ValueError, r"actions must .*got \(2,\)"),
    (np.zeros(4, np.float32), TypeError, "actions must be.*int64.*got float32"),
    (np.full(4, NAN), TypeError, "actions must be.*got float64"),
    ([0, NAN, 1, 0], TypeError, "actions must be.*got float64"),
    ("0101", TypeError, "actions must be an array or a list"),
    (None, TypeError, "actions must be an array or a list"),
    (np.array([0, 1, 2, 0]), ValueError, "actions: world 2, agent 0: 2 is not"),
    (np.array([0, -1, 0, 0]), ValueError, "actions: world 1, agent 0: -1 is not"),
    (np.array([2**40, 0, 0, 0]), ValueError, "actions: world 0"),
    ([0, 1, 0, 9], ValueError, "actions: world 3"),
    (
        np.array([0, 1, 0, 2**63], np.uint64),
        ValueError,
        "actions: 9223372036854775808 is too large for int64",
    ),
    (
        [0, 1, 0, 2**70],
        TypeError,
        "got object: it contains a value that is not a number or is too large",
    ),
]


@pytest.mark.parametrize(("actions", "error", "message"), ACTIONS)
@pytest.mark.parametrize("options", [{}, {"reuse": True}, {"arrays": "torch"}], ids=str)
def test_actions_are_refused_before_any_world_moves(
    make_vec, options, actions, error, message
) -> None:
    if options.get("arrays") == "torch":
        pytest.importorskip("torch")
    env, twin = make_vec(**options), make_vec()
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(error, match=message):
        env.step(actions)
    assert (np.asarray(env.step(GOOD)[0]) == twin.step(GOOD)[0]).all()


@pytest.mark.parametrize("options", [{}, {"reuse": True}, {"arrays": "torch"}], ids=str)
def test_booleans_are_actions_of_two_choices(make_vec, options) -> None:
    if options.get("arrays") == "torch":
        pytest.importorskip("torch")
    env, twin = make_vec(**options), make_vec()
    env.reset(seed=1)
    twin.reset(seed=1)
    for given in (np.array(GOOD, bool), np.array(GOOD, bool).tolist()):
        assert (np.asarray(env.step(given)[0]) == twin.step(GOOD)[0]).all()


def test_native_step_takes_booleans_for_two_choices_alone(make_simulator) -> None:
    for name, taken in (("CartPole-v0", True), ("Micro-v0", False)):
        simulator = make_simulator(name, 4, device="cpu")
        simulator.reset(seed=1)
        given = np.zeros((4, simulator.agents_per_world), bool)
        if taken:
            assert simulator._native.step_numpy(given, True).reward.tolist() == [1.0] * 4
            continue
        with pytest.raises(TypeError, match="int64, int32 or uint8, got bool"):
            simulator._native.step_numpy(given, True)


def test_tensor_actions_of_wrong_kind_are_refused(env, torch) -> None:
    for actions, error, message in (
        (torch.zeros(4), TypeError, "actions must be.*got float32"),
        (torch.zeros(3, dtype=torch.int64), ValueError, r"actions must .*got \(3,\)"),
        (torch.zeros(4, dtype=torch.int64, device="meta"), ValueError, "actions must be on cpu"),
    ):
        with pytest.raises(error, match=message):
            env.step(actions)


RESETS = [
    ({"seed": -1}, ValueError, "seed must be in"),
    ({"seed": 2**64}, ValueError, "seed must be in"),
    ({"seed": np.int64(3)}, TypeError, "seed must be a Python int"),
    ({"seed": 1.0}, TypeError, "seed must be a Python int"),
    ({"seed": "1"}, TypeError, "seed must be a Python int"),
    ({"seed": True}, TypeError, "seed must be a Python int"),
    ({"seed": np.arange(4)}, TypeError, "seed must be a Python int"),
    ({"seed": {1, 2, 3, 4}}, TypeError, "seed must be a Python int"),
    ({"seed": []}, ValueError, r"seed must have one entry per world \(4\), got 0"),
    ({"seed": [1, 2]}, ValueError, r"seed must have one entry per world \(4\), got 2"),
    ({"seed": [1, 2, 3, 4, 5]}, ValueError, r"seed must have one entry per world \(4\), got 5"),
    ({"seed": [1, 2, 3, -4]}, ValueError, r"seed\[3\] must be in"),
    ({"seed": [1, None, 3, 4]}, TypeError, r"seed\[1\] must be a Python int"),
    ({"seed": [1, np.int64(2), 3, 4]}, TypeError, r"seed\[1\] must be a Python int"),
    ({"options": {"reset_mask": [True]}}, ValueError, "reset_mask must have shape"),
    ({"options": {"reset_mask": np.ones(4)}}, TypeError, "reset_mask must be a bool array"),
    ({"options": {"reset_mask": "all"}}, TypeError, "reset_mask must be"),
    ({"options": {"reset_mask": [[1], [2, 3]]}}, ValueError, "reset_mask must have one entry per"),
    ({"options": {"env_idx": [4]}}, ValueError, "env_idx must be in"),
    ({"options": {"reset_maks": [True] * 4}}, ValueError, "did you mean 'reset_mask'"),
    ({"options": {"lowest": 0.0}}, ValueError, "did you mean 'low'"),
    ({"options": 3}, TypeError, "options must be a dict"),
]


@pytest.mark.parametrize(("request_", "error", "message"), RESETS)
def test_reset_is_refused_and_changes_nothing(env, make_vec, request_, error, message) -> None:
    twin = make_vec()
    twin.reset(seed=1)
    with pytest.raises(error, match=message):
        env.reset(**request_)
    assert (env.step(GOOD)[0] == twin.step(GOOD)[0]).all()


def _out(**changes: Any) -> dict[str, Any]:
    return {"obs": np.zeros((4, 4), np.float32)} | changes


OUTS = [
    ([], TypeError, "out must be a dict"),
    (_out(obz=np.zeros(4)), ValueError, "did you mean 'obs'"),
    (_out(state=np.zeros(4)), ValueError, "unknown output in out= 'state'"),
    (_out(obs=np.zeros((4, 3), np.float32)), ValueError, r"out\['obs'\] must be .*\(4, 4\)"),
    (_out(obs=np.zeros((4, 1, 4), np.float32)), ValueError, r"out\['obs'\]"),
    (_out(obs=np.zeros((4, 4))), TypeError, r"out\['obs'\] must be .* got float64"),
    (_out(obs=np.zeros((4, 8), np.float32)[:, ::2]), ValueError, r"out\['obs'\] must be C-cont"),
    (_out(obs=[[0.0] * 4] * 4), TypeError, r"out\['obs'\] must be .* got list"),
    (_out(reward=None), TypeError, r"out\['reward'\]"),
    (_out(terminated=np.zeros(4, np.uint8)), TypeError, r"out\['terminated'\] must be .* bool"),
]


@pytest.mark.parametrize(("out", "error", "message"), OUTS)
def test_out_is_refused_and_nothing_is_stepped(env, make_vec, out, error, message) -> None:
    twin = make_vec()
    twin.reset(seed=1)
    with pytest.raises(error, match=message):
        env.step(GOOD, out=out)
    assert (env.step(GOOD)[0] == twin.step(GOOD)[0]).all()


def test_read_only_out_is_refused(env) -> None:
    frozen = np.zeros((4, 4), np.float32)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match=r"out\['obs'\] must be .*writable"):
        env.step(GOOD, out={"obs": frozen})


def test_tensors_in_out_must_fit_too(make_vec, torch) -> None:
    env = make_vec(arrays="torch")
    env.reset(seed=0)
    for array, error in (
        (np.zeros((4, 4), np.float32), TypeError),
        (torch.zeros((4, 4), dtype=torch.float64), TypeError),
        (torch.zeros((4, 4), device="meta"), ValueError),
        (torch.zeros((4, 8))[:, ::2], ValueError),
        (torch.zeros((3, 4)), ValueError),
    ):
        with pytest.raises(error, match=r"out\['obs'\] must be a contiguous float32"):
            env.step(GOOD, out={"obs": array})


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


MASK = np.ones((4, 1, 2), np.int8)
SAMPLES = [
    ({"mask": np.ones((4, 2), np.int64)}, TypeError, "mask must be .*int8 or uint8 or bool"),
    ({"mask": np.ones((4, 1, 4), np.int8)[..., ::2]}, ValueError, "mask must be C-contiguous"),
    ({"mask": MASK[::-1]}, ValueError, "mask must be C-contiguous"),
    ({"mask": MASK[:3]}, ValueError, r"mask must be .*\(4, 1, 2\) or \(4, 2\).*got .*\(3, 1, 2\)"),
    ({"mask": [[1, 1]] * 4}, TypeError, "mask must be .*got list"),
    ({"out": np.zeros((4, 2), np.int32)[:, ::2]}, ValueError, "out must be C-contiguous"),
    ({"out": np.zeros((4, 1), np.int32)[::-1]}, ValueError, "out must be C-contiguous"),
    ({"out": _frozen(np.zeros((4, 1), np.int32))}, ValueError, "out must be .*writable"),
    ({"out": np.zeros((4, 1), np.int64)}, TypeError, "out must be .*int32.*got int64"),
    ({"out": np.zeros(4, np.int32)}, ValueError, r"out must be .*\(4, 1\)"),
    ({"out": [[0]] * 4}, TypeError, "out must be .*got list"),
    ({"seed": -1}, ValueError, "seed must be between 0 and"),
    ({"seed": 2**64}, ValueError, "seed must be between 0 and"),
    ({"seed": 1.0}, TypeError, "seed must be an int"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), SAMPLES)
def test_sampling_is_refused(env, arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        env.simulator.sample_actions(**arguments)


def test_sampling_into_tensors_is_refused_where_they_do_not_fit(make_vec, torch) -> None:
    simulator = make_vec(arrays="torch").simulator
    ones = torch.ones((4, 1, 4), dtype=torch.int8)
    for arguments, error in (
        ({"mask": ones[..., ::2]}, ValueError),
        ({"mask": ones[..., :2].contiguous().to("meta")}, ValueError),
        ({"mask": torch.ones((4, 1, 2), dtype=torch.int64)}, TypeError),
        ({"mask": MASK[::-1]}, ValueError),
        ({"out": np.zeros((4, 1), np.int32)}, TypeError),
        ({"out": torch.zeros((4, 1), dtype=torch.int32, device="meta")}, ValueError),
        ({"out": torch.zeros((4, 2), dtype=torch.int32)[:, ::2]}, ValueError),
    ):
        with pytest.raises(error, match=f"{next(iter(arguments))} must be"):
            simulator.sample_actions(**arguments)
    numpys = make_vec().simulator
    with pytest.raises(TypeError, match=r"mask must be .*got Tensor"):
        numpys.sample_actions(torch.ones((4, 1, 2), dtype=torch.int8))


COPIES = [
    (([4], [0]), ValueError, "src must be in"),
    (([0], [-1]), ValueError, "dst must be in"),
    (([0, 1], [2]), ValueError, "dst must be as long as src"),
    ((["a"], [0]), TypeError, "src must be a list of world numbers"),
    (([0.5], [0]), TypeError, "src must be a list of world numbers"),
]


@pytest.mark.parametrize(("worlds", "error", "message"), COPIES)
def test_copies_of_worlds_are_refused(env, worlds, error, message) -> None:
    with pytest.raises(error, match=message):
        env.simulator.copy_worlds(*worlds)


# Saves.


def _saved(**options: Any) -> bytes:
    settings: dict[str, Any] = {"name": "CartPole-v0", "num_worlds": 4} | options
    simulator = gpu_envs.Simulator(settings.pop("name"), settings.pop("num_worlds"), **settings)
    simulator.reset(seed=2)
    return simulator.save()


SAVES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: b"", ValueError, "not a save of gpu_envs"),
    (lambda: b"not a save at all", ValueError, "not a save of gpu_envs"),
    (lambda: _saved()[:-1], ValueError, "truncated"),
    (lambda: _saved()[:20], ValueError, "truncated"),
    (lambda: _saved() + b"\0", ValueError, "damaged"),
    (lambda: _saved(name="CartPole64-v0"), ValueError, "CartPole64-v0"),
    (lambda: _saved(name="Micro-v0", agent_count=1), ValueError, "Micro-v0"),
    (lambda: _saved(num_worlds=5), ValueError, "worlds: it has 5"),
    (lambda: _saved(sutton_barto_reward=True), ValueError, "sutton_barto_reward"),
    (lambda: _saved(autoreset_mode="NextStep"), ValueError, "NextStep"),
    (lambda: "text", TypeError, "data must be bytes"),
    (lambda: None, TypeError, "data must be bytes"),
]


@pytest.mark.parametrize(("save", "error", "message"), SAVES)
def test_foreign_and_damaged_saves_are_refused_whole(env, make_vec, save, error, message) -> None:
    twin = make_vec()
    twin.reset(seed=1)
    with pytest.raises(error, match=message):
        env.simulator.load(save())
    assert (env.step(GOOD)[0] == twin.step(GOOD)[0]).all()


def test_every_flipped_bit_of_a_save_is_noticed(env) -> None:
    saved = _saved()
    random = np.random.default_rng(0)
    for position in [*range(32), *random.integers(0, len(saved), 200)]:
        damaged = bytearray(saved)
        damaged[position] ^= 1 << int(random.integers(8))
        with pytest.raises(ValueError):  # what it says depends on the bit
            env.simulator.load(bytes(damaged))
    env.simulator.load(saved)


def test_there_are_at_least_sixty_cases() -> None:
    tables = (CONSTRUCTION, ACTIONS, RESETS, OUTS, COPIES, SAVES)
    assert sum(map(len, tables)) >= 60
