"""The GPU check's figures of worlds with many agents: rates by size against the bars."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import gpu_native as native
from gpu_steps import Result, si


def _herds() -> dict[str, Any]:
    """Sizes and bars, which the package's benchmark has too; the package itself is not imported."""
    file = native.ROOT / "gpu_envs" / "benchmark" / "herds.py"
    spec = importlib.util.spec_from_file_location("herds", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["herds"] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    found: dict[str, Any] = module.HERDS
    return found


def _bars(result: Result, name: str, form: Any, measured: float | None) -> None:
    for bar, least in form.device_bars.items():
        what = f"{name}, {form.label}: {form.unit}"
        result.bar(f"{what} ({bar})" if bar else what, least, measured)


def unmeasured() -> Result:
    """All bars, where there is nothing to measure them on."""
    result = Result("skip", native.NO_GPU)
    for name, forms in _herds().items():
        for form in forms:
            _bars(result, name, form, None)
    return result


def _rates(name: str, form: Any, worlds: int, dry_run: bool) -> dict[str, float]:
    """Rates in each unit, and what a step hands out."""
    run = native.Run(native.tested(dry_run), name, worlds, parameters=form.parameters)
    run.reset(0)
    step = run.stepper()
    for i in range(8):
        step(i)
    if form.unit == "steps/s":  # shorter than its launch from Python: eight in a graph

        def roll() -> None:
            for actions in run.actions:
                run.step(actions)

        replay = native.capture(roll, run.on_gpu)
        seconds = native.time_call(lambda _: replay(), run.on_gpu) / len(run.actions)
    else:
        seconds = native.time_call(step, run.on_gpu, 0.002 if dry_run else 0.2)
    handed, units = sum(run.outputs.values()), run.units
    native.synchronize(run.on_gpu)
    run.close()
    return {
        "steps/s": 1 / seconds,
        "world steps/s": worlds / seconds,
        "agent-steps/s": units / seconds,
        "bytes/s": handed / seconds,
    }


def swarms(dry_run: bool) -> Result:
    """Rates of every size that the module at hand has, judged where there is a bar."""
    known = {d["id"] for d in native.environments(native.tested(dry_run))}
    result, rows, best = Result("pass", ""), [], ""
    for name, forms in _herds().items():
        for form in forms:
            if name not in known:
                _bars(result, name, form, None)
                continue
            worlds = min(form.worlds, 16) if dry_run else form.device_worlds
            rates = _rates(name, form, worlds, dry_run)
            result.data[f"{name}, {form.label}"] = {"worlds": worlds, **rates}
            units = ("agent-steps/s", "world steps/s", "bytes/s")
            rows.append([f"{name}, {form.label}", f"{worlds:,}", *(si(rates[u]) for u in units)])
            best = best or f"{name}, {form.label}: {si(rates['world steps/s'])} world steps/s"
            _bars(result, name, form, None if dry_run else rates[form.unit])
    header = ["", "N", "agent-steps/s", "world steps/s", "bytes handed out/s"]
    result.table("Worlds with many agents: random actions, all outputs", header, rows)
    result.detail = best or "no environment with many agents is built"
    if not rows:
        result.status = "skip"
    return result
