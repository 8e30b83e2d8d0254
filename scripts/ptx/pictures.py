#!/usr/bin/env python3
"""Count what pictures cost a GPU, and show that drawing them waits for nothing; needs no GPU.

    .venv/bin/python scripts/ptx/pictures.py [ID ...] [--steps N] [--worlds N] [--keep]

The kernels' PTX is executed on the CPU under the launches of a large batch. For every environment
whose agents see pictures, with its own pictures and with depths of 64 x 64, two tables show

  instructions   of a ray: lane instructions of the phase that draws, 32 for each that a warp
                 executes, over pixels; of PTX, and by the length of the machine code
  at most        pictures per second of an H200 that issued one in every slot; what is reached is a
                 matter of waiting, and is measured by scripts/gpu/check.sh
  launches       of a step, and all other calls of CUDA's runtime: a wait, a copy through the host
                 or an allocation is an error
  replays        of a captured step that equal a step, byte for byte, while agents move

`--keep` writes the counts to benchmarks/rays.json, beside which scripts/gpu/check.sh measures. The
exit status is 1 where a step waits or allocates, or a replay differs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.benchmark import memory, worlds  # noqa: E402
from gpu_envs.benchmark.report import Report, Table, si  # noqa: E402
from gpu_envs.building import places, toolchain  # noqa: E402
from gpu_envs.known import native, registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.gpu.occupancy import GPUS  # noqa: E402
from scripts.gpu.views import FORMS, RAYS, form_of  # noqa: E402
from scripts.ptx import costs, interpreter  # noqa: E402  # costs: chooses the runtime

GPU, WARP = "H200", 32
# Calls that enqueue work or ask for what is known; any other one waits, copies or allocates.
_HARMLESS = re.compile(
    r"cudaLaunchKernel(ExC)?|cudaMemsetAsync|cudaEventRecord|cudaStreamWaitEvent|cudaGraphLaunch"
    r"|cudaGetDevice|cudaSetDevice|cudaStreamIsCapturing|cudaStreamGetCaptureInfo(_v3)?"
    r"|cudaThreadExchangeStreamCaptureMode|cudaPointerGetAttributes"
)


@dataclass(frozen=True)
class Rays:
    """What the pictures of an environment cost, in lane instructions."""

    name: str
    form: str
    pixels: int
    agents: int
    of_ray: float
    machine: float  # by the length of the machine code
    lanes: float  # at work, of 32
    share: float  # of all instructions of a step

    @property
    def most_pictures(self) -> float:
        """Pictures per second of a GPU that issues an instruction in every slot."""
        return GPUS[GPU].issued * WARP / (self.machine * self.pixels)


@dataclass(frozen=True)
class Calls:
    """What steps have asked of CUDA's runtime."""

    name: str
    steps: int
    launches: float  # of a step
    others: dict[str, int]  # that enqueue no kernel, in all steps
    harmful: dict[str, int]  # of them, those that wait, copy or allocate
    replays: int  # of a captured step, that equal a step
    differing: str  # the first outputs that do not


def pictured() -> list[str]:
    """Return the ids of environments that ship and whose agents see pictures."""
    found = registration.environments()
    return [name for name in registration.shipped() if found[name].get("pictures")]


# ---- instructions


def rays(name: str, count: int, steps: int, **parameters: Any) -> Rays:
    """Step worlds and return what their pictures cost."""
    _, _, found = costs.measure(name, parameters, batch=16384, worlds=count, steps=steps)
    drawn = [cost for cost in found if cost.phase == "observe"]
    if not drawn:
        raise ValueError(f"{name} has no phase that draws pictures")
    form, pixels, agents = _form(name, parameters)
    issued = sum(cost.instructions for cost in drawn)
    machine = sum(cost.machine for cost in drawn)
    of_rays = WARP / (pixels * agents)
    return Rays(
        name,
        form,
        pixels,
        agents,
        issued * of_rays,
        machine * of_rays,
        sum(cost.lanes * cost.instructions for cost in drawn) / issued,
        issued / sum(cost.instructions for cost in found),
    )


def _form(name: str, parameters: dict[str, Any]) -> tuple[str, int, int]:
    """Return what its pictures are, their pixels, and the agents of a world."""
    run = _run(name, 1, parameters)
    (form, pixels), agents = form_of(run), run.units
    run.close()
    return form, pixels, agents


# ---- calls


def _run(name: str, count: int, parameters: dict[str, Any]) -> worlds.Run:
    interpreter.use_for_worlds()
    return worlds.Run(
        native.at(places.PTX, name),
        name,
        count,
        data_files=native.data_files(places.PTX, name),
        parameters=parameters,
    )


def calls(name: str, count: int, steps: int, **parameters: Any) -> Calls:
    """Step worlds, then replay a captured step beside a twin, and return what was asked for."""
    eager, captured = (_run(name, count, parameters) for _ in range(2))
    for run in (eager, captured):
        run.reset(1)
        run.step(run.actions[0])
    interpreter.clear_counts()
    for k in range(steps):
        eager.step(eager.actions[k % len(eager.actions)])
    asked = interpreter.calls()
    for k in range(steps):
        captured.step(captured.actions[k % len(captured.actions)])
    equal, differing = _replay(eager, captured, steps)
    eager.close()
    captured.close()
    launches = sum(n for call, n in asked.items() if call.startswith("cudaLaunchKernel"))
    others = {call: n for call, n in asked.items() if not call.startswith("cudaLaunchKernel")}
    harmful = {call: n for call, n in others.items() if not _HARMLESS.fullmatch(call)}
    return Calls(name, steps, launches / steps, others, harmful, equal, differing)


def _replay(eager: worlds.Run, captured: worlds.Run, steps: int) -> tuple[int, str]:
    """Return how many replays equal a step, and the outputs of the first that does not."""
    given, before = memory.on_device(captured.actions[0]), b""
    with _graph(lambda on: _step(captured, given, on)) as replay:
        for k in range(steps):
            actions = eager.actions[k % len(eager.actions)]
            given[...] = actions
            eager.step(actions)
            replay()
            if wrong := eager.slot.differing(captured.slot):
                return k, ", ".join(wrong)
            seen = captured.slot.read()["obs"]
            if k == 1 and seen == before:
                return k, "no picture, though agents moved"
            before = seen
    return steps, ""


def _step(run: worlds.Run, actions: Any, on: int) -> None:
    run.simulator.step(memory.address(actions), run.action_type, run.slot.addresses, on)


@contextmanager
def _graph(work: Callable[[int], None]) -> Iterator[Callable[[], None]]:
    """Capture work on a stream of its own and yield its replay."""
    stream, graph, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    _call("cudaStreamCreateWithFlags", ctypes.byref(stream), ctypes.c_uint(1))
    _call("cudaStreamBeginCapture", stream, ctypes.c_int(1))
    work(stream.value or 0)
    _call("cudaStreamEndCapture", stream, ctypes.byref(graph))
    _call("cudaGraphInstantiate", ctypes.byref(made), graph, ctypes.c_ulonglong(0))
    yield lambda: _call("cudaGraphLaunch", made, stream)
    _call("cudaGraphExecDestroy", made)
    _call("cudaGraphDestroy", graph)
    _call("cudaStreamDestroy", stream)


def _call(name: str, *arguments: Any) -> None:
    if code := getattr(interpreter.library(), name)(*arguments):
        raise RuntimeError(f"{name} failed with {code}: {interpreter.fault()}")


# ---- output


def tables(all_rays: Sequence[Rays], all_calls: Sequence[Calls]) -> Iterator[Table]:
    """Yield what was counted."""
    yield Table(
        "Instructions of a ray",
        ["", "pictures", "PTX", "machine code", "lanes at work", "of a step", f"{GPU}, at most"],
        [
            [
                *(one.name, one.form, f"{one.of_ray:,.0f}", f"{one.machine:,.0f}"),
                *(f"{one.lanes:.1f} of {WARP}", f"{one.share:.0%}"),
                f"{si(one.most_pictures)} pictures/s, {si(one.most_pictures * one.pixels)} rays/s",
            ]
            for one in all_rays
        ],
    )
    yield Table(
        "Calls of CUDA's runtime",
        ["", "steps", "launches a step", "others", "waits, copies, allocations", "replays"],
        [
            [
                *(one.name, f"{one.steps}", f"{one.launches:g}"),
                ", ".join(f"{n} {call}" for call, n in one.others.items()) or "none",
                ", ".join(one.harmful) or "none",
                f"{one.replays} equal" + (f", then not: {one.differing}" if one.differing else ""),
            ]
            for one in all_calls
        ],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="all that have pictures by default")
    parser.add_argument("--steps", type=int, default=100, help="whose calls are counted")
    parser.add_argument("--worlds", type=int, default=16, help="whose pictures are counted")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/rays.json")
    return parser


def main(argv: Sequence[str]) -> int:
    """Count and print."""
    given = _parser().parse_args(argv)
    report = Report("Pictures", {}, "scripts/ptx/pictures.py")
    try:
        names = [registration.find(one)["id"] for one in given.ids] or pictured()
        all_rays = [rays(name, given.worlds, steps=8, **form) for name in names for form in FORMS]
        all_calls = [calls(name, 2, given.steps, resolution="9x16") for name in names]
    except (ValueError, ImportError, toolchain.CannotBuild) as problem:
        print(f"scripts/ptx/pictures.py: {problem}", file=sys.stderr)
        return 1
    for table in tables(all_rays, all_calls):
        report.show(table)
    if given.keep:
        kept = {"rays": [*map(asdict, all_rays)], "calls": [*map(asdict, all_calls)]}
        RAYS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 1 if any(one.harmful or one.differing for one in all_calls) else 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
