"""Defaults per environment: what differs from the defaults of `config.Config`, in one table."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "CartPole-v0": {"total_steps": 2_000_000},
    "CartPole64-v0": {"total_steps": 2_000_000},
    "CartPoleContinuous-v0": {"total_steps": 2_000_000},
}

# Parameters of the evaluation's worlds where they differ from those of training.
EVALUATION: dict[str, dict[str, Any]] = {
    "Overcooked-v0": {"shaping_factor": 0.0},
}
