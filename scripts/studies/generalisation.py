#!/usr/bin/env python3
"""How well a policy plays levels that training has not: `scripts/studies/generalisation.py`.

    scripts/studies/generalisation.py --seeds 1 2 3 --steps 8000000

SokobanGrid is trained on 10, 100 and 1,000 fixed levels, each in one of its eight images, and on
all easy levels of the bank in all images, for as many steps each. The last policy of each run plays
new episodes, of the levels of its training and of easy levels of the bank's test. Behind +- is the
error over seeds. Runs that --out has already are not trained again.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table  # noqa: E402
from gpu_envs.known import measures  # noqa: E402
from gpu_envs.policies import checkpoint  # noqa: E402
from gpu_envs.policies.teams import Team  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import config, evaluate, run, worlds  # noqa: E402
from gpu_envs.train.task_measures import Measure  # noqa: E402

ENV = "SokobanGrid-v0"
COUNTS = (10, 100, 1000, 0)  # of levels; 0: all of them
EPISODE_SEED = 1_000_000
LAST, WHOLE = "checkpoint.ckpt", "steps.txt"  # of a run: its last policy, and that it is complete


def train(seed: int, folder: Path, levels: int, steps: int) -> None:
    """Train a run on one thread."""
    words = [ENV, "--seed", str(seed), "--out", str(folder), "--device", "cpu", "--goal", "inf"]
    words += ["--difficulty", "easy", "--level-count", str(levels), "--total-steps", str(steps)]
    words += ["--threads", "1", "--tensorboard", "false", "--evaluation-share", "0.02"]
    if run.main(words) != 0:
        raise SystemExit(f"error: training with seed {seed} failed")
    tree = checkpoint.load(folder / LAST)
    if tree["state"]["steps"] < steps:
        raise SystemExit(f"error: training with seed {seed} was stopped")
    (folder / WHOLE).write_text(f"{steps}\n", encoding="utf-8")


def is_whole(folder: Path, steps: int) -> bool:
    """Whether a run has been trained for that many steps."""
    file = folder / WHOLE
    return file.exists() and int(file.read_text(encoding="utf-8")) == steps


def solved(folder: Path, episodes: int, levels: int, split: str) -> float:
    """Return the share of episodes that a run's last policy solves."""
    parameters = {"difficulty": "easy", "split": split}
    made = config.make(ENV, evaluation_parameters=parameters)
    measure = Measure(measures.measures_of(ENV)["training"]["measures"][0], ["player"])
    with closing(worlds.for_evaluation(made, "cpu", episodes, level_count=levels)) as env:
        team = Team.load(folder / LAST, env.simulator)
        of_row = evaluate.rows_of(team.of_agent, episodes, env.device)
        signs = measure.signs(episodes, env.device)
        played = evaluate.play(
            env, team.policies, of_row, seed=EPISODE_SEED, is_sampled=True, watch=signs
        )
        return float(measure.of(*played, signs).mean())


def main() -> int:
    """Train, play, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N", help="of the runs")
    add("--steps", type=int, default=8_000_000, help="of each run (default 8,000,000)")
    add("--episodes", type=int, default=2000, help="of each policy (default 2,000)")
    add("--out", type=Path, default=Path("runs/generalisation"), help="for LEVELS/SEED of the runs")
    add("--results", type=Path, default=ROOT / "benchmarks" / "results", help="for what is found")
    given = parser.parse_args()
    torch.set_num_threads(1)
    report = Report(
        "SokobanGrid-generalisation",
        machine.describe("cpu"),
        " ".join(["scripts/studies/generalisation.py", *sys.argv[1:]]),
    )
    heads = ["levels of training", "these are solved", "those of the test", "gap"]
    table = Table(f"solved by {given.steps:,} steps, over {len(given.seeds)} seeds", heads)
    for levels in COUNTS:
        seen, unseen = [], []
        for seed in given.seeds:
            folder = given.out / str(levels or "all") / str(seed)
            if not is_whole(folder, given.steps):
                train(seed, folder, levels, given.steps)
            seen.append(solved(folder, given.episodes, levels, "train"))
            unseen.append(solved(folder, given.episodes, 0, "test"))
        named = f"{levels:,}" if levels else "all, 30,000"
        gap = np.array(seen) - np.array(unseen)
        table.rows.append([named, *(_with_error(found) for found in (seen, unseen, gap))])
        report.results[named] = {"seen": seen, "unseen": unseen}
    report.show(table)
    for path in report.write(given.results):
        print(path)
    return 0


def _with_error(found: object) -> str:
    values = np.asarray(found)
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():.3f} +- {error:.3f}"


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
