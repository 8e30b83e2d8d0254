"""Streams and captured graphs of interpreted kernels: docs/streams.md, with CuPy's stand-in."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.ptx.twins import ENVIRONMENTS, MICRO, Twins, on_host, simulators

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.xdist_group("interpreted")]

WORLDS = 40
REPLAYS = 100


def _micro(device: Any, **more: Any) -> Twins:
    name, options = MICRO
    return simulators(device, name, WORLDS, max_episode_steps=7, **options, **more)


def test_calls_on_other_streams_write_what_the_cpu_does(device: Any) -> None:
    twins = _micro(device)
    streams = [device.stream(), device.stream(), None]
    twins.compare(twins.cpu.reset(seed=1), twins.gpu.reset(seed=1, stream=streams[0]), "reset")
    for step in range(15):
        on = streams[step % 3]
        with streams[step % 2]:  # the current one
            drawn = twins.gpu.sample_actions(seed=2, stream=on)
            here = twins.cpu.sample_actions(seed=2)
            twins.compare(here, drawn, "actions")
            twins.compare(twins.cpu.step(here), twins.gpu.step(drawn, stream=on), "step")
        found = twins.gpu.observe(stream=getattr(on, "ptr", None))
        twins.compare(twins.cpu.observe(), found, "observe")
    twins.compare_worlds()
    twins.close()


def test_actions_and_masks_of_other_streams(device: Any) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    for _ in range(5):
        twins.call("step", twins.call("sample_actions", seed=2))
        mask = np.arange(WORLDS) % 3 == 0
        with device.stream() as stream:
            there = twins.moved(mask)
            written = _Told(there.__cuda_array_interface__, there)
        assert written.__cuda_array_interface__["stream"] == stream.ptr
        found = twins.gpu.reset(mask=written)
        twins.compare(twins.cpu.reset(mask=mask), found, "reset")
        actions = twins.call("sample_actions", seed=3)
        found = twins.gpu.step(twins.moved(actions), worlds=written)
        twins.compare(twins.cpu.step(actions, worlds=mask), found, "step")
    twins.compare_worlds()
    twins.close()


class _Told:
    """An array that has nothing but the interface."""

    def __init__(self, told: dict[str, Any], owner: Any) -> None:
        self.__cuda_array_interface__, self._owner = told, owner


def test_stream_0_is_ambiguous_and_a_host_address_is_refused(device: Any) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    actions = twins.moved(np.zeros((WORLDS, 3), np.int64))
    told = actions.__cuda_array_interface__
    with pytest.raises(ValueError, match="stream 0 is ambiguous"):
        twins.gpu.step(_Told({**told, "stream": 0}, actions))
    host = np.zeros((WORLDS, 3), np.int64)
    with pytest.raises(ValueError, match="actions must be on cuda:0, got an array on the host"):
        twins.gpu.step(_Told({**told, "data": (host.ctypes.data, False)}, host))
    with pytest.raises(ValueError, match="actions must be contiguous"):
        twins.gpu.step(twins.moved(np.zeros((WORLDS, 6), np.int64))[:, ::2])
    twins.close()


# ---- captures


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_100_replays_are_100_steps(device: Any, key: str, mode: str, reuse: bool) -> None:
    name, options = ENVIRONMENTS[key]
    if key != "CovidEconomy":
        options = {**options, "max_episode_steps": 11}
    worlds = 2 if key == "CovidEconomy" else WORLDS
    twins = simulators(device, name, worlds, autoreset_mode=mode, reuse=reuse, **options)
    twins.call("reset", seed=1)
    twins.call("step", twins.call("sample_actions", seed=1))
    with device.capture() as graph:
        drawn = twins.gpu.sample_actions(seed=1)
        outputs = twins.gpu.step(drawn)
    ends = 0
    for step in range(REPLAYS):
        graph.replay()
        actions = twins.cpu.sample_actions(seed=1)
        twins.compare(actions, drawn, f"actions {step}")
        expected = twins.cpu.step(actions)
        twins.compare(expected, outputs, f"replay {step}")
        ends += int(expected.ended.sum())
    assert ends > 0 or key == "CovidEconomy"
    twins.compare_worlds()
    twins.call("step", twins.call("sample_actions", seed=1))  # and on without a graph
    twins.close()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("key", ENVIRONMENTS)
def test_replays_step_the_worlds_that_the_mask_then_names(device: Any, key: str, mode: str) -> None:
    name, options = ENVIRONMENTS[key]
    if key != "CovidEconomy":
        options = {**options, "max_episode_steps": 4}
    worlds = 2 if key == "CovidEconomy" else WORLDS
    twins = simulators(device, name, worlds, autoreset_mode=mode, **options)
    twins.call("reset", seed=1)
    actions = np.array(twins.cpu.sample_actions(seed=1))
    mask = np.arange(worlds) % 3 == 0
    twins.call("step", actions, worlds=mask)
    there, named = twins.moved(actions), twins.moved(mask.view(np.uint8))
    with device.capture() as graph:
        outputs = twins.gpu.step(there, worlds=named)
    for step in range(20):
        actions = np.array(twins.cpu.sample_actions(seed=1))
        mask = (np.arange(worlds) + step) % 3 == 0 if step % 5 else np.zeros(worlds, bool)
        there[...], named[...] = twins.moved(actions), twins.moved(mask.view(np.uint8))
        graph.replay()
        twins.compare(twins.cpu.step(actions, worlds=mask), outputs, f"replay {step}")
    twins.compare_worlds()
    twins.close()


# ---- parameters that may differ by world


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_replays_draw_from_ranges_and_read_what_is_set(device: Any, mode: str) -> None:
    ranges = {
        "mass": gpu_envs.uniform(0.5, 2.0),
        "length": gpu_envs.choice([0.2, 0.5, 1.0]),
        "gravity": gpu_envs.normal(9.8, 0.5, low=8, high=12),
        "pole_mass": np.linspace(0.05, 0.5, WORLDS),
    }
    options = {"max_episode_steps": 9, "autoreset_mode": mode, "outputs": ("parameters",)}
    twins = simulators(device, "CartPole-v0", WORLDS, varies=("force",), **options, **ranges)
    twins.call("reset", seed=1)
    named = np.arange(WORLDS) % 3 != 0
    there = twins.moved(named.view(np.uint8))
    with device.capture() as graph:
        drawn = twins.gpu.sample_actions(seed=1)
        outputs = twins.gpu.step(drawn, worlds=there)
    seen = set()
    for step in range(30):
        if step % 10 == 5:
            force = np.linspace(5, 5 + step, WORLDS)
            twins.call("set_parameters", force=force)
            twins.call("set_parameters", mass=[step + 1.0, 3.0], worlds=[2, 7])  # drawn no more
        graph.replay()
        actions = twins.cpu.sample_actions(seed=1)
        twins.compare(actions, drawn, f"actions {step}")
        found = twins.cpu.step(actions, worlds=named)
        twins.compare(found, outputs, f"replay {step}")
        seen |= {tuple(row) for row in found.parameters.tolist()}
        named = np.roll(named, 1)
        there[...] = twins.moved(named.view(np.uint8))
    assert len(seen) > 3 * WORLDS  # episodes began, each with draws of its own
    twins.compare_worlds()
    twins.close()


def test_what_all_worlds_have_is_not_changed_after_a_capture(device: Any) -> None:
    twins = simulators(device, "CartPole-v0", WORLDS)
    twins.call("reset", seed=1)
    twins.call("set_parameters", gravity=5.0, force=20.0)
    actions = np.ones(WORLDS, np.int64)
    twins.call("step", actions)
    there = twins.moved(actions)
    with device.capture() as graph:
        outputs = twins.gpu.step(there)
    refusal = r"captured into a CUDA graph.*varies=\('(gravity|force)',\)"
    for change in ({"gravity": 9.0}, {"force": 1.0, "gravity": 2.0}):
        with pytest.raises(ValueError, match=refusal):
            twins.gpu.set_parameters(**change)
        with pytest.raises(ValueError, match=refusal):
            twins.gpu.reset(options=change)
    graph.replay()
    twins.compare(twins.cpu.step(actions), outputs, "replay")
    twins.compare_worlds()
    twins.close()


# ---- captured resets


def _reset(simulator: Any, mask: Any) -> Any:
    return simulator.reset()


def _reset_by_seed(simulator: Any, mask: Any) -> Any:
    return simulator.reset(seed=7)


def _reset_some(simulator: Any, mask: Any) -> Any:
    return simulator.reset(mask=mask)


@pytest.mark.parametrize("call", [_reset, _reset_by_seed, _reset_some])
def test_captured_resets(device: Any, call: Callable[[Any, Any], Any]) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    mask = np.arange(WORLDS) % 3 == 0
    there = twins.moved(mask)
    with device.capture() as graph:
        begun = call(twins.gpu, there)
    for step in range(4):
        twins.call("step", twins.call("sample_actions", seed=step))
        graph.replay()
        twins.compare(call(twins.cpu, mask), begun, "reset")
        mask = np.roll(mask, 1)
        there[...] = twins.moved(mask)
    twins.compare_worlds()
    twins.close()


def test_a_captured_step_on_another_stream(device: Any) -> None:
    """The other stream joins the capture, and the nodes on it are replayed with the rest."""
    twins = _micro(device)
    twins.call("reset", seed=1)
    actions = np.zeros((WORLDS, 3), np.int64)
    there, other = twins.moved(actions), device.stream()
    with device.capture() as graph:
        outputs = twins.gpu.step(there, stream=other)
    for step in range(10):
        actions[...] = step % 2
        there[...] = twins.moved(actions)
        graph.replay()
        twins.compare(twins.cpu.step(actions), outputs, f"replay {step}")
    twins.compare_worlds()
    twins.close()


def test_a_capture_of_another_stream_is_refused(device: Any) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    actions, other = twins.moved(np.zeros((WORLDS, 3), np.int64)), device.stream()
    other.begin_capture()
    with pytest.raises(RuntimeError, match="capture"):
        twins.gpu.step(actions, stream=other)
    with suppress(RuntimeError):  # nothing was captured, or it is invalid
        other.end_capture()
    twins.compare_worlds()
    twins.call("step", np.zeros((WORLDS, 3), np.int64))
    twins.close()


def test_calls_that_wait_are_refused_and_the_capture_goes_on(device: Any) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    actions = np.ones((WORLDS, 3), np.int64)
    there, saved = twins.moved(actions), twins.gpu.save()
    with device.capture() as graph:
        waits: list[Callable[[], Any]] = [
            twins.gpu.check,
            twins.gpu.save,
            lambda: twins.gpu.load(saved),
            lambda: twins.gpu.get("world.step"),
            lambda: twins.gpu.set("world.step", 0),
            lambda: twins.gpu.copy_worlds([0], [1]),
            lambda: twins.gpu.reset(seed=[0] * WORLDS),
        ]
        for call in waits:
            with pytest.raises(RuntimeError, match=r"waits for the GPU|cannot be captured"):
                call()
        outputs = twins.gpu.step(there)
        gpu_envs.Simulator("CartPole-v0", 5, device="cuda", arrays=device.name).close()
    graph.replay()
    twins.compare(twins.cpu.step(actions), outputs, "replay")
    twins.close()


def test_captured_observations_and_outputs_of_the_caller(device: Any) -> None:
    twins = _micro(device)
    first = twins.call("reset", seed=1)
    actions = np.ones((WORLDS, 3), np.int64)
    there = twins.moved(actions)
    out = twins.moved({"obs": np.zeros_like(first.obs), "reward": np.zeros((WORLDS, 3), "f4")})
    with device.capture() as graph:
        results = twins.gpu.step(there, out=out)
        seen = twins.gpu.observe()
    for step in range(10):
        graph.replay()
        twins.compare(twins.cpu.step(actions), results, f"replay {step}")
        twins.compare(twins.cpu.observe(), seen, f"observe {step}")
        assert results.obs is out["obs"]
    twins.close()


def test_other_threads_go_on_during_a_capture(device: Any) -> None:
    """They make simulators, and wait for the default stream: no blocking one is captured."""
    twins, side = _micro(device), _micro(device)
    twins.call("reset", seed=1)
    actions = np.ones((WORLDS, 3), np.int64)
    there = twins.moved(actions)

    def play() -> None:
        side.call("reset", seed=5)
        for step in range(3):
            side.call("step", side.call("sample_actions", seed=step))
        side.gpu.check()
        side.compare_worlds()
        _micro(device).close()

    with device.capture() as graph, ThreadPoolExecutor(1) as pool:
        pool.submit(play).result()
        outputs = twins.gpu.step(there)
    graph.replay()
    twins.compare(twins.cpu.step(actions), outputs, "replay")
    twins.close()
    side.close()


def test_a_replay_writes_nothing_before_it_is_launched(device: Any) -> None:
    twins = _micro(device)
    twins.call("reset", seed=1)
    there = twins.moved(np.ones((WORLDS, 3), np.int64))
    before = twins.gpu.save()
    out = {"reward": twins.moved(np.full((WORLDS, 3), 9, np.float32))}
    with device.capture() as graph:
        outputs = twins.gpu.step(there, out=out)  # what a replay writes has to be kept
    assert twins.gpu.save() == before
    assert (on_host(out["reward"]) == 9).all()
    graph.replay()
    assert twins.gpu.save() != before
    assert (on_host(outputs.reward) != 9).any()
    twins.close()
