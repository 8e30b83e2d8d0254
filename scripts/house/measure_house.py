#!/usr/bin/env python3
"""Measures how the house is built: rooms and floors, circles, sizes, repetitions, comments, names.

Usage: scripts/house/measure_house.py [ROOT] [--against REV|FOLDER] [--numbers]
                                      [--markdown | --json]

One table of numbers, and below it the places behind them. With --against, a column before and one
after, and of the places those that went (-) and came (+). Nothing here passes or fails: what must
hold, lint_kernels.py holds. Each part of the report is a function below; PARTS lists them.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.house import plain_words, rooms
from scripts.house.python_imports import imports, imports_of, python_rooms
from scripts.house.report import Part, describe_circles, places, table
from scripts.house.sources import File, Tree, functions_of, read_tree

LONG_FUNCTION, LONG_FILE, RUN = 60, 500, 6  # [lines]
CPP, PYTHON = (".hpp", ".cpp", ".cu"), (".py", ".pyi")
TOPS = ("kernels", "gpu_envs", "scripts", "tests")
PROSE = ("docs/", "changes/", "benchmarks/results/", "CHANGELOG", "LICENSE")
EXAMPLES = ("tests/", "examples/")  # may name an environment to show or try something


def is_code(file: File) -> bool:
    """Whether a file is C++, Python, or says how to build or run: no data, no prose."""
    name = file.parts[-1]
    return name.endswith((*CPP, *PYTHON, ".cmake", ".sh", "CMakeLists.txt")) or "." not in name


def table_of(tree: Tree) -> rooms.Graph:
    """Return the tree's own table of rooms, or this one where it has none."""
    homes = ("scripts/house/rooms.py", "scripts/rooms.py")  # now, and in older trees
    text = next((file.text for file in tree.files if file.path in homes), "")
    found = re.search(r"^ROOMS\b.*?= (\{.*?^\})", text, re.MULTILINE | re.DOTALL)
    return ast.literal_eval(found[1]) if found else rooms.ROOMS


def beneath(graph: rooms.Graph, node: str) -> list[str]:
    """Return what a node needs, but for what the rest of it needs already; in a circle, all."""
    needed, reached = graph[node], {near: rooms.reach(graph, near) for near in graph[node]}
    spared = {far for near in needed for far in reached[near] & needed if near not in reached[far]}
    return sorted(needed if node in rooms.reach(graph, node) else needed - spared)


def rooms_and_floors(tree: Tree) -> Part:
    """Rooms are folders and loose files of the halls; a floor is one above all that it includes."""
    part, table = Part("rooms and floors of kernels/"), table_of(tree)
    sources = {file.path.removeprefix("kernels/"): file for file in tree.under("kernels")}
    by_file: dict[str, set[str]] = {path: set() for path in sources}
    by_room: dict[str, set[str]] = {rooms.room_of(path): set() for path in sources}
    upwards, outside = [], [path for path in sources if rooms.row_of(path, table) is None]
    for path, file in sources.items():
        for number, target in rooms.includes(file):
            if target not in sources:
                continue
            by_file[path].add(target)
            if rooms.room_of(path) != rooms.room_of(target):
                by_room[rooms.room_of(path)].add(rooms.room_of(target))
            known = path not in outside and target not in outside
            if known and not rooms.allows(path, target, table):
                upwards.append(f"kernels/{path}:{number} includes {target}")
    floors = rooms.floors(by_room)
    engine = [floor for room, floor in floors.items() if room.startswith("engine")]
    part.numbers["rooms"] = len(floors)
    part.numbers["floors"] = max(floors.values(), default=0)
    part.numbers["rooms of the engine"] = len(engine)
    part.numbers["floors of the engine"] = max(engine, default=0)
    part.numbers["floors, counted by file"] = max(rooms.floors(by_file).values(), default=0)
    part.count("circles of rooms", describe_circles(by_room))
    part.count("circles of files", describe_circles(by_file))
    part.count("arrows up between rooms of the table", upwards)
    part.count("files in no room of the table", outside)
    part.places["rooms: floor, name, what lies right beneath"] = [
        f"{floors[room]:>2} {room}: {', '.join(beneath(by_room, room))}".rstrip(": ")
        for room in sorted(floors, key=lambda room: (floors[room], room))
    ]
    return part


def functions_in(file: File) -> Iterator[tuple[int, str]]:
    """Yield number of lines and place of each function; a lambda belongs to the one around it."""
    if file.path.endswith(CPP):
        for one in functions_of(file.text):
            yield one.last_line - one.first_line + 1, f"{file.path}:{one.first_line} {one.name}"
    elif file.path.endswith(".py"):
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield lines, f"{file.path}:{node.lineno} {node.name}"


def sizes(tree: Tree) -> Part:
    """Functions and files that take more than a screen or two."""
    part = Part("sizes")
    found = sorted((one for file in tree.files for one in functions_in(file)), reverse=True)
    files = sorted(((len(f.lines), f.path) for f in tree.files if is_code(f)), reverse=True)
    part.numbers["functions"] = len(found)
    part.numbers["longest function, lines"] = found[0][0] if found else 0
    long = [f"{lines} {where}" for lines, where in found if lines > LONG_FUNCTION]
    part.count(f"functions over {LONG_FUNCTION} lines", long)
    part.places["longest functions"] = [f"{lines} {where}" for lines, where in found[:5]]
    part.numbers["longest file, lines"] = files[0][0] if files else 0
    large = [f"{lines} {path}" for lines, path in files if lines > LONG_FILE]
    part.count(f"files over {LONG_FILE} lines", large)
    return part


def counted_lines(file: File) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that say something: no imports, no lone punctuation."""
    passed: set[int] = set()
    if file.path.endswith(PYTHON):
        for statement, _ in imports_of(ast.parse(file.text)):
            passed.update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    for number, line in enumerate(file.code, start=1):
        text = " ".join(line.split())
        if number not in passed and re.search(r"\w", text) and not text.startswith("#include"):
            yield number, text


def duplicates(tree: Tree) -> Part:
    """Pairs of files, or of places in one, that share runs of lines to the letter."""
    part = Part("repetitions")
    lines = {f.path: [*counted_lines(f)] for f in tree.files if is_code(f) and f.parts[0] in TOPS}
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for path, counted in lines.items():
        for k in range(len(counted) - RUN + 1):
            windows[tuple(text for _, text in counted[k : k + RUN])].append((path, k))
    shared: dict[tuple[str, str, int], list[int]] = defaultdict(list)  # pair, distance: starts
    for where in windows.values():
        for (one, i), (two, j) in combinations(where, 2):
            if one != two or j - i >= RUN:
                shared[one, two, j - i].append(i)
    runs: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for (one, two, distance), starts in shared.items():
        for first in (k for k in starts if k - 1 not in starts):
            length = RUN + next(n for n in range(len(starts)) if first + n + 1 not in starts)
            ends = (first, first + length - 1, first + distance, first + distance + length - 1)
            a, b, c, d = (lines[p][k][0] for p, k in zip((one, one, two, two), ends, strict=True))
            runs[one, two].append((length, f"{one}:{a}-{b} ~ {two}:{c}-{d}"))
    longest = sorted(((max(found), len(found) - 1) for found in runs.values()), reverse=True)
    part.count(
        f"pairs that share {RUN} lines or more to the letter",
        [
            f"{length} lines {where}" + (f" and {more} more" if more else "")
            for (length, where), more in longest
        ],
    )
    return part


def folders_of(file: File) -> Iterator[str]:
    """Yield the folders whose density a file counts for; one environment is not looked at alone."""
    depth = {"kernels": 3, "gpu_envs": 2}.get(file.parts[0], 1)
    folders = file.parts[:-1][: 2 if file.path.startswith("kernels/envs/") else depth]
    yield from ("/".join(folders[: k + 1]) for k in range(len(folders)))


def comments(tree: Tree) -> Part:
    """Lines of comment per line of code; docstrings are comments, remarks behind code are not."""
    code: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for file in tree.files:
        if file.parts[0] in TOPS and file.path.endswith((*CPP, *PYTHON)):
            remaining = sum(bool(line.strip()) for line in file.code)
            blank = sum(not line.strip() for line in file.lines)
            for folder in folders_of(file):
                code[folder] += remaining
                said[folder] += len(file.lines) - blank - remaining
    density = {folder: said[folder] / code[folder] for folder in sorted(code) if code[folder]}
    return Part("lines of comment per line of code (C++, Python)", density)


def environments(tree: Tree) -> Iterator[tuple[str, str, list[str]]]:
    """Yield stem, path of what is its own below kernels/envs, and ids of each environment."""
    for file in tree.under("kernels/envs", suffixes=(".hpp",)):
        folders, stem = file.parts[2:-1], file.parts[-1].removesuffix(".hpp")
        ids = re.findall(r"\bBuild<\s*\"(\w+)-v\d+\"", file.text)
        if folders in ([], [stem]) or folders[1:] == ["tasks"]:
            yield stem, "/".join([*file.parts[:2], *(folders or [stem])]), ids or [stem]


def names(tree: Tree) -> Part:
    """Files whose code names an environment that they do not belong to."""
    part = Part("files that name an environment outside its own")
    files = [f for f in tree.files if not (f.path.startswith(PROSE) or f.path.endswith(".md"))]
    elsewhere = examples = 0
    for stem, home, ids in environments(tree):
        own = re.compile(rf"{home}[/.]|gpu_envs/catalogue/{stem}\.|tests/(?:.*[/_])?{stem}[_.]")
        word = re.compile(rf"\b(?:{'|'.join(ids)}|{stem})(?:-v\d+)?\b(?!-)")  # not overcooked-ai
        found = [f.path for f in files if any(map(word.search, f.code)) and not own.match(f.path)]
        shown = [path for path in found if path.startswith(EXAMPLES)]
        part.count(ids[0], [path for path in found if path not in shown])
        part.numbers[f"{ids[0]}, as an example in tests"] = len(shown)
        elsewhere, examples = elsewhere + len(found) - len(shown), examples + len(shown)
    part.numbers |= {"all": elsewhere, "all, as examples in tests": examples}
    return part


def lines_of_code(tree: Tree) -> Part:
    """Lines that are neither blank nor comment."""
    counts = dict.fromkeys(TOPS, 0)
    for file in tree.files:
        if is_code(file) and file.parts[0] in TOPS:
            counts[file.parts[0]] += sum(bool(line.strip()) for line in file.code)
    return Part("lines of code", {**counts, "all": sum(counts.values())})


def forms(tree: Tree) -> Part:
    """What the machine adds to rules, and how often an executor spells a stage."""
    part = Part("templates and overloads")
    rules = [
        (f"{file.path}:{number}", len(found))
        for file in tree.under("kernels/envs", suffixes=CPP)
        for number, line in enumerate(file.code, start=1)
        if (found := re.findall(r"\btemplate\b", line))
    ]
    by_file = Counter(place.partition(":")[0] for place, _ in rules)
    part.numbers["`template` in kernels/envs"] = sum(count for _, count in rules)
    part.numbers["lines with `template` in kernels/envs"] = len(rules)
    part.places["lines with `template`, by file"] = [
        f"{count} {path}" for path, count in sorted(by_file.items(), key=lambda p: (-p[1], p[0]))
    ]
    stages = [
        f"{file.path}:{one.first_line}"
        for file in tree.under("kernels/engine", suffixes=CPP)
        for one in functions_of(file.text)
        if one.name == "stage"
    ]
    part.count("overloads of `stage` in kernels/engine", stages)
    return part


def words(tree: Tree) -> Part:
    """Phrases that are foreign to read, by place (plain_words.py)."""
    part = Part("plain words: phrases by place")
    found = list(plain_words.search(tree))
    for place in plain_words.counts(found):
        own = [f"{one.path}:{one.line} {one.phrase}" for one in found if one.place == place]
        part.count(place, own)
    part.numbers["all"] = len(found)
    return part


PARTS: list[Callable[[Tree], Part]] = [
    rooms_and_floors,
    imports,
    python_rooms,
    forms,
    sizes,
    duplicates,
    comments,
    names,
    words,
    lines_of_code,
]


def measure(root: Path) -> list[Part]:
    """Measure a tree."""
    tree = read_tree(root)
    return [part(tree) for part in PARTS]


def measure_other(root: Path, other: str) -> list[Part]:
    """Measure a folder, or a revision of the repository in `root`."""
    if Path(other).is_dir():
        return measure(Path(other))
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "-C", str(root), "archive", other]
        archive = subprocess.run(command, stdout=subprocess.PIPE)
        if archive.returncode:
            raise SystemExit(f"{other} is neither a folder nor a revision of {root}")
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        return measure(Path(folder))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("root", nargs="?", type=Path, default=here, help="a tree; this one")
    parser.add_argument("--against", metavar="REV", help="a revision or a folder, as it was before")
    parser.add_argument("--numbers", action="store_true", help="leave the places away")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    form.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    columns = {"now": measure(options.root)}
    if options.against:
        before = measure_other(options.root, options.against)
        columns = {"before": before, "after": columns["now"]}
    if options.json:
        found = {
            column: {part.title: {"numbers": part.numbers, "places": part.places} for part in parts}
            for column, parts in columns.items()
        }
        print(json.dumps(found, indent=1))
        return
    print("\n".join(table(columns, options.markdown)))
    if not options.numbers:
        print("\n".join(places(columns, options.markdown)))


if __name__ == "__main__":
    main()
