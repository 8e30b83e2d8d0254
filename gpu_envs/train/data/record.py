"""Records games of policies as a data set of Minari: `python -m gpu_envs record ID --out NAME`."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from gpu_envs import errors
from gpu_envs.core import options
from gpu_envs.core.roles import Role, find_role
from gpu_envs.known import fields, registration
from gpu_envs.players import policy_files, scripted
from gpu_envs.policies import saved
from gpu_envs.policies.checkpoint import package_version
from gpu_envs.policies.teams import Team
from gpu_envs.terminal import flags
from gpu_envs.terminal.progress import Progress, short
from gpu_envs.train import scripted_teams, varying
from gpu_envs.train.data import games, minari_files, replay
from gpu_envs.train.data.minari_files import EACH, TOGETHER, DataSet, Writer
from gpu_envs.train.worlds import Worlds

_MOST_WORLDS = 512
_BATCH = 1 << 28  # bytes of the games of a batch, about
_MOST_TOGETHER = 1000  # agents of a game
_USUAL_STEPS = 1000  # of a game without a limit
_SEEDS = 2**63  # HDF5 keeps a seed as a signed number
_SAMPLED, _GREEDY = "sampled", "greedy"


def _parser(described: Sequence[fields.Field]) -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs record",
        usage="python -m gpu_envs record ID --out NAME [options]",
        allow_abbrev=False,
        description="Record games of policies as a data set of Minari. Each game has a seed of its "
        "own, which `reset(seed=)` of the single environment takes. Parameters are those of a "
        "policy's evaluations unless they are given; `record ID -h` lists them.",
    )
    add = parser.add_argument
    add("id", metavar="ID", help="such as CartPole-v0")
    add("--out", required=True, metavar="NAME", help="data set, such as cartpole/trained-v0")
    policy_files.add_option(parser, "all agents")
    add("--episodes", type=int, default=100, metavar="N", help="games (default 100)")
    how = parser.add_mutually_exclusive_group()
    for name, doc in ((_SAMPLED, "draw actions"), (_GREEDY, "take the likeliest actions")):
        doc += "; by default as in the policy's evaluations"
        how.add_argument(f"--{name}", action="store_const", const=name, dest="acts", help=doc)
    add(
        "--agents",
        choices=(EACH, TOGETHER),
        default=EACH,
        help="each: an episode for each agent and game (default); together: one for each game, "
        "with observations and actions as Dict by agent, and rewards of (steps, agents)",
    )
    add("--role", metavar="NAME", default="", help="only agents of this role")
    add("--seed", type=int, default=0, metavar="N", help="seed of the first game (default 0)")
    add("--num-envs", type=int, metavar="N", help="games at once (default: as many as fit)")
    add("--max-episode-steps", type=int, metavar="N", help="time limit; 0: none")
    add("--device", default="cpu", help="cpu (the default), cuda, cuda:<n>")
    add("--check", action="store_true", help="play all games again at the end, and compare bits")
    flags.add_parameters(parser, described, "LOW..HIGH, of which each game draws a value")
    return parser


def _check_numbers(chosen: argparse.Namespace) -> None:
    errors.whole(chosen.episodes, "--episodes", 1, 10**9)
    errors.whole(chosen.seed, "--seed", 0, _SEEDS - 1 - chosen.episodes)
    if chosen.num_envs is not None:
        errors.whole(chosen.num_envs, "--num-envs", 1, options.WORLD_LIMIT)
    if chosen.check and chosen.role:
        raise ValueError("--check needs the actions of all agents: leave out --role")


# ---- who plays, and where


def _team(env: Worlds, policy: str, path: Path | None) -> Team:
    if policy == scripted.SCRIPTED:
        return scripted_teams.team(env)
    return Team.at_random(env.simulator) if path is None else Team.load(path, env.simulator)


def _acts(chosen: argparse.Namespace, path: Path | None) -> str:
    """Return how actions are chosen."""
    if path is None:  # of a scripted player as it likes; others have no likeliest action
        if chosen.acts:
            raise ValueError(f"--{chosen.acts} is for policies of files, not for {chosen.policy}")
        return _GREEDY if chosen.policy == scripted.SCRIPTED else _SAMPLED
    if chosen.acts:
        return str(chosen.acts)
    is_sampled = saved.read(path)["config"].get("sampled_evaluation", False)
    return _SAMPLED if is_sampled else _GREEDY


def _facts(chosen: argparse.Namespace, own: Mapping[str, Any], path: Path | None) -> dict[str, Any]:
    """Return what the data set says of itself; the first part makes its worlds."""
    given = dict(own)
    limit = given.pop("max_episode_steps", None)
    numbers, texts = varying.split({**policy_files.parameters_of(path, chosen.id), **given})
    for name, text in texts.items():
        if "@" in text:
            raise ValueError(f"parameter {name!r} must be a number or LOW..HIGH, got {text!r}")
    limit = numbers.pop("max_episode_steps", None) if limit is None else limit
    is_path = path is not None and Path(chosen.policy) == path
    policy = Path(chosen.policy).name if is_path else chosen.policy
    return {
        "version": minari_files.VERSION,
        "package": package_version(),
        "environment": registration.find(chosen.id)["id"],
        "parameters": numbers,
        "varying": texts,
        "max_episode_steps": limit,
        "agents": chosen.agents,
        "role": chosen.role,
        "policy": policy,
        "acts": _acts(chosen, path),
        "seed": chosen.seed,
        "games": chosen.episodes,
    }


def _size_of_a_game(env: Worlds) -> int:
    """Return the bytes of the longest game, about."""
    simulator = env.simulator
    outputs = [output for output in simulator.layout.outputs if output is not None]
    row = sum(math.prod(output.shape[1:]) * np.dtype(output.type).itemsize for output in outputs)
    return int(row * (simulator.max_episode_steps or _USUAL_STEPS))


def _worlds(facts: Mapping[str, Any], chosen: argparse.Namespace) -> Worlds:
    """Return the worlds; a data set that they do not fit is refused before."""
    with closing(games.worlds_of(facts, 1, chosen.device)) as one:
        _roles(one, chosen)
        fit = max(1, min(_MOST_WORLDS, _BATCH // _size_of_a_game(one)))
    return games.worlds_of(facts, min(chosen.num_envs or fit, chosen.episodes), chosen.device)


# ---- what is kept of the games


def _roles(env: Worlds, chosen: argparse.Namespace) -> tuple[Role, ...]:
    simulator = env.simulator
    roles: tuple[Role, ...] = simulator.roles
    if chosen.role:
        return (find_role(roles, chosen.role, simulator.name),)
    spaces_of = {str((role.observation_space, role.action_space)) for role in roles}
    if chosen.agents == EACH and len(spaces_of) > 1:
        names = errors.listed([role.name for role in roles])
        raise ValueError(
            f"the roles of {simulator.name} ({names}) have spaces of their own: choose one with "
            "--role, or --agents together"
        )
    if chosen.agents == TOGETHER and simulator.agents_per_world > _MOST_TOGETHER:
        raise ValueError(
            f"--agents together is for at most {_MOST_TOGETHER:,} agents, got "
            f"{simulator.agents_per_world:,}: each would be an entry of a Dict"
        )
    return roles


def _spaces(roles: Sequence[Role], agents: str) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    if agents == EACH:
        return roles[0].observation_space, roles[0].action_space
    pairs = [(agent, role) for role in roles for agent in role.agents]
    seen = {agent: role.observation_space for agent, role in pairs}
    return spaces.Dict(seen), spaces.Dict({agent: role.action_space for agent, role in pairs})


def _described(facts: Mapping[str, Any], roles: Sequence[Role]) -> str:
    whose = " and ".join(role.name for role in roles)
    form = "an episode each" if facts["agents"] == EACH else "together"
    return (
        f"{facts['games']:,} games of {facts['environment']}, {whose}, {form}; policy "
        f"{facts['policy']}, {facts['acts']} actions"
    )


def record(chosen: argparse.Namespace, own: Mapping[str, Any]) -> str:
    """Record a data set, and return what was recorded in a line."""
    _check_numbers(chosen)
    minari_files.library()
    path = policy_files.file_of(chosen.id, chosen.policy)
    facts = _facts(chosen, own, path)
    begin = time.perf_counter()
    with closing(_worlds(facts, chosen)) as env:
        roles = _roles(env, chosen)
        seen, done = _spaces(roles, chosen.agents)
        is_single = env.agents_per_world == 1 and not facts["varying"]
        limit = (
            {}
            if facts["max_episode_steps"] is None
            else {"max_episode_steps": facts["max_episode_steps"]}
        )
        spec = minari_files.spec_of(facts["environment"], {**facts["parameters"], **limit})
        by = games.by_policies(
            env,
            _team(env, chosen.policy, path),
            chosen.seed,
            is_sampled=facts["acts"] == _SAMPLED,
        )
        played = games.Played(env, by, roles=roles, is_whole=chosen.agents == TOGETHER)
        writer = Writer(
            chosen.out,
            facts,
            seen,
            done,
            spec=spec if is_single else None,
            algorithm=facts["policy"],
            description=_described(facts, roles),
        )
        total = 0.0
        seeds = range(chosen.seed, chosen.seed + chosen.episodes)
        with writer, Progress(f"recording {facts['environment']}", chosen.episodes) as progress:
            for game in played.games(seeds):
                writer.add(game)
                total += sum(float(track.rewards.sum()) for track in game.tracks.values())
                progress.step(note=f"{short(writer.steps)} transitions")
    seconds = time.perf_counter() - begin
    many = "" if env.agents_per_world == 1 else ", the sum of its agents'"
    given = {**facts["parameters"], **facts["varying"]}
    words = [f"{name}={fields.spelt(value)}" for name, value in given.items()]
    lines = [
        f"{chosen.out}: {_described(facts, roles)}",
        *([f"parameters: {', '.join(words)}; all others as by default"] if words else []),
        f"{writer.episodes:,} episodes, {writer.steps:,} transitions in {seconds:.1f} s "
        f"({short(writer.steps / seconds)}/s)",
        f"mean return of a game{many}: {total / chosen.episodes:g}",
        str(writer.folder),
    ]
    return "\n".join(lines)


def _checked(name: str) -> str:
    data, count = DataSet(name), 0
    with Progress(f"checking {name}", data.facts["games"]) as progress:
        for one, other in replay.again(data):
            if found := replay.differences(one, other):
                raise ValueError(
                    f"game {one.number} of {name!r}, seed {one.seed}, differs when it is played "
                    f"again: {errors.listed(found)}"
                )
            count += 1
            progress.step()
    return f"played again from seeds and actions: all {count:,} games the same, bit for bit"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    stopped = "nothing was kept"
    try:
        chosen, own = flags.for_environment(sys.argv[1:] if argv is None else argv, _parser)
        print(record(chosen, own), flush=True)
        stopped = "the data set is kept, and was not played again to the end"
        if chosen.check:
            print(_checked(chosen.out))
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"error: stopped; {stopped}", file=sys.stderr)
        return 130
    return 0
