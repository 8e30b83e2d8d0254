"""A first answer within seconds: steps per second of an environment as a user's loop makes it.

Worlds are made with the parameters' defaults and stepped through `gpu_envs.Simulator`, more at a
time from row to row, until the time is spent. A row is printed when it is measured.
"""

from __future__ import annotations

import time
from dataclasses import replace

from gpu_envs.benchmark.cases import measure, probe
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.plan import Plan
from gpu_envs.benchmark.points import Case, Point
from gpu_envs.benchmark.report import Report, si
from gpu_envs.benchmark.worlds import output_bytes

WORLDS = (1, 16, 256, 4096, 65536)
_SECONDS = 5.0  # [s] of all rows, which leaves some of ten for the start and a busy machine
_CALLS = 16  # least of a row: to spread out, to find the number of calls, to repeat
_MOST_BYTES = 1 << 28  # of observations in one batch
_WIDTHS = (9, 8, 14, 14, 10)


def run(plan: Plan, report: Report) -> None:
    """Print the table row by row, and the best row in one line."""
    begin = time.perf_counter()
    drawn = bool(plan.data.get("drawn"))
    clock = Clock(plan.clock.seconds, plan.clock.repeats, plan.clock.run)
    case = Case(
        plan.name,
        plan.target,
        1,
        plan.parameters,
        entry="Simulator",
        arrays="torch" if plan.on_gpu else "numpy",
        memory="fresh",
        threads=None if plan.on_gpu else cores(),
    )
    one = probe(case)
    most = max(1, _MOST_BYTES // output_bytes(one.facts)["obs"])
    one.close()
    _row("worlds", "agents", "world steps/s", "agent-steps/s", "a step")
    points: list[Point] = []
    for worlds in plan.chosen or tuple(n for n in WORLDS if n <= most):
        left = _SECONDS - (time.perf_counter() - begin)
        if not plan.chosen and not _fits(points, worlds, left):
            break
        points += measure([replace(case, worlds=worlds)], clock, drawn)
        _show(points[-1])
    report.keep(points)
    _sum_up(plan, report, points)


def _fits(points: list[Point], worlds: int, left: float) -> bool:
    """Whether a row fits in the time that is left, by the last time of a step."""
    if not points:
        return True
    last = points[-1]
    return last.timing.median / last.case.worlds * worlds * _CALLS < left


def _show(point: Point) -> None:
    seconds = point.timing.median
    rate = point.case.worlds / seconds
    step = f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"
    agents = point.case.worlds * point.agents
    _row(f"{point.case.worlds:,}", f"{agents:,}", si(rate), si(rate * point.agents), step)


def _row(*cells: str) -> None:
    print(
        "  ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)), flush=True
    )


def _sum_up(plan: Plan, report: Report, points: list[Point]) -> None:
    best = max(points, key=lambda point: point.get("world_steps") or 0.0)
    rate = si(best.get("agent_steps") or 0.0)
    threads = best.case.threads
    where = "the GPU" if plan.on_gpu else f"{threads} thread{'s' if threads != 1 else ''}"
    count = f"{best.case.worlds:,} world{'s' if best.case.worlds > 1 else ''}"
    what = "whole episodes, and all else" if plan.clock.steps else "all else"
    report.say(f"{plan.name}: {rate} agent-steps/s with {count} on {where}; --full measures {what}")
