"""Plays environments long and badly, and watches: `scripts/checks/soak [ID ...] --steps N`.

N agent-steps of each environment (all of them without an ID) are shared among its profiles and
these players, each of whom plays a simulator of its own:

    random     actions at random
    extreme    every part of every action at its lowest or highest
    stubborn   the same actions for up to 200 steps, then others
    greedy     each agent repeats what moved its observation furthest from where it began

What is watched, every few steps: observations and rewards are finite and within their bounds, flags
are of one mind, no episode is longer than its limit, no table drops a row, no action counts as bad.
At the end of each of eight parts: the process and the simulator hold no more memory than after the
first, and a twin with another number of threads, loaded with the state, plays the same 16 steps to
the same bits. The hash of what the last part left is printed: the same on every machine.

The status is 1 where something was found; the report says how to see it again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402

import gpu_envs  # noqa: E402
from gpu_envs import errors  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.known import registration  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402

Array = np.ndarray[Any, Any]
PARTS, TWIN_STEPS, LOOK, BATCHES = 8, 16, 16, 61
ROWS, MOST_WORLDS = 65536, 4096  # agents at once, about; and worlds
PATIENCE = 200  # steps with the same actions
MEMORY = 24 << 20  # what a process may grow by: allocators keep something


class Found(Exception):
    """Something that must not happen."""


@dataclass
class Case:
    """One player in one simulator."""

    id: str
    profile: str | None
    player: str
    mode: str
    seed: int
    steps: int  # of an agent
    done: int = 0
    seconds: float = 0.0
    episodes: int = 0
    memory: int = 0  # more than after the first part [bytes]
    hash: str = "-"

    def simulator(self, threads: int | None = None) -> gpu_envs.Simulator:
        """Return the simulator that it plays, or its twin."""
        own = {} if self.profile is None else {"profile": self.profile}
        agents = gpu_envs.Simulator(self.id, 1, device="cpu", **own).agents_per_world
        worlds = max(2, min(MOST_WORLDS, ROWS // agents, self.steps // agents // 256))
        simulator = gpu_envs.Simulator(
            self.id, worlds, device="cpu", autoreset_mode=self.mode, threads=threads, **own
        )
        simulator.report_illegal(None)  # these players look at no mask
        return simulator


# ---- players: each yields actions for all agents, and is sent what they led to


def _batches(space: gymnasium.Space[Any], rows: tuple[int, int], rng: Any, extreme: bool) -> Array:
    shape = (BATCHES, *rows, *(space.shape or ()))
    if isinstance(space, gymnasium.spaces.Box):
        found = rng.uniform(space.low, space.high, shape)
        ends: Array = np.where(found < (space.low + space.high) / 2, space.low, space.high)
    else:
        choices = np.asarray(getattr(space, "nvec", getattr(space, "n", None)))
        found = rng.integers(0, choices, shape)
        ends = np.where(found * 2 < choices, 0, choices - 1)
    return np.ascontiguousarray(ends if extreme else found, dtype=space.dtype)


Player = Iterator[Array]


def _random(batches: Array, _rng: Any, _seen: Callable[[], Array]) -> Player:
    yield from itertools.cycle(batches)


def _stubborn(batches: Array, rng: Any, _seen: Callable[[], Array]) -> Player:
    while True:
        yield from itertools.repeat(batches[rng.integers(BATCHES)], rng.integers(1, PATIENCE))


def _greedy(batches: Array, rng: Any, seen: Callable[[], Array]) -> Player:
    actions = batches[0].copy()
    before: Array | None = None
    for batch in itertools.cycle(batches):
        rows = seen()
        far = np.abs(rows.reshape(*rows.shape[:2], -1).astype(np.float32)).sum(axis=-1)
        if before is not None:
            fails = far <= before
            actions[fails] = batch[fails]
        before = far
        yield from itertools.repeat(actions, 4)


PLAYERS = {"random": _random, "extreme": _random, "stubborn": _stubborn, "greedy": _greedy}


# ---- what is watched


def check_results(simulator: gpu_envs.Simulator, results: Any) -> None:
    """Raise what is wrong with the results of a step."""
    bounds = simulator.single_observation_space
    for name in ("obs", "reward", "final_obs"):
        array = getattr(results, name)
        if array is not None and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Found(f"{name}: {_where(~np.isfinite(array), array)}")
    if isinstance(bounds, gymnasium.spaces.Box):
        outside = (results.obs < bounds.low) | (results.obs > bounds.high)
        if outside.any():
            raise Found(f"obs out of bounds: {_where(outside, results.obs)}")
    flags = results.terminated | results.truncated
    if results.ended is not None and (flags & ~results.ended).any():
        raise Found("terminated or truncated, and not ended")
    length, limit = results.episode_length, simulator.max_episode_steps
    if length is not None and limit > 0 and int(length.max()) > limit:
        raise Found(f"an episode of {int(length.max())} steps, the limit is {limit}")


def _where(wrong: Array, array: Array) -> str:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{array[index]!r} at {index}, {int(wrong.sum())} in all"


def check_faults(simulator: gpu_envs.Simulator) -> None:
    """Raise what the worlds report, but for actions that the rules forbid at times."""
    faults = simulator._native.faults()
    for name in ("bad_actions", "frozen_steps", "tables"):
        if faults[name]:
            raise Found(f"{name}: {faults[name]}")


def check_twin(simulator: gpu_envs.Simulator, twin: gpu_envs.Simulator, actions: Array) -> None:
    """Raise where a twin, loaded with the state, does not play to the same bits."""
    twin.load(simulator.save())
    for k in range(TWIN_STEPS):
        batch = actions[k % BATCHES]
        for name, own, other in zip(
            (first := simulator.step(batch))._fields, first, twin.step(batch), strict=True
        ):
            if own is not None and own.tobytes() != other.tobytes():
                raise Found(f"{name} differs from that of a twin with other threads, step {k}")
    if simulator.save() != twin.save():
        raise Found("the records differ from those of a twin with other threads")


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


# ---- playing


@dataclass
class Game:
    """A case that is played."""

    case: Case
    rng: Any = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.case.seed)
        case = self.case
        self.simulator, self.twin = case.simulator(), case.simulator(threads=1)
        rows = (self.simulator.num_worlds, self.simulator.agents_per_world)
        self.actions = _batches(
            self.simulator.single_action_space, rows, self.rng, case.player == "extreme"
        )
        self.rows = rows[0] * rows[1]
        self.results: Any = self.simulator.reset(seed=case.seed)
        self.player = PLAYERS[case.player](self.actions, self.rng, lambda: self.results.obs)

    def play(self, deadline: float) -> None:
        """Play all parts, or until the deadline; note in the case how far it came."""
        case, begin = self.case, time.monotonic()
        steps = max(LOOK, case.steps // self.rows // PARTS)
        held = memory = 0
        for part in range(PARTS):
            self._play_part(steps)
            check_faults(self.simulator)
            check_twin(self.simulator, self.twin, self.actions)
            case.done += (steps + TWIN_STEPS) * self.rows
            if part == 0:
                held, memory = self.simulator.memory_bytes, resident()
            case.memory = resident() - memory
            if self.simulator.memory_bytes > held or case.memory > MEMORY:
                raise Found(
                    f"memory grew by {case.memory} bytes in part {part + 1}, the simulator's by "
                    f"{self.simulator.memory_bytes - held}"
                )
            case.seconds = time.monotonic() - begin
            if time.monotonic() > deadline:
                break
        case.hash = hashlib.blake2b(self.simulator.save(), digest_size=8).hexdigest()

    def _play_part(self, steps: int) -> None:
        for k, actions in enumerate(itertools.islice(self.player, steps)):
            self.results = self.simulator.step(actions)
            if k % LOOK == LOOK - 1:
                check_results(self.simulator, self.results)
            if self.results.ended is not None:
                self.case.episodes += int(np.count_nonzero(self.results.ended))

    def close(self) -> None:
        """Let both simulators go."""
        self.simulator.close()
        self.twin.close()


def cases(name: str, steps: int, seed: int) -> list[Case]:
    """Return who plays an environment in which profile."""
    profiles: list[str | None] = [None]
    for parameter in gpu_envs.environments()[name]["parameters"]:
        if parameter["name"] == "profile":
            profiles = list(parameter["names"])
    pairs = list(itertools.product(profiles, PLAYERS))
    share = steps // len(pairs)
    return [
        Case(name, profile, player, ("SameStep", "NextStep")[k % 2], seed + k, share)
        for k, (profile, player) in enumerate(pairs)
    ]


HEAD = ("environment", "profile", "player", "agent-steps", "seconds", "episodes", "MiB", "hash")


def row_of(case: Case) -> list[str]:
    """Return a line of the table."""
    return [
        *(case.id, case.profile or "-", case.player, f"{case.done:,}", f"{case.seconds:.1f}"),
        *(f"{case.episodes:,}", f"{case.memory / 2**20:.1f}", case.hash),
    ]


def report(rows: Sequence[Sequence[str]], problems: Sequence[str], command: str) -> str:
    """Return the report as Markdown."""
    about = machine.describe("cpu")
    lines = [f"# Soak: {about['processor']}, {about['cores']} cores", "", f"`{command}`", ""]
    lines += ["| " + " | ".join(row) + " |" for row in [HEAD, ["---"] * len(HEAD), *rows]]
    return "\n".join([*lines, "", *(problems or ["Nothing was found."])]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Play, and return 1 where something was found."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="scripts/checks/soak",
        description=__doc__.partition(": `")[0] + ".",
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help="environments; all without")
    add("--steps", type=float, default=1e7, metavar="N", help="agent-steps of each (default 1e7)")
    add("--minutes", type=float, default=60, metavar="M", help="at most, of each (default 60)")
    add("--seed", type=int, default=1, metavar="N")
    add("--out", type=Path, metavar="FILE", help="where to write the table, as Markdown")
    given = parser.parse_args(argv)
    known = list(gpu_envs.environments())
    names = [name.removeprefix("gpu_envs/") for name in given.ids] or registration.shipped()
    for name in names:
        if name not in known:
            parser.error(errors.unknown("environment", name, known))
    command = " ".join(["scripts/checks/soak", *(sys.argv[1:] if argv is None else argv)])
    rows: list[list[str]] = []
    problems: list[str] = []
    for name in names:
        playing = cases(name, int(given.steps), given.seed)
        for case in playing:
            game = Game(case)
            try:
                game.play(time.monotonic() + given.minutes * 60 / len(playing))
            except Found as problem:
                problems.append(f"{case}: {problem}")
                print(problems[-1], file=sys.stderr, flush=True)
            game.close()
            rows.append(row_of(case))
            print("  ".join(rows[-1]), flush=True)
            if given.out:
                given.out.write_text(report(rows, problems, command), encoding="utf-8")
    return int(bool(problems))


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
