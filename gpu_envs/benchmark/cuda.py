"""The suite on a GPU: steps per second against the limit that its memory sets.

Times are those of CUDA events around many steps on one stream; nothing synchronises between them.
The limit is the bandwidth of a copy, measured here, over the bytes of the byte table. Records that
fit into the second-level cache need not travel, so then only actions and outputs count.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu_envs import native, registration
from gpu_envs.benchmark import subjects, traffic
from gpu_envs.benchmark.clock import Call, Clock
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.benchmark.subjects import Choice, Subject
from gpu_envs.layout import OUTPUTS
from gpu_envs.simulator import Simulator

WORLDS = (1, 64, 4096, 65_536, 1_048_576)
QUICK_WORLDS = (64, 4096)
LANES = (1, 8, 32)  # per world
_CAPTURED_WORLDS = 4096
_CAPTURED_STEPS = (1, 32)  # in one graph
_COPIED = 1 << 30
_LEAST_SHARE = 0.5  # of the limit
_BARS = {"CartPole-v0": (1_048_576, 5e10)}  # worlds judged; goal in steps/s with lean outputs


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    worlds: Sequence[int]
    clock: Clock
    device: str  # "cuda:<n>"
    parameters: dict[str, Any]


def device_clock(seconds: float, repeats: int, device: str) -> Clock:
    """A clock that times what the device does between two events, once all before is done."""
    torch = importlib.import_module("torch")

    def run(call: Call, count: int) -> float:
        with torch.cuda.device(device):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            begin.record()
            for i in range(count):
                call(i)
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) / 1e3

    return Clock(seconds, repeats, run)


def run(plan: Plan, report: Report) -> None:
    """Measure everything and fill the report."""
    memory = _Memory.of(plan)
    rates = _show_rates(plan, report)
    _show_lanes(plan, report)
    _show_captured(plan, report)
    _show_limits(plan, report, memory, rates)


def _choices(plan: Plan) -> list[Choice]:
    return [
        Choice(entry, "torch", kind, lean, None, plan.parameters)
        for entry in ("Simulator", "make_vec")
        for kind in ("fresh", "reuse")
        for lean in (False, True)
    ]


def _label(choice: Choice) -> str:
    return f"{choice.entry}.step, {'lean' if choice.lean else 'default'}, {choice.memory}"


def _show_rates(plan: Plan, report: Report) -> dict[str, dict[int, float]]:
    table = Table(
        "Steps per second, torch tensors on the device", ["", *(f"N = {n:,}" for n in plan.worlds)]
    )
    rates: dict[str, dict[int, float]] = {}
    results: dict[str, Any] = {}
    for choice in _choices(plan):
        row, entry = rates.setdefault(_label(choice), {}), results.setdefault(_label(choice), {})
        for worlds in plan.worlds:
            subject = subjects.open_subject(plan.name, worlds, choice, plan.device)
            timing = plan.clock.time(subject.step)
            subject.close()
            row[worlds] = worlds / timing.median
            entry[str(worlds)] = timing.as_json(worlds)
        table.rows.append([_label(choice), *(si(rate) for rate in row.values())])
    report.results["steps_per_second"] = results
    report.show(table)
    return rates


# ---- lanes per world


def _show_lanes(plan: Plan, report: Report) -> None:
    table = Table(
        "Steps per second by lanes per world, native step, default outputs",
        ["lanes", *(f"N = {n:,}" for n in plan.worlds)],
    )
    results: dict[str, Any] = {}
    for lanes in LANES:
        cells, entry = [str(lanes)], results.setdefault(str(lanes), {})
        for worlds in plan.worlds:
            try:
                subject = _native_subject(plan, worlds, lanes)
            except (ValueError, RuntimeError) as problem:
                report.say(f"{lanes} lanes per world are not available: {problem}")
                break
            timing = plan.clock.time(subject.step)
            subject.close()
            entry[str(worlds)] = timing.as_json(worlds)
            cells.append(si(worlds / timing.median))
        table.rows.append(cells + ["-"] * (len(table.header) - len(cells)))
    report.results["lanes_per_world"] = results
    report.show(table)


def _native_subject(plan: Plan, worlds: int, lanes: int) -> Subject:
    """A native simulator with its lanes fixed, stepped into arrays of a plain simulator."""
    torch = importlib.import_module("torch")
    model = Simulator(
        plan.name, worlds, device=plan.device, arrays="torch", reuse=True, **plan.parameters
    )
    addresses, results = model._arrays.own(False)
    written = [n for n, array in zip(OUTPUTS, results, strict=True) if array is not None]
    ordinal = int(plan.device.partition(":")[2] or 0)
    config: dict[str, Any] = {"parameters": model.parameters, "outputs": written, "lanes": lanes}
    simulator = native.make("cuda", model.name, worlds, device=ordinal, **config)
    stream = torch.cuda.current_stream(ordinal).cuda_stream
    rows = worlds * model.agents_per_world
    actions = [
        torch.from_numpy(a).to(plan.device)
        for a in subjects.prepared_actions(model.single_action_space, rows)
    ]
    places = [action.data_ptr() for action in actions]
    kind = str(actions[0].dtype).removeprefix("torch.")
    simulator.reset(0, 0, {}, addresses, stream)

    def step(i: int, kept: object = (actions, results, model)) -> None:
        simulator.step(places[i % len(places)], kind, addresses, stream)

    def close() -> None:
        torch.cuda.synchronize(plan.device)
        simulator.close()
        model.close()

    for i in range(64):
        step(i)
    return Subject(step, worlds, close)


# ---- captured steps


def _show_captured(plan: Plan, report: Report) -> None:
    table = Table(
        f"Captured in a CUDA graph, N = {_CAPTURED_WORLDS:,}, default outputs",
        ["steps in the graph", "microseconds per step", "steps/s"],
    )
    results: dict[str, Any] = {}
    choice = Choice("Simulator", "torch", "reuse", parameters=plan.parameters)
    for steps in _CAPTURED_STEPS:
        subject = subjects.open_subject(plan.name, _CAPTURED_WORLDS, choice, plan.device)
        graph = _captured(subject.step, steps, plan.device)

        def replay(_: int, graph: Any = graph) -> None:
            graph.replay()

        timing = plan.clock.time(replay)
        rate = _CAPTURED_WORLDS * steps / timing.median
        table.rows.append([str(steps), f"{timing.median / steps * 1e6:.2f}", si(rate)])
        results[str(steps)] = timing.as_json(_CAPTURED_WORLDS * steps)
        del graph
        subject.close()
    report.results["captured"] = {"worlds": _CAPTURED_WORLDS, "steps_in_graph": results}
    report.show(table)


def _captured(step: Call, steps: int, device: str) -> Any:
    torch = importlib.import_module("torch")
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # the allocator and the kernels have to be warm there
            for i in range(3):
                step(i)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(steps):
                step(i)
    return graph


# ---- the limit


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the device's memory does."""

    bandwidth: float  # bytes per second of a copy, read and written
    second_level: int  # bytes of its cache

    @classmethod
    def of(cls, plan: Plan) -> _Memory:
        torch = importlib.import_module("torch")
        source = torch.zeros(_COPIED // 2, dtype=torch.uint8, device=plan.device)
        target = torch.empty_like(source)
        timing = plan.clock.time(lambda _: target.copy_(source))
        properties = torch.cuda.get_device_properties(plan.device)
        cache = int(getattr(properties, "L2_cache_size", 0))
        return cls(2 * source.numel() / timing.median, cache)


def _show_limits(
    plan: Plan, report: Report, memory: _Memory, rates: dict[str, dict[int, float]]
) -> None:
    table = Table(
        "Against the limit that memory sets (Simulator.step, reuse)",
        ["outputs, N", "bytes per step", "records", "limit, steps/s", "measured", "of the limit"],
        note=f"A copy moves {si(memory.bandwidth)}B/s; the second-level cache holds "
        f"{si(memory.second_level)}B.",
    )
    results, shares = [], {}
    for lean in (False, True):
        label = _label(Choice("Simulator", "torch", "reuse", lean))
        counted, record = _count(plan, lean)
        for worlds in plan.worlds:
            fits = 0 < record * worlds <= memory.second_level
            moved = counted.total - (sum(x.read + x.written for x in counted.lines[:2]) * fits)
            limit, rate = memory.bandwidth / moved, rates[label][worlds]
            shares[lean, worlds] = rate / limit
            size = f"{si(record * worlds)}B, {'fit' if fits else 'do not fit'}"
            name = f"{'lean' if lean else 'default'}, {worlds:,}"
            row = [name, f"{moved:.1f}", size, si(limit), si(rate), f"{rate / limit:.0%}"]
            table.rows.append(row)
            results.append(
                {
                    "lean": lean,
                    "worlds": worlds,
                    "bytes_per_step": moved,
                    "record_bytes": record,
                    "records_fit_cache": fits,
                    "limit": limit,
                    "measured": rate,
                }
            )
    report.show(table)
    report.results["traffic"] = {
        "copy_bytes_per_second": memory.bandwidth,
        "cache_bytes": memory.second_level,
        "limits": results,
        "default": _count(plan, False)[0].as_json(),
        "lean": _count(plan, True)[0].as_json(),
    }
    _judge(plan, report, rates, shares)


def _count(plan: Plan, lean: bool) -> tuple[traffic.Traffic, int]:
    """The byte table and the bytes of a record."""
    choice = Choice("Simulator", "torch", "reuse", lean, parameters=plan.parameters)
    subject = subjects.open_subject(plan.name, 4096, choice, plan.device)
    assert subject.simulator is not None
    counted = traffic.count(subject.simulator, subjects.ends_per_step(subject))
    record = int(subject.simulator.instance["record_bytes"])
    subject.close()
    return counted, record


def _judge(
    plan: Plan,
    report: Report,
    rates: dict[str, dict[int, float]],
    shares: dict[tuple[bool, int], float],
) -> None:
    worlds, goal = _BARS.get(registration.find(plan.name)["id"], (0, 0.0))
    if not worlds:
        return
    for lean in (False, True):
        what = f"share of the memory's limit at N = {worlds:,}, {'lean' if lean else 'default'}"
        report.judge(Bar(what, _LEAST_SHARE, shares.get((lean, worlds)), ""))
    label = _label(Choice("Simulator", "torch", "reuse", lean=True))
    measured = rates[label].get(worlds)
    report.judge(Bar(f"goal: steps/s, lean, N = {worlds:,}", goal, measured, "/s"))
