"""The trainer's step of scripts/gpu/check.py: graphs against plain calls, speed, to a goal."""

from __future__ import annotations

import time
from typing import Any

from gpu_envs.benchmark.report import Bar, si
from gpu_envs.known import measures, registration
from scripts.gpu import native
from scripts.gpu.evidence import Evidence
from scripts.gpu.speed import Rows
from scripts.gpu.steps import status_of

_COMPARED, _TIMED, _PATIENCE = 8, 20, 60.0  # updates, updates, seconds


def trained() -> dict[str, dict[str, Any]]:
    """What the data of environments says of training on a GPU, where it says how to fill one."""
    known = {name: measures.measures_of(name)["training"] for name in registration.shipped()}
    return {name: training for name, training in known.items() if "device" in training}


def _trainer(name: str, device: str, is_small: bool, **choices: Any) -> Any:
    from gpu_envs.train import worlds
    from gpu_envs.train.config import make
    from gpu_envs.train.ppo import Trainer
    from gpu_envs.train.ranks import Ranks

    # The schedules of a run are for its own length; here it has none.
    large = {**trained()[name]["device"], "schedule": "constant", **choices}
    if is_small:
        large |= {"num_envs": 16, "rollout": 16, "minibatch": 128}
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
    step = trainer.stepper.step
    begin = trainer._now()
    for _ in range(updates):
        for t in range(trainer.rollout.length):
            step(t)
    return rate, updates * trainer.steps_per_update / (trainer._now() - begin)


def _until(goal: float, trainer: Any, patience: float) -> tuple[float, float, int]:
    """Return the score, the seconds and the steps when 100 episodes first reach it on average."""
    from gpu_envs.train import evaluate, worlds

    config = trainer.config
    test = worlds.for_evaluation(config, str(trainer.device), 100)
    of_row = evaluate.rows_of([0], 100, str(trainer.device))
    begin, score = time.perf_counter(), 0.0
    while score < goal and time.perf_counter() - begin < patience:
        trainer.iterate()
        if trainer.updates % 4 == 0:
            policies = [trainer.learners[0].policy]
            score = float(evaluate.play(test, policies, of_row, seed=trainer.updates)[0].mean())
    return score, time.perf_counter() - begin, trainer.steps


def _unequal(name: str, device: str, updates: int, choices: dict[str, Any]) -> list[str]:
    """Return where captured training does not end with the weights of plain calls."""
    import torch

    problems = []
    pair = [_trainer(name, device, True, graphs=on, **choices) for on in (True, False)]
    for _ in range(updates):
        for trainer in pair:
            trainer.iterate()
    for mine, plain in zip(*(x.learners[0].parameters for x in pair), strict=True):
        # Not equal to the bit: captured kernels of a library may add up in another order.
        if not torch.allclose(mine, plain, rtol=1e-3, atol=1e-4):
            problems.append(f"captured weights differ by {float((mine - plain).abs().max())}")
            break
    learner = pair[0].learners[0]
    parts = {"rollout": pair[0]._play, "gradient": learner.gradient, "step": learner.apply}
    missing = [part for part, captured in parts.items() if not captured.graphs]
    if missing and device != "cpu":
        problems.append(f"not captured: {', '.join(missing)}")
    return problems


def train(found: Evidence, name: str, dry_run: bool) -> None:
    """Compare captured training with plain calls, then measure it."""
    missing = [p for p in ("torch", "gymnasium", "pettingzoo") if not native.has(p)]
    if missing:
        found.row(status="skip", detail=f"not installed: {', '.join(missing)}")
        return
    device, training = "cpu" if dry_run else "cuda", trained()[name]
    compared = training.get("compared", [])
    updates = 2 if dry_run else _COMPARED
    for choices in compared[:1] if dry_run else compared:
        cells = {"captured against plain": choices or "as by default", "updates": updates}
        found.row(cells, **status_of(_unequal(name, device, updates, choices)))
    rates = []
    for on in (True, False):
        trainer = _trainer(name, device, dry_run, graphs=on)
        rate, simulated = _rate(trainer, 1 if dry_run else _TIMED)
        trainer.env.close()
        rates.append(rate)
        cells = {"worlds": f"{training['device']['num_envs']:,}", "graphs": "yes" if on else "no"}
        found.row({**cells, "PPO, steps/s": si(rate), "simulator alone": si(simulated)})
    if "least" in training:
        measured = None if dry_run else rates[0]
        bar = Bar(f"{name}, PPO end to end: steps/s", training["least"], measured, "")
        Rows(found, name).judge(bar)
        _reach(found, name, device, dry_run)


def _reach(found: Evidence, name: str, device: str, dry_run: bool) -> None:
    """Train until the goal of the environment."""
    goal = registration.find(name)["reward_threshold"]
    trainer = _trainer(name, device, dry_run)
    score, seconds, taken = _until(goal, trainer, 0.1 if dry_run else _PATIENCE)
    cells = {"goal": goal, "score": f"{score:.0f}", "after": f"{seconds:.1f} s"}
    found.row({**cells, "steps": si(taken)})
