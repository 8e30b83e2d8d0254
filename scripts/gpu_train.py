"""The trainer's step of scripts/gpu_check.py: graphs against plain calls, speed, CartPole."""

from __future__ import annotations

import time
from typing import Any

from gpu_steps import Result, si

# Worlds by which each environment fills a GPU; the other options are the environment's own.
LARGE: dict[str, dict[str, Any]] = {
    "CartPole-v0": {"num_envs": 16_384, "rollout": 32, "minibatch": 65_536, "epochs": 3},
    "CartPoleContinuous-v0": {"num_envs": 16_384, "rollout": 32, "minibatch": 65_536, "epochs": 3},
    "Hanabi-v0": {"num_envs": 4_096, "rollout": 32, "minibatch": 32_768},
    "Overcooked-v0": {"num_envs": 4_096, "rollout": 32, "minibatch": 65_536},
}
GOAL = 20e6  # steps/s of CartPole, end to end, with the options that reach 475
_COMPARED, _TIMED, _PATIENCE = 8, 20, 60.0  # updates, updates, seconds


def _trainer(name: str, device: str, is_small: bool, **choices: Any) -> Any:
    from gpu_envs import VectorEnv
    from gpu_envs.train.config import make
    from gpu_envs.train.ppo import Trainer
    from gpu_envs.train.ranks import Ranks

    large = {**LARGE[name], **choices}
    if is_small:
        large |= {"num_envs": 64, "minibatch": 512}
    config = make(name, device=device, **large)
    env = VectorEnv(name, config.num_envs, device=device, arrays="torch")
    trainer = Trainer(config, env, Ranks("cpu"), print)
    trainer.start()
    return trainer


def _rate(trainer: Any, updates: int) -> tuple[float, float]:
    """Return steps per second of whole updates, and of the simulator alone."""
    for _ in range(updates):
        trainer.iterate()
    begin, steps = trainer._now(), trainer.steps
    for _ in range(updates):
        trainer.iterate()
    rate = (trainer.steps - steps) / (trainer._now() - begin)
    rollout, step = trainer.rollout, trainer.env.simulator.step_arrays
    action = trainer.actions.for_env(rollout.answers[0][0])
    begin = trainer._now()
    for _ in range(updates):
        for slot in rollout.slots:
            step(action, True, slot)
    return rate, updates * trainer.steps_per_update / (trainer._now() - begin)


def _until_475(trainer: Any, patience: float) -> tuple[float, float, int]:
    """Return the score, the seconds and the steps when 100 episodes first reach 475 on average."""
    from gpu_envs.train import evaluate

    config = trainer.config
    test = evaluate.test_env(config, str(trainer.device), 100)
    of_row = evaluate.rows_of([0], 100, str(trainer.device))
    begin, score = time.perf_counter(), 0.0
    while score < 475 and time.perf_counter() - begin < patience:
        trainer.iterate()
        if trainer.updates % 4 == 0:
            policies = [trainer.learners[0].policy]
            score = float(evaluate.play(test, policies, of_row, seed=trainer.updates)[0].mean())
    return score, time.perf_counter() - begin, trainer.steps


def train(dry_run: bool) -> Result:
    """Compare captured training with plain calls, then measure it."""
    import torch

    device, problems = "cpu" if dry_run else "cuda", []
    names = ["CartPole-v0"] if dry_run else list(LARGE)
    for name in names:
        pair = [_trainer(name, device, True, graphs=on) for on in (True, False)]
        for _ in range(_COMPARED):
            for trainer in pair:
                trainer.iterate()
        for mine, plain in zip(*(x.learners[0].parameters for x in pair), strict=True):
            if not torch.allclose(mine, plain, rtol=1e-3, atol=1e-4):
                problems.append(f"{name}: captured weights differ by {(mine - plain).abs().max()}")
                break
        if not dry_run and not pair[0]._play.graphs:
            problems.append(f"{name}: the rollout was not captured")
    detail = problems[0] if problems else "captured training equals plain calls"
    result = Result("fail" if problems else "pass", detail)
    rows = []
    for name in names:
        cells = []
        for on in (True, False):
            trainer = _trainer(name, device, dry_run, graphs=on)
            rate, simulated = _rate(trainer, 1 if dry_run else _TIMED)
            cells += [si(rate), si(simulated)] if on else [si(rate)]
            if on:
                result.data[name] = rate
                if name == "CartPole-v0":
                    result.bar("CartPole-v0, PPO end to end: steps/s", GOAL, rate)
            trainer.env.close()
        rows.append([name, f"{LARGE[name]['num_envs']:,}", *cells])
    header = ["", "worlds", "PPO, steps/s", "simulator alone", "PPO without graphs"]
    result.table("Training end to end", header, rows)
    score, seconds, steps = _until_475(
        _trainer("CartPole-v0", device, dry_run), 1.0 if dry_run else _PATIENCE
    )
    result.data["cartpole"] = {"score": score, "seconds": seconds, "steps": steps}
    result.detail += f"; CartPole {score:.0f} after {seconds:.1f} s and {si(steps)} steps"
    return result
