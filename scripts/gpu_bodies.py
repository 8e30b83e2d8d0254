"""The GPU check's figures of worlds with rigid bodies: world steps per second against the bars."""

from __future__ import annotations

import time

import gpu_native as native
from gpu_steps import Result, si

_NAME, _STEPS = "HideSeek-v0", 1920  # eight episodes, resets included
_BARS = (("floor", 5e6), ("goal", 1e7))  # world steps/s at the largest number of worlds
_SHARE = 0.75  # of it, at the number before


def _rate(worlds: int, steps: int, dry_run: bool) -> float:
    """World steps per second over whole episodes with random actions."""
    run = native.Run(native.tested(dry_run), _NAME, worlds)
    run.reset(0)
    step = run.stepper()
    for i in range(8):
        step(i)
    native.synchronize(run.on_gpu)
    begin = time.perf_counter()
    for i in range(steps):
        step(i)
    native.synchronize(run.on_gpu)
    seconds = time.perf_counter() - begin
    run.close()
    return worlds * steps / seconds


def bodies(dry_run: bool) -> Result:
    """Rates by number of worlds, judged at the largest."""
    worlds = (16, 64) if dry_run else (1024, 8192, 32_768)
    steps = 20 if dry_run else _STEPS
    rates = {n: _rate(n, steps, dry_run) for n in worlds}
    result = Result("pass", f"{si(rates[worlds[-1]])} world steps/s at N = {worlds[-1]:,}")
    result.table(
        f"{_NAME}: world steps per second, {steps} steps, random actions",
        ["N", "steps/s"],
        [[f"{n:,}", si(rate)] for n, rate in rates.items()],
    )
    result.data.update({str(n): rate for n, rate in rates.items()})
    if not dry_run:
        for name, least in _BARS:
            result.bar(f"{_NAME} at N = {worlds[-1]:,} ({name})", least, rates[worlds[-1]])
        share = rates[worlds[-2]] / rates[worlds[-1]]
        result.bar(f"{_NAME}: N = {worlds[-2]:,} over N = {worlds[-1]:,}", _SHARE, share)
    return result
