#!/usr/bin/env python3
"""Measures steps inside `jax.jit`, beside the same steps in Python and beside gymnax.

Usage: scripts/studies/jit_speed.py [--out DIR]

A `scan` over steps of CartPole that keeps no observation, beside `Simulator.step` with `out=` and
beside a loop of `VectorEnv.step`; they take turns. Then PPO in one jit
(examples/ppo_in_one_jit.py) to a mean return of 475, beside the same PPO on gymnax's CartPole-v1,
whose worlds are arrays of JAX; where gymnax is not installed, its row is missing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import gpu_envs  # noqa: E402
from examples import ppo_in_one_jit as ppo  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Bar, Report, Table, si  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

NAME, MANY, STEPS = "CartPole-v0", 4096, {1: 20_000, 64: 5_000, 4096: 500}
OVER_OUT, OVER_PYTHON = 0.8, 3.0  # bars: of step(out=) with many worlds, of a loop with one
WORLDS, MOST, GOAL, SEEDS = 64, 500, 475.0, (1, 2, 3)
Call = Callable[[], object]


def calls(worlds: int) -> dict[str, Call]:
    """Return what runs the steps of a measurement, by name."""
    steps = STEPS[worlds]
    env, plain = (gpu_envs.make_vec(NAME, worlds, device="cpu", threads=1) for _ in range(2))
    env.reset(seed=1)
    plain.reset(seed=1)
    handle, _, step = env.xla()
    actions = jnp.zeros(worlds, jnp.int32)
    run = jax.jit(
        lambda handle: jax.lax.scan(
            lambda h, _: (step(h, actions)[0], None), handle, None, length=steps
        )[0],
        donate_argnums=0,
    )
    state = [run(handle)]
    simulator, own = plain.simulator, np.zeros((worlds, 1), np.int32)
    first = simulator.step(own)
    out = {name: array for name, array in first._asdict().items() if array is not None}
    rows = own.ravel()

    def jitted() -> None:
        state[0] = jax.block_until_ready(run(state[0]))

    def into() -> None:
        for _ in range(steps):
            simulator.step(own, out=out)

    def loop() -> None:
        for _ in range(steps):
            plain.step(rows)

    return {"jit": jitted, "out=": into, "Python": loop}


def rates(report: Report, repeats: int) -> None:
    """Steps per second of each way."""
    table = Table(
        "Steps of worlds per second, one thread",
        ["worlds", "scan in jit", "Simulator.step, out=", "VectorEnv.step"],
        note=f"Medians of {repeats} turns.",
    )
    found: dict[int, dict[str, float]] = {}
    for worlds, steps in STEPS.items():
        ways = calls(worlds)
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(repeats + 1):
            for name, call in ways.items():
                start = time.perf_counter()
                call()
                if turn:  # the first one warms up
                    spent[name].append(time.perf_counter() - start)
        own = {name: worlds * steps / statistics.median(s) for name, s in spent.items()}
        found[worlds] = own
        table.rows.append([f"{worlds:,}", *(si(rate) for rate in own.values())])
    report.show(table)
    report.results["rates"] = {str(worlds): own for worlds, own in found.items()}
    ratio = found[MANY]["jit"] / found[MANY]["out="]
    report.judge(Bar(f"scan, over step(out=) with {MANY:,} worlds", OVER_OUT, ratio, ""))
    ratio = found[1]["jit"] / found[1]["Python"]
    report.judge(Bar("scan, over a loop in Python with one world", OVER_PYTHON, ratio, ""))


# ---- PPO


def of_ours(seed: int) -> tuple[Any, Any, ppo.Step]:
    """Return a handle, the first observations and the step of our CartPole."""
    env = gpu_envs.make_vec(NAME, WORLDS, device="cpu", threads=1)
    obs, _ = env.reset(seed=seed)
    handle, _, step = env.xla()
    return handle, jnp.asarray(obs), step


def of_gymnax(seed: int) -> tuple[Any, Any, ppo.Step]:
    """Return those of gymnax's CartPole, whose episodes end for good at 500 steps."""
    env, parameters = importlib.import_module("gymnax").make("CartPole-v1")
    keys = jax.random.split(jax.random.key(seed), WORLDS)
    obs, state = jax.vmap(env.reset, in_axes=(0, None))(keys, parameters)
    move = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def step(handle: Any, actions: Any) -> Any:
        key, state, sums = handle
        key, own = jax.random.split(key)
        keys = jax.random.split(own, WORLDS)
        after, state, reward, done, *late, _ = move(keys, state, actions, parameters)
        for truncated in late:  # from version 1.0 on
            done = done | truncated
        sums = sums + reward
        infos = {"_episode_stats": done, "episode_stats": {"r": sums}, "final_obs": after}
        never = jnp.zeros_like(done)
        return (key, state, jnp.where(done, 0.0, sums)), (after, reward, done, never, infos)

    return (jax.random.key(seed + 100), state, jnp.zeros(WORLDS)), obs, step


def trainings(report: Report) -> None:
    """PPO to the goal, on both."""
    ways = {"gpu_envs": of_ours}
    if importlib.util.find_spec("gymnax") is not None:
        ways["gymnax"] = of_gymnax
    table = Table(
        "PPO in one jit on CartPole",
        ["worlds of", "seed", "mean return", "steps", "seconds", "steps/s"],
        note=f"{WORLDS} worlds, until the mean return is {GOAL:g}; without compilation.",
    )
    for seed in SEEDS:
        for name, made in ways.items():
            handle, obs, step = made(seed)
            settings = ppo.Settings()
            run = ppo.begun(handle, obs, 2, seed, settings)
            train = ppo.trained.lower(run, step, settings, MOST, GOAL).compile()
            start = time.perf_counter()
            run = jax.block_until_ready(train(run))
            seconds = time.perf_counter() - start
            steps = int(run.updates) * settings.rollout * WORLDS
            score = float(run.score / run.ended)
            cells = [f"{score:.0f}", f"{steps:,}", f"{seconds:.2f}", si(steps / seconds)]
            table.rows.append([name, str(seed), *cells])
            key = f"{name}, seed {seed}"
            report.results[key] = {"score": score, "steps": steps, "seconds": seconds}
    report.show(table)


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7, help="turns (default 7)")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args()
    command = " ".join(["scripts/studies/jit_speed.py", *sys.argv[1:]])
    report = Report("CartPole-jit", machine.describe("cpu"), command)
    rates(report, given.repeats)
    trainings(report)
    if given.out:
        for path in report.write(given.out):
            print(path)
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
