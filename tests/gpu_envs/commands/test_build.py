"""`python -m gpu_envs build`, and environments of headers outside the tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from damages import damaged

from gpu_envs.building import kept, outside, places, upkeep
from gpu_envs.commands import build
from gpu_envs.known import native, registration

COUNTER = Path(__file__).parents[1] / "building" / "counter.hpp"
FAMILY = Path(__file__).parents[2] / "kernels" / "envs" / "maze"

MAKE = textwrap.dedent("""
    import gymnasium, gpu_envs
    from gpu_envs.__main__ import main
    one = gymnasium.make("gpu_envs/Counter-v0", device="cpu")
    one.reset(seed=0)
    (batch := gymnasium.make_vec("gpu_envs/Counter-v0", num_envs=2, device="cpu")).reset(seed=0)
    print(one.step(1)[1], batch.step([1, 1])[1].tolist())
    main(["list"])
    main(["info", "Counter-v0"])
""")


def _snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def _header(tmp_path: Path, name: str = "counter.hpp") -> Path:
    folder = tmp_path / "mine"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(COUNTER, folder / name)
    return folder / name


def test_a_header_elsewhere_lives_beside_an_installed_package(package, tmp_path) -> None:
    header = _header(tmp_path)
    before = _snapshot(package.root)
    done = package.command("build", str(header))
    assert done.returncode == 0, done.stderr
    assert "Counter-v0 can be made: gymnasium.make_vec('gpu_envs/Counter-v0')" in done.stdout
    made = package.run(MAKE)
    assert made.stdout.startswith("1.0 [1.0, 1.0]\n"), made.stderr
    assert "\ngpu_envs/Counter-v0 " in made.stdout
    assert "A number that grows." in made.stdout

    text = header.read_text().replace("1.0f", "3.0f").replace("that grows.", "that leaps.")
    header.write_text(text)
    made = package.run(MAKE)
    assert made.stdout.startswith("3.0 [3.0, 3.0]\n"), made.stderr
    assert "A number that leaps." in made.stdout

    header.unlink()
    made = package.run(MAKE)
    assert made.stdout.startswith("3.0 [3.0, 3.0]\n"), made.stderr
    assert made.stderr == ""

    assert package.command("build", "--forget", str(header)).returncode == 0
    assert "Counter-v0" not in package.command("list").stdout
    again = package.command("build", "--forget", str(header))
    assert again.returncode == 1
    assert "has no module in" in again.stderr
    assert _snapshot(package.root) == before


PLAY = textwrap.dedent("""
    import gpu_envs
    for name in ("Reach-v0", "Gather-v0"):
        one = gpu_envs.Simulator(name, 1, device="cpu")
        one.reset(seed=0)
        print(name, one.instance["assets"], one.step([0] * one.agents_per_world).reward.tolist())
""")


def test_a_family_elsewhere_shares_headers_and_data(package, tmp_path) -> None:
    family = tmp_path / "mine"
    shutil.copytree(FAMILY, family)
    done = package.command("build", str(family))
    assert done.returncode == 0, done.stderr
    assert "Gather-v0 can be made" in done.stdout
    assert "Reach-v0 can be made" in done.stdout
    first = package.run(PLAY)
    assert first.returncode == 0, first.stderr
    _, assets, reward = first.stdout.splitlines()[0].split(" ", 2)
    assert assets in first.stdout.splitlines()[1]  # of one file and the same parameters
    assert reward == "[[1.5]]"

    # What is edited of the data alone is read at once and kept, and what is kept is looked at.
    mazes = family / "data" / "mazes.bin"
    content = mazes.read_bytes()
    mazes.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    edited = package.run(PLAY)
    assert edited.stderr == "" and assets not in edited.stdout
    family.rename(tmp_path / "away")
    assert package.run(PLAY).stdout == edited.stdout
    (kept,) = package.cache.glob("*/reach-*.data/mazes.bin")
    with damaged(kept, "flipped"):
        refused = package.run(PLAY).stderr.splitlines()[-1]
    reach = family / "tasks" / "reach.hpp"
    assert f"the file '{kept}' is damaged" in refused
    assert refused.endswith(f"put {reach} back and `python -m gpu_envs build {reach}`")
    (tmp_path / "away").rename(family)

    # Data is read where it lies, a shared header rebuilds its tasks, and both outlive their folder.
    (family / "data" / "mazes.bin").write_bytes(bytes(96))
    shared = family / "maze.hpp"
    shared.write_text(shared.read_text().replace("richness = 3", "richness = 4"))
    second = package.run(PLAY)
    assert second.stderr.count(": built ") == 2, second.stderr
    assert "[[2.0]]" in second.stdout
    assert assets not in second.stdout
    shutil.rmtree(family)
    third = package.run(PLAY)
    assert third.stdout == second.stdout, third.stderr

    empty = tmp_path / "empty"
    empty.mkdir()
    refused = package.command("build", str(empty))
    assert refused.returncode == 1
    assert f"{empty} has no environment: one is <name>.hpp" in refused.stderr


def test_a_mistake_in_a_header_is_told_in_few_lines(package, tmp_path) -> None:
    header = _header(tmp_path)
    text = header.read_text().replace("float sum;\n", "float sum, more;\n", 1)  # a field left out
    header.write_text(text)
    done = package.command("build", str(header))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("error: compiling "))
    assert "GE:" in lines[first + 1]
    assert "counter.hpp:" in done.stderr
    assert len(lines) < 50
    assert "Traceback" not in done.stderr
    assert not list(package.cache.rglob("*.so"))


REFUSED = [
    ('  static constexpr const char* name = "counter";\n', "", "a table says what its columns are"),
    ('"Counter-v0"', '"Counter"', "an id is a name and a version, such as CartPole-v0"),
    ('"Counter-v0"', '"Counter-v"', "an id is a name and a version"),
    ("Build<", 'Build<"Counter-v0", Environment>, Build<', "an id stands twice in Builds"),
    ("  static constexpr bool transient = true;\n", "", "an action is of one step"),
    (
        "struct Total {\n  float sum",
        "struct Total {\n  int32_t sum",
        "a whole number of a persistent",
    ),
    (
        'of all actions")); }',
        'of all actions").row_of("no")); }',
        '.row_of("name") names no table',
    ),
]


@pytest.mark.parametrize(("said", "instead", "message"), REFUSED)
def test_what_an_author_must_not_leave_out_is_asked_for(
    package, tmp_path, said: str, instead: str, message: str
) -> None:
    header = _header(tmp_path)
    text = header.read_text()
    assert said in text
    header.write_text(text.replace(said, instead))
    done = package.command("build", str(header))
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("error: compiling "))
    assert f"GE: {message}" in lines[first + 1]
    assert len(lines) < 50


def test_a_header_elsewhere_leaves_nothing_in_a_tree(tree, tmp_path) -> None:
    header = _header(tmp_path, "tally.hpp")
    text = header.read_text().replace("Counter-v0", "Tally-v0")
    header.write_text(text.replace("envs::counter", "envs::tally").replace("counter::", "tally::"))
    objects = Path(tree.environment["GPU_ENVS_BUILD_DIR"])
    (tree.root / "build").symlink_to(objects)
    before = _snapshot(tree.root), _snapshot(objects)
    words = ["--target", native.cpu_target(), str(header)]
    unset = {"GPU_ENVS_BUILD_DIR": "", "GPU_ENVS_CUDA": "", "GPU_ENVS_STORE": str(tmp_path / "s")}
    done = tree.command("build", *words, **unset)
    assert done.returncode == 0, done.stderr
    assert (_snapshot(tree.root), _snapshot(objects)) == before
    assert list((tree.cache / "build" / "units").glob("tally*.cpp"))
    assert list((tmp_path / "s" / "objects").glob("*.o"))


@pytest.mark.slow
def test_a_path_of_any_letters_is_built_and_followed(package, tmp_path) -> None:
    folder = tmp_path / "a b$HOME#'c,üß\\d"
    folder.mkdir()
    header = folder / "counter.hpp"
    header.write_text(COUNTER.read_text().replace("#pragma once", '#include "more.hpp"'))
    (folder / "more.hpp").write_text("#pragma once\n")
    cache = {"GPU_ENVS_CACHE": str(folder / "cache"), "GPU_ENVS_STORE": str(folder / "store")}
    done = package.command("build", str(header), GPU_ENVS_BUILD_DIR="", **cache)
    assert done.returncode == 0, done.stderr
    (folder / "more.hpp").write_text("#pragma once\n// more\n")
    made = package.run(MAKE, GPU_ENVS_BUILD_DIR="", **cache)
    assert made.stdout.startswith("1.0 [1.0, 1.0]\n"), made.stderr
    assert "building counter" in made.stderr


def test_functions_of_libm_are_refused_with_file_and_line(package, tmp_path) -> None:
    header = _header(tmp_path)
    shared = header.parent / "waves.hpp"
    shared.write_text("#include <cmath>  // std::sin(x) is not code here\n")
    text = header.read_text().replace(
        '#include "engine/environment.hpp"',
        '#include "engine/environment.hpp"\n#include "waves.hpp"',
    )
    header.write_text(text.replace("total.sum + 1.0f", "total.sum + std::sin(1.0f)"))
    done = package.command("build", str(header))
    assert done.returncode == 1
    number = 1 + header.read_text()[: header.read_text().index("std::sin")].count("\n")
    assert f"counter.hpp:{number}: GE: `std::sin(`: use engine/maths/math.hpp" in done.stderr
    assert "waves.hpp:1: GE: `#include <cmath>`" in done.stderr
    assert "gpu_envs: building" not in done.stderr


def test_a_syntax_error_names_file_and_line(package, tmp_path) -> None:
    header = _header(tmp_path)
    lines = header.read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if "int32_t amount" in line)
    lines[at] = "  int32_t amount"
    header.write_text("\n".join(lines))
    done = package.command("build", str(header))
    assert done.returncode == 1
    assert f"counter.hpp:{at + 1}:" in done.stderr
    assert len(done.stderr.splitlines()) < 50


@pytest.mark.slow
def test_headers_of_one_name_live_beside_each_other_but_not_with_one_id(package, tmp_path) -> None:
    one = _header(tmp_path)
    two = tmp_path / "other" / "counter.hpp"
    two.parent.mkdir()
    shutil.copyfile(one, two)
    assert package.command("build", str(one)).returncode == 0
    refused = package.command("build", str(two))
    assert refused.returncode == 1
    assert (
        f"{two} defines Counter-v0, which {one} defines already: choose another" in refused.stderr
    )
    two.write_text(two.read_text().replace("Counter-v0", "Tally-v0").replace("1.0f", "5.0f"))
    assert package.command("build", str(two)).returncode == 0
    made = package.run(
        "import gpu_envs\n"
        "for name in ('Counter-v0', 'Tally-v0'):\n"
        "    env = gpu_envs.make_vec(name, 1, device='cpu')\n"
        "    env.reset(seed=0)\n"
        "    print(env.step([1])[1])\n"
    )
    assert made.stdout.split() == ["[1.]", "[5.]"], made.stderr


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Modules of headers are empty files that say what the test wants."""
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GPU_ENVS_CUDA", "auto")
    monkeypatch.setattr(build, "_targets", lambda: [native.cpu_target()])
    ids: dict[Path, str | tuple[str, ...]] = {}

    def made(header: Path, target: str, *options: object) -> Path:
        file = outside.module_file(header, target)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return file

    def says(target: str, file: Path) -> list[dict[str, object]]:
        template = registration.find("CartPole-v0")
        found = ids[next(h for h in ids if outside.module_file(h, target) == file)]
        return [{**template, "id": name} for name in ([found] if isinstance(found, str) else found)]

    monkeypatch.setattr(outside, "build", made)
    monkeypatch.setattr(build, "_describe_apart", says)
    yield ids
    monkeypatch.undo()
    registration.refresh()


def _touched(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_an_id_of_the_package_is_refused(described, tmp_path, capsys) -> None:
    header = _touched(tmp_path / "mine.hpp")
    described[header] = "CartPole-v0"
    assert build.main([str(header)]) == 1
    assert capsys.readouterr().err == (
        f"error: {header} defines CartPole-v0, which gpu_envs has already: choose another\n"
    )
    assert kept.read()[0] == []
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_an_id_of_another_header_is_refused_and_names_it(described, tmp_path, capsys) -> None:
    one, two = _touched(tmp_path / "a" / "x.hpp"), _touched(tmp_path / "b" / "x.hpp")
    described[one] = described[two] = "Tally-v0"
    assert build.main([str(one)]) == 0
    assert build.main([str(one)]) == 0  # its own id is not a conflict
    capsys.readouterr()
    assert build.main([str(two)]) == 1
    assert f"{two} defines Tally-v0, which {one} defines already" in capsys.readouterr().err
    assert registration.home("Tally-v0").header == one
    described[two] = "Tally2-v0"
    assert build.main([str(two)]) == 0
    assert registration.home("Tally2-v0").header == two


FORM = "an id is <Name>-v<number> without a namespace, such as MyTask-v0"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mine/Task-v0", "which Gymnasium refuses"),
        ("gpu_envs/Task-v0", "which Gymnasium refuses"),
        ("My Env-v0", "which Gymnasium refuses"),
        ("Task-v0\n", "which Gymnasium refuses"),
        ("-v0", "which has no version"),
        ("Task", "which has no version"),
        ("Task-v", "which has no version"),
        ("Task-v-1", "which has no version"),
        ("Task-v01", "whose version is not a plain number"),
        ("mine:Task-v0", "whose `:` is for the name of a module in `gymnasium.make`"),
    ],
)
def test_an_id_that_gymnasium_refuses_is_not_kept(described, tmp_path, capsys, name, why) -> None:
    header = _touched(tmp_path / "mine.hpp")
    described[header] = name
    assert build.main([str(header)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {header} defines the id {name!r}, {why}: {FORM}")
    assert len(said.splitlines()) == 1
    _check_nothing_is_kept(tmp_path / "cache")


def _check_nothing_is_kept(cache: Path) -> None:
    assert kept.read() == ([], [])
    assert not [path for path in cache.rglob("*") if path.suffix in (".so", ".json", ".data")]


def test_two_ids_alike_and_a_name_of_the_package_are_refused(described, tmp_path, capsys) -> None:
    header = _touched(tmp_path / "mine.hpp")
    described[header] = "Twice-v0", "Twice-v0"
    assert build.main([str(header)]) == 1
    assert f"{header} defines the id 'Twice-v0' twice" in capsys.readouterr().err
    described[header] = "CartPole-v3"
    assert build.main([str(header)]) == 1
    assert "CartPole-v3, whose name belongs to CartPole-v0 of gpu_envs" in capsys.readouterr().err
    _check_nothing_is_kept(tmp_path / "cache")


def test_a_refused_edit_leaves_the_entry_that_was_kept(described, tmp_path, capsys) -> None:
    header = _touched(tmp_path / "mine.hpp")
    described[header] = "Mine-v0"
    assert build.main([str(header)]) == 0
    described[header] = "mine/Mine-v0"
    assert build.main([str(header)]) == 1
    assert registration.home("Mine-v0").header == header
    assert build.main(["--forget", str(header)]) == 0
    _check_nothing_is_kept(tmp_path / "cache")


BAD = {"not.json": "{", "id.json": '[{"id": []}]', "deep.json": "[" * 100000, "empty.json": ""}


def test_every_command_goes_on_where_entries_are_bad(tmp_path) -> None:
    """An import, `list`, `doctor` and `build --forget`, with one warning for each entry."""
    headers = tmp_path / "headers"
    headers.mkdir()
    for name, text in BAD.items():
        (headers / name).write_text(text)
    said = [{**registration.find("CartPole-v0"), "id": "mine/Task-v0"}]
    (headers / "id2.json").write_text(json.dumps({"header": "/x.hpp", "environments": said}))
    said = [registration.find("CartPole-v0")]
    (headers / "ours.json").write_text(json.dumps({"header": "/x.hpp", "environments": said}))

    def command(*words: str, python: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *python, "-m", "gpu_envs", *words],
            capture_output=True,
            text=True,
            env=os.environ | {"GPU_ENVS_CACHE": str(tmp_path)},
            check=False,
        )

    done = command("list")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + len(registration.environments())
    for name in [*BAD, "id2.json"]:
        assert done.stderr.count(f"gpu_envs leaves out {headers / name}: ") == 1
        assert f"build --forget {name}`" in done.stderr
    assert done.stderr.count("CartPole-v0 of /x.hpp is hidden by that of gpu_envs") == 1
    assert "not.json" in command("doctor").stdout
    for name in [*BAD, "id2.json", "ours.json"]:
        assert command("build", "--forget", name).returncode == 0
    assert list(headers.iterdir()) == []
    (headers / "not.json").write_text("{")
    done = command("build", "--forget", "not.json", python=("-W", "error"))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.count(f"gpu_envs leaves out {headers / 'not.json'}: ") == 1
    done = command("build", "--forget", "not.json")
    assert (done.returncode, done.stderr) == (1, f"error: not.json is not an entry in {tmp_path}\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-env.hpp", "the file's name must be a C++ identifier"),
        ("2048.hpp", "the file's name must be a C++ identifier"),
        ("absent.hpp", "does not exist"),
    ],
)
def test_a_header_that_cannot_be_is_refused_in_one_line(tmp_path, capsys, name, message) -> None:
    header = tmp_path / name
    if name != "absent.hpp":
        header.touch()
    assert build.main([str(header)]) == 1
    assert message in (printed := capsys.readouterr().err)
    assert len(printed.splitlines()) == 1


def test_a_cache_that_strangers_can_write_to_is_refused(package, tmp_path) -> None:
    package.cache.mkdir()
    package.cache.chmod(0o777)
    done = package.command("build", str(_header(tmp_path)))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {package.cache}")
    assert "write to it and put code there" in done.stderr
    assert not list(package.cache.rglob("*.so"))


def test_an_installed_package_builds_nothing_of_its_own(package) -> None:
    done = package.command("build", "CartPole-v0")
    assert done.returncode == 1
    assert done.stderr == (
        "error: an installed package is complete: pass a header of your own, such as my_env.hpp\n"
    )


def test_a_misspelt_id_is_answered_with_the_closest(capsys) -> None:
    assert build.main(["CartPol-v0"]) == 1
    assert "did you mean 'CartPole-v0'?" in capsys.readouterr().err


def test_a_bad_setting_is_refused(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA", "maybe")
    assert build.main(["CartPole-v0"]) == 1
    assert capsys.readouterr().err == "error: GPU_ENVS_CUDA must be auto, 1 or 0, got 'maybe'\n"


def test_the_catalogue_has_a_file_for_each_header_and_no_other() -> None:
    assert {path.name for path in places.CATALOGUE.iterdir()} == {
        f"{stem}.json" for stem in places.environments()
    }


def test_the_catalogue_is_what_built_modules_say() -> None:
    target = native.cpu_target()
    native.at(target, "CartPole-v0")
    built = [stem for stem in places.environments() if places.module_file(stem, target).exists()]
    assert "cartpole" in built
    for stem in built:
        if upkeep.is_current(places.module_file(stem, target), target):
            found = native.describe(target, places.module_file(stem, target))
            text = (places.CATALOGUE / f"{stem}.json").read_text(encoding="utf-8")
            assert registration.catalogue_text(found) == text, f"python -m gpu_envs build {stem}"


def test_building_in_a_tree_writes_what_the_module_says(counted) -> None:
    target = native.cpu_target()
    catalogue = counted.root / "gpu_envs" / "catalogue"
    said = json.loads((catalogue / "counter.json").read_text())
    assert [entry["id"] for entry in said] == ["Counter-v0"]
    assert (catalogue / "counter.json").read_text() == COUNTER.with_suffix(".json").read_text()
    (catalogue / "counter.json").write_text("[]\n")
    done = counted.command("build", "counter")
    assert done.stdout == f"gpu_envs: counter up to date for {target}\n"
    assert "counter.json is new: commit it" in done.stderr
    assert (catalogue / "counter.json").read_text() == COUNTER.with_suffix(".json").read_text()
