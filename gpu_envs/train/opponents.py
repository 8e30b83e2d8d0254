"""Agents without a policy: they act uniformly at random, by draws that come again.

The trainer's option `--learn ROLE` leaves all other roles to them, in rollouts and evaluations.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gpu_envs.train.distributions import Distribution
from gpu_envs.train.noise import OPPONENTS, Noise
from gpu_envs.train.rollout import Rollout

NOBODY = -1  # in place of a policy's number: acts at random


class RandomRows:
    """The rows of a rollout that no policy plays.

    Args:
        rows: Which they are; None for none.
        rollout: Where all rows are.
        actions: What can be done.
    """

    def __init__(self, rows: Tensor | None, rollout: Rollout, actions: Distribution) -> None:
        self.rows, self.rollout, self.actions = rows, rollout, actions

    def act(self, t: int, noise: Tensor) -> None:
        """Decide step t; what is stored for these rows beside the action stays as it is."""
        if self.rows is None:
            return
        mask = self.rollout.steps[t][1]
        legal = None if mask is None else mask[self.rows]
        self.rollout.answers[t][0][self.rows] = self.actions.uniform(noise[self.rows], legal)


class RandomPlayer:
    """One agent of one world, for who plays against it.

    Args:
        actions: What can be done.
        agent: Its number, so that no two do the same.
        seed: Of the draws.
    """

    def __init__(self, actions: Distribution, agent: int, seed: int = 0) -> None:
        self.actions, self.agent, self.step = actions, agent, 0
        self.noise = Noise(seed, OPPONENTS, torch.device("cpu"))

    def __call__(self, observation: Any, mask: Any) -> Any:
        """Return any action, as the environment takes it."""
        number = torch.tensor(self.step)
        drawn = self.noise.uniform(number, 1, self.agent, 1, self.actions.draws)[0]
        self.step += 1
        legal = None if mask is None else torch.as_tensor(mask)[None]
        chosen = self.actions.for_env(self.actions.uniform(drawn, legal))[0].numpy()
        return chosen if self.actions.shape else int(chosen)
