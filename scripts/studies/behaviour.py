#!/usr/bin/env python3
"""Measures what hiders and seekers do, beside agents at random.

Usage: scripts/studies/behaviour.py FILE [FILE ...]

Films persuade and measure nothing. Here saved policies of HideSeek play whole episodes, and of each
is said, with intervals of 95 % over the episodes:

    seen        steps behind the preparation in which a seeker sees a hider [share]
    distance    from a hider to the nearest seeker, in the same steps [m]
    fled        how much a hider's own steps take it away from that seeker [m/s]
    chased      how much a seeker's own steps bring it nearer to the nearest hider [m/s]
    shut off    hiders at the end to whom no way over the floor leads from a seeker, round walls and
                what is locked [share]
    boxes, ramps: moved by more than a metre in the episode, locked at its end by hiders, by seekers
                [share of those there are]

`FILE@ROLE` plays one role with a file and leaves the other to chance.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the tree this script belongs to

import numpy as np  # noqa: E402
import torch  # noqa: E402

from gpu_envs import VectorEnv  # noqa: E402
from gpu_envs.benchmark import machine  # noqa: E402
from gpu_envs.benchmark.report import Report, Table  # noqa: E402
from gpu_envs.policies import teams  # noqa: E402
from gpu_envs.policies.sharing import groups  # noqa: E402
from gpu_envs.policies.teams import NOBODY  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from gpu_envs.train import evaluate  # noqa: E402

Array = np.ndarray[Any, Any]

PRESENT, LOCKED = 1, 2  # bits of bodies.state
BY_SEEKERS, BY_HIDERS = 1, 2  # of bodies.owner
BODY, SIZE = 19, slice(13, 16)  # numbers of a thing in `state`, and those of its size
CELL, CLEARANCE = 0.5, 0.9  # of the floor's grid; what an agent needs around its middle [m]
MOVED = 1.0  # from here on something was moved [m]
WAY = 1e-3  # nearer than this there is no way to somebody [m]


@dataclass
class World:
    """What is known of all worlds: rows of bodies are agents, boxes, ramps."""

    hiders: int
    seekers: int
    boxes: int
    half: float  # of the arena's side [m]
    step_seconds: float


class Watch:
    """Looks at every step, as `evaluate.play` goes on; the last one begins the next episode."""

    def __init__(self, env: VectorEnv, world: World) -> None:
        self.simulator, self.world = env.simulator, world
        self.first: dict[str, Array] = {}
        self.last: dict[str, Array] = {}
        self.sizes = np.zeros(0)
        self.walls: tuple[Array, Array] = np.zeros(0), np.zeros(0)  # middles, half extents
        self.sums = np.zeros((5, env.num_worlds))  # steps, seen, distance, fled, chased
        self.before = np.zeros(0)

    def __call__(self, reward: torch.Tensor) -> None:
        """Take the rewards of one step, and look at the worlds."""
        names = ("position", "orientation", "state", "owner")
        now = {name: self.simulator.get(f"bodies.{name}") for name in names}
        step = int(self.simulator.get("world.step").flat[0])  # the same in all worlds
        if not self.first:
            self.first = now
            agents = self.world.hiders + self.world.seekers
            state = torch.as_tensor(self.simulator.observe().state).numpy()
            begin = 1 + agents * (BODY - 4)
            boxes = state[:, begin : begin + self.world.boxes * BODY]
            self.sizes = boxes.reshape(len(state), self.world.boxes, BODY)[..., SIZE]
            walls = [self.simulator.get(f"statics.{name}") for name in ("centre", "half")]
            count = self.simulator.get("statics.count").reshape(-1, 1)
            there = np.arange(walls[0].shape[1]) < count
            self.walls = walls[0], walls[1] * there[..., None]
        elif step > 0:  # else the next episode has begun
            self._count(reward.numpy().reshape(len(now["state"]), -1), now["position"])
            self.last = now
        self.before = now["position"]

    def _count(self, reward: Array, at: Array) -> None:
        hiders, everybody = self.world.hiders, self.world.hiders + self.world.seekers
        seekers = reward[:, hiders:everybody]
        # Who is outside pays on top of the other reward, so the greatest of them tells.
        paid, seen = (seekers != 0).any(1), seekers.max(1) > 0
        old, new = self.before[..., :2], at[..., :2]
        gaps = old[:, :hiders, None] - old[:, None, hiders:everybody]
        far = np.linalg.norm(gaps, axis=-1)
        own, other = new[:, :hiders] - old[:, :hiders], new - old
        to_seeker = np.take_along_axis(gaps, far.argmin(2)[..., None, None], 2)[:, :, 0]
        to_hider = np.take_along_axis(gaps, far.argmin(1)[:, None, :, None], 1)[:, 0]
        fled = (own * to_seeker).sum(-1) / np.maximum(far.min(2), WAY)
        chased = (other[:, hiders:everybody] * to_hider).sum(-1) / np.maximum(far.min(1), WAY)
        rate = 1 / self.world.step_seconds
        ways = fled.mean(1) * rate, chased.mean(1) * rate
        self.sums += np.stack([np.ones(len(at)), seen, far.min(2).mean(1), *ways]) * paid

    def measures(self) -> dict[str, Array]:
        """Return what was measured, a number for each world."""
        world, last, first = self.world, self.last, self.first
        steps, seen, distance, fled, chased = self.sums
        found = {"seen": seen, "distance": distance, "fled": fled, "chased": chased}
        found = {name: sums / np.maximum(steps, 1) for name, sums in found.items()}
        found["shut off"] = shut_off(world, last, self.sizes, self.walls).mean(1)
        agents = world.hiders + world.seekers
        way = np.linalg.norm(last["position"] - first["position"], axis=-1)
        there, locked = (last["state"] & PRESENT) != 0, (last["state"] & LOCKED) != 0
        things = {"boxes": (agents, agents + world.boxes), "ramps": (agents + world.boxes, None)}
        for name, (begin, end) in things.items():
            some, rows = there[:, begin:end], slice(begin, end)
            count = np.maximum(some.sum(1), 1)
            done = {
                "moved": way[:, rows] > MOVED,
                "locked by hiders": locked[:, rows] & (last["owner"][:, rows] == BY_HIDERS),
                "locked by seekers": locked[:, rows] & (last["owner"][:, rows] == BY_SEEKERS),
            }
            for what, hit in done.items():
                found[f"{name} {what}"] = (hit & some).sum(1) / count
        return found


def shut_off(
    world: World, last: dict[str, Array], sizes: Array, walls: tuple[Array, Array]
) -> Array:
    """Return which hiders no seeker can reach over the floor, (worlds, hiders)."""
    count = int(2 * world.half / CELL)
    middles = (np.arange(count) + 0.5) * CELL - world.half
    x, y = np.meshgrid(middles, middles, indexing="ij")
    taken = np.zeros((len(sizes), count, count), bool)
    blocks = [(*walls, (walls[1] > 0).all(-1), None)]
    agents = world.hiders + world.seekers
    rows = slice(agents, agents + world.boxes)
    kept = (last["state"][:, rows] & (PRESENT | LOCKED)) == (PRESENT | LOCKED)
    blocks.append((last["position"][:, rows], sizes / 2, kept, last["orientation"][:, rows]))
    for centre, half, there, turn in blocks:
        for k in np.flatnonzero(there.any(0)):
            dx = x - centre[:, k, 0, None, None]
            dy = y - centre[:, k, 1, None, None]
            if turn is not None:  # about the vertical, as boxes stand
                yaw = 2 * np.arctan2(turn[:, k, 3], turn[:, k, 0])[:, None, None]
                dx, dy = dx * np.cos(yaw) + dy * np.sin(yaw), dy * np.cos(yaw) - dx * np.sin(yaw)
            inside = np.abs(dx) < half[:, k, 0, None, None] + CLEARANCE
            inside &= np.abs(dy) < half[:, k, 1, None, None] + CLEARANCE
            taken |= inside & there[:, k, None, None]

    def cells(first: int, end: int) -> tuple[Array, Array]:
        at = (last["position"][:, first:end, :2] + world.half) / CELL
        at = np.clip(at.astype(np.int64), 0, count - 1)
        return at[..., 0], at[..., 1]

    every = np.arange(len(sizes))[:, None]
    reached = np.zeros_like(taken)
    reached[(every, *cells(world.hiders, agents))] = True
    places = every, *cells(0, world.hiders)
    taken[(every, *cells(0, agents))] = False  # who stands there stands there
    while True:
        wider = reached.copy()
        wider[:, 1:] |= reached[:, :-1]
        wider[:, :-1] |= reached[:, 1:]
        wider[:, :, 1:] |= reached[:, :, :-1]
        wider[:, :, :-1] |= reached[:, :, 1:]
        wider &= ~taken
        wider |= reached
        if (wider == reached).all():
            return ~reached[places]
        reached = wider


def world_of(simulator: Any) -> World:
    """Return what the parameters make of a world."""
    values = simulator.parameters
    return World(
        values["hider_count"],
        values["seeker_count"],
        values["box_slots"],
        values["arena_size"] / 2,
        values["time_step"],
    )


def play(who: str | None, episodes: int, seed: int, sampled: bool) -> dict[str, Array]:
    """Let a file play, as FILE or FILE@ROLE; None: chance."""
    with closing(VectorEnv("HideSeek-v0", episodes, device="cpu", arrays="torch")) as env:
        team = teams.Team.at_random(env.simulator)
        if who is not None:
            file, _, role = who.partition("@")
            team = teams.Team.load(Path(file), env.simulator)
            sides = groups("role", env.agent_names)
            if role:
                able = sides[role]
                seats = [k if a in able else NOBODY for a, k in enumerate(team.of_agent)]
                team = replace(team, of_agent=seats)
        watch = Watch(env, world_of(env.simulator))
        rows = evaluate.rows_of(team.of_agent, episodes, env.device)
        evaluate.play(env, team.policies, rows, seed=seed, is_sampled=sampled, watch=watch)
        return watch.measures()


def main(argv: Sequence[str] | None = None) -> int:
    """Play, show and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE[@ROLE]", help="policies of HideSeek-v0")
    parser.add_argument("--episodes", type=int, default=1000, help="of each (default 1000)")
    parser.add_argument("--seed", type=int, default=99, help="of the worlds (default 99)")
    parser.add_argument("--sampled", action="store_true", help="draw actions")
    parser.add_argument("--out", type=Path, help="folder for a report")
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    table = Table(
        f"{given.episodes} episodes, 95 % intervals", ["", "random", *map(_short, given.files)]
    )
    found = [play(who, given.episodes, given.seed, given.sampled) for who in (None, *given.files)]
    for name in found[0]:
        cells = []
        for measures in found:
            values = measures[name]
            half = 1.96 * values.std(ddof=1) / len(values) ** 0.5
            cells.append(f"{values.mean():.3f} +- {half:.3f}")
        table.rows.append([name, *cells])
    command = " ".join(["scripts/studies/behaviour.py", *(sys.argv[1:] if argv is None else argv)])
    report = Report("HideSeek-behaviour", machine.describe("cpu"), command)
    report.show(table)
    for path in report.write(given.out) if given.out else []:
        print(path)
    return 0


def _short(who: str) -> str:
    path, _, role = who.partition("@")
    return f"{Path(path).parent.name}/{Path(path).stem}{f' as {role}s' if role else ''}"


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
