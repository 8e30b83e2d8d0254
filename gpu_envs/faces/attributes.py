"""Attributes of environments that a caller may set, and errors for those without effect.

Rules and state are native: a Python attribute of such a name would change nothing. Parameters that
can change are set in the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from gpu_envs import errors
from gpu_envs.core import options, pictures, ranges
from gpu_envs.known import registration
from gpu_envs.known.fields import read as read_fields

# Data of Gymnasium's own base classes, which its wrappers and tools read from an environment.
_SETTABLE: dict[str, tuple[type, ...]] = {
    "action_space": (gymnasium.Space,),
    "metadata": (dict,),
    "np_random": (np.random.Generator,),
    "observation_space": (gymnasium.Space,),
    "render_mode": (object,),  # has a check of its own
    "single_action_space": (gymnasium.Space,),
    "single_observation_space": (gymnasium.Space,),
    "spec": (EnvSpec, type(None)),
}
_KEYWORDS = (*options.KEYWORDS, "infos", "role", "agent", "others", "render_size", "render_view")


class Guarded:
    """An environment of which no attribute hides a parameter, which it would not change.

    For those whose steps set no attributes: each costs half a microsecond more.
    """

    _guarded: tuple[str, frozenset[str]] = ("", frozenset())  # its id, and names

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; refuse one with the name of a parameter, and say what sets it."""
        if name in self._guarded[1]:
            raise AttributeError(self._refusal(name))
        super().__setattr__(name, value)

    def _refusal(self, name: str) -> str:
        return _refusal(self._guarded[0], name)

    def _guard(self, environment: str) -> None:
        """Refuse parameters of an environment from now on, but for attributes that there are."""
        names = _names(registration.find(environment)["parameters"])
        self._guarded = environment, frozenset(n for n in names if not hasattr(self, n))


def assign(env: Any, environment: str, name: object, value: object) -> None:
    """Set an attribute of an environment; refuse attributes that nothing would read.

    Args:
        env: A `VectorEnv` or a single environment.
        environment: Its id.
        name: Name of the attribute.
        value: The new value.
    """
    if not isinstance(name, str):
        what = errors.shown(name)
        raise TypeError(f"name must be a str, got {what} of type {type(name).__name__}")
    if name in parameters(environment):
        env.set_parameters(**{name: value})
        return
    if not is_of_base(env, name):
        raise AttributeError(_refusal(environment, name))
    assign_of_base(env, registration.find(environment), name, value)


def is_of_base(env: Any, name: object) -> bool:
    """Whether a name is that of an attribute of Gymnasium's base class that may be set."""
    return isinstance(name, str) and name in _SETTABLE and hasattr(env, name)


def assign_of_base(env: Any, description: Mapping[str, Any], name: str, value: object) -> None:
    """Set an attribute of Gymnasium's base class, of an environment that is described so."""
    if name == "render_mode":
        value = pictures.checked_mode(value, env.metadata["render_modes"], description)
    if not isinstance(value, _SETTABLE[name]):
        kind, what = _SETTABLE[name][0].__name__, errors.shown(value)
        raise TypeError(f"{name} must be a {kind}, got {what} of type {type(value).__name__}")
    setattr(env, name, value)


def parameters(environment: str) -> list[str]:
    """Return the names of the parameters that can change: attributes that may be set."""
    return ranges.may_vary(read_fields(registration.find(environment)["parameters"]))


def is_parameter(environment: str, name: object) -> bool:
    """Whether a name is that of a parameter that can change."""
    return isinstance(name, str) and name in parameters(environment)


def by_world(values: Any, rows: int, worlds: int) -> Any:
    """Return a parameter as it is set: a list with an entry per world, or what all of them get.

    Args:
        values: A list or tuple has an entry per row, equal for the rows of a world, or per world.
        rows: How many rows there are.
        worlds: How many worlds.
    """
    if not isinstance(values, list | tuple):
        return values
    if len(values) not in (rows, worlds):
        raise ValueError(f"values must have {rows} entries, got {len(values)}")
    agents = len(values) // worlds
    for world in range(worlds):
        if not are_equal(values[world * agents : (world + 1) * agents]):
            raise ValueError(f"values must be equal for the {agents} rows of world {world}")
    return values[0] if are_equal(values) else list(values[::agents])


def of_all_rows(values: Any, rows: int) -> Any:
    """Return an attribute that all rows share, given once or for each of them."""
    if not isinstance(values, list | tuple):
        return values
    if len(values) != rows:
        raise ValueError(f"values must have {rows} entries, got {len(values)}")
    if not are_equal(values):
        raise ValueError("values must be equal: the rows of a batch share their attributes")
    return values[0]


def are_equal(values: Sequence[Any]) -> bool:
    """Whether all values are equal, arrays included."""
    return all(_equals(value, values[0]) for value in values)


def _equals(value: Any, other: Any) -> bool:
    if value is other:
        return True
    try:
        same = value == other
        return bool(same.all() if hasattr(same, "all") else same)
    except (ValueError, RuntimeError):  # arrays or tensors of different shapes
        return False


def read(env: Any, environment: str, name: str) -> Any:
    """Return an attribute of an environment, or a parameter of its worlds: an array by world."""
    return env.get(f"world.{name}")[:, 0] if is_read(env, environment, name) else getattr(env, name)


def is_read(env: Any, environment: str, name: object) -> bool:
    """Whether a name is that of a parameter that can change, and no attribute has it."""
    return is_parameter(environment, name) and not hasattr(env, str(name))


def is_own(environment: str, name: object) -> bool:
    """Whether an environment has a parameter, option or column of a name.

    Wrappers may not shadow those.
    """
    return isinstance(name, str) and bool(_ways(environment, name))


def _refusal(environment: str, name: str) -> str:
    ways = _ways(environment, name)
    if ways:
        return f"{name!r} of {environment} cannot be set as an attribute: {' or '.join(ways)}"
    description = registration.find(environment)
    known = [field["name"] for field in description["parameters"]]
    return (
        f"{environment} has no attribute {name!r} to be set{errors.suggestion(name, known)}. "
        "Parameters are keywords of make_vec, options of one reset are "
        "reset(options={...}), and columns of the state are written by simulator.set"
    )


def _ways(environment: str, name: str) -> list[str]:
    """Return advice on how to set a parameter, option or column of a name."""
    description = registration.find(environment)
    ways = []
    if name in parameters(environment):
        ways.append(f"set_parameters({name}=...)")
    elif name in _KEYWORDS or name in _names(description["parameters"]):
        ways.append(f"make the environment with {name}=...")
    if name in _names(description["reset_options"]):
        ways.append(f"pass it to a reset, reset(options={{{name!r}: ...}})")
    columns = [column["name"] for column in description.get("columns", [])]
    for column in columns:
        if name in (column, column.rpartition(".")[2]):
            ways.append(f"write the state, simulator.set({column!r}, values)")
    return ways


def _names(described: Any) -> list[str]:
    return [field.name for field in read_fields(described)]
