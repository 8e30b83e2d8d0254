"""A witness simulator: it steps before and after a test, and must follow its course bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gpu_envs


def _course(simulator: gpu_envs.Simulator, steps: int) -> list[bytes]:
    return [simulator.step([0, 1, 1]).obs.tobytes() for _ in range(steps)]


@pytest.fixture(scope="module")
def undisturbed() -> list[bytes]:
    simulator = gpu_envs.Simulator("CartPole-v0", 3, device="cpu")
    simulator.reset(seed=9)
    return _course(simulator, 40)


@pytest.fixture(autouse=True)
def witness(undisturbed: list[bytes]) -> Iterator[None]:
    simulator = gpu_envs.Simulator("CartPole-v0", 3, device="cpu")
    simulator.reset(seed=9)
    before = _course(simulator, 5)
    yield
    assert before + _course(simulator, 35) == undisturbed
