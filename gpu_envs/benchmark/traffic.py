"""Counts the bytes that one step of one world must move, from the environment's description.

Every column that a step uses is read once and written once, every output is written, every action
read: what a machine moves that keeps nothing between steps. The random seeds and the episode's
number are used only where an episode begins, so they count for the share of worlds that begin one.
What a cache fetches beyond that (whole lines, lines about to be overwritten) is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs.simulator import Simulator

_AT_RESET = frozenset({"world.seed_low", "world.seed_high", "world.identity", "world.episode"})
_AGENTS_OWN = "episode_return"  # the engine keeps it of every agent: names the agents' table


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the byte table, per world and step."""

    what: str
    read: float
    written: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """The byte table of one environment under one choice of outputs."""

    lines: tuple[Line, ...]

    @property
    def total(self) -> float:
        """Bytes per world and step."""
        return sum(line.read + line.written for line in self.lines)

    def as_json(self) -> dict[str, Any]:
        """The table, for the file."""
        lines = [{"what": x.what, "read": x.read, "written": x.written} for x in self.lines]
        return {"bytes_per_step": self.total, "lines": lines}


def count(simulator: Simulator, ends_per_step: float, action_bytes: int = 8) -> Traffic:
    """Count what a step moves.

    Args:
        simulator: Any size of the environment; its outputs and parameters are the ones counted.
        ends_per_step: Share of worlds that begin an episode in a step.
        action_bytes: Size of an action's element as the caller passes it.
    """
    used = begun = 0
    for name, size in _columns(simulator):
        if name in _AT_RESET:
            begun += size
        else:
            used += size
    lines = [
        Line("columns that every step uses", used, used),
        Line("seed and episode, where one begins", begun * ends_per_step, 4 * ends_per_step),
        Line("actions", action_bytes * _action_elements(simulator), 0),
    ]
    for output in simulator.layout.outputs:
        if output is not None:
            lines.append(Line(output.name, 0, output.nbytes / simulator.num_worlds))
    return Traffic(tuple(lines))


def _columns(simulator: Simulator) -> list[tuple[str, int]]:
    """Names of the record's columns and their bytes per world, of the rows that are in use."""
    fields = simulator.instance["columns"]
    crowd = {f["name"].split(".")[0] for f in fields if f["name"].endswith("." + _AGENTS_OWN)}
    sizes = []
    with_one = _one_world(simulator)
    for field in fields:
        values = with_one.get(field["name"])
        rows = values.shape[1]
        if field["name"].split(".")[0] in crowd:
            rows = min(rows, simulator.agents_per_world)
        sizes.append((field["name"], values.nbytes // values.shape[1] * rows))
    with_one.close()
    return sizes


def _one_world(simulator: Simulator) -> Simulator:
    parameters: dict[str, Any] = {**simulator.parameters}
    return Simulator(simulator.name, 1, device="cpu", **parameters)


def _action_elements(simulator: Simulator) -> int:
    row = simulator.single_action_space.shape or ()
    return simulator.agents_per_world * int(np.prod(row, dtype=np.int64))
