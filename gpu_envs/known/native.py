"""Chooses and loads native code, and builds it in a source tree; nothing else does.

The engine exists once per instruction set; `levels` chooses one before anything is loaded. An
environment is a module, loaded when it is first made. A source tree first builds files that are
missing or older than their sources; an installed package is complete.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpu_envs.building import labels, manifest, places, toolchain, upkeep
from gpu_envs.known import levels, registration
from gpu_envs.known.outputs import Outputs

if TYPE_CHECKING:
    from gpu_envs._native import Simulator as NativeSimulator

_RESTART = "restart Python"
_loading = threading.RLock()
_ready: dict[tuple[str, str], Path] = {}  # the module that is loaded, by target and id


class NoDevice(ValueError):
    """No GPU exists, or none is asked for; a GPU that fails raises another error."""


def _forked() -> None:
    """Renew the lock after a fork: a thread of the parent may hold it, and the child has none."""
    global _loading
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_forked)


# ---- bringing files up to date, looking through them, opening them


def _verified(path: Path, target: str, again: Callable[[str], object] | None = None) -> Path:
    """Check that a file is safe to open: undamaged, and built for this engine; return it.

    Args:
        path: The built file.
        target: What it is for.
        again: Rebuilds a damaged file, given a text on the damage; None where nothing can.
    """
    try:
        label = labels.verify(path)
    except (OSError, labels.Damaged) as problem:
        said = str(problem)
        if isinstance(problem, OSError):
            said = f"{path} cannot be read ({problem.strerror})"
        if again is not None:
            again(said)
            return _verified(path, target)
        remedy = "delete it" if places.is_source_tree() else manifest.REMEDY
        raise ImportError(f"{said}: {remedy}") from None
    if label.engine != places.engine_hash() or label.target != target:
        raise _of_another_engine(path, label, target)
    return path


def _of_another_engine(path: Path, label: labels.Label, target: str) -> ImportError:
    """Return the error for a file of another engine; a damaged header counts as another one."""
    for problem in manifest.problems("kernels/"):
        return ImportError(problem)
    remedy = "build it again" if places.is_source_tree() else manifest.REMEDY
    return ImportError(
        f"{path} was made for another engine ({label.target} {label.engine}; this one: "
        f"{target} {places.engine_hash()}): {remedy}"
    )


def _build_again(path: Path, target: str, stems: tuple[str, ...], said: str) -> None:
    """Rebuild a damaged file of this tree."""
    print(f"gpu_envs: {said}: rebuilding it", file=sys.stderr)
    try:
        upkeep.drop_damaged(path, target)
    except toolchain.CannotBuild as problem:
        raise ImportError(f"{said}: delete it ({problem})") from None
    _up_to_date(target, stems)


def _again(
    path: Path, target: str, home: registration.Home | None
) -> Callable[[str], object] | None:
    """Return the function that rebuilds a damaged file; None in an installed package."""
    if home is not None and home.header is not None:
        from gpu_envs.building import outside

        return functools.partial(outside.build_again, home.header, target)
    if not places.is_source_tree():
        return None
    return functools.partial(_build_again, path, target, (home.stem,) if home else ())


def _up_to_date(target: str, stems: tuple[str, ...] = ()) -> list[Path]:
    """Build missing and outdated files of a source tree and return them; else return []."""
    if not places.is_source_tree():
        return []
    try:
        return upkeep.ensure(target, stems)
    except toolchain.CannotBuild as problem:
        what = ", ".join(stems) or "the engine"
        raise ImportError(
            f"{what} ({target}) is not built, or older than its sources, and cannot be built: "
            f"{problem}\n{_what_is_built(target)}"
        ) from None


def _what_is_built(target: str) -> str:
    stems = [path.name.split(".")[0] for path in places.MODULES.glob(f"*.{target}.so")]
    return f"built for {target}: {', '.join(sorted(stems)) or 'nothing'}"


class _Opened(NamedTuple):
    bindings: Any
    engine: str  # hash of the headers that the engine was built from
    files: dict[Path, tuple[int, int]]  # time and size of each loaded file
    contents: dict[Path, str]  # hash of each module without its label


_engines: dict[str, _Opened] = {}


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _engine(target: str) -> _Opened:
    """Open the engine of a target and its bindings, once."""
    engine = places.engine_file(target)
    opened = _engines.get(target)
    if opened is not None:
        if opened.engine != places.engine_hash() or _state(engine) != opened.files[engine]:
            raise ImportError(f"the engine ({target}) has changed since it was loaded: {_RESTART}")
        return opened
    name = f"gpu_envs.modules._{target}"
    for file in [places.runtime_file(target)] if target == places.PTX else []:
        _verified(file, target, _again(file, target, None))  # opened with the engine
    state = _state(_verified(engine, target, _again(engine, target, None)))
    if name not in sys.modules:  # bindings cannot be loaded twice
        file = places.bindings_file(target)
        path = str(_verified(file, target, _again(file, target, None)))
        loader = ExtensionFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        assert spec is not None
        bindings = importlib.util.module_from_spec(spec)
        loader.exec_module(bindings)
        bindings.use_results(Outputs)
        sys.modules[name] = bindings
    _engines[target] = _Opened(sys.modules[name], places.engine_hash(), {engine: state}, {})
    return _engines[target]


def _load(target: str, path: Path, home: registration.Home | None = None) -> Any:
    """Load a module for the life of the process, and return the bindings.

    Args:
        target: What it is for.
        path: Its file.
        home: Where it comes from, for one that is to be built again if it is damaged.
    """
    opened = _engine(target)
    known = opened.files.get(path)
    if known is None:
        again = None if home is None else _again(path, target, home)
        file = _verified(path, target, again)
        opened.files[path], opened.contents[path] = _state(file), labels.content_hash(file)
        opened.bindings.load(str(file))
    elif known != _state(path):
        if opened.contents[path] != labels.content_hash(path):  # else only its label is new
            raise ImportError(f"{path} was rebuilt after it was loaded: {_RESTART}")
        opened.files[path] = _state(path)
    return opened.bindings


def at(target: str, name: str | None = None) -> Any:
    """Return the bindings of a target, "cpu_v4" or "cuda", with an environment's module loaded.

    "cuda" means `cuda_ptx` where GPU_ENVS_CUDA_RUNTIME=interpreted.

    Args:
        target: Machine and instruction set.
        name: Id of the environment; None for the engine alone.
    """
    target = _meant(target)
    with _loading:
        if name is None:
            _up_to_date(target)
            return _engine(target).bindings
        path = _module_of(target, name)
        bindings = _load(target, path, registration.home(name))
        if (target, name) not in _ready:
            _remember(target, name, path)
            _ready[target, name] = path
        return bindings


def _meant(target: str) -> str:
    """Return a target as it is, and for "cuda" the one that GPU_ENVS_CUDA_RUNTIME asks for."""
    return places.cuda_target() if target == "cuda" else target


def _module_of(target: str, name: str) -> Path:
    """Return the file of an environment's module, up to date."""
    home = registration.home(name)
    if home.header is not None:
        from gpu_envs.building import outside

        _up_to_date(target)
        return outside.module_of(home.header, target)
    path = places.module_file(home.stem, target)
    _up_to_date(target, (home.stem,))
    if manifest.lists(path):
        return path  # refused by name if it is missing
    if not path.exists():
        raise ImportError(f"{name} is not built for {target}; {_what_is_built(target)}")
    return path


def _remember(target: str, name: str, path: Path) -> None:
    """Write a module's description into the catalogue where it differs."""
    home = registration.home(name)
    if home.header is not None or places.is_source_tree():
        registration.remember(home, describe(target, path))
        registration.find(name)  # it may have another id now


def described(name: str) -> dict[str, Any]:
    """Return the description of an environment, for commands that need no simulator yet.

    A module that was never built stays so; one that is older than its header is rebuilt, since
    its parameters may have changed.
    """
    found = registration.find(name)
    home = registration.home(found["id"])
    if home.header is None and places.is_source_tree() and levels.built():
        file = places.module_file(home.stem, cpu_target())
        if file.exists() and not upkeep.is_current(file, cpu_target()):
            at(cpu_target(), found["id"])
    return registration.find(name)


def is_built(name: str) -> bool:
    """Whether an environment has a module for this CPU, so that it needs no full compilation."""
    home = registration.home(name)
    try:
        return home.header is not None or places.module_file(home.stem, cpu_target()).exists()
    except ImportError:
        return False


@functools.cache
def _own_headers() -> dict[str, Path]:
    return places.environments() if places.is_source_tree() else {}


class DataFiles(NamedTuple):
    """The data files of an environment, in the form for a native simulator."""

    by_name: dict[str, tuple[str, str]]  # path, and the expected hash of the content
    remedy: str  # advice for a file that is missing or differs


def data_files(target: str, name: str) -> DataFiles:
    """Return an environment's data files, with the hashes on the label of its loaded module.

    Beside an existing header the files may have been edited: the label is updated first.

    Args:
        target: Of the module, which is loaded if it is not yet.
        name: Id of the environment.
    """
    target = _meant(target)
    if (target, name) not in _ready:
        at(target, name)
    home, module = registration.home(name), _ready[target, name]
    header = home.header or _own_headers().get(home.stem)
    if header is None or not header.exists():
        kept = places.kept_data(module)
        held = {file: (str(kept / file), said) for file, said in labels.read(module).data.items()}
        return DataFiles(held, _data_remedy(module, home))
    folders = places.data_folders(header)
    try:
        if upkeep.relabel(module, target, folders) and home.header is not None:
            from gpu_envs.building import shipping

            shipping.renew_data(header, module)
    except toolchain.CannotBuild as problem:
        raise ImportError(f"data files of {name} were edited, but {problem}") from None
    found = labels.data_in(folders)
    held = {file: (str(path), said) for file, (path, said) in found.items()}
    return DataFiles(held, f"it changed while {name} was made: make it again")


def _data_remedy(module: Path, home: registration.Home) -> str:
    if home.header is None:
        return manifest.REMEDY
    return f"put {home.header} back and `python -m gpu_envs build {home.header}`"


def prepare(device: str, name: str) -> tuple[str, int]:
    """Bring an environment's module up to date, and with it the description of its parameters.

    Args:
        device: "auto", "cpu", "cuda" or "cuda:1".
        name: Its id, with or without the namespace.

    Returns:
        Machine and ordinal.
    """
    machine, ordinal = parse_device(device)
    at(target_of(machine), registration.find(name)["id"])
    return machine, ordinal


def describe(target: str, path: Path) -> list[dict[str, Any]]:
    """Load a module by its file and return the descriptions of its environments."""
    with _loading:
        found: list[dict[str, Any]] = json.loads(_load(target, path).describe(str(path)))
        return found


# ---- machines


@functools.cache
def cpu_target() -> str:
    """Return the target of the best instruction set, or of the forced one."""
    return f"cpu_{levels.chosen()}"


def cpu() -> Any:
    """The bindings of the CPU's engine."""
    return at(cpu_target())


def builds_cuda() -> bool:
    """Whether a source tree builds CUDA: where a driver answers or it was asked for."""
    wanted, is_interpreted = places.settle_cuda(), places.cuda_target() == places.PTX
    if wanted == "0" or not places.is_source_tree():
        return False
    if wanted == "auto" and not is_interpreted and not toolchain.driver_answers():
        return False
    try:
        toolchain.nvcc()
    except toolchain.CannotBuild:
        if wanted == "1" or is_interpreted:
            raise
        return False
    return True


@functools.cache
def cuda() -> Any:
    """The bindings of CUDA's engine.

    Raises:
        NoDevice: Where there is none, with one line of reason.
        ValueError: Where there may be one, but its engine cannot be built or loaded.
    """
    try:
        if not levels.is_built(places.cuda_target()) and not builds_cuda():
            raise NoDevice(f"device 'cuda' is not available: {_why_unbuilt()}")
        if places.settle_cuda() == "0":
            raise NoDevice("device 'cuda' is not available: this tree is set to GPU_ENVS_CUDA=0")
        module = at("cuda")
    except (ImportError, toolchain.CannotBuild) as problem:
        raise ValueError(f"device 'cuda' is not available: {problem}") from problem
    reason = module.device_problem()
    if reason:
        raise NoDevice(f"device 'cuda' is not available: {reason}")
    return module


def _why_unbuilt() -> str:
    if places.cuda_target() == places.PTX and not places.is_source_tree():
        return "GPU_ENVS_CUDA_RUNTIME=interpreted is for a clone of gpu_envs, not for a package"
    return "this build has no CUDA module"


_broken: list[str] = []  # why CUDA's engine is unusable, after the warning


def cuda_is_available() -> bool:
    """Whether a CUDA device can be used; without a driver nothing is built to find out.

    Interpreted kernels count, and are built.
    """
    places.settle_cuda()  # raises for a bad GPU_ENVS_CUDA, instead of using the CPU
    needs_driver = places.is_source_tree() and places.cuda_target() == "cuda"
    if _broken or (needs_driver and not toolchain.driver_answers()):
        return False
    try:
        bindings = cuda()
        if int(bindings.device_count()) > 0:
            return True
        # There was one when the engine was loaded: this is the child of a fork.
        problem = _no_longer(bindings)
    except NoDevice:
        return False
    except ValueError as found:
        problem = found
    _broken.append(str(problem))
    warnings.warn(f"{problem}\n\ngpu_envs continues on the CPU", stacklevel=2)
    return False


def _no_longer(bindings: Any) -> ValueError:
    return ValueError(f"device 'cuda' is not available: {bindings.device_problem()}")


def parse_device(device: str) -> tuple[str, int]:
    """Return machine and ordinal: "auto", "cpu", "cuda" or "cuda:1"."""
    name = str(device)
    if name == "auto":  # interpreted kernels are for tests
        return ("cuda", 0) if places.cuda_target() == "cuda" and cuda_is_available() else ("cpu", 0)
    machine, colon, ordinal = name.partition(":")
    if machine == "cpu" and not colon:
        return "cpu", 0
    if machine != "cuda" or (colon and not ordinal.isdecimal()):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:<n>', got {device!r}")
    index = int(ordinal or 0)
    bindings = cuda()
    count = int(bindings.device_count())
    if count == 0:
        raise _no_longer(bindings)
    if index >= count:
        raise ValueError(f"device {device!r} does not exist: {count} CUDA device(s) found")
    return "cuda", index


def target_of(machine: str) -> str:
    """Return the target of a machine, "cpu" or "cuda"."""
    return cpu_target() if machine == "cpu" else places.cuda_target()


def module(machine: str) -> Any:
    """The bindings of a machine, "cpu" or "cuda", loaded at the first call."""
    opened = _engines.get(target_of(machine))
    return at(target_of(machine)) if opened is None else opened.bindings


def outline(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what parameters come to, and the agents of a world, without making one.

    Args:
        name: Of an environment that is built.
        parameters: Those that are given.
    """
    target = target_of("cpu")
    found: dict[str, Any] = json.loads(at(target, name).outline(name, dict(parameters)))
    return found


def make(machine: str, name: str, num_worlds: int, **options: Any) -> NativeSimulator:
    """Make a native simulator, from the loaded module if there is one (`prepare` updates it)."""
    target = target_of(machine)
    bindings = module(machine) if (target, name) in _ready else at(target, name)
    files = data_files(target, name)
    simulator: NativeSimulator = bindings.Simulator(name, num_worlds, data_files=files, **options)
    return simulator
