"""Judges the bars in the data: finds the points of each, and compares them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.plan import CAPTURED_WORLDS, Plan
from gpu_envs.benchmark.points import Case, Point, find
from gpu_envs.benchmark.report import Bar, Report
from gpu_envs.errors import unknown

UNITS = {
    "world_steps": "world steps/s",
    "agent_steps": "agent-steps/s",
    "calls": "steps of all worlds/s",
    "of_limit": "share of what the machine allows",
    "of_copy": "bytes handed out over a plain copy of as many",
}
# All other keys are labels of measurements.
_OWN = ("of", "least", "avx2", "on", "name", "over", "why")


def judge(plan: Plan, report: Report, points: list[Point], on: str = "") -> None:
    """Judge the bars of this machine; those of the other are not measured, or not asked for."""
    for bar in plan.data.get("bars", ()):
        if on and bar.get("on", "cpu") != on:
            continue
        report.judge(judged(plan, bar, points))


def judged(plan: Plan, bar: dict[str, Any], points: list[Point]) -> Bar:
    """One bar, and its measurement."""
    is_here = (bar.get("on") == "device") == plan.on_gpu
    found, point = None, None
    if is_here and plan.is_judged:
        found, point = _measured(bar, points, plan.on_gpu)
    note = point.against() if point is not None else ""
    return Bar(_words(plan.name, bar), _asked(plan, bar), found, "", note=note)


def _asked(plan: Plan, bar: dict[str, Any]) -> float:
    """What is asked of this machine."""
    share: float = bar.get("avx2", 1) if plan.target == "cpu_v3" else 1
    return share * float(bar["least"])


def unmeasured(name: str, data: dict[str, Any], on: str) -> list[Bar]:
    """Bars of a machine that is not here to measure."""
    bars = data.get("bars", ())
    return [Bar(_words(name, b), b["least"], None, "") for b in bars if b.get("on", "cpu") == on]


def labels(bar: dict[str, Any]) -> dict[str, Any]:
    """Labels of the measurement of a bar."""
    return {key: value for key, value in bar.items() if key not in _OWN}


def cases(plan: Plan, bar: dict[str, Any]) -> Iterator[Case]:
    """Labels of the cases that a bar of this machine needs."""
    own = labels(bar)
    for how in (own, {**own, **bar["over"]}) if "over" in bar else (own,):
        form = next(form for form in plan.forms() if form.label == how.get("form", ""))
        worlds = (how["worlds"],) if "worlds" in how and plan.is_judged else form.worlds
        if "graph" in how:
            worlds = (min(CAPTURED_WORLDS, max(worlds)),)
        kept = {key: how[key] for key in ("outputs", "dtype", "lanes", "graph") if key in how}
        yield from (plan.case(form, count, **kept) for count in worlds)


def _measured(
    bar: dict[str, Any], points: list[Point], on_gpu: bool
) -> tuple[float | None, Point | None]:
    """The best point of a bar; a ratio to another one's where the bar has `over`."""
    if bar["of"] not in UNITS:
        raise ValueError(unknown("measure of a bar (of)", bar["of"], UNITS))
    value, point = _best(bar["of"], labels(bar), points, on_gpu)
    if "over" not in bar or value is None:
        return value, point
    other, _ = _best(bar["of"], labels(bar) | bar["over"], points, on_gpu)
    # Only points of this run are compared: a bar over another's never mixes two runs.
    return (value / other if other else None), point


def _best(
    of: str, labels: dict[str, Any], points: list[Point], on_gpu: bool
) -> tuple[float | None, Point | None]:
    threads = labels.get("threads", "all")
    wanted = {**labels, "threads": cores() if threads == "all" else threads}
    if on_gpu:
        wanted["threads"] = None  # as its points have it
    if "entry" in wanted:
        # A way through the package without a word on arrays means the usual ones of the machine.
        wanted.setdefault("arrays", "torch" if on_gpu else "numpy")
    found = [(value, point) for point in find(points, **wanted) if (value := point.get(of))]
    return max(found, key=lambda pair: pair[0], default=(None, None))


def _words(name: str, bar: dict[str, Any]) -> str:
    """A bar in words."""
    said = [name, *filter(None, [bar.get("form")])]
    said += ["on a GPU"] if bar.get("on") == "device" else []
    said += _labels({key: value for key, value in labels(bar).items() if key != "form"})
    text = f"{', '.join(said)}: {UNITS.get(bar['of'], bar['of'])}"
    text += f" over that with {', '.join(_labels(bar['over']))}" if "over" in bar else ""
    return f"{text} ({bar['name']})" if "name" in bar else text


def _labels(labels: dict[str, Any]) -> list[str]:
    """Labels of a measurement in words."""
    forms = {
        "worlds": "N = {:,}",
        "threads": "{} thread(s)",
        "outputs": "{} outputs",
        "entry": "{}.step",
        "graph": "{} steps in a graph",
        "value": "{:,}",
    }
    return [forms.get(key, "{}").format(value) for key, value in labels.items()]
