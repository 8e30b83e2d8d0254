"""Estimates on paper how many warp instructions a GPU executes per step of an environment.

Usage: scripts/gpu/warp_instructions.py ID [--parameters NAME=VALUE ...] [--worlds N] [--lanes G]
           [--top N]

No GPU is needed. The instructions are those of the module for compute capability 9.0, as nvdisasm
shows them with their source lines; how often each runs is counted on emulated lanes
(engine/checking/lanes_counted.hpp) that play random actions. What is assumed:

- A warp takes a side of a branch as often as its busiest lane does between two rendezvous.
- The count of a source line holds where the same calls inlined it. The chains of calls are
  compared without the executor's own steps from stage to stage, where the assembler's are wrong;
  where a compiler left out calls, with all that have the rest; else the caller's count is taken.
- Blocks that run equally often (one dominates the other, which postdominates it, in one loop)
  share one number: what most of their instructions can have, at most that of what leads there. A
  line that is in a block m times may have m times the block's number, and where nearly all of a
  loop's body is there 16, 8, 4 or 2 times, all of it has.
- Copies of a line share its count: what was unrolled in part and what is left over, the modes of a
  step. Of a line that runs in one stage and not in another both stages may get a share.
- Paths that no counted line leads to never run, as slow divisions.

No GPU's counters have been compared with it. While it was written, other rules of the third kind
gave TagGrid from half to more than twice as much: take a total as an order of magnitude, and look
at the lines, and at the share that comes from lines whose whole chain was counted. It says nothing
of time: no latency, no memory.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.gpu.executions import executions
from scripts.gpu.sass import (
    ROOT,
    Chain,
    blocks_of,
    kernels,
    short,
)

_MOST_WORLDS = 64  # that are emulated
_STEPS = 20

# ---- what is counted


@dataclass
class Launch:
    """A launch of a step, as the emulated lanes counted it."""

    tier: str
    index: int
    name: str
    lanes: int
    warps: float  # of a step
    counts: dict[Chain, set[float]]  # of a warp: each of the places that have this chain
    totals: dict[Chain, float]  # and of them together


def _tool(name: str) -> str:
    folder = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
    given = os.environ.get("CUDA_HOME")
    found = shutil.which(name, path=f"{given}/bin") if given else None
    found = found or shutil.which(name) or shutil.which(name, path=str(folder))
    if found is None:
        raise SystemExit(f"{name} was not found: pip install nvidia-cuda-{name}")
    return found


_CALLERS = ("engine/cuda/group_control.hpp:", "engine/cuda/launch.hpp:", "engine/cuda/group.hpp:")
_PLUMBING = (
    "/",  # not of the tree
    "engine/base/types.hpp:",
    "engine/base/platform",
    "engine/checking/",
    "engine/cuda/lanes_device.hpp:",
    "engine/graph/call.hpp:",
)


@cache
def _final_call() -> str:
    """Return where stages run that write what an episode ended with."""
    lines = (ROOT / "kernels/engine/cuda/group_control.hpp").read_text().splitlines()
    number = next(k for k, line in enumerate(lines, 1) if "run_stages<true>" in line)
    return f"{_CALLERS[0]}{number}"


def _trimmed(frames: Sequence[str]) -> Chain:
    """Return as much of a chain as both compilers say alike.

    The assembler finds the call that inlined something by file and line alone: behind a line that
    comes again it may go on with the wrong one. So lines count once, and the chain ends with the
    stage; what is written at an episode's end is told apart.
    """
    kept: list[str] = []
    for k, frame in enumerate(frames):
        if frame.startswith(_CALLERS[0]):
            seen = set[str]()
            for above in frames[k:]:
                if above in seen and not above.startswith(_CALLERS[2]):
                    break
                seen.add(above)
            kept.append("final" if _final_call() in seen else "stage")
            break
        if frame.startswith(_CALLERS[1:]):
            if frame.startswith(_CALLERS[1]):
                kept.append(frame if not kept else "stage")
                break
            continue
        if not frame.startswith(_PLUMBING) and frame not in kept:
            kept.append(frame)
    return tuple(kept)


def places_of(text: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
    """Return per function the addresses of a disassembly, each with that of its counter.

    A counter stands at the beginning of a basic block; its address is where it returns to.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    own: list[tuple[int, int]] = []
    owner, awaited = 0, False
    for line in text:
        if line.rstrip().endswith(">:"):
            own = found.setdefault(line, [])
            owner, awaited = 0, False
            continue
        address, colon, code = line.partition(":\t")
        if not colon:
            continue
        at = int(address, 16)
        if awaited:
            owner, awaited = at, False
        if "__sanitizer_cov_trace_pc>" in code:
            awaited = True
        elif owner:
            own.append((at, owner))
    return found


def _chains(module: Path, addresses: Sequence[int]) -> dict[int, Chain]:
    asked = "\n".join(f"{a:x}" for a in addresses)
    command = ["addr2line", "-i", "-a", "-e", str(module)]
    said = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    found: dict[int, Chain] = {}
    for part in said.split("0x")[1:]:
        address, *frames = part.splitlines()
        lines = []
        for frame in frames:
            file, _, line = frame.split(" ")[0].rpartition(":")
            lines.append(f"{short(os.path.join(ROOT, file))}:{line}")
        found[int(address, 16)] = _trimmed(lines)
    return found


def read_counts(text: str, module: Path) -> list[Launch]:
    """Return the launches of a step from what the emulated lanes wrote."""
    said = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(module)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    functions = places_of(said.splitlines())
    launches = []
    for part in text.split("launch|")[1:]:
        head, *lines = part.splitlines()
        tier, graph, index, name, lanes, warps, runs = head.split("|")
        if graph != "step":
            continue
        numbers = {int(a, 16): int(n) / int(warps) for a, n in (line.split() for line in lines)}
        owned = [
            pair
            for pairs in functions.values()
            if any(owner in numbers for _, owner in pairs)
            for pair in pairs
        ]
        chains = _chains(module, [address for address, _ in owned])
        counts = defaultdict[Chain, set[float]](set)
        places = {(chains[address], owner) for address, owner in owned}
        totals = Counter[Chain]()
        for chain, owner in places:
            counts[chain].add(numbers.get(owner, 0.0))
            totals[chain] += numbers.get(owner, 0.0)  # type: ignore[assignment]
        launches.append(
            Launch(
                tier,
                int(index),
                name,
                int(lanes),
                int(warps) / int(runs),
                dict(counts),
                dict(totals),
            )
        )
    return launches


# ---- of an environment


def _count(module: str, name: str, worlds: int, parameters: dict[str, Any]) -> None:
    """Play random actions on emulated lanes; the process writes what it counted as it ends."""
    import numpy as np

    from gpu_envs.core.simulator import Simulator
    from gpu_envs.known import native

    native._module_of = lambda target, name: Path(module)  # in place of the CPU's own
    simulator = Simulator(name, worlds, device="cpu", arrays="numpy", **parameters)
    space = simulator.single_action_space
    shape = (worlds, simulator.agents_per_world, *space.shape)
    random = np.random.default_rng(1)
    out = simulator.reset(seed=1)
    for _ in range(_STEPS):
        if hasattr(space, "n"):
            actions = simulator.sample_actions(out.action_mask)
        elif hasattr(space, "nvec"):
            actions = random.integers(0, space.nvec, shape, dtype=np.int32)
        else:
            actions = random.uniform(space.low, space.high, shape).astype(np.float32)
        out = simulator.step(actions)


def _built(stem: str, lanes: int) -> tuple[Path, list[Path]]:
    """Return the module that counts, and the objects for the GPU."""
    from gpu_envs.building import flags, jobs, places, recipes, upkeep
    from gpu_envs.known import native

    os.environ["GPU_ENVS_CUDA_ARCHS"] = "90"
    header, target = places.environments()[stem], native.cpu_target()
    upkeep.ensure(target)
    counted = (
        "-DGE_CUDA_LAYOUT",
        f"-DGE_COUNTED={lanes}",
        "-O1",
        "-g",
        "-fsanitize-coverage=trace-pc",
    )
    folder = places.build_folder() / "warps"
    folder.mkdir(parents=True, exist_ok=True)
    product = recipes.module(stem, header, target, folder, machine="lanes", more=counted)
    upkeep.ensure_one(product)
    build = places.build_folder()
    more = list(flags.read(places.kernels() / "flags.txt")["nvcc lines"])
    more += ["-DGE_ALL_LANES"] if lanes else []  # else what ships
    made = jobs.run(list(recipes._units(stem, header, "cuda", "", "cuda", more, build)), stem)
    return product.file, [found for found, _ in made.values()]


def _disassembled(made: Path, wanted: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    subprocess.run(
        [_tool("cuobjdump"), "-xelf", "all", str(made)], cwd=folder, capture_output=True, check=True
    )
    for cubin in sorted(folder.glob("*.cubin")):
        command = [_tool("nvdisasm"), "-g", "-gi", "-c", str(cubin)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield from kernels(process.stdout)
        cubin.unlink()


@dataclass
class Estimate:
    """One launch: instructions of a warp, its warps of a step, and each source line's share."""

    lanes: int
    of_warp: float
    warps: float
    known: float  # the share of instructions whose whole chain was counted
    lines: Counter[str]


@cache
def _estimates(name: str, parameters: str, worlds: int, lanes: int) -> dict[str, Estimate]:
    from gpu_envs.known import registration

    found = registration.find(name)
    module, objects = _built(registration.home(found["id"]).stem, lanes)
    made: dict[str, Estimate] = {}
    with tempfile.TemporaryDirectory(dir=module.parent) as folder:
        counted = Path(folder) / "counts"
        command = [sys.executable, __file__, "--counting", str(module), found["id"]]
        command += ["--worlds", str(worlds), "--json", parameters]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "GE_COUNTS": str(counted), "PYTHONPATH": path}
        subprocess.run(command, env=environment, check=True)
        launches = read_counts(counted.read_text(), module)
        for one in objects:
            for mangled, lines in _disassembled(one, "", Path(folder)):
                if "phase_kernel" not in mangled:
                    continue
                clear = subprocess.run(
                    ["c++filt", mangled], capture_output=True, text=True, check=True
                ).stdout
                for launch in launches:
                    key = f"<{launch.tier}, 0, {launch.index}, {launch.lanes}, false>"
                    if key in clear:
                        made[launch.name] = estimate(lines, launch)
    return {launch.name: made[launch.name] for launch in launches if launch.name in made}


def estimate(lines: Iterable[str], launch: Launch) -> Estimate:
    """Put instructions and counts together."""
    blocks, roots = blocks_of(lines)
    for block in blocks:
        for one in block.instructions:
            one.chain = _trimmed(one.chain)
    found = executions(blocks, roots, launch.counts)
    # A line's copies share its count: of a loop that was unrolled in part, of the modes of a step.
    claimed = Counter[Chain]()
    for group in {id(group): group for group in found}.values():
        for chain in group.names:
            claimed[chain] += group.number * group.unrolled  # type: ignore[assignment]
    share = {
        chain: min(1.0, launch.totals[chain] / claim)
        for chain, claim in claimed.items()
        if claim and chain in launch.totals
    }
    cost = Counter[str]()
    known = 0.0
    for block, group in zip(blocks, found, strict=True):
        for one in block.instructions:
            number = group.number * share.get(one.chain, 1.0)
            cost[one.chain[0] if one.chain else "?"] += number  # type: ignore[assignment]
            known += number if one.chain in launch.counts else 0.0
    total = float(sum(cost.values()))
    return Estimate(launch.lanes, total, launch.warps, known / total if total else 0.0, cost)


def of_step(
    name: str, parameters: Mapping[str, object], *, worlds: int, lanes: int = 0
) -> dict[str, float]:
    """Return warp instructions of a world's step by launch of the group executor.

    Args:
        name: Id of an environment of the tree.
        parameters: Its own.
        worlds: Of the batch; at most 64 are emulated.
        lanes: Per world; 0: as many as a GPU has by default.
    """
    emulated = min(worlds, _MOST_WORLDS)
    made = _estimates(name, json.dumps(dict(parameters)), emulated, lanes)
    return {phase: one.of_warp * one.warps / emulated for phase, one in made.items()}


def _parameter(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main() -> int:
    """Print the estimate of one environment."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("id")
    parser.add_argument(
        "--parameters", nargs="*", default=[], type=_parameter, metavar="NAME=VALUE"
    )
    parser.add_argument("--worlds", type=int, default=_MOST_WORLDS)
    parser.add_argument("--lanes", type=int, default=0)
    parser.add_argument("--top", type=int, default=10, metavar="N")
    parser.add_argument("--counting", help=argparse.SUPPRESS)
    parser.add_argument("--json", default="{}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.counting:
        _count(options.counting, options.id, options.worlds, json.loads(options.json))
        return 0
    worlds = min(options.worlds, _MOST_WORLDS)
    parameters = json.dumps(dict(options.parameters))
    for phase, one in _estimates(options.id, parameters, worlds, options.lanes).items():
        print(
            f"{phase}: {one.lanes} lanes, {one.of_warp:,.0f} instructions of a warp, "
            f"{one.of_warp * one.warps / worlds:,.0f} warp instructions of a world, "
            f"{one.known:.0%} from lines that were counted"
        )
        for line, cost in one.lines.most_common(options.top):
            print(f"  {cost:9,.0f}  {line}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
