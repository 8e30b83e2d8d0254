"""Compiles environments that do not ship with nvcc: the tests' own, and the examples.

Usage: scripts/checks/compile_for_cuda.py [NAME ...]; `make check-all` calls it.

A user's header is compiled by the same command. Every warning is an error here, and PTX suffices:
its compiler is the one that refuses rules. The modules lie in a cache in the folder of the build.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from gpu_envs.building import places, store
from gpu_envs.commands import build
from gpu_envs.known import registration
from gpu_envs.terminal import broken_pipes

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/kernels/envs", "examples")
# Mistakes, which only `checking/shuffled` runs.
LEFT_OUT = {"faulty"}
_BUILDS = re.compile(r"^using Builds\b", re.MULTILINE)


def headers(root: Path = ROOT) -> dict[str, Path]:
    """Return the headers of these environments, by stem."""
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.hpp"))
    return {
        path.stem: path
        for path in paths
        if path.stem not in LEFT_OUT and _BUILDS.search(path.read_text(encoding="utf-8"))
    }


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the builder reads."""
    return {
        "CXXFLAGS": f"{environment.get('CXXFLAGS', '')} -Werror".strip(),
        "GPU_ENVS_STORE": str(store.folders()[-1]),  # the user's: it would follow the cache
        "GPU_ENVS_CACHE": str(places.build_folder() / "compiled_for_cuda"),
        "GPU_ENVS_CUDA_ARCHS": "ptx",
        "GPU_ENVS_CUDA_RUNTIME": "interpreted",  # objects that `cuda_ptx` can be linked from
    }


def main(names: Sequence[str]) -> int:
    """Compile all of them, or those of these names."""
    known = headers()
    if unknown := set(names) - known.keys():
        print(f"{', '.join(sorted(unknown))}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    os.environ |= settings(os.environ)
    registration.refresh()  # headers that the user's own cache has are not known here
    wanted = [str(path) for stem, path in known.items() if not names or stem in names]
    return build.main(["--target", "cuda", *wanted])


if __name__ == "__main__":
    broken_pipes.end_quietly()
    sys.exit(main(sys.argv[1:]))
