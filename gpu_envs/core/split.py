"""Arrays of all roles in one, role after role, each with rows of its own length.

So a simulator with `roles="split"` writes observations and masks and reads actions: nothing is
padded, and each role's part is a view of its own shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs import errors
from gpu_envs.core import arrays

NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One role's part of an array."""

    role: str
    begin: int
    end: int
    shape: tuple[int, ...]


def _size_of(field: Mapping[str, Any]) -> int:
    return int(np.prod(field["shape"], dtype=np.int64))


class Split:
    """Where the parts of roles lie; made from what a native simulator says of itself."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.name: str = instance["id"]
        self.worlds: int = instance["num_worlds"]
        self._roles: list[dict[str, Any]] = instance["roles"]
        words = {r["name"]: sum(map(_size_of, r["action"])) for r in self._roles}
        floats = [r["action"][0]["type"] == "float32" for r in self._roles]
        self.is_float, self.is_mixed = all(floats), any(floats) and not all(floats)
        self._is_float = dict(zip(words, floats, strict=True))
        lone = {r["name"] for r in self._roles if r["choices"] is not None}
        rows = {r["name"]: () if r["name"] in lone else (words[r["name"]],) for r in self._roles}
        self.actions = self._parts(rows)
        self.observations = self._parts({r["name"]: (r["elements"],) for r in self._roles})
        self.masks = self._parts({r["name"]: (r["mask_elements"],) for r in self._roles})
        self.action_count = self.actions[-1].end

    def _parts(self, rows: Mapping[str, tuple[int, ...]]) -> tuple[Part, ...]:
        parts, begin = [], 0
        for role in self._roles:
            shape = (self.worlds, role["count"], *rows[role["name"]])
            end = begin + int(np.prod(shape, dtype=np.int64))
            parts.append(Part(role["name"], begin, end, shape))
            begin = end
        return tuple(parts)

    @staticmethod
    def views(array: Any, parts: tuple[Part, ...]) -> dict[str, Any]:
        """Return each role's part of an array: views, or with jax copies."""
        return {part.role: array[part.begin : part.end].reshape(part.shape) for part in parts}

    def joined(self, actions: Mapping[str, Any]) -> Any:
        """Return the actions of all roles as the one array that a step reads.

        Where some roles act in floats and some in categories, floats travel by their bits.
        """
        if set(actions) != set(self._is_float):
            wanted = [part.role for part in self.actions]
            raise ValueError(f"actions of {self.name} must be of {wanted}, got {list(actions)}")
        if any(hasattr(action, "is_cuda") for action in actions.values()):
            return self._joined_tensors(actions)
        flat = [self._host_part(part, actions[part.role]) for part in self.actions]
        return np.concatenate(flat)

    def _checked(self, part: Part, shape: tuple[int, ...], is_float: bool, dtype: object) -> None:
        if is_float != self._is_float[part.role]:
            wanted = "floats" if self._is_float[part.role] else "integers"
            raise TypeError(f"actions of {part.role} must be {wanted}, got {dtype}")
        rows = (part.shape[0] * part.shape[1], *part.shape[2:])
        if shape not in (part.shape, rows):
            raise ValueError(f"actions of {part.role} must have shape {part.shape}, got {shape}")

    def _host_part(self, part: Part, given: Any) -> NDArray:
        if callable(getattr(given, "__dlpack__", None)) and not isinstance(given, np.ndarray):
            given = np.from_dlpack(given)
        try:
            array = np.asarray(given)
        except ValueError as problem:
            raise ValueError(
                f"actions of {part.role} must have shape {part.shape}, got a ragged list"
            ) from problem
        if array.dtype.kind == "b" or (isinstance(given, list) and array.dtype.kind in "iu"):
            array = array.astype(np.float32 if self._is_float[part.role] else np.int64)
        if array.dtype.kind not in "iuf":
            raise TypeError(f"actions of {part.role} must be numbers, got {array.dtype}")
        self._checked(part, array.shape, array.dtype.kind == "f", array.dtype)
        if self.is_float:
            return array.astype(np.float32, copy=False).ravel()
        if not self.is_mixed:
            return _whole(array, np.int64, part.role).ravel()
        if self._is_float[part.role]:
            return np.ascontiguousarray(array, np.float32).view(np.int32).ravel()
        return _whole(array, np.int32, part.role).ravel()

    def _joined_tensors(self, actions: Mapping[str, Any]) -> Any:
        torch = arrays.require("torch")
        flat = []
        for part in self.actions:
            tensor = torch.as_tensor(actions[part.role])
            is_float = bool(tensor.is_floating_point())
            self._checked(part, tuple(tensor.shape), is_float, tensor.dtype)
            tensor = tensor.detach()
            if self.is_float:
                tensor = tensor.float()
            elif not self.is_mixed:
                tensor = tensor.long()
            else:
                tensor = tensor.float().contiguous().view(torch.int32) if is_float else tensor.int()
            flat.append(tensor.reshape(-1))
        return torch.cat(flat)


def _whole(array: NDArray, kind: type[np.signedinteger[Any]], role: str) -> NDArray:
    limits = np.iinfo(kind)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise ValueError(f"actions of {role}: a number too large for {np.dtype(kind)}")
    return array.astype(kind, copy=False)


def form(roles: object, description: Mapping[str, Any]) -> str:
    """Check `roles`, the form in which rows of roles whose spaces differ are written."""
    if not isinstance(roles, str) or roles not in ("padded", "split"):
        raise ValueError(f"roles must be 'padded' or 'split', got {roles!r}{_hint(roles)}")
    own = description.get("roles")
    if roles == "split" and not own:
        raise ValueError(f"roles='split': all agents of {description['id']} share their spaces")
    if roles == "padded" and own:
        lacking = [role["name"] for role in own if role["choices"] is None]
        if lacking:
            raise ValueError(
                f"rows of {description['id']} cannot be padded, since an action of "
                f"{' or '.join(lacking)} is not one category: use roles='split', role=, or "
                "gpu_envs.parallel_env"
            )
    return roles


def _hint(roles: object) -> str:
    return errors.suggestion(roles, ["padded", "split"])
