"""How far each file of the tree is from a change: by includes, imports, and what texts name.

A file needs what it includes or imports (one step each), and the paths and ids of environments that
stand in its literals. A test needs the file that it mirrors (half a step): the one of its name in
the folder of its folder's name, or the environment that its name begins with. What is only named at
run time is not seen, so the nearest tests are a guess, and the whole suite is the proof.
"""

from __future__ import annotations

import ast
import heapq
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]

MIRRORED, NAMED, STEP, FOLDER, AROUND = 0.5, 1.0, 1.0, 1.5, 2.0  # steps
PYTHON_ROOTS = ("", "tests/envs", "tests/gpu_envs")  # as in pyproject.toml
CPP_ROOTS = ("kernels", "tests/kernels", "examples")
ENVIRONMENTS = ("kernels/envs/", "tests/kernels/envs/", "examples/")
CPP = (".hpp", ".cpp", ".cu")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_LITERAL = re.compile(r'"([^"\n]*)"')
_ENVIRONMENTS = re.compile(r"^// environment: ([\w ]+)", re.MULTILINE)
_ID = re.compile(r"\b[A-Z]\w*-v\d+\b")
_BUILDS = re.compile(r"\bBuild<\s*\"([A-Z]\w*-v\d+)\"")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_EXECUTORS = re.compile(r"/executors_\w+_test\.cpp$")  # they play every environment


def files(root: Path = ROOT) -> list[str]:
    """Return the files of a working tree that Git does not ignore and that are there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return sorted({name for name in done.stdout.split("\0") if name and (root / name).is_file()})


def changed(revision: str, root: Path = ROOT) -> list[str]:
    """Return the files that differ from a revision, those that Git does not know yet included."""
    commands = [
        ["git", "diff", "-z", "--name-only", revision],
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
    ]
    found: set[str] = set()
    for command in commands:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        found |= set(done.stdout.split("\0")) - {""}
    return sorted(found)


class Tree:
    """What each file of a tree needs, and how many steps away that is."""

    def __init__(self, root: Path = ROOT, also: Iterable[str] = ()) -> None:
        """`also` are files that are gone: others may still name them."""
        self.root = root
        self.names = set(files(root)) | set(also)
        self._texts = {name: self._read(name) for name in self.names}
        self.headers: dict[str, str] = {}  # of environments, by stem
        self.ids: dict[str, str] = {}  # headers by id
        self._find_environments()
        self.needs: dict[str, dict[str, float]] = {}
        for name in self.names:
            found: dict[str, float] = {}
            for needed, steps in self._needs(name):
                if needed != name:
                    found[needed] = min(steps, found.get(needed, steps))
            self.needs[name] = found

    def _read(self, name: str) -> str:
        if not name.endswith((*CPP, ".py", ".pyi")) and not self._is_script(name):
            return ""
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return ""

    @staticmethod
    def _is_script(name: str) -> bool:
        return name.startswith("scripts/") and PurePosixPath(name).suffix in ("", ".sh")

    def _find_environments(self) -> None:
        for name in sorted(self.names):
            if not name.startswith(ENVIRONMENTS) or not name.endswith(".hpp"):
                continue
            if built := _BUILDS.findall(self._texts[name]):
                self.headers[PurePosixPath(name).stem] = name
                self.ids |= dict.fromkeys(built, name)

    def _needs(self, name: str) -> Iterator[tuple[str, float]]:
        if name.endswith(CPP):
            yield from self._of_cpp(name)
        elif name.endswith((".py", ".pyi")):
            yield from self._of_python(name)
        elif self._is_script(name):
            yield from self._named(re.findall(r"scripts/[\w./-]+", self._texts[name]))
        subject = self._subject(name)
        if subject:
            yield subject, MIRRORED

    # ---- C++

    def _of_cpp(self, name: str) -> Iterator[tuple[str, float]]:
        text = self._texts[name]
        folder = str(PurePosixPath(name).parent)
        for included in _INCLUDE.findall(text):
            if found := self._first((folder, *CPP_ROOTS), included):
                yield found, STEP
        for stem in " ".join(_ENVIRONMENTS.findall(text)).split():
            if stem in self.headers:
                yield self.headers[stem], MIRRORED
        if name.endswith("_test.cpp"):
            yield from self._named(_LITERAL.findall(text))
        if _EXECUTORS.search(name):
            yield from ((header, STEP) for header in self.headers.values())

    def _first(self, folders: Iterable[str], path: str) -> str:
        """Return the first of some folders' files of a relative path; empty where none is."""
        for folder in folders:
            parts: list[str] = []
            for part in PurePosixPath(folder, path).parts:
                if part == "..":
                    parts = parts[:-1]
                else:
                    parts.append(part)
            if "/".join(parts) in self.names:
                return "/".join(parts)
        return ""

    # ---- Python

    def _of_python(self, name: str) -> Iterator[tuple[str, float]]:
        try:
            tree = ast.parse(self._texts[name])
        except SyntaxError:  # lint says so
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._module(name, alias.name)
            elif isinstance(node, ast.ImportFrom):
                yield from self._import_from(name, node)
        yield from self._named(_literals(tree))
        if name.startswith("tests/"):
            for folder in PurePosixPath(name).parents:
                if (around := str(folder / "conftest.py")) in self.names:
                    yield around, AROUND
        if name == "gpu_envs/known/native.py":  # it loads what these are compiled to
            yield from ((b, STEP) for b in self.names if b.startswith("kernels/bindings/"))
        if name.startswith("gpu_envs/building/"):  # its inputs, beside the sources
            yield "kernels/flags.txt", STEP

    def _import_from(self, name: str, node: ast.ImportFrom) -> Iterator[tuple[str, float]]:
        base = node.module or ""
        if node.level:
            folder = PurePosixPath(name).parents[node.level - 1]
            base = ".".join(part for part in (*folder.parts, base) if part)
        for alias in node.names:
            inner = list(self._module(name, f"{base}.{alias.name}"))
            yield from inner or self._module(name, base)

    def _module(self, name: str, module: str) -> Iterator[tuple[str, float]]:
        path = module.replace(".", "/")
        for folder in (*PYTHON_ROOTS, str(PurePosixPath(name).parent)):
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if found := self._first((folder,), file):
                    yield found, STEP
                    return

    # ---- what literals name

    def _named(self, literals: Iterable[str]) -> Iterator[tuple[str, float]]:
        for literal in literals:
            if len(literal) > 200:  # prose, or a program
                continue
            for name in _ID.findall(literal):
                if name in self.ids:
                    yield self.ids[name], NAMED
            for word in _PATH.findall(literal):
                yield from self._path(word.rstrip("."))

    def _path(self, word: str) -> Iterator[tuple[str, float]]:
        if word in self.names:
            yield word, NAMED
        else:
            yield from self._data.get(word, {}).items()

    @cached_property
    def _data(self) -> dict[str, dict[str, float]]:
        """Files that are neither C++ nor Python, by their own name and by that of their folder."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for name in self.names:
            path = PurePosixPath(name)
            if path.suffix in (*CPP, ".py", ".pyi") or len(path.parts) < 2:
                continue
            for folder in (path.parent.name, str(path.parent)):
                found[folder][name] = FOLDER
            found[path.name][name] = NAMED
        return found

    # ---- mirrors

    def _subject(self, name: str) -> str:
        """Return the file that a test mirrors; empty where there is none."""
        path = PurePosixPath(name)
        if path.parts[0] != "tests" or len(path.parts) < 3:
            return ""
        inner = PurePosixPath(*path.parts[1:-1])
        if path.name.endswith("_test.cpp"):
            return self._cpp_subject(inner, path.name.removesuffix("_test.cpp"))
        if not (path.name.startswith("test_") and path.suffix == ".py"):
            return ""
        stem = path.stem.removeprefix("test_")
        if inner.name == "envs":
            return self._environment(stem)
        for shorter in _shorter(stem):
            for found in (inner / f"{shorter}.py", inner / shorter):
                if str(found) in self.names:
                    return str(found)
        return ""

    def _cpp_subject(self, folder: PurePosixPath, stem: str) -> str:
        if folder.name == "envs":
            return self._environment(stem)
        inside = str(folder) + "/"
        for shorter in _shorter(stem):
            for name in sorted(self.names):
                if name.startswith(inside) and PurePosixPath(name).name == f"{shorter}.hpp":
                    return name
        return ""

    def _environment(self, stem: str) -> str:
        found = [self.headers[shorter] for shorter in _shorter(stem) if shorter in self.headers]
        return found[0] if found else ""

    # ---- distances

    def distances(self, changes: Iterable[str]) -> dict[str, float]:
        """Return how many steps each file is from the nearest change; the others are left out."""
        users: dict[str, dict[str, float]] = defaultdict(dict)
        for name, needed in self.needs.items():
            for other, steps in needed.items():
                users[other][name] = steps
        found: dict[str, float] = {}
        queue = [(0.0, name) for name in changes]
        heapq.heapify(queue)
        while queue:
            steps, name = heapq.heappop(queue)
            if name in found:
                continue
            found[name] = steps
            for user, more in users[name].items():
                heapq.heappush(queue, (steps + more, user))
        return found


def _shorter(stem: str) -> Iterator[str]:
    """Yield a name and what is left of it without its last words: a_b_c, a_b, a."""
    words = stem.split("_")
    yield from ("_".join(words[:count]) for count in range(len(words), 0, -1))


def _literals(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a program that are not docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value
