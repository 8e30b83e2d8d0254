"""Sets columns of one world of eight to the ends of what they may hold, and plays on.

Nothing outside that world may change: not a bit of the other worlds' records and outputs. What the
world holds after it stays in range, so that its save loads. Run it in a process of its own where a
fault may end the process:

    python tests/contract/column_sweep.py ObstaclesEasy-v0 '{"agent_count": 2}'
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import gpu_envs
from gpu_envs.benchmark.worlds import draw_valid
from gpu_envs.known.measures import sizes

WORLDS, TOUCHED = 8, 3
OTHERS = [world for world in range(WORLDS) if world != TOUCHED]
STEPS, BEFORE = 4, 6
ROUNDS = 12  # of the quick form
_DIGEST = 16

Array = np.ndarray[Any, Any]


def type_ends(kind: np.dtype[Any]) -> tuple[float, float]:
    """Return the lowest and the highest value of a type, of floats the finite ones."""
    if kind.kind == "b":
        return 0, 1
    info = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return (
        (float(info.min), float(info.max)) if kind.kind == "f" else (int(info.min), int(info.max))
    )


def ends(column: dict[str, Any], kind: np.dtype[Any]) -> tuple[float, float]:
    """Return what a column may hold."""
    low, high = type_ends(kind)
    return (
        low if column["low"] is None else max(low, column["low"]),
        high if column["high"] is None else min(high, column["high"]),
    )


def between(low: float, high: float, kind: np.dtype[Any]) -> list[float]:
    """Return a few values of a range: both ends, beside them, the middle, zero, large floats."""
    if kind.kind == "f":
        some = [low, high, 0.0, 0.5, -1.0, 1e9, -1e9, 3e30, -3e30, 1e-40]
    else:
        some = [low, high, low + 1, high - 1, (int(low) + int(high)) // 2, 0, 1, 2]
    return sorted({value for value in some if low <= value <= high})


class Sweep:
    """Eight worlds of an environment, and what the untouched seven of them do."""

    def __init__(self, name: str, options: dict[str, Any], seed: int = 5) -> None:
        self.simulator = gpu_envs.Simulator(name, WORLDS, device="cpu", **options)
        self.instance = self.simulator.instance
        self.columns = self.instance["columns"]
        self.random = np.random.default_rng(seed)
        self.simulator.reset(seed=seed)
        space = self.simulator.single_action_space
        shape = (WORLDS, self.simulator.agents_per_world, *(space.shape or ()))
        actions = [each.reshape(shape) for each in draw_valid(self.instance, BEFORE + STEPS)]
        for action in actions[:BEFORE]:
            self.simulator.step(action)
        self.actions = actions[BEFORE:]
        self.begin = self.simulator.save()
        self.held = {
            column["name"]: self.simulator.get(column["name"])[TOUCHED : TOUCHED + 1]
            for column in self.columns
        }
        self.expected, self.records = self._play()

    def _play(self) -> tuple[list[bytes], Array]:
        """Return outputs of the other worlds, and their records in the end."""
        simulator, seen = self.simulator, [self._others(self.simulator.observe())]
        self._look()
        for action in self.actions:
            seen.append(self._others(simulator.step(action)))
        self._look()
        simulator.reset(mask=np.arange(WORLDS) == TOUCHED)
        return seen, self._records()

    def _others(self, outputs: Any) -> bytes:
        written = (output for output in outputs if output is not None)
        arrays = (
            array
            for output in written
            for array in (output.values() if isinstance(output, dict) else (output,))
        )
        return b"".join(np.asarray(array)[OTHERS].tobytes() for array in arrays)

    def _look(self) -> None:
        """What people see of the world that is touched: it has to end."""
        if self.instance["text"]:
            for viewer in (-1, 0):
                self.simulator.text(TOUCHED, viewer)
        if self.instance["scene"]:
            self.simulator.render(TOUCHED, size=(24, 32))

    def _records(self) -> Array:
        whole = np.frombuffer(self.simulator.save(), np.uint8)[:-_DIGEST]
        size = self.instance["record_bytes"]
        records: Array = whole[-WORLDS * size :].reshape(WORLDS, size)[OTHERS]
        return records

    def check(self, values: dict[str, Array]) -> None:
        """Set columns of one world, play on, and compare all others."""
        self.simulator.load(self.begin)
        for column, value in values.items():
            self.simulator.set(column, value, worlds=[TOUCHED])
        seen, records = self._play()
        note = f"after { ({name: value.ravel()[:4].tolist() for name, value in values.items()}) }"
        assert seen == self.expected, f"outputs of other worlds changed {note}"
        assert (records == self.records).all(), f"records of other worlds changed {note}"
        self.simulator.load(self.simulator.save())  # nothing has left its range

    def singles(self) -> Iterator[dict[str, Array]]:
        """Every column by itself: each value everywhere, and values at random."""
        for column in self.columns:
            held = self.held[column["name"]]
            low, high = ends(column, held.dtype)
            for value in between(low, high, held.dtype):
                yield {column["name"]: self.fitted(column, np.full_like(held, value))}
            yield {column["name"]: self.mixed(column)}

    def together(self) -> dict[str, Array]:
        """All columns at once, values at random."""
        return {column["name"]: self.mixed(column) for column in self.columns}

    def mixed(self, column: dict[str, Any]) -> Array:
        """Return what stood there, with half of it replaced."""
        held = self.held[column["name"]]
        low, high = ends(column, held.dtype)
        some = np.array(between(low, high, held.dtype), held.dtype)
        drawn_values = self.random.choice(some, held.shape)
        return self.fitted(
            column, np.where(self.random.random(held.shape) < 0.5, drawn_values, held)
        )

    def fitted(self, column: dict[str, Any], values: Array) -> Array:
        """Return values whose last row is in range too, where that is shorter: of a bitmap."""
        if "last_high" in column:
            values[:, -1] = np.minimum(values[:, -1], column["last_high"])
        return values

    def refusals(self) -> None:
        """What is beside a range is refused by name, and nothing is written."""
        self.simulator.load(self.begin)
        for column in self.columns:
            held = self.held[column["name"]]
            if held.dtype.kind not in "iu":
                continue
            (low, high), (least, most) = ends(column, held.dtype), type_ends(held.dtype)
            for value in ([low - 1] if low > least else []) + ([high + 1] if high < most else []):
                try:
                    self.simulator.set(column["name"], value, worlds=[TOUCHED])
                except ValueError as problem:
                    assert column["name"] in str(problem), problem
                else:
                    raise AssertionError(f"{column['name']} took {value}")
        assert self.simulator.save() == self.begin


def quick(name: str, options: dict[str, Any], rounds: int) -> None:
    """Refusals, and all columns at once."""
    sweep = Sweep(name, options)
    sweep.refusals()
    for _ in range(rounds):
        sweep.check(sweep.together())


def whole(name: str, options: dict[str, Any]) -> int:
    """Sweep every column; return how many times something was set."""
    sweep = Sweep(name, options)
    sweep.refusals()
    cases = [*sweep.singles(), *(sweep.together() for _ in range(40))]
    for values in cases:
        sweep.check(values)
    return len(cases)


if __name__ == "__main__":
    if sys.argv[1] == "--quick":
        for each in sys.argv[2:]:
            quick(each, sizes(each, "few"), ROUNDS)
        raise SystemExit
    settings = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    print(f"{sys.argv[1]} {settings}: {whole(sys.argv[1], settings)} worlds set")
