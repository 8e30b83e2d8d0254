"""What programs of XLA call on a GPU, on interpreted kernels: as on the CPU, to the byte.

JAX without CUDA has no program for a GPU, so the tests make XLA's calls themselves.
"""

from __future__ import annotations

from typing import Any

import interpreted_cupy
import numpy as np
import pytest

from gpu_envs.core.simulator import Simulator
from gpu_envs.known import native
from tests.ptx.twins import ENVIRONMENTS, Twins, on_host, simulators
from tests.ptx.xla_frames import Xla

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.xdist_group("interpreted")]

WORLDS, STEPS = 5, 30


class Program:
    """The calls of a program with the worlds of a simulator.

    Args:
        device: The array library.
        simulator: On the device.
    """

    def __init__(self, device: Any, simulator: Simulator) -> None:
        self._to_gpu, self._simulator = device.to_gpu, simulator
        self.stream = interpreted_cupy.Stream(non_blocking=True)
        bindings = native.module("cuda")
        self._xla = Xla(bindings.xla_handlers(bindings.xla_versions()[1]), self.stream.ptr)
        self.ask()

    def ask(self) -> None:
        """Ask for a handle."""
        number, calls = self._simulator.open_session("xla", settles=True)
        self.handle = self._to_gpu(np.array([number, calls, 0], np.uint32))

    def call(self, what: str, *given: Any, names: str = "", handle: Any = None) -> dict[str, Any]:
        """Make a call, and return its outputs by name, on the host."""
        outputs = [o for o in self._simulator.written if what == "step" or not o.by_a_step]
        arrays = [self._to_gpu(np.full(o.rows, 7).astype(o.type)) for o in outputs]
        following = self._to_gpu(np.zeros(3, np.uint32))
        moved = [self._to_gpu(np.asarray(one)) for one in given]
        self._xla.call(
            what,
            [self.handle if handle is None else handle, *moved],
            [following, *arrays],
            names or ",".join(output.name for output in outputs),
        )
        self.stream.synchronize()
        self.handle = following
        return {o.name: array.get() for o, array in zip(outputs, arrays, strict=True)}


def _twins(device: Any, key: str, **more: Any) -> Twins:
    name, options = ENVIRONMENTS[key]
    twins = simulators(device, name, WORLDS, **({"max_episode_steps": 11} | options | more))
    twins.call("reset", seed=3)
    return twins


def _compare(expected: Any, found: dict[str, Any]) -> None:
    for name, array in found.items():
        wanted = on_host(getattr(expected, name))
        assert wanted.dtype == array.dtype, name
        assert np.array_equal(wanted.reshape(array.shape), array), name


def _actions(twins: Twins, step: int) -> np.ndarray[Any, Any]:
    return np.asarray(on_host(twins.cpu.sample_actions(seed=step))).astype(np.int32)


@pytest.mark.parametrize("key", [key for key in ENVIRONMENTS if key != "CovidEconomy"])
def test_steps_and_resets(device: Any, key: str) -> None:
    twins = _twins(device, key)
    program = Program(device, twins.gpu)
    no_seeds, no_mask = np.zeros((0, 2), np.uint32), np.zeros(0, bool)
    for step in range(STEPS):
        actions = _actions(twins, step)
        _compare(twins.cpu.step(actions), program.call("step", actions))
    seeds = np.array([[7, 1]], np.uint32)
    _compare(twins.cpu.reset(seed=7 + 2**32), program.call("reset", seeds, no_mask))
    mask = np.arange(WORLDS) % 2 == 0
    expected = twins.cpu.reset(options={"reset_mask": mask})
    _compare(expected, program.call("reset", no_seeds, mask))
    each = np.stack([np.arange(WORLDS), np.zeros(WORLDS)], 1).astype(np.uint32)
    _compare(twins.cpu.reset(seed=list(range(WORLDS))), program.call("reset", each, no_mask))
    actions = _actions(twins, 99)
    _compare(twins.cpu.step(actions), program.call("step", actions))
    twins.compare_worlds()
    twins.close()


def test_what_is_refused_leaves_worlds_and_handles_as_they_were(device: Any) -> None:
    twins = _twins(device, "CartPole")
    program, actions = Program(device, twins.gpu), _actions(twins, 1)
    before, good = twins.gpu.save(), program.handle
    unknown = device.to_gpu(np.array([12345, 0, 0], np.uint32))
    host = np.array(good.get())
    for problem, given, more in (
        ("no environment of this process", [actions], {"handle": unknown}),
        ("needs buffers on a GPU", [actions], {"handle": host}),
        ("its outputs are nothing, not obs", [actions], {"names": "nothing"}),
        ("actions must be int32", [actions.astype(np.float32)], {}),
        ("5 words of actions are wanted", [actions[:4]], {}),
        ("not one that gpu_envs makes", [], {}),
    ):
        with pytest.raises(RuntimeError, match=problem):
            program.call("step", *given, **more)
    program.stream.begin_capture()
    with pytest.raises(RuntimeError, match="is being captured"):
        program.call("step", actions)
    program.stream.end_capture()
    assert twins.gpu.save() == before
    program.handle = good
    _compare(twins.cpu.step(actions), program.call("step", actions))
    with pytest.raises(RuntimeError, match="this handle was used before"):
        program.call("step", actions, handle=good)
    twins.call("step", actions)
    with pytest.raises(RuntimeError, match="stepped or changed in Python"):
        program.call("step", actions)
    program.ask()
    _compare(twins.cpu.step(actions), program.call("step", actions))
    twins.close()


def test_jax_without_this_gpu_is_told(device: Any) -> None:
    pytest.importorskip("jax", reason="needs jax")
    from gpu_envs.faces.jitted import Jitted

    twins = _twins(device, "CartPole")
    with pytest.raises(RuntimeError, match="needs a JAX that has this GPU"):
        Jitted(twins.gpu, None, None)
    twins.close()
