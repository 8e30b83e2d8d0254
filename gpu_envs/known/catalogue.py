"""Reads the package's catalogue: the descriptions of environments, a file per module.

A file that is damaged is left out, with one warning that names it, so that all other environments
can be made and `python -m gpu_envs doctor` can say what is wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.building import places

Descriptions = list[dict[str, Any]]

_SAID = {  # keys that are read without a check that they exist
    "id": (str,),
    "doc": (str,),
    "agents": (str, int),
    "max_episode_steps": (int,),
    "reward_threshold": (int, float, type(None)),
}


def read() -> tuple[dict[str, Descriptions], list[str]]:
    """Return the descriptions by module, and a sentence for each damaged file."""
    found: dict[str, Descriptions] = {}
    damaged: list[str] = []
    is_tree = places.is_source_tree()
    try:
        files = _files() if is_tree else _shipped_files()
    except ValueError as problem:  # of the list of what was shipped
        return {}, [str(problem)]
    for file in files:
        try:
            found[file.stem] = _of_tree(file) if is_tree else _shipped(file)
        except ValueError as problem:
            damaged.append(str(problem))
    return found, damaged


def warn(damaged: Sequence[str]) -> None:
    """Warn of each damaged file."""
    for sentence in damaged:
        errors.warn(f"gpu_envs leaves environments out: {sentence}")


def _files() -> list[Path]:
    names = os.listdir(places.CATALOGUE) if places.CATALOGUE.is_dir() else []
    return [places.CATALOGUE / name for name in sorted(names) if name.endswith(".json")]


def _shipped_files() -> list[Path]:
    """Return the files of an installed package, missing ones included."""
    from gpu_envs.building import manifest  # a tree has none

    return sorted({*_files(), *manifest.under(places.CATALOGUE)})


def _shipped(file: Path) -> Descriptions:
    from gpu_envs.building import manifest

    described: Descriptions = json.loads(manifest.read(file))
    return described


def _of_tree(file: Path) -> Descriptions:
    """Return the descriptions in a file, after checks: it may have been edited."""
    try:
        described = json.loads(file.read_bytes())
        if not isinstance(described, list) or not all(map(_is_description, described)):
            raise ValueError("it does not describe environments")
    except (OSError, ValueError, RecursionError) as problem:
        remedy = f"`python -m gpu_envs build {file.stem}` writes it again"
        raise ValueError(f"{file} is damaged ({problem}): {remedy}") from None
    return described


def _is_description(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(name, ...), kinds) for name, kinds in _SAID.items()
    )
