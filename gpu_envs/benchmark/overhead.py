"""Costs of Python and the bindings per `VectorEnv.step`, with one world, which hides nothing.

The native step is measured as a call of the native simulator with ready addresses, less the cost of
an empty call into the module. The overhead is the rest of `VectorEnv.step`.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.cases import open_case
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.plan import Plan
from gpu_envs.benchmark.points import Case
from gpu_envs.benchmark.report import Bar, Report, Table

_MOST_MICROSECONDS = 5.0
_JUDGED = (("numpy", "fresh"), ("torch", "reuse"), ("torch", "out"))


def measure(plan: Plan, report: Report) -> None:
    """Measure on the CPU, print the table and judge the bars."""
    clock = Clock(plan.clock.seconds, plan.clock.repeats, plan.clock.run)
    libraries = ["numpy", *(["torch"] if memory.has("torch") else [])]
    kinds = [(library, kind) for library in libraries for kind in ("fresh", "reuse", "out")]
    one = Case(plan.name, plan.target, 1, plan.parameters, threads=1)
    ways = [("Simulator", "numpy", "fresh"), *(("make_vec", *kind) for kind in kinds)]
    cases = [replace(one, entry=e, arrays=a, memory=m) for e, a, m in ways]
    bare, opened = open_case(one), [open_case(case) for case in cases]
    assert bare.run is not None
    simulator = bare.run.simulator

    # The cheapest call into the module: every call costs at least this.
    def nothing(_: int) -> None:
        _ = simulator.record_bytes

    # In turns, since other work of the machine hides differences of a microsecond.
    timings = clock.race([bare.step, nothing, *(subject.step for subject in opened)])
    for subject in [bare, *opened]:
        subject.close()
    # Noise may make the difference negative, where a step takes hardly longer than a call.
    native = max(timings[0].median - timings[1].median, 0.0)
    rows = [("native step alone", native), ("native step, called from Python", timings[0].median)]
    labels = ["Simulator.step, numpy fresh", *(f"VectorEnv.step, {a} {m}" for a, m in kinds)]
    rows += [(label, t.median) for label, t in zip(labels, timings[2:], strict=True)]
    _show(report, rows, native)
    totals = dict(rows)
    for library, kind in _JUDGED:
        total = totals.get(f"VectorEnv.step, {library} {kind}")
        what = f"overhead of VectorEnv.step at N = 1 with {library} {kind}"
        found = None if total is None else (total - native) * 1e6
        report.judge(Bar(what, _MOST_MICROSECONDS, found, " us", at_least=False))


def _show(report: Report, rows: list[tuple[str, float]], native: float) -> None:
    table = Table(
        "One world: microseconds per step",
        ["call", "total", "beyond the native step"],
        [[label, f"{t * 1e6:.2f}", f"{(t - native) * 1e6:.2f}"] for label, t in rows],
        note="The native step alone is its call from Python less an empty call.",
    )
    report.results["overhead_us"] = {
        label: {"total": t * 1e6, "beyond_native": (t - native) * 1e6} for label, t in rows
    }
    report.show(table)
