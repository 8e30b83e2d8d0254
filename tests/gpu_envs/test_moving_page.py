"""docs/moving.md and examples/moving: the scripts learn, and the page's diffs are theirs.

A diff of the page, applied the other way round to a script, gives the script for the other library.
That one is compiled, and run where the library is installed.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "moving.md"
SCRIPTS = {file.stem: file for file in sorted((ROOT / "examples" / "moving").glob("*.py"))}


def diff_of(name: str) -> str:
    """Return the diff that the page shows of a script."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"`examples/moving/{name}.py` ")
    shown = re.search(r"^```diff\n(.*?)^```", rest, re.M | re.S)
    assert shown is not None
    return shown[1]


def before(script: str, diff: str) -> str:
    """Take the hunks of a diff, which are separated by empty lines, out of a script, in order."""
    place = 0
    for hunk in diff.rstrip("\n").split("\n\n"):
        lines = hunk.split("\n")
        assert all(line[:1] in ("+", "-", " ") for line in lines), hunk
        new = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
        old = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
        places = [found.start() for found in re.finditer(f"^{re.escape(new)}", script, re.M)]
        assert len(places) == 1 and places[0] >= place, hunk
        script = script[: places[0]] + old + script[places[0] + len(new) :]
        place = places[0] + len(old)
    return script


def module_of(source: str, name: str) -> ModuleType:
    """Run the top of a script, not its `main`."""
    module = ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module


def played(name: str, source: str, steps: int) -> float:
    """Run a script cut short, and return what it reached."""
    if "import torch" in source:
        pytest.importorskip("torch", reason="needs gpu_envs[train]")
    reached: float = module_of(source, name).main(["--steps", str(steps)])
    return reached


def test_page_shows_every_script_and_no_other() -> None:
    named = re.findall(r"^`examples/moving/(\w+)\.py` ", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(named) == sorted(SCRIPTS)


# Steps of a short run, and what it reaches at least; untrained: 22, 16 and -0.01.
SHORT = {
    "envpool_search": (60_000, 100.0),
    "gymnasium_ppo": (16_000, 40.0),
    "pufferlib_tag": (150_000, 0.03),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_that_is_cut_short_has_begun_to_learn(name: str) -> None:
    steps, least = SHORT[name]
    assert played(name, SCRIPTS[name].read_text(encoding="utf-8"), steps) > least


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_before_the_move_is_python_without_this_package(name: str) -> None:
    old = before(SCRIPTS[name].read_text(encoding="utf-8"), diff_of(name))
    compile(old, name, "exec")
    body = old.partition('"""\n\nfrom')[2]  # below the text on top
    assert "gpu_envs" not in body
    assert max(map(len, old.splitlines())) <= 100


LIBRARIES = {
    "envpool_search": ("envpool",),
    "gymnasium_ppo": ("array_api_compat",),
    "pufferlib_tag": ("pufferlib", "pygame"),
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_script_before_the_move_runs_on_its_library(name: str) -> None:
    for library in LIBRARIES[name]:
        pytest.importorskip(library, reason=f"needs {library}")
    old = before(SCRIPTS[name].read_text(encoding="utf-8"), diff_of(name))
    played(name, old, SHORT[name][0] // 4)


@pytest.mark.parametrize(
    "wrong", ["+gone;\n", " twice;\n+new;\n", "+last;\n\n+first;\n", "+first;\n also;\n"]
)
def test_diff_that_fits_nowhere_twice_or_out_of_order_is_refused(wrong: str) -> None:
    script = "top;\nfirst;\ntwice;\nnew;\ntwice;\nnew;\nlast;\n"
    with pytest.raises(AssertionError):
        before(script, wrong)
    right = "-old;\n+first;\n\n-more;\n last;\n"
    assert before(script, right) == "top;\nold;\ntwice;\nnew;\ntwice;\nnew;\nmore;\nlast;\n"
