"""`--policy random | trained | scripted | FILE | hf:...`: the choice of a player on command lines.

`trained` is the policy in the repository for an environment, `trained/<ID>.ckpt`; an installed
package does not have it. `scripted` is the player beside its header (scripted.py). A file also
holds the parameters of the environment with which its policies were evaluated. Reading a file needs
torch, which is imported only then.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.building import places
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import extras, registration, suites
from gpu_envs.players import hub, scripted

RANDOM, TRAINED, SCRIPTED = "random", "trained", scripted.SCRIPTED
WORDS = (RANDOM, TRAINED, SCRIPTED)
FORM = f"random|trained|scripted|FILE|{hub.SHORT}"
_OPTION = "--policy"


def add_option(parser: argparse.ArgumentParser, who: str, *also: str) -> None:
    """Add `--policy`, which chooses the player of `who`; `also` are other names of the option."""
    parser.add_argument(
        _OPTION,
        *also,
        dest="policy",
        default=RANDOM,
        metavar=FORM,
        help=f"who plays {who}: actions at random (the default), the trained policies of this "
        "repository, the environment's scripted player, or a best.ckpt of the trainer, which may "
        f"be on the Hugging Face Hub: {hub.FORM}",
    )


def folder() -> Path:
    """Return the folder of trained policies in a repository."""
    return places.PACKAGE.parent / "trained"


def file_of(env_id: str, policy: str, option: str = _OPTION) -> Path | None:
    """Return the policy file for an environment; ValueError where there is none.

    None stands for random actions, and for a scripted player, which has to exist.

    Args:
        env_id: Id of the environment.
        policy: The value of the option.
        option: Name of the option.
    """
    if policy == RANDOM:
        return None
    if policy == SCRIPTED:
        scripted.required(env_id, option)
        return None
    if policy == TRAINED:
        return _trained(env_id, option)
    path = path_of(policy, registration.find(env_id)["id"])
    if not path.is_file():
        if missing := missing_file(path):
            raise ValueError(f"{option.removesuffix('=')}: {missing}")
        raise ValueError(f"{option} must be random, trained, scripted or a file, got {policy!r}")
    return path


def is_file(word: str) -> bool:
    """Whether a word that may be an ID is a file."""
    name = word.removeprefix(f"{registration.NAMESPACE}/")
    if name in registration.environments():  # also where a folder has its name
        return False
    return "." in word or "/" in name or hub.is_one(word) or Path(word).exists()


def path_of(policy: str, env_id: str = "") -> Path:
    """Return the path of a file of policies, fetched where it is on the Hub."""
    return hub.fetched(policy, env_id) if hub.is_one(policy) else Path(policy)


def missing_file(path: Path) -> str:
    """Return the error for a policy's path that is not a file; "" for a bare word."""
    if path.parts and path.is_dir():
        return f"{str(path)!r} is a folder: name a file in it, such as best.ckpt"
    if len(path.parts) > 1 or path.suffix:
        return f"the file {str(path)!r} does not exist"
    return ""


def has_trained(env_id: str) -> bool:
    """Return whether the repository has a trained policy of an environment."""
    name = registration.find(env_id)["id"]
    return places.is_source_tree() and (folder() / f"{name}.ckpt").is_file()


def _trained(env_id: str, option: str) -> Path:
    name: str = registration.find(env_id)["id"]
    if not places.is_source_tree():
        raise ValueError(
            f"{option} trained: only the repository has trained policies; "
            f"`python -m gpu_envs train {name}` trains one, {option} runs/{name}/1/best.ckpt plays"
        )
    found = folder() / f"{name}.ckpt"
    if not found.is_file():
        kept = sorted(path.stem for path in folder().glob("*.ckpt"))
        raise ValueError(
            f"{option} trained: the repository has no policy of {name}; `scripts/train {name}` "
            f"trains one (it has: {errors.listed(kept)})"
        )
    return found


def parameters_of(path: Path | None, env_id: str) -> dict[str, Any]:
    """Return the parameters of the worlds in which a file was evaluated; {} without one."""
    if path is None:
        return {}
    saved = _policies("saved")
    config: Mapping[str, Any] = saved.read(path)["config"]
    expected = {"environment": registration.find(env_id)["id"]}
    found = suites.own_id(config["env"], expected["environment"])
    saved.checkpoint.require(path, {"environment": found}, expected)
    return {**config["parameters"], **config["evaluation_parameters"]}


def team(path: Path, simulator: Simulator) -> Any:
    """Return the policies in a file, for an environment like their own."""
    return _policies("teams").Team.load(path, simulator)


def _policies(module: str) -> Any:
    """Import a module of `gpu_envs.policies`, which needs torch."""
    try:
        return importlib.import_module(f"gpu_envs.policies.{module}")
    except ImportError as problem:
        message = extras.needs("a saved policy", str(problem.name), "train")
        raise ValueError(message) from problem
