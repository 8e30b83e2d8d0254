"""Cases and their measurements: every table, bar and plot is a view of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from gpu_envs.benchmark.clock import Call, Timing
from gpu_envs.benchmark.worlds import Run


@dataclass(frozen=True, slots=True)
class Case:
    """The worlds of a measurement and the way to step them; a bar's unnamed labels are defaults."""

    name: str
    target: str  # "cpu_v4", "cuda"
    worlds: int
    parameters: dict[str, Any] = field(default_factory=dict)
    form: str = ""
    sweep: str = ""
    value: int | None = None  # of the sweep
    batch: int = 0  # worlds that a sweep asks for; fewer may fit
    entry: str = "native"  # "Simulator", "make_vec": through the package
    arrays: str = ""  # the package's: "numpy", "torch"
    memory: str = "reuse"  # "fresh", "out"
    outputs: str = "default"  # "lean", or the name of one more
    threads: int | None = None  # None: a GPU's
    dtype: str = ""
    roles: str = ""  # "split": arrays by role; else as an environment makes them
    lanes: int = 0
    block: int = 0  # threads of a block on a GPU; 0: the tuned choice
    graph: int = 0

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU."""
        return self.target == "cuda"

    @property
    def way(self) -> str:
        """How it is stepped, in words for a table."""
        said = [] if self.entry == "native" else [f"{self.entry}.step"]
        if self.threads:
            said.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        said += [] if self.outputs == "default" else [self.outputs]
        said += [self.dtype] if self.dtype else []
        said += [f"rows {self.roles}"] if self.roles else []
        if self.entry != "native":
            said.append(f"{self.arrays} {self.memory}")
        said += [f"{self.lanes} lanes"] if self.lanes else []
        said += [f"{self.block} threads a block"] if self.block else []
        said += [f"{self.graph} steps in a graph"] if self.graph else []
        return ", ".join(said) or "default"

    def labels(self) -> dict[str, Any]:
        """Labels that distinguish it from other cases, for a file."""
        held = {k: v for k, v in asdict(self).items() if k != "name" and v is not None}
        return {k: v for k, v in held.items() if k == "value" or v not in ("", 0)}


@dataclass(slots=True)
class Point:
    """The results of one case. Sizes are bytes of one world."""

    case: Case
    timing: Timing  # of a step of all worlds
    agents: int
    handed: int  # written for the caller in a step
    record: int
    size: int  # of all memory
    drawing: float = 0.0  # share of the time
    found: dict[str, Any] = field(default_factory=dict)  # limits, shares

    def get(self, of: str) -> float | None:
        """A measure by its name in a bar."""
        rate = self.case.worlds / self.timing.median
        calls = 1 / self.timing.median
        rates = {"world_steps": rate, "agent_steps": rate * self.agents, "calls": calls}
        return rates.get(of, self.found.get(of))

    def against(self) -> str:
        """The time of a world's step, and its share of the tighter limit, in words."""
        if "limit" not in self.found:
            return ""
        said = [f"{self.found['bytes_moved']:,.0f} B"]
        known = self.found.get("instructions")
        said += [f"{known:,.0f} warp instructions"] if known else []
        share, by = self.found["of_limit"], self.found["limited_by"]
        return f"{', '.join(said)} a world step; {share:.0%} of what {by} allows"

    def as_json(self) -> dict[str, Any]:
        """The point, for the file."""
        return {
            **self.case.labels(),
            "agents": self.agents,
            "world_steps": self.timing.as_json(self.case.worlds),
            "agent_steps_per_second": self.get("agent_steps"),
            "bytes_handed_out": self.handed,
            "bytes_of_record": self.record,
            "bytes_of_world": self.size,
            **({"share_of_drawing": self.drawing} if self.drawing else {}),
            **self.found,
        }


@dataclass(slots=True)
class Subject:
    """A function that steps `units` worlds per call."""

    step: Call
    units: int
    close: Callable[[], object]
    run: Run | None = None


def find(points: list[Point], **labels: Any) -> Iterator[Point]:
    """Points with these labels, everything else as it is by default."""
    usual = {"value": None, "threads": None, "lanes": 0, "block": 0, "graph": 0, "memory": "reuse"}
    usual |= dict.fromkeys(("form", "sweep", "arrays", "dtype"), "")
    usual |= {"entry": "native", "outputs": "default"}
    wanted = usual | labels
    for point in points:
        if all(getattr(point.case, key) == value for key, value in wanted.items()):
            yield point
