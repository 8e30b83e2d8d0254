#!/usr/bin/env python3
"""Whether something is learned: what trained agents reach, beside agents that act at random.

    scripts/learning.py flocking                 # three seeds
    scripts/learning.py tag --seeds 1            # one run
    scripts/learning.py seekers hiders --load    # measures the files of earlier runs

A TASK is data beside an environment's header (`learning` in docs/measures.md): who is trained
and how, what is measured, the bar. A run takes one core; further options are the trainer's. What is
measured is the best policy of each run, in new episodes, the same as those played at random. The
error is that of the mean over episodes. The status is 1 where a policy misses the bar of its task.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

from gpu_envs import measures, registration  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table  # noqa: E402
from gpu_envs.train import command, config, curves, evaluate, run, worlds  # noqa: E402
from gpu_envs.train.measured import Measure  # noqa: E402
from gpu_envs.train.opponents import NOBODY  # noqa: E402

Task = dict[str, Any]


def tasks() -> dict[str, Task]:
    """Return what there is to learn, by name; each knows the id of its environment."""
    found: dict[str, Task] = {}
    for name in registration.environments():
        held = measures.of(name)
        for task, data in held["learning"].items():
            usual = {} if "measure" in data else held["training"]["measure"]
            found.setdefault(task, {"id": name, **usual, **data})
    return found


def words(task: Task) -> list[str]:
    """Return what the trainer is told about a task."""
    own = [(config.flag_of(name), value) for name, value in task["options"].items()]
    own += [("--evaluate-with", f"{k}={v}") for k, v in task.get("evaluation", {}).items()]
    return [task["id"], *(str(word).lower() for pair in own for word in pair)]


def measured(task: Task, path: Path | None, episodes: int, seed: int) -> dict[str, float]:
    """Return what the policies of a file reach, or chance does, and the error of that."""
    env_id, choices = command.parse(words(task))
    made = config.make(env_id, **choices)
    with closing(worlds.for_evaluation(made, "cpu", episodes)) as env:
        team = evaluate.Team.at_random(env.simulator)
        if path is not None:
            team = evaluate.Team.load(path, env.simulator)
        of_row, names = evaluate.rows_of(team.of_agent, episodes, env.device), env.agent_names
        measure, sampled = Measure(task, names), made.sampled_evaluation
        signs = measure.signs(episodes, env.device)
        played = evaluate.play(
            env, team.policies, of_row, seed=seed, is_sampled=sampled, watch=signs
        )
    found = measure.of(*played, signs)
    reached = {"mean": float(found.mean()), "error": float(found.std()) / len(found) ** 0.5}
    if "penalty" in task:
        able = [k != NOBODY or path is None for k in team.of_agent]
        rewarded, _, penalised = signs.counts.view(3, episodes, len(names))
        reached["penalised"] = float((penalised / rewarded)[:, able].mean())
    return reached


def train(task: Task, seed: int, folder: Path, more: Sequence[str]) -> None:
    """Train those who learn."""
    own = ["--seed", str(seed), "--out", str(folder), "--device", "cpu", "--tensorboard", "false"]
    if run.main([*words(task), *own, *more]) != 0:
        raise SystemExit(f"error: training with seed {seed} failed")


def trained(
    task: Task, seed: int, folder: Path, given: argparse.Namespace, more: Sequence[str]
) -> dict[str, Any]:
    """Train and measure."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    if not given.load:
        train(task, seed, folder, more)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime
    last = curves.read(folder / "curve.csv")[-1]
    return {
        "seed": seed,
        **measured(
            task, folder / "best.ckpt", given.episodes or task["episodes"], given.episode_seed
        ),
        **{"steps": last["steps"], "seconds": last["seconds"]},
        "cpu_seconds": None if given.load else spent,
    }


def judged(task: Task, chance: float, reached: Sequence[float]) -> Bar:
    """Return the bar of a task, for the seed that is furthest from it."""
    if "most" in task:
        what = f"{task['what']}, the worst seed"
        return Bar(what, task["most"], max(reached), "", at_least=False)
    if "least" in task:
        return Bar(f"{task['what']}, the worst seed", task["least"], min(reached), "")
    what = f"{task['what']}, trained / random, the worst seed"
    return Bar(what, task["times"], min(reached) / chance, " times")


def row(who: str, found: dict[str, Any], chance: float) -> list[str]:
    """Return a line of the table."""
    cells = [who, str(found.get("seed", "-")), f"{found['mean']:.3f}", f"{found['error']:.3f}"]
    cells.append(f"{found['mean'] / chance:.2f}")
    cells += [f"{found['penalised']:.3f}"] if "penalised" in found else []
    if "steps" not in found:
        return [*cells, "-", "-", "-"]
    cpu = found["cpu_seconds"]
    cells += [f"{found['steps'] / 1e6:.2f}M", f"{found['seconds']:.0f}"]
    return [*cells, "-" if cpu is None else f"{cpu:.0f}"]


def learn(
    task: Task, folder: Path, given: argparse.Namespace, more: Sequence[str], report: Report
) -> dict[str, Any]:
    """Train and measure each seed; print the table and judge the bar."""
    episodes = given.episodes or task["episodes"]
    chance = measured(task, None, episodes, given.episode_seed)
    found = [trained(task, seed, folder / str(seed), given, more) for seed in given.seeds]
    header = [task["who"], "seed", task["what"], "error", "ratio"]
    header += ["penalised"] if "penalty" in task else []
    table = Table(
        f"{task['who']}: {task['what']}, over {episodes} episodes",
        [*header, "steps", "seconds", "CPU seconds"],
        [row("random", chance, chance["mean"])],
    )
    table.rows += [row("trained", one, chance["mean"]) for one in found]
    report.show(table)
    report.judge(judged(task, chance["mean"], [one["mean"] for one in found]))
    return {"random": chance, "trained": found}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 1 where a bar is missed."""
    known = tasks()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("tasks", nargs="+", choices=list(known), metavar="TASK", help=", ".join(known))
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    add("--episodes", type=int, metavar="N", help="of each measurement")
    add("--episode-seed", type=int, default=99, metavar="N", help="of the measured worlds")
    add("--out", type=Path, default=Path("runs"), metavar="DIR", help="holds TASK/SEED of each run")
    add("--picture", type=Path, metavar="FILE", help="where to draw the learning curves")
    add("--results", type=Path, metavar="DIR", help="where to write what was found")
    add("--load", action="store_true", help="measure what earlier runs left in --out")
    given, more = parser.parse_known_args(argv)  # the rest is for the trainer
    torch.set_num_threads(1)
    told = " ".join(["scripts/learning.py", *(sys.argv[1:] if argv is None else argv)])
    name = known[given.tasks[0]]["id"].rpartition("-")[0]
    report = Report(f"{name}-learning", machine.describe("cpu"), told)
    for task in given.tasks:
        report.results[task] = learn(known[task], given.out / task, given, more, report)
    if given.picture:
        drawn = {
            f"trained {known[task]['who']}": [
                given.out / task / str(seed) / "curve.csv" for seed in given.seeds
            ]
            for task in given.tasks
        }
        curves.plot(drawn, given.picture, title=f"{name}: {', '.join(drawn)} by PPO")
    if given.results:
        print(*report.write(given.results), sep="\n")
    return int(any(bar.verdict != "ok" for bar in report.bars))


if __name__ == "__main__":
    sys.exit(main())
