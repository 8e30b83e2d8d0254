"""Actions by role: checked role by role, and put into the one array that a simulator takes.

On the CPU all of it is NumPy's, whatever library the outputs are of; on a GPU it is the
simulator's own library, and nothing waits for the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core.actions import ActionReader, row_shape
from gpu_envs.core.arrays import require
from gpu_envs.core.layout import size_in_words
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator


def to_library(array: np.ndarray[Any, Any], simulator: Simulator) -> Any:
    """Return a host array as what actions are made of: NumPy's, on a GPU its library's."""
    if simulator.device == "cpu":
        return array
    if simulator.arrays == "torch":
        return require("torch").from_numpy(np.ascontiguousarray(array)).to(simulator.device)
    cupy = require("cupy")
    with cupy.cuda.Device(int(simulator.device.partition(":")[2])):
        return cupy.asarray(array)


class Reader:
    """Reads the actions of one role."""

    def __init__(self, simulator: Simulator, role: Role) -> None:
        worlds, row = simulator.num_worlds, row_shape(role.action_fields)
        self._simulator, self._size = simulator, (worlds, role.count)
        self.shape = (worlds, role.count, *row)
        here = ("cpu", 0)
        self._host = ActionReader(role.action_fields, *self._size, here, lambda array: (0, array))
        self._shapes = [self.shape, (worlds * role.count, *row)]
        if role.count == 1:
            self._shapes.append((worlds, *row))
        self._is_float = self._host.dtype.kind == "f"

    def read(self, actions: Any) -> Any:
        """Return actions as an array of (worlds, n[, k]); errors say what they are not."""
        if self._simulator.device == "cpu":
            return self._host.host(actions).reshape(self.shape)
        if not self._is_on_device(actions):
            return to_library(self._host.host(actions).reshape(self.shape), self._simulator)
        kind = str(actions.dtype).removeprefix("torch.")
        if not kind.startswith("float" if self._is_float else ("int", "uint", "bool")):
            wanted = "floats" if self._is_float else "integers"
            raise TypeError(f"actions must be {wanted} such as {self._host.dtype}, got {kind}")
        if tuple(actions.shape) not in self._shapes:
            expected = " or ".join(map(str, dict.fromkeys(self._shapes)))
            raise ValueError(
                f"actions must have shape {expected} ({size_in_words(*self._size)}), "
                f"got {tuple(actions.shape)}"
            )
        return self._typed(actions.reshape(self.shape))

    def _typed(self, actions: Any) -> Any:
        """Return actions on a device in the type of all: what is joined must not differ."""
        name = self._host.dtype.name
        if self._simulator.arrays == "torch":
            return actions.to(getattr(require("torch"), name))
        return actions.astype(name, copy=False)

    def nothing(self) -> Any:
        """Return actions that mean nothing, where nobody has the role."""
        return to_library(np.zeros(self.shape, self._host.dtype), self._simulator)

    def _is_on_device(self, actions: Any) -> bool:
        if self._simulator.arrays == "torch":
            return str(getattr(actions, "device", "")) == self._simulator.device
        return hasattr(actions, "__cuda_array_interface__")


class Joiner:
    """Puts the actions of all roles into what a step takes.

    That is one array, (worlds, agents[, k]); with roles="split" the simulator joins them itself.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._roles = simulator.roles
        self.readers = {role.name: Reader(simulator, role) for role in self._roles}
        self._whole: Any = None
        if simulator.split is not None:
            return
        row = row_shape(simulator.action_fields)
        kind = "float32" if simulator.action_fields[0].type.startswith("float") else "int64"
        shape = (simulator.num_worlds, simulator.agents_per_world, *row)
        # Written anew by every step, which the next call waits for.
        self._whole = to_library(np.zeros(shape, kind), simulator)

    def join(self, parts: Mapping[str, Any]) -> Any:
        """Join what `Reader.read` returned for each role."""
        if self._whole is None:
            nobody = {r.name: self.readers[r.name].nothing() for r in self._roles if not r.count}
            return {**nobody, **parts}
        for role in self._roles:  # of shared spaces: none is empty
            self._whole[:, role.at] = parts[role.name]
        return self._whole

    def read(self, actions: Mapping[str, Any]) -> Any:
        """Read and join the actions of all roles."""
        names = [role.name for role in self._roles if role.count]
        for name in actions:
            if name not in names:
                raise ValueError(errors.unknown("role in actions", name, names))
        for name in names:
            if name not in actions:
                raise ValueError(f"actions: there are none for role {name!r} of {names}")
        parts = {}
        for name in names:
            try:
                parts[name] = self.readers[name].read(actions[name])
            except (TypeError, ValueError) as problem:
                raise type(problem)(f"role {name!r}: {problem}") from problem
        return self.join(parts)
