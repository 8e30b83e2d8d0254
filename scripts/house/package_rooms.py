"""The rooms of gpu_envs/, which of them may import which, and what each module imports.

A room is a folder of the package; a module that lies beside the rooms is a room of its own.
PACKAGE_ROOMS is the one place that says which rooms there are: scripts/house/lint_kernels.py holds
every import to it, those inside functions and those for type checkers included.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from scripts.house.rooms import reach
from scripts.house.sources import File

PACKAGE = "gpu_envs"

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
    "benchmark": {"faces"},
    "integrations": {"faces"},
    "train": {"faces"},
    "commands": {"faces"},
    "__init__": {"faces"},
    "__main__": {"commands"},
}

LOAD, LATE, TYPE = "load", "late", "type"


class Import(NamedTuple):
    """One import of a module of the package."""

    line: int
    module: str  # "gpu_envs.core.roles"
    kind: str  # LOAD, LATE: inside a function, TYPE: for type checkers


def module_of(path: str) -> str:
    """Return the name of a module by its path: `gpu_envs/core/roles.py`, gpu_envs.core.roles."""
    return path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")


def room_of(module: str) -> str:
    """Return the room of a module; the package's own `__init__` is one too."""
    return module.split(".")[1] if "." in module else "__init__"


def allows(source: str, target: str) -> bool:
    """Whether a room may import another."""
    return source == target or target in reach(PACKAGE_ROOMS, source)


def statements_of(node: ast.AST, kind: str = LOAD) -> Iterator[tuple[ast.stmt, str]]:
    """Yield import statements, and when they run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, kind
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from statements_of(ast.Module(child.body, []), TYPE)
            yield from statements_of(ast.Module(child.orelse, []), kind)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from statements_of(child, LATE if inside and kind == LOAD else kind)


def targets_of(statement: ast.stmt, package: str, known: Set[str]) -> Iterator[str]:
    """Yield the modules among `known` that an import in `package` names."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names if alias.name in known)
    elif isinstance(statement, ast.ImportFrom):
        up = package.split(".")[: len(package.split(".")) - statement.level + 1]
        base = ".".join([*(up if statement.level else []), *filter(None, [statement.module])])
        for alias in statement.names:
            full = f"{base}.{alias.name}"
            yield from [full] if full in known else [base] if base in known else []


def imports_of(file: File, known: Set[str]) -> Iterator[Import]:
    """Yield what a file imports of the modules in `known`."""
    own = module_of(file.path)
    package = own if file.path.endswith("/__init__.py") else own.rpartition(".")[0]
    for statement, kind in statements_of(ast.parse(file.text)):
        for target in targets_of(statement, package, known):
            if target != own:
                yield Import(statement.lineno, target, kind)


def modules_in(files: Iterable[File]) -> dict[str, File]:
    """Return the files of the package by the names of their modules."""
    return {
        module_of(file.path): file
        for file in files
        if file.parts[0] == PACKAGE and file.path.endswith(".py")
    }


def problems_of(files: Iterable[File]) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and message of each import against the table, and of unknown rooms."""
    modules = modules_in(files)
    for module, file in modules.items():
        own = room_of(module)
        if own not in PACKAGE_ROOMS:
            yield file.path, 1, f"scripts/house/package_rooms.py has no room {own!r}"
            continue
        for line, target, _ in imports_of(file, modules.keys()):
            if not allows(own, room_of(target)):
                yield file.path, line, f"{own} may not import {room_of(target)}"
