"""The steps of `setup.py`: prepare a tree, or build a complete package."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from . import manifest, places, processor, recipes, toolchain, upkeep, wasm
from .recipes import Product

# The sources that a user's own header needs.
_SHIPPED = (
    "engine",
    "physics",
    "spatial",
    "geometry",
    "pictures",
    "cameras",
    "houses",
    "voxel",
    "views",
    "web",
    "cmake/templates",
)


# What lies beside the headers of environments and is read where these are not.
_BESIDE = ("*.measures.json", "*.suite.json", "*_player.py")


def targets() -> list[str]:
    """Return the targets by the environment variables and this machine."""
    given = os.environ.get("GPU_ENVS_CPU", "")
    levels = [level for level in given.replace(",", ";").split(";") if level]
    bad = [level for level in levels if level not in processor.LEVELS]
    if bad:
        raise toolchain.CannotBuild(
            f"GPU_ENVS_CPU must be a list of {', '.join(processor.LEVELS)}, got {bad[0]!r}"
        )
    found = [f"cpu_{level}" for level in levels or processor.runnable_levels()[:1]]
    wanted = places.settle_cuda()
    if wanted == "1" or (wanted == "auto" and toolchain.driver_answers()):
        try:
            toolchain.nvcc()
            found.append("cuda")
        except toolchain.CannotBuild as problem:
            if wanted == "1":
                raise
            print(f"gpu_envs: no CUDA: {problem}")
    return found


def drop_leftovers() -> None:
    """Remove files of releases before modules from a tree."""
    for pattern in ("_cpu_*.so", "_cuda*.so", "_environments.json"):
        for path in places.PACKAGE.glob(pattern):
            path.unlink()


def prepare_tree() -> None:
    """Prepare a tree to build itself, at the first make."""
    drop_leftovers()
    _keep_pybind11()
    places.settle_cuda()


def _keep_pybind11() -> None:
    """Keep a copy of pybind11's headers, since pip removes its build environment."""
    kept = places.build_folder() / "pybind11" / "include"
    try:
        import pybind11  # lint: allow builder: for the bindings alone
    except ImportError:
        return
    shutil.copytree(pybind11.get_include(), kept, dirs_exist_ok=True)


def fill_package(package: Path) -> None:
    """Build everything for a wheel, whose kernels are never interpreted."""
    os.environ.pop("GPU_ENVS_CUDA_RUNTIME", None)
    modules = package / "modules"
    for left in (modules, package / "kernels"):
        shutil.rmtree(left, ignore_errors=True)
    modules.mkdir(parents=True)
    products: list[Product] = []
    for target in targets():
        products += [
            recipes.engine(target, modules, strip=True),
            recipes.bindings(target, modules, strip=True),
        ]
        for stem, header in places.environments().items():
            product = recipes.module(stem, header, target, modules, strip=True, engines=modules)
            products.append(product)
            keep_data(header, product.file)
    upkeep.build(products, title="everything", shipped=True)
    add_headers(package)
    manifest.write(package)


def keep_data(header: Path, module: Path) -> None:
    """Put an environment's data files beside its module, which may be moved without its header."""
    kept = places.kept_data(module)
    folders = places.data_folders(header)
    with tempfile.TemporaryDirectory(dir=module.parent, prefix=".data-") as scratch:
        made = Path(scratch) / kept.name
        for folder in reversed(folders):  # its own win over its family's
            shutil.copytree(folder, made, dirs_exist_ok=True)
        shutil.rmtree(kept, ignore_errors=True)  # after the new one is complete
        if folders:
            os.replace(made, kept)


def renew_data(header: Path, module: Path) -> None:
    """Put the data files of a header outside the tree beside its module, one process at a time.

    The modules of all targets share them, so the lock is theirs and not a module's.
    """
    with upkeep.lock(module.parent, places.kept_data(module).name):
        try:
            keep_data(header, module)
        except (OSError, shutil.Error) as problem:
            raise toolchain.CannotBuild(
                f"the data files of {header} cannot be copied beside {module}: {problem}"
            ) from None


def add_headers(package: Path) -> None:
    """Add the sources that `build` needs for a user's header, environments' data and players."""
    for name in _SHIPPED:
        source = places.kernels() / name
        if source.is_dir():
            shutil.copytree(
                source,
                package / "kernels" / name,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("*.cpp", "*.cu", "__pycache__"),
            )
    for source in wasm.sources():  # such a module contains the engine
        shutil.copyfile(source, package / "kernels" / source.relative_to(places.kernels()))
    shutil.copyfile(places.kernels() / "flags.txt", package / "kernels" / "flags.txt")
    beside = [path for form in _BESIDE for path in sorted(places.kernels().glob(f"envs/**/{form}"))]
    for source in beside:
        target = package / "kernels" / source.relative_to(places.kernels())
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
