"""World steps per second of games that several agents play.

Random legal moves are drawn natively inside the timed loop, and their share of the time is told.
What is counted is steps of whole worlds, whatever the number of agents. Beside them: the bytes that
a step hands out against a plain copy of as many bytes in the same run, other element types and
outputs, peers, and the curve over the number of agents with the memory of a world.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpu_envs import registration
from gpu_envs.benchmark import machine, peers
from gpu_envs.benchmark.clock import Clock, Timing
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.layout import Output
from gpu_envs.simulator import Simulator

WORLDS, QUICK_WORLDS = (1024, 16_384, 65_536), (64, 1024)
DEVICE_WORLDS = (1024, 16_384, 131_072, 1_048_576)
_SWEPT_WORLDS = 1024
_SWEPT_BYTES = 1 << 28  # of observations in one batch: fewer worlds where an agent's are large
_WARM_STEPS = 64


@dataclass(frozen=True, slots=True)
class Game:
    """What is measured of one environment: bars in world steps per second, and the sweep."""

    bar: float  # at the best number of worlds, all threads
    copy_share: float | None  # least part of a plain copy's rate, in memory; None: no bar
    device_bars: dict[int, float]  # by number of worlds
    formats: tuple[str, ...]
    swept: dict[str, Any]  # parameters of the sweep
    agents: tuple[int, ...]


GAMES = {
    "Hanabi-v0": Game(3e6, None, {131_072: 4e8}, ("bits", "float32"), {}, (2, 3, 4, 5)),
    "Overcooked-v0": Game(
        6e6,
        0.5,
        {16_384: 3e8, 1_048_576: 1e9},
        ("float32",),
        {"layout": "many_player"},
        (2, 4, 8, 16, 24, 32, 40),
    ),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run covers."""

    name: str
    worlds: Sequence[int]
    clock: Clock
    quick: bool
    with_peers: bool
    device: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How a game is stepped: element type, memory, threads, and outputs beyond the required."""

    dtype: str | None = None
    memory: str = "reuse"  # or "fresh"
    threads: int | None = None  # None: all
    outputs: tuple[str, ...] | None = ()  # None: all

    @property
    def label(self) -> str:
        """The form in words, for a table."""
        threads = "all threads" if self.threads is None else f"{self.threads} thread"
        if self.outputs is None:
            outputs = ", all outputs"
        else:
            outputs = "".join(f", {name}" for name in self.outputs)
        return f"{self.dtype or 'uint8'} {self.memory}, {threads}{outputs}"


class Match:
    """A batch of games in which everybody plays random legal moves."""

    def __init__(self, plan: Plan, worlds: int, form: Form, **parameters: Any) -> None:
        outputs = form.outputs
        if outputs is not None:
            outputs = (*outputs, "action_mask") if _has_mask(plan.name) else outputs
        self.simulator = Simulator(
            plan.name,
            worlds,
            device=plan.device,
            arrays="numpy" if plan.device == "cpu" else "torch",
            threads=form.threads,
            reuse=form.memory == "reuse",
            outputs=outputs,
            dtype=form.dtype,
            **{**plan.parameters, **parameters},
        )
        self._last = self.simulator.reset(seed=0)
        self._actions = self.simulator.sample_actions(self._last.action_mask)
        for i in range(_WARM_STEPS):
            self.step(i)

    def draw(self, _: int) -> None:
        """Draw the next moves."""
        self.simulator.sample_actions(self._last.action_mask, out=self._actions)

    def step(self, i: int) -> None:
        """Draw moves and play them."""
        self.draw(i)
        self._last = self.simulator.step(self._actions)

    def written(self) -> int:
        """Bytes that a step of all worlds hands out."""
        outputs: list[Output | None] = list(self.simulator.layout.outputs)
        return sum(output.nbytes for output in outputs if output is not None)


def _has_mask(name: str) -> bool:
    return bool(registration.find(name)["action_mask"])


def run(plan: Plan, report: Report, folder: Path) -> None:
    """Measure everything and fill the report."""
    _show_forms(plan, report)
    _show_copies(plan, report)
    if plan.with_peers and plan.device == "cpu":
        _show_peers(plan, report)
    _show_sweep(plan, report, folder)


def _time(plan: Plan, worlds: int, form: Form, **parameters: Any) -> tuple[Timing, Timing, int]:
    """The time of a step, of its draw alone, and the bytes handed out."""
    match = Match(plan, worlds, form, **parameters)
    timings = plan.clock.race([match.step, match.draw])
    written = match.written()
    match.simulator.close()
    return timings[0], timings[1], written


# ---- forms


def _forms(plan: Plan) -> list[Form]:
    main = Form()
    forms = [main, replace(main, memory="fresh")]
    if plan.device == "cpu":
        forms.insert(1, replace(main, threads=1))
    forms += [replace(main, dtype=dtype) for dtype in GAMES[plan.name].formats]
    return [*forms, replace(main, outputs=("state",)), replace(main, outputs=None)]


def _show_forms(plan: Plan, report: Report) -> None:
    title = "World steps per second, random legal moves drawn in the loop"
    table = Table(title, ["", *(f"N = {n:,}" for n in plan.worlds), "bytes per world step"])
    results: dict[str, Any] = {}
    best: dict[int, float] = {}
    for form in _forms(plan):
        cells, entry = [form.label], results.setdefault(form.label, {})
        written = 0
        for worlds in plan.worlds:
            step, _, written = _time(plan, worlds, form)
            entry[str(worlds)] = step.as_json(worlds)
            cells.append(si(worlds / step.median))
            if form == Form():
                best[worlds] = worlds / step.median
        table.rows.append([*cells, f"{written / plan.worlds[-1]:,.0f}"])
    report.results["world_steps_per_second"] = results
    report.show(table)
    game = GAMES[plan.name]
    if plan.device == "cpu":
        what = "world steps/s at the best N, all threads, reused uint8 arrays"
        report.judge(Bar(what, game.bar, max(best.values()), "/s"))
        return
    for worlds, required in game.device_bars.items():
        report.judge(Bar(f"world steps/s at N = {worlds:,}", required, best.get(worlds), "/s"))


# ---- against a copy


def _show_copies(plan: Plan, report: Report) -> None:
    """Bytes handed out per second beside a plain copy of as many bytes."""
    table = Table(
        "Bytes handed out against a plain copy of as many bytes",
        ["N", "ns per world step", "drawing moves", "bytes per step", "bytes/s", "copy", "share"],
        note="Reused uint8 arrays, all threads. A copy of few bytes stays in a cache.",
    )
    results = {}
    for worlds in plan.worlds:
        step, draw, written = _time(plan, worlds, Form())
        copied = _copy_rate(plan, written)
        rate = written / step.median
        results[str(worlds)] = {
            "seconds_per_world_step": step.median / worlds,
            "share_of_drawing": draw.median / step.median,
            "bytes_per_world_step": written / worlds,
            "bytes_per_second": rate,
            "copied_bytes_per_second": copied,
            "of_a_copy": rate / copied,
        }
        table.rows.append(
            [
                f"{worlds:,}",
                f"{step.median / worlds * 1e9:.1f}",
                f"{draw.median / step.median:.0%}",
                f"{written / worlds:,.0f}",
                si(rate),
                si(copied),
                f"{rate / copied:.0%}",
            ]
        )
    report.results["against_a_copy"] = results
    report.show(table)
    share = GAMES[plan.name].copy_share
    if plan.device == "cpu" and share is not None:
        last = str(plan.worlds[-1])
        what = f"bytes handed out over a plain copy of as many, N = {int(last):,}"
        report.judge(Bar(what, share, results[last]["of_a_copy"], ""))


def _copy_rate(plan: Plan, size: int) -> float:
    """Bytes copied per second: a copy moves each twice, by a read and a write."""
    if plan.device == "cpu":
        return machine.copy_bandwidth(2 * size, machine.cores(), plan.clock) / 2
    torch = importlib.import_module("torch")
    source = torch.zeros(size, dtype=torch.uint8, device=plan.device)
    target = torch.empty_like(source)
    return size / plan.clock.time(lambda _: target.copy_(source)).median


# ---- beside others


def _show_peers(plan: Plan, report: Report) -> None:
    table = Table(
        "Peers: world steps per second, observations of all agents included",
        ["", "N", "steps/s", "ours", "ours over theirs"],
        note="Ours: the best N with one thread; all threads for a peer that uses all.",
    )
    results: dict[str, Any] = {}
    ours = {t: _best(plan, t) for t in (1, None)}
    for peer in peers.PEERS.get(plan.name, ()):
        try:
            subject = peers.open_quietly(peer, peer.most_worlds)
        except peers.MissingError as reason:
            report.say(f"{peer.name} is missing: {reason}")
            results[peer.name] = {"missing": str(reason)}
            continue
        timing = plan.clock.time(subject.step)
        subject.close()
        own = ours[None if peer.threaded else 1]
        rate = subject.units / timing.median
        results[peer.name] = timing.as_json(subject.units) | {
            "ours_per_second": own,
            "ours_over_theirs": own / rate,
        }
        table.rows.append(
            [peer.name, f"{peer.most_worlds:,}", si(rate), si(own), f"{own / rate:.3g}x"]
        )
    report.results["peers"] = results
    report.show(table)


def _best(plan: Plan, threads: int | None) -> float:
    rates = [n / _time(plan, n, Form(threads=threads))[0].median for n in plan.worlds]
    return max(rates)


# ---- over the number of agents


def _show_sweep(plan: Plan, report: Report, folder: Path) -> None:
    game = GAMES[plan.name]
    table = Table(
        "By agents per world",
        ["agents", "worlds", "world steps/s", "agent-steps/s", "bytes of a world", "handed out"],
        note=f"Parameters: {game.swept}" if game.swept else "",
    )
    points = []
    for agents in game.agents[:2] if plan.quick else game.agents:
        points.append(_sweep_point(plan, game, agents))
        p = points[-1]
        table.rows.append(
            [
                str(agents),
                f"{p['worlds']:,}",
                si(p["world_steps_per_second"]),
                si(p["world_steps_per_second"] * agents),
                f"{p['bytes_of_a_world']:,}",
                f"{p['bytes_handed_out']:,.0f}",
            ]
        )
    report.results["by_agents"] = points
    report.show(table)
    _plot(report, folder, points)


def _sweep_point(plan: Plan, game: Game, agents: int) -> dict[str, Any]:
    parameters = game.swept | {"player_count": agents}
    probe = Simulator(plan.name, 1, device="cpu", **parameters)
    observation = probe.layout.of("obs")
    assert observation is not None  # of the required outputs
    worlds = max(1, min(_SWEPT_WORLDS, _SWEPT_BYTES // observation.nbytes))
    record = int(probe.instance["record_bytes"])
    probe.close()
    step, _, written = _time(plan, worlds, Form(), **parameters)
    return {
        "agents": agents,
        "worlds": worlds,
        "world_steps_per_second": worlds / step.median,
        "bytes_of_a_world": record,
        "bytes_handed_out": written / worlds,
    }


def _plot(report: Report, folder: Path, points: Sequence[dict[str, Any]]) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        report.say("matplotlib is not installed: no plots")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    agents = [p["agents"] for p in points]
    rates = [p["world_steps_per_second"] for p in points]
    handed = [rate * p["bytes_handed_out"] for rate, p in zip(rates, points, strict=True)]
    axes.plot(agents, rates, marker="o", color="C0", label="world steps per second")
    axes.set_yscale("log")
    axes.set_xlabel("agents per world")
    axes.set_ylabel("world steps per second")
    axes.set_xticks(agents)
    axes.grid(True, which="major", alpha=0.3)
    other = axes.twinx()
    other.plot(agents, [h / 1e9 for h in handed], "--", marker="s", color="C1", label="GB/s")
    other.set_ylabel("gigabytes handed out per second")
    other.set_ylim(0, max(handed) / 1e9 * 1.2)
    lines = [*axes.get_lines(), *other.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], fontsize=8, loc="lower left")
    where = f"{report.machine['device_name']}, {report.machine['cores']} cores"
    axes.set_title(f"{report.environment} on {where}", fontsize=10)
    name = f"{report.stem()}_agents.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, dpi=120)
    pyplot.close(figure)
    report.figures.append(name)
