"""Lists what the cold gate costs, in seconds of processors.

Usage: .venv/bin/python scripts/checks/gate_costs.py [--top 20]

For a tree in which `.ci/run` has passed. Compiling: by build and environment, from the store, which
keeps the seconds of each object; what two builds share counts once, in the first. Running: by
native program, as it took last on this machine, and by file of Python tests, in this tree. Nothing
is compiled or run. `--top 20` shows more of each list. Last comes what each environment has of
this: objects, programs and tests of its name; `check_costs.py` beside this measures what one adds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gpu_envs.building import launcher, objects, places, recipes, store  # noqa: E402
from gpu_envs.building.objects import Compile  # noqa: E402
from gpu_envs.known import native  # noqa: E402
from gpu_envs.terminal import broken_pipes  # noqa: E402
from scripts.checks import check_costs, pytest_times  # noqa: E402
from scripts.checks.nearest import Tree  # noqa: E402

_UNIT = re.compile(r"(.+)_(?:cpu|shuffled|lanes|flat|cuda)(?:_\d+)?")
BUILDS = ("dev", "asan", "tsan")
Row = tuple[str, str, float]  # a build or kind, what of it, seconds


class Objects:
    """What objects took, each once."""

    def __init__(self) -> None:
        self._counted: set[Path] = set()

    def seconds(self, job: Compile) -> float:
        """Return what an object took; 0 where the store has none, or it was counted before."""
        there = objects.found(job)
        if there is None or there[0].object in self._counted:
            return 0.0
        self._counted.add(there[0].object)
        return there[0].seconds

    def of_package(self, target: str) -> Iterator[Row]:
        """Yield engine, bindings and modules of a target."""
        products = [recipes.engine(target, places.MODULES)]
        if target.startswith("cpu"):
            products.append(recipes.bindings(target, places.MODULES))
        for stem, header in sorted(places.environments().items()):
            folder = places.MODULES
            products.append(recipes.module(stem, header, target, folder, engines=folder))
        for product in products:
            yield target, product.title, sum(map(self.seconds, product.objects))

    def of_cmake(self, folder: Path, stores: tuple[Path, ...]) -> Iterator[Row]:
        """Yield the objects that CMake has compiled in a folder."""
        listed = folder / "compile_commands.json"
        said = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        for one in said:
            words = shlex.split(one["command"])
            first = next(k for k, word in enumerate(words) if "++" in Path(word).name)
            asked = launcher.asked_for(ROOT, words[first:], stores)
            if asked is not None:
                unit = _UNIT.fullmatch(asked[0].source.stem)
                name = unit[1] if unit else asked[0].source.stem
                yield check_costs.build_of(str(asked[0].object)), name, self.seconds(asked[0])


def programs() -> Iterator[Row]:
    """Yield what native programs took when they ran last, those that this tree has."""
    held = places.read_json(places.store_folder() / "native_tests.json")
    there = {build: _programs_of(build) for build in BUILDS}
    for name, took in held.items() if isinstance(held, dict) else ():
        build, _, program = name.partition(" ")
        if program in there.get(build, ()):
            yield f"native programs of build/{build}", program, took


def _programs_of(build: str) -> set[str]:
    listed = places.read_json(ROOT / "build" / build / "tests.json")
    return {one["name"] for one in listed} if isinstance(listed, list) else set()


def python_tests() -> Iterator[Row]:
    """Yield what the Python tests took when they all ran last in this tree."""
    for took in pytest_times.read(ROOT / "build" / "pytest_times"):
        yield "pytest", took.test, took.seconds


def text(title: str, rows: Iterable[Row], top: int) -> tuple[str, float]:
    """Return a list by kind, the longest first, and its sum."""
    kinds: dict[str, dict[str, float]] = {}
    for kind, name, took in rows:
        of_kind = kinds.setdefault(kind, {})
        of_kind[name] = of_kind.get(name, 0.0) + took
    total = sum(sum(of_kind.values()) for of_kind in kinds.values())
    lines = [f"{title}: {total:.0f} s"]
    for kind, of_kind in sorted(kinds.items(), key=lambda pair: -sum(pair[1].values())):
        took = [(name, s) for name, s in of_kind.items() if s > 0]
        took.sort(key=lambda pair: -pair[1])
        lines.append(f"  {sum(of_kind.values()):7.1f}  {kind}, {len(took)}")
        lines += [f"      {s:7.1f}  {name}" for name, s in took[:top]]
    return "\n".join(lines), total


# ---- by environment


def _is_of(stem: str, ids: Sequence[str], row: Row) -> bool:
    """Whether a row is an environment's: its objects, programs and tests of its name or ids."""
    kind, name, _ = row
    if kind == "pytest":
        return stem in name or any(id in name for id in ids)
    if kind.startswith("native programs"):
        return re.search(check_costs.programs_of(stem), name) is not None
    return name in (stem, f"{stem}_test", f"{stem}_lanes_test")


def by_environment(compiled: Sequence[Row], ran: Sequence[Row]) -> str:
    """Return what each environment adds, beside its budget."""
    tree = Tree()
    lines = [f"{'':<18} {'compiling':>9} {'running':>8} {'all':>8} {'budget':>7}"]
    for stem, header in places.environments().items():
        path = str(header.relative_to(ROOT))
        ids = [id for id, known in tree.ids.items() if known == path]
        parts = [sum(row[2] for row in rows if _is_of(stem, ids, row)) for rows in (compiled, ran)]
        allowed, _ = check_costs.budget(path, tree)
        over = "  above it" if sum(parts) > allowed else ""
        shown = f"{parts[0]:9.1f} {parts[1]:8.1f} {sum(parts):8.1f} {allowed:7}"
        lines.append(f"{stem:<18} {shown}{over}")
    return "\n".join(lines)


def main() -> None:
    """Print the lists."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--top", type=int, default=8, help="how many of each list; default 8")
    options = parser.parse_args()
    held, stores = Objects(), store.folders()
    cpu = native.cpu_target()
    listed = {f"compiling modules, {cpu}": list(held.of_package(cpu))}
    os.environ["GPU_ENVS_CUDA_RUNTIME"] = "interpreted"  # as in `make cuda`: with PTX
    listed["compiling modules, cuda"] = list(held.of_package("cuda"))
    del os.environ["GPU_ENVS_CUDA_RUNTIME"]
    for build in BUILDS:
        listed[f"compiling build/{build}"] = list(held.of_cmake(ROOT / "build" / build, stores))
    compiled = [row for rows in listed.values() for row in rows]
    ran = [*programs(), *python_tests()]
    listed["running"] = [(kind, name.partition("::")[0], took) for kind, name, took in ran]
    everything = 0.0
    for title, rows in listed.items():
        shown, total = text(title, rows, options.top)
        everything += total
        print(shown, flush=True)
    print(f"all: {everything:.0f} s\n")
    print(by_environment(compiled, ran))


if __name__ == "__main__":
    broken_pipes.end_quietly()
    try:
        main()
    except places.CannotBuild as problem:
        raise SystemExit(f"gate costs: {problem}") from None
