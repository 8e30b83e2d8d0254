"""Steps per second of a suite: of each game alone, and of all in one batch.

Each game has the same worlds alone as in the batch, and they take the same actions: both do the
same work, in turns, and write into the same arrays in every step, as the trainer does. What the
batch takes longer than its games one after the other is its own, and what caches cost that hold one
game and not eight. The harmonic mean of the games' rates is what a batch reaches that costs
nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_envs import suites
from gpu_envs.benchmark.clock import Call, Clock
from gpu_envs.benchmark.report import si
from gpu_envs.core.mixed import MixedSimulator
from gpu_envs.core.simulator import Simulator

WORLDS = 64  # of each game
_ACTIONS = 16  # sets, which are taken in turns
_SETTLED = 30  # steps before the first that is timed: agents begin in the air


def run(name: str, clock: Clock, device: str, worlds: int, parameters: Mapping[str, Any]) -> None:
    """Measure, and print one table."""
    suite = suites.find(name, device=device, reuse=True, **parameters)
    alone: list[Simulator] = []
    mixed = suite.simulator(worlds * len(suite.games))
    try:
        for game, own in suite.games.items():
            alone.append(Simulator(game, worlds, **suite.common, **own))
        agents = mixed.agents_per_world
        samples = _race(clock, _calls(mixed, alone))
    finally:
        mixed.close()
        for one in alone:
            one.close()
    width = max(len(game) for game in suite.games) + 2
    print(f"{'game':<{width}}{'worlds':>8}{'agent-steps/s':>15}{'a step':>10}")
    times = [statistics.median(sample) for sample in zip(*samples, strict=True)]
    for game, seconds in zip(suite.games, times, strict=False):
        _row(game, width, worlds, agents, seconds)
    _row("all in one batch", width, worlds * len(suite.games), agents, times[-1])
    share = statistics.median(sum(one[:-1]) / one[-1] for one in samples)
    mean = worlds * len(suite.games) * agents / sum(times[:-1])
    print(f"{name}: one batch makes {share:.2f} of the harmonic mean of its games, {si(mean)}")


def _calls(mixed: MixedSimulator, alone: Sequence[Simulator]) -> list[Call]:
    """Return the steps of each game alone and, last, of all in one batch, which have begun."""
    drawn: list[Any] = [mixed.sample_actions(seed=k) for k in range(_ACTIONS)]

    def call(one: Simulator | MixedSimulator, actions: Sequence[Any]) -> Call:
        one.reset(seed=1)
        for k in range(_SETTLED):
            one.step(actions[k % _ACTIONS])
        return lambda k: one.step(actions[k % _ACTIONS])

    calls = [
        call(one, [part.of(actions, mixed.num_worlds) for actions in drawn])
        for part, one in zip(mixed.parts, alone, strict=True)
    ]
    return [*calls, call(mixed, drawn)]


def _race(clock: Clock, calls: Sequence[Call]) -> list[list[float]]:
    """Return the seconds of a step of each call, repeat by repeat; all take as many steps."""
    count = _SETTLED
    whole = sum(clock.run(call, count) for call in calls) / len(calls)  # the warm-up
    count = max(1, round(count * clock.seconds / max(whole, 1e-9)))
    return [[clock.run(call, count) / count for call in calls] for _ in range(clock.repeats)]


def _row(what: str, width: int, worlds: int, agents: int, seconds: float) -> None:
    rate = si(worlds * agents / seconds)
    step = f"{seconds * 1e3:.3g} ms"
    print(f"{what:<{width}}{worlds:>8,}{rate:>15}{step:>10}")
