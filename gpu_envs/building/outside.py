"""Modules of headers outside the tree, and the cache that holds them.

The cache has an entry per header (`kept`), and the modules in a folder per engine,
`<engine>/<key>.<target>.so`, so that installations of several releases share it. A cache that
strangers can write to is refused: they could put code there.
"""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from . import kept, labels, manifest, places, recipes, rules, shipping, toolchain, upkeep, wasm


def key_of(header: Path) -> str:
    """Return the name of a header's module, which differs for two files of one name."""
    return f"{header.stem}-{labels.hash_of(os.fsencode(header))[:8]}"


def _own_folder(folder: Path) -> None:
    """Make a folder of the cache that only the user can write to; refuse an existing other one."""
    try:
        places.make_folder(folder)
    except OSError as problem:
        raise toolchain.CannotBuild(f"{folder} cannot be created ({problem.strerror})") from None
    kept.check_trust(folder)


def keep(header: Path, environments: list[dict[str, Any]]) -> None:
    """Write the entry of a header."""
    folder = places.kept_headers()
    _own_folder(folder)
    text = json.dumps({"header": str(header), "environments": environments})
    places.write(folder / f"{key_of(header)}.json", text)


def is_kept(header: Path) -> bool:
    """Whether the cache has an entry of a header."""
    return os.path.lexists(places.kept_headers() / f"{key_of(header)}.json")


def drop(module: Path) -> None:
    """Remove one module and its data files."""
    module.unlink(missing_ok=True)
    shutil.rmtree(places.kept_data(module), ignore_errors=True)


def forget(header: Path) -> bool:
    """Remove a header and its modules from the cache; return whether it had any."""
    return forget_key(key_of(header))


def forget_key(key: str) -> bool:
    """Remove an entry and its modules, by the entry's file name without `.json`."""
    entry, known = places.kept_headers() / f"{key}.json", glob.escape(key)
    there = os.path.lexists(entry)
    if there:
        _remove(entry)
    for form in (f"*/{known}.*.so", f"*/{known}.wasm"):
        for module in places.cache_folder().glob(form):
            module.unlink(missing_ok=True)
            there = True
    for data in places.cache_folder().glob(f"*/{known}.data"):
        shutil.rmtree(data, ignore_errors=True)
    return there


def _remove(entry: Path) -> None:
    """Remove the file, link or folder at the path of an entry."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def module_file(header: Path, target: str) -> Path:
    """Return the path of a header's module."""
    return places.module_file(key_of(header), target, places.cache_folder() / places.engine_hash())


def module_of(header: Path, target: str) -> Path:
    """Return the module of a header, built where it is missing or older than the header.

    Without its header a module is used as it is.
    """
    file = module_file(header, target)
    if not header.exists() and not file.exists():
        raise ImportError(
            f"{header} does not exist, and this engine has no module of it (`python -m gpu_envs "
            f"build --forget {header}` removes its entry)"
        )
    try:
        kept.check_trust(file)
    except toolchain.CannotBuild as problem:
        raise ImportError(str(problem)) from None
    if header.exists() and not upkeep.is_current(file, target):
        if said := _damage(file):
            build_again(header, target, said)
            return file
        was = "is newer than its module" if file.exists() else f"has no module for {target} yet"
        try:
            build(header, target)
        except toolchain.CannotBuild as problem:
            raise ImportError(f"{header} {was}, and it cannot be built: {problem}") from None
    return file


def _damage(file: Path) -> str:
    """Return the damage of a module's label; "" where it can be read or does not exist."""
    try:
        labels.read(file)
    except labels.Damaged as problem:
        return str(problem)
    except OSError:
        pass
    return ""


def build_again(header: Path, target: str, said: str) -> None:
    """Rebuild the damaged module of a header; `said` describes the damage."""
    if not header.exists():
        raise ImportError(
            f"{said}, and it cannot be rebuilt, since {header} does not exist: restore it, or "
            f"`python -m gpu_envs build --forget {header}`"
        )
    print(f"gpu_envs: {said}: rebuilding it", file=sys.stderr)
    try:
        upkeep.drop_damaged(module_file(header, target), target)
        build(header, target)
    except toolchain.CannotBuild as problem:
        raise ImportError(
            f"{said}; once this is fixed, `python -m gpu_envs build {header}` rebuilds it: "
            f"{problem}"
        ) from None


SECONDS = 1800.0  # [s] for a unit; those of ours take 30 on two cores


def build(header: Path, target: str, seconds: float = SECONDS) -> Path:
    """Make the module of a header; the package is not touched.

    A unit that takes longer than `seconds` is ended.
    """
    check_path(header)
    if said := rules.breaches(header):
        raise toolchain.CannotBuild("\n".join([f"{header} cannot be built:", *said]))
    try:
        manifest.check("kernels/")
    except labels.Damaged as problem:
        raise toolchain.CannotBuild(str(problem)) from None
    file = module_file(header, target)
    _own_folder(file.parent)
    product = _product(header, target, file)
    limited = tuple(dataclasses.replace(job, seconds=seconds) for job in product.objects)
    upkeep.ensure_one(dataclasses.replace(product, objects=limited))
    shipping.renew_data(header, file)
    return file


def _product(header: Path, target: str, file: Path) -> recipes.Product:
    build_folder = places.headers_build_folder()
    check_path(build_folder)
    if not places.is_source_tree() or build_folder.is_relative_to(places.cache_folder()):
        _own_folder(build_folder / "units")  # the sources of the build folder are code too
    name = key_of(header)
    if target == places.WASM:
        return wasm.module(header.stem, header, file.parent, name=name, build=build_folder)
    return recipes.module(header.stem, header, target, file.parent, name=name, build=build_folder)


_UNSPEAKABLE = re.compile(r'["\x00-\x1f\x7f]|\\(?=[ #])')


def check_path(path: Path) -> None:
    """Refuse a path that no `#include` or list of dependencies can hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise toolchain.CannotBuild(f"{str(path)!r} is not UTF-8: rename the folder") from None
    if bad := _UNSPEAKABLE.search(str(path)):
        raise toolchain.CannotBuild(
            f"{str(path)!r} contains {bad[0]!r}, which no `#include` can name: rename the folder"
        )
