"""`python -m gpu_envs doctor`: lists what works on this machine, and a remedy for the rest.

It builds nothing, and imports none of the libraries that it reports on.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpu_envs.building import kept, labels, manifest, places, processor, store, toolchain, upkeep
from gpu_envs.known import extras, levels, native, registration

NEEDED = ("numpy", "gymnasium", "pettingzoo")
OPTIONAL = {  # by the name in the registry: its use, and our extra that installs it
    "torch": ("training, arrays='torch', GPUs", "train"),
    "matplotlib": ("curves", "train"),
    "rich": ("the trainer's screen", "train"),
    "tensorboard": ("the trainer's event files", "train"),
    "imageio-ffmpeg": ("render to .mp4", "render"),
    "pillow": ("render to .gif", "render"),
    "onnx": ("export to .onnx", "export"),
    "onnxscript": ("export to .onnx", "export"),
    "safetensors": ("export to .safetensors", "export"),
    "huggingface-hub": ("policies of the Hub", "hub"),
    "minari": ("record, and train --clone", "data"),
    "jax": ("arrays='jax'", ""),
    "cupy": ("arrays='cupy'", ""),
    "wandb": ("training with --wandb", ""),
    "stable-baselines3": ("integrations.stable_baselines3", ""),
    "torchrl": ("integrations.torchrl", ""),
    "skrl": ("integrations.skrl", ""),
    "ray": ("integrations.rllib", ""),
    "tianshou": ("integrations.tianshou", ""),
}
_NAMES = {"cupy": ("cupy", "cupy-cuda13x", "cupy-cuda12x")}  # packages of one library
_INSTALLED_AS = {"cupy": "cupy-cuda13x", "ray": "'ray[rllib]'"}


class Finding(NamedTuple):
    """One line of the report: state, subject, details and remedy."""

    mark: str  # "ok", "-" for an optional part that is missing, "!!" for a fault
    what: str
    remedy: str = ""


def text() -> tuple[str, bool]:
    """Return the report, and whether environments can be made on this machine's CPU."""
    lines = [f"gpu_envs {version()}, {_copy()}", f"Python {platform.python_version()}, {_system()}"]
    usable = True
    for title, findings in (
        ("Processor", _processor()),
        ("Compilers", _compilers()),
        ("Files", _files()),
        ("Modules", _modules()),
        ("CUDA", _cuda()),
        ("Libraries", _libraries()),
    ):
        lines += ["", title]
        for found in findings:
            usable = usable and found.mark != "!!"
            lines.append(f"  {found.mark:<2}  {found.what}")
            lines += [f"      {found.remedy}"] if found.remedy else []
    verdict = "environments run here" if usable else "see the lines that begin with !!"
    return "\n".join([*lines, "", verdict]), usable


def version() -> str:
    """Return the version of this copy, which may be on the path without being installed."""
    return version_of("gpu_envs") or "of unknown version (it is not installed)"


def version_of(*names: str) -> str | None:
    """Return the version of the first of these distributions that is installed."""
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _copy() -> str:
    if places.is_source_tree():
        return f"a clone in {places.PACKAGE.parent}"
    return f"installed in {places.PACKAGE}"


def _system() -> str:
    return f"{platform.system()} {platform.machine()}, {sys.executable}"


# ---- the CPU


def _processor() -> Iterator[Finding]:
    runs = ", ".join(processor.runnable_levels())
    cores = len(os.sched_getaffinity(0))
    yield Finding("ok", f"{platform.machine()}, {cores} cores; instruction sets: {runs}")
    try:
        forced = os.environ.get("GPU_ENVS_CPU")
        why = "as GPU_ENVS_CPU says" if forced else "the best that can be had here"
        yield Finding("ok", f"used: {native.cpu_target().removeprefix('cpu_')}, {why}")
    except ImportError as problem:
        yield Finding("!!", str(problem))


def _compilers() -> Iterator[Finding]:
    is_tree = places.is_source_tree()
    try:
        said = toolchain.known(toolchain.cxx()).text
        yield Finding("ok", f"C++: {toolchain.cxx()}, {said}")
        if is_tree:
            toolchain.python_includes()
    except toolchain.CannotBuild as problem:
        why = "a clone builds what is missing" if is_tree else "only headers of yours need one"
        built = bool(levels.built())
        yield Finding("-" if built or not is_tree else "!!", f"C++: {problem}", f"({why})")
    try:
        nvcc = toolchain.nvcc()
        yield Finding("ok", f"CUDA: {nvcc.path}, {nvcc.identity}")
    except toolchain.CannotBuild as problem:
        remedy = f"to build for a GPU: {extras.command('cuda-build')}" if is_tree else ""
        yield Finding("-", f"CUDA: {problem}", remedy)


def _files() -> Iterator[Finding]:
    """Check the shipped files; in a tree only the catalogue, since all others may be edited."""
    is_tree = places.is_source_tree()
    problems = registration.damaged() if is_tree else list(manifest.problems())
    for sentence in problems:
        what, _, remedy = sentence.rpartition(": ")
        yield Finding("!!", what, remedy)
    if not problems:
        yield Finding("ok", "the catalogue" if is_tree else "all files are as they were shipped")
    try:
        for folder in store.folders(quiet=True):
            yield Finding("ok", f"store of objects: {store.text(folder)}")
    except toolchain.CannotBuild as problem:
        yield Finding("!!", f"store of objects: {problem}")


def _modules() -> Iterator[Finding]:
    try:
        targets = [native.cpu_target()]
    except ImportError:
        targets = [f"cpu_{level}" for level in levels.built()]
    targets += [name for name in ("cuda", places.PTX) if places.engine_file(name).exists()]
    for target in targets:
        yield from _modules_of(target)
    homes = map(registration.home, registration.environments())
    own = sorted({str(home.header) for home in homes if home.header is not None})
    if own:
        yield Finding("ok", f"headers of yours: {', '.join(own)}")
    yield from (Finding("-", problem) for problem in kept.read()[1])


def _modules_of(target: str) -> Iterator[Finding]:
    homes = map(registration.home, registration.environments())
    stems = sorted({home.stem for home in homes if home.header is None})
    files = {"engine": places.engine_file(target), "bindings": places.bindings_file(target)}
    if target == places.PTX:
        files["interpreter"] = places.runtime_file(target)
    files |= {stem: places.module_file(stem, target) for stem in stems}
    by_state: dict[str, list[str]] = {}
    for name, file in files.items():
        by_state.setdefault(_state(file, target), []).append(name)
    build = f"python -m gpu_envs build{'' if target.startswith('cpu') else f' --target {target}'}"
    is_tree = places.is_source_tree()
    for state, names in by_state.items():
        what = f"{target}, {state}: {', '.join(names)}"
        if state == "ready":
            yield Finding("ok", what)
        elif not is_tree:
            is_optional = state == "not built"  # such as a wheel without CUDA
            yield Finding("-" if is_optional else "!!", what, manifest.REMEDY)
        else:
            yield Finding("-", what, f"built when first made, or at once: {build}")


def _state(file: Path, target: str) -> str:
    try:
        labels.verify(file)
    except FileNotFoundError:
        return "not built"
    except (OSError, labels.Damaged):
        return "damaged"
    return "ready" if upkeep.is_current(file, target) else "older than its sources"


# ---- GPUs


def _cuda() -> Iterator[Finding]:
    try:
        if places.cuda_target() == places.PTX:
            what = "GPU_ENVS_CUDA_RUNTIME=interpreted: device='cuda' interprets PTX on the CPU"
            yield Finding("-", what, "it is for tests; unset it for a GPU")
    except ValueError as problem:
        yield Finding("!!", str(problem))
    if not toolchain.driver_answers():
        yield Finding("-", "no NVIDIA driver answers: device='auto' is the CPU")
        return
    yield from _devices()
    try:
        wanted = places.settle_cuda()
    except ValueError as problem:
        yield Finding("!!", str(problem))
        return
    engine = places.engine_file("cuda")
    if wanted == "0":
        remedy = "take it back: GPU_ENVS_CUDA=auto python -m gpu_envs build"
        yield Finding("-", "GPU_ENVS_CUDA=0 holds: device='auto' is the CPU", remedy)
    elif _state(engine, "cuda") != "ready":
        remedy = "make cuda" if places.is_source_tree() else "pip install . in a clone, with nvcc"
        yield Finding("-", "no engine for CUDA is ready: device='auto' is the CPU", remedy)
    else:
        yield _loaded()
    if "+cpu" in (version_of("torch") or ""):
        remedy = "install a build of torch for CUDA, as its own site says"
        yield Finding("-", "torch is a build for CPUs: no arrays and no training on a GPU", remedy)


def _devices() -> Iterator[Finding]:
    tool = shutil.which("nvidia-smi")
    query = "--query-gpu=name,driver_version,memory.total,compute_cap"
    said = ""
    if tool:
        command = [tool, query, "--format=csv,noheader"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
            said = run.stdout.strip() if run.returncode == 0 else ""
        except (OSError, subprocess.TimeoutExpired):
            said = ""
    if not said:
        yield Finding("-", "there is a driver, but nvidia-smi says nothing", "see `nvidia-smi`")
    for number, line in enumerate(said.splitlines()):
        name, driver, memory, capability = (part.strip() for part in line.split(","))
        what = f"cuda:{number}: {name}, {memory}, compute capability {capability}, driver {driver}"
        yield Finding("ok", what)


def _loaded() -> Finding:
    """Load the engine for CUDA, which is built, and ask it for devices."""
    try:
        count = int(native.cuda().device_count())
    except ValueError as problem:  # NoDevice is one
        return Finding("!!", str(problem))
    return Finding("ok", f"the engine for CUDA finds {count} device(s): device='auto' is cuda:0")


# ---- libraries


def _libraries() -> Iterator[Finding]:
    for name in NEEDED:
        found = version_of(name)
        if found:
            yield Finding("ok", f"{name} {found}")
        else:
            yield Finding("!!", f"{name} is missing", extras.library_command(name))
    for name, (purpose, extra) in OPTIONAL.items():
        found = version_of(*_NAMES.get(name, (name,)))
        if found:
            yield Finding("ok", f"{name} {found} ({purpose})")
            continue
        library = _INSTALLED_AS.get(name, name)
        remedy = extras.command(extra) if extra else extras.library_command(library)
        yield Finding("-", f"{name} is not installed ({purpose})", remedy)
