"""What small cases are about: an environment's tiers, sets of parameters, and compiled kernels.

A way leads to kernels of its own: by the number of lanes, by the schedule, or by so little shared
memory that the engine chooses kernels whose scratch memory lies in the slab.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_envs.benchmark.worlds import output_bytes
from gpu_envs.building import places
from gpu_envs.known import measures, native, registration
from scripts.checks import golden_cases
from scripts.ptx import interpreter, states

Parameters = dict[str, Any]

LANES = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Subject:
    """An environment of one tier, as its description, its measures and its recorded runs say."""

    name: str
    described: dict[str, Any]
    tier: int  # which of the sizes that are compiled
    sets: list[Parameters]  # of this tier, all of them small; cases take them in turn
    variants: list[Parameters]  # that tests play, of any tier; known to the first tier only


LARGEST = 1 << 20  # bytes of a world and its outputs
LARGER = 4  # times the smallest record of a tier: larger worlds take part as variants only


def subjects_of(name: str) -> list[Subject]:
    """Return an environment once for each tier that some known parameters lead to."""
    described = registration.find(name)
    base, variants = measures.sizes(name, "few"), variants_of(described)
    others = [
        base | {parameter["name"]: value}
        for parameter in described["parameters"]
        for value in states.values_of(parameter)
    ]
    tiers: dict[int, list[tuple[int, Parameters]]] = {}
    for given in (*variants, *others):
        size = size_of(described["id"], given)
        # Single values stand for a tier only where nothing else does.
        if size is not None and (given in variants or size[0] not in tiers):
            tiers.setdefault(size[0], []).append((size[1], given))
    found: list[Subject] = []
    for tier, held in tiers.items():
        most = LARGER * min(size for size, _ in held)
        sets = [given for size, given in held if size <= most]
        changed = _changed(described, tier, sets[0], most)
        # Every second case is of a known set.
        known = itertools.cycle(sets)
        turns = [given for other in changed[:CHANGED] for given in (next(known), other)]
        turns += sets if not changed else []
        found.append(Subject(described["id"], described, tier, turns, [] if found else variants))
    return found


CHANGED = 80  # sets in which one value differs, for each tier


def _changed(described: dict[str, Any], tier: int, own: Parameters, most: int) -> list[Parameters]:
    """Return sets of a tier that differ from one of it in the value of one parameter."""
    found = []
    for parameter in described["parameters"]:
        for value in states.values_of(parameter):
            given = own | {parameter["name"]: value}
            size = size_of(described["id"], given)
            if size is not None and size[0] == tier and size[1] <= most:
                found.append(given)
    return found


def variants_of(described: dict[str, Any]) -> list[Parameters]:
    """Return sets of parameters that tests and recorded runs play, the default first."""
    name = described["id"]
    tests, base = measures.measures_of(name)["tests"], measures.sizes(name, "few")
    named = [tests[key] for key in ("varied", "small", "alone", "crowd") if key in tests]
    recorded = [case.options["parameters"] for case in golden_cases.read((name,))]
    found: list[Parameters] = []
    for given in ({}, *named, *tests.get("variants", []), *recorded):
        if (whole := base | given) not in found and size_of(name, whole) is not None:
            found.append(whole)
    return found


def size_of(name: str, given: Parameters) -> tuple[int, int] | None:
    """Return tier and bytes of a record; None where worlds are refused, or no small ones."""
    target = native.cpu_target()
    files = native.data_files(target, name)
    try:
        simulator = native.at(target, name).Simulator(name, 1, data_files=files, parameters=given)
    except (ValueError, MemoryError):
        return None
    facts, record = json.loads(simulator.instance), simulator.record_bytes
    simulator.close()
    is_small = record + sum(output_bytes(facts).values()) <= LARGEST
    return (facts["tier"], record) if is_small else None


# ---- ways


@dataclass(frozen=True)
class Way:
    """Options and settings that lead to kernels of their own."""

    options: dict[str, Any] = field(default_factory=dict)
    slab: bool = False  # scratch memory in the slab wherever a kernel for that is compiled

    def __str__(self) -> str:
        return " ".join([*map(str, self.options.values()), *(["slab"] if self.slab else [])])


def ways_of(subject: Subject) -> list[Way]:
    """Return ways that lead to kernels that no other way leads to."""
    options: list[dict[str, Any]] = [{}, {"schedule": "flat"}, {"schedule": "group"}]
    options += [{"schedule": "group", "lanes": lanes} for lanes in LANES]
    found: dict[str, Way] = {}
    for given in options:
        whole = {"parameters": subject.sets[0], **given}
        facts = _launches(subject.name, whole)
        if facts is None:
            continue
        lanes = [(launch["phase"], launch["lanes"]) for launch in facts["launches"]]
        found.setdefault(f"{facts['schedule']} {lanes}", Way(given))
        if facts["schedule"] == "flat":
            continue
        with interpreter.settings(shared=least_shared(subject.name, whole)):
            less = _launches(subject.name, whole)
        if less and less["launches"] != facts["launches"]:
            found.setdefault(f"slab {lanes}", Way(given, slab=True))
    return list(found.values())


def _launches(name: str, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the facts of two worlds on the interpreter; None where they are not compiled."""
    module, files = native.at(places.PTX, name), native.data_files(places.PTX, name)
    try:
        simulator = module.Simulator(name, 2, block=32, data_files=files, **options)
    except ValueError:
        return None
    facts: dict[str, Any] = json.loads(simulator.instance)
    simulator.close()
    return facts


NEEDS_MORE = "needs more shared memory"  # says the engine


def least_shared(name: str, options: Mapping[str, Any]) -> int:
    """Return the least bytes of shared memory of a block with which these worlds can be made."""
    return _least_shared(name, json.dumps(options, sort_keys=True))


@functools.cache
def _least_shared(name: str, options: str) -> int:
    given, most = json.loads(options), int(interpreter.library().ge_ptx_get(b"shared"))

    def fits(shared: int) -> bool:
        with interpreter.settings(shared=shared):
            try:
                _launches(name, given)
            except RuntimeError as problem:
                if NEEDS_MORE not in str(problem):
                    raise
                return False
        return True

    return least_that(fits, most)


def least_that(fits: Callable[[int], bool], most: int) -> int:
    """Return the least number for which a condition holds that holds for all larger ones too."""
    below = -1
    while most - below > 1:
        middle = (below + most) // 2
        below, most = (below, middle) if fits(middle) else (middle, most)
    return most
