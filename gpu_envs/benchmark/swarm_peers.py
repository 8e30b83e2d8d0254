"""The authors' own programs for tag and flocking, one world of each, stepped with random actions.

WarpDrive's classes are NumPy, floxs is compiled by jax. All are optional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_envs.benchmark.subjects import PREPARED, Subject

Require = Callable[[str], Any]


def warpdrive_grid(require: Require, taggers: int) -> Subject:
    """Play WarpDrive's TagGridWorld with full observations."""
    module = require("example_envs.tag_gridworld.tag_gridworld")
    env = module.TagGridWorld(num_taggers=taggers, grid_length=100, episode_length=100, seed=1)
    random = np.random.default_rng(0)
    choices = random.integers(0, 5, (PREPARED, taggers + 1))
    return _by_agent(env, [dict(enumerate(row.tolist())) for row in choices])


def warpdrive_square(require: Require, taggers: int, runners: int) -> Subject:
    """Play WarpDrive's TagContinuous with full observations."""
    module = require("example_envs.tag_continuous.tag_continuous")
    env = module.TagContinuous(
        num_taggers=taggers, num_runners=runners, grid_length=20.0, episode_length=100, seed=1
    )
    random = np.random.default_rng(0)
    choices = random.integers(0, 11, (PREPARED, taggers + runners, 2))
    return _by_agent(env, [dict(enumerate(map(tuple, rows.tolist()))) for rows in choices])


def _by_agent(env: Any, actions: list[dict[int, Any]]) -> Subject:
    env.reset()

    def step(i: int) -> None:
        if env.step(actions[i % PREPARED])[2]["__all__"]:
            env.reset()

    return Subject(step, 1, lambda: None)


def floxs_flock(require: Require, agents: int) -> Subject:
    """Step floxs's flock, compiled for the CPU."""
    jax = require("jax")
    flock = require("floxs.flock")
    generator = require("floxs.flock.generator").RandomGenerator(num_boids=agents)
    env = flock.Flock(generator=generator)
    random = np.random.default_rng(0)
    actions = [
        jax.numpy.asarray(random.uniform(-1, 1, (agents, 2)), dtype="float32")
        for _ in range(PREPARED)
    ]
    advance = jax.jit(env.step)
    held = [jax.jit(env.reset)(jax.random.PRNGKey(0))[0]]

    def step(i: int) -> None:
        held[0], timestep = advance(held[0], actions[i % PREPARED])
        jax.block_until_ready(timestep)

    step(0)
    return Subject(step, 1, lambda: None)
