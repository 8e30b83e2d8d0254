"""Steps and resets inside `jax.jit`: what `VectorEnv.xla` returns.

A call is a custom call of XLA, into whose buffers the engine writes, on a thread of XLA and without
Python; on a GPU it enqueues its work on the stream of the program. XLA may drop, merge and reorder
calls that do not depend on each other, so each takes a handle and returns the next one
(kernels/bindings/jit.hpp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_envs.core import libraries, resets
from gpu_envs.core.layout import Output
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import extras, native
from gpu_envs.known.outputs import Outputs

OLDEST = (0, 5, 0)  # of JAX
_WIDE = ("int64", "uint64", "float64")  # which JAX has only where jax_enable_x64 is set
_WORDS = 3  # of a handle
_LAST_SEED = 2**64 - 2**32 - 1
_PLATFORMS = {"cpu": "cpu", "cuda": "CUDA"}  # as XLA calls them
_registered: set[str] = set()

Told = Callable[[Outputs], Any]


def require_jax() -> Any:
    """Import JAX, with advice where it is missing or too old."""
    try:
        jax = libraries.require("jax")
    except ImportError as problem:
        raise ImportError(extras.needs("xla()", "jax")) from problem
    if jax.__version_info__ < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ImportError(f"xla() needs jax {oldest} or newer, and this is {jax.__version__}")
    return jax


class Jitted:
    """The two calls of one environment.

    Args:
        simulator: Of all agents.
        told: Makes of the outputs of a step what a step returns.
        begun: Makes of those of a reset what a reset returns.
    """

    def __init__(self, simulator: Simulator, told: Told, begun: Told) -> None:
        self._jax = require_jax()
        _refuse(simulator)
        self._simulator, self._told, self._begun = simulator, told, begun
        outputs = simulator.written
        is_float = simulator.action_fields[0].type.startswith("float")
        self._dtype = np.dtype("float32" if is_float else "int32")
        rows = simulator.num_worlds * simulator.agents_per_world
        self._shape = (rows, *simulator.single_action_space.shape)
        self._step_call = self._call("step", outputs)
        self._reset_call = self._call("reset", [o for o in outputs if not o.by_a_step])

    def handle(self) -> Any:
        """Return the handle of the worlds as they are now."""
        number, calls = self._simulator.open_session("xla", settles=True)
        words = np.array([number, *_halves(calls)], np.uint32)
        device = self._simulator.device
        if device == self._jax.default_backend() == "cpu":
            return self._jax.numpy.asarray(words)
        return self._jax.device_put(words, _place(self._jax, device))  # which draws programs there

    def step(self, handle: Any, actions: Any) -> tuple[Any, Any]:
        """Run one step of every world.

        Args:
            handle: What the call before returned; good for one call.
            actions: One per row.

        Returns:
            The next handle, and what the environment's own `step` returns.
        """
        handle, results = self._step_call(handle, self._read(actions))
        return handle, self._told(results)

    def reset(self, handle: Any, *, seed: Any = None, mask: Any = None) -> tuple[Any, Any]:
        """Begin new episodes in all worlds, or in some.

        Args:
            handle: As in `step`.
            seed: An integer for the batch, or one per world; None continues the random streams.
            mask: A bool per world; None for all worlds.

        Returns:
            The next handle, and what the environment's own `reset` returns.
        """
        jnp, worlds = self._jax.numpy, self._simulator.num_worlds
        seeds = self._seeds(seed)
        marks = jnp.zeros((0,), bool) if mask is None else jnp.asarray(mask)
        if mask is not None and (marks.dtype != bool or marks.shape != (worlds,)):
            got = f"{marks.dtype} of shape {marks.shape}"
            raise TypeError(f"mask must be bool of shape ({worlds},), got {got}")
        handle, results = self._reset_call(handle, seeds, marks)
        return handle, self._begun(results)

    def _seeds(self, seed: Any) -> Any:
        """Return pairs of words; those of a negative seed are refused where they are read."""
        worlds = self._simulator.num_worlds
        if seed is None:
            return np.zeros((0, 2), np.uint32)
        if not isinstance(seed, self._jax.Array):
            plain = seed.tolist() if isinstance(seed, np.ndarray | np.generic) else seed
            seed = np.asarray(resets.checked_seed(plain, worlds), np.uint64)
            if (seed > _LAST_SEED).any():  # negative ones of programs have its high word
                raise ValueError("seed must be from 0 to 2^64 - 2^32 - 1 in xla()")
        if seed.dtype.kind not in "iu" or seed.shape not in ((), (worlds,)):
            what = f"an integer, or {worlds} of them, one per world"
            raise TypeError(f"seed must be {what}, got {seed.dtype} of shape {seed.shape}")
        if seed.shape == (1,):
            raise TypeError("seed: give the one world an integer, not a list")
        numpy = self._jax.numpy if isinstance(seed, self._jax.Array) else np
        flat = seed.reshape(-1)
        high = flat >> 32 if flat.dtype.itemsize == 8 else numpy.where(flat < 0, -1, 0)
        return numpy.stack([flat.astype(np.uint32), high.astype(np.uint32)], axis=-1)

    def _read(self, actions: Any) -> Any:
        # JAX cuts 64 bits of others to 32.
        is_own = isinstance(actions, self._jax.Array)
        given, numpy = (actions, self._jax.numpy) if is_own else (np.asarray(actions), np)
        kinds = "f" if self._dtype.kind == "f" else "iub"
        if given.dtype.kind not in kinds or given.shape != self._shape:
            wanted = f"{self._dtype} of shape {self._shape}"
            raise TypeError(f"actions must be {wanted}, got {given.dtype} of shape {given.shape}")
        if given.dtype.kind in "iu" and given.dtype.itemsize >= 4 and given.dtype != np.int32:
            # What is out of range stays so.
            given = numpy.clip(
                given,
                np.iinfo(np.int32).min if given.dtype.kind == "i" else 0,
                np.iinfo(np.int32).max,
            )
        return given.astype(self._dtype)

    def _call(self, what: str, outputs: Sequence[Output]) -> Callable[..., tuple[Any, Outputs]]:
        jax, name = self._jax, self._simulator.name
        target = _target(jax, what, self._simulator.device)
        names = ",".join(output.name for output in outputs)
        types = [jax.ShapeDtypeStruct((_WORDS,), np.uint32)]
        types += [jax.ShapeDtypeStruct(o.rows, np.dtype(o.type)) for o in outputs]
        call = jax.ffi.ffi_call(target, types, has_side_effect=True)

        @jax.custom_batching.custom_vmap  # type: ignore[untyped-decorator]  # of JAX
        def one(*given: Any) -> Any:
            return tuple(call(*given, outputs=names))

        @one.def_vmap  # type: ignore[untyped-decorator]
        def _(*_: Any) -> Any:
            raise NotImplementedError(
                f"jax.vmap of a {what} of {name}: it is one of a batch already, of as many worlds "
                "as num_envs= says"
            )

        def run(*given: Any) -> tuple[Any, Outputs]:
            handle, *arrays = _spread(jax, one(*given), given[0])
            found = zip(outputs, arrays, strict=True)
            return handle, Outputs(**{output.name: array for output, array in found})

        return run


def _halves(number: int) -> tuple[int, int]:
    """Return the low and the high word of 64 bits."""
    return number & 0xFFFFFFFF, number >> 32


def _place(jax: Any, device: str) -> Any:
    """Return JAX's device for "cpu" or "cuda:0"."""
    machine, _, ordinal = device.partition(":")
    try:
        if machine == "cpu":
            return jax.devices("cpu")[0]
        found = [one for one in jax.devices("cuda") if one.local_hardware_id == int(ordinal)]
        return found[0]
    except (RuntimeError, IndexError) as problem:
        raise RuntimeError(
            "xla() needs JAX's CPU: add cpu to JAX_PLATFORMS, or leave that out"
            if machine == "cpu"
            else f"xla() of worlds on {device} needs a JAX that has this GPU, such as jax[cuda12]"
        ) from problem


def _spread(jax: Any, results: Sequence[Any], handle: Any) -> Sequence[Any]:
    """Mark that results differ over the axes of a mesh over which the handle does (shard_map)."""
    axes = _axes_of(jax, handle)
    return (
        [_over(jax, array, axes - _axes_of(jax, array)) for array in results] if axes else results
    )


def _axes_of(jax: Any, array: Any) -> frozenset[str]:
    kind = jax.typeof(array) if hasattr(jax, "typeof") else None  # not before JAX 0.6
    kind = getattr(kind, "manual_axis_type", kind)  # from JAX 0.10 on
    return getattr(kind, "varying", None) or getattr(kind, "vma", None) or frozenset()


def _over(jax: Any, array: Any, axes: frozenset[str]) -> Any:
    if not axes:
        return array
    names = tuple(sorted(axes))
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(array, names, to="varying")
    return jax.lax.pvary(array, names)


def _target(jax: Any, what: str, device: str) -> str:
    """Return the name by which XLA knows a call, which is registered once in a process."""
    machine = device.partition(":")[0]
    bindings = native.module(machine)
    name = f"gpu_envs_{what}_{machine}_{bindings.INSTRUCTION_SET}"
    if name in _registered:
        return name
    _place(jax, device)  # a version that does not fit must not be found out as XLA starts
    oldest, newest = bindings.xla_versions()
    for minor in range(newest, oldest - 1, -1):
        handler = bindings.xla_handlers(minor)[what]
        try:
            jax.ffi.register_ffi_target(name, handler, platform=_PLATFORMS[machine])
        except jax.errors.JaxRuntimeError:
            if minor == oldest:
                raise
            continue
        break
    _registered.add(name)
    return name


def _refuse(simulator: Simulator) -> None:
    """Refuse simulators that need Python in a step."""
    if simulator.strict:
        raise ValueError("xla() needs strict=False: strict=True checks in Python after each step")
    for output in simulator.written:
        if output.type in _WIDE:
            what = f"output {output.name!r} is {output.type}"
            raise ValueError(f"xla() has nothing of 64 bits: {what}: leave it out of outputs=")
