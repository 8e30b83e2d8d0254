"""The steps of scripts/gpu_check.py that measure: the package's loop on native modules alone.

What is measured and promised is the environments' own data (docs/measures.md). In a dry run a CPU
module stands in for CUDA, and sizes shrink.
"""

from __future__ import annotations

from typing import Any

import gpu_native as native
import gpu_steps as steps
from gpu_steps import Result

from gpu_envs import measures, registration
from gpu_envs.benchmark import bars, cases, memory
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.loop import Bench
from gpu_envs.benchmark.plan import Plan
from gpu_envs.benchmark.report import Report, Table, si


def names_of(step: str) -> list[str]:
    """Environments whose data asks for a step of the check."""
    return [
        name
        for name in registration.environments()
        if measures.of(name)["benchmark"].get("gpu_check") == step
    ]


def unmeasured() -> list[str]:
    """All bars, where there is nothing to measure them on."""
    known = {name: measures.of(name)["benchmark"] for name in registration.environments()}
    found = [bar for name, data in known.items() for bar in bars.unmeasured(name, data, "device")]
    return [bar.line() for bar in found]


def _bench(name: str, dry_run: bool) -> Bench:
    data = measures.of(name)["benchmark"]
    whole = (20 if dry_run else data["device_steps"]) if "device_steps" in data else 0
    seconds, run = 0.002 if dry_run else 0.05, memory.timed(not dry_run)
    clock = Clock(seconds, 1 if whole else 3, run, whole)
    plan = Plan(name, native.target(dry_run), clock, quick=dry_run, through_package=False)
    return Bench(plan, Report(name, {}, "scripts/gpu_check.sh"))


def _best(bench: Bench) -> str:
    """The highest rate so far, in words."""
    point = max(bench.points, key=lambda point: point.get("world_steps") or 0.0)
    rate, form = (
        si(point.get("world_steps") or 0.0),
        f", {point.case.form}" if point.case.form else "",
    )
    return f"{bench.plan.name}{form}: {rate} world steps/s, N = {point.case.worlds:,}"


def bench(dry_run: bool) -> Result:
    """Steps per second by worlds, outputs and lanes, against what the memory allows."""
    module, result = native.tested(dry_run), Result("pass", "")
    described = native.environments(module)
    for number, name in enumerate(d["id"] for d in described if d["agents"] == "1"):
        bench = _bench(name, dry_run)
        forms = bench.plan.forms()
        bench.show_rates(forms, details=not number)
        if not number:
            bench.show_limits(forms)
            result.detail = _best(bench)
        bench.finish("device")
        result.take(bench.report)
    report = Report("crowds", {}, "")
    report.show(crowds(described, dry_run))
    result.take(report)
    return result


def crowds(described: list[dict[str, Any]], dry_run: bool) -> Table:
    """Agent-steps per second by number of agents and lanes, of all that can have several."""
    header = ["", "agents per world", "worlds", *(f"lanes {n or 'tuned'}" for n in steps.LANES)]
    table, total = Table("Agent-steps per second", header), 2_000 if dry_run else 1_000_000
    module, clock = native.tested(dry_run), Clock(0.002 if dry_run else 0.05, 3)
    for description in described:
        name = description["id"]
        for agents in _agent_counts(module, description):
            parameters, worlds = native.crowd(description, agents), max(1, total // agents)
            cells = []
            for lanes in steps.LANES:
                if steps.with_lanes(module, name, 1, parameters=parameters, lanes=lanes) is None:
                    cells.append("not compiled")
                    continue
                case = cases.Case(name, native.target(dry_run), worlds, parameters, lanes=lanes)
                clock = Clock(clock.seconds, 3, memory.timed(case.on_gpu))
                cells.append(si(cases.measure([case], clock)[0].get("agent_steps") or 0.0))
            table.rows.append([name, f"{agents:,}", f"{worlds:,}", *cells])
    return table


def _agent_counts(module: Any, description: dict[str, Any]) -> list[int]:
    """Its own number of agents and powers of ten, as far as it can have them."""
    if description["agents"].isdecimal():
        return []
    name, found = description["id"], []
    for agents in sorted({native.own_agents(module, name), 1, 10, 100, 1000}):
        try:
            module.Simulator(name, 1, parameters=native.crowd(description, agents)).close()
        except ValueError:
            continue  # more or fewer agents than it can have
        found.append(agents)
    return found


def _forms(step: str, dry_run: bool) -> Result:
    """Rates of environments that ask for a step, judged where there is a bar."""
    result = Result("pass", "")
    for name in names_of(step):
        bench = _bench(name, dry_run)
        forms = bench.plan.forms()
        whole = bool(bench.plan.clock.steps)  # takes long: the first form alone
        bench.show_rates(forms[:1] if whole else forms, details=False, outputs=("default",))
        bench.finish("device")
        result.take(bench.report)
        result.detail = result.detail or _best(bench)
    return result


def bodies(dry_run: bool) -> Result:
    """Rates of whole episodes with rigid bodies, by number of worlds."""
    return _forms("bodies", dry_run)


def swarms(dry_run: bool) -> Result:
    """Rates of every size of worlds with many agents."""
    return _forms("swarms", dry_run)
