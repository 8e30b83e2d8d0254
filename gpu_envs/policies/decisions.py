"""A policy as one function of plain tensors, which other programs can run.

Inputs are what an agent sees, as the environment gives it, with the rows of a batch as first axis;
outputs say what the policy would do. Everything between them is inside: scaling of pixels,
normalisation, the mask, the bounds of actions and the units of the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gpu_envs.core.simulator import Simulator
from gpu_envs.policies.agent_kinds import Kind
from gpu_envs.policies.distributions import Gaussian
from gpu_envs.policies.networks import Policy

OBSERVATION, MASK, MEMORY = "observation", "action_mask", "memory"


@dataclass(frozen=True)
class Port:
    """An input or output: the axes of a row, without the batch's."""

    name: str
    type: str  # as NumPy names it
    shape: tuple[int, ...]

    def zeros(self, rows: int) -> Tensor:
        """Return rows of zeros."""
        return torch.zeros((rows, *self.shape), dtype=getattr(torch, self.type))


class Decision(nn.Module):
    """What a policy says, and its likeliest action.

    Args:
        policy: The policy, on the CPU.
        kind: Of the agents that it plays.
        simulator: An environment of its own.
    """

    def __init__(self, policy: Policy, kind: Kind, simulator: Simulator) -> None:
        super().__init__()
        self.policy = policy
        self.inputs = _inputs(policy, kind, simulator)
        self._observed = [port.name for port in self.inputs if port.name not in (MASK, MEMORY)]

    def forward(self, *given: Tensor) -> dict[str, Tensor]:
        """Return the outputs by name; what is given are the inputs, in their order."""
        named = dict(zip((port.name for port in self.inputs), given, strict=True))
        parts = {name: named[name] for name in self._observed}
        obs: Any = parts[OBSERVATION] if OBSERVATION in parts else parts
        policy = self.policy
        outputs, value, memory = policy(obs, named.get(MASK), named.get(MEMORY))
        actions, said = policy.actions, {}
        if isinstance(actions, Gaussian):
            said["mean"], said["deviation"] = actions.in_units(outputs)
        else:
            said["logits"] = outputs
        said["action"] = actions.for_env(actions.likeliest(outputs))
        if not policy.sees_state:  # which players do not have
            said["value"] = policy.real(value)
        if memory is not None:
            said[f"{MEMORY}_out"] = memory
        return said

    def outputs(self) -> list[Port]:
        """Return the outputs, in their order."""
        with torch.no_grad():
            said = self(*(port.zeros(2) for port in self.inputs))
        return [
            Port(name, _plain(part.dtype), tuple(part.shape[1:])) for name, part in said.items()
        ]


def _inputs(policy: Policy, kind: Kind, simulator: Simulator) -> list[Port]:
    described = simulator.kinds.kinds[kind.number]
    if policy.shape.scales:  # several arrays
        ports = [
            Port(field.name, field.type, shape or (1,))
            for field, shape in zip(described.fields, policy.shape.shapes, strict=True)
        ]
    else:
        ports = [Port(OBSERVATION, _plain(kind.type), kind.row)]
    mask = simulator.layout.output(MASK)
    if kind.choices is not None and mask is not None:
        ports.append(Port(MASK, mask.type, (kind.choices,)))
    if policy.memory_size:
        ports.append(Port(MEMORY, "float32", (policy.memory_size,)))
    return ports


def _plain(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")
