"""Saved policies: weights, the options of the networks, and the spaces that they fit.

Nothing in a file is code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from gpu_envs.core.simulator import Simulator
from gpu_envs.known import suites
from gpu_envs.known.fields import read as read_fields
from gpu_envs.known.fields import shortened, spelt
from gpu_envs.policies import agent_kinds, checkpoint
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.options import Own, PolicyOptions

# Keys of a file that keeps a whole run, whose other options the trainer checks.
_WHOLE = {"total_steps", "num_envs"}


def outlook(simulator: Simulator) -> dict[str, Any]:
    """Return the facts that a policy must fit: the fields it sees and its actions."""
    facts = {"environment": simulator.name, "agents": simulator.agents_per_world}
    found = agent_kinds.kinds_of(simulator, torch.device("cpu"))
    seen = [{"observation": _fields_of(kind.shape), "actions": str(kind.space)} for kind in found]
    if simulator.kinds.is_one:
        return facts | seen[0]
    return facts | {
        "roles": {
            kind.name: {"agents": kind.count, **own} for kind, own in zip(found, seen, strict=True)
        }
    }


def _fields_of(shape: RowShape) -> dict[str, list[int]]:
    return dict(zip(shape.names, map(list, shape.shapes), strict=True))


def save(
    path: Path,
    options: PolicyOptions,
    simulator: Simulator,
    policies: Mapping[str, Policy],
    facts: Mapping[str, Any],
) -> None:
    """Write a policy file."""
    tree = {
        "kind": "policy",
        "outlook": outlook(simulator),
        "config": options.shaping(),  # only these, so that a file outlives the trainer's options
        "policies": {name: policy.state_dict() for name, policy in policies.items()},
        **facts,
    }
    checkpoint.save(path, tree)


def policies_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states of the policies in a policy file or a run's checkpoint."""
    if tree["kind"] == "policy":
        found: dict[str, Any] = tree["policies"]
        return found
    return {learner["name"]: learner["policy"] for learner in tree["state"]["learners"]}


def read(path: Path) -> dict[str, Any]:
    """Return the tree in a policy file, or in a run's checkpoint."""
    tree = checkpoint.load(path)
    if tree.get("kind") not in ("policy", "run"):
        raise checkpoint.CheckpointError(f"{path}: holds no policies of the trainer")
    if not _WHOLE & tree["config"].keys():
        require_known(path, tree["config"], PolicyOptions)
    checkpoint.require_finite(path, policies_of(tree), "policy")
    return tree


def require_known(path: Path, kept: Mapping[str, Any], options: type[PolicyOptions]) -> None:
    """Refuse a file with options that this version lacks."""
    unknown = kept.keys() - {field.name for field in fields(options)}
    if unknown:
        raise checkpoint.CheckpointError(
            f"{path}: was saved with options that this gpu_envs does not have "
            f"({', '.join(sorted(unknown))}): use the gpu_envs that saved it"
        )


def restored(path: Path, kept: Mapping[str, Any], options: type[Own]) -> Own:
    """Return the options in a file; those that older files lack have their defaults."""
    require_known(path, kept, options)
    return options(**kept)


def require_alike(path: Path, tree: Mapping[str, Any], simulator: Simulator) -> None:
    """Refuse policies that do not fit a simulator; the message names parameters that differ."""
    seen = tree["outlook"]
    if isinstance(seen.get("environment"), str):  # a suite's policies play each of its games
        seen = {**seen, "environment": suites.own_id(seen["environment"], simulator.name)}
    try:
        checkpoint.require(path, seen, outlook(simulator))
    except checkpoint.CheckpointError as problem:
        config = tree["config"]
        trained, here = _differing(config, simulator)
        if config["env"] != simulator.name or not trained:
            raise
        raise checkpoint.CheckpointError(
            f"{path}: was trained with {trained}, this environment has {here}; a policy plays "
            f"only what it was trained for ({str(problem).partition(': ')[2]})"
        ) from problem


def _differing(config: Mapping[str, Any], simulator: Simulator) -> tuple[str, str]:
    """Return in words the parameters that differ between a training and a simulator.

    Those that differ by world in either shape no policy, and are left out.
    """
    described = read_fields(suites.described(simulator.name)["parameters"])
    defaults = {field.name: field.default for field in described}
    trained = shortened(described, {**defaults, **config["parameters"]})
    own = {*simulator.varies, *config.get("varying", {})}
    pairs = [(n, trained.get(n), v) for n, v in simulator.parameters.items() if n not in own]
    changed = [(name, before, now) for name, before, now in pairs if before != now]
    before = ", ".join(f"{name}={_short(value)}" for name, value, _ in changed)
    return before, ", ".join(f"{name}={_short(value)}" for name, _, value in changed)


def _short(value: object) -> str:
    return spelt(value) if isinstance(value, float) else repr(value)
