"""scripts/house/python_imports.py finds circles where they hide, and floors of rooms."""

import pytest

from scripts.house.python_imports import imports, python_rooms

HOUSE = {
    "gpu_envs/__init__.py": "from gpu_envs.vector import step\n",
    "gpu_envs/vector.py": "from . import spaces\n",
    "gpu_envs/spaces.py": "import numpy\n",
}
LATE = "def f():\n    from gpu_envs.vector import step\n"
TYPED = "if TYPE_CHECKING:\n    from gpu_envs.vector import step\nelse:\n    step = 1\n"
CIRCLE = ["gpu_envs.spaces - gpu_envs.vector"]


@pytest.mark.parametrize(
    ("text", "at_load", "late", "typed"),
    [
        ("import numpy\n", [], [], []),
        ("from . import vector\n", CIRCLE, CIRCLE, CIRCLE),
        (LATE, [], CIRCLE, CIRCLE),
        (TYPED, [], [], CIRCLE),
        ("def f():\n    if TYPE_CHECKING:\n        from . import vector\n", [], [], CIRCLE),
    ],
)
def test_circle_is_counted_by_the_kind_of_import_that_closes_it(plant, text, at_load, late, typed):
    tree = plant(HOUSE | {"gpu_envs/spaces.py": text})
    part, rooms = imports(tree), python_rooms(tree)
    assert part.places["circles of modules"] == at_load
    assert part.places["circles of modules, late imports too"] == late
    assert part.places["circles of modules, late and type imports too"] == typed
    of_rooms = [[one.replace("gpu_envs.", "") for one in found] for found in (at_load, late, typed)]
    assert of_rooms == [
        rooms.places["circles of rooms"],
        rooms.places["circles of rooms, late imports too"],
        rooms.places["circles of rooms, late and type imports too"],
    ]


def test_circle_that_only_a_late_import_avoids_is_found(plant):
    late = "def f():\n    from gpu_envs.vector import step\n"
    checked = "if TYPE_CHECKING:\n    from gpu_envs.vector import step\n"
    part = imports(plant(HOUSE | {"gpu_envs/spaces.py": late + checked}))
    assert part.places["circles of modules"] == []
    assert part.places["late imports that would close a circle"] == [
        "gpu_envs/spaces.py:2 imports gpu_envs.vector"
    ]


def test_circle_of_modules_is_found(plant):
    part = imports(plant(HOUSE | {"gpu_envs/spaces.py": "from . import vector\n"}))
    assert part.places["circles of modules"] == ["gpu_envs.spaces - gpu_envs.vector"]


def test_circle_of_packages_is_found_where_modules_have_none(plant):
    changes = {
        "gpu_envs/train/__init__.py": "from ..spaces import size\n",
        "gpu_envs/vector.py": "from . import train\n",
    }
    part = imports(plant(HOUSE | changes))
    assert part.places["circles of modules"] == []
    assert part.places["circles of packages"] == ["gpu_envs - gpu_envs.train"]


def test_folders_and_loose_modules_are_rooms_and_the_doors_are_not(plant):
    changes = {
        "gpu_envs/__main__.py": "from gpu_envs import commands\n",
        "gpu_envs/core/__init__.py": "",
        "gpu_envs/core/arrays.py": "from gpu_envs import spaces\n",
        "gpu_envs/core/split.py": "from . import arrays\n",
        "gpu_envs/commands/play.py": "from ..core.split import parts\nfrom .. import vector\n",
    }
    part = python_rooms(plant(HOUSE | changes))
    assert part.numbers["rooms"] == 4
    assert part.numbers["floors"] == 3
    assert part.numbers["arrows"] == 4
    assert part.places["loose modules at the root"] == ["gpu_envs/spaces.py", "gpu_envs/vector.py"]
    assert part.places["rooms: floor, name"] == [" 1 spaces", " 2 core", " 2 vector", " 3 commands"]
