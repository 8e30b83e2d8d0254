"""scripts/house/measure_house.py finds in small trees what was planted there, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house import measure_house, plain_words, rooms, sources

SAME_OF, _, ANEW, _, _ = plain_words.FRAMES  # these files are searched for them too

HOUSE = {
    "kernels/engine/base/types.hpp": "#pragma once\nint type();\n",
    "kernels/engine/world/world.hpp": '#include "engine/base/types.hpp"\nint world();\n',
    "kernels/engine/environment.hpp": '#include "engine/world/world.hpp"\nint all();\n',
    "kernels/physics/joints.hpp": '#include "engine/world/world.hpp"\nint joint();\n',
    "kernels/envs/pole.hpp": '#include "physics/joints.hpp"\nusing Builds = Build<"Pole-v0">;\n',
    "kernels/envs/maze/maze.hpp": '#include "envs/maze/walls.hpp"\nBuild<"Maze-v0">;\n',
    "kernels/envs/maze/walls.hpp": '#include "engine/environment.hpp"\n',
    "gpu_envs/__init__.py": "from gpu_envs.vector import step\n",
    "gpu_envs/vector.py": "from . import spaces\n",
    "gpu_envs/spaces.py": "import numpy\n",
}


def write(folder, changes=None):
    for path, text in {**HOUSE, **(changes or {})}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return sources.read_tree(folder)


def test_floors_follow_the_longest_way_down(tmp_path):
    numbers = measure_house.rooms_and_floors(write(tmp_path)).numbers
    assert numbers == {
        "rooms": 6,
        "floors": 4,
        "rooms of the engine": 3,
        "floors of the engine": 3,
        "floors, counted by file": 5,
        "circles of rooms": 0,
        "circles of files": 0,
        "arrows up between rooms of the table": 0,
        "files in no room of the table": 0,
    }


def test_circle_of_rooms_is_one_floor_and_its_arrow_up_is_named(tmp_path):
    up = '#include "engine/world/world.hpp"\n'
    part = measure_house.rooms_and_floors(write(tmp_path, {"kernels/engine/base/f.cpp": up}))
    assert part.places["circles of rooms"] == ["engine/base - engine/world"]
    assert part.places["circles of files"] == []
    assert part.places["arrows up between rooms of the table"] == [
        "kernels/engine/base/f.cpp:1 includes engine/world/world.hpp"
    ]
    assert part.numbers["floors of the engine"] == 2


def test_loose_files_of_a_hall_are_rooms(tmp_path):
    changes = {
        "kernels/engine/f.hpp": '#include "engine/environment.hpp"\n',
        "kernels/engine/f.cpp": '#include "engine/f.hpp"\n',
        "kernels/physics/f.hpp": "int f();\n",
    }
    part = measure_house.rooms_and_floors(write(tmp_path, changes))
    assert part.numbers["rooms"] == 7
    assert part.numbers["floors of the engine"] == 4
    assert part.places["files in no room of the table"] == ["engine/f.cpp", "engine/f.hpp"]


def test_what_lies_right_beneath_leaves_out_what_that_needs():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a", "e"}, "e": {"d"}, "f": {"d", "e"}}
    found = {node: "".join(measure_house.beneath(graph, node)) for node in graph}
    assert found == {"a": "", "b": "a", "c": "b", "d": "ae", "e": "d", "f": "de"}


def test_circle_of_files_is_found(tmp_path):
    changes = {"kernels/engine/base/types.hpp": '#include "engine/world/world.hpp"\n'}
    part = measure_house.rooms_and_floors(write(tmp_path, changes))
    assert part.places["circles of files"] == ["engine/base/types.hpp - engine/world/world.hpp"]


def test_tree_is_counted_by_its_own_table(tmp_path):
    table = 'ROOMS: dict[str, set[str]] = {\n    "engine/world": set(),\n    "physics": set(),\n}\n'
    part = measure_house.rooms_and_floors(write(tmp_path, {"scripts/house/rooms.py": table}))
    assert part.places["arrows up between rooms of the table"] == [
        "kernels/physics/joints.hpp:1 includes engine/world/world.hpp"
    ]
    assert len(part.places["files in no room of the table"]) == 5


def test_table_of_this_tree_is_read_as_it_is():
    tree = sources.read_tree(Path(rooms.__file__).parent)
    for file in tree.files:
        file.path = f"scripts/house/{file.path}"
    assert measure_house.table_of(tree) == rooms.ROOMS


@pytest.mark.parametrize(("lines", "found"), [(60, []), (61, ["61 scripts/f.py:1 f"])])
def test_function_over_the_limit_is_named(tmp_path, lines, found):
    text = "def f():\n" + "    x = 1\n" * (lines - 1)
    part = measure_house.sizes(write(tmp_path, {"scripts/f.py": text}))
    assert part.places["functions over 60 lines"] == found


def test_function_of_cpp_and_long_file_are_named(tmp_path):
    body = "  x += 1;\n" * 500
    part = measure_house.sizes(write(tmp_path, {"kernels/f.cpp": f"int f(int x) {{\n{body}}}\n"}))
    assert part.places["functions over 60 lines"] == ["502 kernels/f.cpp:1 f"]
    assert part.places["files over 500 lines"] == ["502 kernels/f.cpp"]


def repeated(count, between=""):
    return "".join(f"  row[{k}] = weigh({k});\n{between}" for k in range(count))


def test_run_of_six_equal_lines_is_a_pair(tmp_path):
    thin = "\n  // why\n  }\n#include <map>\n"
    changes = {
        "kernels/engine/base/f.hpp": "int a;\n" + repeated(7),
        "tests/kernels/f_test.cpp": "int b;\n" + repeated(7, thin) + "int c;\n",
    }
    part = measure_house.duplicates(write(tmp_path, changes))
    assert list(part.places.values()) == [
        ["7 lines kernels/engine/base/f.hpp:2-8 ~ tests/kernels/f_test.cpp:2-32"]
    ]


def test_two_runs_of_the_same_files_are_one_pair(tmp_path):
    text = repeated(6) + "int {0};\n" + repeated(12)
    changes = {f"kernels/engine/{name}.hpp": text.replace("{0}", name) for name in "ab"}
    part = measure_house.duplicates(write(tmp_path, changes))
    (places,) = part.places.values()
    same = [place for place in places if "a.hpp" in place and "b.hpp" in place]
    assert same == ["12 lines kernels/engine/a.hpp:8-19 ~ kernels/engine/b.hpp:8-19 and 3 more"]


@pytest.mark.parametrize("change", [lambda text: text.replace("5", "x"), lambda text: ""])
def test_five_equal_lines_are_no_pair(tmp_path, change):
    changes = {
        "kernels/engine/f.hpp": repeated(6),
        "kernels/engine/g.hpp": change(repeated(6)),
        "gpu_envs/a.py": "import os\n" * 9,
        "gpu_envs/b.py": "import os\n" * 9,
    }
    (number,) = measure_house.duplicates(write(tmp_path, changes)).numbers.values()
    assert number == 0


def test_comments_are_lines_of_their_own_and_docstrings(tmp_path):
    changes = {
        "kernels/spatial/grid.hpp": '// what\n/* why\n\n and how */\nint x;  // [m]\n"// no";\n',
        "tests/test_f.py": '"""What."""\n\nx = "# no"\ny = 1  # [m]\n# why\n',
    }
    density = measure_house.comments(write(tmp_path, changes)).numbers
    assert density["kernels/spatial"] == 3 / 2
    assert density["tests"] == 2 / 2
    assert density["kernels/physics"] == 0
    assert "kernels/envs/maze" not in density


OWN = (
    "kernels/envs/pole.hpp",
    "tests/envs/test_pole.py",
    "tests/kernels/envs/pole_test.cpp",
    "tests/golden/long/pole.txt",
    "gpu_envs/catalogue/pole.json",
    "docs/pole.md",
    "changes/pole.added.md",
    "README.md",
)
STRANGERS = {
    "gpu_envs/a.py": "x = 'Pole-v0'\n",
    "scripts/b.py": "import pole\n",
    "pyproject.toml": 'name = "Pole"\n',
    "kernels/envs/maze/walls.hpp": '#include "envs/pole.hpp"\n',
}
INNOCENT = {
    "gpu_envs/c.py": '"""As Pole-v0."""\nPoles = flagpole = pole_count = 1  # Pole\n',
    "kernels/engine/f.hpp": "// as in Pole, pole.hpp\n",
    "constraints.txt": "pole-vault==1.0\n",
}


def test_files_that_name_an_environment_are_listed_but_for_its_own(tmp_path):
    own = dict.fromkeys(OWN, 'Build<"Pole-v0">  pole\n')
    examples = {
        "tests/contract/test_golden.py": "x = 'Pole-v0'\n",
        "examples/a.py": "import pole\n",
    }
    part = measure_house.names(write(tmp_path, {**own, **STRANGERS, **INNOCENT, **examples}))
    assert sorted(part.places["Pole"]) == sorted(STRANGERS)
    assert part.numbers["Pole, as an example in tests"] == 2
    assert part.numbers["Maze"] == 0
    assert part.numbers["all"] == 4


def test_tasks_of_a_family_are_environments(tmp_path):
    changes = {
        "kernels/envs/town/roads.hpp": "int road();\n",
        "kernels/envs/town/tasks/flee.hpp": 'Build<"Flee-v0">;\n',
        "scripts/a.py": "x = 'Flee-v0'\n",
    }
    part = measure_house.names(write(tmp_path, changes))
    assert part.places["Flee"] == ["scripts/a.py"]
    assert "roads" not in part.places


def test_lines_of_code_are_counted_by_top_folder(tmp_path):
    numbers = measure_house.lines_of_code(
        write(tmp_path, {"scripts/run": "#!/bin/sh\n\nls\n"})
    ).numbers
    assert numbers == {"kernels": 13, "gpu_envs": 3, "scripts": 1, "tests": 0, "all": 17}


def test_templates_and_overloads_of_stage_are_counted(tmp_path):
    changes = {
        "kernels/envs/maze/walls.hpp": "// template\ntemplate <class T>\nauto f(T t) {\n"
        "  return t.template get<template_of<T>>() + t.template g<T>();\n}\n",
        "kernels/engine/base/types.hpp": "template <class T>\nvoid stage(T t) {}\n"
        "void stage(int x) {\n  stage(x);\n}\nvoid stages() {}\n",
    }
    part = measure_house.forms(write(tmp_path, changes))
    assert part.numbers["`template` in kernels/envs"] == 3
    assert part.numbers["lines with `template` in kernels/envs"] == 2
    assert part.places["lines with `template`, by file"] == ["2 kernels/envs/maze/walls.hpp"]
    assert part.places["overloads of `stage` in kernels/engine"] == [
        "kernels/engine/base/types.hpp:1",
        "kernels/engine/base/types.hpp:3",
    ]


def test_foreign_phrases_and_texts_that_lean_on_others_are_counted_by_place(tmp_path):
    parameter = {"name": "mass", "doc": f"{SAME_OF} boxes"}
    pole = [{"id": "Pole-v0", "doc": "Balance.", "parameters": [parameter]}]
    changes = {
        "kernels/physics/joints.hpp": f"// drawn {ANEW}\n",
        "gpu_envs/catalogue/pole.json": json.dumps(pole),
    }
    part = measure_house.words(write(tmp_path, changes))
    assert part.numbers == {
        plain_words.CATALOGUE: 1,
        plain_words.ALONE: 1,
        "kernels/physics": 1,
        "all": 3,
    }
    assert part.places["kernels/physics"] == [f"kernels/physics/joints.hpp:1 {ANEW}"]


def test_measuring_needs_no_package_and_none_that_is_installed(tmp_path):
    write(tmp_path)
    command = [sys.executable, "-I", "-S", measure_house.__file__, tmp_path, "--numbers"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "rooms of the engine" in done.stdout


def measure(*arguments):
    command = [sys.executable, measure_house.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commit(folder):
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", folder, *command], check=True)


def test_revision_and_folder_before_say_the_same(tmp_path):
    before, now = tmp_path / "before", tmp_path / "now"
    write(before)
    write(now)
    commit(now)
    (now / "kernels/physics/joints.hpp").write_text("int joint();\nint b();\nint c();\n")
    by_revision, by_folder = measure(now, "--against", "HEAD"), measure(now, "--against", before)
    assert by_revision == by_folder
    lines = by_revision.splitlines()
    assert lines[0].split() == ["before", "after"]
    assert ["kernels", "13", "14"] in [line.split() for line in lines]
    assert "-  3 physics: engine/world" in lines
    assert "+  1 physics" in lines


def test_report_is_text_markdown_and_json(tmp_path):
    write(tmp_path)
    text, markdown = measure(tmp_path), measure(tmp_path, "--markdown", "--numbers")
    assert ["floors", "4"] in [line.split() for line in text.splitlines()]
    assert markdown.splitlines()[:2] == ["|  | now |", "| --- | ---: |"]
    assert "| floors | 4 |" in markdown
    assert "right beneath" in text and "right beneath" not in markdown
    found = json.loads(measure(tmp_path, "--json"))
    assert found["now"]["sizes"]["numbers"]["functions"] == 0


def test_unknown_revision_is_refused(tmp_path):
    write(tmp_path)
    with pytest.raises(subprocess.CalledProcessError) as problem:
        measure(tmp_path, "--against", "nowhere")
    assert "nowhere is neither a folder nor a revision" in problem.value.stderr
