"""The outputs of one simulator: dtype, shape and place of each, from the native description."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_envs import errors
from gpu_envs.known.outputs import FINAL_LAYERS, LAYERS, OUTPUTS, Outputs

if TYPE_CHECKING:
    from gpu_envs._native import Simulator as NativeSimulator


_LARGE = (*LAYERS, *FINAL_LAYERS, "state", "final_state")


@dataclass(frozen=True, slots=True)
class Output:
    """One output; `shape` is (worlds, agents, ...), `rows` is (worlds * agents, ...).

    An output of worlds, such as the state, has (worlds, ...) as both. An output that only a step
    fills is undefined after a reset; one that is `where_ended` is valid in the rows of `ended`.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    rows: tuple[int, ...]
    by_a_step: bool
    where_ended: bool
    per_agent: bool
    nbytes: int
    block: int  # number of the block that it lies in
    offset: int

    def view(self, flat: bool) -> tuple[int, ...]:
        """Shape of the array the caller gets."""
        return self.rows if flat else self.shape


@dataclass(frozen=True, slots=True)
class Layout:
    """The outputs that one simulator writes, and where they lie in blocks that hold one step.

    One block has the observations and the state, the other one everything small: a caller that
    keeps the rewards of a thousand steps does not keep their observations.
    """

    worlds: int
    agents: int
    outputs: Outputs  # of Output, None for what is not written
    block_bytes: tuple[int, int]

    def output(self, name: str) -> Output | None:
        """Return the output of that name, None where it is not written."""
        found: Output | None = getattr(self.outputs, name)
        return found


def size_in_words(worlds: int, agents: int) -> str:
    """Return the size of a batch in words: 64 worlds x 5 agents = 320 rows."""
    return f"{_counted(worlds, 'world')} x {_counted(agents, 'agent')} = " + _counted(
        worlds * agents, "row"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def instance(simulator: NativeSimulator) -> dict[str, Any]:
    """Read the description of a native simulator."""
    found: dict[str, Any] = json.loads(simulator.instance)
    return found


def read(instance: Mapping[str, Any], written: Collection[str], alignment: int) -> Layout:
    """Read the layout of the outputs in `written` from a native instance."""
    worlds, agents = instance["num_worlds"], instance["agents_per_world"]
    outputs: dict[str, Output] = {}
    sizes = [0, 0]
    for name, described in instance["outputs"].items():
        if name not in written:
            continue
        shape = tuple(described["shape"])
        rows = (worlds * agents, *shape[2:]) if described["per_agent"] else shape
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(described["type"]).itemsize
        block = 0 if name in _LARGE else 1
        outputs[name] = Output(
            *(name, described["type"], shape, rows),
            by_a_step=described["by_a_step"],
            where_ended=described["where_ended"],
            per_agent=described["per_agent"],
            nbytes=nbytes,
            block=block,
            offset=sizes[block],
        )
        sizes[block] += -(-nbytes // alignment) * alignment
    return Layout(worlds, agents, Outputs(**outputs), (sizes[0], sizes[1]))


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


def check_existing(instance: Mapping[str, Any], wanted: Collection[str]) -> None:
    """Refuse outputs that this environment, made like this, does not have."""
    existing = instance["outputs"]
    for name in wanted:
        if name not in existing:
            what = f"output of {instance['id']} (outputs=)"
            raise ValueError(errors.unknown(what, name, existing))
