"""Advantages where decisions are far apart: rewards in between count less, step by step.

A decision is a step in which a row has a choice. What follows it until the next one is a single
transition of a semi-Markov process (Sutton, Precup, Singh 1999): its reward is the discounted sum
of the steps' rewards, and what comes behind k steps is discounted k times.

The distance of the next decision may depend on the action. So near the end of a rollout, where some
actions lead to a decision within it and others beyond, nothing is learned from any of them:
otherwise only actions with short waits would be.
"""

from __future__ import annotations

import torch
from torch import Tensor


def known_decisions(decides: Tensor, ended: Tensor) -> Tensor:
    """Return which decisions (T, rows) have a known outcome.

    These are followed, within the rollout, by the end of their episode, or by as many steps as the
    longest way from one decision to the next in any row.

    Args:
        decides: Whether a row decides there (T + 1, rows).
        ended: Whether the row's episode ended with the step (T, rows).
    """
    length, arrives, now = len(ended), decides[1:], decides[:-1]
    step = torch.arange(length, device=ended.device, dtype=torch.int32).unsqueeze(1)
    last, end = (step.where(x, -1).cummax(0).values for x in (now, ended))
    longest = (step + 1 - last).where(arrives & (last > end), 0).max()
    ends, follows = (_later(x) for x in (ended, arrives))
    return now & (ends | (follows & (step + longest <= length)))


def _later(happens: Tensor) -> Tensor:
    """Return whether something happens in a step or in a later one."""
    return happens.byte().flip(0).cummax(0).values.flip(0).bool()


def far_advantages(
    reward: Tensor, value: Tensor, decides: Tensor, ended: Tensor, gamma: float, trace: float
) -> tuple[Tensor, Tensor]:
    """Return generalised advantage estimates over decisions, and which are known.

    Args:
        reward: Of each step (T, rows).
        value: Of what each decision saw, with one step more (T + 1, rows); read at decisions alone.
        decides: Whether a row decides there (T + 1, rows).
        ended: Whether the row's episode ended with the step (T, rows).
        gamma: The discount of a step.
        trace: Lambda, from one decision to the next.
    """
    found, arrives = torch.zeros_like(reward), decides[1:]
    is_known = known_decisions(decides, ended)
    surprise, delayed = reward - value[:-1], gamma * reward
    # As the end of step t sees them: value and advantage of the next decision, and the rewards
    # until then; and how much of each counts.
    coming = reward.new_zeros(3, reward.shape[1])
    arrived, weights = torch.zeros_like(coming), reward.new_tensor([gamma, gamma * trace, 1.0])
    for t in reversed(range(len(reward))):
        arrived[0] = value[t + 1]
        if t + 1 < len(reward):
            arrived[1] = found[t + 1]
            coming.mul_(gamma)[2].add_(delayed[t + 1])
        coming = torch.where(arrives[t], arrived, coming).masked_fill_(ended[t], 0)
        torch.addmv(surprise[t], coming.t(), weights, out=found[t])
        found[t].mul_(is_known[t])
    return found, is_known
