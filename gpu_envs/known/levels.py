"""Chooses the instruction set of the CPU's engine.

Opening an engine that the processor cannot run would crash, so the choice is made from the
processor's flags before anything is loaded. `GPU_ENVS_CPU=v2|v3|v4|generic` forces one.
"""

from __future__ import annotations

import os

from gpu_envs.building import manifest, places, processor, toolchain

_UNBUILT = (
    "gpu_envs has no compiled engine for this machine: install the package with `pip install .` "
    "(a source tree builds itself where there is a C++ compiler)"
)


def is_built(target: str) -> bool:
    """Whether there are an engine and bindings for a target."""
    return places.engine_file(target).exists() and places.bindings_file(target).exists()


def built() -> tuple[str, ...]:
    """Instruction sets whose engine is built, best first."""
    return tuple(level for level in processor.LEVELS if is_built(f"cpu_{level}"))


def can_build() -> bool:
    """Whether the package is a source tree that can be written to, and there is a compiler."""
    if not places.is_source_tree() or not os.access(places.PACKAGE, os.W_OK):
        return False
    try:
        return bool(toolchain.cxx())
    except toolchain.CannotBuild:
        return False


def _forced_level(forced: str, built: tuple[str, ...], runnable: tuple[str, ...]) -> str:
    if forced not in processor.LEVELS:
        raise ImportError(
            f"GPU_ENVS_CPU must be one of {', '.join(processor.LEVELS)}, got {forced!r}"
        )
    if forced not in built and not can_build():
        raise ImportError(f"GPU_ENVS_CPU={forced} is not built (built: {', '.join(built)})")
    if forced not in runnable:
        raise ImportError(
            f"GPU_ENVS_CPU={forced} does not run on this processor "
            f"(runnable: {', '.join(runnable)})"
        )
    return forced


def chosen() -> str:
    """Return the best instruction set that runs here and is or can be built, or the forced one."""
    ready, runnable = built(), processor.runnable_levels()
    forced = os.environ.get("GPU_ENVS_CPU")
    if forced:
        return _forced_level(forced, ready, runnable)
    if can_build():
        return runnable[0]
    for level in ready:
        if level in runnable:
            return level
    if not ready:
        raise ImportError(next(manifest.problems("modules/lib", "modules/_"), _UNBUILT))
    raise ImportError(f"this processor runs {', '.join(runnable)}; built: {', '.join(ready)}")
