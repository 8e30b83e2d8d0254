"""Messages on how to install optional libraries, for this copy of the package.

A clone is installed in place, by the pip of the interpreter that runs; a wheel by its name.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from gpu_envs.building import places


def command(extra: str) -> str:
    """Return the command that installs the libraries of an extra of ours, such as "train"."""
    if not places.is_source_tree():
        return f'{_pip()} install "gpu_envs[{extra}]"'
    root = places.PACKAGE.parent
    where = "." if Path.cwd() == root else str(root)
    return f'{_pip()} install -e "{where}[{extra}]"'


def library_command(library: str) -> str:
    """Return the command that installs a library outside our extras, by its registry name."""
    return f"{_pip()} install {library}"


def needs(what: str, library: str, extra: str = "") -> str:
    """Return the message for a library that is missing.

    Args:
        what: The feature that needs it; the beginning of the message.
        library: Its name in the registry.
        extra: The extra of ours that brings it, "" where none does.
    """
    return f"{what} needs {library}: {command(extra) if extra else library_command(library)}"


def adapter_needs(library: str, problem: ModuleNotFoundError) -> ImportError:
    """Return the error of an adapter whose library, or a dependency of it, is missing."""
    return ModuleNotFoundError(
        f"{needs('this adapter', library)} ({problem})", name=problem.name, path=problem.path
    )


def wrong_interpreter(problem: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error of an interpreter that lacks a required library."""
    message = f"gpu_envs needs {problem.name}, which {sys.executable} does not have"
    if places.is_source_tree():
        root = places.PACKAGE.parent
        own, setup = root / ".venv" / "bin" / "python", root / "scripts" / "setup"
        remedy = f"call {_typed(own)}" if own.exists() else f"run {_typed(setup)} first"
        message += f": {remedy}"
    return ModuleNotFoundError(message, name=problem.name, path=problem.path)


def _pip() -> str:
    """Return the command of this interpreter's pip, as typed here."""
    own = Path(sys.prefix) / "bin" / "pip"
    if not own.exists():
        return f"{_typed(Path(sys.executable))} -m pip"
    found = shutil.which("pip")
    return "pip" if found and os.path.samefile(found, own) else _typed(own)


def _typed(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
