"""The main loop: measures the cases of a plan, section by section, and shows the results.

`run` is the whole of it, for `python -m gpu_envs bench`; scripts/gpu/check.sh takes parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gpu_envs.benchmark import bars, plots
from gpu_envs.benchmark.cases import measure, open_case
from gpu_envs.benchmark.limits import PAIR_OPERATIONS, Limits, byte_table
from gpu_envs.benchmark.plan import Form, Plan
from gpu_envs.benchmark.points import Case, Point
from gpu_envs.benchmark.report import Report, Table, si
from gpu_envs.known import native
from gpu_envs.terminal.progress import Progress

_WATCHED_WORLDS, _MOST_STAGES, _MOST_LETTERS = 64, 12, 60


class Bench:
    """Measurements of one environment so far."""

    def __init__(self, plan: Plan, report: Report) -> None:
        self.plan, self.report = plan, report
        self.points: list[Point] = []
        self.limits = Limits(plan.clock, plan.on_gpu, plan.quick)

    def measure(self, cases: Iterable[Case]) -> list[Point]:
        """Measure cases; those that differ only in threads in turns, for their ratio.

        A case that is not compiled gets a line.
        """
        groups: dict[str, list[Case]] = {}
        for case in cases:
            groups.setdefault(repr(replace(case, threads=None)), []).append(case)
        found = []
        with Progress(f"measuring {self.plan.name}", total=len(groups)) as progress:
            for group in groups.values():
                progress.step(0, note=f"{group[0].worlds:,} worlds, {group[0].way}")
                points = self._measure(group)
                progress.clear()
                for point in points:
                    self.report.follow(point)
                progress.step()
                found += points
        self.points += found
        return found

    def _measure(self, group: list[Case]) -> list[Point]:
        """Measure cases in turns; none where they are not compiled."""
        try:
            return measure(group, self.plan.clock, bool(self.plan.data.get("drawn")))
        except (ValueError, RuntimeError) as problem:
            if not group[0].lanes:
                raise
            self.report.say(f"{group[0].way} are not available: {problem}")
            return []

    def show_rates(self, forms: list[Form]) -> None:
        """World steps per second of every form, and other ways of the first."""
        found = []
        for form in forms:
            details = self.plan.detailed(form) if form == forms[0] else ()
            found += self.measure([*self.plan.plain(form), *details, *self.plan.graphs(form)])
        actions = "drawn, legal" if self.plan.data.get("drawn") else "random"
        steps = f", {self.plan.clock.steps} steps" if self.plan.clock.steps else ""
        self.report.show(pivot(f"World steps per second, {actions} actions{steps}", found))

    def show_limits(self, forms: list[Form]) -> None:
        """Every form with its plain ways against what memory or arithmetic allow."""
        table = Table(
            "Against what the machine allows",
            [
                "",
                "N",
                "us per step",
                "ns per world step",
                "agent-steps/s",
                "work/s",
                "of the limit",
            ],
        )
        table.header += ["of memory", "handed out, of a copy", "bytes of a world"]
        drawn = bool(self.plan.data.get("drawn"))
        table.header += ["drawing"] if drawn else []
        for form in forms:
            for case in self.plan.plain(form):
                for point in [point for point in self.points if point.case == case]:
                    self.limits.judge(point, form)
                    table.rows.append(_limit_row(point, drawn))
        copies = f"{si(self.limits.copied(self.limits.size, None if self.plan.on_gpu else 1))}B/s"
        table.note = (
            f"The limit: a plain copy of as many bytes, or {PAIR_OPERATIONS} operations per pair "
            f"in range at the speed of a product of matrices. A copy in memory moves {copies}, one "
            "that fits a cache more."
        )
        if self.plan.on_gpu:
            table.note += f" The second-level cache holds {si(self.limits.cache)}B."
        self.report.show(table)
        self._show_bytes(forms[0])

    def _show_bytes(self, form: Form) -> None:
        lines = byte_table(self.plan.case(form, 1))
        table = Table("Bytes per step and world that must move", ["", "read", "written"])
        table.rows = [[x.what, f"{x.read:.1f}", f"{x.written:.1f}"] for x in lines]
        sums = [sum(x.read for x in lines), sum(x.written for x in lines)]
        table.rows.append(["all", *(f"{total:.1f}" for total in sums)])
        self.report.results["bytes"] = {x.what: [x.read, x.written] for x in lines}
        self.report.show(table)

    def show_parts(self, form: Form) -> None:
        """Show the time of a step by stage, from the clocks around them; only on the CPU."""
        worlds = min(_WATCHED_WORLDS, max(form.worlds))
        case = self.plan.case(form, worlds, threads=1)
        module = native.at(case.target, case.name)
        subject = open_case(case, bool(self.plan.data.get("drawn")))
        clock = self.plan.clock
        steps = clock.steps or max(1, round(clock.seconds / clock.time(subject.step).median))
        module.watch_stages(True)
        clock.run(subject.step, steps)
        stages = module.stage_seconds()
        module.watch_stages(False)
        subject.close()
        spent = _by_part(stages, self.plan.data.get("parts", {}))
        whole = sum(spent.values()) or 1.0
        table = Table("Parts of a step", ["", "us per world step", "share"])
        table.note = f"Clocks around the stages, N = {worlds}, one thread; they add a little."
        for part, seconds in sorted(spent.items(), key=lambda item: -item[1])[:_MOST_STAGES]:
            each = f"{seconds / steps / worlds * 1e6:.3g}"
            table.rows.append([_short(part), each, f"{seconds / whole:.0%}"])
        taken = steps * worlds
        self.report.results["parts"] = {part: x / taken for part, x in spent.items()}
        self.report.results["stages"] = {stage: x / taken for stage, x in stages}
        self.report.show(table)

    def show_sweeps(self, folder: Path | None) -> None:
        """Measure curves over the number of agents, or another parameter that the data sweeps."""
        for name, cases in self.plan.sweeps():
            threads = self.plan.threads()
            found = self.measure(_with_threads(cases, threads))
            table = Table(f"By {name}", [name, "N"])
            table.header += [f"agent-steps/s, {_threads(t)}" for t in threads]
            table.header += [f"{threads[-1]} over 1"] if len(threads) > 1 else []
            table.header += ["world steps/s", "ns per agent", "bytes of a world", "handed out"]
            for i in range(0, len(found), len(threads)):
                table.rows.append(_sweep_row(found[i : i + len(threads)]))
            self.report.show(table)
            if folder is not None:
                plots.draw(self.report, folder, name, found)

    def finish(self, on: str = "") -> None:
        """Judge the bars, those of one kind of machine or all, and hand over all points."""
        bars.judge(self.plan, self.report, self.points, on)
        self.report.keep(self.points)


def run(plan: Plan, report: Report, folder: Path | None, with_peers: bool) -> None:
    """Measure everything and fill the report."""
    bench, forms = Bench(plan, report), plan.forms()
    bench.show_rates(forms)
    bench.show_limits(forms)
    if not plan.on_gpu:
        bench.show_parts(forms[0])
    bench.show_sweeps(folder)
    if not plan.on_gpu and plan.through_package:
        from gpu_envs.benchmark import overhead, peers

        if plan.has_one_agent:
            overhead.measure(plan, report)
        if with_peers:
            peers.show(plan, bench.points, report)
    bench.finish()


# ---- tables


def pivot(title: str, points: list[Point]) -> Table:
    """Forms and ways in rows, numbers of worlds in columns."""
    worlds = sorted({point.case.worlds for point in points})
    table = Table(title, ["", *(f"N = {n:,}" for n in worlds), "bytes handed out"])
    rows: dict[str, dict[int, Point]] = {}
    for point in points:
        label = ": ".join(filter(None, (point.case.form, point.case.way)))
        rows.setdefault(label, {})[point.case.worlds] = point
    for label, row in rows.items():
        cells = [si(row[n].case.worlds / row[n].timing.median) if n in row else "" for n in worlds]
        table.rows.append([label, *cells, f"{next(iter(row.values())).handed:,}"])
    return table


def _threads(count: int | None) -> str:
    return "GPU" if count is None else f"{count} thread{'s' if count > 1 else ''}"


def _limit_row(point: Point, drawn: bool) -> list[str]:
    case, found = point.case, point.found
    rate = case.worlds / point.timing.median
    label = ", ".join(filter(None, (case.form, _threads(case.threads), case.outputs)))
    unit, work = ("pairs", found["pairs_in_range"]) if found["pairs_in_range"] else ("B", 0.0)
    row = [label, f"{case.worlds:,}", f"{point.timing.median * 1e6:,.1f}", f"{1e9 / rate:,.1f}"]
    row.append(si(rate * point.agents))
    done = f"{si(rate * (work or found['bytes_moved']))} {unit}".replace(" B", "B")
    row += [done, f"{found['of_limit']:.0%}", f"{found['of_memory']:.0%}"]
    row += [f"{found['of_copy']:.0%}", f"{point.size:,}"]
    return [*row, f"{point.drawing:.0%}"] if drawn else row


def _sweep_row(points: list[Point]) -> list[str]:
    first, last = points[0], points[-1]
    rate = last.case.worlds / last.timing.median
    row = [f"{first.case.value:,}", f"{first.case.worlds:,}"]
    row += [si(point.get("agent_steps") or 0.0) for point in points]
    if first is not last:
        row.append(f"{first.timing.median / last.timing.median:.2f}")
    row += [si(rate), f"{1e9 / rate / last.agents:,.1f}"]
    return [*row, f"{last.size:,}", f"{last.handed:,}"]


def _with_threads(cases: list[Case], threads: list[int | None]) -> Iterable[Case]:
    return (replace(case, threads=count) for case in cases for count in threads)


def _short(stage: str) -> str:
    """A stage's name without its namespaces, as long as a line of a table."""
    name = re.sub(r"(?:\w+::)+(?=\w)", "", stage)
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 3] + "..."


def _by_part(stages: list[tuple[str, float]], parts: dict[str, str]) -> dict[str, float]:
    """Seconds by part of the data, with other stages as the life cycle; without data, by stage."""
    spent: dict[str, float] = {}
    for name, seconds in stages:
        rest = "life cycle" if parts else name
        part = next((part for part, form in parts.items() if re.search(form, name)), rest)
        spent[part] = spent.get(part, 0.0) + seconds
    return spent
