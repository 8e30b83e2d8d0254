"""Actions by role: checked role by role, and written into the one array that a step reads.

On the CPU all arrays are NumPy's, whatever the library of the outputs; on a GPU they are of the
simulator's own library, and nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core.action_forms import form_of_rows
from gpu_envs.core.actions import ActionReader
from gpu_envs.core.kind_layout import KindLayout, type_of
from gpu_envs.core.layout import size_in_words
from gpu_envs.core.libraries import lasting, require
from gpu_envs.core.roles import Role


class Located(Protocol):
    """A simulator, as far as arrays are made for it."""

    @property
    def device(self) -> str:
        """Where arrays lie."""

    @property
    def arrays(self) -> str:
        """The library that makes them."""


class Place(NamedTuple):
    """A device and a library."""

    device: str
    arrays: str


def to_library(array: np.ndarray[Any, Any], simulator: Located) -> Any:
    """Return a host array in the library of actions: NumPy, or on a GPU the simulator's."""
    if simulator.device == "cpu":
        return array
    if simulator.arrays == "torch":
        return require("torch").from_numpy(np.ascontiguousarray(array)).to(simulator.device)
    cupy = require("cupy")
    with cupy.cuda.Device(int(simulator.device.partition(":")[2])):
        return cupy.asarray(array)


class RoleReader:
    """Checks the actions of one role.

    Args:
        simulator: Says where they are wanted.
        role: Whose actions are read.
        worlds: How many worlds there are.
    """

    def __init__(self, simulator: Located, role: Role, worlds: int) -> None:
        self._place = Place(simulator.device, simulator.arrays)  # the simulator holds this reader
        self._space, self._count = role.action_space, role.choices
        size = (worlds, role.count)
        self._form = form_of_rows(role.action_fields, *size, size_in_words(*size))
        self.shape = self._form.drawn_shape
        self._host = ActionReader(self._form, ("cpu", 0), lambda array: (0, array))

    @property
    def is_float(self) -> bool:
        """Whether the role acts in floats."""
        return self._form.is_float

    def read(self, actions: Any) -> Any:
        """Return actions as an array of (worlds, n[, k]); raise where they do not fit the role."""
        if self._place.device == "cpu":
            return self._host.host(actions).reshape(self.shape)
        if not self._is_on_device(actions):
            return to_library(self._host.host(actions).reshape(self.shape), self._place)
        kind = str(actions.dtype).removeprefix("torch.")
        wholes = ("int", "uint", *(["bool"] if self._form.takes_bools else []))
        if not kind.startswith(("float", "bfloat") if self._form.is_float else wholes):
            wanted = "floats" if self._form.is_float else "integers"
            raise TypeError(f"actions must be {wanted} such as {self._form.dtype}, got {kind}")
        if tuple(actions.shape) not in self._form.shapes:
            expected = " or ".join(map(str, dict.fromkeys(self._form.shapes)))
            raise ValueError(
                f"actions must have shape {expected} ({self._form.rows}), "
                f"got {tuple(actions.shape)}"
            )
        return actions.reshape(self.shape)

    def out_of_range(self, actions: Any) -> Any:
        """Return which numbers of actions, as `read` returns them, the role does not have: bool.

        Floats are judged as float32, as they are stored.
        """
        if isinstance(self._space, spaces.Box):
            if actions.dtype.kind == "f":
                actions = actions.astype(np.float32)
            return ~((actions >= self._space.low) & (actions <= self._space.high))
        counts = self._space.nvec if isinstance(self._space, spaces.MultiDiscrete) else self._count
        return (actions < 0) | (actions >= counts)

    def _is_on_device(self, actions: Any) -> bool:
        if self._place.arrays == "torch":
            return str(getattr(actions, "device", "")) == self._place.device
        return hasattr(actions, "__cuda_array_interface__")


class RoleActions:
    """The actions of all agents as a step reads them, written role by role.

    Each write goes into the role's own part of one array, which every step overwrites.

    Args:
        simulator: Says where the array lies.
        kinds: Say what it looks like.
        roles: Who has actions.
    """

    def __init__(self, simulator: Located, kinds: KindLayout, roles: Sequence[Role]) -> None:
        self.names = [role.name for role in roles if role.count]
        self.readers = {role.name: RoleReader(simulator, role, kinds.worlds) for role in roles}
        self._limits = np.iinfo(np.int32) if kinds.is_mixed else None
        self._parts: dict[str, tuple[Any, Any]] = {}
        with lasting(simulator.arrays):
            whole = np.zeros(kinds.actions.shape, kinds.action_form.dtype)
            self.whole = to_library(whole, simulator)
            for role in roles:
                part = kinds.actions.part(self.whole, role.kind)
                if kinds.is_mixed and self.readers[role.name].is_float:
                    part = part.view(type_of(part, "float32"))
                self._parts[role.name] = (part, (slice(None), role.within))

    def write(self, role: str, actions: Any, places: Any = None) -> None:
        """Write the actions of a role, from its reader or its player.

        torch writes at indices only tensors of the same type, so the type is changed first.

        Args:
            role: Its name.
            actions: (worlds, n[, k]), or what fits `places`.
            places: Where in its part they go; None: everywhere.
        """
        part, at = self._parts[role]
        at = at if places is None else places
        if not hasattr(actions, "detach"):
            part[at] = self._fitting(actions)
        elif hasattr(part, "detach"):
            part[at] = actions.detach().to(part.dtype)
        else:
            part[at] = require("cupy").from_dlpack(actions.detach())

    def read(self, actions: Mapping[str, Any]) -> Any:
        """Check and write the actions of all roles; return the whole array."""
        for name in actions:
            if name not in self.readers:
                raise ValueError(errors.unknown("role in actions", name, self.names))
        for name in self.names:
            if name not in actions:
                raise ValueError(f"actions: role {name!r} of {self.names} is missing")
        for name in self.names:
            try:
                self.write(name, self.readers[name].read(actions[name]))
            except (TypeError, ValueError) as problem:
                raise type(problem)(f"role {name!r}: {problem}") from problem
        return self.whole

    def _fitting(self, actions: Any) -> Any:
        """Refuse whole numbers that 32 bits cannot hold, where the array has no more."""
        if self._limits is None or not isinstance(actions, np.ndarray) or not actions.size:
            return actions
        least, most = actions.min(), actions.max()
        if actions.dtype.kind != "f" and (least < self._limits.min or most > self._limits.max):
            number = most if most > self._limits.max else least
            raise ValueError(f"actions: {number} is too large for int32")
        return actions
