#!/usr/bin/env python3
"""How policies of several seeds do with each other: `scripts/studies/cross_play.py TASK`.

    scripts/studies/cross_play.py overcooked --seeds 1 2 3 4 5
    scripts/studies/cross_play.py hanabi --other-play --seeds 1 2 3 4 5

A TASK is one of docs/learning.md. Its policies are trained as it says, for all of its steps, one
run after the other on one thread; with `--other-play` also a second time by Other-Play. Runs that
--out has already are not trained again, so an interrupted study may be started again. Then each
seed's policies meet those of all others in both seats, in new episodes, which are the same for all
pairs: once with their likeliest actions, and once with sampled ones. Behind +- of a pair is the
error over its episodes, behind that of a mean over pairs the error over seeds (jackknife: each seed
is left out in turn).
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402

from gpu_envs import errors  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table  # noqa: E402
from gpu_envs.known import measures, registration  # noqa: E402
from gpu_envs.policies.teams import Team  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import command, config, cross_play, settings, worlds  # noqa: E402
from scripts.studies import learning  # noqa: E402

WAYS = {"self-play": (), "Other-Play": ("--other-play", "true")}  # more options of the trainer
COSTS = "costs.json"  # of a run that is complete

Task = dict[str, Any]
Found = dict[
    tuple[str, str], cross_play.Matrix
]  # by how it was trained, and how actions are chosen


def task_of(name: str) -> Task:
    """Return a task of docs/learning.md, with the id of its environment."""
    known: dict[str, Task] = {}
    for env in registration.shipped():
        for task, data in measures.measures_of(env)["learning"].items():
            known[task] = {"id": env, **data}
    if name not in known:
        raise ValueError(errors.unknown("task", name, known))
    return known[name]


def train(task: Task, seed: int, folder: Path, more: Sequence[str]) -> None:
    """Train one run, and write how long the processor worked for it."""
    begin = _processor_seconds()
    learning.train(task, seed, folder, more=more)
    facts = {"processor_seconds": round(_processor_seconds() - begin, 1)}
    (folder / COSTS).write_text(json.dumps(facts) + "\n", encoding="utf-8")


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def meet(
    task: Task, folders: Sequence[Path], labels: Sequence[str], episodes: int
) -> dict[str, cross_play.Matrix]:
    """Let the policies of all folders play with each other, by each way of choosing actions."""
    env_id, choices = command.parse(learning.words(task))
    made, found = config.make(env_id, **choices), {}
    with closing(worlds.for_evaluation(made, "cpu", episodes)) as env:
        teams = [Team.load(folder / "best.ckpt", env.simulator) for folder in folders]
        for actions in (settings.LIKELIEST, settings.SAMPLED):
            found[actions] = cross_play.play(
                *(env, teams, labels),
                seed=learning.EPISODE_SEED,
                is_sampled=actions == settings.SAMPLED,
            )
    return found


def over_seeds(matrix: cross_play.Matrix, is_own: bool) -> tuple[float, float]:
    """Return the mean of the diagonal, or of all other pairs, and its error over seeds."""
    count = len(matrix.labels)
    own = np.eye(count, dtype=bool)
    pairs = own if is_own else ~own

    def mean(left_out: int = -1) -> float:
        there = np.arange(count) != left_out
        return float(matrix.mean[pairs & there & there[:, None]].mean())

    parts = np.array([mean(k) for k in range(count)]) if count > 2 else np.array([np.nan])
    spread = float(np.square(parts - parts.mean()).sum())
    return mean(), (spread * (count - 1) / count) ** 0.5


def report_of(name: str, task: Task, found: Found, costs: dict[str, list[float]]) -> Report:
    """Return the tables: what seeds reach with themselves and with others, then all pairs."""
    title = f"{task['id'].partition('-')[0]}-cross-play"
    words = " ".join(["scripts/studies/cross_play.py", *sys.argv[1:]])
    report = Report(title, machine.describe("cpu"), words)
    head = ["trained by", "actions", "with themselves", "with other seeds", "minutes a run"]
    table = Table(f"mean return of {name}, processor minutes", head)
    report.results["processor_seconds"] = costs
    for (way, actions), matrix in found.items():
        own, other = (over_seeds(matrix, is_own) for is_own in (True, False))
        cells = [f"{mean:.2f} +- {error:.2f}" for mean, error in (own, other)]
        table.rows.append([way, actions, *cells, f"{np.mean(costs[way]) / 60:.1f}"])
        report.results[f"{way}, {actions}"] = {
            **matrix.facts(),
            "seeds": matrix.labels,
            "over_seeds": {"self_play": own, "cross_play": other},
        }
    report.show(table)
    for (way, actions), matrix in found.items():
        header, *rows = matrix.rows()
        report.show(Table(f"{way}, {actions} actions: return of each pair of seeds", header, rows))
    return report


def draw(found: Found, path: Path) -> None:
    """Draw the matrix of each way."""
    from matplotlib.figure import Figure

    means = [matrix.mean for matrix in found.values()]
    ends = float(np.min(means)), float(np.max(means))
    rows = len({way for way, _ in found})
    figure = Figure(figsize=(10.4, 4.4 * rows), layout="constrained")
    panels = figure.subplots(rows, len(found) // rows, squeeze=False).flatten()
    for axes, ((way, actions), matrix) in zip(panels, found.items(), strict=True):
        cross_play.draw(figure, axes, matrix, f"trained by {way}, {actions} actions", ends)
    figure.savefig(path, dpi=100)


def main() -> int:
    """Train, play, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("task", help="such as hanabi")
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N", help="(default 1 2 3)")
    add("--other-play", action="store_true", help="train by Other-Play beside plain self-play")
    add("--episodes", type=int, default=1000, help="of each pair (default 1000)")
    add("--out", type=Path, default=Path("runs/cross_play"), help="for TASK/WAY/SEED of the runs")
    add("--results", type=Path, default=ROOT / "benchmarks" / "results", help="for what is found")
    given = parser.parse_args()
    torch.set_num_threads(1)
    task, ways = task_of(given.task), list(WAYS)[: 1 + given.other_play]
    labels = [str(seed) for seed in given.seeds]
    found: Found = {}
    costs: dict[str, list[float]] = {}
    for way in ways:
        home = given.out / given.task / way.lower().replace("-", "_")
        folders = [home / label for label in labels]
        for seed, folder in zip(given.seeds, folders, strict=True):
            if not (folder / COSTS).exists():
                train(task, seed, folder, WAYS[way])
        costs[way] = [
            json.loads((folder / COSTS).read_text())["processor_seconds"] for folder in folders
        ]
        met = meet(task, folders, labels, given.episodes)
        found |= {(way, actions): matrix for actions, matrix in met.items()}
    report = report_of(given.task, task, found, costs)
    report.figures.append(f"{report.stem()}.png")
    for path in report.write(given.results):
        print(path)
    draw(found, given.results / report.figures[0])
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
