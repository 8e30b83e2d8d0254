"""Builds the native modules: drives kernels/CMakeLists.txt and puts what it made into the package.

Everything else about the package stands in pyproject.toml. Environment variables: GPU_ENVS_CUDA
(auto, 1, 0), GPU_ENVS_CUDA_ARCHS (such as "80;90", or "release"), GPU_ENVS_BUILD_DIR, and
CMAKE_ARGS for any other CMake option.
"""

import importlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def tool(name: str, folder_of: str) -> str:
    """Return the path of a tool: from its Python package where installed, else from PATH."""
    try:
        folder = getattr(importlib.import_module(name), folder_of)
        return str(Path(folder) / name)
    except ImportError:
        found = shutil.which(name)
        if not found:
            raise SystemExit(f"{name} is needed to build gpu_envs: pip install {name}") from None
        return found


class BuildKernels(build_ext):
    """Configure, build and install with CMake; the build folder stays for the next build."""

    def run(self) -> None:
        """Build all modules at once, instead of one by one as the base class would."""
        in_place = self.inplace or getattr(self, "editable_mode", False)
        own = "dev" if in_place else f"{sys.implementation.cache_tag}-{self.plat_name}"
        folder = Path(os.environ.get("GPU_ENVS_BUILD_DIR") or ROOT / "build" / own).resolve()
        cmake = tool("cmake", "CMAKE_BIN_DIR")
        ninja = tool("ninja", "BIN_DIR")
        configure = [cmake, "-S", str(ROOT / "kernels"), "-B", str(folder), "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DGE_PYTHON={sys.executable}"]
        for name, default in (("GPU_ENVS_CUDA", "auto"), ("GPU_ENVS_CUDA_ARCHS", "")):
            configure.append(f"-D{name}={os.environ.get(name, default)}")
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        target = ROOT if in_place else Path(self.build_lib).resolve()
        jobs = str(len(os.sched_getaffinity(0)))
        install = [cmake, "--install", str(folder), "--component", "package"]
        install += ["--prefix", str(target), *([] if in_place else ["--strip"])]
        for command in (configure, [cmake, "--build", str(folder), "--parallel", jobs], install):
            quiet = subprocess.DEVNULL if command is install else None
            if subprocess.run(command, stdout=quiet).returncode:
                raise SystemExit(f"building gpu_envs failed: {shlex.join(command)}")
        if in_place:
            drop_stale_modules(folder)

    def get_outputs(self) -> list[str]:
        """Name nothing: the modules lie beside the Python sources and are found there."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Map nothing, for the same reason."""
        return {}


def drop_stale_modules(build_folder: Path) -> None:
    """Remove what an earlier build in place made and this one did not, such as a CUDA module."""
    installed = (build_folder / "install_manifest_package.txt").read_text().split("\n")
    for module in (ROOT / "gpu_envs").glob(f"_*{sysconfig.get_config_var('EXT_SUFFIX')}"):
        if str(module) not in installed:
            module.unlink()


setup(cmdclass={"build_ext": BuildKernels}, ext_modules=[Extension("gpu_envs._native", sources=[])])
