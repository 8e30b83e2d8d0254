"""Every release of Gymnasium that the package claims gives what the installed one gives."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.xdist_group("releases")  # installed once, by one process
SLOW = pytest.mark.slow
RELEASES = [
    "0.29.1",
    "1.1.1",
    *(pytest.param(release, marks=SLOW) for release in ("1.0.0", "1.2.2", "1.3.0", "1.4.0")),
]
OLDER_NUMPY = "numpy==1.26.4"

# Prints the release, and digests of what every interface returned.
PLAY = """
import hashlib, sys
import gymnasium, numpy as np
import gpu_envs
assert "torch" not in sys.modules and "gpu_envs.core.simulator" not in sys.modules
print(gymnasium.__version__, np.__version__)
digest = hashlib.sha256()


def note(*arrays):
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())


def play(env, steps):
    obs, infos = env.reset(seed=5)
    assert env.observation_space.contains(obs)
    random = np.random.default_rng(0)
    ends = 0
    for _ in range(steps):
        mask = infos.get("action_mask")
        actions = random.integers(0, 2, env.num_envs) if mask is None else mask.argmax(1)
        obs, reward, terminated, truncated, infos = env.step(actions)
        done = terminated | truncated
        note(obs, reward, terminated, truncated, infos["episode_stats"]["r"][done])
        ends += done.sum()
        if "final_obs" in infos:
            note(infos["final_obs"][done])
        if env.autoreset_mode.value == "Disabled" and done.any():
            obs, infos = env.reset(options={"reset_mask": done})
    assert ends > 3
    assert env.metadata["autoreset_mode"] is env.autoreset_mode
    env.close()
    assert env.closed


for mode in ("SameStep", "NextStep", "Disabled"):
    for name, parameters in (("CartPole-v0", {}), ("Hanabi-v0", {"preset": "very_small"})):
        options = {"device": "cpu", "autoreset_mode": mode, **parameters}
        play(gpu_envs.VectorEnv(name, 3, **options), 60)
        play(gpu_envs.make_vec(name, 3, **options), 60)
    print(mode, digest.hexdigest())

options = {"device": "cpu"}
if gymnasium.__version__.startswith("0."):  # there only this form reaches a vector environment
    options = {"vectorization_mode": "custom", "vector_kwargs": {"name": "CartPole-v0", **options}}
play(gymnasium.make_vec("gpu_envs/CartPole-v0", num_envs=3, **options), 60)
print("make_vec", digest.hexdigest())

for env in (gymnasium.make("gpu_envs:gpu_envs/CartPole-v0"), gpu_envs.Env("CartPole-v0")):
    note(env.reset(seed=5)[0])
    for step in range(60):
        obs, reward, terminated, truncated, info = env.step(step % 2)
        note(obs, reward, terminated, truncated)
        if terminated or truncated:
            note(env.reset()[0])  # continues the stream of the seed
    assert isinstance(env.unwrapped, gymnasium.Env)
    env.close()
print("single", digest.hexdigest())
"""
TORCH = """
import numpy as np, torch
import gpu_envs
print(np.__version__)
env = gpu_envs.VectorEnv("CartPole-v0", 3, device="cpu", arrays="torch")
obs, _ = env.reset(seed=1)
obs, reward, *_ = env.step(torch.ones(3, dtype=torch.int64))
print(obs.sum().item().hex(), reward.numpy().sum())
"""


@pytest.fixture(scope="module")
def installed(run_with) -> Callable[[str], list[str]]:
    """Returns what a program prints with what is installed; each is run once."""
    return functools.cache(lambda program: run_with(program).splitlines()[1:])


@pytest.mark.parametrize("number", RELEASES)
def test_results_are_those_of_the_installed_release(run_with, installed, number) -> None:
    found = run_with(PLAY, f"gymnasium=={number}").splitlines()
    assert found[0].split()[0] == number
    assert found[1:] == installed(PLAY) and len(found) == 6


@pytest.mark.parametrize("program", [PLAY, TORCH])
def test_numpy_before_2_gives_the_same(run_with, installed, program) -> None:
    if program is TORCH:
        pytest.importorskip("torch", reason="needs torch")
    found = run_with(program, "gymnasium==0.29.1", OLDER_NUMPY).splitlines()
    assert found[0].split()[-1] == OLDER_NUMPY.partition("==")[2]
    assert found[1:] == installed(program)
