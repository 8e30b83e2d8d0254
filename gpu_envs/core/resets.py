"""The arguments of a reset: seeds, the mask of worlds, and described options; masks of steps."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import device_arrays, layout
from gpu_envs.core.arrays import address_of_numpy
from gpu_envs.known.fields import Field, Value, checked_values

NDArray = np.ndarray[Any, Any]
Seeds = int | list[int] | None
ResetOptions = Mapping[str, Any] | None  # the mask of worlds, and described options
SEED_LIMIT = 2**64
Located = tuple[int, object, int | None]  # address, what keeps it alive, stream it is written on
MASKS = ("reset_mask", "env_idx")
STEP_MASK = "worlds"  # the argument of a step; its bytes may be uint8


def fresh_seed() -> int:
    """Return a seed from the system's entropy."""
    return secrets.randbits(64)


def checked_seed(seed: object, worlds: int) -> Seeds:
    """Check a seed: None, a Python int in [0, 2^64), or a list with one such int per world."""
    if seed is None:
        return None
    if isinstance(seed, list | tuple):
        if len(seed) != worlds:
            raise ValueError(f"seed must have one entry per world ({worlds}), got {len(seed)}")
        return [_one_seed(entry, f"seed[{index}]") for index, entry in enumerate(seed)]
    return _one_seed(seed, "seed")


def _one_seed(seed: object, argument: str) -> int:
    if type(seed) is not int:
        wanted = "a Python int or a list of them" if argument == "seed" else "a Python int"
        raise TypeError(
            f"{argument} must be {wanted}, got {seed!r} "
            f"of type {type(seed).__name__}: convert it with int(...)"
        )
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"{argument} must be in [0, 2**64), got {seed}")
    return seed


def checked_options(options: object) -> Mapping[str, Any]:
    """Check the options of a reset; {} for None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict, got {options!r} of type {type(options).__name__}")
    return options


def split_options(
    options: Mapping[str, Any] | None, fields: Sequence[Field], environment: str
) -> tuple[str | None, Any, dict[str, Value]]:
    """Split `options` into the mask (key, value) and described options; nothing is popped."""
    options = checked_options(options)
    if not options:
        return None, None, {}
    if all(key in options for key in MASKS):
        raise ValueError("options must have 'reset_mask' or its alias 'env_idx', got both")
    named = [key for key in MASKS if key in options]
    rest = {key: value for key, value in options.items() if key not in MASKS}
    known = {field.name for field in fields}
    for key in rest:
        if key not in known:
            raise ValueError(errors.unknown("reset option", key, [*sorted(known), *MASKS]))
    values = checked_values(fields, rest, f"reset option of {environment}", ValueError)
    if named and options[named[0]] is not None:
        return named[0], options[named[0]], values
    return None, None, values


class MaskReader:
    """Turns a mask over worlds or rows into one byte per world on the simulator's machine."""

    def __init__(
        self,
        worlds: int,
        agents: int,
        device: tuple[str, int],
        to_device: Callable[[NDArray], tuple[int, object]],
        device_of: Callable[[int], int] = lambda _: -1,
    ) -> None:
        self._worlds, self._agents = worlds, agents
        self._machine, self._ordinal = device
        self._to_device, self._device_of = to_device, device_of

    def locate(self, key: str, mask: Any) -> Located:
        """Return the address of the bytes, their owner to keep alive, and their stream."""
        if type(mask) is np.ndarray and self._machine == "cpu" and self._is_plain(mask, key):
            return address_of_numpy(mask), mask, None
        if key == "env_idx":
            rows = self._rows_from_indices(_host(mask, key))
            return *self._to_device(self._worlds_of(rows, key)), None
        if self._machine == "cuda" and getattr(mask, "is_cuda", False):
            return self._on_device(mask, key)
        if self._machine == "cuda" and device_arrays.has(mask):
            return self._seen(mask, key)
        return *self._to_device(self._worlds_of(_host(mask, key), key)), None

    def on_host(self, key: str, mask: Any) -> NDArray:
        """Return a bool per world, in host memory; of a mask on a GPU that waits for it."""
        host = _host(mask, key)
        rows = self._rows_from_indices(host) if key == "env_idx" else host
        worlds: NDArray = self._worlds_of(rows, key) != 0
        return worlds

    def _is_plain(self, mask: NDArray, key: str) -> bool:
        """Whether a mask is what the native code reads: of steps, which come often."""
        return (
            key == STEP_MASK
            and mask.shape == (self._worlds,)
            and mask.dtype.char in "?B"
            and mask.flags.c_contiguous
        )

    def by_world(self, key: str, mask: Any) -> Any:
        """Return a bool per world of a mask on a GPU, in its library, without waiting for it."""
        self._check(device_arrays.dtype_of(mask).name, tuple(mask.shape), key)
        return mask.reshape(self._worlds, -1)[:, 0] != 0

    def _worlds_of(self, mask: NDArray, key: str) -> NDArray:
        self._check(mask.dtype.name, mask.shape, key)
        if mask.shape[0] != self._worlds:
            rows = mask.reshape(self._worlds, self._agents)
            mask = rows[:, 0]
            if (rows != mask[:, None]).any():
                raise ValueError(
                    f"{key} must be equal for the {self._agents} rows of a world, "
                    f"got rows that differ"
                )
        return np.ascontiguousarray(mask).view(np.uint8)

    def _on_device(self, mask: Any, key: str) -> Located:
        """Take a torch mask on the GPU; whether rows of a world agree is not checked there."""
        self._check(str(mask.dtype).removeprefix("torch."), tuple(mask.shape), key)
        if mask.get_device() != self._ordinal:
            raise ValueError(f"{key} must be on cuda:{self._ordinal}, got {mask.device}")
        if mask.shape[0] != self._worlds:
            mask = mask.view(self._worlds, self._agents)[:, 0]
        mask = mask.contiguous()
        return mask.data_ptr(), mask, None

    def _seen(self, mask: Any, key: str) -> Located:
        """Take a mask of another library on the GPU, such as CuPy's; does not compare its rows."""
        dtype, shape = device_arrays.dtype_of(mask), device_arrays.shape_of(mask)
        self._check(dtype.name, shape, key)
        if shape[0] != self._worlds:
            if not hasattr(mask, "reshape") or not hasattr(mask, "copy"):
                raise TypeError(
                    f"{key} must have shape ({self._worlds},), a bool per world, for a "
                    f"{type(mask).__name__} on a GPU"
                )
            mask = mask.reshape(self._worlds, self._agents)[:, 0].copy()
        seen = device_arrays.see(mask, key, self._ordinal, self._device_of)
        return seen.address, mask, seen.maker

    def _check(self, dtype: str, shape: tuple[int, ...], key: str) -> None:
        rows = self._worlds * self._agents
        known = ("bool", "uint8") if key == STEP_MASK else ("bool",)
        if dtype not in known:
            raise TypeError(f"{key} must be a {' or '.join(known)} array, got {dtype}")
        if shape not in ((self._worlds,), (rows,)):
            raise ValueError(
                f"{key} must have shape ({self._worlds},) (worlds) or ({rows},) (rows), "
                f"got {shape} for {layout.size_in_words(self._worlds, self._agents)}"
            )

    def _rows_from_indices(self, indices: NDArray) -> NDArray:
        rows = self._worlds * self._agents
        if indices.size == 0:
            return np.zeros(rows, np.bool_)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            raise TypeError(
                f"env_idx must be a 1-d array of row indices, got {indices.dtype} {indices.shape}"
            )
        if indices.min() < 0 or indices.max() >= rows:
            raise ValueError(
                f"env_idx must be in [0, {rows}), got {indices.min()}..{indices.max()}: "
                f"it numbers rows, {layout.size_in_words(self._worlds, self._agents)}"
            )
        mask = np.zeros(rows, np.bool_)
        mask[indices] = True
        return mask


def _host(mask: Any, key: str) -> NDArray:
    if isinstance(mask, np.ndarray):
        return mask
    if isinstance(mask, list | tuple):
        try:
            return np.asarray(mask)
        except ValueError as problem:
            what = errors.shown(mask)
            raise ValueError(f"{key} must have one entry per world or row, got {what}") from problem
    if hasattr(mask, "detach"):  # torch, on whichever device: a reset may wait for it
        array: NDArray = mask.detach().cpu().numpy()
        return array
    if device_arrays.has(mask):
        copied = device_arrays.on_host(mask)
        if copied is not None:
            return copied
    if hasattr(mask, "__dlpack__") or hasattr(mask, "__array__"):
        return np.asarray(mask)
    raise TypeError(f"{key} must be an array or a list, got {type(mask).__name__}")
