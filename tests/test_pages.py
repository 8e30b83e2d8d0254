"""README and docs: they name every shipped environment, their commands and links exist.

Every page is read as it lies in the tree. What is shipped is asked of the catalogue's files, so
headers of the user's own change nothing here.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from gpu_envs.__main__ import main
from gpu_envs.known.measures import sizes

ROOT = Path(__file__).parents[1]
CATALOGUE = [
    description
    for file in sorted((ROOT / "gpu_envs" / "catalogue").glob("*.json"))
    for description in json.loads(file.read_text(encoding="utf-8"))
]
SHIPPED = {description["id"]: description for description in CATALOGUE}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Ids that pages name and that are not ours to ship.
FOREIGN = {"CartPole-v1", "MyEnv-v0", "Plough-v0"}
ID = re.compile(r"\b[A-Z]\w*-v\d+\b")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def table_of(text: str, first: str) -> list[list[str]]:
    """Return the rows, by cells, of the table whose head begins with `first`."""
    lines = text[text.index(f"| {first} |") :].splitlines()
    rows = []
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


# ---- every environment


@pytest.mark.parametrize("page", ["README.md", "docs/rendering.md"])
def test_a_page_has_a_row_of_every_environment_once(page: str) -> None:
    named = [name for row in table_of(text_of(page), "environment") for name in ID.findall(row[0])]
    assert sorted(named) == sorted(SHIPPED)


def test_learning_names_every_environment() -> None:
    assert set(SHIPPED) <= set(ID.findall(text_of("docs/learning.md")))


def test_compatibility_has_a_column_of_every_environment_and_every_check() -> None:
    from scripts.checks import compatibility

    text = text_of("docs/compatibility.md")
    head = next(line for line in text.splitlines() if line.startswith("| library |"))
    columns = head.strip("| ").split(" | ")[2:]
    renew = "PYTHONPATH must have SuperSuit and moviepy: " + re.findall(r"`(scripts/.*?)`", text)[0]
    assert columns == [name.removesuffix("-v0") for name in SHIPPED], renew
    rows = [tuple(row[:2]) for row in table_of(text, "library")]
    assert rows == [(check.library, check.label) for check in compatibility.CHECKS], renew
    assert "| - |" not in text, renew


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_ids_of_a_page_are_shipped(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(ID.findall(text)) <= {*SHIPPED, *FOREIGN}


def test_steps_of_the_readme_are_those_of_the_environments() -> None:
    for names, _, episode, _ in table_of(text_of("README.md"), "environment"):
        for name in ID.findall(names):
            limit = SHIPPED[name]["max_episode_steps"]
            told = re.fullmatch(r"(\d+) (?:steps|days)", episode)
            assert (int(told[1]) if told else 0) == limit, name


def test_a_page_has_a_row_of_every_room_of_the_kernels() -> None:
    rooms = {p.name for p in (ROOT / "kernels").iterdir() if any(p.glob("**/*.[hc]pp"))}
    rows = {row[0] for row in table_of(text_of("docs/develop.md"), "folder")}
    assert {f"`kernels/{room}/`" for room in rooms} <= rows


VIEWS = {"perspective": "perspective", "top": "top", "both": "both", "agent": "agent:0"}


def pictures_of(make_simulator: Any, name: str) -> list[str]:
    """Return the row of an environment in the table of docs/rendering.md, less its name."""
    small = sizes(name, "small") if sizes(name, "few") else {}
    simulator, views = make_simulator(name, 1, **small), []
    simulator.reset(seed=1)
    for view, word in VIEWS.items():
        try:
            simulator.render(0, size=(9, 16), view=word)
        except ValueError:
            continue
        views.append(view)
    has = ["yes" if SHIPPED[name].get(what) else "no" for what in ("scene", "text")]
    rate = str(SHIPPED[name].get("render_fps", 50)) if views else ""
    return [*has, ", ".join(views), rate]


def test_render_modes_and_views_are_those_of_the_table(make_simulator) -> None:
    for names, *facts in table_of(text_of("docs/rendering.md"), "environment"):
        for name in ID.findall(names):
            assert facts == pictures_of(make_simulator, name), name


LANGUAGES = {"python", "cpp", "sh", "js", "text", "diff"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_name_their_language(page: Path) -> None:
    fences = re.findall(r"^ *```(.*)$", page.read_text(encoding="utf-8"), re.M)
    assert {one for one in fences[::2] if not one.startswith("{")} <= LANGUAGES
    assert set(fences[1::2]) <= {""}


# ---- examples


def examples(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda page: page.name)
def test_examples_of_a_page_are_python(page: Path) -> None:
    for example in examples(page):
        compile(example, page.name, "exec")


# ---- commands

COMMAND = re.compile(r"^(?:[A-Z_]+=\S+ )*(?:python )?(-m gpu_envs|scripts/\w|examples/\w)")
SCRIPT_SOURCES = {"scripts/benchmark.py": "gpu_envs/benchmark/command.py"}


def commands(page: Path) -> list[str]:
    """Return a page's commands: lines of blocks of the shell, and words in backquotes."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    words = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    found = [" ".join(line.split("  #")[0].split()) for line in (*lines, *words)]
    return [one for one in found if COMMAND.match(one) and not one.endswith("/")]  # no folder


def printed_help(*words: str) -> str:
    """Return what a command prints with --help."""
    with pytest.MonkeyPatch.context() as patch:
        shown: list[str] = []
        patch.setattr(sys, "stdout", MagicMock(write=shown.append, isatty=lambda: False))
        with pytest.raises(SystemExit) as caught:
            if words[0] == "train":
                from gpu_envs.train import command

                command.parse([*words[1:], "--help"])
            main([*words, "--help"])
        assert caught.value.code in (0, None), words
    return "".join(shown)


known_help = functools.cache(printed_help)


def script_text(path: str) -> str:
    """Return the sources of a script: its own, and those of what it starts."""
    stem = (ROOT / path).stem
    files = [file for file in (ROOT / path).parent.glob(f"{stem}*") if file.is_file()]
    files += [ROOT / SCRIPT_SOURCES[path]] if path in SCRIPT_SOURCES else []
    return "".join(file.read_text(encoding="utf-8") for file in files)


def check_command(command: str) -> None:
    """Assert that a command, its environment and its options exist."""
    words = [word for word in shlex.split(command) if not word.startswith("$")]
    words = words[next(k for k, w in enumerate(words) if "gpu_envs" in w or "/" in w) :]
    program, *rest = words
    options = {word.split("=")[0] for word in rest if word.startswith("--")}
    ids = [word for word in rest if ID.fullmatch(word)]
    assert set(ids) <= {*SHIPPED, *FOREIGN}, command
    if program in ("gpu_envs", "gpu_envs.train", "scripts/train") and "--table" not in options:
        first = ["train"] if program != "gpu_envs" else rest[:1]
        if first and "-h" not in rest:
            own_help = first[0] in ("play", "render", "train", "evaluate")
            named = [name for name in ids[:1] if own_help and name in SHIPPED]
            missing = (
                options - {"--help"} - set(re.findall(r"--[\w-]+", known_help(*first, *named)))
            )
            assert not missing, command
        return
    assert (ROOT / program).is_file(), command
    source = script_text(program if "--table" not in options else "scripts/studies/learning.py")
    assert all(f'"{option}' in source or option in source for option in options - {"--table"})


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda page: page.name)
def test_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    pytest.importorskip("torch", reason="needs gpu_envs[train]")
    for command in commands(page):
        check_command(command)


def test_a_wrong_command_is_found() -> None:
    for wrong in (
        "python -m gpu_envs renders CartPole-v0",
        "python -m gpu_envs render CartPole-v0 --sise 4x4",
        "scripts/train CartPole-v0 --time-limits 3",
        "scripts/gone.py --out x",
        "scripts/benchmark.py CartPole --fully",
        "python -m gpu_envs info CartPole-v7",
    ):
        with pytest.raises((AssertionError, FileNotFoundError)):
            check_command(wrong)


# ---- links

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return what GitHub calls the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_files_and_headings(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"
