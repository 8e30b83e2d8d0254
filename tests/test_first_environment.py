"""docs/first_environment.md: each of its steps builds, plays, draws or trains as the page says.

The page is the only source. Its first block of C++ is the whole header, which each `diff` after it
changes. A step's commands and examples run in the order of the page, each in a process of its own.
A `text` block is what an example prints, to the letter, or lines that a command prints.
"""

from __future__ import annotations

import os
import re
import shlex
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first_environment.md"
PICTURE = ROOT / "docs" / "images" / "first_environment.png"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
HEADS = re.findall(r"^## (\d)\. .*$", PAGE.read_text(encoding="utf-8"), re.M)

pytestmark = [
    pytest.mark.xdist_group("first_environment"),  # the steps share one folder of modules
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def blocks_of(step: int) -> list[tuple[str, str]]:
    """Return language and text of the blocks of a step."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    section = next(part for part in sections if part.startswith(f"{step}. "))
    return BLOCK.findall(section)


def changed(header: str, diff: str) -> str:
    """Apply the hunks of a diff, which are separated by empty lines; each fits in one place."""
    for hunk in diff.rstrip("\n").split("\n\n"):
        lines = hunk.split("\n")
        assert all(line[:1] in ("+", "-", " ") for line in lines), hunk
        before = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
        after = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
        assert header.count("\n" + before) == 1, hunk
        header = header.replace("\n" + before, "\n" + after)
    return header


def header_after(step: int) -> str:
    """Return the header as a reader has it after a step."""
    header = ""
    for number in range(1, step + 1):
        for language, text in blocks_of(number):
            if language == "cpp":
                assert not header, "only the first block is a whole file"
                header = text
            elif language == "diff":
                header = changed(header, text)
    return header


def pixels_of(png: Path) -> bytes:
    """Return what a picture of this package shows, whatever library compressed it."""
    data, place, packed = png.read_bytes(), 8, b""
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        packed += body if kind == b"IDAT" else b""
        place += 12 + length
    return zlib.decompress(packed)


class Reader:
    """Somebody who follows the page in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        own = {"GPU_ENVS_CACHE": str(folder / "cache"), "CUDA_VISIBLE_DEVICES": ""}
        self.environment = os.environ | own | {"PYTHONPATH": str(ROOT)}

    def run(self, *arguments: str) -> str:
        """Run Python and return what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def build(self, step: int) -> None:
        """Write the header of a step and build it."""
        (self.folder / "plough.hpp").write_text(header_after(step), encoding="utf-8")
        self.run("-m", "gpu_envs", "build", "plough.hpp")

    def follow(self, step: int) -> dict[str, str]:
        """Do what a step says, and return what its commands printed."""
        self.build(step)
        printed, last, is_exact = {}, "", False
        for language, text in blocks_of(step):
            if language == "python":
                last, is_exact = self.run("-c", text), True
            elif language == "sh":
                is_exact = False
                for line in text.splitlines():
                    program, *arguments = shlex.split(line)
                    assert program == "python", line
                    last = printed[line] = self.run(*arguments)
            elif language == "text" and is_exact:
                assert last == text
            elif language == "text":
                assert set(text.splitlines()) <= set(last.splitlines())
        return printed


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(tmp_path_factory.mktemp("first"))


def test_page_has_six_steps_and_its_header_fits_the_line() -> None:
    assert HEADS == list("123456")
    assert max(map(len, header_after(6).splitlines())) <= 100


def test_change_that_fits_nowhere_or_twice_is_refused() -> None:
    for wrong in ("-gone;\n+new;\n", " twice;\n+new;\n"):
        with pytest.raises(AssertionError):
            changed("top;\ntwice;\nalso;\ntwice;\n", wrong)
    edited = changed("top;\nold;\nlast;\n", "-old;\n+new;\n\n last;\n+more;\n")
    assert edited == "top;\nnew;\nlast;\nmore;\n"


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_step_does_what_the_page_shows(reader: Reader, step: int) -> None:
    reader.follow(step)


def test_fourth_step_draws_the_picture_of_the_page(reader: Reader) -> None:
    (command,) = reader.follow(4)
    drawn = reader.folder / shlex.split(command)[-1]
    assert pixels_of(drawn) == pixels_of(PICTURE), f"renew {PICTURE.name} by: {command}"


def test_last_step_trains_a_policy_that_reaches_the_goal(reader: Reader) -> None:
    pytest.importorskip("torch", reason="needs gpu_envs[train]")
    printed = reader.follow(6)
    train = next(line for line in printed if " train " in line)
    best = re.search(r"evaluation episodes: best ([\d.]+)", printed[train])
    assert best is not None
    assert float(best[1]) >= float(re.findall(r"--goal (\S+)", train)[0])
    assert (reader.folder / "trained.png").is_file()
