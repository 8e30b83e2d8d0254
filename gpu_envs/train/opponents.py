"""Agents without a policy: they act uniformly at random, by draws that come again.

The trainer's option `--learn ROLE` leaves all other roles to them, in rollouts and evaluations.
"""

from __future__ import annotations

NOBODY = -1  # in place of a policy's number: acts at random
