"""Rows of `final_obs` in which no episode ended: zero, or left as they were; never a stale one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_gpu import DEFAULT, Array, Gpu, install, install_cupy, install_torch

from gpu_envs import Simulator, VectorEnv

WORLDS, STEPS = 6, 20
PLANT = 7  # no observation of these has it
# Rows of floats, bytes, bits; one agent and several; all of a world at once and each for itself.
FORMS: dict[str, dict[str, Any]] = {
    "CartPole-v0": {},
    "Overcooked-v0": {},
    "Hanabi-v0": {"dtype": "bits"},
    "TagGrid-v0": {},
    "Micro-v0": {"agent_count": 3},
}


@pytest.fixture(params=["numpy", "torch"])
def arrays(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


@pytest.fixture(params=FORMS)
def make(request: pytest.FixtureRequest) -> Iterator[Callable[..., Simulator]]:
    """Simulators of one environment, whose worlds end at different steps."""
    made: list[Simulator] = []

    def make_one(**keywords: Any) -> Simulator:
        given = {"max_episode_steps": 4, **FORMS[request.param], **keywords}
        made.append(Simulator(request.param, WORLDS, device="cpu", **given))
        made[-1].reset(seed=5)
        return made[-1]

    yield make_one
    for simulator in made:
        simulator.close()


ODD = np.arange(WORLDS) % 2 == 1


@pytest.fixture
def course(make: Callable[..., Simulator]) -> list[Any]:
    """Legal actions for each step of a `play`."""
    simulator, drawn = make(arrays="numpy"), []
    results = simulator.reset(seed=5)
    for step in range(STEPS):
        if step == 2:
            results = simulator.reset(mask=ODD)
        drawn.append(simulator.sample_actions(results.action_mask, seed=2).copy())
        results = simulator.step(drawn[-1])
    return drawn


def play(simulator: Simulator, course: list[Any]) -> Iterator[tuple[int, Any]]:
    """Number and actions of each step; at the third one the odd worlds are reset."""
    for step, actions in enumerate(course):
        if step == 2:
            simulator.reset(mask=ODD)
        yield step, actions


def copied(array: Any) -> Any:
    return np.asarray(array).copy()


def plain(outputs: Any) -> dict[str, Any]:
    return {n: copied(a) for n, a in outputs._asdict().items() if a is not None}


def played(simulator: Simulator, course: list[Any]) -> list[dict[str, Any]]:
    return [plain(simulator.step(actions)) for _, actions in play(simulator, course)]


def check_equal(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    for step, (one, other) in enumerate(zip(first, second, strict=True)):
        for name in one:
            assert np.array_equal(one[name], other[name]), (step, name)


def test_rows_are_zero_in_fresh_arrays(make, course, arrays) -> None:
    seen = played(make(arrays=arrays), course)
    for outputs in seen:
        assert not outputs["final_obs"][~outputs["ended"]].any()
    ended = np.stack([outputs["ended"] for outputs in seen])
    assert (ended.any(axis=(1, 2)) & ~ended.all(axis=(1, 2))).any()


def test_reused_arrays_hold_what_fresh_ones_do(make, course, arrays) -> None:
    expected = played(make(arrays=arrays), course)
    simulator, found = make(arrays=arrays, reuse=True), []
    for _, actions in play(simulator, course):
        found.append(plain(simulator.step(actions)))
    check_equal(expected, found)


def test_vector_environments_reuse_as_well(arrays) -> None:
    def final(**keywords: Any) -> list[Any]:
        env = VectorEnv("CartPole-v0", WORLDS, arrays=arrays, max_episode_steps=3, **keywords)
        env.reset(seed=1)
        kept = []
        for _ in range(STEPS):
            infos = env.step(np.zeros(WORLDS, np.int64))[4]
            kept.append(copied(infos["final_obs"]))
        env.close()
        return kept

    assert np.array_equal(final(), final(reuse=True))


def plant(results: Any, rows: Any) -> None:
    for world, agent in zip(*np.nonzero(rows), strict=True):
        results.final_obs[int(world), int(agent)] = PLANT


def planted(results: Any, rows: Any) -> Any:
    """Which of the rows hold what was planted, of which none ended."""
    return (copied(results.final_obs)[rows] == PLANT).reshape(rows.sum(), -1).all(axis=1)


def step_with_plants(step: Callable[[], Any], results: Any) -> Any:
    """Plant rows where `ended` has none, and say which of them are still there after a step."""
    free = ~copied(results.ended)
    plant(results, free)
    after = step()
    return planted(after, free & ~copied(after.ended))


def test_reused_arrays_are_cleared_only_where_a_step_has_written(make, course, arrays) -> None:
    simulator = make(arrays=arrays, reuse=True)
    results = simulator.step(course[0])
    kept = step_with_plants(lambda: simulator.step(course[1]), results)
    assert kept.size > 0
    assert kept.all()


@pytest.mark.parametrize("names", [(), ("obs",), ("ended", "final_obs")], ids=str)
def test_out_that_leaves_the_two_together_changes_nothing(make, course, names) -> None:
    simulator = make(arrays="numpy", reuse=True)
    mine = make(arrays="numpy").reset(seed=5)._asdict()
    with pytest.raises(ValueError, match="endet"):
        simulator.step(course[0], out={"endet": mine["ended"]})
    simulator.step(course[0], out={name: mine[name] for name in names})
    results = simulator.step(course[1])
    kept = step_with_plants(lambda: simulator.step(course[1]), results)
    assert kept.size > 0
    assert kept.all()


def test_reused_arrays_are_empty_before_the_first_reset(make, course, arrays) -> None:
    simulator = make(arrays=arrays)
    saved = simulator.save()
    expected = plain(simulator.step(course[0]))
    # Memory that others have used: the first steps after a load find it as it is.
    for _ in range(3):
        spoilt = [make(arrays=arrays).step(course[0]) for _ in range(4)]
        for results in spoilt:
            results.final_obs[...] = PLANT
            results.ended[...] = True
        del spoilt
        unused = make(arrays=arrays, reuse=True)
        unused._own.clear()  # as after a load, with no reset before it
        unused.load(saved)
        check_equal([expected], [plain(unused.step(course[0]))])


def test_reused_arrays_are_cleared_whole_once_outputs_went_elsewhere(make, course, arrays) -> None:
    simulator, witness = make(arrays=arrays, reuse=True), make(arrays=arrays)
    mine = make(arrays=arrays).reset(seed=5)._asdict()
    out = {name: mine[name] for name in ("ended",)}
    found = []
    for step, actions in play(simulator, course):
        # What the odd steps say of their ends is written elsewhere, their rows into our arrays.
        results = simulator.step(actions, out=out if step % 2 else None)
        found.append(plain(results))
    check_equal(played(witness, course), found)
    simulator.reset(seed=5)
    results = simulator.step(course[0])
    kept = step_with_plants(lambda: simulator.step(course[1]), results)
    assert kept.size > 0
    assert not kept.any()


@pytest.mark.parametrize("way", ["out", "reuse"])
def test_rows_that_are_kept_stay_as_they_were(make, course, arrays, way) -> None:
    expected = played(make(arrays=arrays), course)
    simulator = make(arrays=arrays, final_rows="keep", reuse=way == "reuse")
    results = simulator.reset(seed=5)
    out = results if way == "out" else None
    for step, actions in play(simulator, course):
        every = np.ones((WORLDS, simulator.agents_per_world), bool)
        plant(results, every)
        results = simulator.step(actions, out=out)
        ended = copied(results.ended)
        shown = copied(results.final_obs)
        assert np.array_equal(shown[ended], expected[step]["final_obs"][ended])
        assert (shown[~ended] == PLANT).all()


# ---- on a GPU that is not there


@pytest.fixture(params=["torch", "cupy"])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    made = Gpu()
    install(monkeypatch, made)
    (install_torch if request.param == "torch" else install_cupy)(monkeypatch, made)
    made.library = request.param  # type: ignore[attr-defined]
    return made


def host(results: Any, name: str) -> Any:
    array = getattr(results, name)
    return array.values if isinstance(array, Array) else np.asarray(array)


def test_captured_steps_clear_all_rows_since_anything_may_precede_a_replay(gpu: Any) -> None:
    simulator = Simulator("CartPole-v0", 4, arrays=gpu.library, reuse=True)
    simulator.reset(seed=1)
    left = []
    for captured in (False, True, False):
        results = simulator.step([0, 1, 0, 1])
        assert not host(results, "final_obs").any()
        host(results, "final_obs")[:2] = PLANT
        (gpu.captured.add if captured else gpu.captured.discard)(DEFAULT)
        simulator.step([0, 1, 0, 1])
        left.append(bool(host(results, "final_obs").any()))
        gpu.captured.discard(DEFAULT)
        host(results, "final_obs")[:] = 0
    assert left == [True, False, True]
    simulator.close()


@pytest.mark.parametrize("captured", [False, True])
def test_arrays_are_empty_at_first_on_a_device_of_their_own(monkeypatch, captured) -> None:
    gpu = Gpu(2)
    install(monkeypatch, gpu)
    install_cupy(monkeypatch, gpu)
    source = Simulator("CartPole-v0", 4, arrays="cupy")
    source.reset(seed=1)
    simulator = Simulator("CartPole-v0", 4, arrays="cupy", reuse=True)
    simulator.load(source.save())
    if captured:
        gpu.captured.add(DEFAULT)
    results = simulator.step([0, 1, 0, 1])
    assert not host(results, "final_obs").any()
    # What was cleared in a capture is empty once that was replayed: who knows when.
    gpu.captured.discard(DEFAULT)
    host(results, "final_obs")[0] = PLANT
    assert host(simulator.step([0, 1, 0, 1]), "final_obs").any() != captured
    simulator.close()
    source.close()
