#!/usr/bin/env python3
"""Trains Stable-Baselines3's PPO on TagContinuous with both forms of `ends`.

    scripts/studies/compare_ends.py --out benchmarks/results

A runner that is tagged leaves before its world ends. With ends="agent" its row is done at once,
shows zeros, and then another episode without a flag; with ends="world" it shows zeros and is done
together with its world. All agents are rows of one policy. Each form is trained from each seed
with the same settings, and plays a whole episode in worlds that training never had, its actions
sampled as in training:

    runners, taggers  mean return of one agent
    tagged            share of the runners that are tagged
    zeros             what the critic expects of a row of zeros
    start             what it expects of the first observations of an episode

Needs stable-baselines3. Everything runs in one thread; `nice` leaves the machine to others.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402

import gpu_envs  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table  # noqa: E402
from gpu_envs.integrations.stable_baselines3 import SB3VecEnv  # noqa: E402

NAME = "TagContinuous-v0"
GAME: dict[str, Any] = {
    "num_taggers": 2,
    "num_runners": 6,
    "tagging_distance": 0.05,
    "resample_start": True,
}
FORMS = ("agent", "world")
WORLDS, EPISODE = 32, 100  # of training; steps of an episode, and of a rollout
EVALUATED, FIRST = 500, 2**20  # worlds of the evaluation, and the number of the first of them
SETTINGS: dict[str, Any] = {
    "n_steps": EPISODE,
    "batch_size": 3200,
    "n_epochs": 4,
    "learning_rate": 1e-3,
    "ent_coef": 0.01,
    "device": "cpu",
}
MEASURES = ("runners", "taggers", "tagged", "zeros", "start")


def train(form: str, seed: int, steps: int) -> PPO:
    """Train on `steps` samples, a row per agent."""
    env = SB3VecEnv(NAME, WORLDS, ends=form, device="cpu", threads=1, **GAME)
    model = PPO("MlpPolicy", env, seed=seed, **SETTINGS).learn(steps)
    env.close()
    return model


def evaluate(model: PPO | None, worlds: int = EVALUATED) -> dict[str, float]:
    """Play an episode in every world; None: at random."""
    form = {"ends": "agent", "autoreset_mode": "Disabled", "first_world": FIRST, "threads": 1}
    with closing(gpu_envs.VectorEnv(NAME, worlds, device="cpu", **form, **GAME)) as env:
        obs, _ = env.reset(seed=1)
        start = obs
        env.action_space.seed(1)
        torch.manual_seed(1)
        total, tagged = np.zeros(env.num_envs), np.zeros(env.num_envs, bool)
        for _ in range(EPISODE):
            actions = env.action_space.sample() if model is None else model.predict(obs)[0]
            obs, reward, terminated, _, infos = env.step(actions)
            total, tagged = total + reward, tagged | (terminated & infos["_episode_stats"])
        at = {role.name: role.numbers for role in env.simulator.roles}
    returns, tagged = total.reshape(worlds, -1), tagged.reshape(worlds, -1)
    found = {f"{role}s": float(returns[:, numbers].mean()) for role, numbers in at.items()}
    found["tagged"] = float(tagged[:, at["runner"]].mean())
    if model is not None:
        found |= {"zeros": value(model, 0 * start[:1]), "start": value(model, start)}
    return found


def value(model: PPO, obs: np.ndarray[Any, Any]) -> float:
    """Return the mean of what the critic expects of some rows."""
    with torch.no_grad():
        return float(model.policy.predict_values(torch.as_tensor(obs)).mean())


def tabulate(runs: dict[str, list[dict[str, float]]]) -> Table:
    """Return a row per measure: by form, of each seed and their mean; at random."""
    count = len(runs[FORMS[0]])
    heads = [f'ends="{form}", mean of {count} (each)' for form in FORMS]
    table = Table(f"{EVALUATED} worlds, an episode each", ["", *heads, "at random"])
    for name in MEASURES:
        cells = []
        for form in FORMS:
            each = [run[name] for run in runs[form]]
            listed = ", ".join(f"{number:.3f}" for number in each)
            cells.append(f"{statistics.mean(each):.3f} ({listed})")
        chance = runs["random"][0].get(name)
        table.rows.append([name, *cells, "" if chance is None else f"{chance:.3f}"])
    return table


def main(argv: Sequence[str] | None = None) -> int:
    """Train, evaluate and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=4_000_000, help="samples (default 4,000,000)")
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 1 (default 3)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    description = machine.describe("cpu")
    description["versions"]["stable_baselines3"] = machine.version("stable-baselines3")
    runs: dict[str, list[dict[str, float]]] = {form: [] for form in FORMS}
    runs["random"] = [evaluate(None)]
    for seed in range(1, given.seeds + 1):
        for form in FORMS:
            begun = time.perf_counter()
            runs[form].append(evaluate(train(form, seed, given.steps)))
            took = time.perf_counter() - begun
            print(f"{form} {seed}: {runs[form][-1]} in {took:.0f} s", flush=True)
    command = " ".join(
        ["scripts/studies/compare_ends.py", *(sys.argv[1:] if argv is None else argv)]
    )
    report = Report("TagContinuous-ends", description, command)
    report.results["runs"] = runs
    report.show(tabulate(runs))
    for path in report.write(given.out) if given.out else []:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
