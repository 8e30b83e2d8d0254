"""Small cases drawn at random: parameters, options, actions and states of all kinds together.

Kernels of other tiers, schedules and numbers of lanes need the same cases as the first, and a loop
that the compiler has unrolled needs every remainder. So cases are drawn without end, and a caller
goes on for as long as they reach something new.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gpu_envs.benchmark.worlds import LEAN
from gpu_envs.known.outputs import OUTPUTS
from scripts.ptx import interpreter, states
from scripts.ptx.acts import SHORT, Act, draws, frozen, late, moves, play, reset_with, seeds
from scripts.ptx.plays import bad_actions, in_type
from scripts.ptx.subjects import Parameters, Subject, Way, size_of, values_of

MODES = ("SameStep", "NextStep", "Disabled")
TYPES = ("int64", "int32", "uint8", "float32", "float64")
DTYPES = ("own", "uint8", "float32", "bits")
FAR = 2**31  # a first world's number
LONG = 700  # steps of an episode, which some tiers are for
FEW = (1, 2, 3, 5, 7, 33)  # worlds
MOST_BYTES = 2 << 20  # of a case's worlds with their outputs
# How worlds are made in which some end and others do not: rows of both stand side by side.
ENDS: tuple[dict[str, Any], ...] = (
    {"outputs": OUTPUTS},
    {"outputs": OUTPUTS, "dtype": "float32", "shift": 4},
    {"outputs": OUTPUTS, "final_rows": "keep", "shift": 8},
    {"outputs": OUTPUTS, "dtype": "float32", "is_kept": True, "ends": "world"},
    {"outputs": OUTPUTS, "is_kept": True, "shift": 1},
    {"outputs": OUTPUTS, "dtype": "bits", "shift": 12},
)
FEWEST = 4  # small sets, of which columns are set at random first
QUIET = 80  # cases in a row that reach nothing new


@dataclass(frozen=True)
class Case:
    """Worlds of both machines, and what is done with them."""

    title: str
    act: Act
    worlds: int = 3
    parameters: Parameters = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # of a Pair
    settings: dict[str, int] = field(default_factory=dict)  # of the interpreter
    slab: bool = False  # with as little shared memory as these worlds can be made with


@dataclass(frozen=True)
class Stream:
    """Cases of a tier and a way to kernels, drawn without end; the same ones each time."""

    subject: Subject
    way: Way

    @property
    def sets(self) -> list[Parameters]:
        """The sets of parameters that cases are drawn from."""
        return self.subject.sets_for(self.way)

    def __iter__(self) -> Iterator[Case]:
        return self._like([])

    def until_quiet(self, most_seconds: float) -> Iterator[Case]:
        """Yield cases of all sets, and on, until QUIET in a row execute nothing for the first time.

        Half of them are like one that did.

        Args:
            most_seconds: After these no further case is begun.
        """
        begun, before, quiet, least = time.monotonic(), interpreter.executed(), 0, len(self.sets)
        good: list[Case] = []
        for number, case in enumerate(self._like(good)):
            is_done = number >= least and quiet >= QUIET
            if is_done or time.monotonic() - begun > most_seconds:
                return
            yield case
            now = interpreter.executed()
            if now > before:
                good.append(case)
            quiet = 0 if now > before else quiet + 1
            before = now

    def _like(self, good: list[Case]) -> Iterator[Case]:
        """Yield cases without end; half of them are like one of the good ones, once there are."""
        subject, sets = self.subject, self.sets
        random = Random(f"{subject.name} {subject.tier} {self.way}")
        known = sorted(
            [given for given in sets if given in subject.known] or sets,
            key=lambda given: size.whole if (size := size_of(subject.name, given)) else 0,
        )
        for number, given in enumerate(known):
            options = {"max_episode_steps": LONG, **ENDS[number % len(ENDS)]}
            if not subject.accepted("dtype", [options.get("dtype", "own")]):
                del options["dtype"]
            yield self._case(f"end {number}", late, 7, given, options)
            options = {"max_episode_steps": SHORT, "autoreset_mode": MODES[1 + number % 2]}
            yield self._case(f"rest {number}", frozen, 5, given, options)
        for number, given in enumerate(known[:FEWEST]):
            options = {"max_episode_steps": SHORT, "outputs": OUTPUTS}
            yield self._case(f"set {number}", states.at_random(number), 5, given, options)
        turns = itertools.chain.from_iterable(zip(itertools.cycle(sets), itertools.cycle(known)))
        for number, base in enumerate(turns):
            like = random.choice(good) if good and random.random() < 0.5 else None
            base = like.parameters if like else base
            options, act = _options(subject, random), _act(subject, random)
            if like:
                options = _crossed(like.options, options, random)
                act = random.choice((like.act, act))
            settings = {"multiprocessors": 1} if random.random() < 0.3 else {}
            worlds = random.choice((*FEW, 40) if settings else FEW)
            parameters = subject.near(base, random) if random.random() < 0.7 else base
            yield self._case(f"mix {number}", act, worlds, parameters, options, settings)

    # lint: allow parameters: they are those of a case
    def _case(
        self,
        title: str,
        act: Act,
        worlds: int,
        parameters: Parameters,
        options: dict[str, Any],
        settings: dict[str, int] | None = None,
    ) -> Case:
        subject, way = self.subject, self.way
        said = "" if subject.variants else f"tier {subject.tier}: "
        said += f"{way}: " if str(way) else ""
        size = size_of(subject.name, parameters)
        worlds = min(worlds, max(1, MOST_BYTES // (size.whole if size else 1)))
        options = way.options | options
        return Case(f"{said}{title}", act, worlds, parameters, options, settings or {}, way.slab)


def _crossed(one: dict[str, Any], other: dict[str, Any], random: Random) -> dict[str, Any]:
    """Return options each of which is as in one or in the other, or missing as there."""
    found = {}
    for key in dict.fromkeys((*one, *other)):
        chosen = random.choice((one, other))
        found |= {key: chosen[key]} if key in chosen else {}
    return found


def _act(subject: Subject, random: Random) -> Act:
    seed = random.randrange(1 << 30)
    whole = [play(5), play(12, "legal", seed), play(5, "ends"), play(24, "stubborn", seed), draws]
    whole += [late, late, late, late, seeds, frozen, moves, bad_actions]
    whole += map(in_type, subject.types)
    whole += [states.at_random(seed), states.at_random(seed), states.one_at_random(seed)]
    resets = subject.described["reset_options"]
    if resets and random.random() < 0.3:
        chosen = random.sample(resets, random.randrange(len(resets)) + 1)
        values = {each["name"]: values_of(subject.name, each) for each in chosen}
        return reset_with({name: random.choice(some) for name, some in values.items() if some})
    return random.choice(whole)


def _options(subject: Subject, random: Random) -> dict[str, Any]:
    rolled = ("own", "padded", "split") if subject.described.get("roles") else ("own",)
    few = [name for name in OUTPUTS if name not in LEAN]
    options: dict[str, Any] = {
        "dtype": random.choice(["own", *subject.accepted("dtype", DTYPES)]),
        "roles": random.choice(subject.accepted("roles", rolled)),
        "actions": random.choice(["own", *subject.accepted("actions", ("own", "flat"))]),
        "autoreset_mode": random.choice(("SameStep", *MODES)),
        "ends": random.choice(("agent", "world")),
        "max_episode_steps": random.choice((0, 1, SHORT, SHORT, LONG)),
        "block": random.choice((0, 32, 64, 128, 256)),
        "shift": random.choice((0, 0, 1, 2, 4, 8, 12, 60)),
        "final_rows": random.choice(("own", "own", "keep")),
        "is_kept": random.random() < 0.4,
        "first_world": random.choice((0, 0, 0, FAR)),
    }
    if random.random() < 0.4:
        options["outputs"] = (*LEAN, *random.sample(few, random.randrange(len(few))))
    if random.random() < 0.1:
        options["outputs"] = tuple(random.sample(OUTPUTS, random.randrange(len(OUTPUTS))))
    chosen = {key: value for key, value in options.items() if value not in ("own", 0)}
    if random.random() < 0.1:
        chosen["dependent_launch"] = False
    return chosen
