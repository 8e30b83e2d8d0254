"""Steps per second of a suite: of each game alone, and of all in one batch.

Each game has as many worlds alone as in the batch, and all are timed in turns: what the batch takes
longer than its games one after the other is its own. The harmonic mean of the games' rates is what
a batch reaches that costs nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from gpu_envs import suites
from gpu_envs.benchmark.clock import Call, Clock, Timing
from gpu_envs.benchmark.report import si
from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.core.simulator import Simulator

WORLDS = 64  # of each game
_ACTIONS = 16  # sets, which are taken in turns
_SETTLED = 30  # steps before the first that is timed: agents begin in the air


def run(name: str, clock: Clock, device: str, worlds: int, parameters: Mapping[str, Any]) -> None:
    """Measure, and print one table."""
    suite = suites.find(name, device=device, **parameters)
    all_of_them: list[Simulator | MixedSimulator] = []
    try:
        for game, own in suite.games.items():
            all_of_them.append(Simulator(game, worlds, **suite.common, **own))
        all_of_them.append(suite.simulator(worlds * len(suite.games)))
        agents = all_of_them[0].agents_per_world
        times = clock.race([_call(one) for one in all_of_them])
    finally:
        for one in all_of_them:
            one.close()
    width = max(len(game) for game in suite.games) + 2
    print(f"{'game':<{width}}{'worlds':>8}{'agent-steps/s':>15}{'a step':>10}")
    for game, timing in zip(suite.games, times, strict=False):
        _row(game, width, worlds, agents, timing)
    _row("all in one batch", width, worlds * len(suite.games), agents, times[-1])
    mean = statistics.harmonic_mean([worlds * agents / timing.median for timing in times[:-1]])
    share = worlds * len(suite.games) * agents / times[-1].median / mean
    print(f"{name}: one batch makes {share:.2f} of the harmonic mean of its games, {si(mean)}")


def _call(one: Simulator | MixedSimulator) -> Call:
    one.reset(seed=1)
    drawn: list[Any] = [one.sample_actions(seed=k) for k in range(_ACTIONS)]
    for k in range(_SETTLED):
        one.step(drawn[k % _ACTIONS])
    return lambda k: one.step(drawn[k % _ACTIONS])


def _row(what: str, width: int, worlds: int, agents: int, timing: Timing) -> None:
    rate = si(worlds * agents / timing.median)
    step = f"{timing.median * 1e3:.3g} ms"
    print(f"{what:<{width}}{worlds:>8,}{rate:>15}{step:>10}")
