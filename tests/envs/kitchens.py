"""Kitchens of Overcooked as the tests see them: layouts, columns by place, planes encoded again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

LAYOUTS = {
    "cramped_room": "XXPXX\nO  2O\nX1  X\nXDXSX",
    "asymmetric_advantages": ("XXXXXXXXX\nO XSXOX S\nX   P 1 X\nX2  P   X\nXXXDXDXXX"),
    "coordination_ring": "XXXPX\nX 1 P\nD2X X\nO   X\nXOSXX",
    "forced_coordination": "XXXPX\nO X1P\nO2X X\nD X X\nXXXSX",
    "counter_circuit": "XXXPPXXX\nX  2   X\nD XXXX S\nX  1   X\nXXXOOXXX",
    "multiplayer_schelling": "XXSPDXX\nX  1  X\nX  X  X\nO3   4O\nX  X  X\nX  2  X\nXXDPSXX",
}
CLASSIC = tuple(LAYOUTS)[:5]
CRAMPED, SCHELLING = LAYOUTS["cramped_room"], LAYOUTS["multiplayer_schelling"]
MARKS = "1234567890!@#$%^&*()abcdefghijklmnopqrst"
ONION, TOMATO, DISH, OPEN, SOUP = 1, 2, 3, 16, 32
INTERACT = 5
STEPS = np.array([(0, -1), (0, 1), (1, 0), (-1, 0)])  # by facing


def layout_of(simulator: Simulator) -> list[str]:
    """Rows of the kitchen, starts removed."""
    layout = str(simulator.parameters["layout"])
    text = LAYOUTS.get(layout, layout)
    for mark in MARKS:
        text = text.replace(mark, " ")
    return text.strip("\n").split("\n")


class Kitchens:
    """The columns of all worlds by x and y."""

    def __init__(self, simulator: Simulator) -> None:
        self.rows = layout_of(simulator)
        self.width, self.height = len(self.rows[0]), len(self.rows)
        self.place = np.array([list(row) for row in self.rows]).T  # [x, y]
        worlds, n = simulator.num_worlds, simulator.agents_per_world
        grid = (worlds, self.width, self.height)
        cell = simulator.get("chefs.cell")[:, :n].astype(int)
        self.at = np.stack([cell // self.height, cell % self.height], axis=-1)
        self.facing = simulator.get("chefs.facing")[:, :n].astype(int)
        self.held = simulator.get("chefs.held")[:, :n].astype(int)
        cells = self.width * self.height
        self.item = simulator.get("cells.item")[:, :cells].astype(int).reshape(grid)
        self.left = simulator.get("cells.left")[:, :cells].astype(int).reshape(grid)
        self.step = simulator.get("world.step").reshape(-1).astype(int)

    def ahead(self) -> Array:
        """What stands in front of every chef: (worlds, chefs) characters."""
        target = self.at + STEPS[self.facing]
        return self.place[target[..., 0], target[..., 1]]

    def onions(self) -> Array:
        """Onions anywhere, by world."""
        items = np.concatenate([self.item.reshape(len(self.item), -1), self.held], axis=1)
        return np.where(items >= OPEN, items % 16 // 4, items == ONION).sum(axis=1)

    def encode(self, observer: int, horizon: int) -> Array:
        """The 5 n + 16 planes, in floating point and one rule at a time."""
        worlds, n = self.held.shape
        planes = np.zeros((worlds, self.width, self.height, 5 * n + 16))
        order = [observer] + [i for i in range(n) if i != observer]
        world = np.arange(worlds)
        everything, remaining = self.item.copy(), self.left.copy()
        for k, chef in enumerate(order):
            x, y = self.at[:, chef].T
            planes[world, x, y, k] += 1
            planes[world, x, y, n + 4 * k + self.facing[:, chef]] += 1
            everything[world, x, y] = self.held[:, chef]  # chefs stand where nothing lies
            remaining[world, x, y] = 0
        there = planes[..., 5 * n :]
        for k, mark in enumerate("PXOTDS"):
            there[..., k] = self.place == mark
        opened = (everything >= OPEN) & (everything < SOUP)
        soup = everything >= SOUP
        onions, tomatoes = everything % 16 // 4, everything % 4
        there[..., 6], there[..., 7] = opened * onions, opened * tomatoes
        there[..., 8], there[..., 9] = soup * onions, soup * tomatoes
        there[..., 10], there[..., 11] = soup * remaining, soup & (remaining == 0)
        for k, item in ((12, DISH), (13, ONION), (14, TOMATO)):
            there[..., k] = everything == item
        there[..., 15] = ((horizon - self.step) < 40)[:, None, None] & (horizon > 0)
        return planes

    def check(self) -> None:
        """What is true of any kitchen."""
        assert (self.place[self.at[..., 0], self.at[..., 1]] == " ").all()
        code = self.at[..., 0] * self.height + self.at[..., 1]
        assert all(len(set(row)) == len(row) for row in code.tolist())
        assert (self.item[:, (self.place != "X") & (self.place != "P")] == 0).all()
        assert (self.left[:, self.place != "P"] == 0).all()
        counters = self.item[:, self.place == "X"]
        for items in (counters, self.held):  # no open soups outside of pots
            assert ((items <= DISH) | (items > SOUP)).all()


def lively(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Random actions, half of them interactions: chefs who get things done by chance."""
    moves = random.integers(0, 5, shape)
    return np.where(random.random(shape) < 0.5, INTERACT, moves)


def stir(random: np.random.Generator, *simulators: Simulator, recipes: tuple[int, ...]) -> None:
    """Puts random things into all hands and pots, the same in each simulator."""
    worlds, chefs = simulators[0].get("chefs.cell").shape
    soups = [SOUP + recipe for recipe in recipes]
    held = random.choice([0, ONION, DISH, *soups], (worlds, chefs))
    pots = random.choice([0, *[OPEN + recipe for recipe in recipes], *soups], worlds)
    left = np.where(pots >= SOUP, random.integers(0, 3, worlds), 0)
    for simulator in simulators:
        place = Kitchens(simulator).place.reshape(-1)
        item, times = simulator.get("cells.item"), simulator.get("cells.left")
        for cell in np.flatnonzero(place == "P"):
            item[:, cell], times[:, cell] = pots, left
        simulator.set("chefs.held", held)
        simulator.set("cells.item", item)
        simulator.set("cells.left", times)


def check_encoding(simulator: Simulator, obs: Array) -> Kitchens:
    kitchens = Kitchens(simulator)
    kitchens.check()
    for observer in range(simulator.agents_per_world):
        expected = kitchens.encode(observer, simulator.max_episode_steps)
        assert (obs[:, observer] == expected).all(), observer
    return kitchens
