"""Values that descriptions allow: of parameters and options, and of the columns of worlds."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from gpu_envs.benchmark.worlds import draw_valid
from scripts.ptx.pairs import Array, Pair

MODERATE = 1e4  # floats that are set stay below it: what is infinite or NaN has other tests


def values_of(described: dict[str, Any]) -> list[Any]:
    """Return values of a parameter or option beside its default."""
    if described.get("names"):
        found = list(described["names"])
    elif described["type"] == "bool":
        found = [False, True]
    elif described["type"] == "string":
        return []
    else:
        found = _numbers(described)
    return [value for value in found if value != described["default"]]


def _numbers(described: dict[str, Any]) -> list[Any]:
    low, high, default = (described[key] for key in ("low", "high", "default"))
    is_float = described["type"].startswith("float")
    base = default or 0
    some = [low, high, base + 1, base + 2, 2 * base, base / 2 if is_float else base // 2, 0, 1, 4]
    some += [0.25, 0.5] if is_float else [7, 8, 33]
    least = -MODERATE if low is None else low
    most = min(MODERATE, max(64, 4 * abs(base))) if high is None else high
    inside = [
        float(v) if is_float else int(v) for v in some if v is not None and least <= v <= most
    ]
    return sorted(set(inside))


def near(described: dict[str, Any], held: Any, random: Random) -> list[Any]:
    """Return numbers around one that a parameter has now, and two between its bounds."""
    if described.get("names") or described["type"] in ("bool", "string") or held is None:
        return []
    low, high = described["low"], described["high"]
    least = -MODERATE if low is None else low
    most = MODERATE if high is None else high
    ratio = max(most, 1.0) ** random.random()  # small ones as often as large ones
    if described["type"].startswith("float"):
        some = [random.uniform(least, most), ratio, held * random.uniform(0.5, 1.5)]
    else:
        some = [random.randint(int(least), int(most)), int(ratio), held * 2, held * 4, held * 8 + 1]
        some += [held + k for k in (-3, -2, -1, 1, 2, 3)]
    return [value for value in some if least <= value <= most]


def ends(column: dict[str, Any], kind: np.dtype[Any]) -> tuple[float, float]:
    """Return what a column may hold, of floats no more than moderate values."""
    if kind.kind == "b":
        return 0, 1
    if kind.kind == "f":
        least, most = -MODERATE, MODERATE
    else:
        least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    low, high = column["low"], column["high"]
    return (least if low is None else max(least, low), most if high is None else min(most, high))


def mixed(column: dict[str, Any], held: Array, random: np.random.Generator, share: float) -> Array:
    """Return a column with a share of its values replaced by others of its range."""
    kind = held.dtype
    low, high = ends(column, kind)
    others = random.permutation(held.reshape(-1)).reshape(held.shape)  # of another row or world
    if kind.kind == "f":
        some = [low, high, 0.0, 0.5, -1.0, 1.0, 3.0]
        some = [*(v for v in some if low <= v <= high), *random.uniform(low, high, 4)]
        near = others + random.choice(np.array([0, 0.01, -0.3, 1], kind), held.shape)
        others = np.clip(np.where(np.isfinite(near), near, 0), low, high).astype(kind)
    else:
        some = [low, high, low + 1, high - 1, (int(low) + int(high)) // 2, 0, 1, 2]
        some = [v for v in some if low <= v <= high]
    drawn = random.choice(np.array(some, kind), held.shape)
    drawn = np.where(random.random(held.shape) < 0.5, others, drawn)
    found = np.where(random.random(held.shape) < share, drawn, held).astype(kind)
    if "last_high" in column:  # of a bitmap whose last word is shorter
        found[:, -1] = np.minimum(found[:, -1], np.array(column["last_high"], kind))
    return np.ascontiguousarray(found)


def _begun(pair: Pair) -> list[Array]:
    actions = draw_valid(pair.facts, 8)
    pair.reset(9)
    for given in actions[:3]:
        pair.step(given)
    return actions[3:]


def each_column(pair: Pair) -> None:
    """Every column is read, and written back for one world and for all."""
    actions = _begun(pair)
    for column in pair.facts["columns"]:
        held = pair.column(column["name"])
        pair.set_column(column["name"], held, None)
        pair.set_column(column["name"], np.ascontiguousarray(held[:1]), [pair.worlds - 1])
    pair.observe()
    pair.step(actions[0])


def at_random(seed: int) -> Callable[[Pair], None]:
    """Return steps from states in which a few values of all columns were replaced."""

    def act(pair: Pair) -> None:
        random = np.random.default_rng(seed)
        actions, saved = _begun(pair), pair.save()
        for share in (0.02, 0.1, 0.5):
            pair.load(saved)
            for column in pair.facts["columns"]:
                held = pair.column(column["name"])
                pair.set_column(column["name"], mixed(column, held, random, share), None)
            pair.observe()
            for given in actions[:4]:
                pair.step(given)
        pair.faults()

    return act


def one_at_random(seed: int) -> Callable[[Pair], None]:
    """Return steps from states in which half of one column was replaced, column after column."""

    def act(pair: Pair) -> None:
        random = np.random.default_rng(seed)
        actions, saved = _begun(pair), pair.save()
        for column in pair.facts["columns"]:
            pair.load(saved)
            held = pair.column(column["name"])
            pair.set_column(column["name"], mixed(column, held, random, 0.5), None)
            pair.observe()
            for given in actions[:2]:
                pair.step(given)
        pair.faults()

    return act
