"""The rooms of gpu_envs/, and which of them may import which.

A room is a folder of the package; a module that lies beside the rooms is a room of its own.
PACKAGE_ROOMS is the one place that says which rooms there are: scripts/house/lint_kernels.py holds
every import to it, those inside functions and those for type checkers included.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.house import rooms
from scripts.house.python_imports import found_imports, graph, modules, room_of
from scripts.house.sources import Tree

# A row names the rooms right beneath a room; it may import these, and what lies beneath them.
PACKAGE_ROOMS: dict[str, set[str]] = {
    "building": set(),
    "errors": set(),
    "known": {"building", "errors"},
    "terminal": {"known"},
    "core": {"known"},
    "policies": {"core"},
    "players": {"policies"},
    "faces": {"players", "terminal"},
    "hanabi_v0": {"faces"},
    "suites": {"faces"},
    "benchmark": {"suites"},
    "integrations": {"faces"},
    "train": {"suites"},
    "commands": {"faces"},
    "__init__": {"faces"},
    "__main__": {"commands"},
}


def allows(source: str, target: str) -> bool:
    """Whether a room may import another."""
    return source == target or target in rooms.reach(PACKAGE_ROOMS, source)


def problems_of(tree: Tree) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and message: imports against the table, unknown rooms, and circles."""
    for circle in rooms.circles(PACKAGE_ROOMS):
        yield "scripts/house/package_rooms.py", 1, f"circle: {' - '.join(circle)}"
    files = modules(tree)
    for name, file in files.items():
        if room_of(name) not in PACKAGE_ROOMS:
            yield file.path, 1, f"scripts/house/package_rooms.py has no room {room_of(name)!r}"
    found = found_imports(files)
    for one in found:
        source, target = room_of(one.source), room_of(one.target)
        if source in PACKAGE_ROOMS and not allows(source, target):
            yield files[one.source].path, one.line, f"{source} may not import {target}"
    arrows = [(one.source, one.target) for one in found]
    for circle in rooms.circles(graph(list(files), arrows)):
        yield files[circle[0]].path, 1, f"modules import one another: {', '.join(circle)}"
