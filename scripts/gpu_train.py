"""The trainer's step of scripts/gpu_check.py: graphs against plain calls, speed, CartPole."""

from __future__ import annotations

import time
from typing import Any

from gpu_steps import Result, si

# Worlds by which each environment fills a GPU; the other options are the environment's own.
_CARTPOLE = {"num_envs": 16_384, "rollout": 32, "minibatch": 32_768, "epochs": 3}
_CARTPOLE |= {"learning_rate": 3e-3}
LARGE: dict[str, dict[str, Any]] = {
    "CartPole-v0": _CARTPOLE,
    "CartPoleContinuous-v0": _CARTPOLE,
    "Hanabi-v0": {"num_envs": 4_096, "rollout": 32, "minibatch": 32_768},
    "Overcooked-v0": {"num_envs": 4_096, "rollout": 32, "minibatch": 65_536},
}
# Captured training is compared with plain calls for each.
_KINDS: list[tuple[str, dict[str, Any]]] = [
    ("CartPole-v0", {}),
    ("CartPole-v0", {"memory": 32}),
    ("CartPole-v0", {"algorithm": "a2c"}),
    ("CartPole-v0", {"optimizer": "lamb"}),
    ("CartPoleContinuous-v0", {}),
    ("Hanabi-v0", {}),
    ("Overcooked-v0", {"policies": "agent", "past_worlds": 0.5, "past_every": 2}),
]
GOAL = 20e6  # steps/s of CartPole, end to end, with the options that reach 475
_COMPARED, _TIMED, _PATIENCE = 8, 20, 60.0  # updates, updates, seconds


def _trainer(name: str, device: str, is_small: bool, **choices: Any) -> Any:
    from gpu_envs.train import worlds
    from gpu_envs.train.config import make
    from gpu_envs.train.ppo import Trainer
    from gpu_envs.train.ranks import Ranks

    # The schedules of a run are for its own length; here it has none.
    large = {**LARGE[name], "schedule": "constant", **choices}
    if is_small:
        large |= {"num_envs": 64, "minibatch": 512}
    config = make(name, device=device, **large)
    trainer = Trainer(
        config, worlds.for_training(config, device, config.num_envs), Ranks("cpu"), print
    )
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
    from gpu_envs.train import evaluate, worlds

    config = trainer.config
    test = worlds.for_evaluation(config, str(trainer.device), 100)
    of_row = evaluate.rows_of([0], 100, str(trainer.device))
    begin, score = time.perf_counter(), 0.0
    while score < 475 and time.perf_counter() - begin < patience:
        trainer.iterate()
        if trainer.updates % 4 == 0:
            policies = [trainer.learners[0].policy]
            score = float(evaluate.play(test, policies, of_row, seed=trainer.updates)[0].mean())
    return score, time.perf_counter() - begin, trainer.steps


def _unequal(device: str, dry_run: bool) -> list[str]:
    """Return where captured training does not end with the weights of plain calls."""
    import torch

    problems = []
    for name, choices in _KINDS[:1] if dry_run else _KINDS:
        pair = [_trainer(name, device, True, graphs=on, **choices) for on in (True, False)]
        for _ in range(_COMPARED):
            for trainer in pair:
                trainer.iterate()
        for mine, plain in zip(*(x.learners[0].parameters for x in pair), strict=True):
            if not torch.allclose(mine, plain, rtol=1e-3, atol=1e-4):
                gap = float((mine - plain).abs().max())
                problems.append(f"{name} {choices}: captured weights differ by {gap}")
                break
        learner = pair[0].learners[0]
        parts = {"rollout": pair[0]._play, "gradient": learner.gradient, "step": learner.apply}
        missing = [part for part, captured in parts.items() if not captured.graphs]
        if missing and not dry_run:
            problems.append(f"{name} {choices}: not captured: {', '.join(missing)}")
    return problems


def train(dry_run: bool) -> Result:
    """Compare captured training with plain calls, then measure it."""
    device = "cpu" if dry_run else "cuda"
    names = ["CartPole-v0"] if dry_run else list(LARGE)
    problems = _unequal(device, dry_run)
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
