"""Says what a wheel holds, by kind of file, and fails where something is missing or foreign.

Usage: scripts/release/wheel_contents.py WHEEL [--at-most MEGABYTES]
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from gpu_envs.building import places
from gpu_envs.terminal import broken_pipes

ROOT = Path(__file__).resolve().parents[2]
_KINDS = {  # the first that matches
    "engines": r"gpu_envs/modules/libgpu_envs_(cpu_\w+|cuda)\.so",
    "bindings": r"gpu_envs/modules/_(cpu_\w+|cuda)\.[\w.-]+\.so",
    "modules, CPU": r"gpu_envs/modules/\w+\.cpu_\w+\.so",
    "modules, CUDA": r"gpu_envs/modules/\w+\.cuda\.so",
    "headers for `build`": r"gpu_envs/kernels/(.*\.hpp|flags\.txt|cmake/templates/\w+\.in)",
    "sources for web pages": r"gpu_envs/kernels/(?!envs/).*\.cpp",
    "data of environments": r"gpu_envs/kernels/envs/.*\.(measures|suite)\.json",
    "scripted players": r"gpu_envs/kernels/.*\.py",
    "data that modules read": r"gpu_envs/modules/\w+\.data/.+",
    "hashes of all files": r"gpu_envs/manifest\.json",
    "catalogue": r"gpu_envs/catalogue/\w+\.json",
    "Python": r"gpu_envs/.*\.(py|pyi|typed)",
    "about the package": r"gpu_envs-[^/]+\.dist-info/.+",
}


def kind_of(name: str) -> str:
    """Return the kind of a file; empty where no wheel of ours has such files."""
    return next((kind for kind, form in _KINDS.items() if re.fullmatch(form, name)), "")


def problems(names: set[str]) -> Iterator[str]:
    """Yield what is missing in a wheel with these files, and what does not belong there."""
    yield from (f"{name} is foreign" for name in sorted(names) if not kind_of(name))
    targets = {match[1] for name in names if (match := re.search(r"libgpu_envs_(\w+)\.so", name))}
    if not any(target.startswith("cpu_") for target in targets):
        yield "there is no engine for a CPU"
    environments = places.environments(ROOT / "kernels" / "envs")
    # From the sources, not from a list: an environment that the build forgot is missed here.
    wanted = {f"gpu_envs/catalogue/{stem}.json" for stem in environments}
    modules = {f"{stem}.{target}" for stem in environments for target in targets}
    wanted |= {f"gpu_envs/modules/{module}.so" for module in modules}
    wanted.add("gpu_envs/manifest.json")
    for stem, header in environments.items():
        data = (path for folder in places.data_folders(header) for path in folder.iterdir())
        wanted |= {f"gpu_envs/modules/{stem}.data/{path.name}" for path in data}
    headers = [*(ROOT / "kernels").rglob("*.hpp"), ROOT / "kernels" / "flags.txt"]
    headers += (ROOT / "kernels" / "cmake" / "templates").glob("*.in")
    headers += (ROOT / "kernels").rglob("*.py")  # what players share
    kinds = ("*.measures.json", "*.suite.json", "*_player.py")
    beside = [path for kind in kinds for path in (ROOT / "kernels" / "envs").rglob(kind)]
    wanted |= {f"gpu_envs/{path.relative_to(ROOT).as_posix()}" for path in beside}
    # `build` compiles environments of others against these; ours come as modules, the rest built.
    inside = {path.relative_to(ROOT).parts[1] for path in headers}
    inside -= {"envs", "bindings", "learning", "ptx"}
    for path in headers:
        if path.relative_to(ROOT).parts[1] in inside:
            wanted.add(f"gpu_envs/{path.relative_to(ROOT).as_posix()}")
    sources = (ROOT / "gpu_envs").rglob("*.py")
    wanted |= {path.relative_to(ROOT).as_posix() for path in sources}
    yield from (f"{name} is missing" for name in sorted(wanted - names))
    for target in sorted(targets):
        if not any(f"gpu_envs/modules/_{target}." in name for name in names):
            yield f"there are no bindings for {target}"
    listed = {name for name in names if kind_of(name) == "catalogue"}
    yield from (f"{name} is of no environment" for name in sorted(listed - wanted))


def table(files: list[zipfile.ZipInfo]) -> str:
    """Return files, bytes zipped and bytes installed by kind, as lines."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for file in files:
        for kind in (kind_of(file.filename) or "foreign", "all"):
            for k, value in enumerate((1, file.compress_size, file.file_size)):
                sums[kind][k] += value
    lines = [f"{'':22} {'files':>6} {'zipped, MB':>11} {'installed, MB':>14}"]
    for kind in [*_KINDS, "foreign", "all"]:
        if kind in sums:
            count, zipped, installed = sums[kind]
            lines.append(f"{kind:22} {count:6} {zipped / 1e6:11.3f} {installed / 1e6:14.3f}")
    return "\n".join(lines)


def main() -> int:
    """Look through a wheel; the exit status says whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--at-most", type=float, metavar="MB", help="size above which it fails")
    options = parser.parse_args()
    with zipfile.ZipFile(options.wheel) as wheel:
        files = [file for file in wheel.infolist() if not file.is_dir()]
    print(table(files))
    size = options.wheel.stat().st_size / 1e6
    print(f"{options.wheel.name}: {size:.2f} MB")
    found = list(problems({file.filename for file in files}))
    if options.at_most and size > options.at_most:
        found.append(f"it has {size:.2f} MB (at most {options.at_most:g})")
    for problem in found:
        print(f"wheel: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main())
