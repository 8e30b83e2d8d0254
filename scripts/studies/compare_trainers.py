#!/usr/bin/env python3
"""Time until a mean of 475 over 100 evaluation episodes of CartPole, for three trainers.

    scripts/studies/compare_trainers.py --cleanrl DIR --cleanrl-python VENV/bin/python

Each trainer runs as its authors publish it: Stable-Baselines3's PPO with the settings of RL
Baselines3 Zoo on eight of Gymnasium's CartPole-v1, CleanRL's unchanged ppo.py with its defaults on
four, and ours with its own; ours once more with the Zoo's settings. Evaluation is greedy, or with
--sampled as in training. The others' clock stops for it, and it starts when they are about to make
their networks, so that imports do not count either. Ours goes by its own clock. All use one thread
of torch, which is the faster for networks this small.

A checkout of CleanRL and an interpreter with its pins (tests/integrations/requirements/cleanrl.txt)
have to be given; without them it is left out, and the result says so.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

GOAL, EPISODES = 475.0, 100
EVERY = 2048  # samples between two evaluations
DEFAULT = "--evaluation-every 2"  # of 1024 samples each
BUDGETS = {"stable-baselines3": 100_000, "cleanrl": 500_000}  # samples, as published
# The Zoo's settings as far as our trainer has them: its range of clipping does not fall to zero.
IDENTICAL = """--num-envs 8 --rollout 32 --minibatch 256 --epochs 20 --gamma 0.98 --gae-lambda 0.8
    --learning-rate 1e-3 --schedule linear --clip 0.2 --total-steps 100000 --evaluation-every 8"""
FACTOR = 10.0  # how much shorter ours has to be


class Reached(Exception):
    """The goal is reached."""


class Watch:
    """Evaluates now and then, with the clock stopped, and ends the training at the goal."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self._act = act
        self._begun, self._begun_cpu = time.perf_counter(), time.process_time()
        self._due = EVERY
        self.result: dict[str, Any] = {"score": 0.0, "seconds": None, "cpu_seconds": None}
        self.result["evaluation"] = 0.0  # seconds that are not counted

    def look(self, samples: int, is_last: bool = False) -> None:
        """Evaluate if it is time to."""
        if samples < self._due and not is_last:
            return
        now, cpu = time.perf_counter(), time.process_time()
        score = evaluate(self._act, seed=samples)
        self.result["evaluation"] += time.perf_counter() - now
        self.result |= {"samples": samples, "score": max(score, self.result["score"])}
        if score >= GOAL:
            self.result |= {
                "seconds": now - self._begun,
                "cpu_seconds": cpu - self._begun_cpu,
                "score": score,
            }
            raise Reached
        self._due = samples + EVERY
        # The time of the evaluation is taken out by moving the beginning.
        self._begun += time.perf_counter() - now
        self._begun_cpu += time.process_time() - cpu


def evaluate(act: Callable[[Any], Any], seed: int) -> float:
    """Mean return of 100 episodes of Gymnasium's CartPole-v1."""
    import numpy as np
    from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv

    env = CartPoleVectorEnv(EPISODES)
    obs, _ = env.reset(seed=seed)
    alive, returns = np.ones(EPISODES, bool), np.zeros(EPISODES)
    while alive.any():
        obs, reward, terminated, truncated, _ = env.step(act(np.asarray(obs, np.float32)))
        returns += np.where(alive, reward, 0)
        # Worlds restart by themselves, and rewards after that do not count.
        alive &= ~(terminated | truncated)
    return float(returns.mean())


def stable_baselines3(seed: int, is_sampled: bool, _: str) -> dict[str, Any]:
    """Train with Stable-Baselines3."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    class Hook(BaseCallback):
        def _on_rollout_start(self) -> None:
            watch.look(self.num_timesteps)

        def _on_step(self) -> bool:
            return True

    watch = Watch(lambda obs: model.predict(obs, deterministic=not is_sampled)[0])
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", 8, seed=seed),
        n_steps=32,
        batch_size=256,
        n_epochs=20,
        gamma=0.98,
        gae_lambda=0.8,
        ent_coef=0.0,
        learning_rate=lambda remaining: 1e-3 * remaining,
        clip_range=lambda remaining: 0.2 * remaining,
        seed=seed,
        device="cpu",
    )
    try:
        model.learn(BUDGETS["stable-baselines3"], callback=Hook())
        watch.look(model.num_timesteps, is_last=True)
    except Reached:
        pass
    return watch.result


def cleanrl(seed: int, is_sampled: bool, script: str) -> dict[str, Any]:
    """Run CleanRL's ppo.py; its SummaryWriter tells when an iteration ends, and nothing else."""
    import torch
    import torch.utils.tensorboard as tensorboard

    class Writer(tensorboard.SummaryWriter):
        watch: Watch

        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            # The script is run as it is published, so its agent is found among its globals.
            variables = inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]

            def act(obs: Any) -> Any:
                with torch.no_grad():
                    logits = variables["agent"].actor(torch.as_tensor(obs))
                if not is_sampled:
                    return logits.argmax(1).numpy()
                return torch.distributions.Categorical(logits=logits).sample().numpy()

            Writer.watch = Watch(act)

        def add_scalar(self, tag: str, value: Any, step: int) -> None:
            super().add_scalar(tag, value, step)
            if tag == "charts/SPS":
                self.watch.look(step)

    tensorboard.SummaryWriter = Writer
    sys.argv = [script, f"--seed={seed}", "--no-cuda"]
    try:
        runpy.run_path(script, run_name="__main__")
    except Reached:
        pass
    return Writer.watch.result


def ours(seed: int, options: str = "") -> dict[str, Any]:
    """Train with `python -m gpu_envs.train` and read its learning curve."""
    from gpu_envs.train import curves

    with tempfile.TemporaryDirectory() as folder:
        words = ["--seed", str(seed), "--device", "cpu", "--out", folder, *options.split()]
        _run([sys.executable, "-m", "gpu_envs.train", "CartPole-v0", *words], folder)
        rows = curves.read(Path(folder, "curve.csv"))
    rows = [row for row in rows if not math.isnan(row.get(curves.EVALUATION, math.nan))]
    reached = next((row for row in rows if row[curves.EVALUATION] >= GOAL), None)
    shown = reached or rows[-1]
    return {
        "score": shown[curves.EVALUATION],
        "samples": int(shown["steps"]),
        # As for the others, without the evaluations.
        "seconds": shown["seconds"] - shown["time/evaluation"] if reached else None,
        "evaluation": shown["time/evaluation"],
        "cpu_seconds": None,
    }


WORKERS = {"stable-baselines3": stable_baselines3, "cleanrl": cleanrl}


def _run(command: Sequence[str], folder: str) -> str:
    # Each run in a process of its own: neither imports nor caches of another count.
    path = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)}:\n{done.stderr}")
    return done.stdout


def _measure(name: str, python: str, seed: int, *arguments: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        words = [__file__, "--worker", name, "--seeds", str(seed), *arguments]
        result: dict[str, Any] = json.loads(_run([python, *words], folder).splitlines()[-1])
    return result


def _subjects(options: argparse.Namespace) -> dict[str, Callable[[int], dict[str, Any]]]:
    script = str(options.cleanrl.resolve() / "cleanrl" / "ppo.py") if options.cleanrl else ""
    flags = ["--sampled"] if options.sampled else []
    own = "--sampled-evaluation" if options.sampled else ""
    here, there = sys.executable, options.cleanrl_python
    subjects: dict[str, Callable[[int], dict[str, Any]]] = {
        "stable-baselines3": lambda seed: _measure("stable-baselines3", here, seed, *flags),
        "cleanrl": lambda seed: _measure("cleanrl", there, seed, "--script", script, *flags),
        "gpu_envs": lambda seed: ours(seed, f"{DEFAULT} {own}"),
        "gpu_envs, settings of the Zoo": lambda seed: ours(seed, f"{IDENTICAL} {own}"),
    }
    if not script:
        del subjects["cleanrl"]
    if options.only:
        subjects = {name: call for name, call in subjects.items() if name in options.only}
    return subjects


def _compare(options: argparse.Namespace) -> None:
    from gpu_envs.benchmark import machine
    from gpu_envs.benchmark.report import Bar, Report, Table

    own = {str(options.cleanrl): "CLEANRL", options.cleanrl_python: "PYTHON"}
    words = [own.get(word, word) for word in sys.argv[1:]]  # paths of this machine tell nobody
    command = " ".join(["scripts/studies/compare_trainers.py", *words])
    name = "CartPole-trainers-sampled" if options.sampled else "CartPole-trainers"
    report = Report(name, machine.describe("cpu"), command)
    results: dict[str, list[dict[str, Any]]] = {}
    for name, call in _subjects(options).items():
        results[name] = [call(seed) for seed in options.seeds]
        print(name, results[name], flush=True)
    table = Table(
        f"until a mean of {GOAL:g} over {EPISODES} episodes",
        ["trainer", "seed", "seconds", "CPU seconds", "evaluation", "samples", "score"],
    )
    for name, runs in results.items():
        for seed, run in zip(options.seeds, runs, strict=True):
            times = [_number(run["seconds"]), _number(run["cpu_seconds"])]
            times.append(_number(run["evaluation"]))
            table.rows.append([name, str(seed), *times, str(run["samples"]), f"{run['score']:.1f}"])
    table.note = "Seconds of training; those of the evaluations stand beside and are not counted."
    report.show(table)
    if not options.cleanrl:
        report.say("CleanRL was left out: --cleanrl names no checkout of it.")
    report.results["trainers"] = results
    own = _median(results.get("gpu_envs", []))
    for peer in WORKERS:
        theirs = _median(results.get(peer, []))
        ratio = theirs / own if own and theirs else None
        report.judge(Bar(f"{peer}'s time / ours, medians", FACTOR, ratio, " times"))
    for path in report.write(options.out):
        print(path)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _median(runs: list[dict[str, Any]]) -> float | None:
    times = [run["seconds"] for run in runs]
    return statistics.median(times) if times and None not in times else None


def main() -> None:
    """Compare, or be one of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--cleanrl", type=Path, help="folder of a checkout of CleanRL")
    parser.add_argument(
        "--cleanrl-python", default=sys.executable, help="interpreter with CleanRL's pins"
    )
    parser.add_argument("--sampled", action="store_true", help="evaluate with sampled actions")
    parser.add_argument("--only", nargs="+", help="names of the trainers to run; default all")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    parser.add_argument("--script", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker, seed = WORKERS[options.worker], options.seeds[0]
        print(json.dumps(worker(seed, options.sampled, options.script)))
    else:
        _compare(options)


if __name__ == "__main__":
    main()
