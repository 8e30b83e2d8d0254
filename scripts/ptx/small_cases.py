#!/usr/bin/env python3
"""Small cases of interpreted kernels, each equal to the CPU's engine byte for byte.

    .venv/bin/python scripts/ptx/small_cases.py [ID ...] [--only TITLE] [--quick]

The cases are made from what an environment describes: its parameters, options, outputs, actions and
columns, and the sizes of its measures. They are for what recorded runs never do: other types of
elements, outputs at odd addresses or missing, bad actions, seeds by world, masked resets, copies,
saves, states that were set, every number of lanes. `--quick` runs the first case of each kind.
Modules are built first (target `cuda_ptx`, which needs nvcc and no GPU).
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.benchmark.worlds import LEAN  # noqa: E402
from gpu_envs.building import places, toolchain, upkeep  # noqa: E402
from gpu_envs.known import measures, registration  # noqa: E402
from gpu_envs.known.outputs import FINAL_LAYERS, OUTPUTS  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.ptx import interpreter, learner_cases, states  # noqa: E402
from scripts.ptx.acts import SHORT, draws, frozen, moves, play, reset_with, seeds  # noqa: E402
from scripts.ptx.mixes import DTYPES, FAR, MODES, TYPES, Case, Stream  # noqa: E402
from scripts.ptx.pairs import Differs, Pair, Refused  # noqa: E402
from scripts.ptx.plays import bad_actions, in_type  # noqa: E402
from scripts.ptx.subjects import (  # noqa: E402
    Subject,
    least_shared,
    size_of,
    subjects_of,
    values_of,
    ways_of,
)

LEARNER = "learner"  # among ids: the learner's native calls


# ---- the cases of an environment


def forms(subject: Subject) -> Iterator[Case]:
    """Types and rows of observations, actions in one number, roles side by side or apart."""
    rolled = ("own", "padded", "split") if subject.described.get("roles") else ("own",)
    for dtype, roles, actions in itertools.product(DTYPES, rolled, ("own", "flat")):
        options = {"dtype": dtype, "roles": roles, "actions": actions, "max_episode_steps": SHORT}
        yield Case(f"forms {dtype} {roles} {actions}", play(5), options=options)
        if dtype != "own":
            shown = {**options, "shift": 4}
            yield Case(f"forms {dtype} {roles} {actions}, shifted", play(5), 2, options=shown)


def outputs(subject: Subject) -> Iterator[Case]:
    """Outputs that are missing, at odd addresses, kept."""
    short = {"max_episode_steps": SHORT}
    for shift in (1, 2, 4, 8, 12, 16, 60):
        yield Case(f"outputs {shift} on", play(5), options={"shift": shift, **short})
    chosen = [(), LEAN, *((*LEAN, name) for name in OUTPUTS if name not in LEAN)]
    chosen += [("obs",), ("reward", "ended"), FINAL_LAYERS, (*FINAL_LAYERS, "ended")]
    for names in chosen:
        only = " ".join(name for name in names if name not in LEAN) or "lean"
        yield Case(f"outputs: {only}", play(5), options={"outputs": names, **short})
    yield Case("final rows kept", play(5), options={"final_rows": "keep", **short})
    yield Case("final rows cleared", play(6), options={"is_kept": True, **short})
    kept = {"is_kept": True, "outputs": (*LEAN, *FINAL_LAYERS), **short}
    yield Case("final rows cleared, ended unknown", play(6), options=kept)


def batches(subject: Subject) -> Iterator[Case]:
    """Numbers of worlds around those of a warp and a block."""
    for worlds in (1, 2, 31, 33, 64, 130, 257):
        yield Case(f"{worlds} worlds", play(3), worlds, options={"max_episode_steps": 2})
    yield Case("worlds from 2^31 on", play(3), options={"first_world": FAR})


def lives(subject: Subject) -> Iterator[Case]:
    """Modes of reset, ends of agents and worlds, limits of steps."""
    for mode, ends in itertools.product(MODES, ("agent", "world")):
        for steps in (0, 1, SHORT):
            options = {"autoreset_mode": mode, "ends": ends, "max_episode_steps": steps}
            yield Case(f"{mode}, ends by {ends}, {steps} steps", play(7), 5, options=options)
        yield Case(f"{mode}, ends by {ends}, masked", frozen, 7, options=options)
        yield Case(f"{mode}, ends by {ends}, seeds", seeds, 5, options=options)
    for option in subject.described["reset_options"]:
        for value in values_of(subject.name, option):
            yield Case(f"reset {option['name']}={value}", reset_with({option["name"]: value}), 4)


def acts(subject: Subject) -> Iterator[Case]:
    """Types of actions, bad ones, draws."""
    yield Case("bad actions", bad_actions, 7)
    for roles in ("padded", "split") if subject.described.get("roles") else ():
        yield Case(f"bad actions, {roles}", bad_actions, 5, options={"roles": roles})
        yield Case(f"draws, {roles}", draws, 5, options={"roles": roles})
    yield Case("bad flat actions", bad_actions, 5, options={"actions": "flat"})
    for kind in TYPES:
        yield Case(f"actions of {kind}", in_type(kind), 4)
    yield Case("draws", draws, 9)
    yield Case("flat draws", draws, 5, options={"actions": "flat"})
    for kind in ("stubborn", "ends", "legal"):
        yield Case(f"{kind} play", play(24, kind), 6)


def contents(subject: Subject) -> Iterator[Case]:
    """Copies, saves, records and columns."""
    yield Case("copies and saves", moves, 5)
    yield Case("columns", states.each_column, 3)
    for seed in range(6):
        yield Case(f"states at random, {seed}", states.at_random(seed), 6)
        yield Case(f"one column at random, {seed}", states.one_at_random(seed), 6)


def blocks(subject: Subject) -> Iterator[Case]:
    """Numbers of threads in a block."""
    for block in (32, 64, 128, 256):
        yield Case(f"block of {block}", play(3), 9, options={"block": block})


def parameters(subject: Subject) -> Iterator[Case]:
    """Sets of parameters that tests play, and other values of each; once, for all tiers."""
    for given in subject.variants:
        said = " ".join(f"{key}={value}" for key, value in given.items()) or "default"
        yield Case(f"variant {said}", play(8, "legal"), 5, given, {"max_episode_steps": 5})
        yield Case(f"variant {said}, long", play(40), 4, given)
        yield Case(f"variant {said}, states", states.at_random(1), 6, given)
        yield Case(f"variant {said}, bits", play(3), 3, given, {"dtype": "bits"})
        yield Case(f"variant {said}, float32", play(3), 3, given, {"dtype": "float32"})
    base = measures.sizes(subject.name, "few")
    for parameter in subject.described["parameters"] if subject.variants else ():
        for value in states.values_of(parameter):
            if size_of(subject.name, base | {parameter["name"]: value}) is None:
                continue
            title = f"parameter {parameter['name']}={value}"
            yield Case(title, play(6, "legal"), 3, base | {parameter["name"]: value})


def benchmarks(subject: Subject) -> Iterator[Case]:
    """A world of each form that is measured, however large, for a step of each schedule."""
    held = measures.measures_of(subject.name)["benchmark"].get("forms", [])
    schedules = {way.options.get("schedule", "own") for way in ways_of(subject)} & {"own", "flat"}
    for form, schedule in itertools.product(held, sorted(schedules)):
        options = {} if schedule == "own" else {"schedule": schedule}
        given = form.get("parameters", {})
        yield Case(f"benchmark {given} {schedule}", play(1), 1, given, options)


KINDS = (forms, outputs, batches, lives, acts, contents, blocks)


MIXES = 40  # cases drawn at random of each way


def streams_of(name: str) -> list[Stream]:
    """Return cases without end for each tier of an environment and each way to kernels."""
    return [Stream(subject, way) for subject in subjects_of(name) for way in ways_of(subject)]


def kinds_of(name: str) -> list[Case]:
    """Return the cases of an environment kind by kind, for its first tier as the engine runs it."""
    subject = subjects_of(name)[0]
    every = [case for kind in KINDS for case in kind(subject)]
    turns = zip(every, itertools.cycle(subject.sets), strict=False)
    played = (replace(case, parameters=given) for case, given in turns)
    return [*played, *parameters(subject), *benchmarks(subject)]


def cases_of(name: str) -> list[Case]:
    """Return all small cases of an environment, some of each way drawn at random."""
    drawn = [itertools.islice(stream, MIXES) for stream in streams_of(name)]
    return [*itertools.chain.from_iterable(drawn), *kinds_of(name)]


def quick_cases_of(name: str) -> list[Case]:
    """Return the first cases of each kind that differ most, for a run of seconds."""
    wanted = ("forms", "outputs", "3", "SameStep", "bad actions", "draws", "copies", "states")
    every = kinds_of(name)
    found = (next((c for c in every if c.title.startswith(word)), None) for word in wanted)
    return [case for case in found if case is not None]


# ---- running

OF_A_PAIR = ("outputs", "shift", "is_kept", "block")  # options that change no kernel's memory


@dataclass
class Result:
    """What came of one environment's cases."""

    ran: int = 0
    refused: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


def run_case(name: str, case: Case) -> str | None:
    """Run one case; return why both machines refused it, or None."""
    settings = dict(case.settings)
    if case.slab:
        own = {key: value for key, value in case.options.items() if key not in OF_A_PAIR}
        settings["shared"] = least_shared(name, {**own, "parameters": case.parameters})
    with interpreter.settings(**settings):
        return _run_case(name, case)


def _run_case(name: str, case: Case) -> str | None:
    try:
        pair = Pair(name, case.worlds, parameters=case.parameters, **case.options)
    except Refused as reason:
        return str(reason)
    except MemoryError:
        return "too large"
    with pair:
        try:
            case.act(pair)
        except Refused as reason:
            return str(reason)
    return None


def run_cases(name: str, cases: Iterable[Case]) -> Result:
    """Run cases and collect what differs."""
    result, begun = Result(), time.monotonic()
    for case in cases:
        try:
            reason = run_case(name, case)
        except Differs as problem:
            result.wrong.append(f"{name}, {case.title}: {problem} {case.parameters}")
        except RuntimeError as problem:  # a fault of a kernel; it stays until it is forgotten
            result.wrong.append(f"{name}, {case.title}: {problem} {interpreter.fault()}")
            interpreter.library().ge_ptx_forget_fault()
        else:
            result.ran += reason is None
            result.refused += reason is not None
    result.seconds = time.monotonic() - begun
    return result


def main(argv: Sequence[str]) -> int:
    """Build and run; 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="such as CartPole-v0, or learner for the learner's kernels; none: all",
    )
    parser.add_argument("--only", default="", help="cases whose title begins so")
    parser.add_argument("--quick", action="store_true", help="a case of each kind")
    parser.add_argument("--list", action="store_true", help="show the titles")
    parser.add_argument(
        "--planted",
        nargs=2,
        metavar=("PATTERN", "TEXT"),
        default=("", ""),
        help="change the PTX first: a regular expression and what takes its place",
    )
    given = parser.parse_args(argv)
    os.environ["GPU_ENVS_CUDA_RUNTIME"] = "interpreted"
    names = given.ids or [LEARNER, *registration.environments()]
    try:
        own = [name for name in names if name != LEARNER]
        upkeep.ensure(places.PTX, [registration.home(name).stem for name in own])
    except toolchain.CannotBuild as problem:
        print(f"scripts/ptx/small_cases.py: {problem}", file=sys.stderr)
        return 1
    pattern, text = given.planted
    with interpreter.planted(pattern, text) if pattern else contextlib.nullcontext():
        return _run_all(names, given)


def _run_all(names: Sequence[str], given: argparse.Namespace) -> int:
    wrong = 0
    for name in names:
        if name == LEARNER:
            ran, differing = learner_cases.run()
            print(
                "\n  DIFFERS: ".join([f"{name}: {ran} cases, {len(differing)} wrong", *differing])
            )
            wrong += len(differing)
            continue
        cases = quick_cases_of(name) if given.quick else cases_of(name)
        cases = [case for case in cases if case.title.startswith(given.only)]
        if given.list:
            print("\n".join(f"{name}: {case.title} {json.dumps(case.options)}" for case in cases))
            continue
        found = run_cases(name, cases)
        wrong += len(found.wrong)
        print(
            f"{name}: {found.ran} cases, {found.refused} refused, {len(found.wrong)} wrong, "
            f"{found.seconds:.1f} s",
            flush=True,
        )
        for line in found.wrong:
            print(f"  DIFFERS: {line}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
