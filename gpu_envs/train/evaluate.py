"""Evaluation: the episodes that policies play, and their returns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_envs.policies import agent_kinds
from gpu_envs.policies.distributions import of_space
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.noise import EVALUATION, Noise
from gpu_envs.policies.teams import Crowd, Crowds, Ruled
from gpu_envs.train.worlds import Worlds

_LOOK = 16  # steps between two checks for the end, which wait for the device


class OutOfTime(Exception):
    """Some episodes were not over within the allowed time."""


def play(
    env: Worlds,
    policies: Sequence[Policy | Ruled],
    of_row: Tensor,
    *,
    seed: int,
    is_sampled: bool = False,
    first: int = 0,
    watch: Callable[[Tensor], None] | None = None,
    until: float = math.inf,
) -> tuple[Tensor, Tensor]:
    """Play one episode in every world.

    Args:
        env: The worlds.
        policies: Who plays.
        of_row: The number of each row's policy; NOBODY acts at random.
        seed: Seed of the worlds, and of the draws.
        is_sampled: Draw actions, instead of taking the likeliest.
        first: Number of the first world, as in `worlds.for_evaluation`.
        watch: Called with the reward of each row, step by step; 0 once its episode is over. Its
            `note`, if it has one, is called with the infos of a step, and the rows whose episode
            ends in it.
        until: Time of `time.perf_counter` after which `OutOfTime` is raised, at the next look.

    Returns:
        Return and length of each row's episode, shaped (worlds, agents).
    """
    choose = crowd(env, policies, of_row, seed, first, is_sampled=is_sampled)
    ruled = [player for player in policies if isinstance(player, Ruled)]
    obs, infos = env.reset(seed=seed)
    returns = torch.zeros(env.num_envs, device=env.device)
    lengths = torch.zeros(env.num_envs, dtype=torch.int32, device=env.device)
    waiting = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
    if not env.simulator.instance["turns"]:
        active = infos.get("agent_active")  # an absent agent has no episode that ends
        waiting = waiting if active is None else active.flatten().clone()
    step, note = 0, getattr(watch, "note", None)
    while step % _LOOK or waiting.any():
        if step and step % _LOOK == 0 and time.perf_counter() > until:
            raise OutOfTime
        for player in ruled:
            player.look(env.outputs)
        obs, reward, _, _, infos = env.step(choose(obs, infos.get("action_mask")))
        if watch is not None:
            watch(reward.where(waiting, 0))
        over = waiting & infos["_episode_stats"]
        if note is not None:
            note(infos, over)
        returns = torch.where(over, infos["episode_stats"]["r"], returns)
        lengths = torch.where(over, infos["episode_stats"]["l"], lengths)
        waiting &= ~over
        step += 1
    shape = (env.num_worlds, env.agents_per_world)
    return returns.view(shape), lengths.view(shape)


def crowd(
    env: Worlds,
    policies: Sequence[Policy | Ruled],
    of_row: Tensor,
    seed: int,
    first: int,
    *,
    is_sampled: bool,
) -> Callable[[Any, Any], Any]:
    """Return what takes observations and masks, and returns the actions of all rows.

    Args:
        env: The worlds.
        policies: Who plays.
        of_row: The number of each row's policy; NOBODY acts at random.
        seed: Of the draws.
        first: Number of the first world among those that draw.
        is_sampled: Draw actions, instead of taking the likeliest.
    """
    device = torch.device(env.device)
    noise = Noise(seed, EVALUATION, device)
    if not env.simulator.kinds.is_one:
        found = agent_kinds.kinds_of(env.simulator, device)
        layout = env.simulator.kinds
        return Crowds(found, policies, of_row, noise, first, layout, is_sampled)
    actions = policies[0].actions if policies else of_space(env.single_action_space, device)
    first_row = first * env.agents_per_world
    return Crowd(policies, of_row, actions, noise, first_row, is_sampled)


def rows_of(of_agent: Sequence[int], worlds: int, device: str) -> Tensor:
    """Return the number of each row's policy, the same in every world."""
    return torch.tensor(np.tile(of_agent, worlds), device=torch.device(device))
