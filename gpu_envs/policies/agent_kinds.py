"""The kinds of agents of a world: those of one kind have equal rows and can share a policy.

Where all agents share their spaces there is one kind. Where roles have spaces of their own each is
a kind, with rows and actions of its own length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_envs.core.simulator import Simulator
from gpu_envs.core.spaces import action_space
from gpu_envs.policies.distributions import Distribution, of_space
from gpu_envs.policies.layers import RowShape

KINDS_APART = 2**40  # distance between the first row numbers of kinds, by which their agents draw


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
    parts: tuple[str, ...] = ()  # names of the reward parts

    def rows(self, of_all: Tensor) -> Tensor:
        """Return this kind's part of an array over (worlds, agents), as rows of its own."""
        return of_all[:, self.first : self.first + self.count].flatten(0, 1)


def kinds_of(simulator: Simulator, device: torch.device, space: Any = None) -> list[Kind]:
    """Return the kinds of a simulator's agents, in the order of the agents.

    Args:
        simulator: Padded or split; the kinds are the same.
        device: The device on which actions are drawn.
        space: Space of actions, where it differs from the simulator's.
    """
    return [_kind(simulator, number, device, space) for number in range(len(simulator.kinds.kinds))]


def _kind(simulator: Simulator, number: int, device: torch.device, space: Any) -> Kind:
    described, is_one = simulator.kinds.kinds[number], simulator.kinds.is_one
    if not is_one:
        space = action_space(described.action_fields)
    elif space is None:
        space = simulator.single_action_space
    has_mask = described.has_mask and simulator.layout.output("action_mask") is not None
    return Kind(
        *("" if is_one else described.name, number, described.first, described.count),
        *(RowShape.of(simulator, number), space, of_space(space, device)),
        *(described.row, getattr(torch, described.type)),
        choices=described.mask_elements if has_mask else None,
        parts=tuple(field.name for field in described.reward_fields),
    )


def kind_of_each_agent(kinds: Sequence[Kind]) -> list[int]:
    """Return the number of each agent's kind."""
    return [kind.number for kind in kinds for _ in range(kind.count)]
