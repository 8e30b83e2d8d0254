"""Times calls: a median of repeats, each long enough for the clock, after a warm-up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Call = Callable[[int], object]  # does step number i
_MOST_CALLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call: the median of the repeats, the fastest and the slowest."""

    median: float
    fastest: float
    slowest: float

    def over(self, parts: int) -> Timing:
        """Return the times of one of `parts` equal parts of a call."""
        return Timing(self.median / parts, self.fastest / parts, self.slowest / parts)

    def as_json(self, units_per_call: float) -> dict[str, float]:
        """Rates of something that each call does `units_per_call` times."""
        return {
            "per_second": units_per_call / self.median,
            "per_second_best": units_per_call / self.fastest,
            "per_second_worst": units_per_call / self.slowest,
        }


def run_on_host(call: Call, count: int) -> float:
    """Seconds that `count` calls take."""
    begin = time.perf_counter()
    for i in range(count):
        call(i)
    return time.perf_counter() - begin


@dataclass(frozen=True, slots=True)
class Clock:
    """How long to measure: `repeats` runs of about `seconds` each, or of `steps` calls."""

    seconds: float
    repeats: int
    run: Callable[[Call, int], float] = run_on_host
    steps: int = 0

    def time(self, call: Call) -> Timing:
        """Time one call."""
        return self.race([call])[0]

    def race(self, calls: Sequence[Call]) -> list[Timing]:
        """Time several calls in turns, so that a disturbance of the machine meets all of them."""
        counts = [self._count(call) for call in calls]
        samples: list[list[float]] = [[] for _ in calls]
        for _ in range(self.repeats):
            for call, count, sample in zip(calls, counts, samples, strict=True):
                sample.append(self.run(call, count) / count)
        return [Timing(statistics.median(s), min(s), max(s)) for s in samples]

    def _count(self, call: Call) -> int:
        """How many calls fill a repeat; finding out is the warm-up."""
        if self.steps:
            return self.steps
        count = 1
        while True:
            elapsed = self.run(call, count)
            if elapsed >= self.seconds / 4 or count >= _MOST_CALLS:
                return max(1, round(count * self.seconds / max(elapsed, 1e-9)))
            count *= 2
