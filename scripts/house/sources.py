"""The files of a tree and what stands in them, for the scripts that look at all of it."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType


def _load_rules() -> ModuleType:
    """Load what the builder knows of C++ by its path: the package would ask for Gymnasium."""
    path = Path(__file__).resolve().parents[2] / "gpu_envs" / "building" / "rules.py"
    spec = importlib.util.spec_from_file_location("rules_of_the_builder", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


without_comments: Callable[..., str] = _load_rules().without_comments

SKIPPED_FOLDERS = {".git", "build", "dist", "runs", "__pycache__", "node_modules"}
TEXT = {"", *".md .py .pyi .hpp .cpp .cu .c .cmake .txt .toml .json .sh".split()}


@dataclass
class File:
    """One text file of the tree."""

    path: str  # relative to the root, with slashes
    text: str
    lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = self.text.splitlines()

    @property
    def parts(self) -> list[str]:
        """Folders and name."""
        return self.path.split("/")

    @cached_property
    def code(self) -> list[str]:
        """The lines without comments and docstrings; literals and line numbers stay."""
        if self.path.endswith((".py", ".pyi")):
            return without_docstrings(self.text)
        if self.path.endswith((".hpp", ".cpp", ".cu")):
            return without_comments(self.text, keep_literals=True).splitlines()
        return ["" if line.lstrip().startswith("#") else line for line in self.lines]


@dataclass
class Tree:
    """The files that are looked at."""

    root: Path
    files: list[File]

    def under(
        self, *folders: str, suffixes: tuple[str, ...] = (".hpp", ".cpp", ".cu")
    ) -> list[File]:
        """Files below the folders."""
        return [
            file
            for file in self.files
            if file.path.endswith(suffixes) and any(file.path.startswith(f + "/") for f in folders)
        ]

    def environments(self) -> dict[str, list[File]]:
        """Files of each environment of the package by stem; of a family what tasks share."""
        found: dict[str, list[File]] = {}
        for file in self.under("kernels/envs"):
            own = 4 if file.parts[3:4] == ["tasks"] else 2
            # By the folder, or by the header where there is none.
            found.setdefault(file.parts[own].removesuffix(".hpp"), []).append(file)
        return found


def read_tree(root: Path) -> Tree:
    """Read every text file below `root`, build folders and virtual environments aside."""
    files = []
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if any(p in SKIPPED_FOLDERS or p.endswith(".egg-info") for p in parts):
            continue
        if parts[0].startswith(".") and parts[0] != ".ci":
            continue
        if path.suffix in TEXT and path.is_file():
            try:
                files.append(File("/".join(parts), path.read_text(encoding="utf-8")))
            except UnicodeDecodeError:
                # Not a text after all, whatever its name.
                continue
    return Tree(root, files)


def without_docstrings(text: str) -> list[str]:
    """Python's lines with comments and docstrings blanked."""
    lines = text.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column].rstrip()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if ast.get_docstring(node, clean=False) is not None:
                    first, last = node.body[0].lineno, node.body[0].end_lineno or 0
                    lines[first - 1 : last] = [""] * (last - first + 1)
    except (SyntaxError, tokenize.TokenError):
        return lines
    return lines


@dataclass
class Function:
    """A C++ function with a body."""

    name: str
    first_line: int
    last_line: int
    parameters: list[str]
    end: int = 0  # offset behind the closing brace


def split_parameters(text: str) -> list[str]:
    """Split at the commas outside every bracket."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def parse_head(head: str) -> tuple[str, list[str]] | None:
    """Name and parameters if `head`, the text before a brace, begins a function."""
    # What stands before a function's name and is in brackets, but no list of parameters, goes
    # first.
    head = re.sub(r"^\s*#[^\n]*$", "", head, flags=re.MULTILINE)
    head = re.sub(r"\b(?:public|private|protected)\s*:", "", head)
    head = re.sub(
        r"\b(?:requires|noexcept|alignas|decltype|__attribute__)\s*\(+[^()]*\)*", "", head
    )
    if re.search(r"\b(?:namespace|struct|class|union|enum|concept)\b(?![^<]*>)[^()]*$", head):
        return None
    found = re.search(r"(~?\w+|operator\s*\S+?)\s*\(", head)
    if not found or re.search(r"=\s*$", head):
        return None
    depth, start = 0, found.end() - 1
    for i in range(start, len(head)):
        depth += (head[i] == "(") - (head[i] == ")")
        if depth == 0:
            return found[1], split_parameters(head[start + 1 : i])
    return None


def functions_of(text: str) -> list[Function]:
    """Functions at namespace and class scope; a lambda belongs to the function around it."""
    text = without_comments(text)
    found: list[Function] = []
    scopes: list[Function | None] = []
    inside = 0  # braces inside the current function
    last = 0  # where the head of the next scope begins
    # No parser: braces and semicolons are enough for code that clang-format has laid out.
    for mark in re.finditer(r"[{};]", text):
        at, letter = mark.start(), mark.group()
        current = scopes[-1] if scopes else None
        head = text[last:at]
        if letter == "{" and current:
            inside += 1
        elif letter == "{" and found and head.strip()[:1] in ("", ",") and last == found[-1].end:
            scopes.append(found.pop())  # what had ended was `b{x}` among a constructor's members
        elif letter == "{":
            named = parse_head(head)
            begin = at - len(head.lstrip())
            line = text.count("\n", 0, begin) + 1
            scopes.append(Function(named[0], line, 0, named[1]) if named else None)
        elif letter == "}" and current and inside:
            inside -= 1
        elif letter == "}" and scopes:
            scopes.pop()
            if current:
                current.last_line = text.count("\n", 0, at) + 1
                current.end = at + 1
                found.append(current)
        if not (scopes and scopes[-1]):
            last = at + 1
    return found
