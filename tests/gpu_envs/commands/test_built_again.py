"""Damaged and edited files where sources are at hand: a tree, and a header of the user's own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from damages import WAYS, damaged

from gpu_envs.building import labels, places
from gpu_envs.known import native

COUNTER = Path(__file__).parents[1] / "building" / "counter.hpp"
pytestmark = pytest.mark.xdist_group("damaged files")  # whose package is made once

STEP = """
import gpu_envs
env = gpu_envs.make_vec("Counter-v0", 2, device="cpu")
env.reset(seed=0)
print(env.step([1, 1])[1].tolist())
"""


@pytest.fixture(scope="module")
def mine(package_with_data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A header of the user's own, built beside an installed package."""
    header = tmp_path_factory.mktemp("mine") / "counter.hpp"
    shutil.copyfile(COUNTER, header)
    done = package_with_data.command("build", str(header))
    assert done.returncode == 0, done.stderr
    return header


def _module(package) -> Path:
    (found,) = package.cache.glob("*/*.so")
    return found


def test_a_damaged_module_of_ones_own_header_is_built_again(package_with_data, mine) -> None:
    package = package_with_data
    module = _module(package)
    for way in ("flipped", "another's", "empty"):
        with damaged(module, way, seed=1):
            done = package.run(STEP)
            assert done.stdout == "[1.0, 1.0]\n", done.stderr
            labels.verify(module)
    with damaged(module, "flipped", seed=1):
        assert package.command("build", str(mine)).returncode == 0
        labels.verify(module)


def test_a_damaged_label_is_no_older_module(package_with_data, mine) -> None:
    module = _module(package_with_data)
    kept = module.read_bytes()
    at = kept.rindex(b'"inputs"')
    module.write_bytes(kept[:at] + b"!" + kept[at + 1 :])
    attempt = "import gpu_envs\ntry: gpu_envs.make_vec('Counter-v0', 2, device='cpu')\n"
    attempt += "except ImportError as problem: raise SystemExit(problem)"
    said = package_with_data.run(attempt, CXX="no-such-g++").stderr.splitlines()[-1]
    module.write_bytes(kept)
    assert said.startswith(f"{module} is damaged: ") and "apt install g++" in said


def test_one_that_cannot_be_built_again_says_why_and_what_to_do(package_with_data, mine) -> None:
    package = package_with_data
    module = _module(package)
    attempt = STEP.replace("env =", "try: env =").replace(
        "\nenv.reset", "\nexcept ImportError as problem: raise SystemExit(problem)\nenv.reset"
    )
    with damaged(module, "flipped", seed=1):
        said = package.run(attempt, CXX="no-such-g++").stderr.splitlines()[-1]
        assert said.startswith(f"{module} is damaged: ") and "apt install g++" in said
        assert f"`python -m gpu_envs build {mine}` rebuilds it" in said
    os.rename(mine, mine.with_suffix(".gone"))
    with damaged(module, "flipped", seed=1):
        said = package.run(attempt).stderr.splitlines()[-1]
    os.rename(mine.with_suffix(".gone"), mine)
    assert said.startswith(f"{module} is damaged: ")
    assert f"it cannot be rebuilt, since {mine} does not exist" in said


@pytest.mark.slow
def test_engine_bindings_and_modules_of_a_tree_are_built_again(tree) -> None:
    target = native.cpu_target()
    files = (
        places.engine_file(target, tree.modules),
        places.bindings_file(target, tree.modules),
        tree.module("cartpole"),
    )
    program = "import gpu_envs\nprint(gpu_envs.Simulator('CartPole-v0', 1, device='cpu').name)"
    for file in files:
        with damaged(file, "flipped"):
            done = tree.run(program, CXXFLAGS="")  # whose objects the store has
            assert done.stdout == "CartPole-v0\n", done.stderr
            assert f"gpu_envs: {file} is damaged" in done.stderr
            labels.verify(file)


ASSETS = """
import gpu_envs
print(gpu_envs.Simulator("CovidEconomy-v0", 1, device="cpu").instance["assets"])
"""


def test_an_edited_data_file_of_a_tree_needs_no_compiler(tree_with_data) -> None:
    module = tree_with_data.module("covid_economy")
    data = tree_with_data.root / "kernels/envs/covid_economy/data/covid_economy.bin"
    before = labels.read(module)
    whole = tree_with_data.run(ASSETS, CXX="no-such-g++")
    assert whole.returncode == 0, whole.stderr
    content = bytearray(data.read_bytes())
    content[-1] ^= 1  # of a number
    data.write_bytes(content)
    edited = tree_with_data.run(ASSETS, CXX="no-such-g++")
    assert edited.returncode == 0, edited.stderr
    assert edited.stdout != whole.stdout and "build" not in edited.stderr
    after = labels.verify(module)
    assert after.data == before.data | {data.name: labels.hash_of(bytes(content))}
    assert (after.inputs, after.made) == (before.inputs, before.made)


def test_data_edited_under_a_loaded_module_holds_for_the_next_make(tree_with_data) -> None:
    data = tree_with_data.root / "kernels/envs/covid_economy/data/covid_economy.bin"
    again = f"""
from pathlib import Path
content = bytearray(Path({str(data)!r}).read_bytes())
content[-1] ^= 1
Path({str(data)!r}).write_bytes(content)
"""
    done = tree_with_data.run(ASSETS + again + ASSETS)
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_module_of_ones_own_header_damaged_in_any_way(package_with_data, mine, way) -> None:
    module = _module(package_with_data)
    with damaged(module, way):
        done = package_with_data.run(STEP)
    if way == "a folder":  # whose content may be somebody's
        assert f"{module} is a folder where a built file belongs: delete it" in done.stderr
    else:
        assert done.stdout == "[1.0, 1.0]\n", done.stderr
