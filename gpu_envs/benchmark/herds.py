"""Sizes of the environments with many agents in a world, and what is promised of their speed.

Plain data that needs no other module of the package: scripts/gpu_swarms.py reads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Form:
    """One size of an environment."""

    label: str
    parameters: dict[str, Any]
    worlds: int
    device_worlds: int
    unit: str = "agent-steps/s"  # or "world steps/s", "steps/s": what the bars are about
    bars: dict[str, float] = field(default_factory=dict)  # all threads of two cores
    device_bars: dict[str, float] = field(default_factory=dict)  # one H200
    ranges: Sequence[tuple[str, str]] = ()  # who sees how far: parameters; none: bytes count


_GRID = {"grid_length": 100}
_GRID_5 = {"num_taggers": 4, **_GRID, "use_full_observation": True}
_GRID_1000 = {"num_taggers": 999, **_GRID}
_SQUARE = {"grid_length": 20.0, "use_full_observation": True}
_SQUARE_1000 = {"num_taggers": 100, "num_runners": 900, "grid_length": 20.0}
_NEAREST = {"use_full_observation": False, "num_other_agents_observed": 10}
_FLOCK = [("agent_count", "vision_range")]
_BOTH = [("runner_count", "runner_vision_range"), ("chaser_count", "chaser_vision_range")]
HERDS = {
    "TagGrid-v0": (
        Form(
            "5 agents, full observation",
            _GRID_5,
            16_384,
            262_144,
            unit="world steps/s",
            bars={"": 15e6},
            device_bars={"": 3e9},
        ),
        Form("2,000 worlds of 5", _GRID_5, 2000, 2000, unit="steps/s", device_bars={"20 us": 5e4}),
        Form(
            "1,000 agents, nearest alone",
            {**_GRID_1000, "use_full_observation": False},
            64,
            4096,
            device_bars={"": 5e9},
        ),
        Form(
            "1,000 agents, full observation",
            {**_GRID_1000, "use_full_observation": True},
            4,
            256,
            device_bars={"": 1.5e8},
        ),
    ),
    "TagContinuous-v0": (
        Form(
            "5 agents, full observation",
            {"num_taggers": 1, "num_runners": 4, **_SQUARE},
            16_384,
            262_144,
            unit="world steps/s",
            bars={"": 5e6},
        ),
        Form("1,000 agents, 10 nearest", {**_SQUARE_1000, **_NEAREST}, 16, 1024),
        Form(
            "1,000 agents, full observation",
            {**_SQUARE_1000, "use_full_observation": True},
            4,
            128,
        ),
    ),
    "Flocking-v0": (
        Form(
            "1,024 agents",
            {"agent_count": 1024},
            8,
            1024,
            bars={"floor": 4e6, "goal": 5e6},
            device_bars={"": 1e9},
            ranges=_FLOCK,
        ),
        Form(
            "16,384 agents",
            {"agent_count": 16_384},
            1,
            16,
            device_bars={"floor": 1.5e8, "goal": 3e8},
            ranges=_FLOCK,
        ),
    ),
    "SwarmTag-v0": (
        Form(
            "16,000 runners, 1,600 chasers",
            {"runner_count": 16_000, "chaser_count": 1600},
            1,
            16,
            ranges=_BOTH,
        ),
    ),
}
