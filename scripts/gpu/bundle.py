"""Gathers what a bare machine with a GPU lacks, and takes it there: nothing is compiled on it.

bundle/ holds the engine, the modules and the bindings for one Python, for one architecture and one
instruction set, and the pure-Python wheels that tests and trainer need; bundle.json says for what
it is. A machine for which it is not builds from source. Nothing of the package is used but the
builder, so that any Python with headers makes its bindings, whatever it lacks.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

import scripts.gpu  # noqa: F401 - before the package: finds it where Gymnasium is missing
from gpu_envs.building import places, processor, recipes, shipping, toolchain, upkeep
from scripts.gpu import ROOT

FOLDER = ROOT / "bundle"
STAMP = FOLDER / "bundle.json"
SITE = ROOT / "build" / "gpu" / "site"
WHEELS = {  # by what is imported
    "gymnasium": "gymnasium",
    "pettingzoo": "pettingzoo",
    "farama_notifications": "farama-notifications",
    "cloudpickle": "cloudpickle",
}
MOST = 60e6  # bytes, with the tree
_NONE = "there is none (scripts/gpu/bundle makes it)"
_TESTED = "arena"  # the native tests' own environment


# ---- making


def make(stems: Sequence[str], python: str, architecture: str, level: str) -> None:
    """Build, download and stamp; raises `CannotBuild` with what to do."""
    interpreter = find_python(python)
    os.environ["GPU_ENVS_CUDA_ARCHS"] = architecture
    os.environ["GPU_ENVS_CUDA_LANES"] = "all"  # tuning times what is compiled
    for name in ("GPU_ENVS_CUDA_LINES", "GPU_ENVS_CUDA_RUNTIME"):
        os.environ.pop(name, None)
    targets = [f"cpu_{level}", "cuda"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    shipping.prepare_tree()  # keeps pybind11's headers for a Python that lacks them
    for target in targets:
        upkeep.build(list(_products(target, stems)))
    for target in targets:
        shared = ["--bindings", target]
        subprocess.run([interpreter, __file__, *shared], check=True, cwd=ROOT)
    if not stems or _TESTED in stems:
        _build_tested()
    _download(python)
    made = sorted(path.name for path in (FOLDER / "modules").glob("_*.so"))
    stamp = {"python": python, "bindings": made, "engine": places.engine_hash(), "level": level}
    stamp |= {"architecture": int(architecture), "cuda": int(toolchain.nvcc().major)}
    stamp["environments"] = [stem for stem in stems if stem != _TESTED] or list(
        places.environments()
    )
    places.write(STAMP, json.dumps(stamp, indent=1) + "\n")


def _products(target: str, stems: Sequence[str]) -> Iterator[recipes.Product]:
    folder, known = FOLDER / "modules", places.environments()
    yield recipes.engine(target, folder, strip=True)
    for stem in stems or known:
        if stem in known:
            yield recipes.module(stem, known[stem], target, folder, strip=True, engines=folder)


def _build_tested() -> None:
    """Build the tests' own environment, whose objects lie apart."""
    header = places.environments(ROOT / "tests" / "kernels" / "envs")[_TESTED]
    folder, engines = FOLDER / "tests", FOLDER / "modules"
    upkeep.build([recipes.module(_TESTED, header, "cuda", folder, strip=True, engines=engines)])


def _build_bindings(target: str) -> None:
    """Build the bindings for the Python that runs this."""
    upkeep.build([recipes.bindings(target, FOLDER / "modules", strip=True)])


def _download(python: str) -> None:
    """Fetch wheels that hold nothing compiled."""
    pure = ["--no-deps", "--only-binary=:all:", "--python-version", python]
    pure += ["--implementation", "py", "--abi", "none", "--platform", "any"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *pure, "-c", "constraints.txt"]
    command += ["--dest", str(FOLDER / "wheels"), *WHEELS.values()]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise toolchain.CannotBuild(f"downloading {', '.join(WHEELS.values())} failed")


def find_python(version: str) -> str:
    """Return an interpreter of that version that has its headers: only it knows its own ABI."""
    found = dict(_pythons())
    if version not in found:
        raise toolchain.CannotBuild(
            f"no Python {version} with its headers was found, which the bindings are compiled for "
            f"(Debian, Ubuntu: apt install python{version}-dev; pyenv install {version}); with "
            f"headers there is {', '.join(sorted(found)) or 'none'}: --python takes one of them"
        )
    return found[version]


def _pythons() -> Iterator[tuple[str, str]]:
    """Yield version and path of interpreters with headers, the one that runs this last."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    said = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_path('include'))"
    for path in [p for folder in folders for p in sorted(folder.glob("python3.*"))]:
        if re.fullmatch(r"python3\.\d+", path.name) and os.access(path, os.X_OK):
            done = subprocess.run([path, "-c", said], capture_output=True, text=True, check=False)
            words = done.stdout.split()
            if not done.returncode and (Path(words[2]) / "Python.h").exists():
                yield f"{words[0]}.{words[1]}", str(path)
    if Path(sysconfig.get_path("include"), "Python.h").exists():
        yield f"{sys.version_info[0]}.{sys.version_info[1]}", sys.executable


def sizes() -> tuple[int, int]:
    """Return the bytes of the bundle, and of the tree that git knows or does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tree = [ROOT / name for name in listed.split("\0") if name]
    bundled = [path for path in FOLDER.rglob("*") if path.is_file()]
    both = [sum(p.stat().st_size for p in files if p.is_file()) for files in (bundled, tree)]
    return both[0], both[1]


# ---- taking


def problems(gpu: dict[str, Any] | None = None) -> list[str]:
    """Why the bundle is not for this machine and tree; empty where it is."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except OSError:
        return [_NONE]
    found = []
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if f"_cuda{EXTENSION_SUFFIXES[0]}" not in stamp["bindings"]:
        found.append(f"it is for Python {stamp['python']}, this is {here}")
    if stamp["level"] not in processor.runnable_levels():
        found.append(f"it needs a processor of level {stamp['level']}")
    if stamp["engine"] != places.engine_hash():
        found.append(f"its engine is {stamp['engine']}, that of this tree {places.engine_hash()}")
    else:
        found += [f"{name} is older than its sources" for name in _stale(stamp)]
    if gpu and gpu["architecture"] != stamp["architecture"]:
        found.append(f"it is for sm_{stamp['architecture']}, this is sm_{gpu['architecture']}")
    if gpu and int(gpu["cuda"].partition(".")[0]) < stamp["cuda"]:
        found.append(f"it needs a driver of CUDA {stamp['cuda']}, this one is of {gpu['cuda']}")
    return found


def _stale(stamp: dict[str, Any]) -> list[str]:
    folder = FOLDER / "modules"
    files = [
        (places.module_file(stem, target, folder), target)
        for stem in stamp["environments"]
        for target in (f"cpu_{stamp['level']}", "cuda")
    ]
    return [file.name for file, target in files if not upkeep.is_current(file, target)]


def take(gpu: dict[str, Any] | None) -> str:
    """Put what is for this machine where it is looked for; return what was done, in a line.

    Wheels hold no compiled code: what is missing of them is unpacked in any case.
    """
    wheels = _unpack()
    packages = f"; {', '.join(wheels)} from wheels" if wheels else ""
    wrong = problems(gpu)
    if wrong:
        return f"bundle: not used, {'; '.join(wrong)}: what is missing is built here{packages}"
    stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    for part, folder in (("modules", places.MODULES), ("tests", ROOT / "build" / "gpu")):
        for file in (FOLDER / part).glob("*.so"):
            _place(file, folder / file.name)
    os.environ.setdefault("GPU_ENVS_CPU", stamp["level"])  # another level would be compiled
    what = f"Python {stamp['python']}, sm_{stamp['architecture']}, CPU {stamp['level']}"
    names = f"{len(stamp['environments'])} environments"
    return f"bundle: {what}, engine {stamp['engine']}, {names}: nothing is compiled{packages}"


def _place(file: Path, to: Path) -> None:
    """Copy by one rename: whoever has the old one loaded keeps it."""
    if to.exists() and to.read_bytes() == file.read_bytes():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    half = to.with_name(f".{to.name}.{os.getpid()}")
    shutil.copy2(file, half)
    os.replace(half, to)


def _unpack() -> list[str]:
    """Unpack the wheels of packages that cannot be imported here, for the children to find."""
    missing = [name for name in WHEELS if importlib.util.find_spec(name) is None]
    taken = []
    for name in missing:
        for wheel in (FOLDER / "wheels").glob(f"{name}-*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(SITE)
            taken.append(name)
    if taken:
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *([before] if before else [])])
    return taken


# ---- the command line


def main(argv: Sequence[str] | None = None) -> int:
    """Make the bundle; return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/gpu/bundle", description=__doc__)
    add = parser.add_argument
    add("stems", nargs="*", metavar="ENVIRONMENT", help="ids or stems of headers; default: all")
    add("--python", default="3.12", metavar="VERSION", help="of that machine (%(default)s)")
    add("--architecture", default="90", help="of its GPU (%(default)s)")
    add("--level", default="v3", choices=processor.LEVELS, help="of its processor (%(default)s)")
    add("--bindings", metavar="TARGET", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.bindings:
        _build_bindings(given.bindings)
        return 0
    try:
        make([_stem(name) for name in given.stems], given.python, given.architecture, given.level)
    except toolchain.CannotBuild as problem:
        print(f"gpu_bundle: {problem}", file=sys.stderr)
        return 1
    bundled, tree = sizes()
    said = f"{bundled / 1e6:.1f} MB in bundle/, with the tree {(bundled + tree) / 1e6:.1f} MB"
    print(f"gpu_bundle: {said}: carry bundle/ and run scripts/gpu/check.sh")
    if bundled + tree > MOST:
        print(f"gpu_bundle: that is more than {MOST / 1e6:.0f} MB", file=sys.stderr)
        return 1
    return 0


def _stem(name: str) -> str:
    """The stem of an id: `TagGrid-v0` or `TagGrid` is `tag_grid`."""
    plain = re.sub(r"-v\d+$", "", name)
    known = [*places.environments(), _TESTED]
    alike = [stem for stem in known if stem.replace("_", "") == plain.replace("_", "").lower()]
    if not alike:
        raise SystemExit(f"gpu_bundle: no environment is called {name}: {', '.join(known)}")
    return alike[0]


if __name__ == "__main__":
    sys.exit(main())
