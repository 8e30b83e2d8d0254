"""Scripted players, and agents that do one thing, in worlds that are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from gpu_envs.core.roles import Role
from gpu_envs.known.outputs import Outputs
from gpu_envs.players.scripted import Scripted
from gpu_envs.policies import agent_kinds
from gpu_envs.policies.teams import NOBODY, Ruled, Team
from gpu_envs.train.worlds import Worlds


def team(env: Worlds, agents: Sequence[int] | None = None, **choices: Any) -> Team:
    """Return the team of scripted players.

    Args:
        env: The worlds that they play.
        agents: Numbers of the agents that they play; the others act at random. None for all.
        **choices: Arguments of the players.
    """
    simulator = env.simulator
    return _ruled(env, agents, lambda role: Scripted(simulator, role, **choices).see)


def constant(env: Worlds, agents: Sequence[int] | None, action: float) -> Team:
    """Return the team of agents that take the same action in every step.

    Args:
        env: The worlds that they play.
        agents: Numbers of the agents; the others act at random. None for all.
        action: Each number of an action.
    """

    def player(role: Role) -> Callable[[Outputs], Any]:
        space = role.action_space
        own = np.full(space.shape or (), action, space.dtype)
        if not space.contains(own):
            raise ValueError(f"action={action!r} is not in {space}")
        chosen = np.full((env.num_worlds, role.count, *own.shape), own)
        return lambda _: chosen

    return _ruled(env, agents, player)


def _ruled(
    env: Worlds, agents: Sequence[int] | None, player: Callable[[Role], Callable[[Outputs], Any]]
) -> Team:
    """Return a team of players by role."""
    simulator, device = env.simulator, torch.device(env.device)
    kinds = agent_kinds.kinds_of(simulator, device)
    found = Team([], [NOBODY] * env.agents_per_world, {}, kinds, simulator.kinds)
    chosen = range(env.agents_per_world) if agents is None else agents
    for role in simulator.roles:
        own = [number for number in role.numbers if number in chosen]
        if not own:
            continue
        for number in own:
            found.of_agent[number] = len(found.policies)
        kind = kinds[role.kind]
        found.policies.append(Ruled(player(role), role, kind, env.num_worlds, device))
    return found
