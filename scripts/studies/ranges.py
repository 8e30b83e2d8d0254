#!/usr/bin/env python3
"""What training with ranges of parameters is worth: `scripts/studies/ranges.py`.

    scripts/studies/ranges.py --seeds 1 2 3 4 5

CartPole is trained twice per seed, for as many steps each: at its usual length, masses and force,
and with a range of each, from which every episode of every world draws. Then the last policy of
each run plays where one parameter is far from the usual, and the others are usual: returns of new
episodes, the same for all policies. Behind +- is the error over seeds. Runs that --out has already
are not trained again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402

from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table  # noqa: E402
from gpu_envs.policies.options import flag_of  # noqa: E402
from gpu_envs.policies.teams import Team  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import config, evaluate, run, worlds  # noqa: E402

ENV = "CartPole-v0"
RANGES = {"length": "0.1..2", "mass": "0.25..4", "pole_mass": "0.025..0.4", "force": "4..20"}
WAYS = {
    "usual values": (),
    "ranges": tuple(w for name, text in RANGES.items() for w in (flag_of(name), text)),
}
# Where policies are tried: at and around the ends of the ranges, one parameter at a time.
TRIED: dict[str, tuple[float, ...]] = {
    "length": (0.1, 0.2, 1.0, 2.0),
    "mass": (0.25, 4.0),
    "pole_mass": (0.025, 0.4),
    "force": (4.0, 20.0),
}
COSTS = "costs.json"  # of a run that is complete
EPISODE_SEED = 1_000_000


def train(seed: int, folder: Path, way: str, steps: int) -> None:
    """Train a run on one thread, and write how long the processor worked for it."""
    words = [ENV, "--seed", str(seed), "--out", str(folder), "--device", "cpu", "--goal", "inf"]
    words += ["--total-steps", str(steps), "--threads", "1", "--tensorboard", "false"]
    begin = time.process_time()
    if run.main([*words, *WAYS[way]]) != 0:
        raise SystemExit(f"error: training with seed {seed} failed")
    facts = {"steps": steps, "processor_seconds": round(time.process_time() - begin, 1)}
    (folder / COSTS).write_text(json.dumps(facts) + "\n", encoding="utf-8")


def returns_at(folder: Path, episodes: int, **parameters: float) -> float:
    """Return the mean return of a run's last policy with these parameters."""
    made = config.make(ENV, evaluation_parameters=parameters)
    with closing(worlds.for_evaluation(made, "cpu", episodes)) as env:
        team = Team.load(folder / "checkpoint.ckpt", env.simulator)
        of_row = evaluate.rows_of(team.of_agent, episodes, env.device)
        returns, _ = evaluate.play(env, team.policies, of_row, seed=EPISODE_SEED)
        return float(returns.mean())


def main() -> int:
    """Train, play, show and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5], metavar="N", help="of the runs")
    add("--steps", type=int, default=12_000_000, help="of each run (default 12,000,000)")
    add("--episodes", type=int, default=512, help="of each policy at each value (default 512)")
    add("--out", type=Path, default=Path("runs/ranges"), help="for WAY/SEED of the runs")
    add("--results", type=Path, default=ROOT / "benchmarks" / "results", help="for what is found")
    given = parser.parse_args()
    torch.set_num_threads(1)
    runs = {
        way: [given.out / way.replace(" ", "_") / str(seed) for seed in given.seeds] for way in WAYS
    }
    for way, folders in runs.items():
        for seed, folder in zip(given.seeds, folders, strict=True):
            if not (folder / COSTS).exists():
                train(seed, folder, way, given.steps)
    report = Report(
        "CartPole-ranges",
        machine.describe("cpu"),
        " ".join(["scripts/studies/ranges.py", *sys.argv[1:]]),
    )
    table = Table(f"mean return over {len(given.seeds)} seeds", ["played at", *WAYS])
    cases = [{}, *({name: value} for name, values in TRIED.items() for value in values)]
    for case in cases:
        named = ", ".join(f"{name} {value:g}" for name, value in case.items()) or "usual values"
        cells, kept = [], {}
        for way, folders in runs.items():
            found = np.array([returns_at(folder, given.episodes, **case) for folder in folders])
            error = found.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else np.nan
            cells.append(f"{found.mean():.1f} +- {error:.1f}")
            kept[way] = found.tolist()
        table.rows.append([named, *cells])
        report.results[named] = kept
    minutes = ["processor minutes of a run"]
    for way, folders in runs.items():
        seconds = [json.loads((f / COSTS).read_text())["processor_seconds"] for f in folders]
        minutes.append(f"{np.mean(seconds) / 60:.1f}")
        report.results.setdefault("processor_seconds", {})[way] = seconds
    table.rows.append(minutes)
    report.show(table)
    for path in report.write(given.results):
        print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
