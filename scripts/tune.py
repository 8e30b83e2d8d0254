"""Times the compiled variants of each phase on the GPU at hand and records the fastest.

Usage: scripts/tune.py [--table FILE] [ID ...]

A phase is compiled for the numbers of lanes per world that its environment lists; its block may
have 64, 128 or 256 threads, and it may start before the launch before it has ended (dependent
launch, compute capability 9.0 and later). The winners go into kernels/engine/cuda/tuning_table.hpp,
one line per environment, tier, phase and architecture; rebuild to use them. Lines of other
architectures stay. Results never depend on the choice: it moves time alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "kernels/engine/cuda/tuning_table.hpp"
LANES = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # those that are not compiled are passed over
BLOCKS = (64, 128, 256)
GAIN = 0.97  # a variant must be this much faster than the default to replace it
# What is timed: a batch that fills the GPU, per tier of those that have several.
SUBJECTS: dict[str, list[tuple[int, dict[str, Any]]]] = {
    "CartPole-v0": [(1 << 20, {})],
    "CartPole64-v0": [(1 << 20, {})],
    "Micro-v0": [
        (1 << 19, {"agent_count": 1}),
        (1 << 17, {"agent_count": 5}),
        (1 << 15, {"agent_count": 32}),
        (1 << 13, {"agent_count": 100}),
        (1 << 10, {"agent_count": 1000}),
    ],
}
ENTRY = re.compile(r'\{"([^"]+)", (\d+), "([^"]+)", (\d+), (\d+), (\d+), (true|false)\}')


@dataclass(frozen=True)
class Variant:
    """What a simulator can be made with."""

    lanes: int = 0
    block: int = 0
    dependent_launch: bool = True


@dataclass(frozen=True)
class Timing:
    """Seconds of a step and of each of its phases, and what they ran with."""

    step: float
    phases: dict[str, float]
    launches: list[dict[str, Any]]


def variants() -> Iterator[Variant]:
    """All that are worth a try; a block of 64 threads and more owns one world and has its size."""
    for lanes, block in itertools.product(LANES, BLOCKS):
        if lanes <= 32 or block == BLOCKS[0]:
            yield Variant(lanes, block if lanes <= 32 else 0)


class Bench:
    """One environment at one size, stepped into its own tensors."""

    def __init__(self, module: Any, torch: Any, name: str, worlds: int, values: dict[str, Any]):
        self.module, self.torch = module, torch
        self.name, self.worlds, self.values = name, worlds, values
        self.outputs: list[Any] = []

    def time(self, variant: Variant, by_phase: bool = False) -> Timing | None:
        """Time a variant; None where it is not compiled or does not fit."""
        torch = self.torch
        settings = {"lanes": variant.lanes, "block": variant.block, "parameters": self.values}
        settings["dependent_launch"] = variant.dependent_launch
        try:
            simulator = self.module.Simulator(self.name, self.worlds, **settings)
        except (ValueError, RuntimeError) as problem:
            if "lanes must be" in str(problem) or "fits on this GPU" in str(problem):
                return None
            raise
        facts = json.loads(simulator.instance)
        arrays = {
            name: torch.zeros(facts["outputs"][name]["shape"], dtype=kind, device="cuda")
            for name in self.module.OUTPUTS
            if name in facts["outputs"]
            for kind in [getattr(torch, facts["outputs"][name]["type"])]
        }
        places = [arrays[n].data_ptr() if n in arrays else 0 for n in self.module.OUTPUTS]
        addresses = self.module.Addresses(places)
        rows = self.worlds * facts["agents_per_world"]
        choices = [field["choices"] for field in facts["action"]]
        actions = torch.stack([torch.randint(n or 1, (rows,)) for n in choices], 1).cuda()
        stream = torch.cuda.current_stream().cuda_stream
        simulator.reset(1, 0, {}, addresses, stream)

        def step() -> None:
            simulator.step(actions.data_ptr(), "int64", addresses, stream)

        seconds = self._median(step)
        phases = self._phases(step) if by_phase else {}
        torch.cuda.synchronize()
        simulator.close()
        return Timing(seconds, phases, facts["launches"])

    def _median(self, step: Any) -> float:
        torch = self.torch
        for _ in range(20):
            step()
        samples = []
        for _ in range(7):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(20):
                step()
            end.record()
            end.synchronize()
            samples.append(begin.elapsed_time(end) / 20e3)
        return statistics.median(samples)

    def _phases(self, step: Any) -> dict[str, float]:
        """Seconds of each launch of a step, by its place, from the profiler's kernel times."""
        profiler = self.torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(10):
                step()
            self.torch.cuda.synchronize()
        seconds: dict[str, float] = {}
        for event in profile.key_averages():
            # phase_kernel<environment, graph, place in it, lanes, slab>; graph 0 is the step
            found = re.search(r"phase_kernel<.*, 0, (\d+), \d+, (?:true|false)>", event.key)
            if found:
                place = found[1]
                seconds[place] = seconds.get(place, 0) + event.self_device_time_total / 10e6
        return seconds


def best_of(bench: Bench, say: Any) -> list[tuple[str, Variant]]:
    """The winner of each phase that beats the default."""
    default = bench.time(Variant(), by_phase=True)
    assert default is not None
    several = len(default.launches) > 1
    say(f"{bench.name} {bench.values or ''}: default {bench.worlds / default.step:.3g} steps/s")
    times: dict[Variant, Timing] = {}
    for variant in variants():
        timing = bench.time(variant, by_phase=several)
        if timing is not None:
            times[variant] = timing
            say(f"  {variant.lanes:3} lanes, {variant.block or variant.lanes:3} threads: "
                f"{bench.worlds / timing.step:.3g} steps/s")  # fmt: skip
    winners = []
    for place, launch in enumerate(default.launches):

        def cost(variant: Variant, place: int = place) -> float:
            return times[variant].phases[str(place)] if several else times[variant].step

        own = [v for v in times if times[v].launches[place]["lanes"] == v.lanes]
        known = default.phases.get(str(place), default.step) if several else default.step
        best = min(own, key=cost, default=None)
        if best is not None and cost(best) < GAIN * known:
            plain = bench.time(Variant(best.lanes, best.block, dependent_launch=False))
            dependent = plain is None or times[best].step <= plain.step
            winners.append((launch["phase"], Variant(best.lanes, best.block, dependent)))
    return winners


def read_table() -> list[tuple[str, ...]]:
    """Entries of the table as it is; the first is a placeholder."""
    return [entry for entry in ENTRY.findall(TABLE.read_text()) if entry[3] != "0"]


def write_table(path: Path, entries: list[tuple[str, ...]]) -> None:
    """Write the table with these entries in place of its own."""
    begin, end = "// clang-format off\n", "// clang-format on\n"
    text = TABLE.read_text()
    head, tail = text[: text.index(begin)], text[text.index(end) :]
    lines = [begin + "inline constexpr Tuning kTuning[] = {"]
    lines.append("    // environment, tier, phase, architecture, lanes per world, threads per block, "
                 "dependent launch")  # fmt: skip
    rows = sorted(entries) or [("", "0", "", "0", "0", "0", "true")]
    lines += [f'    {{"{e}", {t}, "{p}", {a}, {n}, {b}, {d}}},' for e, t, p, a, n, b, d in rows]
    path.write_text(head + "\n".join([*lines, "};\n"]) + tail)


def load() -> Any:
    """The package's CUDA module, or None with the reason printed."""
    files = sorted((ROOT / "gpu_envs").glob("_cuda.*.so"))
    if not files:
        print("gpu_envs has no CUDA module: build it with GPU_ENVS_CUDA=1 scripts/setup")
        return None
    spec = importlib.util.spec_from_file_location("tuned._cuda", files[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.device_problem():
        print(f"no GPU can be used: {module.device_problem()}")
        return None
    return module


def main() -> int:
    """Tune, or say what would be timed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="environments (default: all known)")
    parser.add_argument("--table", type=Path, default=TABLE, help="where the table is written")
    options = parser.parse_args()
    unknown = set(options.ids) - set(SUBJECTS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: the environments are {', '.join(SUBJECTS)}")
    wanted = options.ids or list(SUBJECTS)
    module = load()
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    if torch is None:
        print("torch is not installed: it holds the arrays and times the steps")
    if module is None or torch is None:
        for name, (worlds, values) in [(n, s) for n in wanted for s in SUBJECTS[n]]:
            print(f"would time {name} {values or ''} at {worlds:,} worlds: {len([*variants()])} "
                  "combinations of lanes and threads, then dependent launch")  # fmt: skip
        return 2
    major, minor = torch.cuda.get_device_capability()
    architecture = 10 * major + minor
    entries = read_table()
    for name in wanted:
        for worlds, values in SUBJECTS[name]:
            facts = json.loads(module.Simulator(name, 1, parameters=values).instance)
            tier = str(facts["tier"])
            key = (name, tier, str(architecture))
            entries = [e for e in entries if (e[0], e[1], e[3]) != key]
            for phase, v in best_of(Bench(module, torch, name, worlds, values), print):
                dependent = "true" if v.dependent_launch else "false"
                threads = str(v.block or v.lanes)
                entries.append(
                    (name, tier, phase, str(architecture), str(v.lanes), threads, dependent)
                )
                print(
                    f"  {phase}: {v.lanes} lanes, {threads} threads, dependent launch {dependent}"
                )
    write_table(options.table, entries)
    print(f"wrote {options.table}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
