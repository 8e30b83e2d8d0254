"""Blocks of the pages: where each one stands, what it says, and why it is not run, if it is not.

A block that no test runs has a mark on the line above it, which no reader of the page sees:

    <!-- not run: needs a GPU -->
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "cpp", "sh")  # the languages whose blocks are run, or marked

FENCE = re.compile(r" *```(.*)")
MARK = re.compile(r" *<!-- not run: (\S.*) -->")
HEADING = re.compile(r"##? (.*)")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str  # from the root of the tree
    section: str  # its heading of the first or second level
    line: int  # of the fence
    language: str
    text: str
    why: str  # it is not run; "": it is

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"{self.page}:{self.line}"


def blocks_in(text: str, page: str) -> Iterator[Block]:
    """Yield the blocks of a page's text, in order."""
    lines, section, start = text.splitlines(), "", -1
    for number, line in enumerate(lines):
        fence = FENCE.fullmatch(line)
        if start < 0 and fence is None and (heading := HEADING.fullmatch(line)):
            section = heading[1]
        if fence is None:
            continue
        if start < 0:
            start = number
            continue
        mark = MARK.fullmatch(lines[start - 1]) if start else None
        language = lines[start].strip(" `")
        body = textwrap.dedent("".join(f"{one}\n" for one in lines[start + 1 : number]))
        yield Block(page, section, start + 1, language, body, mark[1] if mark else "")
        start = -1


@functools.cache
def all_blocks() -> list[Block]:
    """Return the blocks of every page in the languages that are run."""
    found: list[Block] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found += blocks_in(text, page.relative_to(ROOT).as_posix())
    return [block for block in found if block.language in RUN]
