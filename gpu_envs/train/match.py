"""`python -m gpu_envs evaluate FILE [--against FILE]`: what saved policies reach, and who wins."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpu_envs import VectorEnv, fields, flags, registration
from gpu_envs.train import checkpoint, evaluate
from gpu_envs.train.config import Config
from gpu_envs.train.self_play import groups

_TROUBLE = (ValueError, TypeError, RuntimeError, ImportError, MemoryError, OSError)


def _parser(described: Sequence[fields.Field]) -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs evaluate",
        usage="%(prog)s FILE [options]",
        allow_abbrev=False,
        description="Play episodes with trained policies: a best.ckpt or checkpoint.ckpt. The "
        "environment and its parameters are those of the file's evaluations unless they are given.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="policies that play all agents")
    add("--against", metavar="FILE", help="policies that play the others; seats are changed")
    add("--episodes", type=int, default=1000, metavar="N", help="of each line (default 1000)")
    add("--seed", type=int, default=1, metavar="N", help="of the worlds (default 1)")
    add("--sampled", action="store_true", help="draw actions instead of taking the likeliest")
    add("--device", default="auto", help="auto, cpu, cuda, cuda:<n> (default auto)")
    flags.add_parameters(parser, described)
    return parser


def _line(label: str, returns: Tensor, lengths: Tensor) -> str:
    world = returns.double().mean(1)
    error = float(world.std() / len(world) ** 0.5) if len(world) > 1 else 0.0
    return (
        f"{label:<30}  mean return {float(world.mean()):.3f} +- {error:.3f}  "
        f"median {float(world.median()):.3f}  "
        f"least {float(world.min()):.3f}  most {float(world.max()):.3f}  "
        f"length {float(lengths.double().mean()):.1f}"
    )


def _against(
    env: VectorEnv, first: evaluate.Team, second: evaluate.Team, given: argparse.Namespace
) -> list[str]:
    """Return a line for each seating: every role (or, with one role, agent) in turn is FILE's."""
    roles = groups("role", env.agents_per_world)
    sides = roles if len(roles) > 1 else groups("agent", env.agents_per_world)
    both = [*first.policies, *second.policies]
    shift, lines = len(first.policies), []
    for name, members in sides.items():
        seats = [
            first.of_agent[agent] if agent in members else shift + second.of_agent[agent]
            for agent in range(env.agents_per_world)
        ]
        of_row = evaluate.rows_of(seats, env.num_worlds, env.device)
        found = evaluate.play(env, both, of_row, seed=given.seed, is_sampled=given.sampled)
        others = [agent for agent in range(env.agents_per_world) if agent not in members]
        lines.append(_line(f"FILE as {name}", *(part[:, members] for part in found)))
        lines.append(_line(f"  against it, {len(others)} agents", *(p[:, others] for p in found)))
    return lines


def _play(argv: Sequence[str]) -> list[str]:
    path = Path(argv[0])
    tree = checkpoint.load(path)
    if tree.get("kind") not in ("policy", "run"):
        raise checkpoint.mismatch(path, "kind", tree.get("kind"), "policy")
    config = Config(**tree["config"])
    described = fields.read(registration.find(config.env)["parameters"])
    given = _parser(described).parse_args(argv)
    own = flags.take_parameters(vars(given))
    config = replace(config, evaluation_parameters={**config.evaluation_parameters, **own})
    env = evaluate.test_env(config, given.device, given.episodes)
    team = evaluate.Team.load(path, env.simulator)
    of_row = evaluate.rows_of(team.of_agent, env.num_worlds, env.device)

    def alone(name: str, players: evaluate.Team) -> str:
        found = evaluate.play(
            env, players.policies, of_row, seed=given.seed, is_sampled=given.sampled
        )
        return _line(name, *found)

    lines = [f"{config.env}, {given.episodes} episodes on {env.device}", alone("FILE", team)]
    if given.against is not None:
        other = evaluate.Team.load(Path(given.against), env.simulator)
        if env.agents_per_world > 1:
            of_row = evaluate.rows_of(other.of_agent, env.num_worlds, env.device)
            lines += [alone("the other FILE", other), *_against(env, team, other, given)]
        else:
            lines.append(alone("the other FILE", other))
    env.close()
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0].startswith("-"):
        parser = _parser(())
        parser.parse_args(given)
        parser.error("the FILE comes first")
    torch.set_num_threads(1)
    try:
        print("\n".join(_play(given)))
    except _TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0
