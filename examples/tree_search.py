"""Monte Carlo tree search on CartPole: nothing is learned, each push is found by looking ahead.

    python examples/tree_search.py --steps 200

prints how long the pole stands, and how long it stands under random pushes. The world that counts
is saved before each of its steps, and the save is loaded into every world of a batch. These play
from there: down the tree of what has been tried so far, by upper confidence bounds (Kocsis and
Szepesvari, 2006), then at random. What they reached goes back into the nodes on their way.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import gpu_envs

ENV = "CartPole-v0"
PUSHES = 2
ROUNDS, TRIES = 3, 32  # of a search: batches in a row, worlds of a batch
HORIZON = 40  # steps of a try
DEPTH = 12  # steps of a try that nodes remember
CURIOSITY = 0.3  # weight of what was seldom tried


class Node:
    """A state of the world after some pushes: how often it was tried, and what came of it."""

    def __init__(self) -> None:
        self.visits = 0
        self.total = 0.0
        self.children: list[Node | None] = [None] * PUSHES

    def choose(self, rng: np.random.Generator) -> int:
        """Return an untried push, or the one with the highest bound."""
        fresh = [push for push, child in enumerate(self.children) if child is None]
        if fresh:
            return int(rng.choice(fresh))
        return max(range(PUSHES), key=self._bound)

    def _bound(self, push: int) -> float:
        child = self.children[push]
        assert child is not None
        mean = child.total / child.visits
        return mean + CURIOSITY * math.sqrt(math.log(self.visits) / child.visits)

    def grow(self, push: int) -> Node:
        """Return the node after a push, which counts as visited from now on."""
        child = self.children[push] = self.children[push] or Node()
        child.visits += 1  # at once, so that the next try looks elsewhere
        return child


def search(world: bytes, tries: gpu_envs.VectorEnv, rng: np.random.Generator) -> int:
    """Return the push that was tried most, from a saved world on."""
    root = Node()
    for _ in range(ROUNDS):
        tries.load(world, worlds=range(TRIES))
        root.visits += TRIES
        paths: list[list[Node]] = [[] for _ in range(TRIES)]
        stands, lasted = np.ones(TRIES, bool), np.zeros(TRIES)
        for step in range(HORIZON):
            pushes = rng.integers(0, PUSHES, TRIES)
            if step < DEPTH:
                for k in np.flatnonzero(stands):
                    node = paths[k][-1] if paths[k] else root
                    pushes[k] = node.choose(rng)
                    paths[k].append(node.grow(pushes[k]))
            stands &= ~tries.step(pushes)[2]
            lasted += stands
        for path, share in zip(paths, lasted / HORIZON, strict=True):
            for node in path:
                node.total += share
    return int(np.argmax([child.visits if child else 0 for child in root.children]))


def play(steps: int, seed: int, searches: bool = True) -> int:
    """Return how many steps the pole stands, at most `steps`."""
    world = gpu_envs.make_vec(ENV, 1, device="cpu", autoreset_mode="Disabled")
    tries = gpu_envs.make_vec(ENV, TRIES, device="cpu", autoreset_mode="Disabled")
    rng = np.random.default_rng(seed)
    world.reset(seed=seed)
    tries.reset(seed=seed)
    for step in range(steps):
        push = search(world.save(), tries, rng) if searches else int(rng.integers(PUSHES))
        if world.step(np.array([push]))[2].any():
            return step + 1
    return steps


def main() -> None:
    """Print how long the pole stands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="of the episode (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the world (default 1)")
    given = parser.parse_args()
    print(f"at random: {play(given.steps, given.seed, searches=False)} steps")
    print(f"by search: {play(given.steps, given.seed)} of {given.steps} steps")


if __name__ == "__main__":
    main()
