"""scripts/house/plain_words.py finds foreign phrases where they are read, and nowhere else."""

import json
import subprocess
import sys

import pytest

from scripts.house import lint_kernels, plain_words


def found(tree):
    return [(one.place, one.line, one.phrase) for one in plain_words.search(tree)]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The same of counts.", "the same of"),
        ("Likewise for y.", "likewise"),
        ("drawn anew", "anew"),
        ("they take so\nmany steps", "so many"),
        ("it is no number", "is no"),
        ("where it is\nnone", "is no"),
    ],
)
def test_a_phrase_is_found_in_a_page(plant, text, phrase):
    lines = text.count("\n", 0, text.find(phrase.split()[0])) if "\n" not in phrase else 0
    assert found(plant({"docs/page.md": f"# Page\n\n{text}\n"})) == [("pages", 3 + lines, phrase)]


@pytest.mark.parametrize(
    "text",
    [
        "There is no compiler.",
        "It is no longer read.",
        "`--anew` runs it",
        "Of course.",
        "the same",
    ],
)
def test_plain_english_is_left_alone(plant, text):
    assert found(plant({"docs/page.md": text})) == []


CPP = """// Of roles: each
// is judged anew.
int x = 1;  // Of one
throw Error("there is "
            "none: it is no number");
const char* kUrl = "http://arxiv.org";  // likewise
"""


def test_comments_and_literals_of_cpp_have_their_own_places(plant):
    opening = "a comment that begins with Of"
    assert sorted(found(plant({"kernels/envs/pole/pole.hpp": CPP}))) == [
        ("kernels/envs", 1, opening),
        ("kernels/envs", 2, "anew"),
        ("kernels/envs", 3, opening),
        ("kernels/envs", 6, "likewise"),
        ("literals: kernels", 4, "is no"),
    ]


PYTHON = '''"""Of pages."""
# Of one, and
# likewise of two.
is_none = x is None  # the code itself is not read
raise ValueError(f"{x} is "
                 f"no number")
'''


def test_comments_docstrings_and_literals_of_python_have_their_own_places(plant):
    opening = "a comment that begins with Of"
    assert sorted(found(plant({"gpu_envs/train/a.py": PYTHON}))) == [
        ("gpu_envs", 1, opening),
        ("gpu_envs", 2, opening),
        ("gpu_envs", 3, "likewise"),
        ("literals: gpu_envs", 5, "is no"),
    ]


def test_comments_of_scripts_are_read(plant):
    text = "#!/usr/bin/env bash\n# Runs it anew.\necho anew\n"
    assert found(plant({"scripts/run": text})) == [("scripts", 2, "anew")]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("mass of a box [kg]; -1: the profile's value", False),
        ("-1: as the profile says", True),
        ("likewise", True),
        ("the same of the planner", True),
        ("of a world; -1: 1024", True),
        ("two words", True),
        ("offers a choice to everyone", False),
    ],
)
def test_text_of_a_parameter_stands_alone_or_not(text, needs):
    assert plain_words.needs_its_neighbour(text) == needs


def test_texts_of_the_catalogue_are_read(plant):
    parameter = {"name": "mass", "doc": "-1: as the profile says"}
    action = {"name": "x", "doc": "0 is none"}
    pole = {"id": "Pole-v0", "doc": "Balance.", "parameters": [parameter], "action": [action]}
    files = {"gpu_envs/catalogue/pole.json": json.dumps([pole])}
    places = {one[0] for one in found(plant(files))}
    assert places == {plain_words.CATALOGUE, plain_words.ALONE}


def test_a_number_may_only_fall():
    table = {"pages": 3, "scripts": 2, "tests": 1}
    now = {"pages": 5, "scripts": 1, "kernels/envs": 4}
    assert plain_words.lowered(table, now) == {"pages": 3, "scripts": 1}


def test_lint_refuses_more_than_the_recorded_number_and_says_what_to_do(
    plant, tmp_path, monkeypatch
):
    table = tmp_path / "table.json"
    table.write_text('{"pages": 1}')
    monkeypatch.setattr(plain_words, "TABLE", table)
    tree = plant({"docs/page.md": "anew\nlikewise\n"})
    problems = list(lint_kernels.plain_words_only(tree))
    assert [problem.path for problem in problems] == ["docs/page.md"]
    assert "2 phrases in pages (at most 1)" in problems[0].message
    assert "--list 'pages'" in problems[0].message
    table.write_text('{"pages": 2}')
    assert list(lint_kernels.plain_words_only(tree)) == []


def test_script_lists_what_it_counts(plant, tmp_path):
    plant({"docs/page.md": "x\nlikewise\n"})
    command = [sys.executable, plain_words.__file__, tmp_path, "--list", "pages"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "docs/page.md:2: likewise\n"
