"""`sample_actions`: legal actions of every space, evenly, and the same bits for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import gpu_envs
from gpu_envs.known import registration

# An environment of each kind of space, and how many worlds make 4,000 rows.
CASES = {
    "Discrete": ("TagGrid-v0", 400, {}),
    "MultiDiscrete": ("HideSeek-v0", 800, {}),
    "flat": ("ObstaclesEasy-v0", 4000, {"actions": "flat"}),
    "Box": ("CartPoleContinuous-v0", 4000, {}),
    "Box of two": ("SwarmTag-v0", 50, {"runner_count": 64, "chaser_count": 16}),
    "roles, padded": ("CovidEconomy-v0", 90, {}),
}
_STANDARD_SCORE = 5.0  # of a chi-square with a fixed seed: one in 3 million by chance


def evenness(counts: np.ndarray) -> float:
    """Return by how many standard deviations counts are farther from even than expected."""
    expected = counts.sum() / len(counts)
    square = float(((counts - expected) ** 2 / expected).sum())
    freedom = len(counts) - 1
    return (square - freedom) / np.sqrt(2 * freedom)


def check_even(values: np.ndarray, low: float, high: float, categories: int | None) -> None:
    """Check that one word of many actions is even over its range."""
    if categories is None:
        assert values.min() >= low and values.max() <= high
        values, categories = ((values - low) / (high - low) * 16).astype(int).clip(0, 15), 16
    counts = np.bincount(values, minlength=categories)
    assert len(counts) == categories and counts.min() > 0
    assert evenness(counts) < _STANDARD_SCORE


@pytest.fixture
def make() -> Any:
    made: list[gpu_envs.Simulator] = []

    def one(name: str, worlds: int, **keywords: Any) -> gpu_envs.Simulator:
        made.append(gpu_envs.Simulator(name, worlds, device="cpu", **keywords))
        return made[-1]

    yield one
    for simulator in made:
        simulator.close()


@pytest.mark.parametrize("case", CASES)
def test_every_action_of_a_space_is_drawn_evenly(make, case) -> None:
    name, worlds, keywords = CASES[case]
    simulator = make(name, worlds, **keywords)
    drawn = simulator.sample_actions(seed=3)
    assert drawn.shape[:2] == (worlds, simulator.agents_per_world)
    for role, actions in simulator.by_role(drawn).items():
        space = next(r.action_space for r in simulator.roles if r.name == role)
        if isinstance(space, spaces.Box):
            assert actions.dtype == np.float32
            for k in range(space.shape[0]):
                check_even(actions[..., k].ravel(), space.low[k], space.high[k], None)
            continue
        counts = space.nvec if isinstance(space, spaces.MultiDiscrete) else [space.n]
        assert actions.dtype == np.int32
        words = actions.reshape(-1, len(counts))
        for k, count in enumerate(counts):
            check_even(words[:, k], 0, count - 1, int(count))
        for k in range(1, len(counts)):  # words of a row are independent
            joint = words[:, k] + counts[k] * words[:, k - 1]
            if len(words) >= 20 * counts[k] * counts[k - 1]:
                check_even(joint, 0, 0, int(counts[k] * counts[k - 1]))
    simulator.reset(seed=0)
    simulator.step(drawn)
    simulator.check()


def forms_of_every_environment() -> list[Any]:
    found = []
    for name, description in sorted(registration.environments().items()):
        forms: list[dict[str, str]] = [{}]
        if description.get("roles"):
            forms.append({"roles": "split"})
        elif len(description["action"]) > 1 and description["action"][0]["choices"]:
            forms.append({"actions": "flat"})
        found += [pytest.param(name, form, id=f"{name} {form or ''}") for form in forms]
    return found


@pytest.mark.parametrize(("name", "keywords"), forms_of_every_environment())
def test_draws_of_every_environment_are_what_step_takes(make, name, keywords) -> None:
    simulator = make(name, 2, strict=True, **keywords)
    results = simulator.reset(seed=1)
    twin = make(name, 2, threads=1, **keywords)
    for _ in range(4):
        drawn = simulator.sample_actions(results.action_mask, seed=9)
        out = np.empty_like(drawn)
        assert twin.sample_actions(results.action_mask, seed=9, out=out) is out
        assert drawn.tobytes() == out.tobytes()
        results = simulator.step(drawn)  # strict: an action that is not legal raises


def masked(counts: list[int], legal: dict[int, list[int]], rows: int) -> np.ndarray:
    mask = np.zeros((rows, sum(counts)), np.int8)
    first = np.cumsum([0, *counts[:-1]])
    for word, categories in legal.items():
        mask[:, first[word] + np.array(categories)] = 1
    return mask


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.bool_])
def test_masks_of_several_categories_are_the_categories_of_each(make, kind) -> None:
    simulator = make("HideSeek-v0", 800)
    rows, counts = 800 * simulator.agents_per_world, [11, 11, 11, 2, 2]
    legal = {0: [0, 10], 1: [3, 4, 7], 2: [5], 3: [1]}  # of the last none
    mask = masked(counts, legal, rows).astype(kind)
    words = simulator.sample_actions(mask, seed=2).reshape(rows, 5)
    for word, categories in legal.items():
        found, times = np.unique(words[:, word], return_counts=True)
        assert found.tolist() == categories
        assert len(categories) == 1 or evenness(times) < _STANDARD_SCORE
    assert not words[:, 4].any()


def test_any_byte_that_is_not_zero_is_legal(make) -> None:
    simulator = make("TagGrid-v0", 50)
    for legal in (1, 2, 0x10, 0x80, 0xFF):
        mask = np.zeros((50, simulator.agents_per_world, 5), np.uint8)
        mask[..., 3] = legal
        assert (simulator.sample_actions(mask) == 3).all()


def test_masks_may_have_more_than_64_categories(make) -> None:
    simulator = make("ObstaclesEasy-v0", 1000, actions="flat")
    count = int(simulator.single_action_space.n)
    assert count > 256
    for legal in ([0], [63], [64], [count - 1], [5, 63, 64, 128, 200, count - 1]):
        mask = masked([count], {0: legal}, 1000)
        found, times = np.unique(simulator.sample_actions(mask, seed=1), return_counts=True)
        assert found.tolist() == legal
        assert len(legal) == 1 or evenness(times) < _STANDARD_SCORE
    assert not simulator.sample_actions(np.zeros((1000, count), np.int8)).any()


def test_splits_have_the_mask_of_each_role(make) -> None:
    simulator = make("CovidEconomy-v0", 60, roles="split")
    results = simulator.reset(seed=0)
    mask = np.zeros_like(results.action_mask)
    parts = simulator.by_role(mask)
    parts["governor"][..., [2, 7]] = 1
    parts["planner"][..., [0, 20]] = 1
    drawn = simulator.by_role(simulator.sample_actions(mask, seed=4))
    assert np.unique(drawn["governor"]).tolist() == [2, 7]
    assert np.unique(drawn["planner"]).tolist() == [0, 20]


MASKS: list[tuple[str, dict[str, Any], Callable[[], Any], type[Exception], str]] = [
    ("CartPoleContinuous-v0", {}, lambda: np.ones((2, 1), np.int8), ValueError, "are not"),
    ("HideSeek-v0", {}, lambda: np.ones((2, 5, 5), np.int8), ValueError, r"shape \(2, 5, 37\)"),
    ("HideSeek-v0", {}, lambda: np.ones((2, 5, 37)), TypeError, "int8 or uint8 or bool"),
]


@pytest.mark.parametrize(("name", "keywords", "mask", "error", "message"), MASKS)
def test_masks_of_another_space_are_refused(make, name, keywords, mask, error, message) -> None:
    with pytest.raises(error, match=message):
        make(name, 2, **keywords).sample_actions(mask())


def test_arrays_of_another_space_are_refused(make) -> None:
    simulator = make("CartPoleContinuous-v0", 2)
    with pytest.raises(TypeError, match=r"out must be a contiguous float32 .*\(2, 1, 1\)"):
        simulator.sample_actions(out=np.zeros((2, 1, 1), np.int32))


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_same_bits_on_a_gpu(make, on_gpu, case) -> None:
    name, _, keywords = CASES[case]
    host = make(name, 50, **keywords)
    there = gpu_envs.Simulator(name, 50, device="cuda", arrays=on_gpu.name, **keywords)
    for _ in range(3):
        drawn = on_gpu.to_host(there.sample_actions(seed=7))
        assert drawn.tobytes() == host.sample_actions(seed=7).tobytes()
    there.close()
