#!/usr/bin/env python3
"""How many random runners of TagContinuous are tagged: by random taggers, and by trained ones.

    scripts/tag_learning.py               # two taggers, ten runners, three seeds
    scripts/tag_learning.py --seeds 1     # one run
    scripts/tag_learning.py --load        # measures the files of earlier runs

Each run trains the taggers, by what OPTIONS says, while runners act at random, on one core. What is
measured is the best policy of the run, in new episodes that begin at drawn places. An agent does
not see its own heading; the policy's memory tells it from how the others seem to move. The error
is that of the mean over episodes. The status is 1 where trained taggers do not tag at least twice
as many as random ones.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

from gpu_envs.train import curves, evaluate, run, worlds  # noqa: E402
from gpu_envs.train.config import make  # noqa: E402

ENV = "TagContinuous-v0"
BAR = 2.0  # times what random taggers tag
GAME = {
    "num_taggers": 2,
    "num_runners": 10,
    "use_full_observation": False,
    "num_other_agents_observed": 4,
    "resample_start": True,
}
OPTIONS = (
    "--learn tagger --memory 64 --num-envs 256 --rollout 32 --minibatch 2048 --epochs 4 "
    "--learning-rate 2e-3 --gamma 0.95 --gae-lambda 0.9 --entropy 0.01 --entropy-end 0.001 "
    "--total-steps 6000000 --evaluation-every 20 --goal inf"
)
HEAD = ("taggers", "seed", "tagged", "error", "ratio", "steps", "seconds", "cpu")


def measured(path: Path | None, episodes: int, seed: int) -> tuple[float, float]:
    """Return how many of the runners are tagged in an episode, and the error of that."""
    with closing(worlds.for_evaluation(make(ENV, parameters=GAME), "cpu", episodes)) as env:
        team = evaluate.Team.at_random(env.simulator)
        if path is not None:
            team = evaluate.Team.load(path, env.simulator)
        of_row = evaluate.rows_of(team.of_agent, env.num_worlds, env.device)
        returns, _ = evaluate.play(env, team.policies, of_row, seed=seed)
        is_tagger = torch.tensor([name.startswith("tagger") for name in env.agent_names])
        tags = returns.view(env.num_worlds, -1)[:, is_tagger].sum(1)  # each pays its tagger 1
    return float(tags.mean()), float(tags.std()) / len(tags) ** 0.5


def train(seed: int, folder: Path, more: Sequence[str]) -> None:
    """Train the taggers."""
    game = [
        part
        for name, value in GAME.items()
        for part in ("--" + name.replace("_", "-"), str(value).lower())
    ]
    options = [*game, *OPTIONS.split(), "--seed", str(seed), "--out", str(folder)]
    if run.main([ENV, *options, "--device", "cpu", "--tensorboard", "false", *more]) != 0:
        raise SystemExit(f"error: training with seed {seed} failed")


def rows(given: argparse.Namespace, more: Sequence[str]) -> Iterator[list[str]]:
    """Train and measure; return lines of the table as they come."""
    chance, error = measured(None, given.episodes, given.episode_seed)
    yield ["random", "-", f"{chance:.3f}", f"{error:.3f}", "1.00", "-", "-", "-"]
    for seed in given.seeds:
        folder, before = given.out / str(seed), resource.getrusage(resource.RUSAGE_SELF)
        if not given.load:
            train(seed, folder, more)
        after = resource.getrusage(resource.RUSAGE_SELF)
        with (folder / "curve.csv").open() as file:
            last = list(csv.DictReader(file))[-1]
        tags, error = measured(folder / "best.ckpt", given.episodes, given.episode_seed)
        yield [
            *("trained", str(seed), f"{tags:.3f}", f"{error:.3f}", f"{tags / chance:.2f}"),
            *(f"{int(last['steps']) / 1e6:.1f}M", f"{float(last['seconds']):.0f}"),
            "-" if given.load else f"{after.ru_utime - before.ru_utime:.0f}",
        ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 1 where the bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    add("--episodes", type=int, default=1000, metavar="N", help="of each measurement")
    add("--episode-seed", type=int, default=99, metavar="N", help="of the measured worlds")
    add("--out", type=Path, default=Path("runs/tag"), metavar="DIR")
    add("--picture", type=Path, metavar="FILE", help="where to draw the learning curves")
    add("--load", action="store_true", help="measure what earlier runs left in --out")
    given, more = parser.parse_known_args(argv)  # the rest is for the trainer
    torch.set_num_threads(1)
    lines = [HEAD, *map(tuple, rows(given, more))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        print("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]))
    if given.picture:
        found = {"trained taggers": [given.out / str(n) / "curve.csv" for n in given.seeds]}
        curves.plot(found, given.picture, title="TagContinuous: tags of a tagger, runners random")
    return int(any(row[0] == "trained" and float(row[4]) < BAR for row in lines))


if __name__ == "__main__":
    sys.exit(main())
