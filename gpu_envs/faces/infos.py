"""The infos of every interface: which outputs of a simulator they show, and when.

An output that an interface returns by itself, or in a form of its own, is in RETURNED. All others
are infos under their own names, so an output that the engine gains is shown everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from gpu_envs.core.layout import Layout
from gpu_envs.known.fields import Field
from gpu_envs.known.outputs import FINAL_LAYERS, LAYERS

RETURNED = {
    *LAYERS,
    *FINAL_LAYERS,
    *("reward", "terminated", "truncated", "ended"),
    *("episode_return", "episode_length"),  # episode_stats
    "reward_parts",  # by name
}
BY_NAME = {"measures"}  # rows of agents, also where those of roles are split


class Infos(NamedTuple):
    """Names of outputs that are infos."""

    always: tuple[str, ...]  # of a reset too
    of_steps: tuple[str, ...]  # after a step only: of all agents, or of worlds
    of_ends: tuple[str, ...]  # valid in the rows whose episode ended


def infos_of(layout: Layout, but: Collection[str] = ()) -> Infos:
    """Return the infos of a simulator with this layout.

    Args:
        layout: Says which outputs are written.
        but: Names of outputs that the interface shows in another way.
    """
    found = [
        output
        for output in layout.outputs
        if output is not None and output.name not in RETURNED and output.name not in but
    ]
    by_agent = {output.name for output in found if output.per_agent or output.name in BY_NAME}
    is_marked = {output.name: output.where_ended and output.name in by_agent for output in found}
    return Infos(
        tuple(output.name for output in found if not output.by_a_step),
        tuple(output.name for output in found if output.by_a_step and not is_marked[output.name]),
        tuple(output.name for output in found if is_marked[output.name]),
    )


def at_ends(
    names: Sequence[str], array_of: Callable[[str], Any], measures: Sequence[Field]
) -> dict[str, Any]:
    """Return what the ends of episodes tell; each measure under its own name.

    Args:
        names: The infos of ends.
        array_of: Returns the array of an output.
        measures: Fields of the output `measures`.
    """
    found: dict[str, Any] = {}
    for name in names:
        array = array_of(name)
        found.update(parts_by_name(array, measures) if name == "measures" else {name: array})
    return found


def parts_by_name(array: Any, parts: Sequence[Field]) -> dict[str, Any]:
    """Return the parts of rewards, (..., numbers), by their names."""
    found, begin = {}, 0
    for part in parts:
        end = begin + part.size
        found[part.name] = array[..., begin:end] if part.shape else array[..., begin]
        begin = end
    return found
