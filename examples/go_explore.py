"""Go-Explore on an obstacle course: come back to where it was interesting, and explore from there.

    python examples/go_explore.py --rounds 120

After Ecoffet et al., 2021, without a network. An archive holds a saved world for each cell of the
level that was ever reached. Each round loads cells that were chosen seldom, one into each world of
a batch, and takes some random steps there; new cells join the archive. The program prints how far
it came along the course, and how far the same number of random steps comes that are never taken
back.
"""

from __future__ import annotations

import argparse

import numpy as np

import gpu_envs

ENV = "ObstaclesHard-v0"
COURSE = {  # seven obstacles that need no boxes
    "platform_count_low": 7,
    **{"height_low": 1, "height_high": 1, "gap_low": 1, "gap_high": 2},
    **{"lava_low": 1, "lava_high": 2},
}
WORLDS, STEPS, HELD = 16, 16, 8  # worlds of a batch, steps of a round, steps of one action
CELL = 1.0  # edge of a cell [m]
Cell = tuple[int, ...]


def course(seed: int) -> gpu_envs.VectorEnv:
    """Make a batch of worlds that all stand at the start of one level."""
    env = gpu_envs.make_vec(ENV, WORLDS, device="cpu", autoreset_mode="Disabled", **COURSE)
    env.reset(seed=seed)
    env.copy_worlds(0, range(1, WORLDS))
    for _ in range(HELD):  # until the agent stands
        env.step(np.zeros(env.action_space.shape, int))
    return env


def cells(env: gpu_envs.VectorEnv) -> list[Cell]:
    """Return the cell in which the agent of each world is."""
    places = env.get("agents.position")[:, 0]
    return [tuple(map(int, cell)) for cell in np.floor(places / CELL)]


def wander(env: gpu_envs.VectorEnv, rng: np.random.Generator) -> np.ndarray:
    """Take a step of random actions, and return where each world still plays."""
    highs = env.single_action_space.nvec
    actions = rng.integers(0, highs, (WORLDS, len(highs)))
    actions[:, 0] = rng.choice([0, 1, 1, 2], WORLDS)  # forward twice as often
    over = np.zeros(WORLDS, bool)
    for _ in range(HELD):
        over |= env.step(actions)[2]
    return ~over


class Archive:
    """A saved world for each cell, and how often it was chosen."""

    def __init__(self, env: gpu_envs.VectorEnv) -> None:
        self.saves: dict[Cell, bytes] = {}
        self.chosen: dict[Cell, int] = {}
        self.add(env, np.ones(WORLDS, bool))

    def add(self, env: gpu_envs.VectorEnv, plays: np.ndarray) -> None:
        """Keep the worlds that stand in new cells."""
        standing = plays & (env.get("agents.grounded")[:, 0] == 1)
        for world, cell in enumerate(cells(env)):
            if standing[world] and cell not in self.saves:
                self.saves[cell] = env.save(worlds=[world])
                self.chosen[cell] = 0

    def choose(self, rng: np.random.Generator) -> list[Cell]:
        """Return a cell for each world; those that were chosen seldom are likely."""
        known = list(self.saves)
        weights = np.array([1 / (1 + self.chosen[cell]) ** 2 for cell in known])
        picked = rng.choice(len(known), WORLDS, p=weights / weights.sum())
        for k in picked:
            self.chosen[known[k]] += 1
        return [known[k] for k in picked]


def explore(rounds: int, seed: int, returns: bool = True) -> list[Cell]:
    """Return the cells in the order they were reached; without `returns` every world plays on."""
    env, rng = course(seed), np.random.default_rng(seed)
    archive, start = Archive(env), env.save(worlds=[0])
    plays = np.ones(WORLDS, bool)
    for _ in range(rounds):
        if returns:
            for world, cell in enumerate(archive.choose(rng)):
                env.load(archive.saves[cell], worlds=[world])
        elif not plays.all():
            env.load(start, worlds=np.flatnonzero(~plays))
        for _ in range(STEPS // HELD):
            plays = wander(env, rng)
            archive.add(env, plays)
    env.close()
    return list(archive.saves)


def farthest(reached: list[Cell]) -> int:
    """Return how far from the first cell the farthest one is, along x and y [m]."""
    places = np.array(reached)[:, :2]
    return int(np.abs(places - places[0]).sum(1).max() * CELL)


def main() -> None:
    """Print how far both ways of exploring come."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=120, help="of exploring (default 120)")
    parser.add_argument("--seed", type=int, default=1, help="of the level (default 1)")
    given = parser.parse_args()
    for returns, name in ((False, "random steps"), (True, "Go-Explore")):
        reached = explore(given.rounds, given.seed, returns)
        print(f"{name}: {len(reached)} cells, {farthest(reached)} m")


if __name__ == "__main__":
    main()
