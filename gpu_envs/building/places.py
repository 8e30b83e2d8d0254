"""Paths of sources and results, in a source tree, an installed package and a user's cache.

A source tree has `kernels/` beside the package; an installed package has the engine's headers in
`gpu_envs/kernels/`. Built files lie in `gpu_envs/modules/` in both.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
MODULES = PACKAGE / "modules"
CATALOGUE = PACKAGE / "catalogue"
RULES = PACKAGE / "building"  # inputs of all that is built
SUFFIX = EXTENSION_SUFFIXES[0]  # of this interpreter
PTX = "cuda_ptx"  # target whose kernels an interpreter of PTX runs on the CPU
WASM = "wasm"  # target of modules for web pages, each with an engine of its own

TASKS = "tasks"  # folder of the environments of a family
_BUILDS = re.compile(r"^using Builds\b", re.MULTILINE)  # marks a header as an environment
_PARTS = r"constexpr int kUnits = (\d+);"
_MOST_PARTS = 8


class CannotBuild(RuntimeError):
    """A missing tool or file, or a failed command; the message has the remedy."""


class Damaged(ValueError):
    """A file that cannot be used safely, or that belongs to another engine or name."""


def hash_of(data: bytes) -> str:
    """Return the hash used by labels, objects and the list of shipped files."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def is_source_tree() -> bool:
    """Whether the package lies in a clone, beside the sources it is built from."""
    return (PACKAGE.parent / "kernels" / "CMakeLists.txt").exists()


def kernels() -> Path:
    """Return the folder with the engine's headers, and in a source tree with everything else."""
    return (PACKAGE.parent if is_source_tree() else PACKAGE) / "kernels"


def build_folder() -> Path:
    """Return the folder of objects: `GPU_ENVS_BUILD_DIR`, `build/` of the tree, or the cache's."""
    tree = PACKAGE.parent / "build" if is_source_tree() else None
    return _given_build_folder() or tree or cache_folder() / "build"


def headers_build_folder() -> Path:
    """Return the folder of objects of headers outside the tree, by default in the cache."""
    return _given_build_folder() or cache_folder() / "build"


def _given_build_folder() -> Path | None:
    given = os.environ.get("GPU_ENVS_BUILD_DIR")
    return Path(os.path.realpath(given)) if given else None


def cache_folder() -> Path:
    """Return the folder of modules of headers outside the tree: GPU_ENVS_CACHE or the default."""
    given = os.environ.get("GPU_ENVS_CACHE")
    if given:
        return Path(os.path.realpath(given))  # Path.resolve raises on a link to itself
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):  # of a user without a home, as in some containers
        return Path(os.path.realpath(tempfile.gettempdir())) / f"gpu_envs-{os.getuid()}"
    return Path(os.path.realpath(base)) / "gpu_envs"


def store_folder() -> Path:
    """Return the user's store of compiled objects and proofs, for all trees and wheels.

    `GPU_ENVS_STORE` names another folder; if it is empty, the tree has its own.
    """
    given = os.environ.get("GPU_ENVS_STORE")
    if given and not os.path.isabs(given):
        raise CannotBuild(f"GPU_ENVS_STORE must be the absolute path of a folder, got {given!r}")
    if given:
        return Path(os.path.realpath(given))
    return (cache_folder() if given is None else build_folder()) / "store"


def kept_headers() -> Path:
    """Return the folder of the cache's entries, one for each header."""
    return cache_folder() / "headers"


def is_hidden(name: str) -> bool:
    """Whether a file is an editor's or a system's own, such as `.#plan.hpp`."""
    return name.startswith(".")


def environments(folder: Path | None = None) -> dict[str, Path]:
    """Return the headers of environments by stem.

    One is `<stem>.hpp`, `<stem>/<stem>.hpp`, or a task of a family whose headers its tasks share:
    `<family>/tasks/<stem>.hpp`. A family's own header is one only where it has `Builds`, as that
    of an environment whose tasks are other forms of it.
    """
    folder = folder or kernels() / "envs"
    is_family = (folder / TASKS).is_dir()
    paths = [] if is_family else list(folder.glob("*.hpp"))
    for home in [folder] if is_family else folder.glob("*/"):
        paths += home.glob(f"{TASKS}/*.hpp")
        own = home / f"{home.name}.hpp"
        if own.is_file() and (
            not (home / TASKS).is_dir() or _BUILDS.search(own.read_text("utf-8"))
        ):
            paths.append(own)
    found: dict[str, Path] = {}
    for path in paths:
        if is_hidden(path.name):
            continue
        if path.stem in found:
            raise ValueError(
                f"two environment headers are named {path.stem}: {found[path.stem]} and {path}"
            )
        found[path.stem] = path
    return dict(sorted(found.items()))


def own_folders(header: Path) -> list[Path]:
    """Return the folders of an environment's own files: of its own, and of its family."""
    if header.parent.name == TASKS:
        return [header.parent, header.parent.parent]
    return [header.parent]


def data_folders(header: Path) -> list[Path]:
    """Return the folders of an environment's data files: `data/` of its header and its family."""
    found = (folder / "data" for folder in own_folders(header))
    return [folder for folder in found if folder.is_dir()]


def kept_data(module: Path) -> Path:
    """Return the folder of data files of a module without its header: beside the module."""
    return module.parent / f"{module.name.partition('.')[0]}.data"


def unit_count(header: Path) -> int:
    """Return how many units an environment is compiled as: `constexpr int kUnits` in its header."""
    found = re.search(_PARTS, header.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        return 1
    if len(found[1]) > 4 or int(found[1]) > _MOST_PARTS:
        raise CannotBuild(f"{header}: GE: kUnits of an environment is at most {_MOST_PARTS}")
    return max(1, int(found[1]))


_SHARED_BESIDE = ("pictures/scene.hpp", "flags.txt")  # sources that modules share with the engine
_hashed: dict[tuple[tuple[str, int, int], ...], str] = {}


def _headers(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, time and size of each header below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_hidden(entry.name):
                continue
            if entry.is_dir():
                yield from _headers(entry.path)
            elif entry.name.endswith(".hpp"):
                yield _seen(entry.path)


def _seen(path: str) -> tuple[str, int, int]:
    """Return path, time and size of a file; a missing file counts as empty."""
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, status.st_mtime_ns, status.st_size


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""  # a pipe would block
    except OSError:
        return b""


def engine_hash() -> str:
    """Return the hash of all headers that a module shares with the engine, and of the flags.

    Contents are read again when a file's time or size has changed. A file that cannot be read is
    hashed as if it were empty, which makes another engine.
    """
    root = str(kernels())
    beside = [os.path.join(root, name) for name in _SHARED_BESIDE]
    found = sorted(_headers(os.path.join(root, "engine")))
    key = (*found, *map(_seen, beside))
    if key not in _hashed:
        digest = hashlib.blake2b(digest_size=8)
        for path, _, _ in key:
            name = os.path.relpath(path, root).encode()
            digest.update(name + b"\0" + _content(Path(path)) + b"\0")
        _hashed[key] = digest.hexdigest()
    return _hashed[key]


def input_path(name: str) -> str:
    """Return the path of an input by its name on a label.

    Files of the package's builder and of `kernels/` have the same names in a tree and where it is
    installed, so that both share what is in a user's cache; others have their whole path.
    """
    if name.startswith("building/"):
        return os.path.join(PACKAGE, name)
    return os.path.join(kernels().parent, name)


def input_name(path: Path) -> str:
    """Return the name of an input on labels."""
    if path.is_relative_to(RULES):
        return str(path.relative_to(PACKAGE))
    root = kernels().parent
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def engine_file(target: str, folder: Path | None = None) -> Path:
    """Return the engine's shared library."""
    return (folder or MODULES) / f"libgpu_envs_{target}.so"


def bindings_file(target: str, folder: Path | None = None) -> Path:
    """Return the Python module over it, for this interpreter."""
    return (folder or MODULES) / f"_{target}{SUFFIX}"


def runtime_file(target: str, folder: Path | None = None) -> Path:
    """Return the interpreter of PTX, which stands in for CUDA's runtime; only `cuda_ptx` has it."""
    return (folder or MODULES) / f"libcudart_{target}.so"


def module_file(stem: str, target: str, folder: Path | None = None) -> Path:
    """Return an environment's module."""
    name = f"{stem}.wasm" if target == WASM else f"{stem}.{target}.so"
    return (folder or MODULES) / name


def make_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that nobody else can write to."""
    for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        path.mkdir(mode=0o755, exist_ok=True)
        path.chmod(0o755)  # whatever the umask


def write(path: Path, text: str) -> None:
    """Replace a file in one step: readers see the old one or the new one, whole."""
    half = tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8")
    try:
        with half as file:
            file.write(text)
        os.chmod(half.name, 0o644)  # a temporary file is readable only by its owner
        os.replace(half.name, path)
    except BaseException:
        os.unlink(half.name)
        raise


def read_json(path: Path) -> object:
    """Return the content of a file of ours; None if it is missing or damaged."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def cuda_target() -> str:
    """Return the target of device "cuda": `cuda_ptx` with GPU_ENVS_CUDA_RUNTIME=interpreted."""
    given = os.environ.get("GPU_ENVS_CUDA_RUNTIME", "").strip().lower()
    if given not in ("", "driver", "interpreted"):
        raise ValueError(f"GPU_ENVS_CUDA_RUNTIME must be driver or interpreted, got {given!r}")
    return PTX if given == "interpreted" else "cuda"


# ---- settings of a tree that last until they are reset


def _settings_file() -> Path:
    return build_folder() / "settings.json"


def settings() -> dict[str, str]:
    """Return the settings that earlier commands made for this tree."""
    try:
        found = json.loads(_settings_file().read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def settle_cuda() -> str:
    """Return GPU_ENVS_CUDA: "0", "1" or "auto"; 0 lasts for the tree until another value is set."""
    given = os.environ.get("GPU_ENVS_CUDA", "").strip().lower()
    known = {"0": "0", "off": "0", "false": "0", "no": "0", "auto": "auto"}
    known |= {"1": "1", "on": "1", "true": "1", "yes": "1"}
    if given and given not in known:
        raise ValueError(f"GPU_ENVS_CUDA must be auto, 1 or 0, got {given!r}")
    held = settings()
    if not given:
        return held.get("cuda", "auto")
    wanted = {"0": {"cuda": "0"}, "auto": {}, "1": held}[known[given]]  # 1 is for one command
    if is_source_tree() and wanted != held:
        try:
            _settings_file().parent.mkdir(parents=True, exist_ok=True)
            write(_settings_file(), json.dumps(wanted))
        except OSError:
            pass  # a read-only tree keeps no settings
    return known[given]
