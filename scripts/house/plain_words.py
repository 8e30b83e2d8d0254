"""Counts phrases that are foreign to read, in comments, texts and pages; a count may only fall.

Usage: scripts/house/plain_words.py [ROOT] [--list PLACE ...] [--write]

FRAMES are the phrases. What users see has places of its own: pages, texts of the catalogue,
literals (errors and help). Comments and docstrings are counted by folder. `plain_words.json` beside
this has the most that each place may have; lint fails above it. --list shows what is counted,
--write lowers the numbers to what is found. To raise one is to edit the file, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.house.sources import File, Tree, read_tree

TABLE = Path(__file__).with_name("plain_words.json")
PAGES, CATALOGUE, ALONE = (
    "pages",
    "catalogue: phrases",
    "catalogue: texts that need their neighbour",
)
FRAMES = {
    "the same of": re.compile(r"\bthe\s+same\s+of\b", re.IGNORECASE),
    "likewise": re.compile(r"\blikewise\b", re.IGNORECASE),
    # `anew`, --anew and ANEW= are an option.
    "anew": re.compile(r"(?<![-`])\banew\b(?!=)", re.IGNORECASE),
    "so many": re.compile(r"\bso\s+many\b", re.IGNORECASE),
    # "There is no compiler" and "it is no longer read" are English, "it is no number" is not.
    "is no": re.compile(
        r"(?<!\b[Tt]here\s)\b[Ii]s\s+(?:no|none)\b(?!\s+(?:longer|more|less|later|slower|faster|"
        r"larger|smaller|higher|lower|shorter|better|worse)\b)"
    ),  # not `is None`
}
OPENING = re.compile(r"\s*Of\s")  # of a comment or a docstring
FOLDERS = {"kernels": 2, "gpu_envs": 1, "scripts": 1, "tests": 1, "examples": 1}  # depth of a place
DESCRIBED = ("parameters", "reset_options")
CPP = (".hpp", ".cpp", ".cu")
_CPP_PARTS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL)


@dataclass(frozen=True)
class Passage:
    """A comment, a docstring, a literal or a paragraph, its lines without their marks."""

    line: int
    text: str
    is_comment: bool


@dataclass(frozen=True)
class Found:
    """A phrase in a place."""

    place: str
    path: str
    line: int
    phrase: str


def phrases(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield line and name of each phrase of a passage."""
    if passage.is_comment and OPENING.match(passage.text):
        yield passage.line, "a comment that begins with Of"
    for name, pattern in FRAMES.items():
        for found in pattern.finditer(passage.text):
            yield passage.line + passage.text.count("\n", 0, found.start()), name


def needs_its_neighbour(text: str) -> bool:
    """Whether the text of a parameter cannot be read alone."""
    words = text.split()
    opening = " ".join(words[:2]).lower()
    is_begun = bool(re.match(r"[A-Za-z]", text)) and not re.match(r"of\b", text)
    return not is_begun or len(words) < 3 or opening == "the same" or "likewise" in text.lower()


# ---- passages of a file


def of_python(text: str) -> Iterator[Passage]:
    """Yield comments, docstrings and literals."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, tokenize.TokenError):
        return
    remarks = [
        (t.start[0], t.string.lstrip("#: "), t.line.lstrip().startswith("#"))
        for t in tokens
        if t.type == tokenize.COMMENT
    ]
    yield from joined(remarks)
    docstrings = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
    parts = {id(v) for n in nodes if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            values = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield Passage(node.lineno, "".join(map(str, values)), False)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in parts:
                yield Passage(node.lineno, node.value, id(node) in docstrings)


def of_cpp(text: str) -> Iterator[Passage]:
    """Yield comments and literals."""
    remarks: list[tuple[int, str, bool]] = []
    literal, end, line, counted = "", -1, 0, 0
    number = 1
    for found in _CPP_PARTS.finditer(text):
        number += text.count("\n", counted, found.start())
        counted = found.start()
        whole = found.group()
        if whole.startswith('"'):
            if literal and text[end : found.start()].strip():
                yield Passage(line, literal, False)
                literal = ""
            line = line if literal else number
            literal, end = literal + whole[1:-1], found.end()
        elif not whole.startswith("'"):
            before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            remarks.append((number, whole.strip("/*<! \n"), not before.strip()))
    if literal:
        yield Passage(line, literal, False)
    yield from joined(remarks)


def of_shell(text: str) -> Iterator[Passage]:
    """Yield the comments of a script, a Makefile or a CMake file."""
    lines = enumerate(text.splitlines(), start=1)
    yield from joined(
        [(n, line.lstrip("# \t"), True) for n, line in lines if line.lstrip().startswith("#")]
    )


def joined(remarks: list[tuple[int, str, bool]]) -> Iterator[Passage]:
    """Yield comments, those in lines of their own that follow one another as one."""
    first, last, lines = 0, -1, list[str]()
    for number, text, is_alone in remarks:
        if lines and is_alone and number == last + 1:
            lines.append(text)
        else:
            if lines:
                yield Passage(first, "\n".join(lines), True)
            first, lines = number, [text]
        last = number if is_alone else -1
    if lines:
        yield Passage(first, "\n".join(lines), True)


def passages(file: File) -> Iterator[Passage]:
    """Yield what a reader reads in a file of code."""
    if file.path.endswith((".py", ".pyi")):
        yield from of_python(file.text)
    elif file.path.endswith(CPP):
        yield from of_cpp(file.text)
    elif file.path.endswith((".cmake", ".sh", ".txt")) or "." not in file.parts[-1]:
        yield from of_shell(file.text)


# ---- the tree


def texts(file: File) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and text of all that a file of the catalogue describes."""
    for environment in json.loads(file.text):
        yield "doc", environment["id"], environment.get("doc", "")
        for kind, fields in environment.items():
            if isinstance(fields, list):
                for field in fields:
                    if isinstance(field, dict) and "doc" in field:
                        yield kind, f"{environment['id']} {field['name']}", field["doc"]


def search(tree: Tree) -> Iterator[Found]:
    """Yield every phrase of a tree."""
    for file in tree.files:
        top = file.parts[0]
        if "plain_words" in file.path:  # they spell what they look for
            continue
        if file.path == "README.md" or (top == "docs" and file.path.endswith(".md")):
            for line, phrase in phrases(Passage(1, file.text, False)):
                yield Found(PAGES, file.path, line, phrase)
        elif file.path.startswith("gpu_envs/catalogue/") and file.path.endswith(".json"):
            yield from _of_catalogue(file)
        elif top in FOLDERS:
            folder = "/".join(file.parts[:-1][: FOLDERS[top]])
            for passage in passages(file):
                is_seen = not passage.is_comment and top in ("gpu_envs", "kernels", "scripts")
                for line, phrase in phrases(passage):
                    yield Found(f"literals: {top}" if is_seen else folder, file.path, line, phrase)


def _of_catalogue(file: File) -> Iterator[Found]:
    for kind, name, text in texts(file):
        for _, phrase in phrases(Passage(1, text, False)):
            yield Found(CATALOGUE, file.path, 1, f"{phrase}: {name} ({kind}): {text}")
        if kind in DESCRIBED and needs_its_neighbour(text):
            yield Found(ALONE, file.path, 1, f"{name}: {text}")


def counts(found: list[Found]) -> dict[str, int]:
    """Return the number of phrases by place."""
    return dict(sorted(Counter(one.place for one in found).items()))


def allowed() -> dict[str, int]:
    """Return the most that each place may have; a place that is not listed may have none."""
    return dict(json.loads(TABLE.read_text(encoding="utf-8")))


def lowered(table: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    """Return the table with the numbers that fell."""
    fallen = {place: min(most, now.get(place, 0)) for place, most in table.items()}
    return {place: most for place, most in sorted(fallen.items()) if most}


def main() -> int:
    """Print the counts, or what is counted, or lower the recorded numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("root", nargs="?", type=Path, default=here, help="a tree; this one")
    parser.add_argument("--list", nargs="*", metavar="PLACE", help="show what is counted there")
    parser.add_argument("--write", action="store_true", help="lower the recorded numbers")
    options = parser.parse_args()
    found = list(search(read_tree(options.root)))
    table, now = allowed(), counts(found)
    if options.list is not None:
        for one in found:
            if not options.list or one.place in options.list:
                print(f"{one.path}:{one.line}: {one.phrase}")
    elif options.write:
        TABLE.write_text(json.dumps(lowered(table, now), indent=1) + "\n", encoding="utf-8")
    else:
        for place in sorted({*table, *now}):
            print(f"{now.get(place, 0):5} of {table.get(place, 0):5}  {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
