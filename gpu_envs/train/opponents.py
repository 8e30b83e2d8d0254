"""Agents without a policy: they act uniformly at random, by draws that come again.

The trainer's option `--learn ROLE` leaves all other roles to them, in rollouts and evaluations.
"""

from __future__ import annotations

from torch import Tensor

from gpu_envs.train.distributions import Distribution
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
