"""Any map from agents to policies: `--policies "chef=player_0;helper=player_1,player_2"`.

A policy's name stands before what it plays: agents by their names, or roles, with commas between
them. Each agent of a world is named exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_envs import errors

FORM = '"NAME=AGENT,AGENT;NAME=ROLE"'
_NAME, _AGENT = r"[A-Za-z]\w*", r"[\w.+-]+"


def is_map(policies: str) -> bool:
    """Whether a value of the option is a map, and not a word."""
    return "=" in policies


def read(policies: str) -> dict[str, list[str]]:
    """Return the agents and roles of each policy, as they are typed."""
    found: dict[str, list[str]] = {}
    for part in policies.split(";"):
        name, _, members = (piece.strip() for piece in part.partition("="))
        named = [member.strip() for member in members.split(",")]
        if not re.fullmatch(_NAME, name) or not all(re.fullmatch(_AGENT, m) for m in named):
            raise ValueError(f"--policies: {part.strip()!r} of a map is not of the form {FORM}")
        if name in found:
            raise ValueError(f"--policies names the policy {name!r} more than once")
        found[name] = named
    return found


def groups(policies: str, names: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers of the agents of each policy, in order of their first agents."""
    from gpu_envs.core.roles import role_of  # needs packages, which help does without

    roles: dict[str, list[int]] = {}
    for number, agent in enumerate(names):
        roles.setdefault(role_of(agent), []).append(number)
    of_name = roles | {agent: [number] for number, agent in enumerate(names)}
    owners: dict[int, str] = {}
    for policy, members in read(policies).items():
        for member in members:
            if member not in of_name:
                what = f"agent or role (--policies {policy}=...)"
                raise ValueError(errors.unknown(what, member, of_name))
            for number in of_name[member]:
                if number in owners:
                    both = " and ".join(dict.fromkeys((owners[number], policy)))
                    raise ValueError(f"--policies gives {names[number]} twice, to {both}")
                owners[number] = policy
    if missing := [name for number, name in enumerate(names) if number not in owners]:
        raise ValueError(f"--policies gives no policy to {errors.listed(missing)}")
    found: dict[str, list[int]] = {}
    for number in range(len(names)):
        found.setdefault(owners[number], []).append(number)
    return found
