"""Which agents each policy plays, by the options `policies` and `learn`."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_envs import errors
from gpu_envs.core.roles import role_of
from gpu_envs.policies import agent_map
from gpu_envs.policies.options import PolicyOptions


def groups(policies: str, names: Sequence[str], learn: str = "") -> dict[str, list[int]]:
    """Return which of the named agents each policy plays, in order of their first agents.

    Where one role learns, `learn`, agents of other roles have no policy.
    """
    if agent_map.is_map(policies):
        return agent_map.groups(policies, names)
    roles = dict.fromkeys(map(role_of, names))
    if learn and learn not in roles:
        raise ValueError(errors.unknown("role (--learn)", learn, roles))
    if policies == "shared" and not learn:
        return {"all": list(range(len(names)))}
    found: dict[str, list[int]] = {}
    for agent, name in enumerate(names):
        if learn in ("", role_of(name)):
            found.setdefault(name if policies == "agent" else role_of(name), []).append(agent)
    return found


def role_of_policy(options: PolicyOptions, name: str) -> str:
    """Return the role whose options hold for a policy; "" for one that plays all roles.

    A policy of a map has options of its own, by its name.
    """
    if agent_map.is_map(options.policies):
        return name
    if options.policies == "agent":
        return role_of(name)
    return name if options.policies == "role" or options.learn else ""


def sides(names: Sequence[str], learn: str = "") -> dict[str, list[int]]:
    """Return the agents of each role that learns; of the only one by the name ""."""
    roles = groups("role", names, learn)
    return roles if len(roles) > 1 else {"": next(iter(roles.values()))}
