#!/usr/bin/env python3
"""Measures what one step of a rollout costs besides kernels and torch.

Usage: scripts/studies/trainer_overhead.py ID

Python's share does not depend on the number of worlds, so it is taken where kernels cost next to
nothing: with one world, as a step of the trainer less the same operations recorded by
torch.jit.trace and replayed without Python: the network, and a draw made of torch's operations. The
rest of a step with many worlds is kernels.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import torch

from gpu_envs import VectorEnv
from gpu_envs.policies.noise import ACTIONS, Noise
from gpu_envs.terminal import broken_pipes
from gpu_envs.train.config import make
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks

LIMIT = 30.0  # microseconds


def fastest(function: Callable[[], object], calls: int, rounds: int = 15) -> float:
    """Return the microseconds of a call in the best of some rounds, for the machine is shared."""
    function()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return min(times)


def trainer_of(name: str, worlds: int) -> Trainer:
    """Return a trainer that is ready to play."""
    config = make(name, num_envs=worlds, hidden="64,64", memory=0)
    env = VectorEnv(name, worlds, device="cpu", arrays="torch", threads=1)
    trainer = Trainer(config, env, Ranks("cpu"), print)
    trainer.start()
    return trainer


def torch_step(trainer: Trainer) -> float:
    """Return the microseconds of one decision without Python."""
    learner, rollout = trainer.learners[0], trainer.rollout
    noise = torch.rand((rollout.rows, trainer.actions.draws))
    mask = [] if rollout.mask is None else [rollout.mask[0].clone()]

    def decide(obs: torch.Tensor, noise: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        outputs, value, _ = learner.policy(obs, *given)
        action = learner.actions.sample(outputs, noise)
        log_prob = learner.actions.log_prob(outputs, action)
        for array, answer in zip(
            (rollout.action[0], rollout.log_prob[0], rollout.value[0]),
            (action, log_prob, learner.policy.real(value)),
            strict=True,
        ):
            array.copy_(answer)
        return action

    obs = rollout.obs[0].clone()
    learner.policy.requires_grad_(False)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._C._jit_set_texpr_fuser_enabled(False)  # it would replace torch's own kernels
        traced = torch.jit.trace(decide, (obs, noise, *mask), check_trace=False)
        decision = fastest(lambda: traced(obs, noise, *mask), 200)
        # The noise of a rollout is drawn at once, in operations too large for Python to matter.
        shape = (trainer.clock, rollout.length, 0, rollout.rows, trainer.actions.draws)
        source = Noise(1, ACTIONS, rollout.device)
        drawing = fastest(lambda: source.uniform(*shape), 5)
        return decision + drawing / rollout.length


def main() -> None:
    """Print the parts of a step, and Python's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("env", metavar="ID", help="of the environment")
    parser.add_argument("--num-envs", type=int, default=1024, help="worlds (default 1024)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    trainer, single = trainer_of(given.env, given.num_envs), trainer_of(given.env, 1)
    length = trainer.rollout.length
    parts: list[tuple[float, ...]] = []
    for _ in range(3):
        whole = fastest(trainer._play_steps, 1, 20) / length
        small = fastest(single._play_steps, 1, 20) / length
        parts.append((whole, small, small - torch_step(single)))
    whole, small, python = map(statistics.median, zip(*parts, strict=True))
    print(f"{given.env}, one thread, microseconds of a rollout step:")
    print(f"  all, {given.num_envs} worlds  {whole:8.1f}")
    print(f"  all, 1 world      {small:8.1f}")
    print(f"  Python            {python:8.1f}  (limit {LIMIT:g})")


if __name__ == "__main__":
    broken_pipes.end_quietly()
    main()
