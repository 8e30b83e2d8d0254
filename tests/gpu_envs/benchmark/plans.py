"""Plans of benchmarks that take next to no time."""

from __future__ import annotations

from typing import Any

from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.plan import Plan
from gpu_envs.known import native

CLOCK = Clock(0.0005, 1)


def planned(name: str, **options: Any) -> Plan:
    return Plan(name, native.cpu_target(), CLOCK, **options)
