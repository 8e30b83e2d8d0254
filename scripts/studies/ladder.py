#!/usr/bin/env python3
"""Who beats whom in a run of self-play: `scripts/studies/ladder.py RUN`.

A run with `--ladder-every STEPS` keeps its policies on the way, RUN/ladder/<steps>.ckpt. Here each
side's policies, and chance, meet every policy of the other side. That gives a matrix of mean
returns, a rating of each policy (Bradley and Terry's, of whose mean return is greater), and whether
the last policies do better against the whole ladder than chance and than those at a third of the
run, with intervals of 95 % over the games. The status is 1 where one of them does not.

`--keep FOLDER` copies the rungs to FOLDER/ladder first, their weights in half the bytes, and what
is measured are the copies: `scripts/studies/ladder.py FOLDER` says it again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table  # noqa: E402
from gpu_envs.policies import checkpoint, saved  # noqa: E402
from gpu_envs.policies.sharing import groups  # noqa: E402
from gpu_envs.policies.teams import NOBODY, Team  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import evaluate, worlds  # noqa: E402
from gpu_envs.train.config import Config  # noqa: E402

LARGE = 1000  # weights, from which on a copy holds them in half the bytes

Games = np.ndarray[Any, np.dtype[np.float64]]  # (first side, second side, game, side): returns


@dataclass(frozen=True)
class Ladder:
    """Policies by the steps at which they were kept; chance is the one at -1."""

    steps: list[int]
    teams: list[Team]
    sides: dict[str, list[int]]  # agents

    @property
    def names(self) -> list[str]:
        """How the rungs are called."""
        return ["random" if steps < 0 else f"{steps / 1e6:.3g} M" for steps in self.steps]

    @property
    def third(self) -> int:
        """The rung that is nearest to a third of the run."""
        wanted = self.steps[-1] / 3
        return min(range(1, len(self.steps)), key=lambda k: abs(self.steps[k] - wanted))


def load(folder: Path, env: Any) -> Ladder:
    """Read all rungs, from the first to the last, behind chance."""
    paths = sorted((folder / "ladder").glob("*.ckpt"))
    if len(paths) < 2:
        raise SystemExit(f"error: {folder}/ladder has {len(paths)} policies: train --ladder-every")
    sides = groups("role", env.agent_names)
    if len(sides) != 2:
        raise SystemExit(f"error: a ladder is between two roles, not {', '.join(sides)}")
    teams = [Team.at_random(env.simulator)]
    teams += [Team.load(path, env.simulator) for path in paths]
    return Ladder([-1, *(int(path.stem) for path in paths)], teams, sides)


def keep(source: Path, target: Path) -> None:
    """Copy the rungs of a run, in about half the bytes."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.ckpt")):
        tree = saved.read(path)
        for state in tree["policies"].values():
            for name, weights in state.items():
                if weights.dtype == torch.float32 and weights.numel() >= LARGE:
                    state[name] = weights.half()
        checkpoint.save(target / path.name, tree)


def play(
    config: Config, folder: Path, games: int, seed: int, sampled: bool
) -> tuple[Ladder, Games]:
    """Let every policy of one side meet every one of the other."""
    count = 1 + len([*(folder / "ladder").glob("*.ckpt")])
    with closing(worlds.for_evaluation(config, "cpu", count * games)) as env:
        ladder = load(folder, env)
        found = np.zeros((count, count, games, 2))
        first, second = ladder.sides.values()
        policies = [policy for team in ladder.teams for policy in team.policies]
        shift = np.cumsum([0, *(len(team.policies) for team in ladder.teams)])
        for i, team in enumerate(ladder.teams):
            of_row = []
            for j, other in enumerate(ladder.teams):
                seats = [NOBODY] * env.agents_per_world
                for one, number, agents in ((team, i, first), (other, j, second)):
                    for agent in agents:
                        own = one.of_agent[agent]
                        seats[agent] = NOBODY if own == NOBODY else int(shift[number]) + own
                of_row += seats * games
            rows = torch.tensor(of_row)
            returns, _ = evaluate.play(env, policies, rows, seed=seed, is_sampled=sampled)
            shaped = returns.double().view(count, games, -1)
            for side, agents in enumerate((first, second)):
                found[i, ..., side] = shaped[..., agents].mean(-1).numpy()
            print(f"{i + 1} of {count} rungs have played", file=sys.stderr, flush=True)
    return ladder, found


def ratings(games: Games, rounds: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return each side's ratings in Elo's units, where the two policies of chance have 0.

    One game more, half of it won, is played against chance: who always wins has a rating too.
    """
    wins = (games[..., 0] > games[..., 1]).sum(-1) + 0.5 * (games[..., 0] == games[..., 1]).sum(-1)
    total = np.full(wins.shape, float(games.shape[2]))
    wins, total = wins + 0.5, total + 1
    first, second = np.zeros(len(wins)), np.zeros(wins.shape[1])
    for _ in range(rounds):
        expected = total / (1 + np.exp(second[None] - first[:, None]))
        first += 4 * (wins - expected).sum(1) / total.sum(1)
        expected = total / (1 + np.exp(second[None] - first[:, None]))
        second -= 4 * (wins - expected).sum(0) / total.sum(0)
    unit = 400 / np.log(10)
    return (first - first[0]) * unit, (second - second[0]) * unit


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return mean and half of the 95 % interval."""
    return float(values.mean()), 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5


def against_all(ladder: Ladder, games: Games, side: int) -> dict[str, tuple[float, float]]:
    """Return what three rungs of a side get against the whole other ladder."""
    own = games[..., side] if side == 0 else games[..., side].swapaxes(0, 1)
    rungs = {"random": 0, "a third": ladder.third, "the last": len(ladder.steps) - 1}
    return {name: interval(own[k, 1:].ravel()) for name, k in rungs.items()}


def won(games: Games) -> np.ndarray:
    """Return the share of games that the first side wins, half of those that nobody does."""
    first, second = games[..., 0], games[..., 1]
    share: np.ndarray = ((first > second) + 0.5 * (first == second)).mean(-1)
    return share


def draw(ladder: Ladder, games: Games, rated: Sequence[np.ndarray], path: Path, title: str) -> None:
    """Draw who beats whom, and the ratings of both sides over the steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    matrix, axes = figure.subplots(1, 2)
    shown = matrix.imshow(won(games), cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    first, second = ladder.sides
    ticks = range(len(ladder.steps))
    matrix.set_xticks(ticks, ladder.names, rotation=60, fontsize=8)
    matrix.set_yticks(ticks, ladder.names, fontsize=8)
    matrix.set(xlabel=second, ylabel=first, title=f"games that {first}s win")
    for (row, column), share in np.ndenumerate(won(games)):
        colour = "white" if abs(share - 0.5) > 0.3 else "black"
        at = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        matrix.text(column, row, f"{100 * share:.0f}", **at)
    figure.colorbar(shown, ax=matrix)
    for name, values in zip(ladder.sides, rated, strict=True):
        axes.plot(np.array(ladder.steps[1:]) / 1e6, values[1:], marker="o", label=name)
    axes.axhline(0, color="#777777", linestyle="--", linewidth=1, label="random")
    axes.set(xlabel="million steps", ylabel="rating [Elo]", title=title)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> int:
    """Play, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("--games", type=int, default=100, help="of each pair (default 100)")
    parser.add_argument("--seed", type=int, default=99, help="of the worlds (default 99)")
    parser.add_argument("--sampled", action="store_true", help="draw actions")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for copies of the policies")
    given = parser.parse_args()
    torch.set_num_threads(1)
    paths = sorted((given.run / "ladder").glob("*.ckpt"))
    if not paths:
        parser.error(f"{given.run}/ladder has no policies: train with --ladder-every")
    config = Config(**saved.read(paths[-1])["config"])
    if given.keep is not None:
        keep(given.run / "ladder", given.keep / "ladder")
    run = given.keep or given.run
    ladder, games = play(config, run, given.games, given.seed, given.sampled)
    report = Report(
        f"{config.env.partition('-')[0]}-ladder",
        machine.describe("cpu"),
        " ".join(["scripts/studies/ladder.py", *sys.argv[1:]]),
    )
    first, second = ladder.sides
    table = Table(f"mean return of a {first} (rows) against {second}s", ["", *ladder.names])
    for name, row in zip(ladder.names, games[..., 0].mean(-1), strict=True):
        table.rows.append([name, *(f"{value:.0f}" for value in row)])
    report.show(table)
    table = Table(f"games that {first}s win [%]", ["", *ladder.names])
    for name, row in zip(ladder.names, won(games), strict=True):
        table.rows.append([name, *(f"{100 * share:.0f}" for share in row)])
    report.show(table)
    rated = ratings(games)
    table = Table("rating, Elo, random 0", ["", *ladder.names])
    for name, values in zip(ladder.sides, rated, strict=True):
        table.rows.append([name, *(f"{value:.0f}" for value in values)])
    report.show(table)
    table = Table(
        "return against the whole ladder, 95 % interval", ["", "random", "a third", "the last"]
    )
    for side, name in enumerate(ladder.sides):
        found = against_all(ladder, games, side)
        table.rows.append([name, *(f"{mean:.1f} +- {half:.1f}" for mean, half in found.values())])
        mean, half = found["the last"]
        for other in ("random", "a third"):
            theirs, error = found[other]
            what = f"{name}: the last less {other}, in units of its 95 % interval"
            report.judge(Bar(what, 1.0, (mean - theirs) / max(np.hypot(half, error), 1e-9), ""))
    report.show(table)
    report.results |= {"steps": ladder.steps, "returns": games.mean(2).tolist()}
    report.results["ratings"] = [list(values) for values in rated]
    report.figures.append(f"{report.stem()}.png")
    for path in report.write(given.out):
        print(path)
    draw(ladder, games, rated, given.out / f"{report.stem()}.png", f"{config.env}, self-play")
    return 0 if all(bar.verdict == "ok" for bar in report.bars) else 1


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
