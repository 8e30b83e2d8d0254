"""The steps of scripts/gpu/check.py about pictures: what steps ask of CUDA, and how views scale.

In a dry run a CPU module stands in for CUDA, which has no calls to trace, and sizes shrink.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.report import si
from gpu_envs.benchmark.worlds import Run
from gpu_envs.known import registration
from scripts.gpu import ROOT, native
from scripts.gpu.evidence import Evidence

RAYS = ROOT / "benchmarks" / "rays.json"  # what scripts/ptx/pictures.py has counted
BATCHES = (64, 256, 1_024, 4_096, 16_384, 65_536)  # views
FORMS: tuple[dict[str, Any], ...] = ({}, {"observation": "depth", "resolution": "64x64"})
# Shares of the best batch's rate that smaller and larger ones have to reach, by views.
SCALING = {256: 0.25, 16_384: 0.9}
_TRACED, _WARP = 100, 32  # steps, lanes
_MARK = "traced steps"
# Calls of the runtime and of the driver in which the host waits, or memory is made or freed.
_WAITS = re.compile(r"Synchronize|Malloc|Free|MemAlloc|cu(da)?Memcpy(?!\w*Async)|cu(da)?HostAlloc")


def pictured(dry_run: bool) -> list[str]:
    """Environments whose agents see pictures, of those that are built."""
    found = registration.environments()
    return [name for name in native.names(dry_run) if found[name].get("pictures")]


# ---- what steps ask of CUDA


def trace(found: Evidence, name: str, dry_run: bool) -> None:
    """Calls of CUDA in 100 steps, by torch's profiler: none of them waits or allocates."""
    run = Run(native.tested(dry_run, name), name, 4 if dry_run else 1_024)
    run.reset(0)
    step, made = run.stepper(), run.simulator.allocations
    for k in range(3):
        step(k)
    calls = Counter[str]() if dry_run else _traced(step)
    for k in range(_TRACED if dry_run else 0):
        step(k)
    made = run.simulator.allocations - made
    run.close()
    wrong = sorted(call for call in calls if _WAITS.search(call))
    if not dry_run and not calls:
        found.row(status="skip", detail="torch's profiler saw no calls of CUDA")
        return
    said = f"{made} allocations by the engine" if made else ", ".join(wrong)
    launches = sum(n for call, n in calls.items() if "Launch" in call)
    cells = {"steps": _TRACED, "launches a step": f"{launches / _TRACED:g}"}
    cells["calls"] = ", ".join(f"{n} {call}" for call, n in calls.most_common())
    found.row(cells, status="fail" if said else "pass", detail=said)


def _traced(step: Callable[[int], object]) -> Counter[str]:
    torch = memory.torch()
    activity = torch.profiler.ProfilerActivity
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[activity.CPU, activity.CUDA]) as profiled:
        with torch.profiler.record_function(_MARK):
            for k in range(_TRACED):
                step(k)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(file))
        return read_calls(json.loads(file.read_text(encoding="utf-8")))


def read_calls(traced: dict[str, Any]) -> Counter[str]:
    """Count calls of CUDA by name, those between the beginning and the end of the mark."""
    events = [event for event in traced["traceEvents"] if "ts" in event]
    marks = [event for event in events if event.get("name") == _MARK and "dur" in event]
    if not marks:
        return Counter()
    first = min(float(mark["ts"]) for mark in marks)
    last = max(float(mark["ts"]) + float(mark["dur"]) for mark in marks)
    return Counter(
        event["name"]
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver")
        and first <= float(event["ts"]) <= last
    )


# ---- how views scale


def views(found: Evidence, name: str, dry_run: bool) -> None:
    """Pictures per second from 64 to 65,536 views, with simulation and without; how they scale."""
    clock = Clock(0.002 if dry_run else 0.02, 1 if dry_run else 3, memory.timed(not dry_run))
    for form in FORMS:
        rates: dict[int, float] = {}
        for batch in BATCHES[: 2 if dry_run else None]:
            measured = _measured(name, form, batch // 32 if dry_run else batch, clock, dry_run)
            if measured is None:
                found.row({"views": f"{batch:,}"}, status="skip", detail="it does not fit")
                continue
            cells, rates[batch] = measured
            found.row(cells)
        label = ", ".join(str(value) for value in form.values()) or "its own"
        for wanted in scaling(rates):
            found.row({"pictures": label, **wanted})


def _measured(
    name: str, form: dict[str, Any], batch: int, clock: Clock, dry_run: bool
) -> tuple[dict[str, str], float] | None:
    """Return the cells of a batch, and its pictures per second with simulation."""
    module = native.tested(dry_run, name)
    try:
        run = Run(module, name, batch, outputs="lean", parameters={**form})
    except (RuntimeError, MemoryError) as problem:
        if "memory" not in str(problem):
            raise
        return None
    run.reset(0)
    whole = clock.time(run.stepper()).median
    draw, to, on = run.simulator.observe, run.slot.addresses, memory.stream(run.on_gpu)
    alone = clock.time(lambda _: draw(to, on)).median
    (label, pixels), count = form_of(run), run.units
    run.close()
    cells = {"pictures": label, "views": f"{count:,}", "pictures/s": si(count / whole)}
    cells["without simulation"] = si(count / alone)
    cells["G rays/s"] = f"{pixels * count / whole / 1e9:.3g}"
    if known := of_ray(name, label):
        cells["instructions of a ray"] = f"{known:,.0f}"
        if not dry_run:
            issued = known * pixels * count / _WARP / alone
            cells["issue slots, %"] = f"{100 * issued / memory.issue_rate():.0f}"
    return cells, count / whole


def form_of(run: Run) -> tuple[str, int]:
    """Return what the pictures of worlds are, and their pixels."""
    values = run.facts["values"]
    rows, columns = re.findall(r"\d+", str(values["resolution"]))
    return f"{values['observation']} {rows} x {columns}", int(rows) * int(columns)


def of_ray(name: str, form: str) -> float:
    """Return the lane instructions of a ray by the length of machine code; 0: never counted."""
    known = json.loads(RAYS.read_text(encoding="utf-8"))["rays"] if RAYS.exists() else []
    found = [one["machine"] for one in known if (one["name"], one["form"]) == (name, form)]
    return float(found[0]) if found else 0.0


def scaling(rates: dict[int, float]) -> Iterator[dict[str, str]]:
    """Yield what batches reach of the best one's rate, where that is asked for."""
    best = max(rates.values(), default=0.0)
    for batch, least in SCALING.items():
        if batch in rates:
            share = rates[batch] / best
            verdict = "met" if share >= least else "not met"
            yield {
                "views": f"{batch:,}",
                "of the best": f"{share:.2f}",
                "wanted": f"{least:g}: {verdict}",
            }
