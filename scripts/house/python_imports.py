"""Who imports whom in gpu_envs: circles, floors of its rooms, and what lies loose at its root.

A room is a folder of gpu_envs; each loose module of the root is a room of its own. An import runs
at load, late (inside a function), or never: those for type checkers. A circle that only late or
type imports close is counted by itself, since there it hides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from scripts.house import rooms
from scripts.house.report import Part, describe_circles
from scripts.house.sources import File, Tree

LOAD, LATE, TYPED = "load", "late", "typed"
ENTRIES = {"__init__", "__main__"}  # doors of the root, not rooms


@dataclass(frozen=True)
class Import:
    """One module of gpu_envs that another one names."""

    source: str
    line: int
    target: str
    kind: str


def imports_of(node: ast.AST, kind: str = LOAD) -> Iterator[tuple[ast.stmt, str]]:
    """Yield imports and when they run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, kind
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for inner in child.body:
                yield from imports_of(ast.Module([inner], []), TYPED)
            for inner in child.orelse:
                yield from imports_of(ast.Module([inner], []), kind)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from imports_of(child, LATE if inside and kind == LOAD else kind)


def modules_of(statement: ast.stmt, package: str, known: set[str]) -> Iterator[str]:
    """Yield the modules among `known` that an import in `package` names."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names if alias.name in known)
    elif isinstance(statement, ast.ImportFrom):
        up = package.split(".")[: len(package.split(".")) - statement.level + 1]
        base = ".".join([*(up if statement.level else []), *filter(None, [statement.module])])
        for alias in statement.names:
            full = f"{base}.{alias.name}"
            yield from [full] if full in known else [base] if base in known else []


def modules(tree: Tree) -> dict[str, File]:
    """Return the modules of gpu_envs by their names."""
    return {
        file.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file
        for file in tree.under("gpu_envs", suffixes=(".py",))
    }


def package_of(name: str, file: File) -> str:
    """Return the package that a module lies in, itself if it is one."""
    return name if file.path.endswith("/__init__.py") else name.rpartition(".")[0]


def room_of(name: str) -> str:
    """Return the room of a module: `train` of gpu_envs.train.ppo, `vector` of gpu_envs.vector."""
    return name.split(".")[1] if "." in name else "__init__"


def found_imports(files: dict[str, File]) -> list[Import]:
    """Return who imports whom; a module that names itself is left out."""
    return [
        Import(name, statement.lineno, target, kind)
        for name, file in files.items()
        for statement, kind in imports_of(ast.parse(file.text))
        for target in modules_of(statement, package_of(name, file), set(files))
        if target != name
    ]


def graph(nodes: list[str], arrows: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Return what each node needs, itself aside."""
    found: dict[str, set[str]] = {node: set() for node in nodes}
    for source, target in arrows:
        if source != target:
            found[source].add(target)
    return found


def imports(tree: Tree) -> Part:
    """What gpu_envs needs of itself when it loads, and what it puts off."""
    part, files = Part("imports of gpu_envs/"), modules(tree)
    found = found_imports(files)
    running = [one for one in found if one.kind != TYPED]
    loading = [one for one in found if one.kind == LOAD]

    def arrows(ones: list[Import]) -> list[tuple[str, str]]:
        return [(one.source, one.target) for one in ones]

    def packages(ones: list[Import]) -> list[tuple[str, str]]:
        return [(package_of(a, files[a]), package_of(b, files[b])) for a, b in arrows(ones)]

    at_load = graph(list(files), arrows(loading))
    whole = graph(list(files), arrows(running))
    own = [package_of(name, file) for name, file in files.items()]
    part.numbers["modules"] = len(files)
    part.numbers["packages"] = len(set(own))
    part.numbers["floors of modules"] = max(rooms.floors(at_load).values(), default=0)
    part.count("circles of modules", describe_circles(at_load))
    part.count("circles of modules, late imports too", describe_circles(whole))
    part.count(
        "circles of modules, late and type imports too",
        describe_circles(graph(list(files), arrows(found))),
    )
    part.count("circles of packages", describe_circles(graph(own, packages(loading))))
    part.numbers["late imports"] = len(running) - len(loading)
    part.numbers["type imports"] = len(found) - len(running)
    hidden = [
        f"{files[one.source].path}:{one.line} imports {one.target}"
        for one in running
        if one.kind == LATE and one.source in rooms.reach(whole, one.target)
    ]
    part.count("late imports that would close a circle", hidden)
    return part


def python_rooms(tree: Tree) -> Part:
    """Folders and loose modules of gpu_envs; a floor is one above all that it imports at load."""
    part, files = Part("rooms and floors of gpu_envs/"), modules(tree)
    found = found_imports(files)
    names = sorted({room_of(name) for name in files} - ENTRIES)
    arrows = {
        kind: [
            (room_of(one.source), room_of(one.target))
            for one in found
            if one.kind in kinds and not {room_of(one.source), room_of(one.target)} & ENTRIES
        ]
        for kind, kinds in (("load", {LOAD}), ("late", {LOAD, LATE}), ("all", {LOAD, LATE, TYPED}))
    }
    at_load = graph(names, arrows["load"])
    floors = rooms.floors(at_load)
    loose = [
        file.path
        for name, file in files.items()
        if len(file.parts) == 2 and room_of(name) not in ENTRIES
    ]
    part.numbers["rooms"] = len(names)
    part.numbers["floors"] = max(floors.values(), default=0)
    part.numbers["arrows"] = sum(map(len, at_load.values()))
    part.count("loose modules at the root", sorted(loose))
    part.count("circles of rooms", describe_circles(at_load))
    part.count("circles of rooms, late imports too", describe_circles(graph(names, arrows["late"])))
    part.count(
        "circles of rooms, late and type imports too", describe_circles(graph(names, arrows["all"]))
    )
    part.places["rooms: floor, name"] = [
        f"{floors[name]:>2} {name}" for name in sorted(names, key=lambda name: (floors[name], name))
    ]
    return part
