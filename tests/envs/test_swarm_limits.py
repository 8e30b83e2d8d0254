"""Worlds of many agents at their limits: none, one, far too many, and actions that are no numbers.

What is refused is refused with a sentence, and the worlds go on as if nothing had been asked.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.benchmark.entries import actions_for

Make = Callable[..., gpu_envs.Simulator]
Run = Callable[..., subprocess.CompletedProcess[str]]

SMALL: dict[str, dict[str, Any]] = {
    "TagGrid-v0": {"num_taggers": 6, "grid_length": 5},
    "TagContinuous-v0": {"num_taggers": 3, "num_runners": 5},
    "Flocking-v0": {"agent_count": 40},
    "SwarmTag-v0": {"runner_count": 30, "chaser_count": 5},
}
FLOATS = ("Flocking-v0", "SwarmTag-v0")


# With little memory to ask for and little time, so that a missing check cannot fill the machine.
_GUARDED = """
import resource, signal
signal.alarm(60)
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
import gpu_envs
try:
    simulator = gpu_envs.Simulator({name!r}, {worlds}, device="cpu", **{parameters!r})
    simulator.reset(seed=0)
    print("no error")
except Exception as problem:
    print(type(problem).__name__, problem)
"""


# ---- how many agents


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("Flocking-v0", {"agent_count": 0}, "agent_count.*got 0"),
        ("SwarmTag-v0", {"runner_count": 0, "chaser_count": 0}, "count"),
    ],
)
def test_too_few_agents_are_refused_by_name(name, parameters, message) -> None:
    with pytest.raises((ValueError, OverflowError), match=message):
        gpu_envs.Simulator(name, 1, device="cpu", **parameters)


@pytest.mark.parametrize(
    ("name", "parameters", "agents"),
    [
        ("TagGrid-v0", {"num_taggers": 1, "grid_length": 1}, 2),
        ("TagContinuous-v0", {"num_taggers": 1, "num_runners": 1}, 2),
        ("Flocking-v0", {"agent_count": 1}, 1),
        ("SwarmTag-v0", {"runner_count": 1, "chaser_count": 1}, 2),
    ],
)
def test_the_fewest_agents_play(make_simulator: Make, name, parameters, agents) -> None:
    simulator = make_simulator(name, 3, **parameters)
    first = simulator.reset(seed=1)
    assert simulator.agents_per_world == agents
    for actions in actions_for(simulator):
        result = simulator.step(actions)
        assert np.isfinite(result.obs).all() and np.isfinite(result.reward).all()
    assert result.obs.shape == first.obs.shape
    simulator.check()


def test_an_agent_alone_has_no_company(make_simulator: Make) -> None:
    simulator = make_simulator("Flocking-v0", 2, agent_count=1)
    simulator.reset(seed=1)
    result = simulator.step(np.ones((2, 2), np.float32))
    assert (result.reward == 0).all()
    assert (result.obs[..., : simulator.parameters["sector_count"]] == -1).all()


@pytest.mark.parametrize("full", [False, True])
def test_more_agents_than_cells_share_them(make_simulator: Make, full) -> None:
    simulator = make_simulator(
        "TagGrid-v0", 2, num_taggers=200, grid_length=2, use_full_observation=full
    )
    simulator.reset(seed=1)
    for actions in actions_for(simulator):
        result = simulator.step(actions)
        assert 0 <= result.obs.min() and result.obs.max() <= 1
    simulator.check()


@pytest.mark.parametrize(
    ("name", "worlds", "parameters"),
    [
        ("Flocking-v0", 1, {"agent_count": 1_000_000_000}),
        ("Flocking-v0", 20_000, {"agent_count": 100_000}),
        (
            "TagContinuous-v0",
            1,
            {"num_taggers": 10_000, "num_runners": 90_000, "use_full_observation": True},
        ),
        ("TagGrid-v0", 1, {"num_taggers": 99_999, "use_full_observation": True}),
        ("SwarmTag-v0", 1, {"runner_count": 900_000_000, "chaser_count": 100_000_000}),
    ],
)
def test_what_no_memory_holds_is_refused_with_what_would_fit(
    run_python: Run, name, worlds, parameters
) -> None:
    program = _GUARDED.format(name=name, worlds=worlds, parameters=parameters)
    said = run_python(program)
    assert said.stdout.startswith("MemoryError"), said.stdout[-500:] + said.stderr[-500:]
    assert "would fit" in said.stdout


# ---- what is refused leaves no trace


def play(simulator: gpu_envs.Simulator, disturb: Callable[[], None]) -> tuple[bytes, list[bytes]]:
    """Returns the worlds after a few steps, and all that was seen on the way."""
    seen = [simulator.reset(seed=5).obs.tobytes()]
    for actions in actions_for(simulator):
        disturb()
        result = simulator.step(actions)
        seen += [np.asarray(result.obs).tobytes(), np.asarray(result.reward).tobytes()]
    return simulator.save(), seen


@pytest.mark.parametrize("name", SMALL)
def test_calls_that_are_refused_change_nothing(make_simulator: Make, name) -> None:
    plain, disturbed = (make_simulator(name, 3, **SMALL[name]) for _ in range(2))
    rows = 3 * disturbed.agents_per_world
    good = actions_for(disturbed)[0]
    beyond = np.full_like(good, 100)

    def disturb() -> None:
        with pytest.raises((ValueError, TypeError)):
            disturbed.step(good[: rows - 1])
        with pytest.raises((ValueError, TypeError)):
            disturbed.step(good.astype(str))
        with pytest.raises(ValueError, match="action"):
            disturbed.step(beyond)
        with pytest.raises(ValueError, match="view"):
            disturbed.render(view="perspective")

    assert play(plain, lambda: None) == play(disturbed, disturb)


# ---- pictures


@pytest.mark.parametrize("name", SMALL)
def test_worlds_are_drawn_on_a_square_board(make_simulator: Make, name) -> None:
    simulator = make_simulator(name, 2, **SMALL[name])
    simulator.reset(seed=1)
    picture = simulator.render(1)
    assert picture.shape == (720, 720, 3) and simulator.picture_size() == (720, 720)
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    tinted = abs(red - green) + abs(green - blue) > 60
    assert 100 < tinted.sum() < 0.3 * 720 * 720
    assert np.array_equal(picture, simulator.render(1, view="top"))
    assert not np.array_equal(picture, simulator.render(0)) or name.startswith("Tag")
