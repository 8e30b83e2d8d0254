"""Accepts actions: DLPack arrays, NumPy arrays and lists, checked and located in memory.

What an action may be follows from its description: integers where it has choices, booleans too
where it has two, else floats; shaped (worlds, agents[, k]), (worlds * agents[, k]), or
(worlds[, k]) with one agent. Values are checked by the native code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import device_arrays
from gpu_envs.core.action_forms import ActionForm
from gpu_envs.core.arrays import address_of_numpy

NDArray = np.ndarray[Any, Any]
# Address, dtype name, what keeps the memory alive, stream that it is written on if that matters.
Located = tuple[int, str, object, int | None]

# Element types that the native code converts by itself.
_NATIVE = {
    "iu": ("int64", "int32", "uint8"),
    "f": ("float32", "float64"),
}
_LARGEST = np.iinfo(np.int64).max
_HOST_DLPACK = (1, 3, 11, 13)  # CPU, CUDA and ROCm pinned host memory, CUDA managed memory


def as_array(action: Any) -> NDArray:
    """Return one agent's action as an array, without a look at its values."""
    try:
        return np.asarray(action)
    except ValueError as problem:
        what = errors.shown(action)
        raise ValueError(f"action must be a number or an array of them, got {what}") from problem


class ActionReader:
    """Checks and locates the actions of one simulator."""

    def __init__(
        self,
        form: ActionForm,
        device: tuple[str, int],
        to_device: Callable[[NDArray], tuple[int, object]],
        device_of: Callable[[int], int] = lambda _: -1,
    ) -> None:
        self.form, self.dtype = form, form.dtype
        self._shapes = frozenset(form.shapes)
        self._expected = " or ".join(str(shape) for shape in dict.fromkeys(form.shapes))
        self._expected += f" ({form.rows})"
        self._kinds = "f" if form.is_float else "iu"
        self._takes_bools = form.takes_bools
        self._dtype_name = self.dtype.name
        self._machine, self._ordinal = device
        self._to_device, self._device_of = to_device, device_of
        self._torch: Any = None
        self._torch_names: dict[Any, str] = {}

    def host(self, actions: object) -> NDArray:
        """Return actions as a contiguous array that the native code takes."""
        array = self._host_array(actions)
        if self._takes_bools and array.dtype.kind == "b":
            array = array.view(np.uint8)
        if array.dtype.kind not in self._kinds:
            raise self._wrong_kind(array.dtype)
        if array.shape not in self._shapes:
            raise ValueError(f"actions must have shape {self._expected}, got {array.shape}")
        if array.dtype == np.uint64 and (array > _LARGEST).any():
            raise ValueError(f"actions: {array.max()} is too large for {self.dtype}")
        if array.dtype.name not in _NATIVE[self._kinds] or not array.dtype.isnative:
            array = array.astype(self.dtype)
        return np.ascontiguousarray(array)

    def is_native(self, actions: object) -> bool:
        """Whether the native reader takes an object as it is, whatever the values."""
        if type(actions) is not np.ndarray:
            return False
        is_bool = self._takes_bools and actions.dtype.kind == "b"
        return (
            (is_bool or actions.dtype.name in _NATIVE[self._kinds])
            and actions.dtype.isnative
            and actions.flags.c_contiguous
            and actions.shape in self._shapes
        )

    def is_plain(self, actions: NDArray) -> bool:
        """Whether an array needs no conversion at all."""
        return (
            actions.dtype is self.dtype
            and actions.flags.c_contiguous
            and actions.shape in self._shapes
        )

    def locate(self, actions: object) -> Located:
        """Return the address, dtype, owner (to keep alive) and stream of actions."""
        if type(actions) is np.ndarray and self._machine == "cpu" and self.is_plain(actions):
            return address_of_numpy(actions), self._dtype_name, actions, None
        if self._is_tensor(actions):
            located = self._locate_tensor(actions)
            if located is not None:
                return located
        elif self._machine == "cuda" and not isinstance(actions, np.ndarray | list | tuple):
            return self._locate_on_device(actions)
        array = self.host(actions)
        address, keep = self._to_device(array)
        return address, array.dtype.name, keep, None

    def _is_tensor(self, actions: object) -> bool:
        if self._torch is None:
            if "torch" not in sys.modules:
                return False
            self._adopt_torch(sys.modules["torch"])
        return isinstance(actions, self._torch.Tensor)

    def _adopt_torch(self, torch: Any) -> None:
        names = _NATIVE[self._kinds]
        self._torch_names = {getattr(torch, n): n for n in names if hasattr(torch, n)}
        if self._takes_bools:
            self._torch_names[torch.bool] = "uint8"  # a byte, 0 or 1
        self._torch = torch

    def _locate_tensor(self, tensor: Any) -> Located | None:
        """Locate a tensor that needs no conversion; None leaves it to the slow path."""
        name = self._torch_names.get(tensor.dtype)
        if self._machine == "cpu":
            here = tensor.is_cpu
        else:
            here = tensor.is_cuda and tensor.get_device() == self._ordinal
        if not here:
            raise ValueError(f"actions must be on {self._place()}, got {tensor.device}")
        if name is not None and tensor.shape in self._shapes and tensor.is_contiguous():
            return tensor.data_ptr(), name, tensor, None
        return None if self._machine == "cpu" else self._convert_tensor(tensor)

    def _convert_tensor(self, tensor: Any) -> Located:
        is_bool = tensor.dtype is self._torch.bool
        is_float = bool(tensor.is_floating_point())
        if tensor.is_complex() or is_float != (self._kinds == "f") or is_bool > self._takes_bools:
            raise self._wrong_kind(tensor.dtype)
        if tuple(tensor.shape) not in self._shapes:
            raise ValueError(f"actions must have shape {self._expected}, got {tuple(tensor.shape)}")
        tensor = tensor.detach().to(getattr(self._torch, self.dtype.name)).contiguous()
        return tensor.data_ptr(), self.dtype.name, tensor, None

    def _locate_on_device(self, actions: object) -> Located:
        """Locate an array of another library on the GPU, such as CuPy's."""
        if not device_arrays.has(actions):
            if self._torch is not None and hasattr(actions, "__dlpack__"):
                # Orders the array's stream with torch's current one.
                tensor = self._torch.from_dlpack(actions)
                return self._locate_tensor(tensor) or self._convert_tensor(tensor)
            raise TypeError(
                f"actions must be an array on {self._place()} or a list, got {_kind_of(actions)}"
            )
        dtype, shape = device_arrays.dtype_of(actions), device_arrays.shape_of(actions)
        if self._takes_bools and dtype.kind == "b":
            dtype = np.dtype("uint8")
        if dtype.name not in _NATIVE[self._kinds]:
            raise TypeError(f"actions must be of type {_NATIVE[self._kinds]}, got {dtype}")
        if shape not in self._shapes:
            raise ValueError(f"actions must have shape {self._expected}, got {shape}")
        seen = device_arrays.see(actions, "actions", self._ordinal, self._device_of)
        return seen.address, dtype.name, actions, seen.maker

    def _host_array(self, actions: Any) -> NDArray:
        if isinstance(actions, np.ndarray):
            return actions
        if self._is_tensor(actions):
            return self._torch_to_numpy(actions)
        if isinstance(actions, list | tuple):
            return self._from_list(actions)
        if not hasattr(actions, "__dlpack__"):
            raise TypeError(f"actions must be an array or a list, got {_kind_of(actions)}")
        kind = int(actions.__dlpack_device__()[0])
        if kind not in _HOST_DLPACK:
            raise ValueError(f"actions must be on cpu, got an array of DLPack device type {kind}")
        ready = getattr(actions, "block_until_ready", None)
        if ready is not None:
            ready()
        return np.from_dlpack(actions)

    def _torch_to_numpy(self, tensor: Any) -> NDArray:
        if not tensor.is_cpu:
            raise ValueError(f"actions must be on cpu, got {tensor.device}")
        if tensor.dtype == self._torch.bfloat16:
            tensor = tensor.float()
        array: NDArray = tensor.detach().numpy()
        return array

    def _from_list(self, actions: Sequence[Any]) -> NDArray:
        try:
            array = np.asarray(actions)
        except ValueError as problem:
            raise ValueError(
                f"actions must have shape {self._expected}, got a ragged list"
            ) from problem
        if self._kinds == "f" and array.dtype.kind in "iu":
            return array.astype(self.dtype)
        return array

    def _wrong_kind(self, dtype: object) -> TypeError:
        wanted = "floats" if self._kinds == "f" else "integers"
        hint = ""
        if str(dtype).endswith("bool") and self._kinds != "f":
            hint = ": booleans are for actions of two choices"
        elif dtype is np.dtype(object):
            hint = ": it contains a value that is not a number or is too large"
        elif getattr(dtype, "kind", "") in "US":
            return TypeError(f"actions must be {wanted} such as {self.dtype}, got text")
        return TypeError(f"actions must be {wanted} such as {self.dtype}, got {dtype}{hint}")

    def _place(self) -> str:
        return "cpu" if self._machine == "cpu" else f"cuda:{self._ordinal}"


def _kind_of(actions: object) -> str:
    kind = type(actions)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    return "None" if actions is None else name
