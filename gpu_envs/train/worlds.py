"""The worlds of a run: those it learns in, and those it is evaluated in."""

from __future__ import annotations

import os
from typing import Any

from gpu_envs import VectorEnv
from gpu_envs.layout import OUTPUTS
from gpu_envs.simulator import Simulator
from gpu_envs.train.config import Config

FIRST_WORLD = 2**31  # worlds that training never has
# Steps of an episode where the environment has no limit: more than one has that ends by itself.
_LIMIT = 100_000


def cores() -> int:
    """Return how many cores this process has, shared with the other ranks on its machine."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    return max(1, len(os.sched_getaffinity(0)) // ranks)


def for_training(config: Config, device: str, worlds: int, first: int = 0) -> VectorEnv:
    """Return the worlds of a rollout, which write what the trainer reads and nothing else."""
    parameters: dict[str, Any] = dict(config.parameters)
    one = Simulator(config.env, 1, device="cpu", **parameters)
    unused = {"true_objective"} | (set() if config.reward_weights else {"reward_parts"})
    if not config.critic_state:
        unused.add("state")
    names = [n for n in OUTPUTS if one.layout.of(n) is not None and n not in unused]
    if "state" in names:  # a critic that sees it values what an episode cut short has come to
        names.append("final_state")
    one.close()
    return VectorEnv(
        config.env,
        worlds,
        first_world=first,
        outputs=names,
        final_rows="keep",  # where no episode ended, nobody looks
        threads=cores(),
        device=device,
        arrays="torch",
        **parameters,
    )


def for_evaluation(config: Config, device: str, worlds: int, first: int = 0) -> VectorEnv:
    """Return the worlds in which a run is evaluated, from number `first` among them."""
    keywords: dict[str, Any] = {**config.parameters, **config.evaluation_parameters}
    keywords |= {"device": device, "arrays": "torch", "reuse": True, "threads": cores()}
    keywords["first_world"] = FIRST_WORLD + first
    env = VectorEnv(config.env, worlds, **keywords)
    if env.simulator.max_episode_steps:
        return env
    env.close()
    return VectorEnv(config.env, worlds, max_episode_steps=_LIMIT, **keywords)
