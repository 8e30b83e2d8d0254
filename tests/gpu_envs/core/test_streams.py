"""Streams, captures and arrays of a GPU, on one that only writes down what it is told."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_gpu import DEFAULT, Array, Gpu, Stream, install, install_cupy, install_torch

from gpu_envs import Simulator, VectorEnv

SIDE, OTHER = 70, 90  # handles of streams
ACTIONS = np.array([[0], [1], [0], [1]])


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """A GPU with simulators and torch."""
    made = Gpu()
    install(monkeypatch, made)
    install_torch(monkeypatch, made)
    return made


@pytest.fixture
def simulator(gpu: Gpu) -> Iterator[Simulator]:
    made = Simulator("CartPole-v0", 4)
    made.reset(seed=1)
    gpu.heard()
    yield made
    made.close()


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "step": lambda simulator, stream: simulator.step([0, 1, 0, 1], stream=stream),
    "reset": lambda simulator, stream: simulator.reset(seed=2, stream=stream),
    "observe": lambda simulator, stream: simulator.observe(stream=stream),
    "sample_actions": lambda simulator, stream: simulator.sample_actions(stream=stream),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_enqueued_on_the_current_stream_with_nothing_around_them(
    gpu: Gpu, simulator: Any, name: str
) -> None:
    with gpu.on(SIDE):
        CALLS[name](simulator, None)
        assert gpu.heard() == [(name, SIDE)]
        CALLS[name](simulator, Stream(SIDE))
        assert gpu.heard() == [(name, SIDE)]


@pytest.mark.parametrize("stream", [SIDE, Stream(SIDE)])
@pytest.mark.parametrize("name", CALLS)
def test_calls_on_another_stream_come_after_and_before_the_current_one(
    gpu: Gpu, simulator: Any, name: str, stream: Any
) -> None:
    CALLS[name](simulator, stream)
    said = gpu.heard()
    assert said[:3] == [("follow", SIDE, DEFAULT), (name, SIDE), ("follow", DEFAULT, SIDE)]
    # Every array that was returned, or converted for the call.
    assert set(said[3:]) == {("record", SIDE)}


def test_vector_environments_hand_their_streams_on(gpu: Gpu) -> None:
    env = VectorEnv("CartPole-v0", 4)
    env.reset(seed=1, stream=SIDE)
    assert ("reset", SIDE) in gpu.heard()
    env.step(np.zeros(4, np.int64), stream=SIDE)
    assert ("step", SIDE) in gpu.heard()


def test_a_call_that_fails_leaves_the_streams_in_order(gpu: Gpu, simulator: Any) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no launch")

    simulator._step = fail
    with pytest.raises(RuntimeError, match="no launch"):
        simulator.step([0, 1, 0, 1], stream=SIDE)
    assert gpu.heard() == [("follow", SIDE, DEFAULT), ("follow", DEFAULT, SIDE)]


LOOKS: dict[str, Callable[[Any], Any]] = {
    "get": lambda simulator: simulator.get("cart.x"),
    "set": lambda simulator: simulator.set("cart.x", 0.5),
    "save": lambda simulator: simulator.save(),
    "load": lambda simulator: simulator.load(simulator._native.save()),
    "copy_worlds": lambda simulator: simulator.copy_worlds([0], [1]),
    "check": lambda simulator: simulator.check(),
    "render": lambda simulator: simulator.picture_size(),
}


@pytest.mark.parametrize("name", LOOKS)
def test_looks_wait_for_the_current_stream_and_for_the_one_of_the_last_call(
    gpu: Gpu, simulator: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_envs.core.pictures.Mirror", lambda *_: _Mirror())
    with gpu.on(SIDE):
        simulator.step([0, 1, 0, 1])
        gpu.heard()
        LOOKS[name](simulator)
        assert gpu.heard() == [("wait", SIDE)]
    LOOKS[name](simulator)
    assert set(gpu.heard()) == {("wait", SIDE), ("wait", DEFAULT)}
    gpu.captured.add(DEFAULT)
    with pytest.raises(RuntimeError, match=rf"{name}\(\) waits"):
        LOOKS[name](simulator)


class _Mirror:
    def show(self, *_: Any) -> Any:
        return self

    def picture_size(self, _: int) -> tuple[int, int]:
        return 1, 1

    def close(self) -> None:
        pass


def _is_alive_when_waited_for(gpu: Gpu, simulator: Any) -> bool:
    """Whether the stream of the last call, which only the simulator holds, is there for a wait."""
    with gpu.on(SIDE + 1):
        held = weakref.ref(gpu.current[gpu.device])
        simulator.step([0, 1, 0, 1])
    found = {}

    def wait_for(device: int, stream: int, call: str) -> None:
        found[stream] = held() is not None

    gpu.bindings.wait_for = wait_for
    simulator.check()
    return found[SIDE + 1]


def test_the_stream_of_the_last_call_lives_until_it_is_waited_for(gpu: Gpu, simulator: Any) -> None:
    assert _is_alive_when_waited_for(gpu, simulator)


# ---- blocks


def test_who_keeps_rewards_does_not_keep_observations(gpu: Gpu, simulator: Any) -> None:
    outputs = simulator.step([0, 1, 0, 1])
    small = {outputs.reward, outputs.terminated, outputs.truncated, outputs.ended}
    blocks = {array.untyped_storage().data_ptr() for array in small}
    large = {array.untyped_storage().data_ptr() for array in (outputs.obs, outputs.final_obs)}
    assert len(blocks) == len(large) == 1
    assert not blocks & large


# ---- CuPy


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """The second GPU of a machine, whose first one is current."""
    made = Gpu(device=1)
    install(monkeypatch, made)
    made.taken = install_cupy(monkeypatch, made)  # type: ignore[attr-defined]
    made.current[0], made.current[1] = Stream(5), Stream(SIDE)
    return made


def test_cupys_stream_and_blocks_are_those_of_the_simulators_device(second: Gpu) -> None:
    simulator = Simulator("CartPole-v0", 4, arrays="cupy")
    simulator.reset(seed=1)
    assert second.heard() == [("reset", SIDE)]
    taken = second.taken  # type: ignore[attr-defined]
    assert [device for device, _ in taken] == [1, 1]
    assert [size for _, size in taken] == list(simulator.layout.block_bytes)
    simulator.check()
    assert second.heard() == [("wait", SIDE)]


def test_cupys_stream_of_the_last_call_lives_until_it_is_waited_for(second: Gpu) -> None:
    simulator = Simulator("CartPole-v0", 4, arrays="cupy")
    simulator.reset(seed=1)
    assert _is_alive_when_waited_for(second, simulator)


MASKS = {
    "worlds": ("reset_mask", [True, False, True]),
    "rows": ("reset_mask", [True, True, False, False, True, True]),
    "numbers of rows": ("env_idx", [0, 1, 4, 5]),
}


@pytest.mark.parametrize("name", MASKS)
def test_cupys_masks_reset_the_worlds_that_they_name(second: Gpu, name: str) -> None:
    key, values = MASKS[name]
    simulator = Simulator("Micro-v0", 3, arrays="cupy", agent_count=2)
    simulator.reset(seed=1)
    simulator.set("world.step", 9)
    simulator.reset(options={key: Array(np.array(values))})
    assert simulator.get("world.step").ravel().tolist() == [0, 9, 0]


def test_masks_of_other_devices_types_and_shapes_are_refused(second: Gpu) -> None:
    simulator = Simulator("Micro-v0", 3, arrays="cupy", agent_count=2)
    simulator.reset(seed=1)
    mask = np.ones(3, bool)
    second.elsewhere[mask.ctypes.data] = 0
    with pytest.raises(ValueError, match="mask must be on cuda:1, got an array on cuda:0"):
        simulator.reset(mask=Array(mask))
    with pytest.raises(TypeError, match="reset_mask must be a bool array, got int64"):
        simulator.reset(mask=Array(np.ones(3, np.int64)))
    with pytest.raises(ValueError, match="reset_mask must have shape"):
        simulator.reset(mask=Array(np.ones(4, bool)))
    alone = SimpleNamespace(
        __cuda_array_interface__=Array(np.ones(6, bool)).__cuda_array_interface__
    )
    with pytest.raises(TypeError, match="a bool per world, for a SimpleNamespace"):
        simulator.reset(mask=alone)


def test_a_mask_of_torch_on_another_gpu_is_refused(gpu: Gpu, simulator: Any) -> None:
    mask = SimpleNamespace(
        is_cuda=True, dtype="torch.bool", shape=(4,), device="cuda:1", get_device=lambda: 1
    )
    with pytest.raises(ValueError, match="reset_mask must be on cuda:0, got cuda:1"):
        simulator.reset(mask=mask)


# ---- arrays of other libraries


def test_actions_are_read_after_their_stream_has_written_them(gpu: Gpu, simulator: Any) -> None:
    simulator.step(Array(ACTIONS, stream=OTHER))
    between = [("follow", DEFAULT, OTHER), ("step", DEFAULT), ("follow", OTHER, DEFAULT)]
    assert gpu.heard() == between
    simulator.step(Array(ACTIONS, stream=OTHER), stream=SIDE)
    said = [entry for entry in gpu.heard() if entry[0] != "record"]
    before = [("follow", SIDE, DEFAULT), ("follow", SIDE, OTHER)]
    assert said == [*before, ("step", SIDE), ("follow", OTHER, SIDE), ("follow", DEFAULT, SIDE)]


def test_a_mask_is_read_after_its_stream_has_written_it(gpu: Gpu, simulator: Any) -> None:
    simulator.reset(mask=Array(np.ones(4, bool), stream=OTHER))
    between = [("follow", DEFAULT, OTHER), ("reset", DEFAULT), ("follow", OTHER, DEFAULT)]
    assert gpu.heard() == between


def test_a_step_of_some_worlds_waits_for_its_actions_and_for_its_mask(
    gpu: Gpu, simulator: Any
) -> None:
    third = 77
    for mask, makers in ((OTHER, [OTHER]), (third, [OTHER, third]), (None, [OTHER])):
        stepped = Array(np.array([1, 0, 0, 1], np.uint8), stream=mask)
        simulator.step(Array(ACTIONS, stream=OTHER), worlds=stepped)
        before = [("follow", DEFAULT, maker) for maker in makers]
        after = [("follow", maker, DEFAULT) for maker in reversed(makers)]
        assert gpu.heard() == [*before, ("step_some", DEFAULT), *after]
    simulator.step(Array(ACTIONS), worlds=[True, False, False, True])  # from the host
    assert gpu.heard() == [("step_some", DEFAULT)]
    assert simulator.get("world.step").ravel().tolist() == [4, 0, 0, 4]


def test_masks_of_steps_on_other_devices_and_of_other_types_are_refused(second: Gpu) -> None:
    simulator = Simulator("Micro-v0", 3, arrays="cupy", agent_count=2)
    simulator.reset(seed=1)
    actions, mask = Array(np.zeros((3, 2), np.int64)), np.ones(3, bool)
    second.elsewhere[mask.ctypes.data] = 0
    with pytest.raises(ValueError, match="worlds must be on cuda:1, got an array on cuda:0"):
        simulator.step(actions, worlds=Array(mask))
    with pytest.raises(TypeError, match="worlds must be a bool or uint8 array, got float32"):
        simulator.step(actions, worlds=Array(np.ones(3, np.float32)))
    with pytest.raises(ValueError, match="worlds must have shape"):
        simulator.step(actions, worlds=Array(np.ones(4, bool)))
    there = SimpleNamespace(
        is_cuda=True, dtype="torch.bool", shape=(3,), device="cuda:0", get_device=lambda: 0
    )
    with pytest.raises(ValueError, match="worlds must be on cuda:1, got cuda:0"):
        simulator.step(actions, worlds=there)
    assert not simulator.get("world.step").any()


@pytest.mark.parametrize("stream", [None, 1])
def test_actions_that_are_written_or_on_the_same_stream_wait_for_nothing(
    gpu: Gpu, simulator: Any, stream: int | None
) -> None:
    simulator.step(Array(ACTIONS, stream))
    assert gpu.heard() == [("step", DEFAULT)]


def test_a_capture_waits_for_no_stream_outside_it(gpu: Gpu, simulator: Any) -> None:
    gpu.captured.add(SIDE)
    with gpu.on(SIDE):
        simulator.step(Array(ACTIONS, stream=OTHER))
    assert gpu.heard() == [("step", SIDE)]


def test_interfaces_that_say_nothing_certain_are_refused(gpu: Gpu, simulator: Any) -> None:
    with pytest.raises(ValueError, match="stream 0 is ambiguous"):
        simulator.step(Array(ACTIONS, stream=0))
    actions = ACTIONS.copy()
    gpu.elsewhere[actions.ctypes.data] = 2
    with pytest.raises(ValueError, match="actions must be on cuda:0, got an array on cuda:2"):
        simulator.step(Array(actions))
    gpu.elsewhere[actions.ctypes.data] = -1
    with pytest.raises(ValueError, match="actions must be on cuda:0, got an array on the host"):
        simulator.step(Array(actions))
    wide = np.zeros((4, 2), np.int64)
    with pytest.raises(ValueError, match=r"actions must be contiguous, got strides \(16, 8\)"):
        simulator.step(Array(wide[:, :1]))


def test_strides_of_a_contiguous_array_are_no_matter(gpu: Gpu, simulator: Any) -> None:
    actions = Array(ACTIONS)
    told = actions.__cuda_array_interface__ | {"strides": ACTIONS.strides}
    simulator.step(SimpleNamespace(__cuda_array_interface__=told))
    assert gpu.heard() == [("step", DEFAULT)]


# ---- a real one, or interpreted kernels


def _make(on_gpu: Any, name: str = "Micro-v0", worlds: int = 3000, **more: Any) -> Simulator:
    return Simulator(name, worlds, device="cuda", arrays=on_gpu.name, **more)


def _equal(on_gpu: Any, left: Any, right: Any) -> bool:
    return np.array_equal(on_gpu.to_host(left), on_gpu.to_host(right))


@pytest.mark.gpu
def test_replays_of_draws_resets_and_steps_go_on_as_calls_do(on_gpu: Any) -> None:
    eager, captured = (_make(on_gpu, agent_count=2) for _ in range(2))
    for simulator in (eager, captured):
        simulator.reset(seed=3)
        simulator.step(simulator.sample_actions(seed=1))
    with on_gpu.capture() as graph:
        drawn = captured.sample_actions(seed=1)
        outputs = captured.step(drawn)
    for _ in range(3):
        graph.replay()
        expected = eager.sample_actions(seed=1)
        assert _equal(on_gpu, drawn, expected)
        assert _equal(on_gpu, outputs.obs, eager.step(expected).obs)
    with on_gpu.capture() as again:
        begun = captured.reset(seed=8)
        with pytest.raises(RuntimeError, match="a list of seeds cannot be captured"):
            captured.reset(seed=[0] * 3000)
        with pytest.raises(RuntimeError, match="waits for the GPU"):
            captured.check()
        _make(on_gpu, "CartPole-v0", 5).close()
    captured.step(captured.sample_actions())
    again.replay()
    assert _equal(on_gpu, begun.obs, eager.reset(seed=8).obs)


@pytest.mark.gpu
def test_steps_on_another_stream_write_what_steps_on_the_current_one_do(on_gpu: Any) -> None:
    own, other = (_make(on_gpu, agent_count=2) for _ in range(2))
    stream = on_gpu.stream()
    assert _equal(on_gpu, own.reset(seed=1).obs, other.reset(seed=1, stream=stream).obs)
    for _ in range(50):
        actions = own.sample_actions(seed=2)
        assert _equal(on_gpu, actions, other.sample_actions(seed=2, stream=stream))
        kept = [one.step(actions, **on).obs for one, on in ((own, {}), (other, {"stream": stream}))]
        assert _equal(on_gpu, *kept)
