"""Builds the native half: gpu_envs/building does the work and puts what it made into the package.

Everything else about the package stands in pyproject.toml. `pip install .` makes every environment
for this processor (GPU_ENVS_CPU="v2;v3;v4" for several instruction sets), and for CUDA where a
driver answers or GPU_ENVS_CUDA=1 asks for it; an editable install makes nothing yet: engine and
environments follow when one is first made. `python -m gpu_envs build -h` lists the environment
variables.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "gpu_envs"))  # not the package, which needs Gymnasium

from building import places, shipping, toolchain  # noqa: E402


class BuildKernels(build_ext):
    """Hands over to the package's own builder, whose objects stay for the next build."""

    def run(self) -> None:
        """Make a tree ready, or build everything into the wheel."""
        if "GE_EXTRA_ENVS" in os.environ.get("CMAKE_ARGS", ""):
            raise SystemExit(
                "GE_EXTRA_ENVS is for the native tests alone now: install the package, then type "
                "`python -m gpu_envs build FILE.hpp` for each header of yours"
            )
        in_place = self.inplace or getattr(self, "editable_mode", False)
        try:
            if in_place:
                shipping.prepare_tree()
            else:
                shipping.fill_package(Path(self.build_lib).resolve() / "gpu_envs")
        except (toolchain.CannotBuild, ValueError, OSError) as problem:
            raise SystemExit(f"building gpu_envs failed: {problem}") from None

    def get_outputs(self) -> list[str]:
        """Name nothing: the modules lie beside the Python sources and are found there."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Map nothing, for the same reason."""
        return {}


for left in (ROOT / "build").glob("lib*"):  # of an earlier build: what is gone would be shipped
    shutil.rmtree(left, ignore_errors=True)
assert places.is_source_tree()
setup(cmdclass={"build_ext": BuildKernels}, ext_modules=[Extension("gpu_envs._native", sources=[])])
