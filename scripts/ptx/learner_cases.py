"""The learner's native calls on both machines: draws of actions, and the gradient of the loss.

They take addresses only, and promise the same bits on a CPU and a GPU: every combination of arrays
that a caller may leave out is compared.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_envs.building import places
from gpu_envs.known import native
from scripts.ptx.pairs import Array, Differs, Memory

ROWS, STEPS = 37, 3  # rows of a rollout and its steps; more than a warp
COUNTS = (9, 2, 6)  # categories of each head
NUMBERS = 3
STATS = 5  # of a sample: learning.hpp has their order


class Machine:
    """Arrays of one machine by name, and its bindings."""

    def __init__(self, target: str, arrays: dict[str, Array]) -> None:
        self.module = native.at(target)
        on_device = self.module.MACHINE == "cuda"
        self.memory = {name: Memory(data.nbytes, on_device) for name, data in arrays.items()}
        for name, data in arrays.items():
            self.memory[name].write(data)

    def at(self, name: str, is_given: bool = True) -> int:
        """Return an array's address, 0 where it is not given."""
        return self.memory[name].address if is_given else 0

    def free(self) -> None:
        """Give all memory back."""
        for memory in self.memory.values():
            memory.free()


def _arrays(random: np.random.Generator, is_of_numbers: bool) -> dict[str, Array]:
    outputs = NUMBERS if is_of_numbers else sum(COUNTS)
    parts = NUMBERS if is_of_numbers else len(COUNTS)
    samples = ROWS * STEPS
    normal = {
        name: random.normal(size=shape).astype(np.float32)
        for name, shape in {
            "outputs": (samples, outputs), "value": samples, "old": samples, "advantage": samples,
            "target": samples,
        }.items()
    }  # fmt: skip
    action: Array = random.normal(size=(samples, parts)).astype(np.float32)
    if not is_of_numbers:
        action = random.integers(0, COUNTS, (samples, parts))
    mask = random.random((samples, outputs)) < 0.7
    mask[:, [first for first in (0, COUNTS[0], COUNTS[0] + COUNTS[1]) if first < outputs]] = True
    return normal | {
        "action": action,
        "mask": mask.astype(np.int8),
        "known": (random.random(samples) < 0.8).astype(np.int8),
        "rows": random.permutation(ROWS)[:20].astype(np.int64),
        "index": random.permutation(ROWS)[:20].astype(np.int64),
        "counts": np.array(COUNTS, np.int32),
        "low": np.array([-1, -np.inf, -0.5], np.float32),
        "high": np.array([1, np.inf, 0.25], np.float32),
        "centre": np.array([0, 0, -0.125], np.float32),
        "reach": np.array([1, 1, 0.375], np.float32),
        "log_std": np.array([-0.5, 3.0, -20.0], np.float32),  # two beyond their limits
        "clock": np.array([41], np.int64),
        **{name: np.array([0.75], np.float32) for name in ("mean", "deviation", "entropy_weight")},
        "counted": np.array([17.0], np.float32),
        "bounded_action": np.zeros((samples, parts), np.float32),
        **{name: np.zeros(samples, np.float32) for name in ("log_prob", "real_value", "entropy")},
        "gradient": np.zeros((samples, outputs), np.float32),
        "log_std_gradient": np.zeros((samples, outputs), np.float32),
        "value_gradient": np.zeros(samples, np.float32),
        "stats": np.zeros((samples, STATS), np.float32),
    }


def _space(machine: Machine, is_of_numbers: bool) -> dict[str, Any]:
    size = {"parts": NUMBERS, "outputs": NUMBERS} if is_of_numbers else {}
    size = size or {"parts": len(COUNTS), "outputs": sum(COUNTS)}
    bounds = {name: machine.at(name) for name in ("counts", "low", "high", "centre", "reach")}
    return {"numbers": is_of_numbers, "device": 0, **size, **bounds}


def _draw(machine: Machine, is_of_numbers: bool, given: tuple[bool, ...]) -> None:
    """Draw two steps; `given`: outputs and standard deviations, the mask, some rows, the rest."""
    has_outputs, has_mask, has_rows, keeps = given
    of_some = {"rows": machine.at("rows", has_rows), "count": 20 if has_rows else ROWS}
    kept = {
        name: machine.at(name, keeps)
        for name in ("log_prob", "real_value", "entropy", "bounded_action", "mean", "deviation")
    }
    draw = machine.module.Drawing(
        **_space(machine, is_of_numbers), **of_some, **kept, all=ROWS, hold=2, key=12345,
        clock=machine.at("clock"), factor=7, first_row=3,
        log_std=machine.at("log_std", has_outputs), mask=machine.at("mask", has_mask),
        action=machine.at("action"),
    )  # fmt: skip
    for step in (0, 2):
        draw(step, machine.at("outputs", has_outputs), machine.at("value"), 0)


def _lose(machine: Machine, is_of_numbers: bool, given: tuple[bool, ...]) -> None:
    """Judge 20 samples of each step; `given`: a clip, the mask, which are known, the entropy."""
    clips, has_mask, has_known, has_entropy = given
    held = {name: machine.at(name) for name in ("log_std", "action", "old", "advantage", "target")}
    lose = machine.module.Losing(
        **_space(machine, is_of_numbers), **held, stride=ROWS, mask=machine.at("mask", has_mask),
        entropy_weight=machine.at("entropy_weight", has_entropy), clip=0.2 if clips else -1.0,
        far=0.3, value_weight=0.5,
    )  # fmt: skip
    read = [machine.at(name) for name in ("outputs", "value")]
    known = [machine.at(name, has_known) for name in ("known", "counted")]
    written = ("gradient", "log_std_gradient", "value_gradient", "stats")
    lose(machine.at("index"), 20, STEPS, *read, *known, *map(machine.at, written), 0)


def run() -> tuple[int, list[str]]:
    """Run every combination; return how many, and what differs."""
    ran, wrong = 0, []
    every = itertools.product((_draw, _lose), (False, True), *[(True, False)] * 4)
    for call, is_of_numbers, *given in every:
        arrays = _arrays(np.random.default_rng(5), is_of_numbers)
        pair = [Machine(target, arrays) for target in (native.cpu_target(), places.PTX)]
        title = f"learner: {call.__name__.strip('_')}, numbers {is_of_numbers}, given {given}"
        try:
            for machine in pair:
                call(machine, is_of_numbers, tuple(given))
            for name in arrays:
                cpu, ptx = (machine.memory[name].read() for machine in pair)
                if cpu != ptx:
                    raise Differs(f"{name} differs")
        except Differs as problem:
            wrong.append(f"{title}: {problem}")
        for machine in pair:
            machine.free()
        ran += 1
    return ran, wrong
