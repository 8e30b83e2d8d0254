"""What the contract's tests share: the registered environments, and how to play any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs
from gpu_envs.known import measures
from gpu_envs.known.measures import sizes
from scripts.checks import golden_cases

ROOT = Path(__file__).resolve().parents[2]

Case = golden_cases.Case
REGISTERED = gpu_envs.environments()
CASES = list(golden_cases.read(REGISTERED))
# Too long for the native tests' slow executors.
LONG = list(golden_cases.read(REGISTERED, golden_cases.FOLDER / "long"))
NAMES = list(REGISTERED)
TOGETHER = [name for name in NAMES if measures.measures_of(name)["tests"].get("together")]
SINGLES = [name for name in NAMES if name not in TOGETHER]
# Every environment, and again with every profile that it has beside its default.
SETTINGS = [(name, {}) for name in NAMES] + [
    (name, {"profile": profile})
    for name, description in REGISTERED.items()
    for parameter in description["parameters"]
    if parameter["name"] == "profile"
    for profile in parameter["names"]
    if profile != parameter["default"]
]
MODES = ("SameStep", "NextStep", "Disabled")

every_environment = pytest.mark.parametrize("name", NAMES)
every_setting = pytest.mark.parametrize(
    ("name", "profile"), SETTINGS, ids=["-".join([name, *own.values()]) for name, own in SETTINGS]
)
every_single = pytest.mark.parametrize("name", SINGLES)
every_mode = pytest.mark.parametrize("mode", MODES)


def short(name: str) -> dict[str, Any]:
    """Little work, and several episodes within a hundred steps."""
    options = sizes(name, "small")
    return {**options, "max_episode_steps": 23} if options else {}


def sampled(env: Any, steps: int, seed: int = 0) -> np.ndarray:
    """Actions of a vector environment, (steps, rows, ...)."""
    env.action_space.seed(seed)
    actions = np.array([env.action_space.sample() for _ in range(steps)])
    simulator = env.unwrapped.simulator
    return (
        actions % np.tile(most, simulator.num_worlds) if (most := choices(simulator)) else actions
    )


def choices(simulator: gpu_envs.Simulator) -> list[int]:
    """How many actions each agent of a world has, where roles differ in that; else empty."""
    most = [role.choices for role in simulator.roles for _ in range(role.count)]
    return most if len(set(most)) > 1 else []


def drawn(simulator: gpu_envs.Simulator, steps: int, seed: int = 0) -> list[np.ndarray]:
    """Actions of a simulator, (worlds, agents, ...) for each step."""
    space, random = simulator.single_action_space, np.random.default_rng(seed)
    shape = (steps, simulator.num_worlds, simulator.agents_per_world, *(space.shape or ()))
    if isinstance(space, gymnasium.spaces.Box):
        numbers = random.uniform(space.low, space.high, shape)
    else:
        numbers = random.integers(0, getattr(space, "nvec", getattr(space, "n", None)), shape)
    if most := choices(simulator):
        numbers = numbers % most
    return list(numbers.astype(space.dtype))


def legal(numbers: np.ndarray, infos: dict[str, Any]) -> np.ndarray:
    """Legal actions by number, counted around; the numbers themselves where all are legal."""
    if "action_mask" not in infos:
        return numbers
    allowed = np.asarray(infos["action_mask"]) != 0
    wanted = numbers % allowed.sum(axis=1)
    return ((allowed.cumsum(axis=1) == wanted[:, np.newaxis] + 1) & allowed).argmax(axis=1)


def address(array: Any) -> int:
    """Where an array of any library begins."""
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def layers(observation: Any) -> dict[str, Any]:
    """Arrays of an observation, or Boxes of its space, by name; one alone has the name ""."""
    return dict(observation) if isinstance(observation, Mapping) else {"": observation}


def of_each(observation: Any, change: Callable[[Any], Any]) -> Any:
    """Change an array, or each array of a dict."""
    if isinstance(observation, Mapping):
        return {name: change(layer) for name, layer in observation.items()}
    return change(observation)


def rows_of(observation: Any, rows: Any) -> Any:
    """Rows of an array of any library, or of each array of a dict."""
    return of_each(observation, lambda layer: np.asarray(layer[rows]))


def by_row(observation: Any) -> Any:
    """An observation of a simulator, (worlds, agents, ...), with a row per agent."""
    return of_each(observation, lambda layer: layer.reshape(-1, *layer.shape[2:]))


def same(left: Any, right: Any, *, equal_nan: bool = False) -> bool:
    """Whether arrays of any library, or dicts of them, are equal."""
    ours, theirs = layers(left), layers(right)
    return ours.keys() == theirs.keys() and all(
        np.array_equal(np.asarray(ours[name]), np.asarray(theirs[name]), equal_nan=equal_nan)
        for name in ours
    )


def flat_bytes(observation: Any) -> bytes:
    """All bytes of an array of any library, or of a dict of them with their names."""
    return b"".join(
        name.encode() + np.asarray(layer).tobytes() for name, layer in layers(observation).items()
    )


def leaves(infos: Any) -> list[Any]:
    """Arrays of infos within infos."""
    if isinstance(infos, dict):
        return [leaf for value in infos.values() for leaf in leaves(value)]
    return [infos]
