"""scripts/house/wrap_pages.py fills prose, leaves what has its own lines, and changes no word."""

from pathlib import Path

import pytest

from scripts.house import wrap_pages

ROOT = Path(__file__).parents[3]
WORDS = "some words of a long sentence " * 8


def test_a_paragraph_is_filled():
    lines = wrap_pages.wrapped(f"short\nlines\n{WORDS}\n").splitlines()
    assert lines[0].startswith("short lines some words")
    assert [len(line) <= 100 for line in lines] == [True] * 3
    assert len(lines[0]) > 90 and len(lines[1]) > 90


@pytest.mark.parametrize("start", ["- ", "  - ", "12. "])
def test_an_item_hangs_below_its_mark(start):
    first, second, *_ = wrap_pages.wrapped(f"{start}{WORDS}\n{start}{WORDS}\n").splitlines()
    assert first.startswith(f"{start}some") and len(first) <= 100
    assert second.startswith(" " * len(start)) and second[len(start)] != " "


@pytest.mark.parametrize(
    "text",
    [
        f"| {WORDS} |\n|---|\n",
        f"```\n{WORDS}\n    # {WORDS}\n```\n",
        f"~~~\n```\n{WORDS}\n~~~\n",
        f"# {WORDS}\n",
        f"![{WORDS}](docs/images/x.png)\n",
        f"{WORDS}\\\nnext\n",
        f"{WORDS}  \nnext\n",
    ],
)
def test_what_has_its_own_lines_stays(text):
    assert wrap_pages.wrapped(text) == text


def test_a_code_span_stays_in_one_line():
    text = f"{'word ' * 18}`python -m gpu_envs list` and more\n"
    assert wrap_pages.wrapped(text).splitlines()[1] == "`python -m gpu_envs list` and more"


def test_a_line_never_begins_with_a_mark_of_a_list():
    for mark in ("-", "1.", "#", "> 3", "|"):
        for before in range(90, 102):
            lines = wrap_pages.wrapped(f"{'x' * before} {mark} y {WORDS}\n").splitlines()
            assert not any(line.startswith(mark) for line in lines)


@pytest.mark.parametrize(
    "page", wrap_pages.pages_of(ROOT), ids=lambda page: str(page.relative_to(ROOT))
)
def test_wrapping_a_page_changes_no_word_and_settles(page):
    text = page.read_text(encoding="utf-8")
    once = wrap_pages.wrapped(text)
    assert once.split() == text.split()
    assert wrap_pages.wrapped(once) == once
