"""What the kernels of each environment need of a GPU, and what its bars would reach: on paper.

Usage: scripts/gpu/occupancy.py [ID ...] [--all] [--worlds N] [--gpu H200] [--json FILE]
       [--against FILE] [--bars] [--count]

Needs modules built for CUDA (`python -m gpu_envs build --target cuda`) and no GPU. Registers, stack
and spills are what ptxas said; bytes of shared memory and the block are the engine's own choice for
this number of worlds; warps per multiprocessor follow from the GPU's limits. `--all` has the
kernels that a simulator of this size would not run too, and the flat executor's, whose dynamic
memory is not counted. `--json` keeps the table, and `--against` shows another one's figures beside
these.

`--bars` estimates for each promise what a step of a world moves and issues: bytes that it has to
move, as gpu_envs/benchmark/limits.py counts them, over four fifths of the memory's speed; and warp
instructions over half of what all schedulers can issue. Instructions are counted where kernels' PTX
was executed (scripts/ptx/costs.py), of the machine code where it is longer than the PTX; beside
them stand the bytes of all sectors that accesses touched, most of which may be in a cache.
`--count` counts again, keeps the figures in benchmarks/instructions.json and needs modules for the
interpreter (`python -m gpu_envs build --target cuda_ptx`). Latencies and launches are in neither: a
kernel may be slower than this, not faster.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.gpu.check_spills import Function, read_report

ROOT = Path(__file__).resolve().parents[2]
COUNTED = ROOT / "benchmarks" / "instructions.json"
GRAPHS = ("step", "reset")
_WARP = 32
_REGISTERS, _REGISTER_UNIT = 65_536, 256  # of a multiprocessor; a warp gets whole units
_SHARED_UNIT, _SHARED_OWN = 128, 1024  # bytes; a block gets whole units, and CUDA has its own share
_MEMORY_SHARE, _ISSUE_SHARE = 0.8, 0.5  # of what is stated, that code like this gets
_PHASE_KERNEL = re.compile(
    r"_ZN2ge12phase_kernelI(?P<environment>.+?)Li(?P<graph>\d+)ELi(?P<launch>\d+)ELi(?P<lanes>\d+)"
    r"ELb(?P<slab>[01])EEEv"
)
_FLAT_KERNEL = re.compile(r"flat_(rows|squads|teams)_kernel")
_FLAT_THREADS = {"rows": 256, "squads": 256, "teams": 64}  # kFlatThreads, kFlatTeam


@dataclass(frozen=True, slots=True)
class Gpu:
    """The limits of a GPU, from NVIDIA's tables of compute capabilities and data sheets."""

    architecture: int  # 90 for compute capability 9.0
    processors: int
    threads: int  # of a multiprocessor
    blocks: int
    shared: int  # bytes of a multiprocessor
    bandwidth: float  # bytes per second
    clock: float  # Hz

    @property
    def shared_limit(self) -> int:
        """Bytes that one block may have."""
        return self.shared - _SHARED_OWN

    def resident(self, registers: int, threads: int, shared: int) -> int:
        """Blocks of a kernel that a multiprocessor holds."""
        warps = threads // _WARP
        of_a_warp = -(-registers * _WARP // _REGISTER_UNIT) * _REGISTER_UNIT
        held = -(-shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
        # Each of the four schedulers has a quarter of the registers.
        by_registers = 4 * (_REGISTERS // 4 // of_a_warp) // warps if of_a_warp else self.blocks
        return min(self.blocks, self.threads // threads, by_registers, self.shared // held)

    @property
    def issued(self) -> float:
        """Warp instructions per second that all schedulers can issue."""
        return 4 * self.processors * self.clock


GPUS = {
    "A100": Gpu(80, 108, 2048, 32, 164 << 10, 2.04e12, 1.41e9),
    "RTX3090": Gpu(86, 82, 1536, 16, 100 << 10, 0.936e12, 1.70e9),
    "L40S": Gpu(89, 142, 1536, 24, 100 << 10, 0.864e12, 2.52e9),
    "H100": Gpu(90, 132, 2048, 32, 228 << 10, 3.35e12, 1.755e9),
    "H200": Gpu(90, 132, 2048, 32, 228 << 10, 4.8e12, 1.755e9),
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One compiled kernel, in the block that suits it best."""

    id: str
    form: str
    graph: str
    phase: str
    lanes: int
    slab: bool
    registers: int
    stack: int
    spilled: int  # bytes stored, plus bytes loaded
    threads: int
    shared: int  # bytes of a block
    warps: int  # of a multiprocessor
    chosen: bool

    @property
    def key(self) -> str:
        """What tells it from others of the same code."""
        return f"{self.id} {self.form} {self.graph} {self.phase} {self.lanes} {self.slab}"


# ---- what ptxas said


def reports(folder: Path) -> dict[str, Function]:
    """Functions by mangled name, of all reports that the build left."""
    found = {}
    for path in sorted(folder.glob("*.ptxas.txt")):
        for function in read_report(path.read_text()):
            found[function.name] = function
    return found


def by_kernel(functions: dict[str, Function]) -> dict[tuple[Any, ...], Function]:
    """Kernels of the group executor by environment, graph, launch, lanes and slab."""
    found = {}
    for name, function in functions.items():
        if m := _PHASE_KERNEL.match(name):
            numbers = (int(m["graph"]), int(m["launch"]), int(m["lanes"]), m["slab"] == "1")
            found[(_plain(m["environment"]), *numbers)] = function
    return found


def _plain(mangled: str) -> str:
    """Take the numbers out of a mangled type's back references: they depend on what is around."""
    return re.sub(r"S[0-9A-Z]*_", "S_", mangled)


# ---- the table of kernels


def of_form(
    bindings: Any,
    name: str,
    label: str,
    parameters: dict[str, Any],
    worlds: int,
    gpu: Gpu,
    known: dict[tuple[Any, ...], Function],
) -> list[Kernel]:
    """The kernels of an environment of one size."""

    def resident(*asked: Any) -> int:
        environment, *kernel, threads, shared = asked
        return gpu.resident(known[(_plain(environment), *kernel)].registers, threads, shared)

    from gpu_envs.known import native

    told = bindings.kernels_on_paper(
        name,
        worlds,
        gpu.architecture,
        gpu.processors,
        gpu.shared_limit,
        resident,
        parameters=parameters,
        data_files=native.data_files("cuda", name),
    )
    found = []
    for row in json.loads(told):
        numbers = (row[key] for key in ("graph", "launch", "lanes", "slab"))
        said = known[(_plain(row["environment"]), *numbers)]
        found.append(
            Kernel(
                name,
                label,
                GRAPHS[row["graph"]],
                row["phase"],
                row["lanes"],
                row["slab"],
                said.registers,
                said.stack,
                said.stores + said.loads,
                row["threads"],
                row["shared_bytes"],
                row["resident_warps"],
                row["chosen"],
            )
        )
    return found


def flat_kernels(name: str, functions: dict[str, Function], stem: str, gpu: Gpu) -> list[Kernel]:
    """The flat executor's kernels of a module, those alike as one: a kernel has no short name."""
    alike: Counter[tuple[str, int, int, int]] = Counter()
    for mangled, said in functions.items():
        if (m := _FLAT_KERNEL.search(mangled)) and f"{len(stem)}{stem}" in mangled:
            alike[m[1], said.registers, said.stack, said.stores + said.loads] += 1
    found = []
    for (kind, registers, stack, spilled), count in sorted(alike.items()):
        threads = _FLAT_THREADS[kind]
        warps = gpu.resident(registers, threads, 0) * threads // _WARP
        size = (registers, stack, spilled, threads, 0, warps, False)
        found.append(Kernel(name, f"{count} alike", "flat", kind, 0, False, *size))
    return found


def kernels(name: str, worlds: int, gpu: Gpu, folder: Path, every: bool) -> list[Kernel]:
    """What is compiled of an environment, for each of the sizes that are measured on a GPU."""
    from gpu_envs.benchmark.clock import Clock
    from gpu_envs.benchmark.plan import Plan
    from gpu_envs.known import native, registration

    functions = reports(folder)
    bindings, known = native.at("cuda", name), by_kernel(functions)
    found = []
    for form in Plan(name, "cuda", Clock(0.0, 1), through_package=False).forms():
        many = worlds or max(form.worlds)
        found += of_form(bindings, name, form.label, form.parameters, many, gpu, known)
    if every:
        found += flat_kernels(name, functions, registration.home(name).stem, gpu)
    return [kernel for kernel in found if every or kernel.chosen]


def table(found: list[Kernel], before: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Rows of text; figures that were others before carry those, too."""
    header = ["id", "form", "graph", "phase", "lanes", "registers", "stack", "spilled", "threads"]
    rows = [[*header, "shared B", "warps/SM", "runs"]]
    for kernel in found:
        then = before.get(kernel.key, {})

        def shown(field: str, kernel: Kernel = kernel, then: dict[str, Any] = then) -> str:
            now, was = getattr(kernel, field), then.get(field)
            return f"{now:,}" if was in (None, now) else f"{was:,} -> {now:,}"

        own = [kernel.id, kernel.form or "-", kernel.graph, kernel.phase]
        lanes = f"{kernel.lanes or '-'}{' slab' if kernel.slab else ''}"
        fields = ("registers", "stack", "spilled", "threads", "shared", "warps")
        rows.append([*own, lanes, *map(shown, fields), "yes" if kernel.chosen else ""])
    return rows


# ---- what a step would reach


def counted(case: Any) -> dict[str, float] | None:
    """Warp instructions and bytes of a step of one world of a case, where they were counted."""
    known = json.loads(COUNTED.read_text()) if COUNTED.exists() else {}
    for one in known.get(case.name, ()):
        if (one["parameters"], one["outputs"]) == (case.parameters, case.outputs):
            return {"issued": sum(one["phases"].values()), "bytes": one["bytes"]}
    return None


def cases(name: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """The promises of an environment that ask for steps on a GPU, and the largest case of each."""
    from gpu_envs.benchmark import bars as promises
    from gpu_envs.benchmark.clock import Clock
    from gpu_envs.benchmark.plan import Plan
    from scripts.gpu import speed as gpu_speed

    plan = Plan(name, "cuda", Clock(0.0, 1), through_package=False)
    for bar in gpu_speed.device_bars(name):
        if bar["of"] in ("world_steps", "agent_steps") and "over" not in bar:
            yield bar, max(promises.cases(plan, bar), key=lambda case: case.worlds)


def count(name: str) -> list[dict[str, Any]]:
    """Count for each promise what a step of a world issues and moves."""
    from scripts.ptx import costs

    made: list[dict[str, Any]] = []
    for _, case in cases(name):
        key = {"parameters": case.parameters, "outputs": case.outputs}
        if any(key.items() <= one.items() for one in made):
            continue
        _, _, found = costs.measure(
            name,
            case.parameters,
            batch=case.worlds,
            outputs=case.outputs,
            steps=4,
            dtype=case.dtype,
            roles=case.roles,
        )
        phases = Counter[str]()
        for cost in found:
            phases[cost.phase or "flat"] += cost.machine  # type: ignore[assignment]
        moved = sum(cost.read + cost.written + cost.changed for cost in found)
        rounded = {phase: round(number, 1) for phase, number in phases.items()}
        made.append({**key, "phases": rounded, "bytes": round(moved, 1)})
    return made


def here(case: Any) -> Any:
    """The case on this processor: columns, actions and outputs are as large on every machine."""
    from gpu_envs.building import processor

    return replace(case, target=f"cpu_{processor.runnable_levels()[0]}", threads=1)


def units(case: Any) -> int:
    """Agents of a world."""
    from gpu_envs.benchmark.cases import probe

    one = probe(here(case))
    found = int(one.units)
    one.close()
    return found


def bars(name: str, gpu: Gpu) -> list[list[str]]:
    """What each promise of an environment on a GPU asks for, and the paper's answer."""
    from gpu_envs.benchmark.limits import byte_table

    rows = []
    for bar, case in cases(name):
        agents = units(case) if bar["of"] == "agent_steps" else 1
        found = counted(case)
        issued = found["issued"] if found else 0.0
        moved = sum(line.read + line.written for line in byte_table(here(case)))
        limits = {"memory": _MEMORY_SHARE * gpu.bandwidth / moved}
        if issued:
            limits["issuing"] = _ISSUE_SHARE * gpu.issued / issued
        by = min(limits, key=lambda limit: limits[limit])
        rows.append(
            [
                name, bar.get("form", "") or "-", bar.get("name", "floor"), f"{case.worlds:,}",
                bar.get("outputs", "default"), f"{bar['least']:.3g}", f"{moved:,.0f}",
                f"{limits['memory'] * agents:.3g}", f"{found['bytes']:,.0f}" if found else "?",
                f"{issued:,.0f}" if issued else "?",
                f"{limits['issuing'] * agents:.3g}" if issued else "?",
                f"{limits[by] * agents / bar['least']:.2f} ({by})",
            ]
        )  # fmt: skip
    return rows


_BARS = ["id", "form", "bar", "worlds", "outputs", "wanted /s", "bytes", "memory /s"]
_BARS += ["sectors B", "instructions", "issuing /s", "of wanted"]


def main() -> int:
    """Print one of the two tables."""
    from gpu_envs.known import registration
    from gpu_envs.terminal import console
    from scripts.gpu import native as gpu_native

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", help="environments; all that are built unless told")
    parser.add_argument("--worlds", type=int, default=0, help="of a batch; else the most measured")
    parser.add_argument("--gpu", choices=GPUS, default="H200")
    parser.add_argument("--all", action="store_true", help="kernels of other shapes and executors")
    parser.add_argument("--bars", action="store_true", help="what the promises would reach")
    parser.add_argument("--count", action="store_true", help="count instructions again: minutes")
    parser.add_argument("--json", type=Path, help="file for the table")
    parser.add_argument("--against", type=Path, help="such a file, of before")
    options = parser.parse_args()
    gpu = GPUS[options.gpu]
    try:
        chosen = [registration.find(name)["id"] for name in options.ids]
    except ValueError as problem:
        parser.error(str(problem))
    if options.count:
        known = json.loads(COUNTED.read_text()) if chosen and COUNTED.exists() else {}
        known |= {name: made for name in chosen or registration.shipped() if (made := count(name))}
        COUNTED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    if options.bars or options.count:
        chosen = chosen or registration.shipped()
        rows = [row for name in chosen for row in bars(name, gpu)]
        print(*console.aligned([_BARS, *rows]), sep="\n")
        return 0
    names = chosen or gpu_native.names(False)
    if not names:
        print("no module is built for CUDA: python -m gpu_envs build --target cuda")
        return 1
    folder = ROOT / "build" / "cuda"
    found = [k for name in names for k in kernels(name, options.worlds, gpu, folder, options.all)]
    then = json.loads(options.against.read_text()) if options.against else []
    before = {Kernel(**row).key: row for row in then}
    print(*console.aligned(table(found, before)), sep="\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(kernel) for kernel in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
