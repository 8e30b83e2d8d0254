"""Modules for web pages: WebAssembly by the compiler of the package ziglang.

A page has no shared libraries, so a module has all in one file: engine, renderer, an environment,
and the functions that a page calls (`kernels/web`). The engine's objects are the same for all.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import compilers, flags, labels, places, recipes, store, toolchain
from .objects import Compile
from .places import CannotBuild

MEMORY = 1 << 30  # bytes that a module may have at most
VERSION = "0.17.1"  # of zig, as the extra `wasm` pins it

# Folders and files of its own sources.
_FOLDERS = ("engine", "geometry", "physics", "spatial", "pictures", "cameras", "houses", "web")
_LEFT_OUT = ("cuda", "checking")
_NO_LIBRARIES = "modules.cpp"  # opens shared libraries
# What zig leaves out of its C++ library for this machine, among the sources that it brings.
_EXCEPTIONS = (
    "libcxxabi/src/cxa_exception.cpp",
    "libcxxabi/src/cxa_personality.cpp",
    "libunwind/src/Unwind-wasm.c",
)
_INCLUDED = ("libcxxabi/include", "libcxx/src", "libunwind/include")
# Licences of what is linked in, by the name of the part.
LICENCES = {
    "libc++": "libcxx/LICENSE.TXT",
    "libc++abi": "libcxxabi/LICENSE.TXT",
    "libunwind": "libunwind/LICENSE.TXT",
    "wasi-libc": "libc/wasi/LICENSE",
    "musl": "libc/musl/COPYRIGHT",
}


@dataclass(frozen=True)
class Zig:
    """The compiler of WebAssembly and its folders."""

    path: str
    lib: Path
    identity: str


@cache
def zig() -> Zig:
    """Return zig: of the package ziglang, else of PATH."""
    packaged = Path(sysconfig.get_path("purelib")) / "ziglang" / "zig"
    path = str(packaged) if packaged.exists() else shutil.which("zig")
    if path is None:
        raise CannotBuild(
            "zig was not found: install the extra wasm (pip install 'gpu_envs[wasm]'), or put zig "
            f"{VERSION} on PATH"
        )
    found = compilers.zig_version(path)
    if found != VERSION:
        raise CannotBuild(f"modules for web pages need zig {VERSION}, {path} is {found or '?'}")
    lib = Path(path).resolve().parent / "lib"
    for name in _EXCEPTIONS:
        if not (lib / name).is_file():
            raise CannotBuild(
                f"{lib} lacks {name}, with which exceptions are built: reinstall ziglang {VERSION}"
            )
    return Zig(path, lib, compilers.zig_identity(path, store.folders()[-1] / "tools"))


def variables() -> tuple[tuple[str, str], ...]:
    """Return zig's variables: its own libraries are kept in the store."""
    cache = str(store.folders()[-1] / store.ZIG)
    return (("ZIG_GLOBAL_CACHE_DIR", cache), ("ZIG_LOCAL_CACHE_DIR", cache))


def has_libraries() -> bool:
    """Whether zig's own libraries were compiled before."""
    return (store.folders()[-1] / store.ZIG / "o").is_dir()


def _named(*names: str) -> list[str]:
    known = flags.read(places.kernels() / "flags.txt")
    root = str(places.kernels().parent)
    return [flag.replace("$ROOT", root) for name in names for flag in known[name]]


def host_flags(kind: str) -> list[str]:
    """Return the flags of pictures, steps or the rest; of CXXFLAGS only -Werror is for zig."""
    strict = [flag for flag in toolchain.extra() if flag == "-Werror"]
    named = _named("wasm machine", "wasm", f"wasm {kind}", "numbers")
    return [*named, *strict, f"-DGE_WEB_MEMORY={MEMORY}"]


def sources() -> list[Path]:
    """Return the engine's sources; one in engine/web stands for the other of its name."""
    root = places.kernels()
    found = sorted(path for folder in _FOLDERS for path in (root / folder).rglob("*.cpp"))
    own = {path.name for path in found if path.parent == root / "engine" / "web"}
    return [
        path
        for path in found
        if path.parent.name not in _LEFT_OUT
        and path.name != _NO_LIBRARIES
        and (path.name not in own or path.parent.name == "web")
    ]


def compiled(source: Path, given: list[str], name: str, build: Path) -> Compile:
    """Describe one object by zig."""
    tool = zig()
    driver = "cc" if source.suffix == ".c" else "c++"
    return Compile(
        command=(tool.path, driver, f"-I{places.kernels()}", *given),
        source=source,
        object=build / places.WASM / f"{name}.o",
        compiler=tool.identity,
        root=places.kernels().parent,
        stores=store.folders(),
        system=(str(tool.lib),),
        folders=(("$SITE", Path(sysconfig.get_path("purelib"))),),
        variables=variables(),
    )


def exceptions(build: Path) -> Iterator[Compile]:
    """Describe the objects with which a `throw` is one of WebAssembly's own."""
    lib = zig().lib
    given = _named("wasm machine", "wasm exceptions")
    given += [f"-I{lib / name}" for name in _INCLUDED]
    for name in _EXCEPTIONS:
        source = lib / name
        more = ["-std=c++23"] if source.suffix == ".cpp" else []
        yield compiled(source, [*given, *more], f"zig.{source.stem}", build)


def linker() -> tuple[str, ...]:
    """Return the command that links a module, without objects and output."""
    words = _named("wasm machine", "wasm link")
    return (zig().path, "c++", *words, f"-Wl,--max-memory={MEMORY}")


def _units(stem: str, header: Path, key: str, build: Path) -> Iterator[Compile]:
    """Describe the environment's own object and the one that names it."""
    beside = [f"-ffile-prefix-map={header.parent}/=", "-iquote", str(header.parent)] if key else []
    include = header.name if key else str(header.relative_to(places.kernels()))
    unit = recipes.filled(
        "unit.in",
        parts="",
        entry_header="engine/cpu/entry.hpp",
        factory="CpuFactory",
        header=include,
        stem=stem,
        machine="cpu",
    )
    made = recipes.written(f"{stem}_web{key}.cpp", unit, build)
    yield compiled(made, [*host_flags("steps"), *beside], f"{stem}_web{key}", build)
    face = recipes.filled("module.in", stem=stem, machine="cpu")
    stamped = [f'-DGE_ENGINE_HASH="{places.engine_hash()}"', f'-DGE_TARGET="{places.WASM}"']
    made = recipes.written(f"{stem}_module_web{key}.cpp", face, build)
    yield compiled(made, [*host_flags("rest"), *stamped], f"{stem}_module{key}", build)


def module(
    stem: str,
    header: Path,
    folder: Path,
    *,
    name: str | None = None,
    build: Path | None = None,
) -> recipes.Product:
    """One environment as a module for web pages; the header may lie outside the tree."""
    build = build or places.build_folder()
    inside = header.is_relative_to(places.kernels())
    key = "" if inside else "." + labels.hash_of(str(header).encode())[:8]
    own = places.build_folder() if places.is_source_tree() else build
    library = []
    root = places.kernels()
    for source in sources():
        object = str(source.relative_to(root).with_suffix("")).replace("/", ".")
        given = host_flags("pictures" if source.parent == root / "pictures" else "rest")
        library.append(compiled(source, given, object, own))
    return recipes.Product(
        kind="page",
        title=f"{stem} (web)",
        target=places.WASM,
        engine=places.engine_hash(),
        file=places.module_file(name or stem, places.WASM, folder),
        objects=(*library, *exceptions(own), *_units(stem, header, key, build)),
        link=linker(),
        also=(*recipes.rules(), places.RULES / "wasm.py"),
        variables=variables(),
    )


def announce() -> None:
    """Print a line before zig compiles its own libraries."""
    if not has_libraries():
        print(
            "gpu_envs: zig compiles its own libraries first, once for all builds (1 to 2 minutes)",
            file=sys.stderr,
        )
