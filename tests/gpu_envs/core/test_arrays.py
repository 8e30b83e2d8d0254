"""Output arrays: zero copy, no aliasing, alignment, `out=` and `reuse=`, in every library."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import numpy as np
import pytest

from gpu_envs.known.outputs import OUTPUTS

WRITTEN = OUTPUTS[:8]  # what a one-agent environment without masks writes in SameStep


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.__array_interface__["data"][0]


def _fields(outputs: Any) -> dict[str, Any]:
    return {name: a for name in OUTPUTS if (a := getattr(outputs, name)) is not None}


def _same(array: Any, expected: Any) -> bool:
    return bool((np.asarray(array) == np.asarray(expected)).all())


def _buffers(library: Any, simulator: Any, flat: bool) -> dict[str, Any]:
    """Caller's own arrays, filled with a value that no step writes."""
    made = {}
    for output in simulator.layout.outputs:
        if output is not None:
            shape = output.view(flat)
            kind = output.type if library is np else getattr(library, output.type)
            made[output.name] = library.ones(shape, dtype=kind)
    return made


@pytest.fixture(params=["numpy", "torch"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


@pytest.fixture
def arrays(library: Any) -> str:
    return str(library.__name__)


def test_all_outputs_of_one_agent_are_written(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    simulator.reset(seed=0)
    assert tuple(_fields(simulator.step([0, 1, 0, 1]))) == WRITTEN


def test_steps_share_no_memory_by_default(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    kept = [simulator.reset(seed=0)] + [simulator.step([0, 1, 0, 1]) for _ in range(20)]
    spans = [
        (_address(array), _address(array) + np.asarray(array).nbytes)
        for outputs in kept
        for array in _fields(outputs).values()
    ]
    ordered = sorted(spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(ordered))


def test_dict_observations_are_views_of_the_row(make_simulator, library, arrays) -> None:
    simulator = make_simulator(arrays=arrays, observation="dict")
    out = _buffers(library, simulator, flat=False)
    simulator.reset(seed=0)
    outputs = simulator.step([0, 1, 0, 1], out=out)
    for rows, views in ((out["obs"], outputs.obs), (out["final_obs"], outputs.final_obs)):
        places = [_address(view) - _address(rows) for view in views.values()]
        assert places == [0, 4, 8, 12]


def test_out_is_written_in_place_and_returned(make_simulator, library, arrays) -> None:
    twin, simulator = make_simulator(arrays=arrays), make_simulator(arrays=arrays)
    twin.reset(seed=5)
    simulator.reset(seed=5)
    out = _buffers(library, simulator, flat=False)
    places = {name: _address(array) for name, array in out.items()}
    for _ in range(3):
        expected = twin.step([1, 0, 1, 0])
        outputs = simulator.step([1, 0, 1, 0], out=out)
        for name, array in out.items():
            assert getattr(outputs, name) is array
            assert _address(array) == places[name]
            assert _same(array, getattr(expected, name))


def test_out_of_a_rollout_is_filled_slice_by_slice(make_vec, library, arrays) -> None:
    env, twin = make_vec(arrays=arrays), make_vec(arrays=arrays)
    steps = 5
    rollout = library.zeros((steps, 4, 4), dtype=library.float32)
    env.reset(seed=1)
    twin.reset(seed=1)
    for step in range(steps):
        slot = rollout[step]
        obs, reward, *_ = env.step([0, 1, 0, 1], out={"obs": slot})
        expected, expected_reward, *_ = twin.step([0, 1, 0, 1])
        assert obs is slot
        assert _same(rollout[step], expected)
        assert _same(reward, expected_reward)


def test_partial_out_leaves_the_rest_fresh(make_simulator, library, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    simulator.reset(seed=0)
    out = {"reward": library.zeros((4, 1), dtype=library.float32)}
    first, second = (simulator.step([0, 1, 0, 1], out=out) for _ in range(2))
    assert first.reward is second.reward is out["reward"]
    assert _address(first.obs) != _address(second.obs)


def test_outputs_object_serves_as_out(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    simulator.reset(seed=0)
    first = simulator.step([0, 1, 0, 1])
    second = simulator.step([0, 1, 0, 1], out=first)
    assert all(getattr(second, name) is array for name, array in _fields(first).items())


def test_exchanged_array_in_a_known_out_is_noticed(make_simulator, library, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    simulator.reset(seed=0)
    out = _buffers(library, simulator, flat=False)
    simulator.step([0, 1, 0, 1], out=out)
    old = out["obs"]
    before = np.asarray(old).copy()
    out["obs"] = library.zeros((4, 1, 4), dtype=library.float32)
    simulator.step([0, 1, 0, 1], out=out)
    assert _same(old, before)
    assert np.asarray(out["obs"]).any()
    out["obs"] = library.zeros((4, 4), dtype=library.float32)
    with pytest.raises(ValueError, match=r"out\['obs'\]"):
        simulator.step([0, 1, 0, 1], out=out)


def test_moved_tensor_in_a_known_out_is_noticed(make_simulator, torch) -> None:
    simulator = make_simulator(arrays="torch")
    simulator.reset(seed=0)
    out = _buffers(torch, simulator, flat=False)
    simulator.step([0, 1, 0, 1], out=out)
    out["obs"].data = torch.zeros((4, 1, 4))
    simulator.step([0, 1, 0, 1], out=out)
    assert out["obs"].any()
    out["obs"].data = torch.zeros(3)
    with pytest.raises(ValueError, match=r"out\['obs'\]"):
        simulator.step([0, 1, 0, 1], out=out)


def test_out_is_not_kept_alive(make_simulator, library, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    simulator.reset(seed=0)
    out = _buffers(library, simulator, flat=False)
    references = [weakref.ref(array) for array in out.values()]
    simulator.step([0, 1, 0, 1], out=out)
    out.clear()
    gc.collect()
    assert all(reference() is None for reference in references)


def test_reuse_writes_the_same_arrays(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays, reuse=True)
    first = simulator.reset(seed=0)
    before = np.asarray(first.obs).copy()
    second = simulator.step([0, 1, 0, 1])
    assert _address(first.obs) == _address(second.obs)
    assert not _same(first.obs, before)
    assert second.reward is simulator.step([0, 1, 0, 1]).reward


def test_reuse_with_out_writes_only_the_named_elsewhere(make_simulator, library, arrays) -> None:
    simulator = make_simulator(arrays=arrays, reuse=True)
    simulator.reset(seed=0)
    own = simulator.step([0, 1, 0, 1])
    out = {"obs": library.zeros((4, 1, 4), dtype=library.float32)}
    outputs = simulator.step([0, 1, 0, 1], out=out)
    assert outputs.obs is out["obs"]
    assert outputs.reward is own.reward


def test_lean_outputs_leave_the_others_out(make_simulator, arrays) -> None:
    lean = make_simulator(arrays=arrays, outputs=())
    lean.reset(seed=0)
    assert tuple(_fields(lean.step([0, 1, 0, 1]))) == OUTPUTS[:4]
    some = make_simulator(arrays=arrays, outputs=["episode_return"])
    some.reset(seed=0)
    assert tuple(_fields(some.step([0, 1, 0, 1]))) == (*OUTPUTS[:4], "ended", "episode_return")


def test_final_obs_exists_in_same_step_alone(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays, autoreset_mode="NextStep")
    simulator.reset(seed=0)
    assert simulator.step([0, 1, 0, 1]).final_obs is None
    with pytest.raises(ValueError, match="final_obs"):
        make_simulator(arrays=arrays, autoreset_mode="NextStep", outputs=["final_obs"])


def test_libraries_agree(make_simulator, torch, jax) -> None:
    simulators = [make_simulator(arrays=name) for name in ("numpy", "torch", "jax")]
    for simulator in simulators:
        simulator.reset(seed=2)
    for _ in range(60):
        expected, *others = (simulator.step([0, 0, 1, 1]) for simulator in simulators)
        for outputs in others:
            assert all(_same(getattr(outputs, n), a) for n, a in _fields(expected).items())


def test_jax_arrays_are_imported_without_a_copy(make_simulator, jax, monkeypatch) -> None:
    simulator = make_simulator(arrays="jax")
    simulator.reset(seed=0)
    places = []
    inner = simulator._arrays._import

    def noting(array: np.ndarray) -> Any:
        places.append(_address(array))
        return inner(array)

    monkeypatch.setattr(simulator._arrays, "_import", noting)
    outputs = simulator.step([0, 1, 0, 1])
    assert isinstance(outputs.obs, jax.Array)
    assert [a.unsafe_buffer_pointer() for a in _fields(outputs).values()] == places


@pytest.mark.parametrize("option", ["out", "reuse"])
def test_jax_refuses_to_be_written_into(make_simulator, jax, option) -> None:
    with pytest.raises(ValueError, match=option):
        simulator = make_simulator(arrays="jax", reuse=option == "reuse")
        simulator.reset(seed=0)
        simulator.step([0, 1, 0, 1], out={"obs": None})


def test_outputs_outlive_their_simulator(make_simulator, arrays) -> None:
    simulator = make_simulator(arrays=arrays)
    outputs = simulator.reset(seed=0)
    copy = np.asarray(outputs.obs).copy()
    simulator.close()
    del simulator
    gc.collect()
    assert _same(outputs.obs, copy)
