"""How tests of every environment ask for worlds of it: small, varied, alone, in a crowd."""

from __future__ import annotations

from typing import Any

# `gymnasium.make` has no game for one to make.
TOGETHER = ("Hanabi-v0", "HideSeek-v0", "SwarmTag-v0", "TagContinuous-v0", "TagGrid-v0")
# What differs between episodes: without it each of them begins in the same way.
VARIED: dict[str, dict[str, Any]] = {
    "Overcooked-v0": {"random_start_positions": True, "random_start_objects": 0.3},
    # Nobody is tagged, so that the agents of a world end together.
    "TagContinuous-v0": {"num_runners": 4, "resample_start": True, "tagging_distance": 0.0},
    "TagGrid-v0": {"num_taggers": 4, "grid_length": 6, "reset_pool_size": 50},
}
# So few that they would rarely see each other.
_FAR_SIGHT = {"chaser_vision_range": 0.7, "runner_vision_range": 0.7, "agent_radius": 0.05}
# Little work and short episodes where random actions do not end them, so that a test is short.
SMALL: dict[str, dict[str, Any]] = {
    "Hanabi-v0": {"preset": "small"},
    "HideSeek-v0": {"preparation_steps": 4},
    "Flocking-v0": {"agent_count": 5, "sector_count": 8},
    "Micro-v0": {"agent_count": 1, "work": 2},
    "SwarmTag-v0": {"runner_count": 5, "chaser_count": 2, "sector_count": 8, **_FAR_SIGHT},
    **VARIED,
}
ALONE: dict[str, dict[str, Any]] = {
    "Flocking-v0": {"agent_count": 1, "sector_count": 8},
    "Micro-v0": SMALL["Micro-v0"],
    "Overcooked-v0": {"player_count": 1, **VARIED["Overcooked-v0"]},
}
CROWD: dict[str, dict[str, Any]] = {
    "Flocking-v0": {"agent_count": 40, "sector_count": 16, "vision_range": 0.2},
    "Hanabi-v0": {"player_count": 3},
    "HideSeek-v0": {},
    "Micro-v0": {"agent_count": 3, "work": 2},
    "Overcooked-v0": {"layout": "multiplayer_schelling", **VARIED["Overcooked-v0"]},
    "SwarmTag-v0": {"runner_count": 20, "chaser_count": 4, "sector_count": 16, **_FAR_SIGHT},
    "TagContinuous-v0": VARIED["TagContinuous-v0"],
    "TagGrid-v0": VARIED["TagGrid-v0"],
}
# For tests that take everything else as it is made by default: those that are large by themselves.
FEW: dict[str, dict[str, Any]] = {name: CROWD[name] for name in ("Flocking-v0", "SwarmTag-v0")}
