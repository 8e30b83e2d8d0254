"""Speed of environments with thousands of agents in a world, against what the machine allows.

Random actions, episodes with their resets, all outputs. Where agents see everybody, a step is
bytes: their number against a plain copy of as many. Where agents see their neighbours, a step is
pairs: those in range, as many as uniformly spread agents have, against the machine's arithmetic.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs.benchmark import machine, peers, subjects, traffic
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.herds import HERDS, Form
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.simulator import Simulator

# Of one neighbour in range: differences and distance, two arctangents, a decay and its sector.
_PAIR_OPERATIONS = 60
_MATRIX = 1024  # rows of the matrices whose product shows what the arithmetic can do
_COPIED = 1 << 28  # bytes that the copy on a GPU moves


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    clock: Clock
    quick: bool
    with_peers: bool
    device: str
    parameters: dict[str, Any]
    chosen: tuple[int, ...] = ()  # numbers of worlds; empty: each form's own

    @property
    def on_cpu(self) -> bool:
        """Whether it runs on the host."""
        return self.device == "cpu"

    def worlds(self, form: Form) -> tuple[int, ...]:
        """Return how many are measured; few of the small ones where it must be quick."""
        own = form.worlds if self.on_cpu else form.device_worlds
        return self.chosen or ((min(own, 64) if self.quick else own),)

    @property
    def is_judged(self) -> bool:
        """Whether what is measured is what the bars are about."""
        return not (self.quick or self.chosen or self.parameters)


@dataclass(frozen=True, slots=True)
class Load:
    """What a step of one world is: agents, bytes that move, pairs in range."""

    agents: int
    moved: float
    pairs: float


def run(plan: Plan, report: Report) -> None:
    """Measure everything and fill the report."""
    _show_rates(plan, report)
    if plan.with_peers and plan.on_cpu:
        _show_peers(plan, report)


# ---- the environment itself


def _show_rates(plan: Plan, report: Report) -> None:
    table = Table(
        "Random actions, episodes with resets, all outputs",
        ["", "N", "threads", "agent-steps/s", "world steps/s", "work/s", "of the limit"],
        note=f"Limits: a plain copy of as many bytes, or {_PAIR_OPERATIONS} operations per pair in "
        "range at the speed of a product of matrices (32 bits).",
    )
    threads = [1, None] if plan.on_cpu and machine.cores() > 1 else [None]
    results = report.results["forms"] = {}
    for form in HERDS[plan.name]:
        for worlds in plan.worlds(form):
            for count in threads:
                entry, row = _measure(plan, form, worlds, count)
                results[", ".join(row[:3])] = entry
                table.rows.append(row)
        _judge(plan, report, form, entry)
    report.show(table)


def _measure(
    plan: Plan, form: Form, worlds: int, threads: int | None
) -> tuple[dict[str, Any], list[str]]:
    choice = subjects.Choice(
        arrays="numpy" if plan.on_cpu else "torch",
        memory="reuse",
        threads=threads,
        parameters={**form.parameters, **plan.parameters},
    )
    subject = subjects.open_subject(plan.name, worlds, choice, plan.device)
    assert subject.simulator is not None
    load = load_of(subject.simulator, form)
    timing = plan.clock.time(subject.step)
    subject.simulator.check()
    subject.close()
    rate = worlds / timing.median
    if load.pairs:
        limit, work = _operations(plan, threads) / _PAIR_OPERATIONS, load.pairs
    else:
        moved = max(1, round(load.moved * worlds))
        limit, work = _bandwidth(plan, moved, threads), load.moved
    used = machine.cores() if threads is None else threads
    entry = {
        "worlds": worlds,
        "agents": load.agents,
        "parameters": form.parameters,
        "threads": used if plan.on_cpu else None,
        "world_steps": timing.as_json(worlds),
        "agent_steps_per_second": rate * load.agents,
        "bytes_per_world_step": load.moved,
        "pairs_per_world_step": load.pairs,
        "limit": limit,
        "share_of_limit": rate * work / limit,
    }
    what = "pairs" if load.pairs else "B"
    row = [form.label, f"{worlds:,}", str(used) if plan.on_cpu else "GPU"]
    row += [si(rate * load.agents), si(rate), f"{si(rate * work)} {what}".replace(" B", "B")]
    return entry, [*row, f"{rate * work / limit:.0%}"]


def load_of(simulator: Simulator, form: Form) -> Load:
    """Return what a step of one world of a simulator is."""
    moved = traffic.count(simulator, ends_per_step=0.01).total
    given = {**simulator.parameters}
    pairs = sum(
        float(given[count]) * (simulator.agents_per_world - 1) * math.pi * float(given[reach]) ** 2
        for count, reach in form.ranges
    )
    return Load(simulator.agents_per_world, moved, pairs)


def _judge(plan: Plan, report: Report, form: Form, entry: dict[str, Any]) -> None:
    """Judge the bars of this machine; those of the other are not measured."""
    rate = entry["world_steps"]["per_second"]
    measured = {
        "agent-steps/s": entry["agent_steps_per_second"],
        "world steps/s": rate,
        "steps/s": rate / entry["worlds"],
    }[form.unit]
    kinds = ((form.bars, "all threads", plan.on_cpu), (form.device_bars, "H200", not plan.on_cpu))
    for bars, where, is_here in kinds:
        for name, required in bars.items():
            what = f"{plan.name}, {form.label}, {where}: {form.unit}"
            found = measured if is_here and plan.is_judged else None
            report.judge(Bar(f"{what} ({name})" if name else what, required, found, ""))


# ---- limits


def _bandwidth(plan: Plan, moved: int, threads: int | None) -> float:
    """Bytes per second of a copy that moves so many."""
    if plan.on_cpu:
        return machine.copy_bandwidth(moved, threads or machine.cores(), plan.clock)
    torch = importlib.import_module("torch")
    source = torch.zeros(_COPIED, dtype=torch.uint8, device=plan.device)
    target = torch.empty_like(source)
    return 2 * _COPIED / plan.clock.time(lambda _: target.copy_(source)).median


def _operations(plan: Plan, threads: int | None) -> float:
    """Operations per second of a product of float matrices, on all cores or a share of them."""
    size = _MATRIX if plan.on_cpu else 8 * _MATRIX
    if plan.on_cpu:
        a = np.ones((size, size), np.float32)
        out = np.empty_like(a)
        seconds = plan.clock.time(lambda _: np.matmul(a, a, out=out)).median
    else:
        torch = importlib.import_module("torch")
        t = torch.ones((size, size), device=plan.device)
        seconds = plan.clock.time(lambda _: torch.matmul(t, t)).median
    share = (threads or machine.cores()) / machine.cores() if plan.on_cpu else 1.0
    return 2 * size**3 / seconds * share


# ---- beside others


def _show_peers(plan: Plan, report: Report) -> None:
    table = Table(
        "Peers: world steps per second on one core, theirs of one world",
        ["", "steps/s", "ours", "ours over theirs"],
        note="Ours: one thread, as many worlds as above.",
    )
    results: dict[str, Any] = {}
    forms = {form.label: form for form in HERDS[plan.name]}
    for peer in peers.PEERS.get(plan.name, ()):
        try:
            subject = peers.open_quietly(peer, 1)
        except peers.MissingError as reason:
            report.say(f"{peer.name} is missing: {reason}")
            results[peer.name] = {"missing": str(reason)}
            continue
        timing = plan.clock.time(subject.step)
        subject.close()
        rate = subject.units / timing.median
        form = next(form for label, form in forms.items() if peer.name.endswith(label))
        own = _measure(plan, form, plan.worlds(form)[-1], 1)[0]["world_steps"]["per_second"]
        results[peer.name] = timing.as_json(subject.units) | {"ours_over_theirs": own / rate}
        table.rows.append([peer.name, si(rate), si(own), f"{own / rate:.3g}x"])
    report.results["peers"] = results
    if table.rows:
        report.show(table)
