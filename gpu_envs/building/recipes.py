"""Describes the compilation and linking of an engine, the bindings and a module."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import compilers, labels, objects, places, processor, store, toolchain
from .objects import Compile
from .toolchain import CannotBuild

# Where the two machines differ in what an engine consists of.
_LONGEST = 1 << 30  # first of all, since everything waits for it
_LIBRARY = (
    "engine",
    "geometry",
    "physics",
    "spatial",
    "pictures",
    "cameras",
    "houses",
    "learning",
)  # folders of sources that are compiled once per engine
_HOST_ALONE = ("engine/cpu/machine.cpp", "engine/cpu/stage_clock.cpp", "learning/host.cpp")
_ENTRY = {
    "cpu": "engine/cpu/entry.hpp",
    "cuda": "engine/cuda/entry.hpp",
    "lanes": "engine/checking/lanes_entry.hpp",
}
_FACTORY = {
    "cpu": "CpuFactory",
    "cuda": "DeviceFactories<gpu_envs::envs::@stem@::Builds>::Factory",
    "lanes": "LanesFactory",
}


@dataclass(frozen=True)
class Product:
    """One file to build, and all its inputs."""

    kind: str  # "runtime", "engine", "bindings", "module" or "page" (a module for web pages)
    title: str
    target: str
    engine: str  # hash of the engine that it is stamped for
    file: Path
    objects: tuple[Compile, ...]
    link: tuple[str, ...]  # the command without objects and output
    tail: tuple[str, ...] = ()  # arguments after the objects
    needs: tuple[Path, ...] = ()  # files that are linked against
    also: tuple[Path, ...] = ()  # inputs beside those of the objects
    data: tuple[Path, ...] = ()  # folders of data files, the first to be looked in first
    variables: tuple[tuple[str, str], ...] = ()  # of the linker's environment


def machine_of(target: str) -> str:
    """Return the machine of a target, "cpu" or "cuda"."""
    return "cuda" if target in ("cuda", places.PTX) else "cpu"


def filled(template: str, **values: str) -> str:
    """Return the text of a generated source."""
    path = places.kernels() / "cmake" / "templates" / template
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def written(name: str, text: str, build: Path) -> Path:
    """Write a generated source if its content differs."""
    path = build / "units" / name
    try:
        if path.read_text(encoding="utf-8") == text:
            return path
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    places.write(path, text)
    return path


def _compile(
    source: Path,
    target: str,
    flags: Sequence[str],
    name: str,
    *,
    build: Path | None = None,
    folders: tuple[tuple[str, Path], ...] = (),
    weight: int = 0,
) -> Compile:
    """Describe one object; sources that end in .cu go to nvcc."""
    root = places.kernels().parent
    build = build or places.build_folder()
    folder = build / target  # for generated sources; objects are in the store
    host = toolchain.known(toolchain.cxx())
    include = f"-I{places.kernels()}"
    if source.suffix == ".cu":
        tool = toolchain.nvcc()
        command = (tool.path, include, *flags)
        compiler = f"{tool.identity} {tool.parts()} {host.text}"
        system = (*host.system, str(tool.include))
    else:
        command = (toolchain.cxx(), include, *flags)
        compiler, system = host.text, host.system
    return Compile(
        command=command,
        source=source,
        object=folder / f"{name}.o",
        compiler=compiler,
        root=root,
        stores=store.folders(),
        system=system,
        folders=(("$SITE", Path(sysconfig.get_path("purelib"))), *folders),
        report=source.suffix == ".cu",
        weight=weight,
    )


def _cuda_includes(target: str) -> list[str]:
    return ["-isystem", str(toolchain.nvcc().include)] if machine_of(target) == "cuda" else []


def _stamped(target: str) -> list[str]:
    is_cuda = machine_of(target) == "cuda"
    runtime = [f"-DGE_CUDA_RUNTIME={toolchain.nvcc().major}"] if is_cuda else []
    return [f'-DGE_ENGINE_HASH="{places.engine_hash()}"', f'-DGE_TARGET="{target}"', *runtime]


def _linker(target: str, *, strip: bool) -> list[str]:
    command = [toolchain.cxx(), "-shared", "-pthread", "-Wl,--gc-sections", "-Wl,-z,defs"]
    command += [flag for flag in toolchain.extra() if flag.startswith("-fsanitize")]
    return [*command, "-Wl,--exclude-libs,ALL", *(["-Wl,-s"] if strip else [])]


def _versions(target: str, pattern: Sequence[str], build: Path | None = None) -> Path:
    """Write the list of names that a library shows: one version per target keeps targets apart."""
    shown = " ".join(f"{name};" for name in pattern)
    text = f"GPU_ENVS_{target} {{ global: {shown} local: *; }};\n"
    name = f"{target}-{labels.hash_of(text.encode())[:8]}.map"
    return written(name, text, build or places.build_folder())


def _script(versions: Path) -> list[str]:
    """Return the linker's flag for a list of names; its path may have a comma, which ends `-Wl`."""
    return ["-Xlinker", f"--version-script={versions}"]


def rules() -> tuple[Path, ...]:
    """Return the files of the builder, which are inputs of every product."""
    own = places.RULES
    templates = places.kernels() / "cmake" / "templates"
    names = (own / "recipes.py", own / "toolchain.py", places.kernels() / "flags.txt")
    return (*names, *sorted(templates.glob("*.in")))


def _runtime(target: str) -> tuple[str, ...]:
    """Return CUDA's runtime, of which every engine and module has a copy."""
    return (str(toolchain.nvcc().runtime), "-ldl", "-lrt") if target == "cuda" else ()


def _interpreter(target: str, folder: Path) -> tuple[Path, ...]:
    """Return the interpreter of PTX, which takes that place where kernels are interpreted.

    Engine and modules share one: a kernel of a module reads memory that the engine allocated.
    """
    return (places.runtime_file(target, folder),) if target == places.PTX else ()


def runtime(target: str, folder: Path) -> Product:
    """The interpreter of PTX: CUDA's runtime, as far as engines and modules call it.

    It is compiled for the best instruction set of this processor, since it never leaves it.
    """
    level = processor.runnable_levels()[0]
    flags = toolchain.visible(toolchain.host_flags(f"cpu_{level}")) + _cuda_includes(target)
    made = []
    for source in sorted((places.kernels() / "ptx").rglob("*.cpp")):
        name = str(source.relative_to(places.kernels()).with_suffix("")).replace("/", ".")
        made.append(_compile(source, target, flags, name))
    file = places.runtime_file(target, folder)
    link = [*_linker(target, strip=False), f"-Wl,-soname,{file.name}"]
    link += _script(_versions(f"{target}_runtime", ("cuda*", "__cuda*", "ge_ptx_*")))
    return Product(
        kind="runtime",
        title=f"interpreter of PTX ({target})",
        target=target,
        engine=places.engine_hash(),
        file=file,
        objects=tuple(made),
        link=tuple(link),
        tail=("-ldl",),
        also=rules(),
    )


def _engine_sources(target: str) -> list[Path]:
    root = places.kernels()
    found = sorted(path for folder in _LIBRARY for path in (root / folder).rglob("*.c*"))
    if machine_of(target) == "cuda":
        found = [path for path in found if str(path.relative_to(root)) not in _HOST_ALONE]
        return [path for path in found if path.parent.name != "web"]
    return [path for path in found if path.parent.name not in ("cuda", "web")]


def engine(target: str, folder: Path, *, strip: bool = False) -> Product:
    """The engine: all code without environments and Python, as one shared library."""
    level = toolchain.level_of(target)
    machine = machine_of(target)
    instruction_set = target if machine == "cuda" else f"x86-64-{level}"
    stamp = filled(
        "stamp.in",
        machine=machine,
        instruction_set=instruction_set if level != "generic" else level,
    )
    flags = toolchain.visible(toolchain.host_flags(target)) + _cuda_includes(target)
    device_flags = toolchain.visible(toolchain.nvcc_flags(target)) if machine == "cuda" else []
    made = []
    for source in _engine_sources(target):
        name = str(source.relative_to(places.kernels()).with_suffix("")).replace("/", ".")
        made.append(
            _compile(source, target, device_flags if source.suffix == ".cu" else flags, name)
        )
    stamped = written(f"stamp_{target}.cpp", stamp, places.build_folder())
    made.append(_compile(stamped, target, [*flags, *_stamped(target)], "stamp"))
    file = places.engine_file(target, folder)
    names = ("_ZN2ge*", "_ZNK2ge*", "_ZT?N2ge*", "_ZT?St*N2ge*")
    link = [*_linker(target, strip=strip), f"-Wl,-soname,{file.name}", "-Wl,-Bsymbolic-functions"]
    link += _script(_versions(target, names))
    interpreter = _interpreter(target, folder)
    return Product(
        kind="engine",
        title=f"engine ({target})",
        target=target,
        engine=places.engine_hash(),
        file=file,
        objects=tuple(made),
        link=(*link, "-Wl,-rpath,$ORIGIN") if interpreter else tuple(link),
        tail=_runtime(target) or ("-ldl",),
        needs=interpreter,
        also=rules(),
    )


def bindings(target: str, folder: Path, *, strip: bool = False) -> Product:
    """The Python module over an engine; its object is the same for all of them."""
    flags = toolchain.host_flags(f"cpu_{toolchain.baseline()}", "called")  # one object serves all
    includes = [part for path in toolchain.python_includes() for part in ("-isystem", path)]
    source = places.kernels() / "bindings" / "module.cpp"
    made = _compile(
        source,
        f"python{places.SUFFIX.rpartition('.')[0]}",
        [*flags, *includes, f"-ffile-prefix-map={sysconfig.get_path('purelib')}/="],
        "module",
        weight=_LONGEST,
    )
    link = [*_linker(target, strip=strip), "-Wl,-rpath,$ORIGIN"]
    # Its own names for its own calls, where Python opens libraries for all to see.
    link += ["-Wl,-Bsymbolic", *_script(_versions(target, ("PyInit_*",)))]
    link = [flag for flag in link if flag != "-Wl,-z,defs"]  # Python's names come from Python
    return Product(
        kind="bindings",
        title=f"bindings ({target})",
        target=target,
        engine=places.engine_hash(),
        file=places.bindings_file(target, folder),
        objects=(made,),
        link=tuple(link),
        needs=(places.engine_file(target, folder),),
        also=rules(),
    )


def _weight(stem: str, header: Path) -> int:
    """Return the size in bytes of an environment's header and the headers beside it."""
    files = [header]
    if header.parent.name in (stem, places.TASKS):
        files += [path for path in places.own_folders(header)[-1].glob("*.hpp") if path != header]
    return sum(path.stat().st_size for path in files)


def _units(
    stem: str, header: Path, target: str, key: str, machine: str, more: Sequence[str], build: Path
) -> Iterator[Compile]:
    """Describe an environment's own objects; `key` distinguishes headers outside the tree."""
    beside = ("$HEADER", header.parent)
    include = header.name if key else header.relative_to(places.kernels())
    count, weight = places.unit_count(header), _weight(stem, header)
    flags = toolchain.nvcc_flags(target) if machine == "cuda" else toolchain.host_flags(target)
    flags = [*flags, *more, *(toolchain.beside(header.parent, machine) if key else ())]
    for part in range(count):
        text = filled(
            "unit.in",
            parts=f"#define GE_UNIT {part}\n#define GE_UNITS {count}\n" if count > 1 else "",
            entry_header=_ENTRY[machine],
            factory=_FACTORY[machine],
            header=str(include),
            stem=stem,
            machine=machine,
        )
        name = f"{stem}_{machine}{key}" + (f"_{part}" if part else "")
        unit = written(f"{name}.{'cu' if machine == 'cuda' else 'cpp'}", text, build)
        folders = (beside,) if key else ()
        yield _compile(unit, target, flags, name, build=build, folders=folders, weight=weight)


def module(
    stem: str,
    header: Path,
    target: str,
    folder: Path,
    *,
    strip: bool = False,
    engines: Path = places.MODULES,
    name: str | None = None,
    machine: str = "",
    more: Sequence[str] = (),
    build: Path | None = None,
) -> Product:
    """One environment as a shared object; the header may lie outside the tree.

    With `machine` "lanes" it runs on emulated lanes of a CPU; `more` flags are for its units.
    Generated units and objects lie in `build`, by default in the tree's own folder.
    """
    build = build or places.build_folder()
    machine = machine or machine_of(target)
    inside = header.is_relative_to(places.kernels())
    key = "" if inside else "." + labels.hash_of(str(header).encode())[:8]
    face = filled("module.in", stem=stem, machine=machine)
    stamped = [*toolchain.host_flags(target, "cold"), *_stamped(target)]
    compiled = [*_units(stem, header, target, key, machine, more, build)]
    compiled.append(
        _compile(
            written(f"{stem}_module_{machine}{key}.cpp", face, build),
            target,
            stamped,
            f"{stem}_module{key}",
            build=build,
        )
    )
    shown = _versions(target, ("ge_module_stamp", "ge_module_entry"), build)
    return Product(
        kind="module",
        title=stem,
        target=target,
        engine=places.engine_hash(),
        file=places.module_file(name or stem, target, folder),
        objects=tuple(compiled),
        link=(*_linker(target, strip=strip), *_script(shown)),
        tail=_runtime(target),
        needs=(places.engine_file(target, engines), *_interpreter(target, engines)),
        also=rules(),
        data=tuple(places.data_folders(header)),
    )


def made(product: Product) -> str:
    """Return a hash of the commands that make a product, without -Werror."""
    commands = [objects.words_of(job) for job in product.objects]
    kept = [[word for word in words if not word.startswith("-Werror")] for words in commands]
    return labels.hash_of(json.dumps(kept).encode())[:16]


def link(product: Product, found: Sequence[Path], label: labels.Label) -> None:
    """Link a product from its objects, label it, and put it in place by one rename.

    The caller holds the lock of this file, so half-made files are of a builder that was killed.
    """
    if product.file.is_dir():
        raise CannotBuild(f"{product.file} is a folder where a built file belongs: delete it")
    command = [*product.link, *map(str, (*found, *product.needs)), *product.tail]
    product.file.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".build-{product.file.name}-"
    for left in product.file.parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=product.file.parent, prefix=prefix) as folder:
        file = Path(folder) / product.file.name
        done = subprocess.run(
            [*command, "-o", str(file)],
            capture_output=True,
            text=True,
            check=False,
            env=compilers.environment() | dict(product.variables),
        )
        if gone := [str(path) for path in found if done.returncode and not path.exists()]:
            raise CannotBuild(f"{gone[0]} was deleted while {product.title} was built: try again")
        if done.returncode:
            said = "\n".join(done.stderr.rstrip().splitlines()[:10])
            raise CannotBuild(f"linking {product.file.name} failed:\n{said}")
        labels.attach(file, label)
        os.replace(file, product.file)
