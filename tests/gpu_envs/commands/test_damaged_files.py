"""Damaged files of an installed package: the same bits, or a refusal that names the file.

Never a crash, a process that waits, or other bits.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from damages import WAYS, damaged

from gpu_envs.building import places
from gpu_envs.known import native

SECONDS = 60  # after which a process is taken for one that waits
pytestmark = pytest.mark.xdist_group("damaged files")  # whose package is made once

# Everything that a file can change: worlds, what a simulator says, what is known without one.
PLAY = """
import gymnasium, hashlib, json, sys
import gpu_envs
from gpu_envs.known import measures, native, registration

def play(name):
    native.prepare("cpu", name)
    made = native.make("cpu", name, 2, threads=1)
    limit = gymnasium.spec(f"gpu_envs/{name}").max_episode_steps
    told = made.instance, limit, registration.find(name), measures.measures_of(name)
    return *made.golden(5, 0), hashlib.sha256(json.dumps(told).encode()).hexdigest()

for name in sys.argv[1:]:
    try:
        print(name, *play(name))
    except Exception as problem:
        print(name, "refused:", *str(problem).split())
"""
NAMES = ("CartPole-v0", "CovidEconomy-v0")


def _play(package, *names: str, **environment: str) -> tuple[dict[str, str], str]:
    """Return what became of each environment, and what was said beside it."""
    with package.start("-c", PLAY, *names, **environment) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, err
    return dict(line.split(" ", 1) for line in out.splitlines()), err


@pytest.fixture(scope="module")
def whole(package_with_data) -> dict[str, str]:
    found, err = _play(package_with_data, *NAMES)
    assert set(found) == set(NAMES) and not err
    assert not any("refused" in line for line in found.values())
    return found


def _files(package) -> dict[str, Path]:
    """Return files of each kind by a word for the test's name."""
    root, target = package.root / "gpu_envs", native.cpu_target()
    return {
        "engine": places.engine_file(target, package.modules),
        "bindings": places.bindings_file(target, package.modules),
        "module": package.module("cartpole"),
        "other module": package.module("covid_economy"),
        "data": places.kept_data(package.module("covid_economy")) / "covid_economy.bin",
        "catalogue": root / "catalogue" / "cartpole.json",
        "other catalogue": root / "catalogue" / "covid_economy.json",
        "measures": root / "kernels/envs/covid_economy/covid_economy.measures.json",
        "manifest": root / "manifest.json",
        "engine's header": root / "kernels/engine/base/types.hpp",
        "scene": root / "kernels/pictures/scene.hpp",
        "physics": root / "kernels/physics/contacts.hpp",
        "flags": root / "kernels/flags.txt",
    }


FILES = (
    *("engine", "bindings", "module", "other module", "data", "catalogue", "other catalogue"),
    *("measures", "manifest", "engine's header", "scene", "physics", "flags"),
)
UNUSED = {"physics"}  # by play; `build` reads it
QUICK = {("module", "another's"), ("data", "flipped"), ("catalogue", "flipped")}


def _cases() -> list[object]:
    """Every file in every way; a few are quick enough for each run of the tests."""
    marks = {True: (), False: pytest.mark.slow}
    cases = itertools.product(FILES, WAYS)
    return [pytest.param(*case, marks=marks[case in QUICK]) for case in cases]


@pytest.mark.parametrize(("kind", "way"), _cases())
def test_a_damaged_file_is_named_or_changes_nothing(package_with_data, whole, kind, way) -> None:
    file = _files(package_with_data)[kind]
    with damaged(file, way):
        found, err = _play(package_with_data, *NAMES)
    refused = {name for name, line in found.items() if line.startswith("refused: ")}
    for name in NAMES:
        assert name in refused or found[name] == whole[name], name
    if refused:
        assert any(str(file) in found[name] for name in refused) or str(file) in err
        assert all("install gpu_envs again" in found[name] for name in refused)
    assert bool(refused) == (kind not in UNUSED), found
    assert "Traceback" not in err


FLIPS = """
import random, sys
from pathlib import Path
import gpu_envs

file, chance = Path(sys.argv[1]), random.Random(0)
whole = file.read_bytes()
for _ in range(30):
    data = bytearray(whole)
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    try:
        gpu_envs.Simulator("CovidEconomy-v0", 1, device="cpu")
        print("made")
    except ValueError as problem:
        print(problem)
file.write_bytes(whole)
gpu_envs.Simulator("CovidEconomy-v0", 1, device="cpu")
"""


def test_every_flipped_bit_of_a_data_file_is_noticed_and_named(package_with_data) -> None:
    file = _files(package_with_data)["data"]
    with package_with_data.start("-c", FLIPS, str(file)) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert out.splitlines() == 30 * [
        f"CovidEconomy-v0: assets: the file '{file}' is damaged: its content is not the one on "
        "the label of its module: install gpu_envs again"
    ]


def _check_words(package, file: Path, *command: str) -> int:
    done = package.command(*command)
    assert "Traceback" not in done.stderr, done.stderr
    assert str(file) in done.stdout + done.stderr, command
    return done.returncode


def test_commands_name_a_damaged_catalogue_in_words(package_with_data) -> None:
    file = _files(package_with_data)["catalogue"]
    with damaged(file, "truncated"):
        assert _check_words(package_with_data, file, "list") == 0  # the others
        assert _check_words(package_with_data, file, "info", "CartPole-v0") == 2
        assert _check_words(package_with_data, file, "doctor") == 1
    assert "ok  all files are as they were" in package_with_data.command("doctor").stdout


@pytest.mark.slow
def test_commands_name_a_damaged_module_in_words(package_with_data) -> None:
    file = _files(package_with_data)["module"]
    commands = (("info",), ("play",), ("render", "--out", "x.png"))
    with damaged(file, "flipped"):
        assert _check_words(package_with_data, file, "doctor") == 1
        for name, *options in commands:
            assert _check_words(package_with_data, file, name, "CartPole-v0", *options) > 0


def test_the_doctor_names_a_damaged_python_file(package_with_data) -> None:
    file = package_with_data.root / "gpu_envs" / "commands" / "videos.py"
    with damaged(file, "longer"):
        done = package_with_data.command("doctor")
    assert done.returncode == 1
    assert f"!!  {file} is damaged" in done.stdout
