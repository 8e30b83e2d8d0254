#!/usr/bin/env python3
"""What is learned of every environment: trains, measures, and writes docs/learning.md.

    scripts/train --table                                    # the page, from the runs in trained/
    scripts/train --table TagGrid-v0 --minutes 3             # trains its rows again
    scripts/train --table hiders --minutes 3 --seeds 1 2 3   # or one of them, by its task
    scripts/train --table seekers --load                     # measures earlier runs in --out
    scripts/train --table TagGrid-v0 --kept                  # measures what trained/ keeps again

A TASK is data beside an environment's header (`learning` in docs/measures.md): who is trained
and how, what is measured, the bar. A run takes one core. What is measured is the best policy of
each run, in new episodes; the same are played at random and, where there is one, by a scripted
policy. The error is that of the mean over episodes. What was found replaces the task's runs in
trained/learning; the best policy of an environment's first task becomes trained/<ID>.ckpt.
The status is 1 where a policy misses the bar of its task.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

from gpu_envs import errors  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.known import measures, registration  # noqa: E402
from gpu_envs.players import policy_files  # noqa: E402
from gpu_envs.policies import teams  # noqa: E402
from gpu_envs.policies.options import flag_of  # noqa: E402
from gpu_envs.policies.sharing import groups, sides  # noqa: E402
from gpu_envs.policies.teams import NOBODY  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import (  # noqa: E402
    command,
    config,
    curves,
    evaluate,
    run,
    scripted_teams,
    settings,
    worlds,
)
from gpu_envs.train.task_measures import Measure, Watch  # noqa: E402
from scripts.studies import learning_page as page  # noqa: E402

Task = dict[str, Any]
Who = Path | Task | None  # plays: a file, the scripted player as a task has it, or chance
EPISODE_SEED = page.EPISODE_SEED
OTHER_SEED = 1000  # is added to the seed of a second attempt


def tasks() -> dict[str, Task]:
    """Return what there is to learn, by name; each knows the id of its environment."""
    found: dict[str, Task] = {}
    for name in registration.shipped():
        held = measures.measures_of(name)
        for task, data in held["learning"].items():
            usual = {} if "measure" in data else held["training"]["measures"][0]
            found.setdefault(task, {"id": name, **usual, **data})
    for name, one in found.items():
        require_one_way(name, one)
        one["played"] = played_in(one)
    first = {one["id"]: name for name, one in reversed(found.items())}
    for name, one in found.items():
        one["is_kept"] = first[one["id"]] == name  # in trained/<ID>.ckpt
    return found


def require_one_way(name: str, task: Task) -> None:
    """Refuse who plays beside a task in no way, or in two."""
    for one in task.get("beside", ()):
        if ("action" in one) == ("scripted" in one):
            raise ValueError(f"{name}: beside: {one['who']!r} needs either scripted or action")


def played_in(task: Task) -> Task:
    """Return the settings of a task in words, as measured and where training differs, its sides."""
    name, choices = command.parse(words(task))
    made = config.make(name, **choices)
    return {
        "variant": settings.variant(made),
        "actions": settings.evaluation(made)[settings.ACTIONS],
        "differences": settings.within(made),
        **sides_in(task, made),
    }


def sides_in(task: Task, made: config.Config) -> Task:
    """Return how many agents each side has that learns, and whose mean return is measured."""
    with closing(worlds.for_evaluation(made, "cpu", 1)) as env:
        names = env.agent_names
    found = sides(names, made.learn)
    who = groups("role", names)[task["role"]] if "role" in task else list(range(len(names)))
    is_mean = task["measure"] == "mean return" or (task["measure"] == "return" and len(who) == 1)
    return {
        "sides": {side: len(agents) for side, agents in found.items()},
        "measured": next((side for side, own in found.items() if is_mean and own == who), None),
    }


def words(task: Task) -> list[str]:
    """Return what the trainer is told about a task."""
    own = [*_flags(task["options"])]
    own += [f"--evaluate-with={k}={v}".lower() for k, v in task.get("evaluation", {}).items()]
    return [task["id"], *own]


def _flags(options: Task) -> Iterator[str]:
    for name, value in options.items():
        yield from (flag_of(name), str(value).lower())


# ---- measuring


def _team(who: Who, made: config.Config, env: Any) -> teams.Team:
    if who is None:
        return teams.Team.at_random(env.simulator)
    if isinstance(who, Path):
        return teams.Team.load(who, env.simulator)
    able = [k for k, of in enumerate(teams.agents_of(made, env.agent_names)) if of != NOBODY]
    if "action" in who:
        return scripted_teams.constant(env, able, who["action"])
    return scripted_teams.team(env, able, **who["scripted"])


def measured(
    task: Task, who: Who, episodes: int, seed: int, elsewhere: Task | None = None
) -> dict[str, float]:
    """Return what somebody reaches, and the error of that; `elsewhere` are other parameters."""
    env_id, choices = command.parse(words(task))
    changes = dict(elsewhere or {})
    if isinstance(who, dict):
        changes |= who.get("evaluation", {})
    choices["evaluation_parameters"] = choices.get("evaluation_parameters", {}) | changes
    made = config.make(env_id, **choices)
    with closing(worlds.for_evaluation(made, "cpu", episodes)) as env:
        team = _team(who, made, env)
        of_row, names = evaluate.rows_of(team.of_agent, episodes, env.device), env.agent_names
        kinds = [task, task["also"]] if "also" in task else [task]
        watch = Watch([Measure(facts, names) for facts in kinds], episodes, env.device)
        sampled = made.sampled_evaluation and not isinstance(who, dict)
        played = evaluate.play(
            env, team.policies, of_row, seed=seed, is_sampled=sampled, watch=watch
        )
    (measure, signs), *more = watch.pairs
    found = measure.of(*played, signs).double()  # so that what is always the same has no error
    reached = {"mean": float(found.mean()), "error": float(found.std()) / len(found) ** 0.5}
    for other, own in more:
        reached["also"] = float(other.of(*played, own).mean())
    if "penalty" in task:
        able = [k != NOBODY or who is None for k in team.of_agent]
        rewarded, _, penalised = signs.counts.view(3, episodes, len(names))
        reached["penalised"] = float((penalised / rewarded)[:, able].mean())
    return {name: float(f"{value:.6g}") for name, value in reached.items()}


# ---- training


def stages(task: Task, seed: int, folder: Path, minutes: float) -> Iterator[list[str]]:
    """Yield what the trainer is told, run by run: each begins with the policies of the one before.

    All stages of a task together have its time, each by its steps.
    """
    parts: list[Task] = task.get("stages", [{}])
    steps = [int((task["options"] | part).get("total_steps", 1)) for part in parts]
    for number, part in enumerate(parts, 1):
        out = folder if number == len(parts) else folder / f"stage_{number}"
        seconds = f"{60 * minutes * steps[number - 1] / sum(steps):.0f}"
        told = [*words(task), *_flags(part), "--seed", str(seed), "--device", "cpu"]
        told += ["--threads", "1", "--tensorboard", "false", "--time-limit", seconds]
        if number > 1:
            told += ["--init", str(folder / f"stage_{number - 1}" / "checkpoint.ckpt")]
        yield [*told, "--out", str(out)]


def attempts(task: Task, seed: int, folder: Path) -> list[tuple[int, Path]]:
    """Return seed and folder of each attempt that a seed of a task may need."""
    return [(seed, folder), (seed + OTHER_SEED, folder / "again")][: 1 + ("again" in task)]


def made(task: Task, seed: int, folder: Path) -> list[tuple[int, Path]]:
    """Return the attempts that were made, the one to keep first."""
    found = [(s, f) for s, f in attempts(task, seed, folder) if (f / "best.ckpt").exists()]
    return sorted(found, key=lambda attempt: -evaluated(task, attempt[1]))


def evaluated(task: Task, folder: Path) -> float:
    """Return what the last evaluation of a run came to."""
    rows = curve(task, folder)
    name = next(name for name in rows[0] if name.startswith(page.RETURN))
    return next(row[name] for row in reversed(rows) if row[name] == row[name])


def train(
    task: Task, seed: int, folder: Path, minutes: float = 0, more: Sequence[str] = ()
) -> None:
    """Train those who learn; once more where the task says so of what its evaluation came to."""
    tries = attempts(task, seed, folder)
    shutil.rmtree(folder / "again", ignore_errors=True)  # an earlier run's, which might be kept
    for own, where in tries:
        for told in stages(task, own, where, minutes / len(tries)):
            if run.main([*told, *more]) != 0:
                raise SystemExit(f"error: training with seed {own} failed")
        if len(tries) == 1 or evaluated(task, where) >= task["again"]:
            break


def curve(task: Task, folder: Path) -> list[curves.Row]:
    """Return the rows of a run, those of its stages one after the other."""
    rows: list[curves.Row] = []
    for number in range(1, len(task.get("stages", [{}])) + 1):
        is_last = number == len(task.get("stages", [{}]))
        part = curves.read((folder if is_last else folder / f"stage_{number}") / "curve.csv")
        last = rows[-1] if rows else {"steps": 0, "seconds": 0.0}
        rows += [row | {x: row[x] + last[x] for x in ("steps", "seconds")} for row in part]
    return rows


# ---- what is kept


@dataclass(frozen=True)
class Order:
    """What is to be done.

    Args:
        minutes: Of training, of each seed; None: as the task says.
        episodes: Of each measurement; None: as the task says.
        out: Holds TASK/SEED of each run.
        root: Of the repository, where the page and what it is made from lie.
        is_trained: Measure what earlier runs left in `out`.
    """

    minutes: float | None
    episodes: int | None
    out: Path
    root: Path
    is_trained: bool


def learn(name: str, task: Task, seeds: Sequence[int], order: Order) -> None:
    """Train and measure some seeds, which take the place of the task's runs."""
    episodes, minutes = order.episodes or task["episodes"], order.minutes or task["minutes"]
    if not order.is_trained:
        for seed in seeds:
            train(task, seed, order.out / name / str(seed), minutes)
    beside: dict[str, Any] = {"random": measured(task, None, episodes, EPISODE_SEED)}
    if "scripted" in task:
        who = {"scripted": task["scripted"]}
        beside["scripted"] = measured(task, who, episodes, EPISODE_SEED)
    if "beside" in task:
        beside["beside"] = [
            {"who": one["who"], **measured(task, one, episodes, EPISODE_SEED)}
            for one in task["beside"]
        ]
    home = page.runs_of(order.root) / name
    shutil.rmtree(home, ignore_errors=True)
    scores, kept = {}, {}
    for seed in seeds:
        facts = _facts(name, task, seed, minutes, order) | {"episodes": episodes}
        source = kept[seed] = made(task, seed, order.out / name / str(seed))[0][1]
        facts["trained"] = measured(task, source / "best.ckpt", episodes, EPISODE_SEED)
        page.keep(home / str(seed), facts | beside, curve(task, source))
        scores[seed] = facts["trained"]["mean"] * (-1 if "most" in task else 1)
        print(f"{name}, seed {seed}: {page.score(facts['trained'])}", flush=True)
    if task["is_kept"]:
        best = max(scores, key=lambda seed: scores[seed])
        keep_policies(kept[best] / "best.ckpt", task["id"], order.root)
        measure_kept(name, task, order)


def measure_kept(name: str, task: Task, order: Order) -> None:
    """Measure the policies that are kept for a task, and where else it says.

    What they reach where they were measured before has to be the same.
    """

    def reached(who: Who, elsewhere: Task | None = None) -> dict[str, float]:
        return measured(task, who, best["episodes"], EPISODE_SEED, elsewhere)

    best = page.kept(page.Task(name, task, page.runs(order.root, name)))
    path = order.root / policy_files.folder().name / f"{task['id']}.ckpt"
    found = reached(path)
    if found != best["trained"]:
        raise ValueError(f"{path} reaches {found}, not what is kept of it: {best['trained']}")
    if "elsewhere" in task:
        who: dict[str, Who] = {"trained": path, "random": None}
        if "scripted" in task:
            who["scripted"] = {"scripted": task["scripted"]}
        best["elsewhere"] = [
            {**one, **{name: reached(player, one["evaluation"]) for name, player in who.items()}}
            for one in task["elsewhere"]
        ]
    page.write_facts(page.runs_of(order.root) / name / str(best["seed"]), best)


def _facts(name: str, task: Task, seed: int, minutes: float, order: Order) -> dict[str, Any]:
    tries = sorted(made(task, seed, order.out / name / str(seed)))
    possible = attempts(task, seed, Path("runs/learning") / name / str(seed))
    told: list[list[str]] = []
    for own, where in possible[: len(tries)]:
        told += stages(task, own, where, minutes / len(possible))
    ends = [curve(task, where)[-1] for _, where in tries]
    return {
        "task": name,
        "seed": seed,
        **({"again": tries[-1][0]} if len(tries) > 1 else {}),
        "commands": [shlex.join(["scripts/train", *line]) for line in told],
        "steps": int(sum(end["steps"] for end in ends)),
        "seconds": round(sum(end["seconds"] for end in ends), 1),
        "machine": machine.describe("cpu")["processor"],
    }


def keep_policies(source: Path, env_id: str, root: Path) -> None:
    """Copy a policy file, which names no option of the run beyond what playing needs."""
    target = root / policy_files.folder().name / f"{env_id}.ckpt"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    print(f"{target.name}: {target.stat().st_size / 1e3:.0f} KB")


def _chosen(wanted: Sequence[str]) -> list[str]:
    """Return the tasks that are named, by themselves or by their environments."""
    known, found = tasks(), []
    for word in wanted:
        if word in known:
            found.append(word)
            continue
        env_id = registration.find(word)["id"]
        own = [name for name, task in known.items() if task["id"] == env_id]
        if not own:
            raise ValueError(f"{env_id} has nothing to learn: {', '.join(known)} are the tasks")
        found += own
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 1 where a bar is missed."""
    parser = argparse.ArgumentParser(
        prog="scripts/train --table",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("wanted", nargs="*", metavar="ID|TASK", help=f"of {', '.join(tasks())}")
    add("--minutes", type=float, metavar="M", help="of training, of each seed")
    add("--seeds", nargs="+", type=int, default=[1], metavar="N", help="(default 1)")
    add("--episodes", type=int, metavar="N", help="of each measurement (default: the data's)")
    add("--out", type=Path, default=Path("runs/learning"), metavar="DIR", help="for TASK/SEED")
    add("--load", action="store_true", help="measure what earlier runs left in --out")
    add("--kept", action="store_true", help="measure what trained/ keeps again, training nothing")
    add("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    order = Order(given.minutes, given.episodes, given.out, given.root, given.load)
    try:
        chosen = _chosen(given.wanted)
        for name in chosen:
            if not given.kept:
                learn(name, tasks()[name], given.seeds, order)
            elif tasks()[name]["is_kept"]:
                measure_kept(name, tasks()[name], order)
        rows = page.rows(tasks(), given.root)
        page.write(rows, given.root)
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    for row in rows:
        if not chosen or row.name in chosen:
            print(row.verdict())
    return int(any(row.name in chosen and not row.is_reached() for row in rows))


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
