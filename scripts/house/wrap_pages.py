"""Wraps the prose of README.md, CHANGELOG.md and docs/ at 100 columns.

Usage: scripts/house/wrap_pages.py [ROOT]

Paragraphs and items of lists are filled. Tables, fenced blocks, headings, pictures, and paragraphs
with a hard line break stay as they are. A code span stays in one line if it fits into one. Only
spaces and ends of lines change, and wrapping a wrapped page changes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100

FENCE = re.compile(r"\s*(```|~~~)")
KEPT = re.compile(r"\s*(#{1,6} |\||!\[|<|\[[^\]]+\]: |[-*_=]{3,}$|$)")
ITEM = re.compile(r"(\s*(?:[-*+]|\d+[.)]) +|\s*> ?)(.*)")
WORD = re.compile(r"(?:`[^`]+`|\S)+")  # a code span is part of one word
# At the start of a line these would begin a list, a heading, a quotation, a table or a block.
BEGINS = re.compile(r"[-*+]$|\d+[.)]$|#{1,6}$|[-=]{3,}$|>|\||```|~~~")


def pages_of(root: Path) -> list[Path]:
    """Return the pages whose prose is wrapped."""
    tops = [root / name for name in ("README.md", "CHANGELOG.md", "changes/README.md")]
    found = [*tops, *sorted((root / "docs").rglob("*.md"))]
    return [page for page in found if page.is_file()]


def filled(text: str, first: str, rest: str) -> Iterator[str]:
    """Yield the lines of a paragraph: the first one begins with `first`, the others with `rest`."""
    line = first
    for span in WORD.findall(" ".join(text.split())):
        for word in [span] if len(rest) + len(span) <= WIDTH else span.split():
            if line in (first, rest):
                line += word
            elif len(line) + 1 + len(word) <= WIDTH or BEGINS.match(word):
                line += f" {word}"
            else:
                yield line
                line = rest + word
    yield line


def paragraph(lines: list[str]) -> list[str]:
    """Return the lines of a paragraph or an item, filled."""
    if any(line.endswith(("  ", "\\")) for line in lines[:-1]):
        return lines
    item = ITEM.match(lines[0])
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    first, text = (item[1], item[2]) if item else (margin, lines[0])
    rest = first if ">" in first else " " * len(first)
    return list(filled(" ".join([text, *(line.lstrip("> ") for line in lines[1:])]), first, rest))


def wrapped(text: str) -> str:
    """Return a page with its prose wrapped."""
    found: list[str] = []
    part: list[str] = []  # the paragraph that is being read
    fence = ""

    def close() -> None:
        if part:
            found.extend(paragraph(part))
            part.clear()

    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence or mark or KEPT.match(line):
            close()
            found.append(line)
            if mark and fence in ("", mark[1]):
                fence = "" if fence else mark[1]
        else:
            if ITEM.match(line):
                close()
            part.append(line)
    close()
    return "\n".join(found) + "\n"


def main() -> int:
    """Wrap the pages of this repository, or of the folder in the first argument."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    for page in pages_of(root):
        text = page.read_text(encoding="utf-8")
        if wrapped(text) != text:
            page.write_text(wrapped(text), encoding="utf-8")
            print(page.relative_to(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
