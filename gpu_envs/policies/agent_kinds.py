"""The kinds of agents of a world: those whose rows are alike, and can be learned from together.

Where all agents share their spaces there is one kind. Where roles have spaces of their own each is
a kind, with rows and actions of its own length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.policies.distributions import Distribution, of_space
from gpu_envs.policies.layers import RowShape

KINDS_APART = 2**40  # between the numbers of the first rows that kinds of agents draw by


@dataclass(frozen=True)
class Kind:
    """Agents `first` to `first + count - 1` of each world."""

    name: str  # of their role; "" where there is one kind
    number: int
    first: int
    count: int
    shape: RowShape
    space: Any  # of one agent's actions
    actions: Distribution
    row: tuple[int, ...]  # shape of an observation
    type: torch.dtype  # of its elements
    choices: int | None  # numbers in a row of the action mask; None: there is none

    def rows(self, of_all: Tensor) -> Tensor:
        """Return this kind's part of an array over (worlds, agents), as rows of its own."""
        return of_all[:, self.first : self.first + self.count].flatten(0, 1)


def has_own_tables(simulator: Simulator) -> bool:
    """Whether the roles of an environment have spaces of their own."""
    return bool(simulator.instance.get("roles")) and simulator.instance["role_form"] != "shared"


def kinds_of(simulator: Simulator, device: torch.device, space: Any = None) -> list[Kind]:
    """Return the kinds of a simulator's agents, in the order of the agents.

    Args:
        simulator: Padded or split: what is a kind's own is the same.
        device: Where actions are drawn.
        space: Of actions, where it is another than the simulator's.
    """
    if has_own_tables(simulator):
        roles = enumerate(simulator.roles)
        return [_of_role(k, role, simulator, device) for k, role in roles]
    output, mask = simulator.layout.output("obs"), simulator.layout.output("action_mask")
    assert output is not None  # of the required outputs
    space = simulator.single_action_space if space is None else space
    return [
        Kind(
            *("", 0, 0, simulator.agents_per_world, RowShape.of(simulator)),
            *(space, of_space(space, device)),
            *(output.shape[2:], getattr(torch, output.type)),
            choices=None if mask is None else mask.shape[2],
        )
    ]


def _of_role(number: int, role: Role, simulator: Simulator, device: torch.device) -> Kind:
    output, state = simulator.layout.output("obs"), simulator.layout.output("state")
    assert output is not None  # of the required outputs
    size = 0 if state is None else math.prod(state.shape[1:])
    shape = RowShape(
        tuple(f.name for f in role.fields), tuple(f.shape for f in role.fields), 1.0, size
    )
    return Kind(
        *(role.name, number, role.first, role.count, shape),
        *(role.action_space, of_space(role.action_space, device)),
        *(role.row, getattr(torch, output.type)),
        choices=role.mask_elements if role.has_mask else None,
    )


def kind_of_each_agent(kinds: Sequence[Kind]) -> list[int]:
    """Return the number of each agent's kind."""
    return [kind.number for kind in kinds for _ in range(kind.count)]
