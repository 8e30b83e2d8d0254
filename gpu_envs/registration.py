"""Knows which environments exist and registers them with Gymnasium.

The build writes `_environments.json` from the headers' descriptions; nothing is said here again,
and reading it loads no native code. An environment is `gpu_envs/<Name>-v0`, and `<Name>-v0` too
where nobody else has that name.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.envs.registration import parse_env_id

from gpu_envs import errors

NAMESPACE = "gpu_envs"
_CATALOGUE = Path(__file__).with_name("_environments.json")

Description = dict[str, Any]


@functools.cache
def environments() -> dict[str, Description]:
    """Descriptions of all environments by id; empty in a tree that was never built."""
    if not _CATALOGUE.exists():
        return {}
    entries = json.loads(_CATALOGUE.read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in entries}


def built() -> dict[str, Description]:
    """Return `environments()`, or raise where there are none."""
    if not environments():
        raise RuntimeError("gpu_envs has no environments: it was never built (`pip install .`)")
    return environments()


def find(name: str) -> Description:
    """Return the description of `name`, with or without the namespace."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {name!r} of type {type(name).__name__}")
    known = built()
    bare = name.removeprefix(f"{NAMESPACE}/")
    if bare not in known:
        raise ValueError(errors.unknown("environment", name, known))
    return known[bare]


def register_all() -> None:
    """Register every environment with Gymnasium, by strings, so that nothing is imported."""
    for name, description in environments().items():
        _register(f"{NAMESPACE}/{name}", description)
        if not _name_is_taken(name):
            _register(name, description)


def _name_is_taken(name: str) -> bool:
    _, bare, _ = parse_env_id(name)
    return any(s.namespace is None and s.name == bare for s in gymnasium.registry.values())


def _register(env_id: str, description: Description) -> None:
    if env_id in gymnasium.registry:
        return
    gymnasium.register(
        id=env_id,
        entry_point="gpu_envs.single:Env",
        vector_entry_point="gpu_envs.vector:VectorEnv",
        max_episode_steps=description["max_episode_steps"] or None,
        reward_threshold=description["reward_threshold"],
        kwargs={"name": description["id"]},
    )


def make(name: str, **options: Any) -> gymnasium.Env[Any, Any]:
    """Make one environment: `gymnasium.make`, looking among this package's environments first."""
    return gymnasium.make(f"{NAMESPACE}/{find(name)['id']}", **options)


def make_vec(
    name: str, num_envs: int = 1, **options: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Make a batch: `gymnasium.make_vec`, looking among this package's environments first."""
    if gymnasium.__version__.startswith("0."):  # whose make_vec passes no keywords on
        from gpu_envs.vector import VectorEnv

        return VectorEnv(name, num_envs, **options)
    return gymnasium.make_vec(f"{NAMESPACE}/{find(name)['id']}", num_envs=num_envs, **options)
