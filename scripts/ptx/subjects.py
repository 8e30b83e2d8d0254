"""What small cases are about: an environment's tiers, sets of parameters, and compiled kernels.

A way leads to kernels of its own: by the number of lanes, by the schedule, or by so little shared
memory that the engine chooses kernels whose scratch memory lies in the slab.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

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
    known: list[Parameters]  # of this tier, as tests and recorded runs play them
    sets: list[Parameters]  # of this tier, known ones first; cases take them in turn
    variants: list[Parameters]  # that tests play, of any tier; known to the first tier only
    most: int  # bytes of a record in sets that are drawn

    def accepted(self, option: str, values: Sequence[Any]) -> list[Any]:
        """Return the values of an option that its worlds are made with."""
        return [value for value in values if _is_made(self.name, option, value)]

    @property
    def types(self) -> tuple[str, ...]:
        """The types of actions that it takes."""
        kinds = self.described.get("roles") or [self.described]
        fields = [field for kind in kinds for field in kind["action"]]
        has_choices = all(field.get("choices") for field in fields)
        return ("int64", "int32", "uint8") if has_choices else ("float32", "float64")

    def sets_for(self, way: Way) -> list[Parameters]:
        """Return the sets that lead to a way's kernels; worlds below the first need no slab."""
        sizes = [size_of(self.name, given) for given in self.sets]
        first = sizes[0]
        if not way.slab or first is None:
            return self.sets
        pairs = zip(self.sets, sizes, strict=True)
        return [given for given, size in pairs if size and size.record >= first.record]

    def near(self, base: Parameters, random: Random) -> Parameters:
        """Return a set of this tier: one of it with other values, some of a set that is played."""
        played = _played(self.name)
        for _ in range(DRAWS):
            drawn = dict(base)
            if played and random.random() < 0.4:
                drawn |= {k: v for k, v in random.choice(played).items() if random.random() < 0.7}
            drawn |= self._some_values(drawn, random)
            size = size_of(self.name, drawn)
            if size is not None and size.tier == self.tier and size.record <= self.most:
                return drawn
        return base

    def _some_values(self, base: Parameters, random: Random) -> Parameters:
        every = self.described["parameters"]
        count = random.choice((0, 1, 1, 2, 3, 1 + len(every) // 3)) if every else 0
        chosen = random.sample(every, min(count, len(every)))
        # A name stands for many values.
        named = [p for p in every if p["type"] == "string" and values_of(self.name, p)]
        chosen += [random.choice(named)] if named and random.random() < 0.5 else []
        found = {}
        for parameter in chosen:
            held = base.get(parameter["name"], parameter["default"])
            values = values_of(self.name, parameter) + states.near(parameter, held, random)
            found |= {parameter["name"]: random.choice(values)} if values else {}
        return found


DRAWS = 16  # until the set is taken as it is


class Size(NamedTuple):
    """What a set of parameters leads to."""

    tier: int
    record: int  # bytes
    whole: int  # the same with all outputs


LARGEST = 8 << 20  # bytes of a world and its outputs
# Bytes of a record, and times the smallest of a tier: larger worlds take part as variants only.
SMALL, LARGER = 1 << 16, 40


@functools.cache
def subjects_of(name: str) -> list[Subject]:
    """Return an environment once for each tier that some known parameters lead to."""
    described = registration.find(name)
    base, variants = measures.sizes(name, "few"), variants_of(described)
    others = [
        base | {parameter["name"]: value}
        for parameter in described["parameters"]
        for value in values_of(described["id"], parameter)
    ]
    tiers: dict[int, list[tuple[int, Parameters]]] = {}
    for given in (*variants, *others):
        size = size_of(described["id"], given)
        # Single values stand for a tier only where nothing else does.
        if size is not None and (given in variants or size.tier not in tiers):
            tiers.setdefault(size.tier, []).append((size.record, given))
    found: list[Subject] = []
    for tier, held in tiers.items():
        most = max(SMALL, LARGER * min(size for size, _ in held))
        known = [given for size, given in held if size <= most]
        sets = [*known, *_changed(described, tier, known[0], most)[:CHANGED]]
        first = [] if found else variants
        found.append(Subject(described["id"], described, tier, known, sets, first, most))
    return found


CHANGED = 150  # sets in which one value differs, for each tier


def _changed(described: dict[str, Any], tier: int, own: Parameters, most: int) -> list[Parameters]:
    """Return sets of a tier that differ from one of it in one parameter, each in turn."""
    found: list[list[Parameters]] = []
    for parameter in described["parameters"]:
        values = values_of(described["id"], parameter)
        given = [own | {parameter["name"]: value} for value in values]
        sizes = [size_of(described["id"], each) for each in given]
        fits = [size and size.tier == tier and size.record <= most for size in sizes]
        found.append([each for each, is_fit in zip(given, fits, strict=True) if is_fit])
    turns = itertools.chain.from_iterable(itertools.zip_longest(*found))
    return [each for each in turns if each is not None]


@functools.cache
def _is_made(name: str, option: str, value: Any) -> bool:
    target = native.cpu_target()
    given = {option: value, "parameters": measures.sizes(name, "few")}
    files = native.data_files(target, name)
    try:
        native.at(target, name).Simulator(name, 1, data_files=files, **given).close()
    except ValueError:
        return False
    return True


def values_of(name: str, parameter: dict[str, Any]) -> list[Any]:
    """Return values of a parameter or option beside its default: of a text those played."""
    if parameter["type"] != "string" or parameter.get("names"):
        return states.values_of(parameter)
    given = [*measures.measures_of(name)["tests"].get("resets", []), *_played(name)]
    played = [each[parameter["name"]] for each in given if parameter["name"] in each]
    return [text for text in dict.fromkeys(played) if text != parameter["default"]]


@functools.cache
def _played(name: str) -> tuple[Parameters, ...]:
    """Return the parameters that tests and recorded runs give."""
    tests = measures.measures_of(name)["tests"]
    named = [tests[key] for key in ("varied", "small", "alone", "crowd") if key in tests]
    recorded = [case.options["parameters"] for case in golden_cases.read((name,))]
    return (*named, *tests.get("variants", []), *recorded, *tests.get("cases", []))


def variants_of(described: dict[str, Any]) -> list[Parameters]:
    """Return sets of parameters that tests and recorded runs play, the default first."""
    name = described["id"]
    base = measures.sizes(name, "few")
    found: list[Parameters] = []
    for given in ({}, *_played(name)):
        if (whole := base | given) not in found and size_of(name, whole) is not None:
            found.append(whole)
    return found


def size_of(name: str, given: Parameters) -> Size | None:
    """Return tier and bytes of a world; None where worlds are refused, or too large."""
    return _size_of(name, json.dumps(given, sort_keys=True))


@functools.cache
def _size_of(name: str, parameters: str) -> Size | None:
    given, target = json.loads(parameters), native.cpu_target()
    files = native.data_files(target, name)
    try:
        simulator = native.at(target, name).Simulator(name, 1, data_files=files, parameters=given)
    except (ValueError, MemoryError):
        return None
    facts, record = json.loads(simulator.instance), simulator.record_bytes
    simulator.close()
    whole = record + sum(output_bytes(facts).values())
    return Size(facts["tier"], record, whole) if whole <= LARGEST else None


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
