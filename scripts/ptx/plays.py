"""Actions for small cases: valid ones of several kinds, and bad ones with what they stand for.

The CPU's engine refuses an action that is out of range before any world moves. A GPU takes a safe
one instead and counts it: category 0; of numbers the nearest bound, and for NaN the lower one, or 0
where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_envs.benchmark.worlds import draw_valid
from gpu_envs.core.kind_layout import KindLayout
from gpu_envs.known.fields import Field
from scripts.ptx.pairs import Array, Pair


def actions_of(pair: Pair, kind: str, count: int) -> list[Array]:
    """Return valid actions: at random, one for all steps, or at the ends of their ranges."""
    drawn = draw_valid(pair.facts, max(count, 12))
    if kind == "stubborn":
        return [drawn[0]] * count
    if kind == "ends" and not KindLayout(pair.facts).is_mixed:
        ends = np.minimum.reduce(drawn), np.maximum.reduce(drawn)
        return [ends[step % 2] for step in range(count)]
    return drawn[:count]


def spoilt(facts: dict[str, Any], actions: Array, turn: int) -> tuple[Array, Array]:
    """Return actions of which a third is out of range, and the safe ones that they stand for."""
    layout, random = KindLayout(facts), np.random.default_rng(turn)
    bad, safe = actions.copy(), actions.copy()
    parts = zip(
        layout, facts["parts"], layout.actions.all_parts(bad), layout.actions.all_parts(safe),
        strict=True,
    )  # fmt: skip
    for kind, part, to, good in parts:
        # A part may be a view with gaps, which cannot be reshaped in place.
        flat = np.ascontiguousarray(good).reshape(-1)
        if layout.is_mixed and part["is_float"]:
            flat = flat.view(np.float32)
        fields = kind.action_fields
        value, instead = _bad_and_safe(fields, flat, turn)
        chosen = random.random(flat.size) < 1 / 3
        pairs = ((to, np.where(chosen, value, flat)), (good, np.where(chosen, instead, flat)))
        for place, values in pairs:
            made = values.astype(flat.dtype)
            place[...] = made.view(place.dtype).reshape(place.shape)
    return bad, safe


def _bad_and_safe(fields: Sequence[Field], flat: Array, turn: int) -> tuple[Array, Array]:
    """Return a bad value for each word of a part, and the safe one that it stands for."""
    if flat.dtype.kind != "f":
        info = np.iinfo(flat.dtype)
        bad = (info.max, info.min if info.min < 0 else 251, -1 if info.min < 0 else 250)[turn % 3]
        return np.full_like(flat, bad), np.zeros_like(flat)
    low, high = (_bounds(fields, flat, at) for at in ("low", "high"))
    if turn % 3 == 0:
        return np.full_like(flat, np.nan), np.where(np.isfinite(low), low, 0)
    if turn % 3 == 1:
        return high + 1, high  # of no bound: infinity is in range
    return low - (np.inf if turn % 2 else 1), low


def _bounds(fields: Sequence[Field], flat: Array, at: str) -> Array:
    without = -np.inf if at == "low" else np.inf
    each = [getattr(field, at) for field in fields for _ in range(field.size)]
    row = np.array([without if one is None else one for one in each], np.float32)
    return np.resize(row, flat.size)


def masks_of(facts: dict[str, Any]) -> list[Array]:
    """Return masks of legal actions: none, all, and some at random; [] where there is no choice."""
    fields, shown = facts["action"], facts["outputs"].get("action_mask")
    sizes = [field["choices"] or 0 for field in fields for _ in range(int(np.prod(field["shape"])))]
    if 0 in sizes:
        return []
    rows = facts["num_worlds"] * facts["agents_per_world"]
    shape = tuple(shown["shape"]) if shown else (rows, sum(sizes))
    random = np.random.default_rng(0)
    shares = (0.0, 1.0, 0.05, 0.3, 0.9)
    return [(random.random(shape) < share).astype(np.int8) for share in shares]


def bad_actions(pair: Pair) -> None:
    """Actions that are out of range, infinite or not numbers, in some of the rows."""
    in_type("")(pair)


def in_type(kind: str, turns: int = 6) -> Any:
    """Return steps whose actions have a type of numbers ("": their own); every second is bad."""

    def act(pair: Pair) -> None:
        pair.reset(4)
        for turn, actions in enumerate(actions_of(pair, "drawn", turns)):
            given = actions.astype(kind or actions.dtype)
            pair.step(given)
            pair.step_badly(*spoilt(pair.facts, given, turn))
        pair.faults(of_bad_actions=False)

    return act
