"""What small cases do with a pair of worlds: play, reset, draw actions, copy and save."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scripts.ptx.pairs import Pair
from scripts.ptx.plays import actions_of, masks_of

Act = Callable[[Pair], None]

SHORT = 3  # steps of an episode, where episodes have to end


def play(steps: int = 4, kind: str = "drawn", seed: int = 1) -> Act:
    """Return a run of a few steps between a reset and an observation."""

    def act(pair: Pair) -> None:
        pair.reset(seed)
        for actions in actions_of(pair, kind, steps) if kind != "legal" else ():
            pair.step(actions)
        for _ in range(steps if kind == "legal" else 0):
            pair.step(pair.sample(seed))
        pair.observe()
        pair.faults()

    return act


def seeds(pair: Pair) -> None:
    """Seeds by world, none, the largest; masked resets between steps."""
    worlds, masks = pair.worlds, [np.arange(pair.worlds) % 2 == k for k in range(2)]
    first, second, *_ = actions_of(pair, "drawn", 2)
    pair.reset(list(range(100, 100 + worlds)))
    pair.step(first)
    pair.reset(None)
    pair.step(second)
    pair.reset(2**64 - 1, masks[0])
    pair.step(first)
    pair.reset([2**63 + k for k in range(worlds)], masks[1])
    pair.reset(None, np.zeros(worlds))
    pair.step(second)
    pair.reset(None, np.ones(worlds))


def frozen(pair: Pair) -> None:
    """Worlds that are over and wait; some of them are then reset."""
    pair.reset(3)
    for step, actions in enumerate(actions_of(pair, "drawn", 3 * SHORT)):
        pair.step(actions)
        if step % 4 == 3:
            pair.reset(None, np.arange(pair.worlds) % 3 == 0)
    pair.faults()


def late(pair: Pair) -> None:
    """Episodes whose last step is near, in every second world, then in the others."""
    pair.reset(5)
    limit, actions = pair.facts["max_episode_steps"], actions_of(pair, "drawn", 8)
    for first in (0, 1):
        steps = pair.column("world.step")
        steps[first::2] = max(limit - 2, 0)
        pair.set_column("world.step", steps, None)
        for given in actions[4 * first :][:4]:
            pair.step(given)
    pair.faults()


def draws(pair: Pair) -> None:
    """Actions drawn with and without the mask of legal ones."""
    pair.reset(6)
    for step in range(6):
        pair.step(pair.sample(7 + step, is_legal=step % 3 != 2))
    for mask in masks_of(pair.facts):
        pair.sample(8, mask=mask)
    pair.faults()


def moves(pair: Pair) -> None:
    """Copies, forks, records and saves."""
    first, second, *_ = actions_of(pair, "drawn", 2)
    pair.reset(8)
    pair.step(first)
    saved, last = pair.save(), pair.worlds - 1
    others = list(range(1, pair.worlds))[-2:]
    pair.copy([0] * len(others), others, False)
    pair.step(second)
    if last > 0:
        pair.copy([last], [0], True)
    pair.step(first)
    record = pair.records(last // 2, 1)
    pair.load(saved)
    pair.write_records(last, record)
    pair.observe()
    pair.step(second)
    pair.write_records(0, pair.records(0, pair.worlds))


def reset_with(options: dict[str, Any]) -> Act:
    """Return resets of all worlds and of some with these options."""

    def act(pair: Pair) -> None:
        pair.reset(11, None, options)
        for step, actions in enumerate(actions_of(pair, "drawn", 8)):
            pair.step(actions)
            if step == 5:
                pair.reset(None, np.arange(pair.worlds) % 2 == 0, options)

    return act
