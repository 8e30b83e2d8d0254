"""Other people's programs for the same task, measured beside ours in the same run.

Each is optional: a missing one is reported with its reason.
"""

from __future__ import annotations

import warnings
from typing import Any

from gpu_envs.benchmark.cases import open_case, warmed
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.plan import Form, Plan
from gpu_envs.benchmark.points import Point, Subject, find
from gpu_envs.benchmark.programs import PROGRAMS, MissingError
from gpu_envs.benchmark.report import Report, Table, si


def open_quietly(peer: dict[str, Any], worlds: int) -> Subject:
    """Open a peer; any error in it becomes a `MissingError` of one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return warmed(PROGRAMS[peer["program"]](worlds, **peer.get("with", {})))
        except MissingError:
            raise
        except Exception as problem:  # a peer's failure must not end our run
            text = (str(problem).splitlines() or [""])[0]
            raise MissingError(f"it failed with {type(problem).__name__}: {text}") from problem


# ---- beside ours


def show(plan: Plan, points: list[Point], report: Report) -> None:
    """Peers' rates, and ours over theirs with as many threads as they use."""
    peers = plan.data.get("peers", ())
    results: dict[str, Any] = {}
    table = Table("Peers: world steps per second (ours over theirs)", [""])
    table.note = (
        "Ours: Simulator.step with all outputs in fresh arrays, measured in turns with the peer; "
        "the best N of ours where the peer has another. One thread against one, all against all."
    )
    rows: dict[str, dict[int, str]] = {}
    for peer in peers:
        entry = results.setdefault(peer["label"], {})
        row = rows.setdefault(peer["label"], {})
        for worlds, own in _batches(plan, points, peer):
            try:
                entry[str(worlds)] = found = _beside(plan, peer, worlds, own)
            except MissingError as reason:
                report.say(f"{peer['label']} is missing at N = {worlds:,}: {reason}")
                entry["missing"] = str(reason)
                break
            row[worlds] = f"{si(found['per_second'])} ({found['ours_over_theirs']:.3g}x)"
    columns = sorted({worlds for row in rows.values() for worlds in row})
    table.header += [f"N = {n:,}" for n in columns]
    table.rows = [[name, *(row.get(n, "-") for n in columns)] for name, row in rows.items()]
    report.results["peers"] = results
    if columns:
        report.show(table)


def _batches(plan: Plan, points: list[Point], peer: dict[str, Any]) -> list[tuple[int, int]]:
    """Numbers of worlds of the peer, and of ours."""
    form = _form(plan, peer)
    most = peer.get("worlds", 1)
    shared = [(n, n) for n in form.worlds if n <= most]
    threads = cores() if peer.get("threads") == "all" else 1
    own = find(points, form=form.label, threads=threads)
    best = max(own, key=lambda point: point.get("world_steps") or 0.0).case.worlds
    # A peer of few worlds is compared with our best, not with as few of ours.
    return shared or [(most, best)]


def _form(plan: Plan, peer: dict[str, Any]) -> Form:
    forms = plan.forms()
    return next((form for form in forms if form.label == peer.get("form", "")), forms[0])


def _beside(plan: Plan, peer: dict[str, Any], worlds: int, own: int) -> dict[str, float]:
    threads = cores() if peer.get("threads") == "all" else 1
    how = {"entry": "Simulator", "arrays": "numpy", "memory": "fresh", "threads": threads}
    case = plan.case(_form(plan, peer), own, **how)
    theirs = open_quietly(peer, worlds)
    ours = open_case(case, bool(plan.data.get("drawn")))
    # In turns, so that a busy machine slows both alike.
    timings = plan.clock.race([theirs.step, ours.step])
    theirs.close()
    ours.close()
    rate, own_rate = theirs.units / timings[0].median, own / timings[1].median
    ratio = {"ours_per_second": own_rate, "ours_over_theirs": own_rate / rate}
    return timings[0].as_json(theirs.units) | ratio
