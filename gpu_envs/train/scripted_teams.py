"""An environment's scripted player in worlds that are evaluated, in the place of policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

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
    simulator, device = env.simulator, torch.device(env.device)
    kinds = agent_kinds.kinds_of(simulator, device)
    found = Team([], [NOBODY] * env.agents_per_world, {}, kinds, simulator.kinds)
    chosen = range(env.agents_per_world) if agents is None else agents
    for role in simulator.roles:
        own = [number for number in role.numbers if number in chosen]
        if not own:
            continue
        player = Scripted(simulator, role, **choices)
        for number in own:
            found.of_agent[number] = len(found.policies)
        kind = kinds[role.kind]
        found.policies.append(Ruled(player.see, role, kind, env.num_worlds, device))
    return found
