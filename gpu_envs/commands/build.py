"""`python -m gpu_envs build`: makes modules, of this tree's environments or of a header elsewhere.

- `build`: everything of this tree, for this processor, and for CUDA where it is wanted
- `build CartPole-v0 ...`: the modules of these ids (or stems, such as `cartpole`)
- `build --target cuda`: everything of this tree, for one target only
- `build --target wasm ...`: modules for web pages (needs the extra `wasm`)
- `build my_env.hpp`: a module of a header outside the tree, in the user's cache
- `build my_family`: a module of every environment in a folder, such as a family's tasks
- `build --forget my_env.hpp`: removes its modules from the cache; the file name of an entry, such
  as `my_env-0123abcd.json`, removes one that cannot be read
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_envs.building import limits, outside, places, processor, toolchain, upkeep
from gpu_envs.known import native, registration
from gpu_envs.terminal import flags

TARGETS = (*(f"cpu_{level}" for level in processor.LEVELS), "cuda", places.PTX, places.WASM)


def _parser() -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs build",
        description="Build the native engine and modules of environments.",
        epilog="Environment variables: GPU_ENVS_CPU chooses the instruction set, GPU_ENVS_CUDA=1 "
        "builds for CUDA too (0 never, and holds for a tree until `auto` takes it back), "
        "GPU_ENVS_CUDA_ARCHS the architectures (such as '80;90'), GPU_ENVS_CUDA_LANES=all every "
        "number of lanes, GPU_ENVS_CUDA_LINES=1 line information for profilers, "
        "GPU_ENVS_CUDA_RUNTIME=interpreted runs CUDA's kernels on the CPU, for tests (cuda_ptx), "
        "CXX and CXXFLAGS the compiler and further flags, GPU_ENVS_CACHE the folder for headers "
        "outside the tree, GPU_ENVS_STORE that of compiled objects, GPU_ENVS_BUILD_DIR that of "
        "generated units.",
    )
    parser.add_argument(
        "what",
        nargs="*",
        metavar="ID | FILE.hpp | FOLDER",
        help="default: every environment of this tree",
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="remove the modules of these headers, or entries by file name, from the cache",
    )
    parser.add_argument(
        "--target",
        action="append",
        choices=TARGETS,
        help="build only for this target (may be repeated)",
    )
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        default=outside.SECONDS,
        metavar="SECONDS",
        help=f"end the compilation of a header outside the tree after this time "
        f"(default: {outside.SECONDS:.0f})",
    )
    parser.add_argument(
        "--engine", action="store_true", help="build only the engine and its bindings (in a tree)"
    )
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise ValueError(text)
    return value


def _targets() -> list[str]:
    """Return the targets built here: this processor's instruction set, and CUDA where wanted."""
    wants_cuda = native.builds_cuda() if places.is_source_tree() else _extends_cuda()
    return [native.cpu_target(), *([places.cuda_target()] if wants_cuda else [])]


def _extends_cuda() -> bool:
    """Whether an installed package's engine for CUDA can be given another module."""
    if not places.engine_file("cuda").exists() or not native.cuda_is_available():
        return False
    try:
        toolchain.nvcc()
    except toolchain.CannotBuild as problem:
        print(f"gpu_envs: for the CPU only, since {problem}", file=sys.stderr)
        return False
    return True


def _stems(names: Sequence[str]) -> list[str]:
    known = places.environments()
    stems = []
    for name in names:
        home = registration.Home(name)
        if name not in known:
            home = registration.home(registration.find(name)["id"])
        if home.header is not None:
            raise toolchain.CannotBuild(f"{name} is defined in {home.header}: build that file")
        stems.append(home.stem)
    return stems


def write_catalogue(stem: str, target: str) -> bool:
    """Write a module's description into the catalogue where it differs; return whether it did."""
    described = native.describe(target, places.module_file(stem, target))
    return registration.remember(registration.Home(stem), described)


def _check_targets(targets: Sequence[str], *, only_engine: bool) -> None:
    if places.PTX in targets and not places.is_source_tree():
        raise toolchain.CannotBuild(
            f"{places.PTX} is for tests of gpu_envs: its interpreter is only in a clone"
        )
    if places.WASM in targets and only_engine:
        raise toolchain.CannotBuild(
            f"--engine builds nothing for {places.WASM}: each of its modules contains the engine"
        )


def _tree(names: Sequence[str], targets: Sequence[str], only_engine: bool) -> None:
    if not places.is_source_tree():
        raise toolchain.CannotBuild(
            "an installed package is complete: pass a header of your own, such as my_env.hpp"
        )
    stems = [] if only_engine else _stems(names) or list(places.environments())
    for target in targets:
        upkeep.ensure(target, stems, exact=True)
    if not names and not only_engine:
        for left in places.CATALOGUE.glob("*.json"):
            if left.stem not in stems:
                left.unlink()
    for stem in stems if native.cpu_target() in targets else ():
        write_catalogue(stem, native.cpu_target())
    print(f"gpu_envs: {', '.join(stems) or 'the engine'} up to date for {', '.join(targets)}")


_PATIENCE = 60.0  # [s] for a module to load and describe itself
_DESCRIBE = """
import json, resource, sys
from pathlib import Path
from gpu_envs.known import native
target, file, to, memory = sys.argv[1:]
native.cpu()
if int(memory):
    resource.setrlimit(resource.RLIMIT_AS, (int(memory),) * 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26,) * 2)
Path(to).write_text(json.dumps(native.describe(target, Path(file))))
"""


def _describe_apart(target: str, file: Path) -> list[dict[str, Any]]:
    """Return a new module's description, from a process of its own, since it may crash."""
    if places.is_source_tree():
        upkeep.ensure(native.cpu_target())  # that process opens it, and has no time to build it
    with tempfile.TemporaryDirectory() as folder:
        said, errors = Path(folder) / "said", Path(folder) / "errors"
        words = [target, str(file), str(said), str(_memory())]
        with errors.open("wb") as printed:
            try:
                status = subprocess.run(
                    [sys.executable, "-c", _DESCRIBE, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=printed,
                    timeout=_PATIENCE,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                raise toolchain.CannotBuild(
                    f"{file} cannot be loaded: it was stopped after {_PATIENCE:.0f} s"
                ) from None
        if status or not said.exists():
            lines = errors.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
            last = (lines or [f"it ended with {status}"])[-1]
            raise toolchain.CannotBuild(f"{file} cannot be loaded: {last}")
        found: list[dict[str, Any]] = json.loads(said.read_text())
        return found


def _memory() -> int:
    """Return how many bytes of memory that process may have; 0: unlimited.

    Sanitizers reserve terabytes of addresses, of which they use little.
    """
    is_sanitized = any(flag.startswith("-fsanitize") for flag in toolchain.extra())
    return 0 if is_sanitized else limits.memory()


def build_header(
    header: Path, targets: Sequence[str] = (), seconds: float = outside.SECONDS
) -> list[str]:
    """Make modules of a header outside the tree and return the ids of its environments.

    A refused header leaves nothing in the cache; a compilation is stopped after `seconds`.
    """
    header = _checked(header)
    was_known = outside.is_kept(header)
    try:
        described = _built(header, targets, seconds)
    except (toolchain.CannotBuild, ImportError):
        if not was_known:
            outside.forget(header)
        raise
    outside.keep(header, described)
    registration.refresh()
    return [entry["id"] for entry in described]


def _checked(header: Path) -> Path:
    """Return the absolute path of a header; refuses a path that cannot be one."""
    real = _real(header)
    if not real.is_file():
        raise toolchain.CannotBuild(f"{header} {_why_no_file(header, real)}")
    if not real.stem.isidentifier():
        raise toolchain.CannotBuild(
            f"{real.name}: the file's name must be a C++ identifier, since it is the name of its "
            "namespace, gpu_envs::envs::<name>"
        )
    outside.check_path(real)
    return real


def _why_no_file(header: Path, real: Path) -> str:
    if real.is_symlink():
        return "is a link that leads to itself"
    if real.exists():
        return "is not a regular file"
    return f"is a link to {real}, which does not exist" if header.is_symlink() else "does not exist"


def _built(header: Path, targets: Sequence[str], seconds: float) -> list[dict[str, Any]]:
    """Make the modules of a header and return the descriptions of its environments."""
    described: list[dict[str, Any]] = []
    runnable = [*(f"cpu_{level}" for level in processor.runnable_levels()), "cuda", places.PTX]
    wanted = list(targets) or _targets()
    if wanted == [places.WASM]:
        wanted.append(native.cpu_target())  # which describes the environment, to be kept by its ids
    for target in sorted(wanted, key=lambda target: target not in runnable):
        if places.is_source_tree():
            upkeep.ensure(target)
        file = outside.build(header, target, seconds)
        if target not in runnable:
            continue  # this processor cannot run that engine
        try:
            described = _describe_apart(target, file)
            registration.check_ids(registration.Home(header.stem, header), described)
        except (toolchain.CannotBuild, ImportError):
            outside.drop(file)
            raise
    if not described:
        raise toolchain.CannotBuild(
            f"{header} was built, but only a processor that runs it can read its description: "
            f"also pass one of {', '.join(runnable)}"
        )
    return described


def _found(paths: Sequence[Path]) -> list[Path]:
    """Return headers, and for a folder the environments in it."""
    headers: list[Path] = []
    for path in paths:
        inside = list(places.environments(path).values()) if path.is_dir() else [path]
        if not inside:
            raise toolchain.CannotBuild(
                f"{path} has no environment: one is <name>.hpp, <name>/<name>.hpp or "
                "<family>/tasks/<name>.hpp"
            )
        headers += inside
    return headers


def _headers(paths: Sequence[Path], targets: Sequence[str], seconds: float) -> None:
    for path in _found(paths):
        ids = build_header(path, targets, seconds)
        if places.WASM in targets:
            file = outside.module_file(_real(path), places.WASM)
            print(f"gpu_envs: the module for web pages is {file}")
        call = f"gymnasium.make_vec({'gpu_envs/' + ids[0]!r}{_device(targets)})"
        print(f"gpu_envs: {', '.join(ids)} can be made: {call}")


def _forget(names: Sequence[str]) -> None:
    """Remove headers from the cache, or entries by the names of their files."""
    if not names or any(not name.endswith((".hpp", ".json")) for name in _forgettable(names)):
        raise toolchain.CannotBuild(
            "--forget takes headers outside the tree, such as my.hpp, or the file names of entries "
            f"in {places.kept_headers()}"
        )
    for name in _forgettable(names):
        is_entry = name.endswith(".json")
        key = Path(name).stem if is_entry else outside.key_of(_real(Path(name)))
        if not outside.forget_key(key):
            what = "is not an entry" if is_entry else "has no module"
            raise toolchain.CannotBuild(f"{name} {what} in {places.cache_folder()}")
        print(f"gpu_envs: {name} is forgotten")


def _forgettable(names: Sequence[str]) -> list[str]:
    """Return names of headers and entries; a folder stands for the environments in it."""
    is_folder = [Path(name).is_dir() and not name.endswith(".json") for name in names]
    return [
        found
        for name, folder in zip(names, is_folder, strict=True)
        for found in (map(str, _found([Path(name)])) if folder else [name])
    ]


def _real(path: Path) -> Path:
    """Return a path without links; a link to itself stays as it is."""
    return Path(os.path.realpath(path))


def _device(targets: Sequence[str]) -> str:
    """Return the `device=` argument for the targets of a header; "" where it needs none."""
    if "cuda" in (targets or _targets()) or native.parse_device("auto")[0] == "cpu":
        return ""
    return ", device='cpu'"


def _own_stem(header: Path) -> str | None:
    """Return the stem of a header that is one of this tree's environments."""
    if not places.is_source_tree():
        return None
    known = {_real(path): stem for stem, path in places.environments().items()}
    return known.get(_real(header))


def _sorted(what: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return headers outside the tree, and names of environments of the tree."""
    headers, names = [], []
    for name in what:
        is_path = name.endswith(".hpp") or Path(name).is_dir()
        stem = _own_stem(Path(name)) if is_path else name
        if stem is not None:
            names.append(stem)
        else:
            headers.append(Path(name))
    return headers, names


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(argv)
    try:
        if options.forget:
            _forget(options.what)
            return 0
        _check_targets(options.target or (), only_engine=options.engine)
        headers, names = _sorted(options.what)
        if options.engine and options.what:
            raise toolchain.CannotBuild("--engine takes no environments: it builds only the engine")
        if headers:
            _headers(headers, options.target or (), options.time_limit)
        if names or not headers:
            _tree(names, options.target or _targets(), options.engine)
    except (toolchain.CannotBuild, ImportError, ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0
