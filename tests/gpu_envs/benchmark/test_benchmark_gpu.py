"""A GPU's part of the benchmark, as far as a CPU shows that it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu_envs.benchmark import bars, cases, limits, loop, machine, memory
from gpu_envs.benchmark.plan import Plan
from gpu_envs.benchmark.points import Case
from gpu_envs.benchmark.report import Report
from gpu_envs.known import native
from tests.gpu_envs.benchmark.plans import planned

# ---- a GPU's part, as far as a CPU shows that it runs


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Plan]:
    """Makes plans whose CPU stands in for a GPU: all that a GPU's machine is asked for is here."""
    monkeypatch.setattr(Case, "on_gpu", property(lambda case: case.threads is None))
    monkeypatch.setattr(Plan, "on_gpu", property(lambda plan: True))
    monkeypatch.setattr(memory, "ordinal", lambda on_gpu: 0)
    monkeypatch.setattr(limits, "COPIED", 1 << 16)
    monkeypatch.setattr(memory, "cache_bytes", lambda on_gpu: 1 << 20)
    zeros = memory.zeros
    monkeypatch.setattr(memory, "zeros", lambda size, _: zeros(size, False))
    return lambda name: replace(planned(name), chosen=(64, 15_000), through_package=False)


def test_on_a_gpu_lanes_graphs_and_the_cache_count(
    as_on_a_gpu: Callable[[str], Plan], tmp_path: Path
) -> None:
    report = Report("CartPole-v0", machine.describe("cpu"), "test")
    bench = loop.Bench(as_on_a_gpu("CartPole-v0"), report)
    forms = bench.plan.forms()
    bench.show_rates(forms)
    bench.show_limits(forms)
    bench.finish()
    report.write(tmp_path)

    points = report.results["points"]
    assert {point.get("lanes") for point in points} == {None, 1, 8, 32}
    assert {point.get("graph") for point in points} == {None, 1, 32}
    judged = [point for point in points if "limit" in point]
    assert [point["records_fit_cache"] for point in judged] == [True, False] * 2
    assert judged[0]["bytes_moved"] < judged[1]["bytes_moved"]


@pytest.mark.parametrize(("rate", "by"), [(1e30, "memory"), (1.0, "issuing")])
def test_a_bar_says_what_a_step_takes_and_its_share_of_the_tighter_limit(
    as_on_a_gpu: Callable[[str], Plan], monkeypatch: pytest.MonkeyPatch, rate: float, by: str
) -> None:
    monkeypatch.setattr(Plan, "is_judged", property(lambda plan: True))
    monkeypatch.setattr(memory, "issue_rate", lambda: rate)
    plan, case = as_on_a_gpu("CartPole-v0"), Case("CartPole-v0", native.cpu_target(), 64)
    (point,) = cases.measure([case], plan.clock)
    bound = limits.Limits(plan.clock, True, True, lambda _: 260.0)
    bound.judge(point, plan.forms()[0])
    promise = {"of": "of_limit", "on": "device", "least": 0.5, "worlds": 64}
    line = bars.judged(plan, promise, [point]).line()
    moved, share = point.found["bytes_moved"], point.found["of_limit"]
    taken = f"{moved:,.0f} B, 260 warp instructions a world step"
    assert line.endswith(f"({taken}; {share:.0%} of what {by} allows)")


def test_a_gpu_is_timed_by_events_and_replays_what_it_captured(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    class StandIn:
        """As much of torch.cuda as is used; it keeps what it was asked for."""

        def __init__(self, *_: object, **__: object) -> None: ...

        def __getattr__(self, name: str) -> Callable[..., float]:
            return lambda *_: said.append(name) or 2.0

        def __enter__(self) -> None:
            said.append("begin")

        def __exit__(self, *_: object) -> None:
            said.append("end")

    for name in ("Event", "CUDAGraph", "graph"):
        monkeypatch.setattr(torch.cuda, name, StandIn)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: said.append("wait"))
    step = said.append
    assert memory.timed(True)(lambda i: step(f"step {i}"), 2) == 2e-3
    events = ["wait", "record", "step 0", "step 1", "record", "synchronize", "elapsed_time"]
    assert said == events
    said.clear()
    replay = memory.capture(lambda: step("step"), True)
    replay()
    assert said == ["wait", "begin", "step", "end", "replay"]
