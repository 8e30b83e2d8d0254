"""Who plays the agents that are not the ego: `others=` by role, by agent, or from a pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpu_envs import errors
from gpu_envs.core import roles
from gpu_envs.core.roles import Role
from gpu_envs.core.simulator import Simulator
from gpu_envs.players.other_players import (
    RANDOM,
    check_callables,
    lots_of,
    player_of,
    told_role,
)
from gpu_envs.players.player import Player

DRAWN = "drawn"  # in place of an agent's name: one that is drawn for each episode


def ego_of(simulator: Simulator, agent: object) -> int | None:
    """Return the number of the ego among the agents of a world; None: it is drawn."""
    names, who = simulator.agent_names, simulator.name
    if not isinstance(agent, str):
        raise TypeError(
            f"agent must be the name of one agent of {who} ({errors.listed(names)}) or {DRAWN!r}, "
            f"got {errors.shown(agent)} of type {type(agent).__name__}"
        )
    if agent in names:
        return names.index(agent)
    if agent != DRAWN:
        raise ValueError(errors.unknown(f"agent of {who}", agent, [*names, DRAWN]))
    if not simulator.kinds.is_one:
        apart = errors.listed([role.name for role in simulator.roles])
        raise ValueError(
            f"agent={DRAWN!r} exchanges seats, for which all agents must observe and act alike: "
            f"the roles of {who} have spaces of their own ({apart})"
        )
    if simulator.agents_per_world == 1:
        raise ValueError(f"agent={DRAWN!r} exchanges seats, and {who} has only one: {names[0]}")
    return None


def partners_of(
    simulator: Simulator, ego: int | None, chosen: object, first_world: int
) -> tuple[list[Role], dict[str, Player]]:
    """Return the parts into which the agents but the ego are divided, and their players, by name.

    Args:
        simulator: What they play in.
        ego: The number of the agent that is not theirs; None: any agent may be theirs.
        chosen: What `others=` was.
        first_world: Number of the first world.
    """
    if chosen is not None and ego is not None and simulator.agents_per_world == 1:
        only = simulator.agent_names[ego]
        raise ValueError(f"others= is for other agents: {simulator.name} has only {only}")
    named = chosen if isinstance(chosen, Mapping) else None
    if named is not None:
        _check_names(simulator, ego, named)
    parts, players, lots = [], {}, lots_of(chosen)
    for role, part in _parts(simulator, ego, named or {}):
        if named is None:
            who = told_role(chosen, role.name)
        else:
            who = named.get(part.name, named.get(role.name, RANDOM))
        own = replace(part, name=role.name)  # players know their role by its name
        players[part.name] = player_of(simulator, own, who, first_world, lots(part.first))
        parts.append(part)
    return parts, players


def _check_names(simulator: Simulator, ego: int | None, named: Mapping[str, object]) -> None:
    agents = simulator.agent_names
    mine = "" if ego is None else agents[ego]
    of_role = {role.name: role.agents for role in simulator.roles if role.count}
    for name, who in named.items():
        if mine and (name == mine or of_role.get(name) == (mine,)):
            only = "" if name == mine else f", whose only agent is {mine!r}"
            raise ValueError(
                f"others= names {name!r}{only}, which is the agent= of this environment"
            )
        if name not in agents and name not in of_role:
            valid = list(dict.fromkeys([*of_role, *agents]))
            raise ValueError(
                errors.unknown(f"role or agent in others= of {simulator.name}", name, valid)
            )
        check_callables(who, f"others= of {name!r}")


def _parts(
    simulator: Simulator, ego: int | None, named: Mapping[str, object]
) -> Iterator[tuple[Role, Role]]:
    """Yield each role, and a part of it that one player plays: an agent that is named, the rest."""
    names = simulator.agent_names
    for role in simulator.roles:
        theirs = [number for number in role.numbers if number != ego]
        alone = [n for n in theirs if n < len(names) and names[n] in named]
        rest = [n for n in theirs if n not in alone]
        for number in alone:
            yield role, roles.some_of(simulator, role, [number], names[number])
        if rest:
            yield role, roles.some_of(simulator, role, rest, _name(role, rest, names))


def _name(role: Role, numbers: Sequence[int], names: Sequence[str]) -> str:
    """Return a name for some agents of a role: saves and messages have it."""
    if len(numbers) == role.count:
        return role.name
    if len(numbers) == 1 and numbers[0] < len(names):
        return names[numbers[0]]
    lacking = [names[n] for n in role.numbers if n not in numbers]
    return f"{role.name} but {', '.join(lacking)}"
