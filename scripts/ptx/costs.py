#!/usr/bin/env python3
"""Count what a step costs a GPU: its kernels' PTX is executed on the CPU, under the real launches.

    .venv/bin/python scripts/ptx/costs.py ID [--parameters NAME=VALUE ...] [--batch N]
           [--worlds N] [--steps N] [--outputs lean|default] [--mode SameStep] [--lanes N]
           [--block N] [--varies NAME ...] [--top N] [--json FILE]

Few worlds are stepped, with the lanes and blocks that the engine chooses for a large batch
(`--batch`) on an H100. Counts are exact and the same in every run; they are of PTX:

  instructions   that a warp executes, of a world and step; `machine` multiplies them by the length
                 of a kernel's machine code over that of its PTX, where there is machine code
  lanes          at work, of 32, on average
  splits         branches whose lanes go different ways, and so both
  sectors        of 32 bytes that accesses of global memory touch; bytes are 32 times as many
  waves          passes of an access through the banks of shared memory; 1 is best

With line information (GPU_ENVS_CUDA_LINES=1 at build time) the most expensive lines are named.
Caches, latencies and what the assembler merges are not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["GPU_ENVS_CUDA_RUNTIME"] = "interpreted"

from gpu_envs.benchmark import worlds as benchmark_worlds  # noqa: E402
from gpu_envs.building import places, toolchain  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.gpu.occupancy import GPUS  # noqa: E402
from scripts.ptx import interpreter, machine_code  # noqa: E402

_SECTOR = 32
_ACCESSES = ("load_global", "store_global", "atomic")
_PHASE = re.compile(r"phase_kernelI.*?Li(\d+)ELi(\d+)ELi(\d+)ELb([01])EEEv")


@dataclass(frozen=True)
class Shape:
    """How a step is launched for a large batch."""

    lanes: int  # per world; 0: one kernel per stage (the flat schedule)
    block: int
    phases: dict[tuple[int, int, int], str]  # by graph, launch and lanes

    @property
    def options(self) -> dict[str, Any]:
        """The native simulator's."""
        return {"lanes": self.lanes, "block": self.block} if self.lanes else {"schedule": "flat"}


@dataclass
class Cost:
    """What one kernel costs, of a world and step."""

    kernel: str
    phase: str
    launches: float  # of a step
    instructions: float
    machine: float  # the same, by the length of its machine code
    lanes: float
    splits: float
    read: float  # bytes
    written: float
    changed: float  # by atomics
    sectors: float  # of an access
    waves: float  # of an access
    barriers: float
    local: float  # instructions that use local memory
    kinds: dict[str, float]
    lines: dict[str, float]


def _codes(name: str) -> dict[str, machine_code.Code]:
    """Return the machine code of an environment's kernels and of the engine's; perhaps none."""
    stem = registration.home(name).stem
    files = (places.module_file(stem, places.PTX), places.engine_file(places.PTX))
    return {
        kernel: code for file in files for kernel, code in machine_code.kernels_of(file).items()
    }


def shape_of(name: str, parameters: Mapping[str, Any], batch: int, gpu: str = "H100") -> Shape:
    """Return how the engine launches a step of a large batch on a GPU."""
    limits = GPUS[gpu]
    bindings, codes = native.at(places.PTX, name), _codes(name)
    registers = {
        (m[1], m[2], m[3], m[4], kernel): code.registers
        for kernel, code in codes.items()
        if (m := _PHASE.search(kernel))
    }

    def resident(environment: str, *asked: Any) -> int:
        graph, launch, lanes, slab, threads, shared = asked
        wanted = (str(graph), str(launch), str(lanes), str(int(slab)))
        found = [
            number
            for (*key, kernel), number in registers.items()
            if tuple(key) == wanted and _innermost(environment) in kernel
        ]
        return limits.resident(max(found, default=64), threads, shared)

    listed = bindings.kernels_on_paper(
        name,
        batch,
        limits.architecture,
        limits.processors,
        limits.shared_limit,
        resident,
        parameters=dict(parameters),
        data_files=native.data_files(places.PTX, name),
    )
    rows = json.loads(listed)
    chosen = [row for row in rows if row["chosen"] and row["graph"] == 0]
    phases = {(row["graph"], row["launch"], row["lanes"]): row["phase"] for row in rows}
    if not chosen:
        return Shape(0, 0, phases)
    return Shape(chosen[0]["lanes"], max(row["threads"] for row in chosen), phases)


def _innermost(mangled: str) -> str:
    """Return the tier's name in a mangled type, without back references, which differ."""
    names = re.findall(r"\d+([a-z_]+[a-z_0-9]*)(?=\d|E)", mangled)
    return str(names[-1]) if names else mangled


def measure(
    name: str,
    parameters: Mapping[str, Any],
    *,
    batch: int,
    worlds: int = 0,
    steps: int = 16,
    outputs: str = "default",
    **options: Any,
) -> tuple[Shape, int, list[Cost]]:
    """Step worlds and return their shape, their number and the costs of a step by kernel.

    Args:
        name: Id of an environment.
        parameters: Its own.
        batch: Worlds whose launches are taken.
        worlds: That are stepped; 0: enough for some full blocks.
        steps: That are counted, after as many that are not.
        outputs: "lean" or "default".
        options: Of the native simulator; lanes and block in place of the chosen ones.
    """
    shape = shape_of(name, parameters, batch)
    given = {**shape.options, **{key: value for key, value in options.items() if value}}
    lanes, block = given.get("lanes", 0), given.get("block", 0)
    full = 4 * block // lanes if lanes else 2  # without lanes worlds are large
    worlds = worlds or max(1, min(batch, full))
    interpreter.use_for_worlds()
    run = benchmark_worlds.Run(
        native.at(places.PTX, name),
        name,
        worlds,
        outputs=outputs,
        data_files=native.data_files(places.PTX, name),
        parameters=dict(parameters),
        **given,
    )
    step = run.stepper()
    run.reset(1)
    for k in range(steps):
        step(k)
    interpreter.clear_counts()
    with interpreter.settings(counts=1):
        for k in range(steps):
            step(k)
    found = interpreter.report()
    run.close()
    codes = _codes(name)
    costs = [
        _cost(kernel, codes.get(kernel.name), shape, worlds * steps, steps)
        for kernel in found
        if kernel.launches
    ]
    return shape, worlds, sorted(costs, key=lambda cost: -cost.instructions)


def _cost(
    kernel: interpreter.Kernel,
    code: machine_code.Code | None,
    shape: Shape,
    world_steps: int,
    steps: int,
) -> Cost:
    rows = list(kernel.rows())
    warps = sum(row.warps for row in rows)
    by_kind, lines = Counter[str](), Counter[str]()
    sectors, accesses = defaultdict[str, int](int), 0
    shared = waves = 0
    for row in rows:
        by_kind[row.kind] += row.warps
        lines[row.source] += row.warps
        if row.kind in _ACCESSES:
            sectors[row.kind] += row.sectors
            accesses += row.warps
        if row.kind == "shared":
            shared += row.warps
            waves += row.waves
    ratio = max(1.0, code.instructions / len(rows)) if code else 1.0
    m = _PHASE.search(kernel.name)
    key = (int(m[1]), int(m[2]), int(m[3])) if m else (-1, -1, -1)

    def share(number: float) -> float:
        return number / world_steps

    return Cost(
        kernel=kernel.name,
        phase=shape.phases.get(key, ""),
        launches=kernel.launches / steps,
        instructions=share(warps),
        machine=share(warps) * ratio,
        lanes=sum(row.lanes for row in rows) / max(1, warps),
        splits=share(sum(row.splits for row in rows)),
        read=_SECTOR * share(sectors["load_global"]),
        written=_SECTOR * share(sectors["store_global"]),
        changed=_SECTOR * share(sectors["atomic"]),
        sectors=sum(sectors.values()) / max(1, accesses),
        waves=waves / max(1, shared),
        barriers=share(by_kind["barrier"]),
        local=share(by_kind["local"]),
        kinds={kind: round(share(number), 3) for kind, number in by_kind.items() if number},
        lines={line: share(number) for line, number in lines.most_common() if line and number},
    )


# ---- output


def _short(cost: Cost) -> str:
    m = re.search(r"\d+([a-z_]+_kernel|Device[A-Za-z]+)", cost.kernel)
    return cost.phase or (m[1] if m else cost.kernel[:60])


def _print(cost: Cost, top: int) -> None:
    print(
        f"{_short(cost)}: {cost.instructions:,.1f} warp instructions of a world and step "
        f"({cost.machine:,.1f} machine), {cost.lanes:.1f} of 32 lanes, {cost.splits:,.2f} splits, "
        f"{cost.barriers:,.1f} barriers, {cost.launches:g} launches"
    )
    print(
        f"  bytes: {cost.read:,.1f} read, {cost.written:,.1f} written, {cost.changed:,.1f} by "
        f"atomics; {cost.sectors:.2f} sectors of an access; {cost.waves:.2f} waves of a shared "
        f"access; {cost.local:,.1f} accesses of local memory"
    )
    kinds = sorted(cost.kinds.items(), key=lambda item: -item[1])
    print("  " + ", ".join(f"{kind} {number:,.1f}" for kind, number in kinds))
    for line, number in list(cost.lines.items())[:top]:
        print(f"  {number:11,.1f}  {line}")


def _value(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("id")
    parser.add_argument("--parameters", nargs="*", default=[], type=_value, metavar="NAME=VALUE")
    parser.add_argument("--batch", type=int, default=16384, help="worlds whose launches are taken")
    parser.add_argument("--worlds", type=int, default=0, help="that are stepped")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--outputs", choices=("lean", "default"), default="default")
    parser.add_argument("--mode", default="SameStep", help="autoreset mode")
    parser.add_argument("--lanes", type=int, default=0, help="per world, in place of the chosen")
    parser.add_argument("--block", type=int, default=0, help="threads, in place of the chosen")
    parser.add_argument(
        "--varies", nargs="*", default=[], metavar="NAME", help="parameters that differ by world"
    )
    parser.add_argument("--top", type=int, default=10, metavar="N", help="lines that are named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keeps all counts")
    return parser


def main(argv: Sequence[str]) -> int:
    """Count and print."""
    parser = _parser()
    given = parser.parse_args(argv)
    try:
        name = registration.find(given.id)["id"]
        shape, worlds, costs = measure(
            name,
            dict(given.parameters),
            batch=given.batch,
            worlds=given.worlds,
            steps=given.steps,
            outputs=given.outputs,
            autoreset_mode=given.mode,
            lanes=given.lanes,
            block=given.block,
            varies=tuple(given.varies),
        )
    except (ValueError, ImportError, toolchain.CannotBuild) as problem:
        print(f"scripts/ptx/costs.py: {problem}", file=sys.stderr)
        return 1
    lanes, block = given.lanes or shape.lanes, given.block or shape.block
    how = f"{lanes} lanes of blocks of {block} threads" if lanes else "a kernel per stage"
    print(f"{name}: {worlds:,} worlds, {how}, as for {given.batch:,} worlds")
    for cost in costs:
        _print(cost, given.top)
    if given.json:
        given.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
