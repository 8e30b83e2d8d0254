"""Levels of Sokoban as the tests read them: without the package's help."""

from __future__ import annotations

import subprocess
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "kernels" / "envs" / "sokoban" / "data" / "levels.bin"
SPLITS, GRADES = ("train", "valid", "test"), ("easy", "medium", "hard")
WAYS = {"n": (-1, 0), "s": (1, 0), "w": (0, -1), "e": (0, 1)}
ACTIONS = "nswe"
Cell = tuple[int, int]


@cache
def counts() -> dict[tuple[str, str], int]:
    """Return how many levels the head of the bank counts, in the order in which they stand."""
    numbers = np.frombuffer(BANK.read_bytes()[16:52], "<u4").tolist()
    keys = [(split, grade) for split in SPLITS for grade in GRADES]
    return dict(zip(keys, numbers, strict=True))


@cache
def bank() -> tuple[np.ndarray, np.ndarray]:
    """Return all levels, (levels, 10, 10) by SokobanGrid's numbers of cells, and their pushes.

    They stand as they are played: those of a part by their pushes.
    """
    words = np.frombuffer(BANK.read_bytes()[64:], "<u8").reshape(-1, 2)
    inner = 1 - (words[:, :1] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(np.int8)
    levels = np.arange(len(words))
    for k in range(4):
        inner[levels, _cell(words, 24 + 6 * k)] = 2
    for k in range(4):
        inner[levels, _cell(words, 6 * k)] += 3  # none begins on a goal
    inner[levels, _cell(words, 48)] += 4
    cells = np.zeros((len(words), 10, 10), np.int8)
    cells[:, 1:9, 1:9] = inner.reshape(-1, 8, 8)
    pushes = (words[:, 1] >> np.uint64(54)).astype(int)
    sizes = np.array(list(counts().values()))
    order = np.lexsort((pushes, np.repeat(np.arange(len(sizes)), sizes)))
    return cells[order], pushes[order]


def _cell(words: np.ndarray, at: int) -> np.ndarray:
    return (words[:, 1] >> np.uint64(at) & np.uint64(63)).astype(int)


def part(split: str, grade: str) -> slice:
    """Return where the levels of a part stand in the bank."""
    first = 0
    for key, count in counts().items():
        if key == (split, grade):
            return slice(first, first + count)
        first += count
    raise KeyError((split, grade))


def text_of(cells: np.ndarray) -> str:
    """Return a level as Boxoban writes it."""
    return "".join("".join("# .*$@+"[cell] for cell in row) + "\n" for row in cells) + "\n"


def solutions(levels: np.ndarray) -> list[list[tuple[Cell, str]]]:
    """Return a shortest solution of each level: the cell of a box, and the way it is pushed."""
    text = "".join(text_of(level) for level in levels)
    tool = [str(ROOT / "scripts" / "make_sokoban_levels"), "solve"]
    done = subprocess.run(tool, input=text, capture_output=True, text=True, check=True)
    made = []
    for line in done.stdout.splitlines():
        pushes = [(int(word[:-1]), word[-1]) for word in line.split()]
        made.append([((cell // 8 + 1, cell % 8 + 1), way) for cell, way in pushes])
    return made


def walk(cells: np.ndarray, begin: Cell, end: Cell) -> list[int]:
    """Return the actions of a shortest way over free cells."""
    came: dict[Cell, tuple[Cell, int]] = {}
    seen, front = {begin}, deque([begin])
    while front and end not in seen:
        here = front.popleft()
        for action, letter in enumerate(ACTIONS):
            to = (here[0] + WAYS[letter][0], here[1] + WAYS[letter][1])
            if to not in seen and cells[to] in (1, 2, 5, 6):
                seen.add(to)
                came[to] = here, action
                front.append(to)
    actions: list[int] = []
    while end != begin:
        end, action = came[end]
        actions.insert(0, action)
    return actions


def fewest_pushes(cells: np.ndarray) -> int | None:
    """Return the least number of pushes, by a plain search over single steps of the player."""
    boxes = frozenset(map(tuple, np.argwhere((cells == 3) | (cells == 4)).tolist()))
    goals = frozenset(map(tuple, np.argwhere((cells == 2) | (cells == 3) | (cells == 6)).tolist()))
    player = tuple(np.argwhere(cells >= 5)[0].tolist())
    open_: deque[tuple[int, Any, Any]] = deque([(0, player, boxes)])
    done = set()
    while open_:
        pushes, at, now = open_.popleft()
        if (at, now) in done:
            continue
        done.add((at, now))
        if now == goals:
            return pushes
        for rows, columns in WAYS.values():
            to = (at[0] + rows, at[1] + columns)
            if cells[to] == 0:
                continue
            if to not in now:
                open_.appendleft((pushes, to, now))
                continue
            behind = (to[0] + rows, to[1] + columns)
            if cells[behind] != 0 and behind not in now:
                open_.append((pushes + 1, to, now - {to} | {behind}))
    return None
