"""Brings built files up to date, one process at a time, and only missing or old ones.

A current file costs one look at its inputs. Otherwise a lock is taken: its holder builds and the
others wait. It ends with its process, so a killed builder blocks no other.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import jobs, labels, objects, places, purity, recipes, wasm
from .recipes import Product
from .toolchain import CannotBuild


def is_current(file: Path, target: str, made: str = "") -> bool:
    """Whether a built file is whole, for this engine, and made from its present inputs.

    With `made`, a hash of commands, whether it was also made by these; then every byte is looked
    at, which costs a millisecond per megabyte.
    """
    try:
        label = labels.verify(file) if made else labels.read(file)
    except (OSError, labels.Damaged):
        return False
    if label.engine != places.engine_hash() or label.target != target:
        return False
    return made in ("", label.made) and labels.is_current(label, places.input_path)


def _inputs(product: Product, made: jobs.Made) -> dict[str, labels.Input]:
    """Return all inputs of a product, except generated units, which follow from the rest."""
    names = {name for job in product.objects for name in made[job][1]}
    names |= {places.input_name(job.source) for job in product.objects}
    names |= {places.input_name(path) for path in product.also}
    paths = {name: Path(places.input_path(name)) for name in sorted(names)}
    generated = {job.object.parents[1] / "units" for job in product.objects}
    return {
        name: labels.seen(path)
        for name, path in paths.items()
        if not any(path.is_relative_to(folder) for folder in generated)
    }


def build(products: Sequence[Product], *, title: str = "", shipped: bool = False) -> None:
    """Compile and link, engines before what needs them."""
    wanted = list(dict.fromkeys(job for product in products for job in product.objects))
    title = title or ", ".join(dict.fromkeys(product.title for product in products))
    made = jobs.run(wanted, title)
    order = {"runtime": 0, "engine": 1, "bindings": 2, "module": 3, "page": 3}
    if any(product.kind == "page" for product in products):
        wasm.announce()
    for product in sorted(products, key=lambda product: order[product.kind]):
        inputs = {} if shipped else _inputs(product, made)
        _check_unchanged(product, made)
        _check_purity(product, made)
        label = labels.Label(product.kind, product.target, product.engine, inputs)
        label.made = recipes.made(product)
        label.data = _data_hashes(product.data)
        recipes.link(product, [made[job][0] for job in product.objects], label)


def _data_hashes(folders: Sequence[Path]) -> dict[str, str]:
    return {name: digest for name, (_, digest) in labels.data_in(folders).items()}


def relabel(file: Path, target: str, folders: Sequence[Path]) -> bool:
    """Update the data files on the label of a module; return whether they differed.

    An edited data file needs no compiler: the module reads it when it is made.
    """
    wanted = _data_hashes(folders)
    if labels.read(file).data == wanted:
        return False
    with lock(file.parent, _lock_name(file, target)):
        try:
            if labels.read(file).data != wanted:  # another process may have been first
                labels.renew(file, data=wanted)
        except OSError as problem:
            raise CannotBuild(f"{file} cannot be labelled ({problem.strerror})") from None
    return True


def drop_damaged(file: Path, target: str) -> None:
    """Remove a damaged file, unless another process has rebuilt it meanwhile."""
    with lock(file.parent, _lock_name(file, target)):
        try:
            labels.verify(file)
        except FileNotFoundError:
            pass
        except (labels.Damaged, OSError):
            try:
                file.unlink()
            except OSError as problem:
                raise CannotBuild(f"{file} cannot be removed ({problem.strerror})") from None


def _lock_name(file: Path, target: str) -> str:
    return target if file.parent == places.MODULES else file.name.removesuffix(".so")


def _check_unchanged(product: Product, made: jobs.Made) -> None:
    """Refuse inputs that were edited after their compilation, since the label would be wrong."""
    now = [objects.stored(job) for job in product.objects]
    same = all(one == made[job] for one, job in zip(now, product.objects, strict=True))
    if not same or product.engine != places.engine_hash():
        raise CannotBuild(f"{product.title} changed while it was built: try again")


def _check_purity(product: Product, made: jobs.Made) -> None:
    """Refuse a module whose rules use functions that differ between runs or machines."""
    if product.kind != "module":
        return
    *units, _ = product.objects  # the last is what a module exports
    if said := purity.breaches([made[job] for job in units]):
        what = f"{product.title} would not give the same bits in every run and on every machine:"
        raise CannotBuild("\n".join([what, *said]))


@contextlib.contextmanager
def lock(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of a name, in the folder that it guards.

    Prints a line where another process holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        handle = os.open(folder / f".{name}.lock", flags, 0o666)
    except OSError as problem:
        raise CannotBuild(f"{folder} cannot be written ({problem.strerror})") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"gpu_envs: waiting for another process that builds {name}", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file too
        os.close(handle)


def ensure(
    target: str,
    stems: Sequence[str] = (),
    *,
    bindings: bool = True,
    exact: bool = False,
) -> list[Path]:
    """Build the engine, its bindings and these environments where they are missing or old.

    Args:
        target: Such as "cpu_v4", "cuda", "cuda_ptx" or "wasm".
        stems: Environments of the source tree.
        bindings: Whether Python will load it.
        exact: Whether files built with other flags count as old.

    Returns:
        The files that were built.
    """

    def products() -> list[Product]:
        return list(_products(target, stems, bindings))

    def old() -> list[Path]:
        if exact:
            return [p.file for p in products() if not is_current(p.file, target, recipes.made(p))]
        files = _files(target, stems, bindings)
        return [file for file in files if not is_current(file, target)]

    if not old():
        return []
    with lock(places.MODULES, target):
        if missing := old():
            build([product for product in products() if product.file in missing])
        return missing


def ensure_one(product: Product) -> None:
    """Build one module outside the package, where it is missing or old."""
    with lock(product.file.parent, _lock_name(product.file, product.target)):
        if not is_current(product.file, product.target, recipes.made(product)):
            build([product])


def _files(target: str, stems: Sequence[str], bindings: bool) -> Iterator[Path]:
    if target == places.PTX:
        yield places.runtime_file(target)
    if target != places.WASM:
        yield places.engine_file(target)
    if bindings and target != places.WASM:
        yield places.bindings_file(target)
    for stem in stems:
        yield places.module_file(stem, target)


def _products(target: str, stems: Sequence[str], bindings: bool) -> Iterator[Product]:
    known = places.environments()
    if target == places.PTX:
        yield recipes.runtime(target, places.MODULES)
    if target != places.WASM:
        yield recipes.engine(target, places.MODULES)
    if bindings and target != places.WASM:
        yield recipes.bindings(target, places.MODULES)
    for stem in stems:
        if stem not in known:
            raise CannotBuild(f"{places.kernels() / 'envs'} no longer has a header of {stem}")
        if target == places.WASM:
            yield wasm.module(stem, known[stem], places.MODULES)
        else:
            yield recipes.module(stem, known[stem], target, places.MODULES, engines=places.MODULES)
