#!/usr/bin/env python3
"""In how many rewarded steps of HideSeek a hider is seen: at random, and with one side trained.

    scripts/hide_seek_learning.py                          # both sides, three seeds each
    scripts/hide_seek_learning.py --side hider --seeds 1   # one run
    scripts/hide_seek_learning.py --load                   # measures the files of earlier runs

Each run trains one role by the trainer's defaults for HideSeek-v0 and what SIDES says, while the
other role acts at random, on one core. What is measured is its best policy, in new episodes of the
environment as it is by default: rewarded are the steps after the preparation, and the seekers'
reward says whether a hider was seen in one. The error is that of the mean over episodes.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import torch  # noqa: E402

from gpu_envs.train import curves, evaluate, run, worlds  # noqa: E402
from gpu_envs.train.config import make  # noqa: E402
from gpu_envs.train.opponents import NOBODY  # noqa: E402

ENV = "HideSeek-v0"
BARS = {"seeker": 0.70, "hider": 0.40}  # at least, at most
# What differs from the defaults of training. Seekers have more to learn from where there is no
# preparation. What a hider does changes little, and late: alone, against seekers that look in all
# directions, and that it sees whenever they see it, more of that is its own doing.
SIDES = {
    "seeker": "--preparation-steps 0 --num-envs 64 --total-steps 3000000",
    "hider": "--preparation-steps 0 --hider-count 1 --seeker-count 4 --sight-half-angle 3.14159 "
    "--num-envs 256 --rollout 32 --minibatch 2048 --learning-rate 2e-3 --gamma 0.97 "
    "--gae-lambda 0.9 --entropy 0.005 --total-steps 12000000 --evaluation-every 50",
}
TESTED = " ".join(
    f"--evaluate-with {parameter}"
    for parameter in (
        *("preparation_steps=-1", "penalty=-1", "sight_half_angle=-1"),
        *("hider_count=3", "seeker_count=2"),
    )
)
HEAD = ("who is trained", "seed", "seen", "error", "outside", "steps", "seconds", "cpu")


class Watch:
    """Counts the rewarded steps of each world, those with a hider in sight, and who is outside."""

    def __init__(self, env: Any) -> None:
        self.penalty = float(env.simulator.parameters["penalty"])
        if self.penalty < 0:
            self.penalty = 10.0  # the profile's own
        self.shape = (env.num_worlds, env.agents_per_world)
        self.seeker = env.agent_names.index("seeker_0")
        self.rewarded = torch.zeros(env.num_worlds)
        self.seen, self.outside = torch.zeros_like(self.rewarded), torch.zeros(self.shape)

    def __call__(self, reward: torch.Tensor) -> None:
        """Take the rewards of one step."""
        rows = reward.view(self.shape)
        own = rows.where(rows > -2, rows + self.penalty)  # without the penalty: 1, 0 or -1
        if not bool((own.abs() == own[:, :1].abs()).all()) or bool((own.abs() > 1).any()):
            raise ValueError(f"rewards of another game: {rows[:3].tolist()}")
        self.rewarded += own[:, self.seeker].abs()
        self.seen += own[:, self.seeker] == 1
        self.outside += rows < -2


def measured(path: Path | None, episodes: int, seed: int) -> tuple[float, float, float]:
    """Return how often hiders are seen, its error, and how often those that learn are outside."""
    with closing(worlds.for_evaluation(make(ENV), "cpu", episodes)) as env:
        team = evaluate.Team.at_random(env.simulator)
        if path is not None:
            team = evaluate.Team.load(path, env.simulator)
        of_row, watch = evaluate.rows_of(team.of_agent, env.num_worlds, env.device), Watch(env)
        evaluate.play(env, team.policies, of_row, seed=seed, watch=watch)
    share = watch.seen / watch.rewarded
    able = [k != NOBODY or path is None for k in team.of_agent]
    outside = float((watch.outside[:, able] / watch.rewarded[:, None]).mean())
    return float(share.mean()), float(share.std()) / len(share) ** 0.5, outside


def train(side: str, seed: int, folder: Path, more: Sequence[str]) -> None:
    """Train one side."""
    options = [*SIDES[side].split(), *TESTED.split(), "--learn", side, "--seed", str(seed)]
    options += ["--out", str(folder), "--device", "cpu", "--tensorboard", "false", *more]
    if run.main([ENV, *options]) != 0:
        raise SystemExit(f"error: training {side}s with seed {seed} failed")


def rows(given: argparse.Namespace, more: Sequence[str]) -> Iterator[list[str]]:
    """Train and measure; return lines of the table as they come."""
    numbers = measured(None, given.episodes, given.episode_seed)
    yield ["nobody", "-", *(f"{n:.3f}" for n in numbers), "-", "-", "-"]
    for side in given.side:
        for seed in given.seeds:
            folder, before = given.out / side / str(seed), resource.getrusage(resource.RUSAGE_SELF)
            if not given.load:
                train(side, seed, folder, more)
            after = resource.getrusage(resource.RUSAGE_SELF)
            with (folder / "curve.csv").open() as file:
                last = list(csv.DictReader(file))[-1]
            numbers = measured(folder / "best.ckpt", given.episodes, given.episode_seed)
            cpu = "-" if given.load else f"{after.ru_utime - before.ru_utime:.0f}"
            yield [
                *(f"{side}s", str(seed), *(f"{n:.3f}" for n in numbers)),
                *(f"{int(last['steps']) / 1e6:.1f}M", f"{float(last['seconds']):.0f}", cpu),
            ]


def draw(given: argparse.Namespace) -> None:
    """Draw the curves of all sides and seeds that there are."""
    found = {
        f"trained {side}s": [given.out / side / str(seed) / "curve.csv" for seed in given.seeds]
        for side in given.side
    }
    curves.plot(found, given.picture, title="HideSeek: one side trained, the other random")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 1 where a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--side", nargs="+", choices=list(SIDES), default=list(SIDES), help="who is trained")
    add("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    add("--episodes", type=int, default=1000, metavar="N", help="of each measurement")
    add("--episode-seed", type=int, default=99, metavar="N", help="of the measured worlds")
    add("--out", type=Path, default=Path("runs/hide_seek"), metavar="DIR")
    add("--picture", type=Path, metavar="FILE", help="where to draw the learning curves")
    add("--load", action="store_true", help="measure what earlier runs left in --out")
    given, more = parser.parse_known_args(argv)  # the rest is for the trainer
    torch.set_num_threads(1)
    missed, lines = False, [HEAD]
    for row in rows(given, more):
        lines.append(tuple(row))
        side, seen = row[0].removesuffix("s"), float(row[2])
        missed |= side == "seeker" and seen < BARS[side]
        missed |= side == "hider" and seen > BARS[side]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        print("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]))
    if given.picture:
        draw(given)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
