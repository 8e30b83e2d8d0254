"""Limits of the machine: bytes by the speed of a copy, pairs in range by arithmetic.

Every column that a step uses is read once and written once, every output is written, every action
read: what a machine moves that keeps nothing between steps. Random seeds and the episode's number
are used only where an episode begins, and are left out, and so are final observations where arrays
are reused: rows in which no episode ended are not written. What a cache fetches beyond that (whole
lines, lines about to be overwritten) is not counted. Where half of a GPU's second-level cache holds
all that a step of all worlds moves, records need not travel, and only actions and outputs count;
else outputs stream through the cache and push them out. Where agents see their neighbours, a step
is pairs as well: those in range, as many as uniformly spread agents have. Where its instructions
are known, so is the time to issue them. The tighter limit counts.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_envs.benchmark import memory
from gpu_envs.benchmark.cases import probe
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.plan import Form
from gpu_envs.benchmark.points import Case, Point
from gpu_envs.benchmark.worlds import Run, output_bytes

COPIED, QUICK_COPIED = 1 << 29, 1 << 25  # bytes; the former is larger than any cache
# Arithmetic for one neighbour: differences and distance, two arctangents, a decay, its sector.
PAIR_OPERATIONS = 60
_MATRIX = 1024  # rows of the matrices whose product shows what the arithmetic can do
_AT_RESET = frozenset({"world.seed_low", "world.seed_high", "world.identity", "world.episode"})
# With one agent nobody has ended and no episode is over where the next begins in the same step.
_AT_END = frozenset({"world.over", "fate"})
_AGENTS_OWN = "episode_return"  # the engine keeps it of every agent: names the agents' table


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the byte table, per world and step."""

    what: str
    read: float
    written: float


def byte_table(case: Case) -> list[Line]:
    """Count the bytes that a step of one world moves: columns, actions, outputs."""
    one = probe(case)
    idle = _AT_RESET | (_AT_END if one.units == 1 else frozenset())
    used = sum(
        size for name, size in _columns(one) if idle.isdisjoint({name, name.rpartition(".")[2]})
    )
    outputs = {name: size for name, size in output_bytes(one.facts).items() if name in one.outputs}
    if case.memory == "reuse":
        outputs.pop("final_obs", None)
    read = sum(array.nbytes for array in one.actions[:1])
    one.close()
    lines = [Line("columns that every step uses", used, used), Line("actions", read, 0)]
    return [*lines, *(Line(name, 0, size) for name, size in outputs.items())]


def _columns(one: Run) -> list[tuple[str, int]]:
    """Names of the record's columns and their bytes, of the rows that are in use."""
    names = [column["name"] for column in one.facts["columns"]]
    crowd = {name.split(".")[0] for name in names if name.endswith("." + _AGENTS_OWN)}
    sizes = []
    for name in names:
        values = one.simulator.get_column(name)
        rows = values.shape[1]
        if name.split(".")[0] in crowd:
            rows = min(rows, one.units)
        sizes.append((name, values.nbytes // values.shape[1] * rows))
    return sizes


def pairs_in_range(case: Case, form: Form) -> float:
    """Pairs of a world; agents are spread over a square of area 1."""
    if not form.ranges:
        return 0.0
    one = probe(case)
    values: dict[str, Any] = one.facts["values"]
    others = one.units - 1
    one.close()
    return sum(
        float(values[count]) * others * math.pi * float(values[reach]) ** 2
        for count, reach in form.ranges
    )


# ---- speeds of the machine


def copy_bandwidth(moved: int, threads: int, clock: Clock) -> float:
    """Bytes per second of a plain copy that moves `moved` bytes, half of them read, half written.

    With several threads the better of one and all: small copies do not pay for the others.
    """
    half = max(64, moved // 2)
    source, target = np.ones(half, np.uint8), np.zeros(half, np.uint8)
    alone = 2 * half / clock.time(lambda _: np.copyto(target, source)).median
    if threads == 1:
        return alone
    cuts = np.linspace(0, half, threads + 1).astype(int).tolist()
    parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
    with ThreadPoolExecutor(threads) as pool:

        def copy(_: int) -> None:
            list(pool.map(lambda part: np.copyto(target[part], source[part]), parts))

        return max(alone, 2 * half / clock.time(copy).median)


# Warp instructions of a step of one world, where they were counted.
Instructions = Callable[[Case], float | None]


class Limits:
    """Measures the speed of this machine's memory and arithmetic, each once."""

    def __init__(
        self, clock: Clock, on_gpu: bool, quick: bool, instructions: Instructions | None = None
    ) -> None:
        self.clock = Clock(clock.seconds, clock.repeats, clock.run)
        self.on_gpu, self.instructions = on_gpu, instructions
        self.size = QUICK_COPIED if quick else COPIED
        self.cache = memory.cache_bytes(on_gpu)
        self.copied = functools.cache(self._copied)
        self.operations = functools.cache(self._operations)

    def _copied(self, moved: int, threads: int | None) -> float:
        """Bytes per second of a copy; on a GPU always of many bytes."""
        if threads is not None:
            return copy_bandwidth(moved, threads, self.clock)
        source, target = (memory.zeros(self.size, True) for _ in range(2))
        copy = self.clock.time(lambda _: memory.copy_into(target, source))
        return 2 * self.size / copy.median

    def _operations(self, threads: int | None) -> float:
        """Operations per second of a product of matrices, on all cores or a share of them."""
        size = 8 * _MATRIX if self.on_gpu else _MATRIX
        if self.on_gpu:
            t = memory.torch().ones((size, size), device="cuda")
            seconds = self.clock.time(lambda _: memory.torch().matmul(t, t)).median
        else:
            a = np.ones((size, size), np.float32)
            out = np.empty_like(a)
            seconds = self.clock.time(lambda _: np.matmul(a, a, out=out)).median
        return 2 * size**3 / seconds * ((threads or cores()) / cores())

    def judge(self, point: Point, form: Form) -> None:
        """Add to a point the bytes of its step, the limit in world steps, and its share of it."""
        case = point.case
        lines = byte_table(case)
        pairs = pairs_in_range(case, form)
        moved = sum(line.read + line.written for line in lines)
        fits = 0 < moved * case.worlds <= self.cache / 2
        if fits:
            moved -= lines[0].read + lines[0].written
        bandwidth = self.copied(max(1, round(moved * case.worlds)), case.threads)
        limits = {"memory": bandwidth / moved}
        if pairs:
            limits["arithmetic"] = self.operations(case.threads) / PAIR_OPERATIONS / pairs
        issued = self.instructions(case) if self.on_gpu and self.instructions else None
        if issued:
            limits["issuing"] = memory.issue_rate() / issued
            point.found["instructions"] = issued
        by = min(limits, key=lambda name: limits[name])
        limit, rate = limits[by], case.worlds / point.timing.median
        point.found |= {
            "bytes_moved": moved,
            "pairs_in_range": pairs,
            "records_fit_cache": float(fits),
            "limit": limit,
            "limited_by": by,
            "of_limit": rate / limit,
            "of_memory": rate * moved / self.copied(self.size, case.threads),
            "of_copy": rate * point.handed / (bandwidth / 2),
        }
