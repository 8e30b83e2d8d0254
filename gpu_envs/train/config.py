"""The options of a training run: one dataclass, which is the command line too.

Those that a saved policy keeps are inherited. A field's help, limits and choices stand beside its
default, and `command` makes the command line from them. Options that are marked `by_role` may
differ from role to role. Defaults per environment are data beside its header
(`gpu_envs.known.measures`).
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from gpu_envs import errors
from gpu_envs.known import fields, suites
from gpu_envs.policies import agent_map
from gpu_envs.policies.options import PolicyOptions, flag_of, option
from gpu_envs.terminal import flags
from gpu_envs.train import by_role, varying

# The order of the headings in --help.
GROUPS = ("run", "machine", "rollout", "update", "network", "self-play", "evaluation")


@dataclass(frozen=True)
class Config(PolicyOptions):
    """One training run."""

    out: str = option("runs/<env>/<seed>", "run", "folder for the results")
    init: str = option("", "run", "start from the policies of this best.ckpt or checkpoint.ckpt")
    clone: str = option(
        "",
        "run",
        "first imitate this data set of Minari, recorded by `python -m gpu_envs record`; PPO goes "
        "on from there",
    )
    clone_epochs: int = option(20, "run", "passes over the data set of --clone", low=1)
    resume: bool = option(False, "run", "continue the run in that folder where it stopped")
    total_steps: int = option(
        10_000_000,
        "run",
        "stop after this number of agent steps; 0: after --init, --clone and an evaluation",
        low=0,
        also=("--total-timesteps",),
    )
    time_limit: float = option(
        0.0,
        "run",
        "seconds of the whole run, including the time before --resume and the last update and "
        "evaluation; 0: no limit",
        low=0,
    )
    goal: float = option(
        float("nan"),
        "run",
        "stop when the mean return of an evaluation reaches it; nan: the environment's threshold; "
        "inf: never, as where several roles learn",
    )

    device: str = option("auto", "machine", "auto (a GPU if there is one), cpu, cuda, cuda:<n>")
    threads: int = option(
        1, "machine", "threads of the learner on the CPU, shared among ranks; 0: all", low=0
    )
    precision: str = option(
        "float32",
        "machine",
        "precision of matrix products; less than float32 is for GPUs",
        choices=("float32", "tf32", "bf16"),
    )
    graphs: bool = option(True, "machine", "capture rollouts and updates as CUDA graphs on a GPU")

    num_envs: int = option(
        64, "rollout", "worlds that run at once, over all ranks", low=1, also=("--n-envs",)
    )
    rollout: int = option(
        64,
        "rollout",
        "steps of every world between two updates",
        low=1,
        also=("--n-steps", "--num-steps"),
    )

    stagger: bool = option(
        False,
        "rollout",
        "restart the first episodes of parts of the worlds, one part per rollout, so that an "
        "update sees all parts of episodes that are equally long",
    )

    decisions: str = option(
        "all",
        "rollout",
        "choice: skip rows whose action mask leaves one action; their rewards, discounted step by "
        "step, belong to the choice before, so --rollout should be much longer than such waits",
        choices=("all", "choice"),
    )
    finite: bool = option(
        False,
        "rollout",
        "the value of an episode ends at its time limit; else the critic's estimate of what would "
        "follow is added",
    )

    algorithm: str = option(
        "ppo",
        "update",
        "a2c is one unclipped step on the whole rollout: --epochs, --minibatch, --clip are ignored",
        choices=("ppo", "a2c"),
    )
    epochs: int = option(
        8,
        "update",
        "passes over a rollout",
        low=1,
        also=("--n-epochs", "--update-epochs"),
        by_role=True,
    )
    minibatch: int = option(
        512,
        "update",
        "samples of a gradient step, over all ranks",
        low=1,
        also=("--batch-size", "--minibatch-size"),
        by_role=True,
    )
    learning_rate: float = option(
        1e-3, "update", "learning rate at the start", low=0, high=1000, also=("--lr",), by_role=True
    )
    schedule: str = option(
        "linear",
        "update",
        "course of the learning rate over --total-steps",
        choices=("constant", "linear", "cosine"),
        by_role=True,
    )
    optimizer: str = option(
        "adam",
        "update",
        "optimiser; lamb is for large batches",
        choices=("adam", "lamb"),
        by_role=True,
    )
    scale_by_batch: bool = option(
        False,
        "update",
        "multiply the learning rate by sqrt(minibatch / 256), at least 1",
        by_role=True,
    )
    weight_decay: float = option(
        0.0, "update", "weight decay of the optimiser", low=0, high=1000, by_role=True
    )
    gamma: float = option(
        0.99, "update", "discount of rewards per step", low=0, high=1, by_role=True
    )
    gae_lambda: float = option(
        0.95, "update", "lambda of generalised advantages", low=0, high=1, by_role=True
    )
    clip: float = option(
        0.2,
        "update",
        "clip range of probability ratios",
        low=0,
        also=("--clip-range", "--clip-coef"),
        by_role=True,
    )
    entropy: float = option(
        0.0,
        "update",
        "weight of the entropy at the start",
        low=0,
        high=1000,
        also=("--ent-coef",),
        by_role=True,
    )
    entropy_end: float = option(
        float("nan"),
        "update",
        "weight of the entropy at the end; nan: that at the start",
        low=0,
        high=1000,
        by_role=True,
    )
    novelty: float = option(
        0.0,
        "update",
        "weight at the start of a bonus for observations that were rarely seen (random network "
        "distillation): what one gets that is a deviation above the mean; 0: none",
        low=0,
        high=1000,
        by_role=True,
    )
    novelty_end: float = option(
        float("nan"),
        "update",
        "weight of that bonus at the end; nan: that at the start",
        low=0,
        high=1000,
        by_role=True,
    )
    value_weight: float = option(
        0.5,
        "update",
        "weight of the critic's loss",
        low=0,
        high=1000,
        also=("--vf-coef",),
        by_role=True,
    )
    max_grad_norm: float = option(0.5, "update", "clip gradients at this norm", low=0, by_role=True)
    normalize_advantages: bool = option(
        True,
        "update",
        "normalise advantages to mean 0 and deviation 1, per policy over all ranks",
        by_role=True,
    )
    normalize_values: bool = option(
        True, "update", "the critic learns in units of the running mean and deviation", by_role=True
    )
    reward_weights: str = option(
        "",
        "update",
        "weights of reward parts: 'shaped=1..0@0.5' falls from 1 to 0 in half of --total-steps; "
        "other parts keep 1; empty: the environment's own sum",
    )
    reward_scales: str = option(
        "",
        "update",
        "of a suite: numbers by which the rewards of games are multiplied before they are learned "
        "from, 'Collect-v0=0.5 TowerBuilding-v0=0.1'; other games keep 1",
    )

    past_every: int = option(20, "self-play", "updates between two policies that are kept", low=1)
    past_kept: int = option(
        8, "self-play", "earlier policies that are kept: the first and the latest", low=2
    )

    ladder_every: int = option(
        0,
        "self-play",
        "steps between two policy files that are kept, ladder/<steps>.ckpt; 0: none",
        low=0,
    )

    evaluation_share: float = option(
        0.1,
        "evaluation",
        "share of the time that evaluations may take; the first one plays fewer episodes where all "
        "would take too long, and the last one is not counted",
        low=0,
        high=1,
    )
    evaluation_every: int = option(
        0, "evaluation", "updates between two evaluations; 0: by their share of time", low=0
    )
    evaluation_episodes: int = option(100, "evaluation", "episodes of an evaluation", low=1)
    checkpoint_seconds: float = option(
        30.0, "evaluation", "seconds between checkpoints of the run, beside the best ones", low=0
    )
    tensorboard: bool = option(True, "evaluation", "write TensorBoard's event files")
    wandb: str = option("", "evaluation", "project of Weights & Biases to log to")

    @property
    def has_entropy(self) -> bool:
        """Whether the loss has a term for the entropy."""
        return self.entropy > 0 or self.entropy_end > 0

    @property
    def has_novelty(self) -> bool:
        """Whether there is a bonus for what was rarely seen."""
        return self.novelty > 0 or self.novelty_end > 0

    @property
    def is_a2c(self) -> bool:
        """Whether an update is a single plain step."""
        return self.algorithm == "a2c"

    def __post_init__(self) -> None:
        """Refuse bad values, by the name of the option."""
        super().__post_init__()
        if not self.out:
            raise ValueError("--out must name a folder, got ''")
        if self.memory and self.rollout < 2:
            raise ValueError("--memory needs --rollout of at least 2")
        if self.has_novelty and self.decisions == "choice":
            raise ValueError("--novelty needs --decisions all: it looks at every observation")
        for role, choices in self.roles.items():
            self._check_role(role, choices)

    def _check_role(self, role: str, choices: by_role.Values) -> None:
        for name in choices:
            if name not in BY_ROLE:
                what = f"option of a role ({role})"
                raise ValueError(errors.unknown(what, name, BY_ROLE))
            if self.policies == "shared" and not self.learn:
                flag = flag_of(name)
                raise ValueError(
                    f"{flag} {role}=... needs --policies role, agent or a map, not shared"
                )
        try:
            self.of_role(role)
        except (TypeError, ValueError) as problem:
            raise type(problem)(f"{problem} for {role}") from None


BY_ROLE = tuple(f.name for f in dataclasses.fields(Config) if f.metadata.get("by_role"))


def folder_of(config: Config) -> Path:
    """Return the folder of a run's results."""
    return Path(config.out.replace("<env>", config.env).replace("<seed>", str(config.seed)))


def reader(name: str) -> Callable[[str], Any]:
    """Return the reader of an option's typed value."""
    kind = get_type_hints(Config)[name]
    if kind is bool:
        return flags.truth
    return by_role.number(kind) if kind in (int, float) else str


def make(env: str, **choices: Any) -> Config:
    """Return a configuration: the defaults of the environment, changed by `choices`.

    An option of a role is given as it is typed, "0.01,planner=0.5", or as a dict by role, with ""
    for all that are not named.
    """
    entry = suites.described(env)
    name: str = entry["id"]
    known = {field.name for field in dataclasses.fields(Config)}
    for choice in choices:
        if choice not in known:
            raise ValueError(errors.unknown("option", choice, sorted(known - {"env"})))
    training = suites.training_of(name)
    given, usual = choices.pop("parameters", {}), training.get("parameters", {})
    tested = training.get("evaluation", {})
    # A parameter that the user chose also replaces the environment's value for evaluations.
    tested = {name: v for name, v in tested.items() if not (name in usual and name in given)}
    tested |= choices.pop("evaluation_parameters", {})
    choices["varying"] = {**choices.pop("varying", {}), **varying.split(given)[1]}
    varying.check(choices["varying"], fields.read(entry["parameters"]))
    plain = varying.split(given)[0]
    # A range takes the place of the value of training; evaluations play at the usual one.
    choices["parameters"] = {
        name: value
        for name, value in {**usual, **plain}.items()
        if name in plain or name not in choices["varying"]
    }
    chosen: dict[str, Any] = {"roles": {}}
    _choose(chosen, training.get("defaults", {}))
    told = chosen | choices
    learn, policies = told.get("learn", ""), told.get("policies", "shared")
    if policies == "shared" or learn or agent_map.is_map(policies):
        # Defaults for roles that have no policy of their own in this run are dropped.
        own = agent_map.read(policies) if agent_map.is_map(policies) else (learn,)
        chosen["roles"] = {role: c for role, c in chosen["roles"].items() if role in own}
    _choose(chosen, choices)
    for role, own in chosen["roles"].items():
        if learn and role != learn and own:
            flag = flag_of(next(iter(own)))
            raise ValueError(f"{flag} {role}=... needs a role that learns: --learn is {learn}")
    chosen["roles"] = {role: own for role, own in chosen["roles"].items() if own}
    return Config(env=name, **chosen, evaluation_parameters=tested)


def _choose(chosen: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Apply options: a value for all roles replaces earlier values of single roles."""
    roles: dict[str, by_role.Values] = chosen["roles"]
    for name, value in given.items():
        if name == "roles":
            for role, choices in value.items():
                roles.setdefault(role, {}).update(choices)
            continue
        if name not in BY_ROLE:
            chosen[name] = value
            continue
        try:
            values = by_role.values_by_role(value, reader(name))
        except argparse.ArgumentTypeError as problem:
            raise ValueError(f"{flag_of(name)} {problem}") from None
        if by_role.ALL in values:
            chosen[name] = values.pop(by_role.ALL)
            for choices in roles.values():
                choices.pop(name, None)
        for role, own in values.items():
            roles.setdefault(role, {})[name] = own


_SHOWN = ("rollout", "epochs", "minibatch", "learning_rate", "gamma", "hidden")


def as_options(config: Config) -> str:
    """Return the main choices, and all that differ from the environment's defaults, as options."""
    plain, shown = make(config.env), []
    names = [field.name for field in dataclasses.fields(config)]
    told, known = (by_role.joined(vars(c), c.roles, names) for c in (config, plain))
    for field in dataclasses.fields(config):
        value, usual = told[field.name], known[field.name]
        is_other = value != usual and not (value != value and usual != usual)
        if field.metadata and field.name not in ("seed", "resume"):
            if is_other or field.name in _SHOWN:
                shown.append(f"{flag_of(field.name)} {shlex.quote(str(value))}")
    shown += [
        f"{flag_of(name)} {value}" for name, value in (config.parameters | config.varying).items()
    ]
    return " ".join(shown)
