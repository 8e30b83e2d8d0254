"""What one simulator writes: dtype, shape and place of every output, as described natively."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs import errors

# The order of every tuple of outputs, in the native code too.
OUTPUTS = (
    "obs",
    "reward",
    "terminated",
    "truncated",
    "final_obs",
    "ended",
    "episode_return",
    "episode_length",
    "action_mask",
    "agent_active",
    "state",
    "reward_parts",
)
REQUIRED = frozenset(OUTPUTS[:4])
_MASKED = frozenset(
    {"final_obs", "episode_return", "episode_length"}
)  # meaningless without `ended`


@dataclass(frozen=True, slots=True)
class Output:
    """One output; `shape` is (worlds, agents, ...), `rows` the same as (worlds * agents, ...)."""

    name: str
    type: str
    shape: tuple[int, ...]
    rows: tuple[int, ...]
    nbytes: int
    offset: int

    def view(self, flat: bool) -> tuple[int, ...]:
        """Shape of the array the caller gets."""
        return self.rows if flat else self.shape


@dataclass(frozen=True, slots=True)
class Layout:
    """All outputs of one simulator, and where they lie in a block that holds one step."""

    worlds: int
    agents: int
    outputs: tuple[Output | None, ...]
    block_bytes: int

    def of(self, name: str) -> Output | None:
        """Return the output of that name, None where it is not written."""
        return self.outputs[OUTPUTS.index(name)]


def read(instance: Mapping[str, Any], wanted: Collection[str] | None, alignment: int) -> Layout:
    """Read the layout of the outputs in `wanted` (None: all that exist) from a native instance."""
    worlds, agents = instance["num_worlds"], instance["agents_per_world"]
    existing = existing_outputs(instance)
    chosen = _chosen(instance["id"], existing, wanted)
    outputs: list[Output | None] = []
    offset = 0
    for name in OUTPUTS:
        if name not in chosen:
            outputs.append(None)
            continue
        shape = tuple(existing[name]["shape"])
        rows = shape if name == "state" else (worlds * agents, *shape[2:])
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(existing[name]["type"]).itemsize
        outputs.append(Output(name, existing[name]["type"], shape, rows, nbytes, offset))
        offset += -(-nbytes // alignment) * alignment
    return Layout(worlds, agents, tuple(outputs), offset)


def existing_outputs(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs this instance can write; final observations belong to SameStep alone."""
    same_step = instance["autoreset_mode"] == "SameStep"
    described: dict[str, Any] = instance["outputs"]
    return {n: o for n, o in described.items() if n != "final_obs" or same_step}


def _chosen(
    environment: str, existing: Collection[str], wanted: Collection[str] | None
) -> Collection[str]:
    if wanted is None:
        return existing
    for name in wanted:
        if name not in existing:
            raise ValueError(errors.unknown(f"output of {environment} (outputs=)", name, existing))
    return with_companions(wanted)


def with_companions(wanted: Collection[str]) -> tuple[str, ...]:
    """Add the outputs that are always written, and the mask of those that need one; in order."""
    chosen = REQUIRED | frozenset(wanted)
    if chosen & _MASKED:
        chosen |= {"ended"}
    return tuple(name for name in OUTPUTS if name in chosen)


def checked_names(outputs: object) -> tuple[str, ...] | None:
    """Check the `outputs=` argument before anything is built; None stays None."""
    if outputs is None:
        return None
    if isinstance(outputs, str) or not isinstance(outputs, Collection):
        raise TypeError(f"outputs must be a list of names, got {outputs!r}")
    for name in outputs:
        if name not in OUTPUTS:
            raise ValueError(errors.unknown("output (outputs=)", name, OUTPUTS))
    return tuple(outputs)
