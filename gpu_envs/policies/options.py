"""The options that a saved policy keeps: its networks, its worlds, and how it acts.

A field's help, limits and choices stand beside its default; the trainer's command line makes its
options from them. Those marked `by_role` may differ from role to role.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from gpu_envs.known import fields
from gpu_envs.policies import agent_map

Own = TypeVar("Own", bound="PolicyOptions")
SHARINGS = ("shared", "role", "agent")  # words of --policies


def option(
    default: Any,
    group: str,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    by_role: bool = False,
) -> Any:
    """Return a field that the command line shows.

    Args:
        default: Its value where none is chosen.
        group: Heading of the help that it stands under.
        doc: Its help.
        low: Least value.
        high: Greatest value.
        choices: The allowed values of a text.
        also: Flags of other libraries that mean the same.
        by_role: Whether each role may have a value of its own.
    """
    facts: dict[str, Any] = {
        "group": group,
        "help": doc,
        "low": low,
        "high": high,
        "choices": choices,
    }
    facts |= {"also": also, "by_role": by_role}
    return dataclasses.field(default=default, metadata=facts)


def flag_of(name: str) -> str:
    """Return the option of a field."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class PolicyOptions:
    """The options of the policies of one run."""

    env: str
    seed: int = option(1, "run", "seed of worlds, weights and samples", low=0, high=2**63 - 1)
    hold_noise: int = option(
        1,
        "rollout",
        "steps in a row whose actions use the same random numbers: exploration lasts "
        "longer, which helps where one step changes little",
        low=1,
    )
    level_count: int = option(
        0,
        "rollout",
        "episodes of training begin as one of N fixed levels, those of evaluations as any; 0: "
        "both as any",
        low=0,
    )
    encoder: str = option(
        "mlp",
        "network",
        "cnn: convolutions over fields of three axes; patches: over a picture, from patches of "
        "4 x 4 pixels on; residual: over a picture, with residual blocks; attention: over fields "
        "of two axes (entities)",
        choices=("mlp", "cnn", "patches", "residual", "attention"),
        by_role=True,
    )
    blind: bool = option(
        False,
        "network",
        "hide all observations, to measure what is learned without them",
        by_role=True,
    )
    hidden: str = option("64,64", "network", "widths of the hidden layers", by_role=True)
    activation: str = option(
        "tanh", "network", "activation of the hidden layers", choices=("tanh", "relu"), by_role=True
    )
    memory: int = option(
        0, "network", "size of a recurrent memory (GRU); 0: no memory", low=0, by_role=True
    )
    memory_norm: bool = option(
        False,
        "network",
        "layer normalisation of the memory's input and output, which keeps its gates "
        "from saturating",
        by_role=True,
    )
    share: bool = option(False, "network", "actor and critic share the encoder", by_role=True)
    critic_state: bool = option(
        False, "network", "the critic also sees the full state of the world"
    )
    normalize_observations: bool = option(
        False,
        "network",
        "normalise observations to running mean 0 and deviation 1, clipped at 10; with "
        "--encoder attention those of entities to a root mean square of 1",
        by_role=True,
    )
    policies: str = option(
        "shared",
        "self-play",
        "shared: one policy for all agents; role: one for each role (what an agent's name begins "
        f"with); agent: one for each agent; or any map, {agent_map.FORM}",
    )
    learn: str = option(
        "",
        "self-play",
        "the one role that learns (what an agent's name begins with), while all others act "
        "uniformly at random; empty: all learn",
    )
    past_worlds: float = option(
        0.0,
        "self-play",
        "share of the worlds in which all but one (role or agent) are played by an earlier policy",
        low=0,
        high=1,
    )
    other_play: bool = option(
        False,
        "self-play",
        "each agent plays under names of its own, drawn in each episode from the symmetries of the "
        "game (the colours of cards); evaluations play by the true names",
    )
    sampled_evaluation: bool = option(
        False, "evaluation", "sample actions instead of taking the likeliest"
    )
    # Values of single roles, or policies of a map: by name, then by option.
    roles: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    parameters: dict[str, fields.Value] = dataclasses.field(default_factory=dict)
    # Parameters that differ by world or change during training, as they are typed.
    varying: dict[str, str] = dataclasses.field(default_factory=dict)
    evaluation_parameters: dict[str, fields.Value] = dataclasses.field(default_factory=dict)

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return tuple(int(width) for width in self.hidden.split(","))

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> PolicyOptions:
        """Return the options in a file, which may hold all of a training run's."""
        known = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in kept.items() if name in known})

    def __post_init__(self) -> None:
        """Refuse values out of range, by the name of the option."""
        hints = get_type_hints(type(self))
        for field in dataclasses.fields(self):
            if field.metadata:
                _check(field, getattr(self, field.name), hints[field.name])
        if not re.fullmatch(r"[1-9]\d{0,4}(,[1-9]\d{0,4})*", self.hidden):
            raise ValueError(f"--hidden must be widths such as 64,64, got {self.hidden!r}")
        self._check_policies()

    def _check_policies(self) -> None:
        if agent_map.is_map(self.policies):
            agent_map.read(self.policies)
            if self.learn:
                raise ValueError("--learn and a map of --policies exclude each other")
        elif self.policies not in SHARINGS:
            words = " or ".join(SHARINGS)
            raise ValueError(
                f"--policies must be {words}, or a map {agent_map.FORM}, got {self.policies!r}"
            )

    def of_role(self: Own, role: str) -> Own:
        """Return the options of one role or policy: its own values before the common ones."""
        own = {
            name: value for name, value in self.roles.get(role, {}).items() if name in vars(self)
        }
        return dataclasses.replace(self, **own, roles={})

    def facts(self) -> dict[str, Any]:
        """Return all options as plain values."""
        return dataclasses.asdict(self)

    def shaping(self) -> dict[str, Any]:
        """Return the options that a saved policy keeps."""
        names = [field.name for field in dataclasses.fields(PolicyOptions)]
        values = self.facts()
        roles = {
            role: {name: value for name, value in own.items() if name in names}
            for role, own in values.pop("roles").items()
        }
        shaped = {name: values[name] for name in names if name in values}
        return shaped | ({"roles": roles} if any(roles.values()) else {})


def _check(field: dataclasses.Field[Any], value: Any, kind: type) -> None:
    flag, facts = flag_of(field.name), field.metadata
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{flag} must be {kind.__name__}, got {value!r}")
    if facts["choices"] and value not in facts["choices"]:
        raise ValueError(f"{flag} must be {' or '.join(facts['choices'])}, got {value!r}")
    low, high = facts["low"], facts["high"]
    if value != value and field.default != field.default:
        return  # nan: not chosen
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{flag} must be {limits}, got {value}")
