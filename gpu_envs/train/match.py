"""Results of policies, of matches between two, and of all pairs: `python -m gpu_envs evaluate ID`.

`evaluate FILE` is `evaluate ID --policy FILE`, with the ID of the file. The name of a suite in the
place of an ID plays all of its games.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_envs import errors
from gpu_envs.core import options, resets
from gpu_envs.known import fields, measures, registration, suites
from gpu_envs.players import policy_files
from gpu_envs.policies import saved, teams
from gpu_envs.policies.sharing import groups
from gpu_envs.policies.teams import NOBODY
from gpu_envs.terminal import console, flags
from gpu_envs.train import cross_play, evaluate, scripted_teams, settings, task_measures, worlds
from gpu_envs.train.config import Config, make

Played = tuple[Tensor, Tensor, list[str]]  # returns and lengths, (worlds, agents); own measures
_HEAD = ("who plays", "mean return", "error", "median", "least", "most", "length")


def _parser(described: Sequence[fields.Field]) -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs evaluate",
        usage=f"%(prog)s ID --policy {policy_files.FORM} [options]\n       %(prog)s FILE [options]"
        "\n       %(prog)s [ID] POLICY POLICY ... --cross-play [options]",
        allow_abbrev=False,
        description="Play episodes with trained policies: those of this repository, or a best.ckpt "
        "or checkpoint.ckpt. The environment's parameters are those of the file's evaluations "
        "unless they are given.",
    )
    add = parser.add_argument
    add(
        "what",
        metavar="ID|FILE",
        nargs="+",
        help="such as CartPole-v0; a suite, such as megaverse8, for all of its games; or a file, "
        "instead of --policy; with --cross-play then the "
        f"policies, each {policy_files.FORM}",
    )
    policy_files.add_option(parser, "all agents")
    add(
        "--against",
        metavar=policy_files.FORM,
        help="policy of the other agents, as for --policy; both sides swap seats",
    )
    add(
        "--cross-play",
        action="store_true",
        help="let each POLICY play the first seat (the first agent, or the first of several roles) "
        "with each of them in the others: a table, cross_play.json and cross_play.png",
    )
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the files of --cross-play (default runs/ID/cross_play)",
    )
    add("--episodes", type=int, default=1000, metavar="N", help="episodes per line (default 1000)")
    add("--seed", type=int, default=1, metavar="N", help="seed of the worlds (default 1)")
    add("--sampled", action="store_true", help="sample actions instead of taking the likeliest")
    add(
        "--level-count",
        type=int,
        default=0,
        metavar="N",
        help="episodes begin as one of N fixed levels: with equal parameters those of a training "
        "with --level-count N (default 0: as any)",
    )
    add("--device", default="auto", help="auto, cpu, cuda, cuda:<n> (default auto)")
    add(
        "--task",
        metavar="NAME",
        help="use the measure of this task of docs/learning.md, such as tag of TagContinuous-v0",
    )
    flags.add_parameters(parser, described)
    return parser


def _row(label: str, returns: Tensor, lengths: Tensor) -> list[str]:
    """Return a line of the table, over the means of each world's agents."""
    world = returns.double().mean(1).cpu().numpy()
    error = world.std(ddof=1) / len(world) ** 0.5 if len(world) > 1 else 0.0
    numbers = (world.mean(), error, np.median(world), world.min(), world.max())
    return [label, *(f"{n:.3f}" for n in numbers), f"{float(lengths.double().mean()):.1f}"]


def _played(
    env: worlds.Worlds, players: list[Any], seats: list[int], given: argparse.Namespace
) -> Played:
    of_row = evaluate.rows_of(seats, env.num_worlds, env.device)
    watch = task_measures.Watch(given.measures, env.num_worlds, env.device)
    returns, lengths = evaluate.play(
        env, players, of_row, seed=given.seed, is_sampled=given.sampled, watch=watch
    )
    values = watch.found(returns, lengths).values()
    return returns, lengths, [_shown(float(v.double().mean()), given.task) for v in values]


def _shown(value: float, task: str | None) -> str:
    """Return a measure as text: of a task with the digits that docs/learning.md shows."""
    return f"{value:.3f}" if task is None else f"{value:.6g}"


def _of(played: Played, agents: Sequence[int]) -> tuple[Tensor, Tensor]:
    return played[0][:, agents], played[1][:, agents]


def _marked(rows: list[list[str]], played: Played) -> list[list[str]]:
    """Return the rows of a match, the first with the environment's own measures."""
    blank = [""] * len(played[2])
    return [[*row, *(blank if k else played[2])] for k, row in enumerate(rows)]


def _counted(number: int) -> str:
    return "the other agent" if number == 1 else f"the other {number} agents"


def _alone(
    label: str, env: worlds.Worlds, team: teams.Team, given: argparse.Namespace
) -> list[list[str]]:
    """Return rows for the agents that have policies, and for those that act at random."""
    found = _played(env, team.policies, team.of_agent, given)
    able = [agent for agent, k in enumerate(team.of_agent) if k != NOBODY]
    others = [agent for agent, k in enumerate(team.of_agent) if k == NOBODY]
    own = able or others
    roles = groups("role", env.agent_names)
    rows = _by_role(label, found, own, roles) if len(roles) > 1 else [_row(label, *_of(found, own))]
    for row in rows[1:]:
        row[0] = f"  {row[0]}"
    rows += _by_role("  random", found, others if able else [], roles)
    return _marked(rows, found)


def _by_role(
    label: str, found: Played, agents: Sequence[int], roles: Mapping[str, Sequence[int]]
) -> list[list[str]]:
    """Return a row for each role among some agents: a mean over opponents says nothing."""
    if len(roles) == 1:
        name = f"{label} as {_counted(len(agents))}"
        return [_row(name, *_of(found, agents))] if agents else []
    chosen = set(agents)
    parts = {role: [a for a in members if a in chosen] for role, members in roles.items()}
    return [_row(f"{label} as {role}", *_of(found, part)) for role, part in parts.items() if part]


def _against(
    env: worlds.Worlds, first: teams.Team, second: teams.Team, given: argparse.Namespace
) -> list[list[str]]:
    """Return two rows for each seating: FILE plays each role (or, with one role, agent) in turn."""
    roles = groups("role", env.agent_names)
    sides = roles if len(roles) > 1 else groups("agent", env.agent_names)
    both = [*first.policies, *second.policies]
    shift, rows = len(first.policies), []
    for name, members in sides.items():
        if all(first.of_agent[agent] == NOBODY for agent in members):
            continue  # FILE has no policy there
        seats = list(first.of_agent)
        others = [agent for agent in range(env.agents_per_world) if agent not in members]
        for agent in others:
            own = second.of_agent[agent]
            seats[agent] = NOBODY if own == NOBODY else shift + own
        found = _played(env, both, seats, given)
        pair = [_row(f"{_label(given.policy)} as {name}", *_of(found, members))]
        has_policy = any(seats[agent] != NOBODY for agent in others)
        label = _other(given) if has_policy else "random"
        rows += _marked(pair + _by_role(f"  {label}", found, others, roles), found)
    return rows


def _label(policy: str) -> str:
    return policy if policy in policy_files.WORDS else "FILE"


def _other(given: argparse.Namespace) -> str:
    label = _label(given.against)
    return f"other {label}" if label == _label(given.policy) != "random" else label


def _saved(path: Path) -> Config:
    return saved.restored(path, saved.read(path)["config"], Config)


def _chosen(argv: Sequence[str]) -> tuple[Config, Path | None, argparse.Namespace]:
    """Return the run whose policies play, their file (None: chance plays) and the options."""
    word = argv[0]
    file = policy_files.path_of(word) if policy_files.is_file(word) else None
    env_id = _saved(file).env if file else word
    entry = registration.find(env_id)
    given = _parser(settings.described(entry["id"])).parse_args(argv)
    _take_policies(given, file)
    if file is not None:
        _require_one_policy(word, given)
        given.policy = word
    config, file = _of_game(entry["id"], given.policy)
    return config, file, given


def _require_one_policy(word: str, given: argparse.Namespace) -> None:
    if given.policy != policy_files.RANDOM:
        raise ValueError(f"--policy needs an ID: {word} is a file of policies already")


def _require_no_cross_play(given: argparse.Namespace) -> None:
    """Refuse words that only a cross-play takes."""
    if len(given.what) > 1:
        raise ValueError(f"{given.what[1]!r} behind {given.what[0]!r} needs --cross-play")
    if given.out is not None:
        raise ValueError("--out needs --cross-play")


def _take_policies(given: argparse.Namespace, file: Path | None) -> None:
    """Read the policies of a cross-play, of which the first file has the parameters."""
    words = given.what if file is not None else given.what[1:]
    if not given.cross_play:
        _require_no_cross_play(given)
        return
    if given.policy != policy_files.RANDOM or given.against is not None or given.task is not None:
        raise ValueError("--cross-play takes neither --policy, --against nor --task")
    if len(words) < 2:
        raise ValueError(f"--cross-play needs two policies or more, each {policy_files.FORM}")
    given.policies = words
    if file is None:
        files = [word for word in words if word not in (policy_files.RANDOM, policy_files.SCRIPTED)]
        given.policy = files[0] if files else policy_files.RANDOM


def _team(policy: str, path: Path | None, env: worlds.Worlds) -> teams.Team:
    if policy == policy_files.SCRIPTED:
        return scripted_teams.team(env)
    if path is None:
        return teams.Team.at_random(env.simulator)
    return teams.Team.load(path, env.simulator)


def _suite_of(word: str) -> str | None:
    """Return the suite that the first word of the command line means, None where it means none."""
    name = _saved(policy_files.path_of(word)).env if policy_files.is_file(word) else word
    return name if suites.is_suite(name) else None


def _play_suite(name: str, argv: Sequence[str]) -> list[str]:
    """Return a line for each game of a suite."""
    given = _parser(settings.described(name)).parse_args(argv)
    if policy_files.is_file(argv[0]):
        _require_one_policy(argv[0], given)
        given.policy = argv[0]
    _require_suited(name, given)
    own = flags.take_parameters(vars(given))
    chosen = [_of_game(game, given.policy) for game in suites.games_of(name)]  # refuses at once
    rows: list[Sequence[str]] = [("game", *_HEAD[1:], "own measures")]
    notes: dict[str, list[str]] = {}  # games by their note
    for run, path in chosen:
        config = _settled(run, own)
        with closing(_worlds(config, given)) as env:
            given.measures = _measures(None, config, env.agent_names)
            team = _team(given.policy, path, env)
            returns, lengths, values = _played(env, team.policies, team.of_agent, given)
            title = _title(replace(config, env=name), env, given, [given.policy])
        heads = [measure.facts["what"] for measure in given.measures]
        shown = ", ".join(f"{head} {value}" for head, value in zip(heads, values, strict=True))
        rows.append([*_row(config.env, returns, lengths), shown])
        label = _label(given.policy)
        for note in (*_variant(config), *_apart([(label, given.policy)], config, given)):
            notes.setdefault(note, []).append(config.env)
    lines = [
        note if len(games) == len(chosen) else f"{', '.join(games)}: {note}"
        for note, games in notes.items()
    ]
    return [title, *console.aligned(rows), *([""] if lines else []), *lines]


def _require_suited(name: str, given: argparse.Namespace) -> None:
    """Refuse what is for one environment."""
    refused = {"--against": given.against, "--cross-play": given.cross_play, "--task": given.task}
    for flag, value in refused.items():
        if value:
            raise ValueError(f"{flag} is for one environment: {name} is a suite")
    _require_no_cross_play(given)
    _check_numbers(given)


def _of_game(game: str, policy: str) -> tuple[Config, Path | None]:
    """Return the run of a policy as it plays one environment, and its file (None: no policy)."""
    path = policy_files.file_of(game, policy)
    if path is None:  # defaults of training do not apply to random and scripted play
        return replace(make(game), parameters={}), None
    policy_files.parameters_of(path, game)  # refuses a file of another environment
    return replace(_saved(path), env=game), path


def _worlds(config: Config, given: argparse.Namespace) -> worlds.Worlds:
    return worlds.for_evaluation(
        config, given.device, given.episodes, level_count=given.level_count
    )


def _settings(config: Config, given: argparse.Namespace) -> settings.Settings:
    return settings.evaluation(config, is_sampled=given.sampled, level_count=given.level_count)


def _check_numbers(given: argparse.Namespace) -> None:
    errors.whole(given.episodes, "--episodes", 1, options.WORLD_LIMIT)
    errors.whole(given.seed, "--seed", 0, resets.SEED_LIMIT - 1)


def _settled(config: Config, own: Mapping[str, Any]) -> Config:
    """Return the run with the parameters of the command line."""
    return replace(config, evaluation_parameters={**config.evaluation_parameters, **own})


def _play(argv: Sequence[str]) -> list[str]:
    suite = _suite_of(argv[0])
    if suite is not None:
        return _play_suite(suite, argv)
    config, path, given = _chosen(argv)
    _check_numbers(given)
    config = _settled(config, flags.take_parameters(vars(given)))
    with closing(_worlds(config, given)) as env:
        if given.cross_play:
            return _cross_play(config, env, given)
        team = _team(given.policy, path, env)
        given.measures = _measures(given.task, config, env.agent_names)
        heads = [measure.facts["what"] for measure in given.measures]
        rows: list[Sequence[str]] = [(*_HEAD, *heads)]
        rows += _alone(_label(given.policy), env, team, given)
        if given.against is not None:
            file = policy_files.file_of(config.env, given.against, "--against")
            other = _team(given.against, file, env)
            rows += _alone(_other(given), env, other, given)
            if env.agents_per_world > 1:
                rows += _against(env, team, other, given)
        who = [p for p in (given.policy, given.against) if p is not None]
        title = _title(config, env, given, who)
        others = [] if given.against is None else [(_other(given), given.against)]
        files = [(_label(given.policy), given.policy), *others]
        notes = [*_variant(config), *_apart(files, config, given)]
        return [title, *console.aligned(rows), *([""] if notes else []), *notes]


def _title(
    config: Config, env: worlds.Worlds, given: argparse.Namespace, who: Sequence[str]
) -> str:
    without = [p for p in (policy_files.SCRIPTED, policy_files.RANDOM) if p in who]
    played = _settings(config, given)
    actions = played[settings.ACTIONS] if set(who).difference(without) else without[0]
    episodes = f"{given.episodes} episode{'s' if given.episodes > 1 else ''}"
    levels = f", {given.level_count} fixed levels" if given.level_count else ""
    return f"{config.env}: {episodes} on {env.device}{levels}, {actions} actions, seed {given.seed}"


def _cross_play(config: Config, env: worlds.Worlds, given: argparse.Namespace) -> list[str]:
    """Return the lines on all pairs of policies, which are written and drawn too."""
    policies: list[str] = given.policies
    labels = [p if p in policy_files.WORDS else f"#{k}" for k, p in enumerate(policies, 1)]
    teams_of = []
    for policy in policies:
        path = policy_files.file_of(config.env, policy, "--cross-play")
        policy_files.parameters_of(path, config.env)  # refuses a file of another environment
        found = _team(policy, path, env)
        if path is not None and NOBODY in found.of_agent:
            name = env.agent_names[found.of_agent.index(NOBODY)]
            raise ValueError(f"{path}: has no policy for {name}, which --cross-play needs")
        teams_of.append(found)
    matrix = cross_play.play(env, teams_of, labels, seed=given.seed, is_sampled=given.sampled)
    variant, title = _variant(config), _title(config, env, given, policies)
    facts = {"environment": config.env, "policies": policies, "episodes": given.episodes}
    facts |= {"seed": given.seed, "sampled": given.sampled, "variant": settings.variant(config)}
    facts |= {"level_count": given.level_count}
    written = cross_play.write(matrix, facts, given.out or Path("runs") / config.env / "cross_play")
    files = [(n, p) for n, p in zip(labels, policies, strict=True)]
    named = [f"{label} is {policy}" for label, policy in files if label != policy]
    lines = [*console.aligned(matrix.rows()), "", *matrix.lines(), "", *named, *variant]
    lines += _apart(files, config, given)
    return [title, *lines, f"written: {', '.join(map(str, written))}"]


def _measures(
    task: str | None, config: Config, names: Sequence[str]
) -> list[task_measures.Measure]:
    """Return the measure of a task, or the environment's own measures."""
    if task is None:
        return task_measures.own(config, names)
    held = measures.measures_of(config.env)
    if task not in held["learning"]:
        raise ValueError(errors.unknown(f"--task of {config.env}", task, held["learning"]))
    data = held["learning"][task]
    facts = data if "measure" in data else held["training"]["measures"][0]
    return [task_measures.Measure(facts, names)]


def _variant(config: Config) -> list[str]:
    """Return a line on the parameters that are not as by default."""
    found = settings.variant(config)
    return [f"parameters: {', '.join(found)}; all others as by default"] if found else []


def _apart(
    files: Sequence[tuple[str, str]], config: Config, given: argparse.Namespace
) -> list[str]:
    """Return a line for each file, and for each setting that differs from its own evaluations."""
    lines, played = [], _settings(config, given)
    for label, policy in files:
        path = policy_files.file_of(config.env, policy)
        if path is None:
            continue
        raw = saved.read(path)["config"]
        run = saved.restored(path, raw, Config)
        measured_in = settings.evaluation(run)
        if "sampled_evaluation" not in raw:
            del measured_in[settings.ACTIONS]
            lines.append(f"{label} does not say how its evaluations chose actions")
        ways = (("measured", measured_in), ("trained", settings.training(run)))
        for what, own in ways:
            found = settings.words(config.env, settings.differing(own, played), "there", "here")
            if found:
                lines.append(f"{label} was {what} otherwise: {'; '.join(found)}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0].startswith("-"):
        parser = _parser(())
        parser.parse_args(given)
        parser.error("the ID or the FILE comes first")
    torch.set_num_threads(1)
    try:
        print("\n".join(_play(given)))
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    return 0
