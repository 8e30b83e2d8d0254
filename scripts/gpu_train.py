"""The trainer's step of scripts/gpu_check.py: graphs against plain calls, speed, to a goal."""

from __future__ import annotations

import time
from typing import Any

from gpu_steps import Result

from gpu_envs import measures, registration
from gpu_envs.benchmark.report import Bar, Report, si

_COMPARED, _TIMED, _PATIENCE = 8, 20, 60.0  # updates, updates, seconds


def trained() -> dict[str, dict[str, Any]]:
    """What the data of environments says of training on a GPU, where it says how to fill one."""
    known = {name: measures.of(name)["training"] for name in registration.environments()}
    return {name: training for name, training in known.items() if "device" in training}


def _trainer(name: str, device: str, is_small: bool, **choices: Any) -> Any:
    from gpu_envs.train import worlds
    from gpu_envs.train.config import make
    from gpu_envs.train.ppo import Trainer
    from gpu_envs.train.ranks import Ranks

    # The schedules of a run are for its own length; here it has none.
    large = {**trained()[name]["device"], "schedule": "constant", **choices}
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


def _unequal(device: str, dry_run: bool) -> list[str]:
    """Return where captured training does not end with the weights of plain calls."""
    import torch

    problems = []
    kinds = [(name, choices) for name, t in trained().items() for choices in t.get("compared", [])]
    for name, choices in kinds[:1] if dry_run else kinds:
        pair = [_trainer(name, device, True, graphs=on, **choices) for on in (True, False)]
        for _ in range(_COMPARED):
            for trainer in pair:
                trainer.iterate()
        for mine, plain in zip(*(x.learners[0].parameters for x in pair), strict=True):
            # Not equal to the bit: captured kernels of a library may add up in another order.
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
    device, known = "cpu" if dry_run else "cuda", trained()
    problems = _unequal(device, dry_run)
    detail = problems[0] if problems else "captured training equals plain calls"
    result, rows = Result("fail" if problems else "pass", detail), []
    for name in list(known)[:1] if dry_run else known:
        cells = []
        for on in (True, False):
            trainer = _trainer(name, device, dry_run, graphs=on)
            rate, simulated = _rate(trainer, 1 if dry_run else _TIMED)
            cells += [si(rate), si(simulated)] if on else [si(rate)]
            if on:
                result.data[name] = {"steps_per_second": rate}
            trainer.env.close()
        rows.append([name, f"{known[name]['device']['num_envs']:,}", *cells])
        if "least" in known[name]:
            _reach(result, name, device, dry_run)
    header = ["", "worlds", "PPO, steps/s", "simulator alone", "PPO without graphs"]
    result.table("Training end to end", header, rows)
    return result


def _reach(result: Result, name: str, device: str, dry_run: bool) -> None:
    """Judge the promised rate, and train until the goal of the environment."""
    report, rate = Report(name, {}, ""), result.data[name]["steps_per_second"]
    least = trained()[name]["least"]
    report.judge(Bar(f"{name}, PPO end to end: steps/s", least, rate, ""))
    goal = registration.find(name)["reward_threshold"]
    trainer = _trainer(name, device, dry_run)
    score, seconds, taken = _until(goal, trainer, 1.0 if dry_run else _PATIENCE)
    report.results |= {"steps_per_second": rate, "score": score, "seconds": seconds, "steps": taken}
    result.take(report)
    result.detail += f"; {name} {score:.0f} after {seconds:.1f} s and {si(taken)} steps"
