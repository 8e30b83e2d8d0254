"""Puts the C++ of the pages into `fragments.cpp`, and compiles that as the engine is compiled."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

from gpu_envs.building import toolchain
from tests.pages.blocks import ROOT, Block

FRAMES = Path(__file__).with_name("fragments.cpp")
PLACE = re.compile(r"^ *// >>> (\S+) (\d+)\.(\d+)\n", re.M)


def parts_of(text: str) -> list[str]:
    """Return the parts of a block: a line with `...` outside of a comment ends one."""
    parts = [""]
    for line in text.splitlines(keepends=True):
        if "..." in line.partition("//")[0]:
            parts.append("")
        else:
            parts[-1] += line
    return parts


def parts_by_place(blocks: list[Block]) -> dict[tuple[str, str, str], str]:
    """Return the parts of all blocks by page, number of the block and number of the part."""
    found: dict[tuple[str, str, str], str] = {}
    numbers: dict[str, int] = {}
    for block in blocks:
        number = numbers[block.page] = numbers.get(block.page, 0) + 1
        for part, text in enumerate(parts_of(block.text)):
            found[block.page, str(number), str(part + 1)] = text
    return found


def filled(frames: str, blocks: list[Block]) -> str:
    """Put each part of the blocks into its place; none may be left over."""
    parts = parts_by_place(blocks)
    text = PLACE.sub(lambda place: parts.pop((place[1], place[2], place[3])), frames)
    assert not [place for place, left in parts.items() if left.strip()], "no place in fragments.cpp"
    return text


def problems_of(source: Path) -> str:
    """Return what the compiler says about a source, which it only reads."""
    command = [*shlex.split(toolchain.cxx()), *toolchain.host_flags("cpu")]
    include = f"-I{ROOT / 'kernels'}"
    done = subprocess.run(
        [*command, "-fsyntax-only", include, str(source)],
        capture_output=True,
        text=True,
    )
    return done.stderr + (f"status {done.returncode}" if done.returncode else "")
