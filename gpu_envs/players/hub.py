"""Policies on the Hugging Face Hub: `hf:OWNER/NAME`, of the file that is named or of `best.ckpt`.

Only the one file is fetched. It is read as every other policy file is (gpu_envs.policies): nothing
that comes from there is run.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from gpu_envs.known import extras

PREFIX = "hf:"
SHORT = "hf:OWNER/NAME"
FORM = f"{SHORT}[@REVISION][/FILE]"
_WANTED = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)(@(?P<at>[^/@\s]+))?(/(?P<file>\S+))?"
)


def is_one(policy: str) -> bool:
    """Whether a policy is one of the Hub."""
    return policy.startswith(PREFIX)


def fetched(policy: str, env_id: str = "") -> Path:
    """Return the file of a policy on this machine, downloaded if it is not there yet.

    Args:
        policy: In the form `FORM`.
        env_id: Id of the environment: `<ID>.ckpt` is looked for before `best.ckpt`.
    """
    wanted = _WANTED.fullmatch(policy)
    if wanted is None:
        raise ValueError(f"a policy of the Hub is named {FORM}, got {policy!r}")
    repository = f"{wanted['owner']}/{wanted['name']}"
    usual = [f"{env_id}.ckpt", "best.ckpt"] if env_id else ["best.ckpt"]
    files = [wanted["file"]] if wanted["file"] else usual
    for file in files:
        found = _fetched(policy, repository, file, wanted["at"])
        if found is not None:
            return found
    where = "the repository has no"
    if _constants().HF_HUB_OFFLINE:
        where = "HF_HUB_OFFLINE is set, and what was downloaded before has no"
    raise ValueError(f"{policy}: {where} {' or '.join(files)}")


def _constants() -> Any:
    return importlib.import_module("huggingface_hub.constants")


def _fetched(policy: str, repository: str, file: str, revision: str | None) -> Path | None:
    """Return one file; None if there is none of that name."""
    try:
        library: Any = importlib.import_module("huggingface_hub")
        problems: Any = importlib.import_module("huggingface_hub.errors")
    except ModuleNotFoundError as problem:
        raise ValueError(extras.needs(policy, "huggingface-hub", "hub")) from problem
    try:
        return Path(library.hf_hub_download(repository, file, revision=revision))
    except problems.LocalEntryNotFoundError as problem:
        if _constants().HF_HUB_OFFLINE:
            return None
        raise ValueError(f"{policy}: the Hub cannot be reached ({_line(problem)})") from problem
    except problems.EntryNotFoundError:
        return None
    except (OSError, ValueError) as problem:  # what the library raises for names and answers
        raise ValueError(f"{policy}: {_line(problem)}") from problem


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split())[:200]
