"""What Python and the bindings cost per `VectorEnv.step`: one world, where nothing hides them.

The native step alone is taken from a call of the native simulator with ready addresses, less what
a call into the module costs that does nothing. The overhead is the rest of `VectorEnv.step`.
"""

from __future__ import annotations

from typing import Any

from gpu_envs.benchmark import subjects
from gpu_envs.benchmark.clock import Call, Clock, Timing
from gpu_envs.benchmark.report import Bar, Report, Table
from gpu_envs.benchmark.subjects import Choice, Subject

_MOST_MICROSECONDS = 5.0
_JUDGED = (("numpy", "fresh"), ("torch", "reuse"), ("torch", "out"))


def _bare_calls(subject: Subject) -> tuple[Call, Call]:
    """The native step with everything prepared, and a native call that does nothing."""
    simulator: Any = subject.simulator
    native = simulator._native
    addresses, results = native.allocate(False)
    action = subjects.prepared_actions(
        simulator.single_action_space, simulator.num_worlds * simulator.agents_per_world, 1
    )[0]
    address, kind = action.ctypes.data, action.dtype.name
    step = native.step

    def bare(_: int, kept: object = (action, results)) -> None:
        step(address, kind, addresses, 0)

    def nothing(_: int) -> None:
        _ = native.record_bytes

    return bare, nothing


def measure(name: str, report: Report, clock: Clock) -> None:
    """Measure on the CPU, print the table and judge the bars."""
    libraries = ["numpy", *(["torch"] if subjects.has_torch() else [])]
    choices = [
        Choice("make_vec", library, memory, threads=1)
        for library in libraries
        for memory in ("fresh", "reuse", "out")
    ]
    opened = [subjects.open_subject(name, 1, choice) for choice in choices]
    plain = subjects.open_subject(name, 1, Choice(threads=1))
    bare, nothing = _bare_calls(plain)
    timings = clock.race([bare, nothing, plain.step, *(subject.step for subject in opened)])
    for subject in [plain, *opened]:
        subject.close()
    native = max(timings[0].median - timings[1].median, 0.0)
    _show(report, choices, native, timings)
    for library, memory in _JUDGED:
        what = f"overhead of VectorEnv.step at N = 1 with {library} {memory}"
        measured = None
        if library in libraries:
            index = choices.index(Choice("make_vec", library, memory, threads=1))
            measured = (timings[3 + index].median - native) * 1e6
        report.judge(Bar(what, _MOST_MICROSECONDS, measured, " us", at_least=False))
    if "torch" not in libraries:
        report.say("torch is not installed: its overhead is not measured")


def _show(report: Report, choices: list[Choice], native: float, timings: list[Timing]) -> None:
    rows = [("native step alone", native)]
    rows += [("native step, called from Python", timings[0].median)]
    rows += [("Simulator.step, numpy fresh", timings[2].median)]
    rows += [
        (f"VectorEnv.step, {c.arrays} {c.memory}", timing.median)
        for c, timing in zip(choices, timings[3:], strict=True)
    ]
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
