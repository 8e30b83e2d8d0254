"""Steps per second against the number of worlds, on the CPU, with peers beside them.

The suite of environments with one agent per world. Everything is measured in one run, so that
ratios mean something even on a machine whose absolute speed is nobody else's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_envs import registration
from gpu_envs.benchmark import machine, overhead, peers, subjects, traffic
from gpu_envs.benchmark.clock import Clock, Timing
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.benchmark.subjects import Choice

WORLDS = (1, 64, 4096, 65_536, 1_048_576)
QUICK_WORLDS = (1, 64, 4096)
_BAR_WORLDS = 65_536
_BARS = {"CartPole-v0": 60e6}  # steps/s of one core at that many worlds
_MEMORY_COPY, _QUICK_MEMORY_COPY = 1 << 29, 1 << 25  # bytes; the former is larger than any cache
_MAIN = Choice("Simulator", threads=1)

Rates = dict[str, dict[int, Timing]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    worlds: Sequence[int]
    clock: Clock
    quick: bool
    with_peers: bool
    parameters: dict[str, Any]


def run(plan: Plan, report: Report) -> None:
    """Measure everything and fill the report."""
    rates: Rates = {}
    _measure(plan, _plain_choices(plan), rates)
    _show_rates(report, "Steps per second, NumPy arrays", rates, plan.worlds)
    others: Rates = {}
    _measure(plan, _other_arrays(plan), others)
    _show_rates(report, "Steps per second, other arrays (default outputs)", others, plan.worlds)
    report.results["steps_per_second"] = {
        label: {str(n): timing.as_json(n) for n, timing in row.items()}
        for label, row in (rates | others).items()
    }
    _judge(plan, report)
    _show_limits(plan, report, rates)
    overhead.measure(plan.name, report, plan.clock)
    if plan.with_peers:
        _show_peers(plan, report)


def _plain_choices(plan: Plan) -> list[Choice]:
    return [
        Choice(entry, lean=lean, threads=threads, parameters=plan.parameters)
        for entry in ("Simulator", "make_vec")
        for threads in (1, None)
        for lean in (False, True)
    ]


def _other_arrays(plan: Plan) -> list[Choice]:
    kinds = [("numpy", "reuse"), ("numpy", "out")]
    if subjects.has_torch():
        kinds += [("torch", "fresh"), ("torch", "reuse"), ("torch", "out")]
    return [
        Choice(entry, arrays, memory, threads=1, parameters=plan.parameters)
        for entry in ("Simulator", "make_vec")
        for arrays, memory in kinds
    ]


def _measure(plan: Plan, choices: Sequence[Choice], into: Rates) -> None:
    for choice in choices:
        row = into.setdefault(choice.label, {})
        for worlds in plan.worlds:
            subject = subjects.open_subject(plan.name, worlds, choice)
            row[worlds] = plan.clock.time(subject.step)
            subject.close()


def _show_rates(report: Report, title: str, rates: Rates, worlds: Sequence[int]) -> None:
    table = Table(title, ["", *(f"N = {n:,}" for n in worlds)])
    for label, row in rates.items():
        table.rows.append([label, *(si(n / row[n].median) for n in worlds)])
    if not subjects.has_torch():
        table.note = "torch is not installed: its arrays are not measured."
    report.show(table)


def _judge(plan: Plan, report: Report) -> None:
    required = _BARS.get(registration.find(plan.name)["id"])
    if required is None:
        return
    subject = subjects.open_subject(plan.name, _BAR_WORLDS, _choice(plan))
    timing = plan.clock.time(subject.step)
    subject.close()
    report.results["bar_steps_per_second"] = timing.as_json(_BAR_WORLDS)
    what = f"steps/s of one core at N = {_BAR_WORLDS:,} through Simulator.step"
    report.judge(Bar(what, required, _BAR_WORLDS / timing.median, "/s"))


def _choice(plan: Plan, **changes: Any) -> Choice:
    return replace(_MAIN, parameters=plan.parameters, **changes)


# ---- against the memory


def _show_limits(plan: Plan, report: Report, rates: Rates) -> None:
    """The byte table, and what share of a copy's bandwidth the measured rates come to."""
    counted = {lean: _count(plan, lean) for lean in (False, True)}
    ends = counted[False][1]
    table = Table(
        "Bytes per step and world that must move", ["", "read", "written"], note=_share_note(ends)
    )
    for line in counted[False][0].lines:
        table.rows.append([line.what, f"{line.read:.1f}", f"{line.written:.1f}"])
    for lean, label in ((False, "all, default outputs"), (True, "all, lean outputs")):
        read = sum(line.read for line in counted[lean][0].lines)
        table.rows.append([label, f"{read:.1f}", f"{counted[lean][0].total - read:.1f}"])
    report.show(table)

    size = _QUICK_MEMORY_COPY if plan.quick else _MEMORY_COPY
    in_memory = {t: machine.copy_bandwidth(size, t, plan.clock) for t in _thread_counts()}
    results: list[dict[str, Any]] = []
    for threads in _thread_counts():
        for lean in (False, True):
            choice = _choice(plan, lean=lean)
            choice = replace(choice, threads=1 if threads == 1 else None)
            for worlds in plan.worlds:
                step = rates[choice.label][worlds].median
                bytes_moved = counted[lean][0].total * worlds
                copied = machine.copy_bandwidth(int(bytes_moved), threads, plan.clock)
                results.append(
                    {
                        "threads": threads,
                        "lean": lean,
                        "worlds": worlds,
                        "ns_per_step": step / worlds * 1e9,
                        "bytes_per_second": bytes_moved / step,
                        "of_memory_bandwidth": bytes_moved / step / in_memory[threads],
                        "of_copy_of_same_size": bytes_moved / step / copied,
                    }
                )
    _show_shares(report, results, in_memory)
    report.results["traffic"] = {
        "ends_per_step": ends,
        "default": counted[False][0].as_json(),
        "lean": counted[True][0].as_json(),
        "memory_copy_bytes_per_second": {str(t): rate for t, rate in in_memory.items()},
        "shares": results,
    }


def _share_note(ends: float) -> str:
    return f"Episodes that end per world and step, measured: {ends:.4f}."


def _thread_counts() -> list[int]:
    return sorted({1, machine.cores()})


def _count(plan: Plan, lean: bool) -> tuple[traffic.Traffic, float]:
    subject = subjects.open_subject(plan.name, 4096, _choice(plan, lean=lean))
    assert subject.simulator is not None
    ends = subjects.ends_per_step(subject)
    counted = traffic.count(subject.simulator, ends)
    subject.close()
    return counted, ends


def _show_shares(
    report: Report, results: list[dict[str, Any]], in_memory: dict[int, float]
) -> None:
    copies = ", ".join(f"{si(rate)}B/s with {t} thread(s)" for t, rate in in_memory.items())
    table = Table(
        "Simulator.step against this machine's memory",
        ["threads, outputs, N", "ns per step", "bytes/s", "of memory", "of a copy of that size"],
        note=f"A copy in memory moves {copies}; one that fits a cache moves more.",
    )
    for r in results:
        outputs = "lean" if r["lean"] else "default"
        table.rows.append(
            [
                f"{r['threads']}, {outputs}, {r['worlds']:,}",
                f"{r['ns_per_step']:.2f}",
                si(r["bytes_per_second"]),
                f"{r['of_memory_bandwidth']:.0%}",
                f"{r['of_copy_of_same_size']:.0%}",
            ]
        )
    report.show(table)


# ---- beside others


def _show_peers(plan: Plan, report: Report) -> None:
    """Peers' rates, and ours over theirs with as many threads as they use."""
    table = Table(
        "Peers: steps per second (ours over theirs)",
        ["", *(f"N = {n:,}" for n in plan.worlds)],
        note="Ours: Simulator.step with all default outputs, measured in turns with the peer; "
        "one thread against one thread, all against all.",
    )
    results: dict[str, Any] = {}
    for peer in peers.PEERS.get(registration.find(plan.name)["id"], ()):
        cells, entry = [peer.name], results.setdefault(peer.name, {})
        for worlds in plan.worlds:
            if worlds > peer.most_worlds:
                cells.append("-")
                continue
            try:
                entry[str(worlds)] = found = _beside(plan, peer, worlds)
            except peers.MissingError as reason:
                report.say(f"{peer.name} is missing at N = {worlds:,}: {reason}")
                entry["missing"] = str(reason)
                break
            cells.append(f"{si(found['per_second'])} ({found['ours_over_theirs']:.3g}x)")
        table.rows.append(cells + ["-"] * (len(table.header) - len(cells)))
    report.results["peers"] = results
    report.show(table)


def _beside(plan: Plan, peer: peers.Peer, worlds: int) -> dict[str, float]:
    theirs = peers.open_quietly(peer, worlds)
    choice = _choice(plan, threads=None if peer.threaded else 1)
    ours = subjects.open_subject(plan.name, worlds, choice)
    timings = plan.clock.race([theirs.step, ours.step])
    theirs.close()
    ours.close()
    rate, own_rate = theirs.units / timings[0].median, worlds / timings[1].median
    ratio = {"ours_per_second": own_rate, "ours_over_theirs": own_rate / rate}
    return timings[0].as_json(theirs.units) | ratio
