"""The array libraries: which one a simulator writes for, and importing it when it is needed."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gpu_envs import errors
from gpu_envs.known import extras

LIBRARIES = ("numpy", "torch", "cupy", "jax")


def library(arrays: str | None, machine: str) -> str:
    """Resolve `arrays=`: numpy on the CPU and torch on a GPU unless the caller says otherwise."""
    name = arrays if arrays is not None else ("numpy" if machine == "cpu" else "torch")
    if not isinstance(name, str) or name not in LIBRARIES:
        raise ValueError(errors.unknown("arrays", name, LIBRARIES))
    if machine == "cuda" and name in ("numpy", "jax"):
        raise ValueError(f"arrays={name!r} needs device='cpu': use 'torch' or 'cupy' on 'cuda'")
    if machine == "cpu" and name == "cupy":
        raise ValueError(
            "arrays='cupy' needs device='cuda': use 'numpy', 'torch' or 'jax' on 'cpu'"
        )
    return name


def lasting(arrays: str) -> AbstractContextManager[Any]:
    """Return a context for arrays that are written again later.

    torch refuses to write to a tensor of its inference mode outside that mode.
    """
    inside: AbstractContextManager[Any] = nullcontext()
    return require("torch").inference_mode(False) if arrays == "torch" else inside


def require(name: str) -> Any:
    """Import an array library, with advice where it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        library = name.partition(".")[0]
        extra = "train" if library == "torch" else ""
        message = extras.needs(f"arrays={library!r}", library, extra)
        raise ImportError(f"{message}, or choose other arrays") from problem
