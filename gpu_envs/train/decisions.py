"""Advantages where decisions are far apart: rewards in between count less, step by step.

A decision is a step in which a row has a choice. What follows it until the next one is a single
transition of a semi-Markov process (Sutton, Precup, Singh 1999): its reward is the discounted sum
of the steps' rewards, and what comes behind k steps is discounted k times.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
    found, is_known = torch.zeros_like(reward), torch.zeros_like(ended)
    # Of the next decision, as the end of step t sees it: whether it or an end is known, its value,
    # the rewards until then, and its own advantage.
    known, beyond, pending, later = (torch.zeros_like(reward[0]) for _ in range(4))
    one = torch.ones_like(known)
    for t in reversed(range(len(reward))):
        arrives, over = decides[t + 1], ended[t]
        if t + 1 < len(reward):
            pending = gamma * (reward[t + 1] + pending)
            beyond, later = gamma * beyond, gamma * later
            beyond = torch.where(arrives, value[t + 1], beyond)
            later = torch.where(arrives, found[t + 1], later)
            pending = pending.masked_fill(arrives, 0)
        else:
            beyond = torch.where(arrives, value[t + 1], beyond)
        known = torch.where(arrives | over, one, known)
        beyond, pending, later = (x.masked_fill(over, 0) for x in (beyond, pending, later))
        gain = reward[t] + pending + gamma * beyond - value[t] + gamma * trace * later
        is_known[t] = decides[t] & (known > 0)
        found[t] = gain * is_known[t]
    return found, is_known
