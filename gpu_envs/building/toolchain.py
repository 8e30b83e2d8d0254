"""Finds the compilers, and builds their flags."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import compilers, flags, places, store

# Refused, of the compilers of either machine.
_FORBIDDEN = re.compile(
    "-Ofast"  # lint: allow flags: refused
    "|-f(fast-math|unsafe-math-optimizations|finite-math-only|associative-math|reciprocal-math"
    "|no-signed-zeros)|-ffp-contract=(fast|on)|--?f(mad|tz)=true|--?prec-(div|sqrt)=false"
    "|--?use_fast_math"  # lint: allow flags: refused
)
# Flags that make a compiler read or run files that no object's name covers.
_UNNAMED = re.compile(r"@.*|--?specs=.*|-fplugin.*|-wrapper|-B.*|-m(arch|tune|cpu)=native")
_NVCC_READS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")

CannotBuild = places.CannotBuild


@cache
def cxx() -> str:
    """Return the C++ compiler: CXX, g++ or c++."""
    given = os.environ.get("CXX", "").strip()
    if len(_split("CXX", given)) > 1:
        raise CannotBuild(
            f"CXX must name one program, got {given!r}: put flags into CXXFLAGS (objects are "
            "cached already, so a wrapper such as ccache adds nothing)"
        )
    candidates = [given] if given else ["g++", "c++", "clang++"]
    for candidate in candidates:
        found = shutil.which(candidate)
        if found:
            return found
    wanted = f"the compiler that CXX names, {given}, was not found" if given else "none was found"
    raise CannotBuild(
        f"a C++ compiler is needed: {wanted} (Debian and Ubuntu: apt install g++; conda: "
        "conda install gxx)"
    )


@cache
def known(compiler: str) -> compilers.Known:
    """Return the identity of a compiler; refuse one that is too old."""
    found = compilers.known(compiler, store.folders()[-1] / "tools")
    version = _output([compiler, "-dumpversion"]).strip()
    major = version.split(".")[0]
    if not is_clang(compiler) and major.isdigit() and int(major) < 11:
        raise CannotBuild(f"gpu_envs needs g++ 11 or newer; {compiler} is {version}")
    return found


@cache
def is_clang(compiler: str) -> bool:
    """Whether a compiler is clang, by whatever name."""
    return "clang" in _output([compiler, "--version"]).lower()


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _named(*names: str) -> list[str]:
    known = flags.read(places.kernels() / "flags.txt")
    root = str(places.kernels().parent)
    return [flag.replace("$ROOT", root) for name in names for flag in known[name]]


def extra() -> list[str]:
    """Return the user's own flags, CXXFLAGS; those that change results are refused."""
    return _checked("CXXFLAGS")


def _checked(variable: str) -> list[str]:
    given = _split(variable, os.environ.get(variable, ""))
    bad = [flag for flag in given if _FORBIDDEN.fullmatch(flag)]
    if bad:
        raise CannotBuild(f"{variable} has {bad[0]}, which changes results: remove it")
    unnamed = [flag for flag in given if _UNNAMED.fullmatch(flag)]
    if unnamed:
        raise CannotBuild(
            f"{variable} has {unnamed[0]}: the object cache cannot see what that flag reads: pass "
            "the compiler flags themselves"
        )
    return given


def _split(variable: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise CannotBuild(f"{variable} cannot be read ({problem}), got {text!r}") from None


def level_of(target: str) -> str:
    """Return the instruction set of a target; the host half of CUDA has the lowest."""
    if target.startswith("cpu_"):
        return target.removeprefix("cpu_")
    return baseline()


def baseline() -> str:
    """Return the instruction set that every processor of this kind has."""
    machine = os.uname().machine.lower()
    return "v2" if machine in ("x86_64", "amd64") else "generic"


def host_flags(target: str, effort: str = "optimised") -> list[str]:
    """Return the flags of every host unit of a target."""
    gnu = [] if is_clang(cxx()) else ["gnu"]
    named = _named(effort, f"level {level_of(target)}", "common", "numbers", "warnings", *gnu)
    return [*named, *extra()]


def beside(folder: Path, machine: str) -> list[str]:
    """Return flags that include a header by its name, without a trace of the folder's path."""
    unmapped = f"-ffile-prefix-map={folder}/="
    if machine == "cuda" and "," in str(folder):  # which separates flags there
        return [f"-I{folder}"]
    if machine == "cuda":
        return [f"-Xcompiler=-iquote,{folder},{unmapped}"]
    return ["-iquote", str(folder), unmapped]


# ---- CUDA


@dataclass(frozen=True)
class Nvcc:
    """A CUDA compiler and its folders."""

    path: str
    top: Path
    include: Path
    cub: Path
    runtime: Path
    identity: str  # its version, and the flags that it is given by variables
    major: str  # of the runtime's version

    def parts(self) -> str:
        """Return a hash of its programs."""
        return compilers.cuda_parts(self.top, store.folders()[-1] / "tools")


def _first(name: str, *folders: Path) -> Path | None:
    return next((folder for folder in folders if (folder / name).exists()), None)


def _nvcc_candidates() -> list[str]:
    wheels = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    folders = [Path(name) / "bin" for name in named if name]
    found = [str(folder / "nvcc") for folder in folders] + [shutil.which("nvcc") or ""]
    found += ["/usr/local/cuda/bin/nvcc", str(wheels / "nvcc")]
    return [path for path in found if path and os.access(path, os.X_OK)]


@cache
def nvcc() -> Nvcc:
    """Return the CUDA compiler: CUDA_HOME, PATH, the usual folder, NVIDIA's compiler wheels."""
    candidates = _nvcc_candidates()
    if not candidates:
        raise CannotBuild("nvcc was not found (CUDA_HOME, PATH, or the extra cuda-build)")
    path = candidates[0]
    said = subprocess.run(
        [path, "--dryrun", "-c", "-x", "cu", "/dev/null", "-o", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    found = re.search(r"TOP=([^\n]*)", said)
    if not found:
        raise CannotBuild(f"{path} does not report its folder (TOP=):\n{said}")
    top = Path(found[1].strip()).resolve()
    side = top / "targets" / f"{os.uname().machine}-linux"
    include = _first("cuda_runtime.h", top / "include", side / "include")
    runtime = _first("libcudart_static.a", top / "lib64", top / "lib", side / "lib")
    header = "cub/device/device_radix_sort.cuh"
    cub = _first(
        header, *(base / part for base in (top, side) for part in ("include/cccl", "include"))
    )
    if cub is None:
        raise CannotBuild(f"{top} has no CUB (of NVIDIA's CCCL; as a package: nvidia-cuda-cccl)")
    if include is None or runtime is None:
        raise CannotBuild(f"{top} has no CUDA runtime (cuda_runtime.h, libcudart_static.a)")
    identity = _output([path, "--version"]).strip().splitlines()[-1]
    for name in _NVCC_READS:
        identity += "".join(f" {flag}" for flag in _checked(name))
    text = (include / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    stated = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text)
    if not stated:
        raise CannotBuild(f"{include}/cuda_runtime_api.h does not define CUDART_VERSION")
    major = str(int(stated[1]) // 1000)
    return Nvcc(path, top, include, cub, runtime / "libcudart_static.a", identity, major)


def driver_answers() -> bool:
    """Whether this machine has an NVIDIA driver with a device, without touching either."""
    devices = any(Path("/dev").glob("nvidia[0-9]*"))
    return (Path("/dev/nvidiactl").exists() and devices) or Path("/dev/dxg").exists()


_RELEASE = ["75", "80", "86", "89", "90", "100", "120", "ptx"]


@cache
def _own_architectures() -> list[str]:
    """Return the compute capabilities of this machine's GPUs."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        lines = _output(query).splitlines()
    except OSError:
        return []
    return sorted({found for line in lines if (found := line.strip().replace(".", "")).isdigit()})


def architectures(*, with_ptx: bool = False) -> list[str]:
    """Return nvcc's list of code: GPU_ENVS_CUDA_ARCHS, the GPUs of this machine, else 9.0.

    With `with_ptx`, PTX is added where the list lacks it.

    nvcc's front end, which takes most of the time, runs once per `arch=compute_XX`: once for all
    architectures from 9.0 on and once for all below, for the oldest of each. Our code only
    distinguishes below 9.0 from the rest (engine/cuda/lanes_device.hpp); machine code is made for
    each architecture.
    """
    given = os.environ.get("GPU_ENVS_CUDA_ARCHS", "").replace(",", ";")
    names = _RELEASE if given == "release" else [name for name in given.split(";") if name]
    names = [name.replace(".", "") for name in names] or _own_architectures() or ["90"]
    names += ["ptx"] if with_ptx and "ptx" not in names else []
    plain = [int(name) for name in names if name.isdigit()]
    codes, front = [], "90"
    for name in names:
        if name == "ptx":
            codes.append(f"-gencode=arch=compute_{front},code=compute_{front}")
            continue
        if not re.fullmatch(r"[0-9]+[af]?", name):
            raise CannotBuild(
                f"GPU_ENVS_CUDA_ARCHS: `{name}` is not a compute capability (expected e.g. 80;90 "
                "or release)"
            )
        front = name  # code such as 90a has a front end of its own
        if name.isdigit():
            front = str(min(other for other in plain if (other < 90) == (int(name) < 90)))
        codes.append(f"-gencode=arch=compute_{front},code=sm_{name}")
    return codes


def visible(found: list[str]) -> list[str]:
    """Return flags that export all names: an engine's list of names then selects."""
    return [flag.replace("-fvisibility=hidden", "-fvisibility=default") for flag in found]


def _readable(found: list[str]) -> list[str]:
    """Return nvcc's flags such that PTX is not compressed: the interpreter reads plain text."""
    return [re.sub("^--compress-mode=.*", "--compress-mode=none", flag) for flag in found]


def nvcc_flags(target: str = "cuda") -> list[str]:
    """Return the flags of every CUDA unit.

    Where PTX is interpreted, `cuda` and `cuda_ptx` have the same flags, and so the same objects.
    """
    tool = nvcc()
    for_ptx = places.PTX in (target, places.cuda_target())
    host = [flag for flag in host_flags("cuda") if flag not in ("-std=c++20", "-O3")]
    werror = "-Werror" in host
    host = [flag for flag in host if not flag.startswith(("-W", "-ftemplate"))] + ["-Wno-psabi"]
    found = _readable(_named("nvcc")) if for_ptx else _named("nvcc")
    found += [f"-ccbin={cxx()}", f"-Xcompiler={','.join(host)}"]
    found += [*architectures(with_ptx=for_ptx), "-isystem", str(tool.cub)]
    if os.environ.get("GPU_ENVS_CUDA_LINES") == "1":
        found += _named("nvcc lines")  # for profilers; it puts the paths of the sources in
    lanes = os.environ.get("GPU_ENVS_CUDA_LANES", "")
    if lanes not in ("", "all"):
        raise CannotBuild(f"GPU_ENVS_CUDA_LANES must be `all` or empty, got `{lanes}`")
    if lanes:
        found.append("-DGE_ALL_LANES")  # engine/cuda/lanes_kept.hpp
    return [*found, "-Werror=all-warnings"] if werror else found


@cache
def python_includes() -> list[str]:
    """Return the folders of Python.h and pybind11, which only the bindings need."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").exists():
        raise CannotBuild(
            f"{folder} lacks Python.h: install the headers of {sys.executable} "
            "(Debian: python3-dev)"
        )
    kept = places.build_folder() / "pybind11" / "include"
    try:
        import pybind11  # lint: allow builder: for the bindings alone, and kept where it is gone

        found = pybind11.get_include()
    except ImportError:
        if not kept.exists():
            raise CannotBuild(
                f"the bindings need pybind11: {sys.executable} -m pip install pybind11"
            ) from None
        found = str(kept)
    return [str(folder), found]
