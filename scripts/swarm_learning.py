#!/usr/bin/env python3
"""Whether large worlds are learned: what trained agents reach, beside agents that act at random.

    scripts/swarm_learning.py flocking           # 1,024 agents of one policy, three seeds
    scripts/swarm_learning.py tag --seeds 1      # two taggers, ten random runners, one run
    scripts/swarm_learning.py tag --load         # measures the files of earlier runs

Each run trains by the trainer's own options for the environment and those in TASKS, the learner on
one core. What is measured is the best policy of the run, in new episodes that begin at drawn
places, the same as those played at random. The error is that of the mean over episodes. The status
is 1 where a trained policy does not reach the bar of its task.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402
from torch import Tensor  # noqa: E402

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table  # noqa: E402
from gpu_envs.train import curves, evaluate, run, worlds  # noqa: E402
from gpu_envs.train.config import make  # noqa: E402

BAR = 2.0  # times what agents reach that act at random


@dataclass(frozen=True)
class Task:
    """What is learned, how, and how well."""

    env: str
    who: str  # is trained
    what: str  # is measured
    measure: Callable[
        [Sequence[str], Tensor, Tensor], Tensor
    ]  # names, returns, lengths: an episode
    episodes: int  # of each measurement
    options: str
    game: Mapping[str, Any]
    is_sampled: bool = False  # whether the measured policy draws its actions


def tags(names: Sequence[str], returns: Tensor, lengths: Tensor) -> Tensor:
    """Return how many of the runners were tagged: each pays its tagger 1."""
    return returns[:, [name.startswith("tagger") for name in names]].sum(1)


def reward_of_step(names: Sequence[str], returns: Tensor, lengths: Tensor) -> Tensor:
    """Return the mean reward of an agent's step."""
    return (returns / lengths).mean(1)


TASKS = {
    # An agent does not see its own heading; its memory tells it from how the others seem to move.
    "tag": Task(
        env="TagContinuous-v0",
        who="taggers",
        what="tagged",
        measure=tags,
        episodes=1000,
        options="--learn tagger --policies shared --memory 64 --goal inf",
        game={
            "num_taggers": 2,
            "num_runners": 10,
            "use_full_observation": False,
            "num_other_agents_observed": 4,
            "resample_start": True,
        },
    ),
    "flocking": Task(
        env="Flocking-v0",
        who="agents",
        what="reward per step",
        measure=reward_of_step,
        episodes=8,
        options="--goal inf",
        game={"profile": "vogue", "agent_count": 1024},
        is_sampled=True,
    ),
}


def measured(task: Task, path: Path | None, episodes: int, seed: int) -> tuple[float, float]:
    """Return what the policies of a file reach, or chance does, and the error of that."""
    config = make(task.env, parameters=dict(task.game))
    with closing(worlds.for_evaluation(config, "cpu", episodes)) as env:
        team = evaluate.Team.at_random(env.simulator)
        if path is not None:
            team = evaluate.Team.load(path, env.simulator)
        of_row = evaluate.rows_of(team.of_agent, env.num_worlds, env.device)
        returns, lengths = evaluate.play(
            env, team.policies, of_row, seed=seed, is_sampled=task.is_sampled
        )
        found = task.measure(env.agent_names, returns, lengths)
    return float(found.mean()), float(found.std()) / len(found) ** 0.5


def train(task: Task, seed: int, folder: Path, more: Sequence[str]) -> None:
    """Train those who learn."""
    game = [
        part
        for name, value in task.game.items()
        for part in ("--" + name.replace("_", "-"), str(value).lower())
    ]
    options = [*game, *task.options.split(), "--seed", str(seed), "--out", str(folder)]
    if run.main([task.env, *options, "--device", "cpu", "--tensorboard", "false", *more]) != 0:
        raise SystemExit(f"error: training with seed {seed} failed")


def runs(task: Task, given: argparse.Namespace, more: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Train and measure; return what each seed reached."""
    for seed in given.seeds:
        folder, before = given.out / str(seed), resource.getrusage(resource.RUSAGE_SELF)
        if not given.load:
            train(task, seed, folder, more)
        after = resource.getrusage(resource.RUSAGE_SELF)
        with (folder / "curve.csv").open() as file:
            last = list(csv.DictReader(file))[-1]
        mean, error = measured(task, folder / "best.ckpt", given.episodes, given.episode_seed)
        yield {
            **{"seed": seed, "mean": mean, "error": error, "steps": int(last["steps"])},
            "seconds": float(last["seconds"]),
            "cpu_seconds": None if given.load else after.ru_utime - before.ru_utime,
        }


def compare(task: Task, given: argparse.Namespace, more: Sequence[str], report: Report) -> bool:
    """Print and keep the table; return whether every seed reaches the bar."""
    chance, error = measured(task, None, given.episodes, given.episode_seed)
    table = Table(
        f"{task.who}: {task.what}, over {given.episodes} episodes",
        [task.who, "seed", task.what, "error", "ratio", "steps", "seconds", "CPU seconds"],
        [["random", "-", f"{chance:.3f}", f"{error:.3f}", "1.00", "-", "-", "-"]],
    )
    found = list(runs(task, given, more))
    for one in found:
        cpu = one["cpu_seconds"]
        table.rows.append([
            *("trained", str(one["seed"]), f"{one['mean']:.3f}", f"{one['error']:.3f}"),
            *(f"{one['mean'] / chance:.2f}", f"{one['steps'] / 1e6:.2f}M"),
            *(f"{one['seconds']:.0f}", "-" if cpu is None else f"{cpu:.0f}"),
        ])  # fmt: skip
    report.show(table)
    report.results |= {"random": {"mean": chance, "error": error}, "trained": found}
    lowest = min(one["mean"] for one in found) / chance
    report.judge(Bar(f"{task.what}, trained / random, the worst seed", BAR, lowest, " times"))
    return bool(lowest >= BAR)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 1 where the bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("task", choices=list(TASKS))
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    add("--episodes", type=int, metavar="N", help="of each measurement")
    add("--episode-seed", type=int, default=99, metavar="N", help="of the measured worlds")
    add("--out", type=Path, metavar="DIR", help="default: runs/TASK")
    add("--picture", type=Path, metavar="FILE", help="where to draw the learning curves")
    add("--results", type=Path, metavar="DIR", help="where to write what was found")
    add("--load", action="store_true", help="measure what earlier runs left in --out")
    given, more = parser.parse_known_args(argv)  # the rest is for the trainer
    task = TASKS[given.task]
    given.episodes = given.episodes or task.episodes
    given.out = given.out or Path("runs") / given.task
    torch.set_num_threads(1)
    command = " ".join(["scripts/swarm_learning.py", *(sys.argv[1:] if argv is None else argv)])
    report = Report(task.env.replace("-v0", "-learning"), machine.describe("cpu"), command)
    is_reached = compare(task, given, more, report)
    if given.picture:
        found = {f"trained {task.who}": [given.out / str(n) / "curve.csv" for n in given.seeds]}
        curves.plot(found, given.picture, title=f"{task.env}: {task.who} trained by PPO")
    if given.results:
        print(*report.write(given.results), sep="\n")
    return int(not is_reached)


if __name__ == "__main__":
    sys.exit(main())
