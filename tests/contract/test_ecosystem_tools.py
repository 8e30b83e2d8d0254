"""What the libraries around these environments rely on: tools, arrays, builds."""

from __future__ import annotations

import gc
import textwrap
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import performance
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import vector as wrappers

import gpu_envs
from gpu_envs.known import native
from gpu_envs.known.measures import sizes
from tests.contract.playing import (
    NAMES,
    REGISTERED,
    SINGLES,
    address,
    every_environment,
    every_mode,
    leaves,
    sampled,
    short,
)

wrappers_of_1_4 = pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4),
    reason="Gymnasium's own statistics and conversions have faults before 1.4",
)


def _exported(env: Any) -> list[Any]:
    """Arrays of a step; for what is slices, parts of rewards and measures, the array they share."""
    actions = sampled(env, 1)[0]
    *parts, infos = env.step(actions)
    shared = []
    if infos.pop("reward_parts", None) is not None:
        shared.append("reward_parts")
    names = [field.name for field in env.simulator.measure_fields]
    for infos_of in (infos, infos.get("final_info", {})):
        for name in names:
            infos_of.pop(name, None)
    if names:
        shared.append("measures")
    if shared:
        arrays = env.simulator.step_arrays(actions, True)
        parts += [getattr(arrays, name) for name in shared]
    return [leaf for part in (*parts, infos) for leaf in leaves(part)]


# Every environment for one agent, and forms of them that check_env takes another way through.
CHECKED: list[tuple[str, dict[str, Any]]] = [
    *((name, sizes(name, "alone")) for name in SINGLES),
    ("CartPole-v0", {"observation": "dict"}),
    ("CartPole64-v0", {"sutton_barto_reward": True}),
    ("CartPoleContinuous-v0", {"velocities": False}),
    ("Overcooked-v0", {"player_count": 1, "observation": "dict"}),
]


@pytest.mark.parametrize(("name", "options"), CHECKED)
def test_check_env_of_gymnasium_passes(name, options) -> None:
    env = gymnasium.make(f"gpu_envs/{name}", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # CartPole's velocities have no bound, as in Gymnasium's own.
        warnings.filterwarnings("ignore", message=".*infinity.*")
        check_env(env.unwrapped)
    env.close()


def _count_episodes(steps: list[tuple], mode: str) -> list[tuple[int, float, int]]:
    """Returns and lengths per row from rewards and flags alone."""
    rows = len(steps[0][1])
    total, length, over = np.zeros(rows), np.zeros(rows, int), np.zeros(rows, bool)
    found = []
    for _, reward, terminated, truncated, _ in steps:
        filler = over if mode == "NextStep" else np.zeros(rows, bool)
        total += np.where(filler, 0, reward)
        length += ~filler
        over = np.asarray(terminated) | np.asarray(truncated)
        for row in np.flatnonzero(over):
            found.append((int(row), float(total[row]), int(length[row])))
            total[row], length[row] = 0, 0
    return found


@wrappers_of_1_4
@every_mode
def test_statistics_of_gymnasium_behind_a_conversion_are_right(make_vec, mode) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    inner = make_vec("CartPole-v0", 5, arrays="torch", autoreset_mode=mode)
    env = wrappers.RecordEpisodeStatistics(
        wrappers.ArrayConversion(inner, env_xp=torch, target_xp=np)
    )
    env.reset(seed=0)
    steps, found = [], []
    for actions in sampled(inner, 200):
        step = env.step(actions)
        steps.append(step)
        if "episode" in step[4]:
            for row in np.flatnonzero(step[4]["_episode"]):
                episode = step[4]["episode"]
                found.append((int(row), float(episode["r"][row]), int(episode["l"][row])))
        done = step[2] | step[3]
        if mode == "Disabled" and done.any():
            env.reset(options={"reset_mask": done})
    assert found == _count_episodes(steps, mode)
    assert len(found) > 20


@wrappers_of_1_4
@every_environment
@every_mode
def test_own_statistics_equal_those_of_gymnasiums_wrapper(make_vec, name, mode) -> None:
    inner = make_vec(name, 5, autoreset_mode=mode, **short(name))
    env = wrappers.RecordEpisodeStatistics(inner)
    env.reset(seed=0)
    ended = 0
    for actions in sampled(inner, 150):
        _, _, terminated, truncated, infos = env.step(actions)
        done = terminated | truncated
        assert np.array_equal(infos["_episode_stats"], done)
        if done.any():
            for key in ("r", "l"):
                expected, own = infos["episode"][key], infos["episode_stats"][key]
                np.testing.assert_allclose(own, expected, rtol=1e-5)
            ended += done.sum()
            if mode == "Disabled":
                env.reset(options={"reset_mask": done})
    assert ended > 5


@wrappers_of_1_4
def test_wrappers_of_gymnasium_over_numpy_run() -> None:
    """Each wrapper, mode by mode: tests/gpu_envs/faces/test_wrappers.py."""
    env: Any = gpu_envs.VectorEnv("CartPole-v0", 4, device="cpu", autoreset_mode="NextStep")
    for wrapper in (
        wrappers.RecordEpisodeStatistics,
        wrappers.FlattenObservation,
        wrappers.NormalizeObservation,
        wrappers.NormalizeReward,
        wrappers.DictInfoToList,
    ):
        env = wrapper(env)
    env.reset(seed=0)
    for actions in sampled(env, 60):
        env.step(actions)
    env.close()


@every_mode
def test_benchmark_of_gymnasium_runs(make_vec, mode) -> None:
    if not hasattr(performance, "benchmark_vector_step"):
        pytest.skip("new in Gymnasium 1.4")
    env = make_vec(autoreset_mode=mode)
    assert performance.benchmark_vector_step(env, target_duration=0.05, seed=0) > 0


# Arrays


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_every_field_passes_dlpack_without_a_copy(make_vec, name, arrays) -> None:
    pytest.importorskip(arrays)
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    env = make_vec(name, 5, arrays=arrays, **sizes(name, "crowd"))
    env.reset(seed=0)
    for leaf in _exported(env):
        assert torch.from_dlpack(leaf).data_ptr() == address(leaf)
        assert address(np.from_dlpack(leaf)) == address(leaf)
        assert jax.dlpack.from_dlpack(leaf).unsafe_buffer_pointer() == address(leaf)


@pytest.mark.parametrize("name", [name for name in NAMES if REGISTERED[name]["reward_parts"]])
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_parts_of_the_reward_pass_dlpack_as_slices(make_vec, name, arrays) -> None:
    torch = pytest.importorskip("torch")
    env = make_vec(name, 5, arrays=arrays)
    env.reset(seed=0)
    parts = env.step(sampled(env, 1)[0])[4]["reward_parts"].values()
    assert len(parts) == len(REGISTERED[name]["reward_parts"])
    for part in parts:
        assert torch.from_dlpack(part).data_ptr() == address(part)
        assert address(np.from_dlpack(part)) == address(part)


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@pytest.mark.parametrize("worlds", [1, 3, 7, 129])
def test_fields_begin_at_cache_lines(make_vec, name, arrays, worlds) -> None:
    pytest.importorskip(arrays)
    env = make_vec(name, worlds, arrays=arrays, **sizes(name, "crowd"))
    env.reset(seed=0)
    assert all(address(leaf) % 64 == 0 for leaf in _exported(env))


def test_rewards_are_writable_and_capsules_outlive_the_environment() -> None:
    env = gpu_envs.VectorEnv("CartPole-v0", 3, device="cpu")
    env.reset(seed=0)
    reward = env.step([0, 1, 0])[1]
    old, new = reward.__dlpack__(), reward.__dlpack__(max_version=(1, 0))
    assert '"dltensor"' in repr(old)
    assert '"dltensor_versioned"' in repr(new)
    other = np.from_dlpack(reward)
    env.close()
    del env, reward, old, new
    gc.collect()
    other += 1
    assert other.tolist() == [2, 2, 2]


@pytest.mark.parametrize("options", [{}, {"reuse": True}], ids=str)
def test_inference_mode_leaves_the_environment_usable(make_vec, options) -> None:
    torch = pytest.importorskip("torch")
    env = make_vec(arrays="torch", **options)
    actions = torch.tensor([0, 1, 0, 1])
    with torch.inference_mode():
        env.reset(seed=0)
        env.step(actions)
    obs, reward, *_ = env.step(actions)
    weight = torch.ones(4, requires_grad=True)
    (obs @ weight).sum().backward()
    reward += 1
    assert weight.grad is not None


@every_environment
@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
def test_no_result_becomes_an_object_array(make_vec, name, arrays) -> None:
    pytest.importorskip(arrays)
    env = make_vec(name, 3, arrays=arrays, **sizes(name, "crowd"))
    env.reset(seed=0)
    for part in env.step(sampled(env, 1)[0]):
        assert all(np.asarray(leaf).dtype != object for leaf in leaves(part))


# Builds


def test_cuda_without_a_driver_gives_a_reason_and_auto_takes_the_cpu() -> None:
    if native.cuda_is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(ValueError, match=r"^device 'cuda' is not available: [^\n]+$") as caught:
        gpu_envs.VectorEnv("CartPole-v0", 1, device="cuda")
    assert "undefined symbol" not in str(caught.value)  # a module that no machine could load
    env = gpu_envs.VectorEnv("CartPole-v0", 1)
    assert env.device == "cpu"
    env.close()


def test_nothing_is_started_or_downloaded(run_python) -> None:
    native.at(native.cpu_target(), "CartPole-v0")  # a tree builds what it has not
    program = textwrap.dedent("""
        import sys
        seen = []
        def note(event, arguments):
            if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec",
                         "os.fork", "os.posix_spawn", "os.system"):
                seen.append(event)
        sys.addaudithook(note)
        import gymnasium, gpu_envs
        env = gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=4, device="cpu")
        env.reset(seed=0)
        env.step(env.action_space.sample())
        print(seen)
    """)
    assert run_python(program).stdout.strip() == "[]"
