"""The plan of a run: forms, numbers of worlds and sweeps, from the data beside the header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gpu_envs.benchmark.cases import GRAPHS, LANES, probe
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.machine import cores
from gpu_envs.benchmark.points import Case
from gpu_envs.benchmark.worlds import output_bytes
from gpu_envs.known import measures, registration

WORLDS = (1, 64, 4096)  # of an environment without data
QUICK_WORLDS, QUICK_WHOLE_WORLDS = 1024, 64  # at most, in a quick run; of whole episodes
PLAIN_OUTPUTS = ("default", "lean")
MOST_AGENTS, QUICK_MOST_AGENTS = 1 << 20, 1 << 14  # in one batch of a sweep
_MOST_BYTES = 1 << 28  # of observations in one batch of a sweep
CAPTURED_WORLDS = 4096
_BRIEF = 100_000  # world steps: of whole episodes in larger batches the threads alone are measured


@dataclass(frozen=True, slots=True)
class Form:
    """One size of an environment."""

    label: str
    parameters: dict[str, Any]
    worlds: tuple[int, ...]
    ranges: tuple[tuple[str, str], ...] = ()  # how many see how far: parameters; none: bytes count
    roles: str = ""  # "split": arrays by role


@dataclass(frozen=True, slots=True)
class Plan:
    """One environment on one machine."""

    name: str
    target: str  # "cpu_v4", "cuda"
    clock: Clock
    quick: bool = False
    chosen: tuple[int, ...] = ()  # numbers of worlds
    parameters: dict[str, Any] = field(default_factory=dict)
    through_package: bool = True  # else native code alone, where there is no Gymnasium

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU."""
        return self.target == "cuda"

    @property
    def data(self) -> dict[str, Any]:
        """The environment's section."""
        found: dict[str, Any] = measures.measures_of(self.name)["benchmark"]
        return found

    @property
    def is_judged(self) -> bool:
        """Whether the measurements are those of the bars."""
        return not (self.quick or self.chosen or self.parameters)

    @property
    def has_one_agent(self) -> bool:
        """Whether a world has one agent and a short step, so that every cost around it counts."""
        return bool(registration.find(self.name)["agents"] == "1")

    def forms(self) -> list[Form]:
        """Sizes that are measured here; the first one in detail."""
        found = []
        for form in self.data.get("forms") or [{"worlds": WORLDS}]:
            own = form.get("device_worlds" if self.on_gpu else "worlds", form["worlds"])
            worlds = self.chosen or tuple(own)
            if self.quick and not self.chosen:
                most = QUICK_WHOLE_WORLDS if self.clock.steps else QUICK_WORLDS
                # At least one size is left, however large the least of the data is.
                worlds = tuple(n for n in worlds if n <= most) or (min(64, *worlds),)
            parameters = {**form.get("parameters", {}), **self.parameters}
            ranges = tuple((count, reach) for count, reach in form.get("ranges", ()))
            roles = form.get("roles", "")
            found.append(Form(form.get("label", ""), parameters, worlds, ranges, roles))
        return found

    def threads(self) -> list[int | None]:
        """Numbers of threads: one, two, all."""
        return [None] if self.on_gpu else [*sorted({1, min(2, cores()), cores()})]

    def case(self, form: Form, worlds: int, **how: Any) -> Case:
        """A case of a form."""
        usual: dict[str, Any] = {"threads": None if self.on_gpu else cores(), "roles": form.roles}
        return Case(self.name, self.target, worlds, form.parameters, form.label, **{**usual, **how})

    def plain(self, form: Form) -> Iterator[Case]:
        """Threads of every form; fewer outputs of the first, and where a bar is about them."""
        bars = [bar for bar in self.data.get("bars", ()) if bar.get("form", "") == form.label]
        is_lean = form == self.forms()[0] or any("outputs" in bar for bar in bars)
        for threads in self.threads():
            for outputs in PLAIN_OUTPUTS if is_lean else PLAIN_OUTPUTS[:1]:
                for worlds in form.worlds:
                    yield self.case(form, worlds, threads=threads, outputs=outputs)

    def detailed(self, form: Form) -> Iterator[Case]:
        """Other cases of the first form: element types, ways in, lanes, graphs."""
        data, state = self.data, bool(registration.find(self.name)["state"])
        ways: list[dict[str, Any]] = [{"outputs": "state"}] if state else []
        ways += [{"outputs": "lean", "dtype": kind} for kind in data.get("formats", ())]
        if self.through_package:
            from gpu_envs.benchmark import entries

            ways += entries.ways(self.on_gpu, cores(), self.has_one_agent)
        if self.on_gpu:
            ways += [{"lanes": lanes} for lanes in LANES]
        for way in ways:
            for worlds in form.worlds:
                # Whole episodes of large batches would take minutes each way, and show little more.
                if worlds * self.clock.steps <= _BRIEF or worlds == form.worlds[0]:
                    yield self.case(form, worlds, **way)

    def graphs(self, form: Form) -> Iterator[Case]:
        """Captured steps: of the first form, and of others of which a bar speaks."""
        bars = self.data.get("bars", ())
        graphs = {
            bar["graph"] for bar in bars if bar.get("form", "") == form.label and "graph" in bar
        }
        if form == self.forms()[0]:
            graphs |= set(GRAPHS)
        if self.on_gpu and not self.data.get("drawn"):
            for graph in sorted(graphs):
                yield self.case(form, min(CAPTURED_WORLDS, max(form.worlds)), graph=graph)

    def sweeps(self) -> Iterator[tuple[str, list[Case]]]:
        """Curves: cases by value and number of worlds, with one thread."""
        for name, sweep in self.data.get("sweeps", {}).items():
            values = sweep["values"]
            if self.quick:
                values = values[:: max(2, len(values) // 3)]
            yield name, [self._point(name, sweep, v, n) for n in sweep["worlds"] for v in values]

    def _point(self, name: str, sweep: dict[str, Any], value: int, worlds: int) -> Case:
        """Fewer worlds where they would hold too many agents, or show too much."""
        at = sweep["values"].index(value)
        lists = sweep.get("by", {name: sweep["values"]})
        parameters = sweep.get("parameters", {}) | {key: by[at] for key, by in lists.items()}
        case = Case(self.name, self.target, 1, {**parameters, **self.parameters}, sweep=name)
        one = probe(case)
        most = QUICK_MOST_AGENTS if self.quick else MOST_AGENTS
        shown = output_bytes(one.facts)["obs"]
        # Read from one world, since agents and bytes depend on parameters in its own way.
        fitting = min(worlds, most // one.units, _MOST_BYTES // shown)
        one.close()
        return replace(case, worlds=max(1, fitting), value=value, batch=worlds)
