"""The rooms of kernels/, which of them may include which, and how to find circles and floors.

A room is a folder. Where folders lie side by side with files (HALLS), each of these files is a
room of its own. ROOMS is the one place that says which rooms there are: lint_kernels.py
holds the house to it, measure_house.py counts by it and prints what it would have to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from pathlib import PurePosixPath

from scripts.house.sources import File, without_comments

# A row names the rooms right beneath a room; it may include these, what lies beneath them, and
# itself. A row may also be one file. `*` is one environment: none includes another.
ROOMS: dict[str, set[str]] = {
    "engine/base": set(),
    "engine/maths": {"engine/base"},
    "engine/described": {"engine/base"},
    "engine/world": {"engine/described", "engine/maths"},
    "engine/graph": {"engine/world"},
    "engine/simulator": {"engine/graph"},
    "engine/cpu": {"engine/simulator"},
    "engine/cuda": {"engine/simulator"},
    "engine/web": {"engine/cpu"},
    "engine/checking": {"engine/cpu", "engine/cuda"},
    "engine/environment.hpp": {"engine/simulator", "pictures"},
    "geometry": {"engine/described", "engine/maths"},
    "pictures": {"geometry"},
    "physics": {"engine/graph", "geometry"},
    "spatial": {"engine/graph", "pictures"},
    "cameras": {"engine/graph", "geometry"},
    "houses": {"engine/simulator", "cameras"},
    "voxel": {"cameras", "pictures"},
    "envs/*": {"engine/environment.hpp", "physics", "spatial", "cameras", "houses", "voxel"},
    "envs/*/tasks": {"envs/*"},
    "learning": {"engine/maths"},
    "learning/cuda": {"engine/cuda", "learning"},
    "ptx": set(),
    "ptx/runtime": {"ptx"},
    "views": {"engine/simulator", "pictures"},
    "bindings": {"learning", "views"},
    "web": {"engine/web", "views"},
}
HALLS = ("engine", "envs")

Graph = Mapping[str, Set[str]]  # from a node to those it needs


def room_of(path: str) -> str:
    """Return the room of a file, both below kernels/: `engine/cpu`, `envs/cartpole`."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name.partition('.')[0]}" if folder in HALLS else folder


def row_of(path: str, rows: Graph = ROOMS) -> str | None:
    """Return the row of the table that a file below kernels/ falls under, None if there is none."""
    for row in rows:
        if "*" in row and PurePosixPath(f"/{room_of(path)}").match(f"/{row}"):
            return row
    return next((name for name in (path, path.rpartition("/")[0]) if name in rows), None)


def allows(source: str, target: str, rows: Graph = ROOMS) -> bool:
    """Whether the table lets a file include another, both below kernels/ and in rooms."""
    own, other = row_of(source, rows), row_of(target, rows)
    if own is None or other is None or not (own == other or other in reach(rows, own)):
        return False
    shared = other.split("/").index("*") + 1 if "*" in other else 0
    return room_of(source).split("/")[:shared] == room_of(target).split("/")[:shared]


def faults(rows: Graph = ROOMS) -> Iterator[str]:
    """Say what is wrong with the table itself."""
    for row, below in rows.items():
        for name in sorted(below - rows.keys()):
            yield f"{row} names {name}, which has no row"
    for circle in circles({row: below & rows.keys() for row, below in rows.items()}):
        yield f"circle: {' - '.join(circle)}"


def includes(file: File) -> Iterator[tuple[int, str]]:
    """Yield line and path of each of our own headers that a file includes."""
    for number, line in enumerate(without_comments(file.text).splitlines(), start=1):
        if found := re.match(r"\s*#\s*include\s*\"([^\"]+)\"", line):
            yield number, found[1]


def reach(graph: Graph, start: str) -> set[str]:
    """Return what can be reached in one step or more."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return the sets of nodes that need one another, each sorted."""
    reached = {node: reach(graph, node) for node in graph}
    found = {
        frozenset(other for other in reached[node] if node in reached.get(other, ()))
        for node in graph
        if node in reached[node]
    }
    return sorted(sorted(circle) for circle in found)


def floors(graph: Graph) -> dict[str, int]:
    """Return each node's floor: one above the highest that it needs; a circle shares a floor."""
    reached = {node: reach(graph, node) for node in graph}
    found: dict[str, int] = {}

    def floor(node: str) -> int:
        if node not in found:
            below = (other for other in reached[node] if node not in reached.get(other, ()))
            found[node] = 1 + max(map(floor, below), default=0)
        return found[node]

    for node in graph:
        floor(node)
    return found
